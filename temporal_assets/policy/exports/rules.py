"""The policy as rules that other programs can follow.

Here: hubs, prefixes, patterns and sites as regular expressions, in the order in which they decide,
and as two lists (allow, deny) for programs that know no order. Not here: any program's file format.

Expressions are anchored and use only syntax that Python, Java, JavaScript and RE2 read alike
(groups and classes); none can backtrack for long. They match http and https alike, unless
`urls.scheme` is `keep`: then hubs, and patterns of one scheme, match only their own. They are for
canonical URLs, as a crawler sees them after it has normalised the links of pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from temporal_assets.policy.document import SKIP_TIER, Document, HubEntry
from temporal_assets.policy.exports.overlap import Beginnings

_ANY_SCHEME: Final = "https?://"

_WRITTEN_SCHEME: Final = re.compile(r"^\^(?:https?|\[\^:/\?\]\+)://")
"""Expression for the scheme at the beginning of a pattern, or for its class of any scheme."""

_WRITTEN_ORIGIN: Final = re.compile(r"^\^https?\??://[^/]*")
"""Expression for the origin at the beginning of hubs and prefixes."""

_ANY_PORT: Final = ("(?::[0-9]+)?", "(?::[^/?]*)?")
"""Text in the expressions of sites and patterns that fits any port."""

_META: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
"""Characters with a meaning in every dialect. Hyphens and slashes have none, and some dialects
refuse to see them escaped."""


_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of a filter; the first rule that matches a URL decides."""

    kind: Literal["static", "hub", "prefix", "pattern", "site"]
    expression: str
    """Regular expression that begins with `^`, to be searched in the whole URL."""
    tier: int
    site: str
    """Site of the rule; empty for the rule about static files, which holds everywhere."""

    @property
    def is_accepted(self) -> bool:
        """True if URLs that match are fetched at all."""
        return self.tier < SKIP_TIER

    @property
    def path(self) -> str | None:
        """The expression over path and query alone, for filters that are kept by host.

        None where it also restricts the host, by a port for instance.
        """
        if self.kind == "static":
            return self.expression
        origin = f"^{_ANY_SCHEME}{escape(self.site)}"
        rest = self.expression.removeprefix(origin)
        for port in _ANY_PORT:
            rest = rest.removeprefix(port)
        is_path = rest != self.expression and rest.startswith("/")
        return f"^{rest}" if is_path else None

    @property
    def path_of_any_origin(self) -> str | None:
        """Expression for a hub or prefix that must not be denied, for any scheme and port."""
        if self.kind in ("hub", "prefix") and self.is_accepted:
            return _WRITTEN_ORIGIN.sub("^", self.expression)
        return self.path


def escape(text: str) -> str:
    """Return the text as a regular expression that matches it and nothing else."""
    return _META.sub(lambda match: f"\\{match[0]}", text)


def rules(document: Document) -> list[Rule]:
    """Return all rules in the order in which they decide; URLs that none matches are skipped.

    Patterns that overrule (surely not urgent) come before prefixes, the others after.
    """
    return [
        *_static(document),
        *_hubs(document),
        *_patterns(document, overrules=True),
        *_prefixes(document),
        *_patterns(document, overrules=False),
        *_sites(document),
    ]


def of_site(every: Sequence[Rule]) -> dict[str, list[Rule]]:
    """Return the rules of each site in their order, without the general ones."""
    by_site: dict[str, list[Rule]] = {}
    for rule in every:
        if rule.site:
            by_site.setdefault(rule.site, []).append(rule)
    return by_site


def allowed(document: Document) -> list[str]:
    """Return expressions of known sites; what matches one and none of `denied` is fetched."""
    return [rule.expression for rule in _sites(document)]


def denied(document: Document) -> list[str]:
    """Return expressions of what is skipped on known sites, valid in any order."""
    return [
        *(rule.expression for rule in _static(document)),
        *(expression for _, expression in deniable_patterns(document)),
    ]


def deniable_patterns(document: Document) -> Iterator[tuple[str, str]]:
    """Yield (site, expression) of skipped patterns that match no URL of a hub or prefix.

    Hubs and prefixes come first. A list without order cannot say "but for these" without
    look-ahead, so a pattern that shares a URL with one of them is left out: its other URLs are
    fetched, in the tier of their site. Too much is fetched rather than too little.
    """
    for rule, before in _skipped_patterns(document):
        if not _matches_any_of(
            rule.expression, [(other.kind, other.expression) for other in before]
        ):
            yield rule.site, rule.expression


def deniable_paths(document: Document) -> Iterator[tuple[str, str]]:
    """Yield (site, expression) over path and query, where patterns can be written like this."""
    for rule, before in _skipped_patterns(document):
        others = [(other.kind, other.path_of_any_origin) for other in before]
        if rule.path is not None and not _matches_any_of(rule.path, others):
            yield rule.site, rule.path


def _skipped_patterns(document: Document) -> Iterator[tuple[Rule, list[Rule]]]:
    """Yield skipped patterns, each with the hubs and prefixes of its site that precede it."""
    for group in of_site(rules(document)).values():
        before: list[Rule] = []
        for rule in group:
            if rule.kind in ("hub", "prefix"):
                before.append(rule)
            elif rule.kind == "pattern" and not rule.is_accepted:
                yield rule, list(before)


def _matches_any_of(expression: str, others: Iterable[tuple[str, str | None]]) -> bool:
    """Return True if an expression matches a URL of one of `others`: (kind, expression) of each."""
    whole, beginnings = re.compile(expression), Beginnings(expression)
    return any(
        whole.search(text) if kind == "hub" else beginnings.hold(text)
        for kind, other in others
        if other is not None
        for text in _urls_of(other)
    )


def _urls_of(other: str) -> list[str]:
    """Return the URL of a hub, or the beginning of a prefix's URLs, once for each scheme."""
    text = _ESCAPED.sub(r"\1", other.removeprefix("^").removesuffix("$"))
    rest = text.removeprefix(_ANY_SCHEME)
    return [text] if rest == text else [f"http://{rest}", f"https://{rest}"]


def by_rank(document: Document) -> list[HubEntry]:
    """Return hubs in the order of their first visits."""
    return sorted(document["hubs"], key=lambda hub: (hub["tier"], hub["rank"], hub["url"]))


def _static(document: Document) -> list[Rule]:
    names = document["urls"]["static_extensions"]
    if not names:
        return []
    # Classes rather than a flag: dialects write flags in different ways.
    either = "|".join("".join(_both_cases(letter) for letter in name) for name in names)
    return [Rule("static", rf"^[^?;]*/[^?;/]*\.(?:{either})(?:[?;]|$)", SKIP_TIER, "")]


def _both_cases(letter: str) -> str:
    return f"[{letter}{letter.upper()}]" if letter.isalpha() else letter


def _keeps_scheme(document: Document) -> bool:
    return document["urls"]["scheme"] == "keep"


def _hubs(document: Document) -> Iterator[Rule]:
    keeps = _keeps_scheme(document)
    for hub in document["hubs"]:
        scheme, _, text = hub["url"].partition("://")
        origin = f"{scheme}://" if keeps else _ANY_SCHEME
        yield Rule("hub", f"^{origin}{escape(text)}$", hub["tier"], hub["site"])


def _prefixes(document: Document) -> list[Rule]:
    longest = sorted(document["prefixes"], key=lambda row: (-len(row["prefix"]), row["prefix"]))
    return [
        Rule("prefix", f"^{_ANY_SCHEME}{escape(row['prefix'])}", row["tier"], row["site"])
        for row in longest
    ]


def _patterns(document: Document, *, overrules: bool) -> list[Rule]:
    keeps = _keeps_scheme(document)
    return [
        Rule("pattern", _expression(row["expression"], keeps), row["tier"], row["site"])
        for row in document["patterns"]
        if row["overrules"] == overrules
    ]


def _expression(written: str, keeps: bool) -> str:
    """Return a pattern's expression, adapted to the schemes it holds."""
    if keeps and written.startswith(("^http://", "^https://")):
        return written
    return _WRITTEN_SCHEME.sub(f"^{_ANY_SCHEME}", written)


def _sites(document: Document) -> list[Rule]:
    below = r"(?:[^/?:]+\.)?" if document["includes_subdomains"] else ""
    return [
        Rule("site", f"^{_ANY_SCHEME}{below}{escape(row['site'])}(?::[0-9]+)?/", row["tier"],
             row["site"])
        for row in document["sites"]
    ]  # fmt: skip


def metadata(entry: Any, *names: str) -> dict[str, str]:
    """Return fields of an entry as text, for formats that know only text."""
    return {name: str(entry[name]) for name in names}
