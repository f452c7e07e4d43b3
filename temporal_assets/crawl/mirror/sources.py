"""Files that a mirror is made of; their names decide how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from temporal_assets.crawl.mirror.edge_list import read_edges
from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.crawl.mirror.page_table import is_page_table, read_pages
from temporal_assets.logs.tables.parquet_batches import FAULTS
from temporal_assets.machine.extras import extra

Reader = Callable[[Path, MirrorBuilder], None]


def _read_parquet(path: Path, builder: MirrorBuilder) -> None:
    """Read a Parquet file of pages with HTML, or of links."""
    (read_pages if is_page_table(path) else read_edges)(path, builder)


def _read_warc(path: Path, builder: MirrorBuilder) -> None:
    with extra("warc", "reading WARC files"):
        from temporal_assets.crawl.mirror.warc import read_warc
    read_warc(path, builder)


def _read_wat(path: Path, builder: MirrorBuilder) -> None:
    with extra("warc", "reading WAT files"):
        from temporal_assets.crawl.mirror.wat import read_wat
    read_wat(path, builder)


READERS: Final[dict[str, Reader]] = {
    ".wat": _read_wat,
    ".wat.gz": _read_wat,
    ".warc.wat.gz": _read_wat,
    ".warc": _read_warc,
    ".warc.gz": _read_warc,
    ".csv": read_edges,
    ".csv.gz": read_edges,
    ".tsv": read_edges,
    ".tsv.gz": read_edges,
    ".parquet": _read_parquet,
}
"""Readers by the ending of a file's name; the longest matching one is used."""


def reader_of(path: Path) -> Reader | None:
    """Return the reader of a file, or None if its name has no known ending."""
    name = path.name.lower()
    ends = [end for end in READERS if name.endswith(end)]
    return READERS[max(ends, key=len)] if ends else None


def is_link_table(path: Path) -> bool:
    """Return True if a file is a readable Parquet table of links."""
    try:
        return path.name.lower().endswith(".parquet") and not is_page_table(path)
    except FAULTS:
        return False


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and the readable files in the folders, sorted by name."""
    source_files: list[Path] = []
    for path in paths:
        if path.is_dir():
            source_files += sorted(
                p for p in path.rglob("*") if p.is_file() and reader_of(p) is not None
            )
        else:
            source_files.append(path)
    return source_files


def read_sources(paths: Iterable[Path], builder: MirrorBuilder) -> None:
    """Read files one after the other; raises `ValueError` for an unknown ending."""
    for path in paths:
        reader = reader_of(path)
        if reader is None:
            raise ValueError(f"a mirror is made of {', '.join(sorted(READERS))}")
        reader(path, builder)
        builder.counts["files"] += 1
