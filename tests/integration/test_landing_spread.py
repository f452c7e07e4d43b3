"""Log files read in other processes and on other machines: the same rows, records and sentences.

The other machines are this process, to which everything travels as it would to them; on Spark the
same comparison runs with `pytest -m spark -n 0`.
"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import json
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from temporal_assets.engines.base import EngineError, Item, Result, Spread
from temporal_assets.landing import landing
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import LandedFile
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.landing.reading import Draft, LogReader, Part, ReadApart
from temporal_assets.landing.reading_process import EndedError, ReadingProcesses
from temporal_assets.landing.source_files import pending_files
from temporal_assets.logs.read import fingerprint, packed, streams
from temporal_assets.settings import Cleaning, Engine, Settings, load_settings
from tests import logs
from tests.engines.conftest import SPARK
from tests.packing import PACKERS
from tests.spark_compare import compare_landing

DAY = dt.date(2026, 3, 2)


def elsewhere(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Run functions as executors do, which share nothing with this process but files."""
    for item in items:
        there, its_item = travelled((function, item))
        yield travelled(there(its_item))


def travelled(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))  # noqa: S301 - our own


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Logs of all kinds: small, large, packed, grown, with bad lines, and no logs at all."""
    actual = tmp_path / "logs"
    actual.mkdir()
    days = [DAY + dt.timedelta(days=n) for n in range(2)]
    first, second = (logs.day_of_lines(day, clients=20) for day in days)
    logs.write(actual / "a.log", first)
    logs.write(actual / "a-grown.log", first + second)
    logs.write(actual / "b.log", [*logs.day_of_lines(days[1], clients=7), "no line of a log"])
    with gzip.open(actual / "c.log.gz", "wb") as packed:
        packed.write("\n".join(logs.day_of_lines(days[0], clients=3)).encode())
    (actual / "d.log").write_bytes(os.urandom(3000))
    (actual / "e.log").write_bytes(b"")
    return actual


def settings_of(state: Path, folder: Path) -> Settings:
    return load_settings(state, sources=[{"path": str(folder), "host": "example.com"}])


def landed(state: Path, keys: Path | None, folder: Path, spread: Spread | None) -> LandingReport:
    """A first reading, and one after logs were renamed and have grown."""
    if keys is not None:
        shutil.copytree(keys, state / "secrets")
        (state / "secrets").chmod(0o700)
    settings = settings_of(state, folder)
    refresh(settings, spread=spread)
    (folder / "b.log").rename(folder / "b.log.1")
    more = logs.day_of_lines(DAY + dt.timedelta(days=5))
    logs.write(folder / "a.log", [*(folder / "a.log").read_text().splitlines(), *more])
    os.utime(folder / "a.log", (1.8e9, 1.8e9))
    return refresh(settings, spread=spread)


def compare(tmp_path: Path, folder: Path, spread: Spread) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    kept = shutil.copytree(folder, tmp_path / "kept", copy_function=shutil.copy2)
    wanted = landed(here, None, folder, None)
    shutil.rmtree(folder)
    shutil.copytree(kept, folder, copy_function=shutil.copy2)
    report = landed(there, here / "secrets", folder, spread)
    assert [file.id for file in report.landed] == [file.id for file in wanted.landed]
    assert [file.error for file in report.failed] == [file.error for file in wanted.failed]
    assert report.unchanged == wanted.unchanged
    assert len(list((here / "landing").rglob("*.parquet"))) >= 6
    assert compare_landing(here, there) >= 12


def test_files_read_elsewhere_are_the_same(tmp_path: Path, folder: Path) -> None:
    compare(tmp_path, folder, elsewhere)


def test_large_files_and_many_lots_are_the_same(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "_SMALL_FILE", 1000)  # most files are large ones
    monkeypatch.setattr(landing, "_FILES_AT_ONCE", 2)
    compare(tmp_path, folder, elsewhere)


class Cores:
    """`elsewhere`, with room for several tasks, noting what they answer."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.parts = self.wholes = 0

    def __call__(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        for answer in elsewhere(function, items):
            outcome = cast("tuple[object, ...]", answer)[0]
            self.parts += isinstance(outcome, Part)
            self.wholes += isinstance(outcome, Draft)
            yield answer


KINDS = {
    "plain": True,
    "bzip2": True,
    "zstd": True,
    "bgzf": True,
    "w3c": True,
    "table": True,
    "zoned": True,
    "gzip": True,
    "one frame": True,
    "array": True,
    "parquet": True,
    # What a header says in the middle holds from there on; clocks show an hour twice.
    "w3c with two headers": False,
    "zoned in an hour that comes twice": False,
}
"""Kind of log -> whether the answers of tasks that share it are used."""

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) * 2 // 3],
    "damaged": lambda data: data[: len(data) // 2] + bytes(8) + data[len(data) // 2 + 8 :],
    "garbage behind it": lambda data: data + b"garbage",
    "a last line without end": lambda data: data + b"192.0.2.1 - - [",
}


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which a small log is a large one."""
    monkeypatch.setattr(landing, "_SHARE", 300)
    monkeypatch.setattr(landing, "_PACKED_TIMES", 1000)
    monkeypatch.setattr(streams, "HEAD_BYTES", 1000)
    monkeypatch.setattr(streams, "_FIRST_BLOCK", 2000)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 4000)
    monkeypatch.setattr(packed, "READ", 1000)
    monkeypatch.setattr(streams, "_INPUT", 100)
    monkeypatch.setattr(fingerprint, "BEGINNING", 500)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_read_in_shares_is_the_same(tmp_path: Path, kind: str) -> None:
    """Lines, their days and numbers, rejects and columns that a line above has named."""
    folder = tmp_path / "logs"
    folder.mkdir()
    write_shared(folder, kind)
    cores = compare_shares(tmp_path, folder, kind, 5)
    assert cores.parts > 1
    assert cores.wholes == (not KINDS[kind])


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["plain", "bzip2", "zstd", "bgzf", "gzip"])
def test_a_damaged_file_read_in_shares_is_the_same(tmp_path: Path, kind: str, damage: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = write_shared(folder, kind)
    log.write_bytes(DAMAGES[damage](log.read_bytes()))
    cores = compare_shares(tmp_path, folder, kind, 3)
    assert cores.wholes == (kind not in ("plain", "gzip"))


@pytest.mark.usefixtures("small_steps")
def test_a_file_that_has_grown_is_known_again(tmp_path: Path) -> None:
    """What tasks have read together is known under another name, packed, and when it has grown."""
    folder = tmp_path / "logs"
    folder.mkdir()
    log = write_shared(folder, "plain")
    settings, cores = settings_of(tmp_path / "state", folder), Cores(4)
    (first,) = refresh(settings, spread=cores).landed
    (folder / "b.log.bz2").write_bytes(bz2.compress(log.read_bytes()))
    refreshed = refresh(settings, spread=cores)
    assert refreshed.landed == ()
    assert refreshed.unchanged == 1
    with log.open("a") as file:
        file.write("\n".join(logs.day_of_lines(DAY + dt.timedelta(days=4))) + "\n")
    os.utime(log, (1.8e9, 1.8e9))
    (grown,) = refresh(settings, spread=cores).landed
    assert grown.supersedes == (first.digest,)
    assert cores.parts == 4


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("reason", ["renamed", "grown", "read by other rules"])
def test_a_file_that_was_read_before_there_were_shares_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = write_shared(folder, "plain")
    settings = settings_of(tmp_path / "state", folder)
    with monkeypatch.context() as before:
        before.setattr(fingerprint, "BEGINNING", 1 << 40)
        (first,) = refresh(settings).landed
    if reason == "renamed":
        (folder / "b.log.bz2").write_bytes(bz2.compress(log.read_bytes()))
        log.unlink()
    elif reason == "grown":
        with log.open("a") as file:
            file.write("\n".join(logs.day_of_lines(DAY + dt.timedelta(days=4))) + "\n")
        os.utime(log, (1.8e9, 1.8e9))
    else:
        settings = settings.model_copy(update={"cleaning": Cleaning(keep_query_keys=("x",))})
    refresh(settings, spread=Cores(4))
    (active,) = Inventory.load(settings).active
    assert (active.digest == first.digest) == (reason == "renamed")


def compare_shares(tmp_path: Path, folder: Path, kind: str, shares: int) -> Cores:
    """Read a log at once and in shares, which must not differ."""
    here, there, cores = tmp_path / "here", tmp_path / "there", Cores(shares)
    zone = {"timezone": "Europe/Berlin"} if kind.startswith("zoned") else {}
    both = [
        load_settings(state, sources=[{"path": str(folder), "host": "example.com", **zone}])
        for state in (here, there)
    ]
    wanted = refresh(both[0])
    shutil.copytree(here / "secrets", there / "secrets")
    (there / "secrets").chmod(0o700)
    refreshed = refresh(both[1], spread=cores)
    ours, theirs = (report.landed[0] for report in (wanted, refreshed))

    def answer(file: LandedFile) -> LandedFile:
        days = {day: replace(share, segments=(), digests=()) for day, share in file.days.items()}
        return replace(file, days=days)

    assert answer(theirs) == answer(ours)
    assert ours.lines > 40
    assert len(ours.days) >= 2
    for day in ours.days:
        rows = [
            pa.concat_tables(
                pq.read_table(path) for path in Inventory.load(settings).segments(file, day)
            )
            for settings, file in zip(both, (ours, theirs), strict=True)
        ]
        assert rows[0].to_pylist() == rows[1].to_pylist()
        assert not Inventory.load(both[1]).verify(theirs, day)
    assert refresh(both[1], spread=cores).landed == ()
    return cores


def write_shared(folder: Path, kind: str) -> Path:
    """Write a log of three days, with lines of no day and lines that are none."""
    lines = []
    for n in range(3):
        lines += ["no line of a log"] * (n + 1)
        lines += logs.day_of_lines(DAY + dt.timedelta(days=n), clients=30)
    text = ("\n".join(lines) + "\n").encode()
    if kind in PACKERS:
        data = PACKERS[kind]([text[at : at + 1000] for at in range(0, len(text), 1000)])
    elif kind in OTHERS:
        data = OTHERS[kind](text)
    else:
        data = "\n".join([*_rows(kind), ""]).encode()
    log = folder / ("a.parquet" if kind == "parquet" else "a.log")
    log.write_bytes(data)
    return log


def _as_parquet(_: bytes) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_event(n) for n in range(120)]), file, row_group_size=10)
    return file.getvalue()


OTHERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "one frame": zstandard.compress,
    "array": lambda _: json.dumps([_event(n) for n in range(120)]).encode(),
    "parquet": _as_parquet,
}


def _rows(kind: str) -> list[str]:
    """Return the lines of a log whose first lines name its columns."""
    if kind.startswith("w3c"):
        rows = ["#Software: IIS", "#Fields: date time c-ip cs-uri-stem cs(User-Agent) sc-status"]
        for n in range(120):
            is_turned = kind == "w3c with two headers" and n >= 60
            if is_turned and n == 60:
                rows.append("#Fields: date time cs-uri-stem c-ip cs(User-Agent) sc-status")
            pair = [f"192.0.2.{n}", f"/page/{n % 7}"]
            if is_turned:
                pair.reverse()
            when = f"2026-03-{2 + n // 40:02} 10:{n % 60:02}:00"
            rows.append(f"{when} {' '.join(pair)} Mozilla/5.0+(X11;+Linux)+Firefox/{n} 200")
        return rows
    start, step = dt.datetime(2026, 3, 2), dt.timedelta(minutes=30)
    if kind.startswith("zoned"):
        start, step = dt.datetime(2025, 10, 25 if "hour" in kind else 22, 17), step / 4
    rows = [f"{start + step * n},192.0.2.{n % 99},/p/{n}" for n in range(400)]
    return ["time,client_ip,url", *rows]


def _event(n: int) -> dict[str, str]:
    return {
        "time": f"2026-03-{2 + n // 40:02}T10:{n % 60:02}:00Z",
        "url": f"https://example.com/page/{n % 5}",
        "client_ip": f"192.0.2.{n}",
    }


def test_files_read_in_processes_are_the_same(tmp_path: Path, folder: Path) -> None:
    with closing(ReadingProcesses(2, lambda *_: None)) as processes:
        compare(tmp_path, folder, cast("Spread", processes.spread))


def test_much_is_read_in_processes_which_say_how_far_they_are(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: dict[str, set[int]] = {}
    calls = []
    monkeypatch.setattr(landing, "_MUCH", 1)
    monkeypatch.setattr(landing, "_read_here", lambda *_: calls.append("threads"))
    settings = load_settings(
        tmp_path / "state",
        sources=[{"path": str(folder), "host": "example.com"}],
        engine={"threads": 2},
    )
    report = refresh(settings, lambda path, done, _: answer.setdefault(path.name, set()).add(done))
    assert len(report.landed) == 5
    assert len(report.failed) == 1
    assert not calls
    size = (folder / "a-grown.log").stat().st_size
    assert answer["a-grown.log"] == {size}


def test_what_nobody_wants_any_more_is_not_read_on_in_this_process(
    tmp_path: Path, folder: Path
) -> None:
    settings = settings_of(tmp_path / "state", folder)
    inventory = Inventory.load(settings)
    reader = LogReader(settings, inventory, tmp_path, dt.datetime.now(dt.UTC))
    answer: list[Path] = []
    processes = ReadingProcesses(1, lambda path, *_: answer.append(path))
    processes.close()
    with pytest.raises(EndedError):
        list(processes.spread(ReadApart.of(reader), pending_files(inventory, settings)))
    assert not answer


def test_a_reading_process_that_dies_is_a_sentence_and_nothing_is_lost(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "_MUCH", 1)
    settings = settings_of(tmp_path / "state", folder)

    def kill(*_: object) -> None:
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                if b"temporal_assets.landing.reading_process" in words and parent == str(
                    os.getpid()
                ):
                    os.kill(int(process.name), signal.SIGKILL)

    with pytest.raises(EngineError, match=r"the process that read .* was ended from outside"):
        refresh(settings.model_copy(update={"engine": Engine(threads=2)}), kill)
    report = refresh(settings)
    assert len(report.landed) + report.unchanged == 5
    assert not [path for path in (tmp_path / "state" / "tmp").iterdir() if path.is_dir()]


def test_logs_that_only_this_machine_sees_are_an_error(tmp_path: Path, folder: Path) -> None:
    def blind(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        hidden = folder.rename(tmp_path / "hidden")
        actual = list(elsewhere(function, items))
        hidden.rename(folder)
        yield from actual

    with pytest.raises(EngineError, match=r"log is there, and the executors do not see it: log"):
        refresh(settings_of(tmp_path / "state", folder), spread=blind)


def test_a_log_that_is_rotated_while_executors_read_is_no_error(
    tmp_path: Path, folder: Path
) -> None:
    def late(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        log = (folder / "b.log").rename(folder / "b.log.1")
        actual = list(elsewhere(function, items))
        logs.write(folder / "b.log", logs.day_of_lines(DAY, clients=1))
        assert (folder / "b.log").stat().st_size < log.stat().st_size
        yield from actual

    settings = settings_of(tmp_path / "state", folder)
    refresh(settings, spread=late)
    report = refresh(settings, spread=elsewhere)
    assert {file.name for file in report.landed} == {"logs/b.log", "logs/b.log.1"}


def test_a_key_that_was_lost_is_told_wherever_the_new_one_was_made(
    tmp_path: Path, folder: Path
) -> None:
    settings = settings_of(tmp_path / "state", folder)
    refresh(settings, spread=elsewhere)
    shutil.rmtree(tmp_path / "state" / "secrets")
    logs.write(folder / "f.log", logs.day_of_lines(DAY, clients=5))
    report = refresh(settings, spread=elsewhere)
    (key,) = (tmp_path / "state" / "secrets").glob("clients-*.key")
    assert report.lost_keys == (key,)


def test_secrets_of_alerts_and_clusters_stay_here(tmp_path: Path, folder: Path) -> None:
    def listening(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        assert b"not-for-executors" not in pickle.dumps((function, items))
        return elsewhere(function, items)

    settings = load_settings(
        tmp_path / "state",
        sources=[{"path": str(folder), "host": "example.com"}],
        alerts={"webhook": "https://example.com/not-for-executors"},
        spark={"config": {"spark.hadoop.fs.s3a.secret.key": "not-for-executors"}},
    )
    assert refresh(settings, spread=listening).landed


@pytest.mark.spark
def test_files_read_on_spark_are_the_same(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("pyspark")
    from temporal_assets.engines.spark.spark import SparkEngine

    engine = SparkEngine(load_settings(tmp_path / "own", engine={"name": "spark"}, spark=SPARK))
    try:
        compare(tmp_path, folder, engine.spread)
        with pytest.raises(ZeroDivisionError):
            list(engine.spread(_one_by, [1, 0]))
    finally:
        engine.close()


def _one_by(number: int) -> float:
    return 1 / number
