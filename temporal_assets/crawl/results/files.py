"""Fetches from files: an index in JSON lines, a table (CSV, Parquet), CDX, WARC.

Here: which files there are, and rows from each. Damaged rows are left out and counted. Not here:
what a row means (`fetch`).
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.crawl.results.fetch import Fetch, fetch_of
from temporal_assets.machine.extras import extra

INDEX: Final = "index.jsonl"
"""Name of the index of our crawls: the WARC files beside it repeat it and are skipped."""

_LONGEST_LINE: Final = 1 << 20

_CDX: Final = (
    *("urlkey", "timestamp", "url", "mime", "status", "digest"),
    *("redirect", "meta", "length", "offset", "file"),
)
"""Columns of a CDX file without a heading."""

Rows = Iterator[Fetch | None]
"""Rows of a file; None stands for a row that cannot be read."""


def result_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and the readable files in the folders, sorted by name."""
    files_found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            files_found[path] = None
            continue
        files = sorted(
            result_file
            for result_file in path.rglob("*")
            if result_file.is_file() and _reader(result_file)
        )
        indexed = {result_file.parent for result_file in files if result_file.name == INDEX}
        files_found |= dict.fromkeys(f for f in files if f.name == INDEX or f.parent not in indexed)
    return list(files_found)


def identity(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of change of files, to see if they are still the same."""
    facts = []
    for file in result_files(paths):
        try:
            status = file.stat()
        except OSError:
            continue
        facts.append((str(file), status.st_size, status.st_mtime_ns))
    return facts


def read_fetches(file: Path, counts: Counter[str]) -> Iterator[Fetch]:
    """Yield the fetches of a file; rows that cannot be read are counted as `broken`.

    Raises `ValueError` for an unknown ending of the name, and `OSError`.
    """
    reader = _reader(file)
    if reader is None:
        raise ValueError(f"{file}: results of crawls are {', '.join(sorted(_READERS))}")
    try:
        for row in reader(file):
            if row is None:
                counts["broken"] += 1
            else:
                counts["fetches"] += 1
                yield row
    except (EOFError, pa.ArrowInvalid, csv.Error, UnicodeDecodeError):
        counts["broken"] += 1  # what comes before the damage counts


def _lines(file: Path) -> Iterator[bytes]:
    with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as stream:
        while line := stream.readline(_LONGEST_LINE):
            yield line


def _jsonl(file: Path) -> Rows:
    for line in _lines(file):
        try:
            row = orjson.loads(line)
        except ValueError:
            yield None
            continue
        yield fetch_of(row) if isinstance(row, dict) else None


def _csv(file: Path) -> Rows:
    with io.TextIOWrapper(
        gzip.open(file) if file.name.endswith(".gz") else file.open("rb"),
        "utf-8-sig",
        "replace",
    ) as text:
        for row in csv.DictReader(text):
            yield fetch_of(row)


def _parquet(file: Path) -> Rows:
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches():
            for row in batch.to_pylist():
                yield fetch_of(row)


def _cdx(file: Path) -> Rows:
    """Yield the rows of CDX with its heading or without (11 fields), or of CDXJ."""
    names = list(_CDX)
    letters = {"b": "timestamp", "a": "url", "s": "status", "N": "urlkey", "m": "mime"}
    for number, line in enumerate(_lines(file)):
        text = line.decode("utf-8", "replace").strip()
        if number == 0 and text.startswith("CDX "):
            names = [letters.get(name, name) for name in text.split()[1:]]
        elif "{" in text:
            yield _cdxj(text)
        elif text:
            yield fetch_of(dict(zip(names, text.split(), strict=False)))


def _cdxj(text: str) -> Fetch | None:
    head, brace, rest = text.partition("{")
    try:
        row = orjson.loads(brace + rest)
        time = head.split()[-1]
    except (ValueError, IndexError):
        return None
    return fetch_of({**row, "time": time}) if isinstance(row, dict) else None


def _warc(file: Path) -> Rows:
    with extra("warc", "reading WARC files"):
        from temporal_assets.crawl.results.warc_records import read_warc
    return read_warc(file)


_READERS: Final[dict[str, Callable[[Path], Rows]]] = {
    ".jsonl": _jsonl,
    ".jsonl.gz": _jsonl,
    ".csv": _csv,
    ".csv.gz": _csv,
    ".parquet": _parquet,
    ".cdx": _cdx,
    ".cdx.gz": _cdx,
    ".cdxj": _cdx,
    ".cdxj.gz": _cdx,
    ".warc": _warc,
    ".warc.gz": _warc,
}
"""Readers by the ending of a file's name."""


def _reader(file: Path) -> Callable[[Path], Rows] | None:
    name = file.name.lower()
    return next((read for end, read in _READERS.items() if name.endswith(end)), None)
