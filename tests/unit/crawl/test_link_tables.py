"""Mirrors from large tables of links: the same as those collected row by row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.graph.link_graph import distinct_links
from temporal_assets.crawl.mirror.edge_list import BadLinks
from temporal_assets.crawl.mirror.link_tables import mirror_of_tables
from temporal_assets.crawl.mirror.mirror import MirrorBuilder, NoMirror
from temporal_assets.crawl.mirror.sources import is_link_table, read_sources
from temporal_assets.crawl.mirror.traffic import Traffic, add_transits, mirror_of
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.url_rules import DEFAULT
from temporal_assets.settings import load_settings


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return DuckDBEngine(load_settings(tmp_path_factory.mktemp("engine")))


def table(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def links_of(mirror):
    source = np.repeat(np.arange(len(mirror)), np.diff(mirror.links.first))
    columns = (source, mirror.links.target, mirror.is_nofollow)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def assert_same(one, other):
    assert one.urls.to_pylist() == other.urls.to_pylist()
    assert (one.sites, one.first.tolist()) == (other.sites, other.first.tolist())
    assert links_of(one) == sorted(links_of(other))


def test_the_engine_makes_the_mirror_that_the_builder_makes(engine, tmp_path):
    rng = np.random.default_rng(3)
    pages = [f"HTTP://{host}.example:80/p{i}?utm_source=x" for host in "cab" for i in range(20)]
    pages += ["https://a.example/p1", "mailto:x", "", "https://a.example/p1#top"]
    ends = [[pages[i] for i in rng.integers(0, len(pages), 500)] for _ in range(2)]
    files = [
        table(tmp_path / "one.parquet", source=ends[0], target=ends[1]),
        table(
            tmp_path / "two.parquet",
            weight=[1.0] * 500,
            TO=[*ends[0][:499], None],
            nofollow=["yes", "no"] * 250,
            From=ends[1],
        ),
        table(
            tmp_path / "three.parquet",
            source=["https://z.example/"],
            target=["https://a.example/p1"],
            nofollow=[True],
        ),
    ]
    builder = MirrorBuilder()
    read_sources(files, builder)
    theirs = builder.build()
    (tmp_path / "out").mkdir()
    ours = mirror_of_tables(engine, files, DEFAULT, tmp_path / "out")
    assert_same(ours, theirs)
    assert 0 < ours.is_nofollow.sum() < len(ours.is_nofollow)
    assert ours.counts["broken"] == theirs.counts["broken"] > 0
    assert ours.counts["no_page_url"] == theirs.counts["no_page_url"] > 0


def test_tables_without_pages_are_no_mirror(engine, tmp_path):
    nothing = table(tmp_path / "links.parquet", source=["mailto:a"], target=["x"])
    (tmp_path / "out").mkdir()
    with pytest.raises(NoMirror):
        mirror_of_tables(engine, [nothing], DEFAULT, tmp_path / "out")


def damaged(path):
    urls = [f"https://a.example/{n}" for n in range(5_000)]
    table(path, source=urls, target=urls, nofollow=[False] * 5_000)
    content = bytearray(path.read_bytes())
    content[200:900] = bytes(700)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: table(path, url=["https://a.example/"]), "this one has one column (url)"),
        (lambda path: table(path, source=[["x"]], target=["y"]), "holds lists"),
        (damaged, ""),
    ],
)
def test_what_is_no_table_of_links_is_named(engine, tmp_path, make, why):
    good = table(tmp_path / "a.parquet", source=["https://a.example/"], target=["y"])
    path = make(tmp_path / "b.parquet")
    (tmp_path / "out").mkdir()
    with pytest.raises(BadLinks) as caught:
        mirror_of_tables(engine, [good, path], DEFAULT, tmp_path / "out")
    assert str(caught.value).startswith(f"{path}: ")
    assert why in str(caught.value)


def test_what_is_a_table_of_links(tmp_path):
    assert is_link_table(table(tmp_path / "a.parquet", a=["x"], b=["y"]))
    assert not is_link_table(table(tmp_path / "b.parquet", url=["x"], html=["y"]))
    (tmp_path / "c.parquet").write_bytes(b"no")
    assert not is_link_table(tmp_path / "c.parquet")
    assert not is_link_table(tmp_path / "d.csv")


def test_the_mirror_of_traffic_at_once_is_that_of_the_builder():
    urls = [f"https://{host}.example/{i}" for host in "ab" for i in range(3)]
    pages = pa.table({"site": [url.split("/")[2] for url in urls], "url": urls})
    came_from = [*urls[:2] * 2, "https://search.example/?q=a"]
    targets = [urls[1], urls[5], urls[1], urls[0], urls[0]]
    transits = pa.table({"referrer": came_from, "target": targets})
    builder = MirrorBuilder()
    add_transits(Traffic(pages, transits), builder)
    actual = builder.build()
    assert_same(mirror_of(Traffic(pages, transits)), actual)
    assert (actual.counts["pages"], actual.counts["outside"]) == (6, 1)
    assert "duplicate" not in actual.counts
    with pytest.raises(NoMirror):
        mirror_of(Traffic(pages.slice(0, 0), transits))


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=60)


@given(PAIRS)
def test_every_pair_once(pairs):
    source, target = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    flag = np.array([pair[2] for pair in pairs], np.bool_)
    graph, flags = distinct_links(6, source, target, flag)
    actual = [(page, goal) for page in range(6) for goal in graph.of(page).tolist()]
    assert actual == sorted({pair[:2] for pair in pairs})
    wanted = [all(own_pair[2] for own_pair in pairs if own_pair[:2] == pair) for pair in actual]
    assert flags.tolist() == wanted
