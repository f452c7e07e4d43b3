"""Access logs that are Parquet files."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.read.records import Bytes, Records, Reject
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import LogSource, Reading

MOMENT = dt.datetime(2024, 5, 6, 7, 8, 9, 250_000)
MICROSECONDS = 1_714_979_289_250_000


def read(tmp_path: Path, table: pa.Table, **options: Any) -> list[Records]:
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    return list(
        parquet.read(path, LogSource.model_validate({"path": str(path), **options}), Reading())
    )


def table(**columns: Any) -> pa.Table:
    values = {"time": [MOMENT], "address": ["1.2.3.4"], "url": ["https://example.com/a"]}
    return pa.table({**values, **columns})


def test_columns_named_like_our_fields(tmp_path: Path) -> None:
    (records,) = read(tmp_path, table(status=[200], referrer=[None]))
    assert records.reason.tolist() == [Reject.NONE]
    assert records.time.tolist() == [MICROSECONDS]
    assert records.status.tolist() == [200]
    assert records.target.value(0) == b"https://example.com/a"
    assert records.address.value(0) == b"1.2.3.4"
    assert records.referrer is not None
    assert records.referrer.value(0) is None
    assert (records.method, records.agent) == (None, None)
    assert records.line.tolist() == [1]


def test_columns_named_as_others_do(tmp_path: Path) -> None:
    rows = pa.table({"Timestamp": [MOMENT], "user_pseudo_id": ["u"], "page_location": ["/a"]})
    (records,) = read(tmp_path, rows)
    assert records.time.tolist() == [MICROSECONDS]
    assert (records.address.value(0), records.target.value(0)) == (b"u", b"/a")


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (pa.array([MOMENT], pa.timestamp("ms")), MICROSECONDS),
        (pa.array([MOMENT], pa.timestamp("ns")), MICROSECONDS),
        (pa.array([MOMENT], pa.timestamp("us", tz="Asia/Tokyo")), MICROSECONDS),
        (pa.array(["2024-05-06T09:08:09.25+02:00"]), MICROSECONDS),
        (pa.array([1_714_979_289]), MICROSECONDS - 250_000),
        (pa.array([1_714_979_289_250]), MICROSECONDS),
        (pa.array([1_714_979_289.25]), MICROSECONDS),
    ],
)
def test_times_of_any_type(tmp_path: Path, time: pa.Array, expected: int) -> None:
    (records,) = read(tmp_path, table(time=time))
    assert records.time.tolist() == [expected]
    assert records.reason.tolist() == [Reject.NONE]


def test_naive_timestamps_are_in_the_zone_of_the_settings(tmp_path: Path) -> None:
    (records,) = read(tmp_path, table(), timezone="Europe/Berlin")
    assert records.time.tolist() == [MICROSECONDS - 7_200_000_000]
    zoned = pa.array([MOMENT], pa.timestamp("us", tz="UTC"))
    (records,) = read(tmp_path, table(time=zoned), timezone="Europe/Berlin")
    assert records.time.tolist() == [MICROSECONDS]


def test_columns_may_be_mapped_nested_and_dictionaries(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "at": [MOMENT, MOMENT],
            "who": [{"ip": "1.2.3.4"}, {"ip": None}],
            "page": pa.array(["/a", "/b"]).dictionary_encode(),
            "query": ["x=1", "-"],
            "code": pa.array([200, 304], pa.int16()),
        }
    )
    columns = {
        "time": "at",
        "address": "who.ip",
        "target": "page",
        "query": "query",
        "status": "code",
    }
    (records,) = read(tmp_path, rows, columns=columns)
    assert [records.target.value(i) for i in range(2)] == [b"/a?x=1", b"/b"]
    assert [records.address.value(i) for i in range(2)] == [b"1.2.3.4", None]
    assert records.status.tolist() == [200, 304]


def test_rows_are_numbered_across_batches(tmp_path: Path) -> None:
    rows = 150_000
    many = pa.table(
        {"time": [MOMENT] * rows, "address": ["a"] * rows, "url": [f"/{i}" for i in range(rows)]}
    )
    batches = read(tmp_path, many)
    assert len(batches) > 1
    numbers = [number for records in batches for number in records.line.tolist()]
    assert numbers == list(range(1, rows + 1))
    last = batches[-1]
    assert last.target.value(len(last) - 1) == b"/149999"


def test_a_dictionary_of_moments_does_not_make_batches_small(tmp_path: Path) -> None:
    rows = 150_000
    moments = pa.array(np.arange(rows) + MICROSECONDS, pa.timestamp("us", "UTC"))
    many = pa.table({"time": moments, "address": ["a"] * rows, "url": ["/a"] * rows})
    batches = read(tmp_path, many)
    assert len(batches) == 3
    assert sum(len(records) for records in batches) == rows


def test_why_a_row_is_rejected(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "time": [MOMENT, None, MOMENT, MOMENT, MOMENT, MOMENT],
            "address": ["a"] * 6,
            "url": ["/a", "/b", None, "/\0", "/e", "/f"],
            "status": [200, 200, 200, 200, None, 20],
        }
    )
    (records,) = read(tmp_path, rows)
    assert [Reject(reason).label for reason in records.reason.tolist()] == [
        *("none", "bad_time", "bad_request", "nul_bytes", "bad_status", "bad_status")
    ]


@pytest.fixture
def used_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields begin with what stood in memory before, as those of a long run do."""
    empty = Fields.empty

    def used(data: Bytes, lines: int, slots: set[int]) -> Fields:
        fields = empty(data, lines, slots)
        fields.start[:], fields.stop[:] = 0, 2
        return fields

    monkeypatch.setattr(Fields, "empty", used)


@pytest.mark.usefixtures("used_memory")
def test_a_row_without_a_request_has_no_target(tmp_path: Path) -> None:
    requests = ["GET /a HTTP/1.1", None, "HEAD /c HTTP/1.1"]
    rows = pa.table({"time": [MOMENT] * 3, "address": ["u"] * 3, "request": requests})
    (records,) = read(tmp_path, rows)
    assert records.reason.tolist() == [Reject.NONE, Reject.BAD_REQUEST, Reject.NONE]
    assert [records.target.value(i) for i in range(3)] == [b"/a", None, b"/c"]


@pytest.mark.usefixtures("used_memory")
def test_a_url_beside_a_missing_request_has_no_method(tmp_path: Path) -> None:
    urls, requests = ["/a", "/b"], ["HEAD /c HTTP/1.1", None]
    rows = pa.table({"time": [MOMENT] * 2, "address": ["u"] * 2, "url": urls, "request": requests})
    (records,) = read(tmp_path, rows)
    assert records.reason.tolist() == [Reject.NONE, Reject.NONE]
    assert [records.target.value(i) for i in range(2)] == [b"/c", b"/b"]
    assert records.method is not None
    assert [records.method.value(i) for i in range(2)] == [b"HEAD", None]


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    empty = table().slice(0, 0)
    assert sum(len(records) for records in read(tmp_path, empty)) == 0


def test_what_columns_lack_is_said_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ColumnsError, match="named for address; it has time, who, url; say which"):
        read(tmp_path, pa.table({"time": [MOMENT], "who": ["u"], "url": ["/a"]}))


def test_missing_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(ColumnsError, match="the log has no page; it has time, address, url"):
        read(tmp_path, table(), columns={"time": "time", "address": "address", "url": "page"})
    with pytest.raises(ColumnsError, match="nothing is named for time"):
        read(tmp_path, pa.table({"address": ["a"], "url": ["/"]}))


@pytest.mark.parametrize("damage", ["cut", "garbage", "middle"])
def test_damaged_files_raise_one_error_with_the_path(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(table(), path)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "garbage":
        data = bytearray(b"PAR1" + bytes(50))
    else:
        data[4:60] = b"\xff" * 56
    path.write_bytes(bytes(data))
    with pytest.raises(parquet.DamagedParquetError, match=r"log\.parquet"):
        list(parquet.read(path, LogSource(path=str(path)), Reading()))


MOST_MIB = 700
"""Memory of a process that reads a bomb, with 170 of the interpreter and its libraries."""

PIECES = 8
"""Row groups of a bomb: the test itself shall not need what reading must not."""


def long_dictionary() -> tuple[pa.Array, dict[str, Any]]:
    """Gigabytes in ten kilobytes: one long value, a great many times."""
    value = "https://a.example/" + "x" * 50_000
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int32)), [value]), {}


def large_pages() -> tuple[pa.Array, dict[str, Any]]:
    """A page that unpacks to a hundred megabytes and more."""
    options = {"use_dictionary": False, "data_page_size": 1 << 30, "write_batch_size": 1 << 20}
    return pa.array(["https://a.example/" + "y" * 1_000] * 150_000), options


def repeating() -> tuple[pa.Array, dict[str, Any]]:
    """Each value says that it begins as the one before, to its end."""
    options = {"use_dictionary": False, "column_encoding": {"url": "DELTA_BYTE_ARRAY"}}
    return pa.array(["https://a.example/" + "z" * 100_000] * 1_000), options


def lists() -> tuple[pa.Array, dict[str, Any]]:
    """A row with a great many values."""
    return pa.array([["https://a.example/"] * 100_000], pa.list_(pa.string())), {}


_READ = """
import sys
from pathlib import Path
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import LogSource, Reading
path = Path(sys.argv[1])
try:
    for _ in parquet.read(path, LogSource(path=str(path)), Reading()):
        pass
except parquet.DamagedParquetError as error:
    print(error)
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory was used")
@pytest.mark.parametrize("bomb", [long_dictionary, large_pages, repeating, lists])
def test_what_a_file_unpacks_to_is_bounded(
    tmp_path: Path, bomb: Callable[[], tuple[pa.Array, dict[str, Any]]]
) -> None:
    url, options = bomb()
    time = pa.array(np.full(len(url), 1_767_268_800_000_000), pa.timestamp("us", tz="UTC"))
    address = pa.array(np.zeros(len(url), np.int64)).cast(pa.string())
    piece = pa.table({"time": time, "address": address, "url": url})
    path = tmp_path / "log.parquet"
    with pq.ParquetWriter(path, piece.schema, compression="zstd", **options) as writer:
        for _ in range(PIECES):
            writer.write_table(piece)
    assert path.stat().st_size < 500_000
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True
    )
    message, peak = done.stdout.splitlines()
    assert int(peak) < MOST_MIB
    assert re.search("refused|holds lists|a page unpacks to", message)


def test_a_value_longer_than_a_line_is_cut_and_rejected(tmp_path: Path) -> None:
    long = "https://a.example/" + "x" * 200_000
    actual = read(
        tmp_path,
        table(time=[MOMENT] * 2, address=["1.2.3.4"] * 2, url=[long, "https://a.example/1"]),
    )
    (records,) = actual
    assert len(records.line) == 2
    assert int((records.target.stop - records.target.start).max()) <= 65_537


def test_a_column_whose_name_is_no_text_is_a_fault_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(table(zzzz=["a"]), path)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xff\xfez"))
    with pytest.raises(parquet.DamagedParquetError, match=r"log\.parquet: "):
        list(parquet.read(path, LogSource(path=str(path)), Reading()))
