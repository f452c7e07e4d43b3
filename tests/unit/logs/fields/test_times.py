"""Moments: every notation, every zone, and the hours that clocks skip or repeat."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.compiled import readonly
from temporal_assets.logs.fields.times import (
    BAD,
    DAY,
    NO_DAY,
    clocks,
    days_from_civil,
    last_repeated,
    localise,
    parse_date,
    parse_time,
)

SECOND = 1_000_000
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# 2012-02-10T21:42:07Z
MOMENT = 1_328_910_127 * SECOND


def parsed(text: bytes) -> tuple[int, bool]:
    data = readonly(np.frombuffer(text + b"\n" * 32, np.uint8))
    time, naive = parse_time(data, 0, len(text), np.zeros(3, np.int64))
    return int(time), bool(naive)


def utc(text: str) -> int:
    moment = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    return (moment - EPOCH) // dt.timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        (b"10/Feb/2012:16:42:07 -0500", MOMENT),
        (b"10/FEB/2012:21:42:07 +0000", MOMENT),
        (b"10/Feb/2012:16:42:07.25 -0500", MOMENT + 250_000),
        (b"[10/Feb/2012:16:42:07 -0500]", MOMENT),
        (b"11/Feb/2012:03:12:07 +0530", MOMENT),
        (b"2012-02-10T21:42:07Z", MOMENT),
        (b"2012-02-10t21:42:07z", MOMENT),
        (b"2012-02-10T16:42:07-05:00", MOMENT),
        (b"2012-02-10T16:42:07-0500", MOMENT),
        (b"2012-02-10 16:42:07-05", MOMENT),
        (b"2012-02-10 21:42:07 UTC", MOMENT),
        (b"2012-02-10 21:42:07 GMT", MOMENT),
        (b"2012-02-10T21:42:07.123456Z", MOMENT + 123_456),
        (b"2012-02-10T21:42:07.123456789Z", MOMENT + 123_456),
        (b"2012-02-10T21:42:07,5Z", MOMENT + 500_000),
        (b"2012-02-10T21:42Z", MOMENT - 7 * SECOND),
        (b"2012-02-10 16:42 -0500", MOMENT - 7 * SECOND),
        (b"1328910127", MOMENT),
        (b"1328910127.042", MOMENT + 42_000),
        (b"1328910127042", MOMENT + 42_000),
        (b"1328910127042.5", MOMENT + 42_500),
        (b"1328910127042137", MOMENT + 42_137),
        (b"1328910127042137999", MOMENT + 42_137),
        # A leap second stays in its day.
        (b"31/Dec/2016:23:59:60 +0000", utc("2016-12-31T23:59:59")),
        (b"29/Feb/2000:00:00:00 +0000", utc("2000-02-29T00:00:00")),
        (b"31/Dec/1969:23:59:59 +0000", -SECOND),
    ],
)
def test_a_moment_with_a_zone(text: bytes, microseconds: int) -> None:
    assert parsed(text) == (microseconds, False)


@pytest.mark.parametrize(
    "text",
    [
        b"[10/Feb/2012:21:42:07",
        b"10/Feb/2012:21:42:07",
        b"10/Feb/2012:21:42:07 ",
        b"10.02.2012 21:42:07",
        b"20120210214207",
        b"2012-02-10 21:42:07",
        b"2012/02/10 21:42:07",
        b"2012-02-10_21:42:07",
        b"2012-02-10T21:42:07.000",
    ],
)
def test_a_moment_without_a_zone_is_naive_and_read_as_utc(text: bytes) -> None:
    assert parsed(text) == (MOMENT, True)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"-",
        b"yesterday",
        b"10/Feb/2012",
        b"10/Feb/2012:24:00:00 +0000",
        b"10/Feb/2012:23:60:00 +0000",
        b"10/Feb/2012:23:59:61 +0000",
        b"30/Feb/2012:00:00:00 +0000",
        b"29/Feb/1900:00:00:00 +0000",
        b"31/Apr/2012:00:00:00 +0000",
        b"00/Jan/2012:00:00:00 +0000",
        b"10/Foo/2012:21:42:07 +0000",
        b"10/Feb/0000:21:42:07 +0000",
        b"10/Feb/2012:21:42:07 +2400",
        b"10/Feb/2012:21:42:07 +0060",
        b"10/Feb/2012:21:42:07 +000x",
        b"10/Feb/2012:21:42:07 CET",
        b"10/Feb/2012:21:42:0 +0000",
        b"10/Feb/2012:2a:42:07 +0000",
        b"2012-02/10 21:42:07",
        b"2012-13-01T00:00:00Z",
        b"2012-02-10T21:42:07Zulu",
        b"-1328910127",
        b"1.3e9",
        b"1328910127.0x",
        b"99999999999999999999",
        b"9999999999999999999",
    ],
)
def test_what_is_no_moment(text: bytes) -> None:
    assert parsed(text)[0] == BAD


@given(st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)), st.integers(-1439, 1439))
def test_agrees_with_datetime_on_any_offset(moment: dt.datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=minutes)))
    expected = (aware - EPOCH) // dt.timedelta(microseconds=1)
    assert parsed(aware.isoformat(timespec="microseconds").encode()) == (expected, False)
    clf = aware.strftime(f"%d/%b/{aware.year:04}:%H:%M:%S %z")
    assert parsed(clf.encode()) == (expected - moment.microsecond, False)


@given(st.integers(-5, 10_005), st.integers(-1, 14), st.integers(-1, 33))
def test_agrees_with_the_calendar(year: int, month: int, day: int) -> None:
    try:
        expected = (dt.date(year, month, day) - dt.date(1970, 1, 1)).days
    except ValueError:
        expected = NO_DAY if year <= 9999 else int(days_from_civil(year, month, day))
    assert days_from_civil(year, month, day) == expected


@given(st.binary(max_size=30))
def test_any_bytes_are_a_moment_or_bad(text: bytes) -> None:
    time, _ = parsed(text)
    assert time == BAD or abs(time) < 366 * 10_000 * DAY


@pytest.mark.parametrize("text", [b"10/Feb/2012", b"2012-02-10", b"2012/02/10"])
def test_dates_alone(text: bytes) -> None:
    assert parse_date(readonly(np.frombuffer(text, np.uint8)), 0, len(text)) == 15_380


BERLIN = ZoneInfo("Europe/Berlin")


def localised(texts: list[str], zone: str, before: int = BAD) -> list[str]:
    times = np.array([utc(text) for text in texts], np.int64)
    localise(times, np.ones(len(texts), np.bool_), ZoneInfo(zone), before)
    return [(EPOCH + dt.timedelta(microseconds=int(t))).strftime("%m-%d %H:%M") for t in times]


def test_summer_and_winter_have_their_own_offsets() -> None:
    assert localised(["2024-01-15 12:00", "2024-07-15 12:00"], "Europe/Berlin") == [
        "01-15 11:00",
        "07-15 10:00",
    ]


def test_times_that_spring_leaps_over_take_the_offset_before() -> None:
    # 2024-03-31 02:00 does not exist in Berlin; 02:30 is read as CET.
    assert localised(["2024-03-31 01:59", "2024-03-31 02:30", "2024-03-31 03:30"], BERLIN.key) == [
        "03-31 00:59",
        "03-31 01:30",
        "03-31 01:30",
    ]


def test_the_repeated_hour_is_told_apart_by_the_step_back() -> None:
    # 2024-10-27 03:00 CEST becomes 02:00 CET.
    local = ["02:10", "02:50", "02:49", "02:59", "02:01", "02:30", "03:00"]
    assert localised([f"2024-10-27 {clock}" for clock in local], BERLIN.key) == [
        "10-27 00:10",
        "10-27 00:50",
        "10-27 00:49",  # a minute late is no step back
        "10-27 00:59",
        "10-27 01:01",
        "10-27 01:30",
        "10-27 02:00",
    ]


def test_the_repeated_hour_is_followed_from_block_to_block() -> None:
    before = utc("2024-10-27 01:30")  # 02:30 for the second time
    assert localised(["2024-10-27 02:40"], BERLIN.key, before) == ["10-27 01:40"]
    first = utc("2024-10-27 00:30")  # 02:30 for the first time
    assert localised(["2024-10-27 02:40"], BERLIN.key, first) == ["10-27 00:40"]
    assert localised(["2024-10-27 02:01"], BERLIN.key, utc("2024-10-27 00:58")) == ["10-27 01:01"]


def test_a_change_of_half_an_hour() -> None:
    # Lord Howe: 2024-04-07 02:00 (+11) becomes 01:30 (+10:30).
    local = ["2024-04-07 01:40", "2024-04-07 01:55", "2024-04-07 01:35"]
    assert localised(local, "Australia/Lord_Howe") == ["04-06 14:40", "04-06 14:55", "04-06 15:05"]


def test_a_change_a_minute_after_midnight() -> None:
    # St. John's: 2010-11-07 00:01 (-2:30) becomes 23:01 of the day before (-3:30).
    local = ["06 23:00", "06 23:10", "07 00:00", "06 23:05", "06 23:59", "07 00:01", "07 00:10"]
    assert localised([f"2010-11-{clock}" for clock in local], "America/St_Johns") == [
        *("11-07 01:30", "11-07 01:40", "11-07 02:30"),
        *("11-07 02:35", "11-07 03:29", "11-07 03:31", "11-07 03:40"),
    ]
    # 2010-03-14 00:01 (-3:30) becomes 01:01.
    assert localised(["2010-03-14 00:00", "2010-03-14 01:05"], "America/St_Johns") == [
        *("03-14 03:30", "03-14 03:35")
    ]


def test_what_clocks_show() -> None:
    zone = ZoneInfo("America/St_Johns")
    times = [f"2010-11-{clock}" for clock in ("07 02:30", "07 02:32", "08 02:32")]
    shown = [f"2010-11-{clock}" for clock in ("07 00:00", "06 23:02", "07 23:02")]
    found = clocks(np.array([utc(text) for text in times]), zone)
    assert found.tolist() == [utc(text) for text in shown]
    assert clocks(np.array([], np.int64), zone).tolist() == []


@pytest.mark.parametrize("key", ["America/New_York", "Asia/Tokyo"])
def test_times_beyond_the_calendar_of_a_zone(key: str) -> None:
    times = np.array([utc("0001-01-01"), utc("9999-12-31 23:59") + DAY])
    assert last_repeated(times, ZoneInfo(key)) == BAD
    localise(times, np.ones(2, np.bool_), ZoneInfo(key))
    assert (np.abs(times - [utc("0001-01-01"), utc("9999-12-31 23:59") + DAY]) < DAY).all()


def test_times_with_a_zone_and_unreadable_times_stay() -> None:
    times = np.array([0, BAD, 0], np.int64)
    localise(times, np.array([False, True, True]), BERLIN)
    assert times.tolist() == [0, BAD, -3600 * SECOND]


def test_which_times_clocks_show_twice() -> None:
    times = [utc(f"2024-10-27 {clock}") for clock in ("00:30", "01:59", "02:00")]
    assert last_repeated(np.array(times), BERLIN) == utc("2024-10-27 01:59")
    assert last_repeated(np.array(times[2:]), BERLIN) == BAD
    assert last_repeated(np.array(times), ZoneInfo("UTC")) == BAD
    assert last_repeated(np.array([], np.int64), BERLIN) == BAD
    odd = ZoneInfo("America/St_Johns")
    for clock, twice in (("01:30", False), ("01:32", True), ("03:30", True), ("03:31", False)):
        assert (last_repeated(np.array([utc(f"2010-11-07 {clock}")]), odd) != BAD) is twice


@given(
    st.datetimes(dt.datetime(1975, 1, 1), dt.datetime(2035, 1, 1)),
    st.sampled_from(
        [
            *("Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Gaza"),
            *("Asia/Kathmandu", "Pacific/Chatham"),
        ]
    ),
)
def test_a_single_naive_time_agrees_with_zoneinfo(moment: dt.datetime, key: str) -> None:
    local = moment.replace(microsecond=0)
    expected = (local.replace(tzinfo=ZoneInfo(key)) - EPOCH) // dt.timedelta(microseconds=1)
    times = np.array([(local.replace(tzinfo=dt.UTC) - EPOCH) // dt.timedelta(microseconds=1)])
    localise(times, np.ones(1, np.bool_), ZoneInfo(key))
    assert times[0] == expected
