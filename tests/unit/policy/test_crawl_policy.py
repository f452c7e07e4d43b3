"""Trees as the tables hold them become the trees of the policy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.core.patterns.pattern_forest import NOWHERE, desk_for, plant, walk
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.pattern_rules import rules_of
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.windows.policy import crawl_policy
from temporal_assets.windows.policy.crawl_policy import _NODES, _PREFIXES, _read, _trees
from tests.policies import NEWS, URLS, portal_urls


@pytest.mark.parametrize("depth", [1, 2, 99])
def test_a_tree_ends_at_its_patterns(depth: int) -> None:
    tree = pattern_tree(texts(portal_urls(NEWS)), TreeOptions(min_urls=5))
    hierarchy = tree.hierarchy
    is_pattern = hierarchy.is_leaf | (hierarchy.depth == depth)
    nodes: list[dict[str, Any]] = [
        {
            "site": NEWS,
            "pattern": node,
            "parent": int(hierarchy.parent[node]),
            "rule": rule,
            # What lies under a pattern is flagged too, as leaves of other cuts are.
            "is_pattern": bool(is_pattern[node]) and int(hierarchy.depth[node]) <= depth,
        }
        for node, rule in enumerate(rules_of(tree))
    ]
    trees, places = _trees(nodes)
    cut = tree.cut(is_pattern)
    whole, place = (
        (cut, np.arange(len(cut))) if cut.parts is None else (cut.parts.tree, cut.parts.node)
    )
    in_cut = place if cut.parts is None else cut.parts.in_cut(cut.hierarchy)
    assert len(trees[NEWS]["parent"]) == len(whole)
    forest = plant([trees[NEWS]])
    desk = desk_for(forest)
    flat = texts(URLS)
    expected = compile_matcher(cut).match(flat).tolist()
    actual = [
        walk(forest, 0, flat.data, int(start), int(stop), desk)
        for start, stop in zip(flat.offsets[:-1], flat.offsets[1:], strict=True)
    ]
    assert [node if node == NOWHERE else int(in_cut[node]) for node in actual] == expected
    assert set(actual) > {NOWHERE}
    kept = [node for node in range(len(tree)) if node in places[NEWS]]
    assert [places[NEWS][node] for node in kept] == place.tolist()


def test_nothing_is_left_out_of_a_long_list(tmp_path: Path) -> None:
    file = tmp_path / "prefixes.parquet"
    pq.write_table(pa.table({"prefix": [f"a.example/{n}/" for n in range(2500)]}), file)
    engine = DuckDBEngine(load_settings(tmp_path))
    job: Any = SimpleNamespace(
        engine=engine, settings=load_settings(tmp_path), files=lambda _: [str(file)]
    )
    assert len(_read(job, "SELECT prefix FROM news_prefixes", "news_prefixes")) == 2500


def test_the_best_rules_are_in_a_policy_that_cannot_hold_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [("z.example/", 9), ("a.example/", 3), ("m.example/", 5)]
    columns = ("site", "pattern", "parent", "rule", "is_pattern", "status", "visits", "is_public")
    nodes = [
        *(("few.example", n, n - 1, "", n == 2, "learned", 5 - n, n == 0) for n in range(3)),
        *(("many.example", n, n - 1, "", n == 1, "learned", 9 - n, True) for n in range(2)),
        ("bad.example", 0, -1, "", True, "failed", 99, True),
        ("secret.example", 0, -1, "", True, "learned", 50, False),
    ]
    facts = {"score": 1.0, "pages": 99, "flow_pages": 9, "flow_temporal_pages": 9.0, "rule": "flow"}
    tables = {
        "news_prefixes": [
            *({"prefix": one, "news_pages": news, "clients": 9} | facts for one, news in known),
            {"prefix": "b.example/", "news_pages": 50, "clients": 1} | facts,
        ],
        "url_patterns": [dict(zip(columns, node, strict=True)) for node in nodes],
    }
    for name, rows in tables.items():
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")

    settings = load_settings(tmp_path)

    def job(most: int) -> Any:
        monkeypatch.setattr(crawl_policy, "MOST_RULES", most)
        return SimpleNamespace(
            engine=DuckDBEngine(settings),
            settings=settings,
            files=lambda name: [str(tmp_path / f"{name}.parquet")],
        )

    def actual(most: int) -> tuple[list[str], list[tuple[str, int]]]:
        prefixes = _read(job(most), _PREFIXES, "news_prefixes")
        of_trees = _read(job(most), _NODES, "url_patterns")
        return (
            [row["prefix"] for row in prefixes],
            [(row["site"], row["pattern"]) for row in of_trees],
        )

    many = [("many.example", 0), ("many.example", 1)]
    few = [("few.example", 0), ("few.example", 1), ("few.example", 2)]
    assert actual(1) == (["z.example/"], [])
    assert actual(2) == (["m.example/", "z.example/"], many)
    assert actual(4) == (["a.example/", "m.example/", "z.example/"], many)
    assert actual(5) == (["a.example/", "m.example/", "z.example/"], few + many)
