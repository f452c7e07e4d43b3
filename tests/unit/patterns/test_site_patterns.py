"""The patterns of a whole site: known in every detail, sampled, and read later."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.later_patterns import arrivals, by_year, described
from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.site_patterns import SitePatterns, SiteTraffic, learn_patterns
from temporal_assets.core.patterns.syntax.sampled_tree import site_tree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.core.traffic.audience import Audience

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
    return [pattern_text(tree, node).template() for node in tree.leaves.tolist()]


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


MOVED = {("wapo", 2023)}
"""Changed its URLs within these two weeks."""


@pytest.fixture(scope="module")
def sites(shared_data: Path) -> dict[str, list]:
    return arrivals(shared_data)


def test_patterns_of_every_year_hold_the_next_two_weeks(sites: dict[str, list]) -> None:
    judged = {(site, year): row[2] for site, found in sites.items()
              for year, row in by_year(found).items()}  # fmt: skip
    assert len(judged) > 12
    assert {key for key, share in judged.items() if share < 0.95} <= MOVED


@pytest.mark.parametrize("site", ["lat", "wapo", "nbc", "cnn"])
def test_every_section_has_a_pattern_of_its_own(sites: dict[str, list], site: str) -> None:
    """Sites that the rule was not chosen on: fewer bits, and as many URLs covered."""
    drop, support = (described(sites[site], rule) for rule in ("drop", "support"))
    assert support.bits < drop.bits - 3
    assert support.coverage >= drop.coverage - 0.0005
    assert support.in_wildcard < drop.in_wildcard


URLS = sorted(
    [f"https://h.example/news/2025/03/{1 + i % 28:02}/{i}.html" for i in range(2_000)]
    + [f"https://h.example/{name}/{i}" for name in ("about", "team") for i in range(400)]
    + ["https://h.example/odd/page/of/its/own", "https://h.example/"]
)


def test_a_small_site_is_learned_whole() -> None:
    whole, same = pattern_tree(texts(URLS)), site_tree(texts(URLS))
    assert np.array_equal(whole.leaf_of_url(), same.leaf_of_url())


def test_a_sample_finds_the_sections_and_counts_all_pages() -> None:
    options = TreeOptions(most_urls=500)
    everyone = Audience(
        5, np.full(len(URLS), 9), np.zeros(0, np.int64), np.zeros(len(URLS) + 1, int)
    )
    tree = site_tree(texts(URLS), options, everyone, np.arange(len(URLS), dtype=np.int32) % 60)
    sizes = {pattern_text(tree, n).template(): int(tree.sizes[n]) for n in tree.leaves.tolist()}
    assert sizes["/news/{year}/{month}/{day}/{digits}.html"] == 2_000
    assert sum(sizes.values()) == len(URLS) == int(tree.sizes[0])
    assert {name for name in sizes if "about" in name or "team" in name} == {
        "/about/{digits}", "/team/{digits}",
    }  # fmt: skip
    assert np.array_equal(np.sort(tree.order), np.arange(len(URLS)))
    totals = tree.totals(np.ones(len(URLS)))
    assert np.array_equal(totals, tree.sizes)
    held = compile_matcher(tree).match_leaves(texts(URLS))
    assert (held == tree.leaf_of_url())[held >= 0].all()
    assert (held >= 0).mean() > 0.99


def test_patterns_of_a_sample_have_the_visits_of_all() -> None:
    count, none = len(URLS), np.zeros(0, np.int64)
    traffic = SiteTraffic(texts(URLS), np.ones(count), np.zeros(count), none, none, np.zeros(0))
    patterns = learn_patterns(traffic, TreeOptions(most_urls=500))
    assert patterns.graph.visits.sum() == patterns.graph.volume.sum() == count
