"""A crawl policy for the benchmark suite, and its rules as regular expressions by site.

The alternative is what a crawler would do without the matcher: look the site up in a dict, compare
its prefixes, try its expressions one after the other.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from temporal_assets.core.patterns.pattern_forest import portable
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.policy.document import FORMAT, VERSION, Document

SITES: Final = 1_000
SECTIONS: Final = 50
URLS: Final = 1_000_000
SEED: Final = 20111024

_HOST: Final = "site0.example"
_LABEL: Final = "site0"


def section_urls(host: str, random: np.random.Generator, count: int) -> list[str]:
    """Pages of the fifty sections of a site, news and other programs."""
    section = random.integers(0, SECTIONS, count).tolist()
    number = random.integers(0, 10_000, (count, 3)).tolist()
    urls = []
    for i, (s, (a, b, c)) in enumerate(zip(section, number, strict=True)):
        if s % 2:
            urls.append(f"https://{host}/s{s}/20{a % 30:02}/{b % 12 + 1:02}/page-{c}-{i}.html")
        else:
            urls.append(f"https://{host}/s{s}/view.php?id={a}&part={b % 9}")
    return urls


def policy_of(sites: int) -> Document:
    """Return a policy of a learned site under many names."""
    urls = section_urls(_HOST, np.random.default_rng(SEED), 3_000)
    tree = pattern_tree(texts(sorted(set(urls))), TreeOptions(min_urls=10))
    shape = portable(tree)
    leaves = tree.leaves.tolist()
    shown = [pattern_text(tree, node) for node in leaves]
    templates = [text.template() for text in shown]
    expressions = [text.expression() for text in shown]
    document: Any = {
        "format": FORMAT, "version": VERSION, "generator": "benchmark", "day": "2025-05-01",
        "window": {"first": "2025-03-03", "days": 60, "missing_days": []},
        "settings": {}, "inputs": [], "includes_subdomains": False,
        "provisional": False, "notes": [],
        "urls": {"scheme": "https", "dropped_keys": ["sid", "utm_*"], "kept_keys": [],
                 "static_extensions": ["css", "jpg", "js", "png"]},
        "sites": [], "hubs": [], "sources": [], "prefixes": [], "patterns": [], "trees": [],
    }  # fmt: skip
    for n in range(sites):
        label = f"site{n}"
        host = f"{label}.example"
        document["sites"].append({"site": host, "rank": n + 1, "score": 0.5, "tier": 14})
        document["hubs"].append(
            {"url": f"https://{host}/", "site": host, "rank": n + 1, "tier": 1 + 4 * n // sites,
             "interval_seconds": 900, "temporal_pages": 9}
        )  # fmt: skip
        document["prefixes"] += [
            {"prefix": f"{host}/news{s}/", "site": host, "tier": 5, "score": 0.9, "pages": 9}
            for s in range(SECTIONS)
        ]
        first = len(document["patterns"])
        document["patterns"] += [
            {"site": host, "template": template, "decision": "later", "tier": 9 + place % 4,
             "expression": expression.replace(_LABEL, label), "fetch": 0.5, "discovery": 0.5,
             "urgency": None, "overrules": False, "visits": 9}
            for place, (template, expression) in enumerate(
                zip(templates, expressions, strict=True)
            )
        ]  # fmt: skip
        pattern = [-1] * len(shape["parent"])
        for place, node in enumerate(leaves):
            pattern[node] = first + place
        renamed = [label if text == _LABEL else text for text in shape["texts"]]
        document["trees"].append({**shape, "texts": renamed, "site": host, "pattern": pattern})
    policy: Document = document
    return policy


def asked(sites: int, count: int) -> list[str]:
    """Nine tenths plain URLs of known sites; the rest unknown, or in need of cleaning."""
    random = np.random.default_rng(SEED + 1)
    urls = section_urls(_HOST, random, count)
    site = random.integers(0, sites, count).tolist()
    kind = random.integers(0, 20, count).tolist()
    found = []
    for url, n, k in zip(urls, site, kind, strict=True):
        own = url.replace(_LABEL, f"site{n}", 1)
        if k == 0:
            own = own.replace(".example", ".elsewhere", 1)
        elif k == 1:
            own = own.replace("https://s", "HTTP://S", 1) + "#top"
        elif k < 6:
            own = own.replace(".example/s", ".example/news", 1)
        found.append(own)
    return found


class Expressions:
    """The same decisions by site, prefix and expression, in plain Python."""

    def __init__(self, document: Document) -> None:
        self._prefixes: dict[str, list[tuple[str, int]]] = {}
        self._patterns: dict[str, list[tuple[re.Pattern[str], int]]] = {}
        for prefix in document["prefixes"]:
            listed = self._prefixes.setdefault(prefix["site"], [])
            listed.append((prefix["prefix"], prefix["tier"]))
        for pattern in document["patterns"]:
            self._patterns.setdefault(pattern["site"], []).append(
                (re.compile(pattern["expression"]), pattern["tier"])
            )
        self._sites = {site["site"]: site["tier"] for site in document["sites"]}

    def tier(self, url: str) -> int:
        """Return the tier of a canonical URL."""
        rest = url[8:]
        site = rest.partition("/")[0]
        if site not in self._sites:
            return 16
        for prefix, tier in self._prefixes.get(site, []):
            if rest.startswith(prefix):
                return tier
        for expression, tier in self._patterns.get(site, []):
            if expression.match(url):
                return tier
        return self._sites[site]
