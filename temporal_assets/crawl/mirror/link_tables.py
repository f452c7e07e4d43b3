"""A mirror from tables of links that are too large for Python objects.

Here: Parquet edge lists through the engine, URLs becoming numbers there. Not here: other sources,
which `MirrorBuilder` collects one by one; both make the same mirror of the same links, but for
their order: pages have one, tables have none, so that here links of a page stand by URL.

Distinct URLs are made canonical once each. What is in memory at a time: the engine within its
limit, or the pairs of numbers, 9 bytes a link, and the arrays of the mirror. Ten million pages
with a hundred million links stay under 6 GB (docs/performance.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.contracts import Table, passing
from temporal_assets.core.graph.link_graph import distinct_links
from temporal_assets.core.numerics.arrays import Flags, Int32s
from temporal_assets.crawl.mirror.edge_list import LONGEST_URL, TRUE, BadLinks, link_columns
from temporal_assets.crawl.mirror.mirror import Mirror, NoMirror, site_ranges
from temporal_assets.engines.base import Engine
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.tables.parquet_batches import FAULTS, batches, require_bounded
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules

_ROWS: Final = 200_000
_EDGES: Final = pa.schema({"source": pa.string(), "target": pa.string(), "nofollow": pa.bool_()})

_MIRROR_ENDS: Final = passing("mirror_ends", "written VARCHAR")
_CANONICAL_ENDS: Final = passing("canonical_ends", "written VARCHAR, site VARCHAR, url VARCHAR")
_MIRROR_PAGES: Final = passing("mirror_pages", "site VARCHAR, url VARCHAR")
_MIRROR_NUMBERS: Final = passing("mirror_numbers", "written VARCHAR, page BIGINT")
_MIRROR_PAIRS: Final = passing("mirror_pairs", "source BIGINT, target BIGINT, nofollow BOOLEAN")

_BROKEN: Final = (
    "SELECT count(*) AS given, count(CASE WHEN source <> '' AND target <> '' THEN 1 END) AS whole"
    " FROM mirror_edges"
)


def mirror_of_tables(engine: Engine, paths: Sequence[Path], rules: UrlRules, out: Path) -> Mirror:
    """Return the mirror of Parquet edge lists, using the private folder `out`.

    Every URL in a valid row that can be a page is one. Raises `NoMirror` without any, and
    `BadLinks` for a file that cannot be read to its end.
    """
    with _naming_what_is_damaged(paths):
        edges = {"mirror_edges": [str(_normal(path, out, i)) for i, path in enumerate(paths)]}
        (counted,) = engine.rows(_BROKEN, edges)
        ends = _query(engine, "mirror_ends", edges, _MIRROR_ENDS, out)
    canonical = engine.apply(
        partial(_canonical, rules=rules), {"mirror_ends": ends}, _CANONICAL_ENDS, out, _ROWS
    )
    input_files = {"canonical_ends": [str(path) for path in canonical]}
    pages = _query(engine, "mirror_pages", input_files, _MIRROR_PAGES, out)
    sites = whole_table(pages, ["site"])
    if not len(sites):
        raise NoMirror("no page was found in the sources of the mirror")
    numbers = _query(
        engine, "mirror_numbers", input_files | {"mirror_pages": pages}, _MIRROR_NUMBERS, out
    )
    pairs = _query(engine, "mirror_pairs", edges | {"mirror_numbers": numbers}, _MIRROR_PAIRS, out)
    source, target, nofollow = _pairs(pairs)
    counts = Counter(
        broken=counted["given"] - counted["whole"],
        no_page_url=counted["whole"] - len(source),
        files=len(paths),
    )
    graph, flags = distinct_links(len(sites), source, target, nofollow)
    del source, target, nofollow
    urls = whole_table(pages, ["url"]).column("url")
    names, first = site_ranges(sites.column("site"))
    counts_found = {**counts, "pages": len(urls), "links": graph.links}
    return Mirror(
        urls.cast(pa.large_string()).combine_chunks(), names, first, graph, flags, counts_found
    )


@contextmanager
def _naming_what_is_damaged(paths: Sequence[Path]) -> Iterator[None]:
    """Replace an engine's error by one that names the unreadable file."""
    try:
        yield
    except Exception as error:
        for path in paths:
            if fault := _fault_of(path):
                bad = BadLinks(f"{path}: {fault}")
                bad.path = path
                raise bad from error
        raise


def _fault_of(path: Path) -> str | None:
    try:
        for batch in batches(path, _ends_of(path), LONGEST_URL):
            for column in batch.columns:
                column.cast(pa.string())
    except (*FAULTS, BadLinks) as error:
        return str(error)
    return None


def _ends_of(path: Path) -> list[str]:
    with pq.ParquetFile(path) as file:
        source, target, _ = link_columns(file)
        return [file.schema_arrow.names[i] for i in (source, target)]


def _query(
    engine: Engine, sql: str, inputs: dict[str, list[str]], table: Table, out: Path
) -> list[str]:
    return [str(path) for path in engine.query(sql, inputs, {}, table, out)]


def _normal(path: Path, out: Path, number: int) -> Path:
    """Return the file if it has the expected columns, or else a copy that has."""
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        source, target, nofollow = link_columns(file)
        is_normal = file.schema_arrow.equals(_EDGES)
    if is_normal:
        require_bounded(path, names)
        return path
    copy = out / f"edges-{number}.parquet"
    chosen = [names[source], names[target]]
    flag = None if nofollow is None else names[nofollow]
    with pq.ParquetWriter(copy, _EDGES, compression="zstd") as writer:
        for batch in batches(path, [*chosen, *([flag] if flag else [])], LONGEST_URL):
            ends = [batch.column(name).cast(pa.string()) for name in chosen]
            flags = (
                [False] * len(batch)
                if flag is None
                else [str(value).lower() in TRUE for value in batch.column(flag).to_pylist()]
            )
            columns = [*ends, pa.array(flags, pa.bool_())]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_EDGES))
    return copy


def _canonical(batch: pa.RecordBatch, rules: UrlRules) -> pa.RecordBatch:
    """Return the canonical form of each URL."""
    written = batch.column("written")
    urls = [canonical_url(url, rules) for url in written.to_pylist()]
    sites = [None if url is None else site_of(url) for url in urls]
    columns = [written, pa.array(sites, pa.string()), pa.array(urls, pa.string())]
    return pa.RecordBatch.from_arrays(columns, schema=_CANONICAL_ENDS.arrow_schema)


def _pairs(paths: Sequence[str]) -> tuple[Int32s, Int32s, Flags]:
    """Read both ends and the flag of every link into arrays, piece by piece."""
    files = [pq.ParquetFile(path) for path in paths]
    rows = sum(file.metadata.num_rows for file in files)
    source, target = np.empty(rows, np.int32), np.empty(rows, np.int32)
    nofollow = np.empty(rows, np.bool_)
    at = 0
    for file in files:
        for batch in file.iter_batches(_ROWS):
            stop = at + len(batch)
            source[at:stop] = batch.column("source").to_numpy()
            target[at:stop] = batch.column("target").to_numpy()
            nofollow[at:stop] = batch.column("nofollow").to_numpy(zero_copy_only=False)
            at = stop
    return source, target, nofollow
