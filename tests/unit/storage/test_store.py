"""Partitions are seen whole or not at all."""

from __future__ import annotations

import datetime as dt
import gc
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.machine import scratch
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.storage import batch_publication as storage_together
from temporal_assets.storage.batch_publication import together
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.partition_errors import DamagedPartition, MissingPartition
from temporal_assets.storage.store import Store
from tests.transits import publish_transits

DAY = dt.date(2026, 1, 31)


def views(day: dt.date, **pages: int) -> pa.Table:
    rows = [
        {"day": day, "site": "a.example", "url": f"https://a.example/{page}", "views": n}
        for page, n in pages.items()
    ]
    return pa.Table.from_pylist(rows, contracts.table("page_views").arrow_schema)


def publish(
    store: Store, day: dt.date, table: pa.Table, beside: pa.Table | None = None
) -> Manifest:
    with store.scratch() as scratch:
        path, other = scratch / "data.parquet", scratch / "beside.parquet"
        pq.write_table(table, path)
        if beside is not None:
            pq.write_table(beside, other)
        return store.publish(
            "page_views",
            day,
            [path],
            inputs=[Input("requests", "d1")],
            settings_digest="s",
            beside=[other] if beside is not None else [],
        )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "tables", tmp_path)


def test_what_is_published_is_read_back(store: Store) -> None:
    manifest = publish(store, DAY, views(DAY, x=3, y=1))
    assert store.read("page_views", DAY).to_pylist() == views(DAY, x=3, y=1).to_pylist()
    assert store.manifest("page_views", DAY) == manifest
    assert (manifest.rows, manifest.inputs) == (2, (Input("requests", "d1"),))
    assert store.days("page_views") == [DAY]
    assert store.assets() == ["page_views"]


def test_publishing_the_same_content_again_changes_no_byte(store: Store, tmp_path: Path) -> None:
    publish(store, DAY, views(DAY, x=3))
    before = tree(tmp_path / "tables")
    publish(store, DAY, views(DAY, x=3))
    assert tree(tmp_path / "tables") == before


def test_reading_does_not_import_pandas(store: Store) -> None:
    """PyArrow's data sets do, which costs every command that reads a table two seconds."""
    publish(store, DAY, views(DAY, a=1))
    script = (
        "import sys, pathlib, datetime as dt; from temporal_assets.storage.store import Store;"
        f"store = Store({str(store.root)!r}, pathlib.Path({str(store.state)!r}));"
        f"assert store.read('page_views', dt.date.fromisoformat('{DAY}')).num_rows == 1;"
        "print('pandas' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert shown.stdout.split() == ["False"], shown.stderr


def test_publishing_replaces_the_day_and_keeps_one_generation_for_readers(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    (first,) = store.files("page_views", DAY)
    publish(store, DAY, views(DAY, x=2))
    assert store.read("page_views", DAY)["views"].to_pylist() == [2]
    assert pq.read_table(first)["views"].to_pylist() == [1]
    publish(store, DAY, views(DAY, x=3))
    assert not Path(first).exists()
    assert len(list(Path(first).parent.glob("part-*.parquet"))) == 2


@pytest.mark.parametrize("failing", ["_move", "_replace_text"])
def test_a_failing_publish_leaves_the_old_partition(
    store: Store, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data cannot be written, or the pointer to it."""
    publish(store, DAY, views(DAY, x=1))

    def fails(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(store, failing, fails)
    with pytest.raises(OSError, match="no space left"):
        publish(store, DAY, views(DAY, x=2))
    assert store.read("page_views", DAY)["views"].to_pylist() == [1]


def test_an_empty_partition_is_explicit(store: Store) -> None:
    publish(store, DAY, views(DAY))
    assert store.read("page_views", DAY).num_rows == 0
    assert store.read("page_views", DAY).schema.names == ["day", "site", "url", "views"]
    assert store.days("page_views") == [DAY]


def test_a_missing_partition_is_an_error_that_says_what_to_do(store: Store) -> None:
    with pytest.raises(MissingPartition, match="page_views has no partition for 2026-01-31"):
        store.read("page_views", DAY)


def test_folders_of_others_are_no_days(store: Store, tmp_path: Path) -> None:
    publish(store, DAY, views(DAY, x=1))
    for name in ("day=2026-01-31.bak", "day=20260130", "day=", "2026-01-29", "day=2026-02-30"):
        (tmp_path / "tables" / "page_views" / name).mkdir()
    assert store.folders("page_views") == [DAY]
    assert store.days("page_views") == [DAY]


def test_a_window_lists_what_is_there_and_what_is_not(store: Store) -> None:
    for back in (0, 2):
        publish(store, DAY - dt.timedelta(days=back), views(DAY - dt.timedelta(days=back), x=1))
    window = store.window("page_views", DAY, days=4, min_days=2)
    assert window.present == (dt.date(2026, 1, 29), DAY)
    assert window.missing == (dt.date(2026, 1, 28), dt.date(2026, 1, 30))
    assert len(window.files) == 2


def test_a_window_with_too_few_days_is_refused(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    with pytest.raises(MissingPartition, match="1 of the 60 days up to 2026-01-31"):
        store.window("page_views", DAY, days=60, min_days=7)


def test_several_days_are_read_in_the_order_given(store: Store) -> None:
    before = DAY - dt.timedelta(days=1)
    publish(store, DAY, views(DAY, x=1))
    publish(store, before, views(before, y=2))
    assert store.read("page_views", [DAY, before], ["views"])["views"].to_pylist() == [1, 2]
    assert store.read("page_views", []).num_rows == 0


def test_a_bucket_serves_where_a_folder_did(tmp_path: Path) -> None:
    store = Store("memory://bucket/tables", tmp_path)
    publish(store, DAY, views(DAY, x=1))
    publish(store, DAY, views(DAY, x=2))
    assert store.read("page_views", DAY)["views"].to_pylist() == [2]
    assert store.days("page_views") == [DAY]
    assert store.files("page_views", DAY)[0].startswith("memory://")


def _publish_many(root: Path, worker: int) -> None:
    store = Store(root / "tables", root)
    for turn in range(10):
        publish(store, DAY, views(DAY, **{f"w{worker}": turn + 1}))
        publish(store, DAY + dt.timedelta(days=worker), views(DAY, x=worker))


@pytest.mark.slow
def test_two_writers_of_one_day_leave_one_whole_partition(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_publish_many, args=(tmp_path, n)) for n in (1, 2)]
    for worker in workers:
        worker.start()
    store = Store(tmp_path / "tables", tmp_path)
    seen = 0
    while any(worker.is_alive() for worker in workers):
        if store.manifest("page_views", DAY):
            assert store.read("page_views", DAY).num_rows == 1
            seen += 1
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert seen
    assert store.read("page_views", DAY)["views"].to_pylist() == [10]
    assert store.days("page_views") == [DAY + dt.timedelta(days=n) for n in range(3)]


def test_what_is_replaced_twice_while_it_is_read_is_read_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, DAY, views(DAY, x=1))
    verify = store.verify

    def replacing(manifest: Manifest) -> None:
        verify(manifest)
        monkeypatch.undo()
        publish(store, DAY, views(DAY, x=2))
        publish(store, DAY, views(DAY, x=3))

    monkeypatch.setattr(store, "verify", replacing)
    assert store.read("page_views", DAY)["views"].to_pylist() == [3]


def test_what_is_missing_and_was_not_replaced_is_damaged(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    Path(store.files("page_views", DAY)[0]).unlink()
    with pytest.raises(DamagedPartition, match="is missing"):
        store.read("page_views", DAY)


def test_scratch_of_the_dead_is_swept_and_of_the_living_is_not(tmp_path: Path) -> None:
    (tmp_path / "dead").mkdir()
    (tmp_path / "dead" / "half.parquet").write_bytes(b"PAR1")
    with scratch_folder(tmp_path) as first:
        assert not (tmp_path / "dead").exists()
        with scratch_folder(tmp_path) as second:
            assert first.is_dir()
            assert second != first
    assert not first.exists()


def test_folders_come_and_go_while_others_sweep(tmp_path: Path) -> None:
    def use() -> None:
        for _ in range(100):
            with scratch_folder(tmp_path) as folder:
                (folder / "rows.parquet").write_bytes(b"PAR1")
                assert (folder / "rows.parquet").is_file()

    with ThreadPoolExecutor(4) as threads:
        for used in [threads.submit(use) for _ in range(4)]:
            used.result()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_forgotten_folder_is_removed_wherever_it_is_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end waits for nothing that the thread may hold which the collector interrupts."""
    forgotten: list[Any] = [scratch_folder(tmp_path)]
    folder = forgotten[0].__enter__()
    forgotten.append(forgotten)
    del forgotten
    sweep = scratch._sweep

    def collecting(parent: Path) -> None:
        gc.collect()
        assert not folder.exists()
        sweep(parent)

    monkeypatch.setattr(scratch, "_sweep", collecting)
    with scratch_folder(tmp_path):
        pass


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_damage_is_found_by_size_and_by_content(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    (path,) = map(Path, store.files("page_views", DAY))
    assert store.damaged(contents=True) == []
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert store.damaged() == []
    assert store.damaged(contents=True) == [str(path)]
    path.write_bytes(data[:-1])
    assert store.damaged() == [str(path)]
    path.unlink()
    assert store.damaged() == [str(path)]


def test_files_of_urls_are_part_of_the_day_and_none_of_its_rows(store: Store) -> None:
    table, urls = views(DAY, x=1), pa.table({"url": ["https://a.example/"]})
    without = publish(store, DAY, table)
    manifest = publish(store, DAY, table, urls)
    assert store.manifest("page_views", DAY) == manifest
    assert manifest.digest != without.digest
    assert (manifest.rows, store.read("page_views", DAY)) == (1, table)
    (path,) = map(Path, store.paths_beside(manifest))
    assert pq.read_table(path) == urls
    publish(store, DAY, table, urls)
    assert path.exists()
    assert store.verified(manifest) == manifest
    path.write_bytes(path.read_bytes()[::-1])
    assert store.damaged(contents=True) == [str(path)]
    with pytest.raises(DamagedPartition, match="does not hold the bytes"):
        store.verified(manifest)
    assert not path.exists()
    assert store.intact("page_views", DAY) is None


def test_numbers_of_urls_are_read_as_urls(store: Store) -> None:
    front, page, search = (f"https://{name}/" for name in ("a.example", "b.example", "s.example"))
    rows = [(None, front, 1), (search, front, 1), (front, page, 2)]
    named = [dict(zip(("referrer", "target", "client"), row, strict=True)) for row in rows]
    publish_transits(store, DAY, named)
    publish_transits(store, DAY + dt.timedelta(1), [])
    table = store.read("transits", [DAY, DAY + dt.timedelta(1)])
    assert table.schema == contracts.TRANSITS.arrow_schema
    assert table.to_pylist() == [{"day": DAY, **row} for row in named]
    assert store.read("transits", DAY, ["target"])["target"].to_pylist() == [row[1] for row in rows]


def test_the_same_content_again_leaves_readers_under_way_their_generation(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    (first,) = store.files("page_views", DAY)
    publish(store, DAY, views(DAY, x=2))
    aside = Path(first).with_name("part-0123456789abcdef.parquet.damaged")
    aside.touch()
    publish(store, DAY, views(DAY, x=2))
    assert pq.read_table(first)["views"].to_pylist() == [1]
    assert not aside.exists()


def test_small_days_appear_together_and_as_alone(tmp_path: Path) -> None:
    days = [DAY - dt.timedelta(n) for n in range(3)]
    alone, store = Store(tmp_path / "a", tmp_path), Store(tmp_path / "b", tmp_path)
    for day in days:
        publish(alone, day, views(day, x=1))
    with together(store) as batch:
        for day in days:
            assert batch.manifest("page_views", day) is None
            manifest = publish(batch, day, views(day, x=1))
            assert batch.manifest("page_views", day) == manifest
        assert store.days("page_views") == []
    for day in days:
        assert store.manifest("page_views", day) == alone.manifest("page_views", day)
        store.verify(store.require("page_views", day))
    assert store.read("page_views", days)["views"].to_pylist() == [1, 1, 1]
    assert [*(tmp_path / "tmp").glob("*/")] == []


def test_days_published_together_replace_and_keep_one_generation(store: Store) -> None:
    for n in range(3):
        with together(store) as batch:
            publish(batch, DAY, views(DAY, x=n))
    assert store.read("page_views", DAY)["views"].to_pylist() == [2]
    (file,) = store.files("page_views", DAY)
    assert len([*Path(file).parent.glob("part-*.parquet")]) == 2


def test_nothing_of_days_that_fail_together_appears(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))

    def fails() -> None:
        with together(store) as batch:
            publish(batch, DAY, views(DAY, x=2))
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        fails()
    assert store.read("page_views", DAY)["views"].to_pylist() == [1]


@pytest.mark.parametrize("moment", range(4))
def test_a_batch_that_is_cut_short_leaves_whole_days(
    store: Store, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut at each flush: of the files, the asset's folder, the days' data, and their pointers."""
    days = [DAY - dt.timedelta(n) for n in range(3)]
    for day in days:
        publish(store, day, views(day, x=1))
    calls, real = iter(range(100)), storage_together._each_in_parallel

    def cut(*given: object) -> None:
        if next(calls) == moment:
            raise OSError("cut")
        real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(storage_together, "_each_in_parallel", cut)
    with suppress(OSError), together(store) as batch:
        for day in days:
            publish(batch, day, views(day, x=2))
    for day in days:
        store.verify(store.require("page_views", day))
    seen = {n for day in days for n in store.read("page_views", day)["views"].to_pylist()}
    assert seen == ({1} if moment < 2 else {2})


def test_a_bucket_publishes_days_one_after_the_other(tmp_path: Path) -> None:
    store = Store(f"memory://{tmp_path.name}", tmp_path)
    with together(store) as batch:
        publish(batch, DAY, views(DAY, x=1))
        assert store.read("page_views", DAY)["views"].to_pylist() == [1]


def test_a_manifest_that_was_replaced_is_read_again(store: Store) -> None:
    publish(store, DAY, views(DAY, x=1))
    (file,) = store.files("page_views", DAY)
    old = Path(file).parent / "manifest.json"
    os.utime(old, (1, 1))  # old enough to be remembered
    first = store.require("page_views", DAY)
    assert store.require("page_views", DAY) is first
    publish(store, DAY, views(DAY, x=2))
    assert store.require("page_views", DAY).digest != first.digest
