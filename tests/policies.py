"""A small policy with everything in it, and larger ones made by rule."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_forest import PortableTree, portable
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.assemble import (
    HUBS,
    PATTERNS,
    PREFIXES,
    SITES,
    Choices,
    Provenance,
    Tables,
    assemble,
)
from temporal_assets.policy.document import SKIP_TIER, Document
from temporal_assets.policy.exports.rules import Rule

PROVENANCE = Provenance(
    day="2025-05-01",
    first_day="2025-03-03",
    window_days=60,
    missing_days=("2025-03-10",),
    inputs=(("hub_seeds", "aa"), ("site_scores", "bb")),
    thresholds={"labels": {"n": 3.0, "q": 0.7}},
)

NEWS = "news.example"
SHOP = "shop.example"
BOARD = "board.example"

PRIVATE = "https://news.example/private/anna"
"""Opened by fewer clients than may be published."""


def portal_urls(host: str, count: int = 60) -> list[str]:
    """News with dates, a program, an archive and a login page."""
    origin = f"https://{host}"
    urls = [f"{origin}/", f"{origin}/politics/", f"{origin}/about.html"]
    for i in range(count):
        month, day = i % 12 + 1, i % 28 + 1
        urls += [
            f"{origin}/politics/2025/{month:02}/{day:02}/report-on-{i}.html",
            f"{origin}/archive/item?id={i}",
            f"{origin}/user/login?next=%2Fpage%2F{i}",
            f"{origin}/wiki/Topic_{i}+(x)",
        ]
    return urls


URGENCY = {"politics": 0.9, "archive": 0.05, "wiki": 0.1}
"""Urgency by the word a template holds."""


def learned(
    host: str, urls: Sequence[str] | None = None
) -> tuple[PortableTree, list[dict[str, object]]]:
    """The tree of a site, and rows of PATTERNS."""
    urls = urls or portal_urls(host)
    tree = pattern_tree(texts(urls), TreeOptions(min_urls=5))
    # Visits by kind of page: the logins are the least visited.
    visits = np.array([1.0 if "login" in url else 100.0 for url in urls])
    totals = tree.totals(visits)
    rows: list[dict[str, object]] = []
    for node in tree.leaves.tolist():
        text = pattern_text(tree, node)
        template = text.template()
        urgency = next((v for word, v in URGENCY.items() if word in template), None)
        rows.append(
            {
                "site": host,
                "node": node,
                "template": template,
                "expression": text.expression(),
                "visits": int(totals[node]),
                "fetch": float(totals[node]),
                "discovery": 0.5,
                "urgency": urgency,
                "labelled": 40,
                "clients": 50,
            }
        )
    return portable(tree), rows


WHOLE = f"{SHOP}/"
"""A news prefix that holds a whole site, with all that is no news in it."""


def tables(*, whole: bool = False) -> Tables:
    """Three sites, four hubs, two prefixes, patterns of two sites; some of it too private.

    With `whole` a third prefix, WHOLE.
    """
    trees, patterns = {}, []
    for host in (NEWS, SHOP):
        trees[host], rows = learned(host)
        patterns += rows
    patterns.sort(key=lambda row: str(row["template"]))
    patterns[0] |= {"clients": 4}
    hubs = [
        {"url": "https://news.example/", "interval_seconds": 1000},
        {"url": "https://news.example/politics/", "interval_seconds": 300},
        {"url": "https://board.example/list?forum=2&sort=new", "interval_seconds": 80_000},
        {"url": "https://shop.example/offers(1).php", "interval_seconds": 10},
        {"url": PRIVATE, "interval_seconds": 300, "clients": 4},
    ]
    return Tables(
        sites=pa.Table.from_pylist(
            [
                {"site": NEWS, "rank": 1, "score": 0.9, "clients": 100},
                {"site": BOARD, "rank": 2, "score": 0.5, "clients": 60},
                {"site": "few.example", "rank": 3, "score": 0.4, "clients": 4},
            ],
            SITES,
        ),
        hubs=pa.Table.from_pylist(
            [
                {"rank": place, "tier": place, "temporal_pages": 40 - place, "clients": 30, **hub}
                for place, hub in enumerate(hubs, 1)
            ],
            HUBS,
        ),
        prefixes=pa.Table.from_pylist(
            [
                {"prefix": "news.example/politics/", "score": 0.95, "pages": 60, "clients": 90},
                {"prefix": "board.example/t.php?", "score": 0.85, "pages": 20, "clients": 9},
                {"prefix": "news.example/private/", "score": 1.0, "pages": 5, "clients": 3},
                *([{"prefix": WHOLE, "score": 0.5, "pages": 30, "clients": 9}] if whole else []),
            ],
            PREFIXES,
        ),
        patterns=pa.Table.from_pylist(patterns, PATTERNS),
        trees=trees,
    )


def document(*, whole: bool = False) -> Document:
    """The policy of `tables`."""
    return assemble(tables(whole=whole), PROVENANCE, Choices(min_clients=5))


KINDS_OF_PAGES = ("politics", "archive", "login", "wiki")
"""Words that tell the kinds of `portal_urls` apart; some URLs have none of them."""


def document_of_schemes(
    schemes: Mapping[str, Sequence[str]], hubs: Sequence[tuple[str, int]], *, whole: bool = False
) -> Document:
    """A policy to which http and https are other pages.

    `schemes`: those under which each kind of SHOP's pages was opened. `hubs`: (URL, tier).
    """
    urls = [
        url.replace("https", scheme, 1)
        for url in portal_urls(SHOP)
        for scheme in schemes.get(
            next((word for word in KINDS_OF_PAGES if word in url), ""), ("https",)
        )
    ]
    given = tables(whole=whole)
    tree, rows = learned(SHOP, urls)
    others = [row for row in given.patterns.to_pylist() if row["site"] != SHOP]
    hub_rows = [
        {"url": url, "rank": place, "tier": tier, "temporal_pages": 9, "interval_seconds": 300}
        | {"clients": 30}
        for place, (url, tier) in enumerate(hubs, 1)
    ]
    mixed = dataclasses.replace(
        given,
        hubs=pa.Table.from_pylist(hub_rows, HUBS),
        patterns=pa.Table.from_pylist([*others, *rows], PATTERNS),
        trees={**given.trees, SHOP: tree},
    )
    return assemble(mixed, PROVENANCE, Choices(min_clients=5), UrlRules(scheme="keep"))


def tier_of(url: str, every: Sequence[Rule]) -> int:
    """The tier that rules give a canonical URL, by trying one after the other."""
    return next((rule.tier for rule in every if re.search(rule.expression, url)), SKIP_TIER)


URLS = [
    *portal_urls(NEWS, 6),
    *portal_urls(SHOP, 6),
    "https://news.example/politics/2026/01/02/never-seen.html",
    "https://news.example/politics/2026/picture.JPG",
    "https://news.example/politics",
    "https://news.example/private/anna",
    "https://news.example/elsewhere/a/b/c",
    "https://news.example:8443/politics/x",
    "https://board.example/list?forum=2&sort=new",
    "https://board.example/list?forum=2",
    "https://board.example/t.php?t=77",
    "https://board.example/t.phpx?t=77",
    "https://shop.example/offers(1).php",
    "https://shop.example/offers1.php",
    "https://shop.example/wiki/New_entry+(y)",
    "https://www.news.example/politics/a",
    "https://evilnews.example/politics/a",
    "https://few.example/",
    "https://unknown.example/politics/2025/01/02/report-on-1.html",
]
"""Canonical URLs, seen and unseen, of every kind."""

_SCHEMES = st.sampled_from(["http", "https"])
_HUBS = st.builds(
    "{}://{}{}".format,
    _SCHEMES,
    st.sampled_from([NEWS, SHOP, f"{SHOP}:8443"]),
    st.sampled_from(["/", "/politics/", "/user/login?next=%2Fpage%2F1", "/archive/item?id=1"]),
)

schemes_of_pages = st.fixed_dictionaries(
    {kind: st.lists(_SCHEMES, min_size=1, max_size=2, unique=True) for kind in KINDS_OF_PAGES}
)
hubs_of_schemes = st.lists(
    st.tuples(_HUBS, st.integers(1, 4)), max_size=12, unique_by=lambda hub: hub[0]
)
urls_of_schemes = st.one_of(
    _HUBS,
    st.builds(lambda scheme, url: url.replace("https", scheme, 1), _SCHEMES, st.sampled_from(URLS)),
)
"""Arguments of `document_of_schemes`, and URLs to match."""
