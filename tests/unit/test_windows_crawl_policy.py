"""Trees as the tables hold them become the trees of the policy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.core.pattern_forest import NOWHERE, desk_for, plant, walk
from temporal_assets.core.pattern_match import compile_matcher
from temporal_assets.core.pattern_rules import rules_of
from temporal_assets.core.pattern_tree import TreeOptions, pattern_tree
from temporal_assets.core.texts import texts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.windows.crawl_policy import _read, _trees
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
    assert len(trees[NEWS]["parent"]) == len(cut)
    forest = plant([trees[NEWS]])
    desk = desk_for(forest)
    flat = texts(URLS)
    expected = compile_matcher(cut).match(flat).tolist()
    found = [
        walk(forest, 0, flat.data, int(start), int(stop), desk)
        for start, stop in zip(flat.offsets[:-1], flat.offsets[1:], strict=True)
    ]
    assert found == expected
    assert set(found) > {NOWHERE}
    kept = [node for node in range(len(tree)) if node in places[NEWS]]
    assert [places[NEWS][node] for node in kept] == list(range(len(cut)))


def test_nothing_is_left_out_of_a_long_list(tmp_path: Path) -> None:
    file = tmp_path / "prefixes.parquet"
    pq.write_table(pa.table({"prefix": [f"a.example/{n}/" for n in range(2500)]}), file)
    engine = DuckDBEngine(load_settings(tmp_path))
    job: Any = SimpleNamespace(engine=engine, files=lambda _: [str(file)])
    assert len(_read(job, "SELECT prefix FROM news_prefixes", "news_prefixes")) == 2500
