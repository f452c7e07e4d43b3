"""Lines of the benchmark suite about URLs: patterns of a site, decisions of a policy.

Not here: learning from logs (`pattern_assets`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.suite_job import Done, Job, Sized

if TYPE_CHECKING:
    from temporal_assets.policy import Policy
    from temporal_assets.policy.document import Document

_SITE: Final[Sized] = {"small": 10_000, "medium": 100_000, "paper": 1_700_000}
_OS_URLPATTERN_MOST: Final = 50_000
"""It takes a minute for a hundred thousand, and longer a URL the more there are."""
_SITES: Final[Sized] = {"small": 100, "medium": 1_000, "paper": 5_000}
_ASKED: Final[Sized] = {"small": 100_000, "medium": 1_000_000, "paper": 2_000_000}
_ASKED_OF_OTHERS: Final = 5_000
"""They look at one URL after the other; a URL costs what it costs."""
_SITES_OF_URL_MATCHER: Final = 3
"""It sorts all its rules again for each that is added: those of 100 sites would take hours."""
_FIRST: Final = 1_000_000
"""Priorities of url-matcher: prefixes before patterns, patterns in their order, then the site."""


# Patterns of a site --------------------------------------------------------------------------


def patterns_by_us(folder: Path, size: str) -> Job:
    """The tree and all its patterns as expressions, from a file of URLs, on one core."""
    from temporal_assets.core.patterns.pattern_text import pattern_texts
    from temporal_assets.core.patterns.syntax.tree_builder import pattern_tree
    from temporal_assets.core.text.texts import texts

    def learn(file: Path) -> int:
        urls = file.read_text("utf-8").split()
        tree = pattern_tree(texts(urls))
        shown = pattern_texts(tree)
        return len([shown[leaf].expression() for leaf in tree.leaves.tolist()])

    file = _site_file(folder, _SITE[size])
    learn(_site_file(folder, 1_000))  # compiled loops are loaded
    return lambda: (_SITE[size], learn(file) * 0)


def patterns_by_os_urlpattern(folder: Path, size: str) -> Job:
    """`pattern-make`, the start of its process included."""
    count = min(_SITE[size], _OS_URLPATTERN_MOST)
    file, program = _site_file(folder, count), shutil.which("pattern-make") or ""

    def job() -> Done:
        subprocess.run([program, "-i", str(file)], check=True, stdout=subprocess.DEVNULL)
        return count, 0

    return job


def _site_file(folder: Path, pages: int) -> Path:
    from benchmarks.pattern_tree import SEED, page_urls

    file = folder / f"site-{pages}.txt"
    urls = sorted(set(page_urls(pages, "portal.example", np.random.default_rng(SEED))))
    file.write_text("\n".join(urls) + "\n", "utf-8")
    return file


# Decisions of a policy -----------------------------------------------------------------------


def decided_by_us(folder: Path, size: str) -> Job:
    """`Policy.match_many`, from raw URLs."""
    _, policy, urls = _policy(folder, size)
    policy.match(urls[0])
    return lambda: (len(urls), int(policy.match_many(urls).tier[:_ASKED_OF_OTHERS].sum()))


def decided_by_expressions(folder: Path, size: str) -> Job:
    """The site in a dict, its prefixes and expressions one after the other, canonical URLs."""
    from benchmarks import suite_policy

    document, policy, urls = _policy(folder, size)
    plain = suite_policy.Expressions(document)
    some = [policy.canonical(url) or "" for url in urls[:_ASKED_OF_OTHERS]]
    return lambda: (len(some), sum(plain.tier(url) for url in some))


def decided_by_url_matcher(folder: Path, size: str) -> Job:
    """url-matcher with prefixes as they are and templates with `*` for what varies.

    It has no other wildcard, so `{digits}` takes words too: decisions may differ. It knows three
    sites only, and is asked of those: how many others there are does not matter to it then.
    """
    from tldextract import tldextract
    from url_matcher import Patterns, URLMatcher

    # Its own would wait for an answer of the network, for the list that it has a copy of.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
    document, policy, urls = _policy(folder, size, _SITES_OF_URL_MATCHER)
    rules: dict[Any, tuple[int, str, int]] = {}
    for number, prefix in enumerate(document["prefixes"]):
        rules["prefix", number] = (prefix["tier"], prefix["prefix"], 2 * _FIRST)
    for number, pattern in enumerate(document["patterns"]):
        text = pattern["site"] + re.sub(r"\{[^}]*\}", "*", pattern["template"])
        rules["pattern", number] = (pattern["tier"], text, _FIRST)
    for site in document["sites"]:
        rules["site", site["site"]] = (site["tier"], site["site"] + "/", 1)
    matcher = URLMatcher(
        {name: Patterns([text], priority=priority) for name, (_, text, priority) in rules.items()}
    )
    some = [policy.canonical(url) or "" for url in urls[:_ASKED_OF_OTHERS]]
    nowhere = (16, "", 0)

    def job() -> Done:
        decisions = [rules.get(matcher.match(url), nowhere)[0] for url in some]
        return len(decisions), None

    return job


def _policy(
    folder: Path, size: str, sites: int | None = None
) -> tuple[Document, Policy, list[str]]:
    from benchmarks import suite_policy
    from temporal_assets.policy import Policy
    from temporal_assets.policy.document import as_text

    sites = sites or _SITES[size]
    document = suite_policy.policy_of(sites)
    file = folder / "policy.json"
    file.write_text(as_text(document), "utf-8")
    return document, Policy.load(file), suite_policy.asked(sites, _ASKED[size])
