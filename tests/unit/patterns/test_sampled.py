"""A site with too many URLs is learned from a sample, and counted whole."""

from __future__ import annotations

import numpy as np

from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.pattern_text import PatternText
from temporal_assets.core.patterns.pattern_tree import TreeOptions, pattern_tree
from temporal_assets.core.patterns.sampled_tree import site_tree
from temporal_assets.core.patterns.site_patterns import SiteTraffic, learn_patterns
from temporal_assets.core.text.texts import texts
from temporal_assets.core.traffic.audience import Audience

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
    sizes = {PatternText(tree, n).template(): int(tree.sizes[n]) for n in tree.leaves.tolist()}
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
