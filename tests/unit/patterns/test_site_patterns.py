"""A whole site: trees, cuts, graph and ranks together; and real URLs."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import PatternText
from temporal_assets.core.patterns.pattern_tree import pattern_tree
from temporal_assets.core.patterns.site_patterns import SitePatterns, SiteTraffic, learn_patterns
from temporal_assets.core.text.texts import texts

ARTICLES = 40
ARTICLE = "/{news|sport}/{slug}.html"


def portal() -> SiteTraffic:
    """A front page leads to news and sport alike; both lead back. Archive pages: nobody links them.

    URLs: 0 the front page, 1-40 news, 41-80 sport, 81-120 archive.
    """
    host = "https://portal.example"
    urls = [f"{host}/"]
    urls += [f"{host}/news/story-{i}x.html" for i in range(ARTICLES)]
    urls += [f"{host}/sport/match-{i}x.html" for i in range(ARTICLES)]
    urls += [f"{host}/archive/{1000 + i}" for i in range(ARTICLES)]
    visits = np.array([500.0] + [30.0] * ARTICLES + [10.0] * ARTICLES + [2.0] * ARTICLES)
    linked = np.arange(1, 2 * ARTICLES + 1)
    front = np.zeros(2 * ARTICLES, np.int64)
    count = np.array([20.0] * ARTICLES + [5.0] * ARTICLES)
    back = np.array([4.0] * ARTICLES + [1.0] * ARTICLES)
    referrals = np.concatenate(([count.sum()], back, np.zeros(ARTICLES)))
    return SiteTraffic(
        texts(urls),
        visits,
        referrals,
        np.concatenate((front, linked)),
        np.concatenate((linked, front)),
        np.concatenate((count, back)),
    )


@pytest.fixture(scope="module")
def found() -> SitePatterns:
    return learn_patterns(portal())


def shown(tree_of: SitePatterns, name: str) -> list[str]:
    tree = getattr(tree_of, name)
    return [PatternText(tree, node).template() for node in tree.leaves.tolist()]


def test_three_trees(found: SitePatterns) -> None:
    assert sorted(shown(found, "by_syntax")) == [
        "/", "/archive/{digits}", "/news/{slug}.html", "/sport/{slug}.html",
    ]  # fmt: skip
    # Visits tell news from sport ...
    assert sorted(shown(found, "by_visit")) == sorted(shown(found, "by_syntax"))
    # ... but their links do not.
    assert sorted(shown(found, "by_transit")) == ["/", "/archive/{digits}", ARTICLE]
    assert sorted(d.merged for d in found.transit_cut.decisions) == [False, True]


def test_the_graph_adds_up(found: SitePatterns) -> None:
    traffic = portal()
    rows = {name: i for i, name in enumerate(shown(found, "by_transit"))}
    graph = found.graph
    assert graph.volume[rows[ARTICLE]] == 80
    assert graph.visits.sum() == traffic.visits.sum()
    assert graph.visits[rows[ARTICLE]] == 1600
    assert graph.referrals.sum() == traffic.referrals.sum()
    assert graph.transits[rows["/"], rows[ARTICLE]] == 1000
    assert graph.transits[rows[ARTICLE], rows["/"]] == 200
    assert graph.transits.sum() == traffic.transits.sum()


def test_the_front_page_is_the_hub(found: SitePatterns) -> None:
    rows = {name: i for i, name in enumerate(shown(found, "by_transit"))}
    ranks = found.ranks
    assert ranks.by_discovery[rows["/"]] == 1
    assert ranks.by_volume[rows[ARTICLE]] == 1
    assert ranks.is_isolated.tolist() == [name.startswith("/archive") for name in rows]
    assert ranks.convergence.converged


def test_a_site_without_referrers_keeps_the_visit_cut() -> None:
    with_links = portal()
    none = np.zeros(0, np.int64)
    traffic = SiteTraffic(
        with_links.urls, with_links.visits, np.zeros(len(with_links.urls)), none, none, np.zeros(0)
    )
    patterns = learn_patterns(traffic)
    assert not patterns.ranks.has_transits
    assert not patterns.transit_cut.has_transits
    assert shown(patterns, "by_transit") == shown(patterns, "by_visit")


@pytest.mark.parametrize("host", ["www.nytimes.com", "www.cnn.com", "www.cbsnews.com"])
def test_patterns_of_real_news_outlive_their_urls(shared_data: Path, host: str) -> None:
    """Learned from the first half of a site's articles, they hold the second half."""
    urls = []
    with gzip.open(
        shared_data / "top_news_arrivals" / "arrivals.csv.gz", "rt", encoding="utf-8"
    ) as f:
        for row in csv.DictReader(f):
            if row["url"].startswith(f"https://{host}/"):
                urls.append((row["first_seen_utc"], row["url"]))  # noqa: PERF401
    ordered = list(dict.fromkeys(url for _, url in sorted(urls)))
    half = len(ordered) // 2
    tree = pattern_tree(texts(ordered[:half]))
    later = texts(ordered[half:])
    assert (compile_matcher(tree).match_leaves(later) != NOWHERE).mean() > 0.98
    assert len(tree.leaves) < 200
