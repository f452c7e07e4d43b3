"""Parts of jobs as others do them, and no more: so that they stand beside a way of ours.

Made of what the product is made of, in the same order; nothing is published, kept from a crash or
bounded. Not here: the jobs themselves (`suite_logs`, `suite_lists`), the order of hubs
(`suite_links`), which is a step of the product's own.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.suite_job import Done, Job

if TYPE_CHECKING:
    from temporal_assets.logs.read.records import Records

_COUNTED: Final = "lines.parquet"
_RECORD: Final = re.compile(
    rb'([0-9a-f.:]+) \S+ \S+ \[(\S+ [+-]\d{4})\] "\S+ (\S+) HTTP/[^ "]+" \d{3} \S+ "'
)


# Lines as they stand -------------------------------------------------------------------------


def lines_by_us(folder: Path, _: str) -> Job:
    """Distinct addresses by day and target of all records, robots and spellings as they stand."""
    import pyarrow.parquet as pq

    def job() -> Done:
        lines, counts = _counted(folder / "access.log")
        pq.write_table(counts, folder / _COUNTED, compression="zstd")
        return lines, None

    job()
    return job


def _counted(log: Path) -> tuple[int, Any]:
    """Lines that were read, and a row for each day and target."""
    import numpy as np
    import pyarrow as pa

    from temporal_assets.core.numerics.distinct import distinct_numbers

    lines, days, *texts = zip(*_records(log), strict=True)
    day = np.concatenate(days)
    (target, targets), (address, addresses) = map(_in_order, texts)
    first = day.min()
    # A record is one integer, which ascends as days, targets and addresses do.
    row = ((day - first) * len(targets) + target) * len(addresses) + address
    opened = distinct_numbers(row) // len(addresses)
    begins = np.flatnonzero(np.diff(opened, prepend=-1))
    counts = {
        "day": pa.array((first + opened[begins] // len(targets)).astype(np.int32), pa.date32()),
        "target": targets.take(pa.array(opened[begins] % len(targets))),
        "views": np.diff(begins, append=len(opened)),
    }
    return sum(lines), pa.table(counts)


def _records(log: Path) -> Iterator[tuple[int, Any, Any, Any]]:
    """Yield by block its lines, and the day, the target and the address of every record."""
    from concurrent.futures import ThreadPoolExecutor
    from os import cpu_count

    from temporal_assets.landing.reading import ordered
    from temporal_assets.logs.detect.resolve import resolve
    from temporal_assets.logs.formats.parsing import advance, parse
    from temporal_assets.logs.read.streams import open_stream
    from temporal_assets.settings import LogSource, Reading

    source, reading = LogSource(path=str(log)), Reading()
    threads = cpu_count() or 1
    with open_stream(log, reading) as stream, ThreadPoolExecutor(threads) as pool:
        form = resolve(source, stream.head)

        def tasks() -> Iterator[Callable[[], Records]]:
            state = None
            for block in stream:
                yield partial(parse, block, form, source, reading, state)
                state = advance(block, form, state, source)

        yield from ordered(pool, _fields, tasks(), threads)


def _fields(read: Callable[[], Records]) -> tuple[int, Any, Any, Any]:
    import numpy as np
    import pyarrow as pa

    from temporal_assets.logs.fields.times import DAY
    from temporal_assets.logs.read.encode import encode, to_arrow
    from temporal_assets.logs.read.records import Reject

    records = read()
    rows = np.flatnonzero(records.reason == Reject.NONE)
    texts = []
    for column in (records.target, records.address):
        encoded = encode(column, rows)
        distinct = to_arrow(encoded.distinct).cast(pa.binary())
        texts.append(pa.DictionaryArray.from_arrays(pa.array(encoded.codes), distinct))
    return len(records), records.time[rows] // DAY, *texts


def _in_order(parts: Sequence[Any]) -> tuple[Any, Any]:
    """Places of texts among the distinct ones, and these, which ascend."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    order = pc.array_sort_indices(texts.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[texts.indices.to_numpy()], texts.dictionary.take(pa.array(order))


def lines_are_alike(folder: Path) -> None:
    """Stop unless a loop over lines counts the same addresses of the same targets."""
    import pyarrow.parquet as pq

    with (folder / "access.log").open("rb") as lines:
        records = (_RECORD.match(line) for line in lines)
        opened = {(_utc_day(record[2]), record[3], record[1]) for record in records if record}
    counts = Counter((day, target) for day, target, _ in opened)
    expected = [(*opened, clients) for opened, clients in sorted(counts.items())]
    ours = pq.read_table(folder / _COUNTED)
    if [*zip(*(ours[name].to_pylist() for name in ours.column_names), strict=True)] != expected:
        sys.exit("read: ours counts other lines as they stand than a loop")


@cache
def _utc_day(text: bytes) -> dt.date:
    """Return the UTC day of `10/Feb/2012:16:42:07 -0500`."""
    moment = dt.datetime.strptime(text.decode(), "%d/%b/%Y:%H:%M:%S %z")
    return moment.astimezone(dt.UTC).date()


# Sites without their sections ----------------------------------------------------------------


def sites_by_us(folder: Path, _: str) -> Job:
    """Score1, Score2 and Score of each site (TW 4.3), and the paper's order of them.

    Labels and histories have the same pages in the same order: none is looked for by its URL.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchmarks.suite_lists import label_files, scored_store
    from temporal_assets.core.lists.site_scores import PAPER, count, score

    labels, histories = label_files(scored_store(folder)[0])

    def job() -> Done:
        sites, is_temporal = _of_sites(labels, "is_temporal")
        others, views = _of_sites(histories, "total")
        if not sites.equals(others):
            raise ValueError("labels and histories are not of the same pages")
        counts = count(sites.indices.to_numpy(), is_temporal, views, len(sites.dictionary))
        scores = score(counts, PAPER).score
        order = np.lexsort((-counts.temporal_pages, -scores))
        ranked = {
            "site": sites.dictionary.take(pa.array(order)),
            "temporal": counts.temporal_pages[order],
            "score": scores[order],
        }
        pq.write_table(pa.table(ranked), folder / "ours.parquet", compression="zstd")
        return len(sites), float(scores.sum())

    job()
    return job


def _of_sites(file: str, name: str) -> tuple[Any, Any]:
    """The site of each page, and a column beside it."""
    from temporal_assets.engines.parquet_rows import ParquetRows
    from temporal_assets.windows.frame.page_rows import SITES

    rows = ParquetRows([file], SITES).columns((*SITES, name))
    return rows["site"].unify_dictionaries().combine_chunks(), rows[name].to_numpy()
