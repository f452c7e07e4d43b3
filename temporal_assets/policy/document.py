"""The policy as one JSON document: its fields, its version, reading and writing it.

Here: what is in `policy.json`, in types, and the errors a reader meets. Not here: how a policy is
made (`assemble`), where it is published (`bundle`), how it decides on a URL (`matcher`). The same
fields for other programs are in `schema.json`, a JSON Schema, beside this file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, cast

from temporal_assets.core.patterns.pattern_forest import PortableTree
from temporal_assets.policy import damage
from temporal_assets.storage import checksums

FORMAT: Final = "temporal-assets/crawl-policy"
VERSION: Final = 2
"""Raised when a reader of the version before would misunderstand a document. New fields do not
raise it: readers ignore fields they do not know. Version 2 knows more shapes of dates, and patterns
of several leaves; documents of version 1 mean what they meant."""

FILE: Final = "policy.json"

DIGITS: Final = 12
"""Digits of a document's SHA-256 in the name of the folder that it is published in."""

_PUBLISHED: Final = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}-([0-9a-f]{{{DIGITS}}})")

TIERS: Final = 16
"""Number of tiers; 1 is fetched first. Crawlers keep a queue per priority (Scrapy with JOBDIR an
open file each), so there are few; Scrapy with 500 priorities holds 507 files open, with 16 it holds
24."""

NOW_TIERS: Final = (1, 8)
LATER_TIERS: Final = (9, 15)
SKIP_TIER: Final = 16
"""Tier of what is skipped. Every tier belongs to one decision, so that tiers never contradict
it."""

Action = Literal["now", "later", "skip"]


class SiteEntry(TypedDict):
    """A site of the list, or one that a hub, prefix or pattern lies on."""

    site: str
    rank: int | None
    """1 is the best temporal site; None for sites below the list."""
    score: float | None
    tier: int
    """Tier of the site's URLs that no other entry covers."""
    provisional: bool
    """True if its pages have no labels yet, so that its entries rest on less data
    (docs/policy.md)."""


class HubEntry(TypedDict):
    """A page to visit regularly for links to new pages."""

    url: str
    site: str
    rank: int
    tier: int
    interval_seconds: int
    new_per_day: float | None
    """Expected number of new temporal pages per day."""
    temporal_pages: int
    """Number of temporal pages it linked in the window."""
    provisional: bool


class SourceEntry(TypedDict):
    """A feed or sitemap to visit regularly, as a hub in HTML."""

    url: str
    kind: Literal["feed", "sitemap"]
    is_news: bool
    """True for a news sitemap, which lists the pages of the last two days with their times."""
    site: str
    """Site whose pages it lists."""
    tier: int
    interval_seconds: int
    new_per_day: float | None
    """Expected new temporal pages per day that it shows before other sources; None before a
    visit."""


class PrefixEntry(TypedDict):
    """A beginning of URLs under which new pages are news, or temporal (`prefixes.label`)."""

    prefix: str
    """Text without scheme, ending in `/` or `?`: `news.example/politics/`."""
    site: str
    tier: int
    score: float
    """Share of news (or temporal) pages among `pages`."""
    pages: int
    provisional: bool


class PatternEntry(TypedDict):
    """A pattern of the URLs of a site."""

    site: str
    template: str
    expression: str
    """Anchored regular expression over canonical URLs; those of one site exclude each other."""
    decision: Action
    tier: int
    fetch: float
    """Mean of authority and hub value, scaled to the best pattern of the site (BB 4)."""
    discovery: float
    """Hub value on the same scale: where links to pages worth fetching are found."""
    urgency: float | None
    """Share of temporal pages under the pattern; None where no page had enough views to say."""
    overrules: bool
    """True if its pages are surely not urgent: it decides even for URLs under a news prefix."""
    visits: int
    provisional: bool


class SiteTree(PortableTree):
    """The pattern tree of a site in arrays over nodes, by which unseen URLs find their pattern."""

    site: str
    pattern: list[int]
    """Index in `patterns` for each node, -1 for nodes that are no pattern. A pattern at an inner
    node holds the leaves below it."""


class UrlRulesEntry(TypedDict):
    """Rules by which two URLs are one page (docs/canonical-urls.md)."""

    scheme: Literal["https", "http", "keep"]
    dropped_keys: list[str]
    kept_keys: list[str]
    static_extensions: list[str]
    """Lower-case extensions of files that are no pages and are skipped."""


class Document(TypedDict):
    """The content of policy.json."""

    format: str
    version: int
    generator: str
    day: str
    """Last day of the window, ISO 8601."""
    window: dict[str, Any]
    """`first`, `days`, `missing_days`."""
    settings: dict[str, Any]
    """Values of thresholds that the policy was computed with."""
    inputs: list[dict[str, str]]
    """Name and digest of every table that the policy was made from."""
    includes_subdomains: bool
    """True if a site includes hosts below it (sites by registrable domain)."""
    provisional: bool
    """True if any entry is provisional."""
    notes: list[str]
    """Sentences for people: why lists are empty or provisional, and what would change it."""
    urls: UrlRulesEntry
    sites: list[SiteEntry]
    hubs: list[HubEntry]
    sources: list[SourceEntry]
    prefixes: list[PrefixEntry]
    patterns: list[PatternEntry]
    trees: list[SiteTree]


class PolicyError(ValueError):
    """Error: a policy cannot be used; the message names the file and the remedy."""


class NewerPolicy(PolicyError):
    """Error: the policy was written by a later version of the program."""


_AGAIN: Final = (
    "copy the policy again; in the state folder"
    " `temporal-assets materialize crawl_policy --day DAY` mends it"
)


def is_as_published(file: Path, text: bytes) -> bool:
    """Return True if a document has the digest that its folder is named after.

    A folder with another name holds a copy, which is compared with `SHA256SUMS` beside it, if any.
    """
    digest = hashlib.sha256(text).hexdigest()
    if named := _PUBLISHED.fullmatch(file.parent.name):
        return digest.startswith(named[1])
    return digest == checksums.noted(file.parent).get(file.name, digest)


def policy_file(path: str | Path) -> Path:
    """Return the path of the document for a path of a policy's file or folder."""
    path = Path(path)
    return path / FILE if path.is_dir() else path


def read(path: str | Path) -> Document:
    """Return a policy from its file or folder. Raises `PolicyError`."""
    file = policy_file(path)
    real = file.resolve()  # `latest` may name another policy in a moment
    try:
        text = real.read_bytes()
    except FileNotFoundError:
        raise PolicyError(
            f"there is no policy {file}: `temporal-assets materialize crawl_policy` makes one, in"
            " `policy/latest` of the state folder"
        ) from None
    except OSError as error:
        raise PolicyError(f"{file}: {error.strerror}") from error
    if not is_as_published(real, text):
        raise PolicyError(f"{file} is not what was published: {_AGAIN}")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{file} is no JSON ({error}): {_AGAIN}") from error
    return checked(parsed, str(file))


_LATER_FIELDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "sites": {"provisional": False},
    "hubs": {"new_per_day": None, "provisional": False},
    "prefixes": {"provisional": False},
    "patterns": {"overrules": False, "provisional": False},
}
"""Defaults of fields that were added later, for older documents."""


def checked(parsed: Any, name: str) -> Document:
    """Return the document of parsed JSON if it is a policy of a known version."""
    if not isinstance(parsed, dict) or parsed.get("format") != FORMAT:
        raise PolicyError(f"{name} is no crawl policy: its `format` is not {FORMAT!r}")
    version = parsed.get("version")
    if type(version) is not int or version < 1:  # `true` is an int to Python
        raise PolicyError(f"{name}: the version {version!r} is no number of a version")
    if version > VERSION:
        raise NewerPolicy(
            f"{name} has version {version} of the policy format, and this program reads up to"
            f" {VERSION}: install a newer temporal-assets on the crawler (written by"
            f" {parsed.get('generator', 'an unknown program')})"
        )
    # Policies of this version that were written before a field do without it.
    parsed = {"provisional": False, "notes": [], "sources": [], **parsed}
    missing = sorted(set(Document.__annotations__) - set(parsed))
    if missing:
        raise PolicyError(f"{name} is not whole, it lacks {', '.join(missing)}: {_AGAIN}")
    for kind, values in _LATER_FIELDS.items():
        if isinstance(parsed[kind], list):
            parsed[kind] = [
                {**row, **{key: value for key, value in values.items() if key not in row}}
                if isinstance(row, dict)
                else row
                for row in parsed[kind]
            ]
    try:
        damage.check(parsed)
    except damage.Damage as error:
        raise PolicyError(f"{name} is damaged: {error}: {_AGAIN}") from None
    return cast("Document", parsed)


def as_text(document: Document) -> str:
    """Return the text of policy.json: one entry a line, so that differences are readable."""
    lines = []
    for name in Document.__annotations__:
        value = document[name]  # type: ignore[literal-required]
        if isinstance(value, list) and value:
            rows = ",\n".join(f"  {_compact(row)}" for row in value)
            lines.append(f" {json.dumps(name)}: [\n{rows}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {_compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


_compact: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def tier_of_action(tier: int) -> Action:
    """Return the decision of a tier: now, later or skip."""
    if tier <= NOW_TIERS[1]:
        return "now"
    return "later" if tier <= LATER_TIERS[1] else "skip"


def is_empty(document: Document) -> bool:
    """Return True if nothing would be fetched: no source, no prefix, only skipped patterns."""
    fetched = any(row["decision"] != "skip" for row in document["patterns"])
    return not (document["hubs"] or document["sources"] or document["prefixes"] or fetched)
