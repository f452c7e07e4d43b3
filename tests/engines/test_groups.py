"""Kernels over groups on every engine: whole groups in order, and groups that go wrong."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.engines.base import Engine, GroupLimits
from temporal_assets.engines.group_process import GroupProcess, Lost, Parcel
from temporal_assets.engines.groups import in_groups, parcels

RESULT = Table(
    name="result",
    version=1,
    description="Sums.",
    grain="site",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Site."),
        ColumnSpec("total", Type.BIGINT, "Sum of n.", nullable=True),
        ColumnSpec("status", Type.VARCHAR, "What became of it."),
    ),
)


def row(site: str, total: int | None, status: str) -> pa.RecordBatch:
    columns = [pa.array([site]), pa.array([total], pa.int64()), pa.array([status])]
    return pa.RecordBatch.from_arrays(columns, schema=RESULT.arrow_schema)


def total(rows: pa.Table, bad: str = "") -> pa.RecordBatch:
    """The sum of a site; the site `bad` goes wrong in the way of its name."""
    site = rows.column("site")[0].as_py()
    if site == bad:
        go_wrong(site)
    return row(site, int(rows.column("n").to_numpy().sum()), "fine")


def go_wrong(how: str) -> None:
    if how == "error":
        raise ValueError("https://secret.example/of/a/visitor")
    if how == "slow":
        time.sleep(60)
    if how == "stuck":
        time.sleep(36_000)
    if how == "greedy":
        np.zeros(2**31, np.uint8).sum()
    if how == "crash":
        ctypes.string_at(0)


def lost(rows: pa.Table, status: str, reason: str) -> pa.RecordBatch:
    return row(rows.column("site")[0].as_py(), -len(rows), f"{status}: {reason}")


HERE = GroupLimits(processes=0, seconds=1, memory_mib=1, lost=lost)
APART = GroupLimits(processes=2, seconds=20, memory_mib=300, lost=lost, isolated_rows=0)


def sites(path: Path, sizes: dict[str, int]) -> dict[str, list[str]]:
    names = [site for site, size in sizes.items() for _ in range(size)]
    pq.write_table(pa.table({"site": names, "n": pa.array(range(len(names)), pa.int64())}), path)
    return {"numbers": [str(path)]}


@pytest.mark.parametrize("limits", [HERE, APART], ids=["here", "apart"])
def test_a_group_is_whole_however_large(
    engine: Engine, out: Path, tmp_path: Path, limits: GroupLimits
) -> None:
    sizes = {"b": 1, "ü": 40_000, "a": 16_384, "c": 3}  # batches have 16,384 rows
    inputs = sites(tmp_path / "in.parquet", sizes)
    files = engine.apply_groups(total, inputs, "site", RESULT, out, limits)
    starts = np.cumsum([0, *sizes.values()])
    assert pq.read_table(files).to_pylist() == [
        {"site": site, "total": sum(range(start, start + size)), "status": "fine"}
        for start, (site, size) in zip(starts.tolist(), sizes.items(), strict=False)
    ]
    assert sorted(out.iterdir()) == sorted(files)


def together(rows: pa.Table) -> pa.RecordBatch:
    """A row for each of several sites, and how many rows they have in all."""
    names = list(dict.fromkeys(rows.column("site").to_pylist()))
    columns = [names, [len(rows)] * len(names), ["fine"] * len(names)]
    return pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=RESULT.arrow_schema)


def test_without_limits_whole_groups_come_together(
    engine: Engine, out: Path, tmp_path: Path
) -> None:
    """Large ones by themselves, small ones several at a time; each once, and in order."""
    sizes = {f"site {n:04}": 1 + n % 3 for n in range(3_000)} | {"zzz": 20_000}
    inputs = sites(tmp_path / "in.parquet", sizes)
    files = engine.apply_groups(together, inputs, "site", RESULT, out, None)
    rows = pq.read_table(files).to_pylist()
    assert [row["site"] for row in rows] == list(sizes)
    assert len({row["total"] for row in rows}) < 10


def letters(rows: pa.Table) -> pa.RecordBatch:
    """A row for each URL: its site, how long it is, and the URL."""
    urls = rows.column("url").to_pylist()
    columns = [rows.column("site").to_pylist(), [len(url) for url in urls], urls]
    return pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=RESULT.arrow_schema)


def test_a_kernel_gets_the_urls_that_rows_name_by_number(
    engine: Engine, out: Path, tmp_path: Path
) -> None:
    """Also where the row groups of the two tables end at different rows."""
    urls = [f"https://site.example/{n}" for n in range(10)]
    numbers = pa.array(range(len(urls)), pa.int32())
    rows, named = tmp_path / "rows.parquet", tmp_path / "named.parquet"
    sites = pa.array(["a"] * 4 + ["b"] * 6)
    pq.write_table(pa.table({"site": sites, "url": numbers}), rows, row_group_size=4)
    pq.write_table(pa.table({"number": numbers, "url": urls}), named, row_group_size=3)
    inputs = {"rows": [str(rows)], "named": [str(named)]}
    files = engine.apply_groups(letters, inputs, "site", RESULT, out, None)
    made = pq.read_table(files).to_pylist()
    assert [row["status"] for row in made] == urls
    assert [row["site"] for row in made] == sites.to_pylist()


def test_errors_without_limits_are_the_callers(engine: Engine, out: Path, tmp_path: Path) -> None:
    inputs = sites(tmp_path / "in.parquet", {"error": 2})
    with pytest.raises(Exception, match="of/a/visitor"):
        engine.apply_groups(partial(total, bad="error"), inputs, "site", RESULT, out, None)


@pytest.mark.parametrize("limits", [HERE, APART], ids=["here", "apart"])
def test_small_groups_are_one_batch_a_parcel(tmp_path: Path, limits: GroupLimits) -> None:
    """Batches of their own for each group would take ten times the memory and the time."""
    (file,) = sites(tmp_path / "in.parquet", {f"site {n:04}": 1 for n in range(5_000)})["numbers"]
    filled = list(parcels(pq.ParquetFile(file).iter_batches(1_500), "site", tmp_path, HERE))
    assert [len(parcel.groups) for parcel in filled] == [2_000, 2_000, 1_000]
    results = list(in_groups(total, filled, 5_000, limits))
    assert [len(result) for result in results] == [2_000, 2_000, 1_000]
    assert not list(tmp_path.glob("parcel*.arrow"))


def test_a_parcel_is_written_over_one_that_is_done(tmp_path: Path) -> None:
    """Longer or shorter, with other names of groups: its rows are its own."""
    sizes = {"a": 3_000, "b": 2_000, "ü": 4_000}
    names = [name for name, size in sizes.items() for _ in range(size)]
    rows = pa.table({"site": pa.array(names).dictionary_encode(), "n": range(len(names))})
    filled = parcels(rows.to_batches(1_000), "site", tmp_path, HERE)
    for number, (name, size) in enumerate(sizes.items()):
        parcel = next(filled)
        assert parcel.groups == (size,)
        with parcel.rows() as read:
            assert read.column("site").to_pylist() == [name] * size
            assert (
                read.column("n").to_pylist()
                == rows.column("n").to_pylist()[names.index(name) : names.index(name) + size]
            )
        parcel.give_back()
        assert len(list(tmp_path.iterdir())) == 1, number


def test_who_stops_waits_for_no_group(tmp_path: Path) -> None:
    """Ctrl-C, or a full disk: what is still being made is of no use."""
    sizes = {"a": 2_000, "stuck": 2_000, "b": 2_000}
    (file,) = sites(tmp_path / "in.parquet", sizes)["numbers"]
    limits = replace(APART, processes=1, seconds=36_000)
    filled = parcels(pq.ParquetFile(file).iter_batches(1_000), "site", tmp_path, APART)

    def stopped() -> Iterator[Parcel]:
        first = next(filled)
        yield first
        yield next(filled)
        # The process is about to begin with the second when the first is done.
        while first.path.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_groups(partial(total, bad="stuck"), stopped(), 6_000, limits))


def test_a_process_that_is_ended_while_it_starts_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({"site": ["stuck"], "n": [1]}), file)
    (parcel,) = parcels(pq.ParquetFile(file).iter_batches(), "site", tmp_path, APART)
    limits = replace(APART, processes=1, seconds=36_000)
    process = GroupProcess(partial(total, bad="stuck"), limits)
    start = subprocess.Popen

    def ended_meanwhile(*given: Any, **options: Any) -> Any:
        process.end()
        return start(*given, **options)

    monkeypatch.setattr(subprocess, "Popen", ended_meanwhile)
    (outcome,) = process.run(parcel)
    assert isinstance(outcome, Lost)
    process.close()


def test_no_groups_give_an_empty_table(engine: Engine, out: Path, tmp_path: Path) -> None:
    inputs = sites(tmp_path / "in.parquet", {})
    files = engine.apply_groups(total, inputs, "site", RESULT, out, APART)
    assert pq.read_table(files).to_pylist() == []


def test_rows_of_a_group_must_lie_together(engine: Engine, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"site": ["a", "b", "a"], "n": [1, 2, 3]}), path)
    with pytest.raises(ValueError, match="'a' do not lie together"):
        engine.apply_groups(total, {"numbers": [str(path)]}, "site", RESULT, out, HERE)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("error", "failed: ValueError at test_groups.py:"),
        ("slow", "timed_out: it takes longer than "),
        ("greedy", "out_of_memory: "),
        ("crash", "failed: the process ended with status -"),
    ],
)
def test_a_group_that_goes_wrong_harms_no_other(
    engine: Engine, out: Path, tmp_path: Path, how: str, status: str
) -> None:
    inputs = sites(tmp_path / "in.parquet", {"a": 2, how: 3, "b": 1, "c": 1})
    # A Python worker starts slower than a process of ours: it imports pandas first. Where nothing
    # is slow by design, a busy machine is given time.
    patience = 3 if engine.name == "duckdb" else 15
    seconds = patience if how == "slow" else 60
    limits = GroupLimits(processes=1, seconds=seconds, memory_mib=300, lost=lost, isolated_rows=0)
    kernel = partial(total, bad=how)
    files = engine.apply_groups(kernel, inputs, "site", RESULT, out, limits)
    rows = pq.read_table(files).to_pylist()
    assert [(record["site"], record["total"]) for record in rows] == [
        ("a", 1),
        (how, -3),
        ("b", 5),
        ("c", 6),
    ]
    counts = Counter(record["status"] for record in rows)
    assert counts.pop("fine") == 3
    (lost_because,) = counts
    assert lost_because.startswith(status)
    assert "secret" not in lost_because
