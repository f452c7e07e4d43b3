"""Exports of analytics that name visitors: what of their events is a view of a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block, Column, Records, Reject
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import LogSource, Reading

SOURCE = LogSource(path="x")
BASE = "https://www.example.com"
Row = tuple[str, str, str | None, str]


def pages(records: Records) -> list[Row]:
    """Time, page, referrer and visitor of the views of pages; all else is whole and dropped."""
    assert records.is_page is not None
    assert set(records.reason.tolist()) == {int(Reject.NONE)}

    def text(column: Column | None, row: int) -> str | None:
        value = column.value(row) if column is not None else None
        return None if value is None else value.decode()

    return [
        (
            str(np.datetime64(int(records.time[row]), "us").astype("datetime64[s]")),
            text(records.target, row) or "",
            text(records.referrer, row),
            text(records.address, row) or "",
        )
        for row in np.flatnonzero(records.is_page).tolist()
    ]


def read(path: Path) -> tuple[str, Records]:
    with open_stream(path, Reading()) as stream:
        fmt = resolve(SOURCE, stream.head, path.name)
        (block,) = list(stream)
    return fmt.name, parse(block, fmt, SOURCE, Reading())


def visit(number: int) -> dict[str, Any]:
    return {
        "visitorId": f"v{number}",
        "referrerUrl": "https://search.example/" if number else None,
        "pluginsIcons": [{"pluginIcon": 'a "quoted", [bracketed] {text}\n'}],
        "actionDetails": [
            {"type": "action", "url": f"{BASE}/a", "timestamp": 1714979289},
            {"type": "outlink", "url": "https://elsewhere.example/", "timestamp": 1714979290},
            {"type": "action", "url": f"{BASE}/b", "timestamp": 1714979291},
            {"type": "event", "eventAction": "play", "timestamp": 1714979292},
        ],
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_matomo_answers_with_one_list_of_visits(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "visits.json"
    path.write_text(json.dumps([visit(0), visit(1)], indent=indent))
    name, records = read(path)
    assert name == "matomo_json"
    assert pages(records) == [
        ("2024-05-06T07:08:09", f"{BASE}/a", None, "v0"),
        ("2024-05-06T07:08:11", f"{BASE}/b", f"{BASE}/a", "v0"),
        ("2024-05-06T07:08:09", f"{BASE}/a", "https://search.example/", "v1"),
        ("2024-05-06T07:08:11", f"{BASE}/b", f"{BASE}/a", "v1"),
    ]


def event(name: str, url: str | None, referrer: str | None = None) -> dict[str, Any]:
    given = {"page_location": url, "page_referrer": referrer, "page_title": "A"}
    return {
        "event_date": "20240506",
        "event_timestamp": 1714979289000000,
        "event_name": name,
        "event_params": [
            {"key": key, "value": {"string_value": value, "int_value": None}}
            for key, value in given.items()
            if value is not None
        ],
        "user_pseudo_id": "1234567.1714970000",
    }


EVENTS = [
    event("page_view", f"{BASE}/a", "https://search.example/"),
    event("scroll", f"{BASE}/a"),
    event("first_open", None),
    event("page_view", f"{BASE}/b"),
]
VIEWS = [
    ("2024-05-06T07:08:09", f"{BASE}/a", "https://search.example/", "1234567.1714970000"),
    ("2024-05-06T07:08:09", f"{BASE}/b", None, "1234567.1714970000"),
]


def test_google_analytics_from_bigquery_as_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.json"
    path.write_text("".join(json.dumps(log_event) + "\n" for log_event in EVENTS))
    name, records = read(path)
    assert (name, pages(records)) == ("ga4_json", VIEWS)


@pytest.mark.parametrize("is_list", [True, False])
def test_google_analytics_from_bigquery_as_parquet(tmp_path: Path, is_list: bool) -> None:
    """BigQuery writes lists as such, or as a struct with one."""
    rows = [
        log_event
        if is_list
        else log_event
        | {"event_params": {"list": [{"element": entry} for entry in log_event["event_params"]]}}
        for log_event in EVENTS
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "events.parquet")
    (records,) = parquet.read(tmp_path / "events.parquet", SOURCE, Reading())
    assert pages(records) == VIEWS


def snowplow(event: str, url: str, referrer: str = "", cookie: str = "") -> str:
    fields = [""] * 131
    fields[0], fields[1], fields[3], fields[5] = "site", "web", "2024-05-06 07:08:09.123", event
    fields[13], fields[15], fields[29], fields[31] = "192.0.2.7", cookie, url, referrer
    fields[77] = "Mozilla/5.0"
    return "\t".join(fields)


def test_snowplow_enriched_events() -> None:
    lines = [
        snowplow("page_view", f"{BASE}/a", "https://search.example/", "cookie-1"),
        snowplow("page_ping", f"{BASE}/a", cookie="cookie-1"),
        snowplow("struct", ""),
        snowplow("page_view", f"{BASE}/b"),
    ]
    data = "".join(f"{line}\n" for line in lines).encode()
    fmt = resolve(SOURCE, data)
    assert fmt.name == "snowplow"
    records = parse(Block(np.frombuffer(data, np.uint8), 1, last=True), fmt, SOURCE, Reading())
    assert pages(records) == [
        ("2024-05-06T07:08:09", f"{BASE}/a", "https://search.example/", "cookie-1"),
        ("2024-05-06T07:08:09", f"{BASE}/b", None, "192.0.2.7"),
    ]
