"""Apache Nutch 1.x: seeds with score and interval, URL filters, intervals by host.

What Nutch's parsers make of a line decides how it is written: intervals are whole seconds (others
are ignored with an error in the log), a filter that ends without a rule for everything rejects,
`#` cuts a line of the fast filter short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from temporal_assets.policy.document import TIERS, Document
from temporal_assets.policy.exports.mark import MARK
from temporal_assets.policy.exports.rules import by_rank, deniable_paths, escape, rules

DAY: Final = 86_400

_LONGEST: Final = 30 * DAY
"""Longest interval in seconds: Nutch's default. Pages of a site with hubs are not fetched less
often, unless even its most frequent hub is."""

OPTIONAL_FILES: Final = ("conf/prefix-urlfilter.txt",)


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    texts = {
        "seeds/seeds.txt": _seeds(document),
        "conf/regex-urlfilter.txt": _regex_filter(document),
        "conf/fast-urlfilter.txt": _fast_filter(document),
        "conf/adaptive-host-specific-intervals.txt": _intervals(document),
    }
    if not document["includes_subdomains"]:  # prefixes cannot say "any host below"
        texts["conf/prefix-urlfilter.txt"] = _prefix_filter(document)
    return texts


def score(tier: int) -> float:
    """Return Nutch's score of a tier: larger is sooner."""
    return float(TIERS + 1 - tier)


def _seeds(document: Document) -> str:
    """Return the seed list: hubs by rank, then feeds and sitemaps."""
    lines = (
        f"{hub['url']}\tnutch.score={score(hub['tier']):.1f}"
        f"\tnutch.fetchInterval={hub['interval_seconds']}\tpolicyTier={hub['tier']}"
        for hub in by_rank(document)
    )
    sources = (
        f"{row['url']}\tnutch.score={score(row['tier']):.1f}"
        f"\tnutch.fetchInterval={row['interval_seconds']}\tpolicyTier={row['tier']}"
        f"\tsourceKind={row['kind']}"
        for row in document["sources"]
    )
    return _text([*lines, *sources])


def _regex_filter(document: Document) -> str:
    """Return the file of expressions that accept or refuse URLs, in their order."""
    every = rules(document)
    return _text(
        [
            "# The first expression that is found in a URL decides.",
            *(f"+^{escape(row['url'])}$" for row in document["sources"]),
            *(f"{'+' if rule.is_accepted else '-'}{rule.expression}" for rule in every),
            "# Anything else.",
            "-.",
        ]
    )


def _prefix_filter(document: Document) -> str:
    """Return the filter by prefix: known sites in both schemes, a fast first test."""
    prefixes = (
        f"{scheme}://{entry['site']}/"
        for entry in document["sites"]
        for scheme in ("http", "https")
    )
    return _text([f"# Known sites; {MARK}", *prefixes])


def _fast_filter(document: Document) -> str:
    """Return the filter by host: rules that deny what is skipped on known hosts.

    Other filters keep the crawl to known hosts.
    """
    static = [rule.expression for rule in rules(document) if rule.kind == "static"]
    skipped: dict[str, list[str]] = {entry["site"]: [] for entry in document["sites"]}
    for site, expression in deniable_paths(document):
        skipped[site].append(expression)
    lines = []
    for site, own in skipped.items():
        # Patterns are of one host, and not of those below it.
        if document["includes_subdomains"]:
            lines += [*_denied("Domain", site, static), *_denied("Host", site, own)]
        else:
            lines += _denied("Host", site, [*static, *own])
    return _text(lines)


def _denied(scope: str, site: str, expressions: Sequence[str]) -> list[str]:
    if not expressions:
        return []
    return [f"{scope} {site}", *(f"  DenyPathQuery {_one_word(e)}" for e in expressions), ""]


def _one_word(expression: str) -> str:
    """Return an expression that is one word. Raises `ValueError` for others.

    Nutch's parser ends an expression at white space, and a line at `#`; canonical URLs have none.
    """
    if "#" in expression or len(expression.split()) != 1:
        raise ValueError(f"the fast filter of Nutch cannot hold {expression!r}")
    return expression


def _intervals(document: Document) -> str:
    """Return the visit interval of each host with hubs: that of its most frequent hub."""
    shortest: dict[str, int] = {}
    for hub in document["hubs"]:
        seconds = hub["interval_seconds"]
        shortest[hub["site"]] = min(seconds, shortest.get(hub["site"], seconds))
    return _text(
        f"{site} {seconds} {max(seconds, _LONGEST)}" for site, seconds in sorted(shortest.items())
    )


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
