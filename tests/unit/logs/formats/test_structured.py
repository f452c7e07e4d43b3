"""Logs of one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from temporal_assets.logs.formats.columns import ColumnsError

ReadLog = Callable[..., list]

NGINX = {
    "time_iso8601": "2024-05-06T07:08:09+02:00", "remote_addr": "1.2.3.4",
    "request": "GET /a?b=c HTTP/1.1", "status": 200, "http_referer": "https://example.com/",
    "http_user_agent": "Mozilla/5.0", "host": "www.example.com", "scheme": "https",
}  # fmt: skip


def line(**changes: object) -> bytes:
    record = {key: value for key, value in {**NGINX, **changes}.items() if value is not ...}
    return json.dumps(record).encode() + b"\n"


def test_nginx_json(read_log: ReadLog) -> None:
    (row,) = read_log(line())
    assert (row.reason, row.time, row.status) == ("none", "2024-05-06 05:08:09", 200)
    assert (row.method, row.target, row.address) == ("GET", "/a?b=c", "1.2.3.4")
    assert (row.host, row.scheme) == ("www.example.com", "https")
    assert (row.referrer, row.agent) == ("https://example.com/", "Mozilla/5.0")


def test_method_uri_and_args_stand_for_the_request(read_log: ReadLog) -> None:
    changes = {"request": ..., "request_method": "GET", "uri": "/x", "args": "y=1", "status": "304"}
    (row,) = read_log(line(**changes))
    assert (row.method, row.target, row.status) == ("GET", "/x?y=1", 304)
    (row,) = read_log(line(**{**changes, "args": "-"}))
    assert row.target == "/x"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not_the_format"),
        (b"[1, 2]", "not_the_format"),
        (b'"text"', "not_the_format"),
        (b'{"time_iso8601": ', "not_the_format"),
        (line(status=200)[:-3], "not_the_format"),
        (b"[" * 5000, "not_the_format"),
        (line(time_iso8601="soon").strip(), "bad_time"),
        (line(time_iso8601=...).strip(), "bad_time"),
        (line(time_iso8601=None).strip(), "bad_time"),
        (line(time_iso8601={"a": 1}).strip(), "bad_time"),
        (line(request="-").strip(), "bad_request"),
        (line(request=...).strip(), "bad_request"),
        (line(request="GET /a\0b HTTP/1.1").strip(), "nul_bytes"),
        (line(status="").strip(), "bad_status"),
        (line(status=True).strip(), "bad_status"),
        (line(status=20).strip(), "bad_status"),
        (line(http_user_agent="a" * 70_000).strip(), "too_long"),
    ],
)
def test_why_a_line_is_rejected(read_log: ReadLog, text: bytes, reason: str) -> None:
    rows = read_log(line() + text + b"\n" + line(), format="nginx_json")
    assert [row.reason for row in rows] == (["none", reason, "none"] if text else ["none", "none"])
    assert [row.line for row in rows] == ([1, 2, 3] if text else [1, 3])


def test_escapes_of_json(read_log: ReadLog) -> None:
    text = line().replace(b"Mozilla/5.0", rb"\"\u00fc\/\\")
    (row,) = read_log(text)
    assert row.agent == '"ü/\\'.encode().decode("latin-1")


def test_raw_escapes_of_nginx_are_bytes(read_log: ReadLog) -> None:
    # Without escape=json nginx writes \xHH, which is no JSON.
    text = line().replace(b"Mozilla/5.0", rb"a\x22b\xC3\xBC\\x41")
    (row,) = read_log(text)
    assert row.agent == 'a"b\xc3\xbc\\x41'


def test_bytes_that_are_not_utf8_stay_as_they_are(read_log: ReadLog) -> None:
    (row,) = read_log(line().replace(b"/a?b=c", b"/\xff\xe9"))
    assert (row.reason, row.target) == ("none", "/\xff\xe9")


def test_field_paths_through_objects_and_lists(read_log: ReadLog) -> None:
    caddy = {
        "ts": 1703373474.8155608,
        "request": {
            "client_ip": "1.2.3.4",
            "remote_ip": "10.0.0.1",
            "method": "GET",
            "host": "example.com",
            "uri": "/a",
            "headers": {"Referer": ["https://example.com/from"], "User-Agent": ["curl"]},
        },
        "status": 200,
    }
    bare = json.loads(json.dumps(caddy))
    del bare["request"]["headers"]
    rows = read_log(b"".join(json.dumps(r).encode() + b"\n" for r in (caddy, bare)))
    assert [row.referrer for row in rows] == ["https://example.com/from", None]
    assert [row.agent for row in rows] == ["curl", None]
    assert [row.address for row in rows] == ["1.2.3.4", "1.2.3.4"]
    assert rows[0].time == "2023-12-23 23:17:54.815560"


def test_an_object_is_no_value(read_log: ReadLog) -> None:
    """Filebeat puts its own `host` and `agent` before what the server wrote."""
    beat = {"host": {"name": "web1"}, "url": {"path": "/x"}, "server_name": "www.example.org"}
    for more in (b"", b"\xff"):  # bytes that are no UTF-8 take the slow way
        shipped = line(**{**beat, "http_user_agent": "Mozilla"}).replace(b"Mozilla", more + b"M")
        (row,) = read_log(shipped)
        assert (row.reason, row.host, row.target) == ("none", "www.example.org", "/a?b=c")


@pytest.mark.parametrize("key", ["args", "query_string", "request_query", "query"])
def test_what_people_call_a_query(read_log: ReadLog, key: str) -> None:
    """Else all stories of a program would be one page."""
    (row,) = read_log(line(**{"request": ..., "method": "GET", "path": "/x", key: "id=7"}))
    assert row.target == "/x?id=7"


def test_json_as_apache_is_mostly_told_to_write_it(read_log: ReadLog) -> None:
    record = {
        "time": "2024-05-06T07:08:09+0200", "process": "12", "remoteIP": "1.2.3.4",
        "host": "www.example.com", "request": "/x", "query": "?id=7", "method": "GET",
        "status": "200", "userAgent": "Mozilla/5.0", "referer": "-",
    }  # fmt: skip
    (row,) = read_log(json.dumps(record).encode() + b"\n")
    assert (row.time, row.address, row.agent) == ("2024-05-06 05:08:09", "1.2.3.4", "Mozilla/5.0")
    assert (row.method, row.target, row.host) == ("GET", "/x?id=7", "www.example.com")
    assert (row.status, row.referrer) == (200, None)


def test_a_request_may_be_a_target_beside_its_verb(read_log: ReadLog) -> None:
    rows = read_log(line(request="/a?b=1", verb="POST") + line() + line(request="/a b"))
    assert [(row.reason, row.method, row.target) for row in rows] == [
        ("none", "POST", "/a?b=1"),
        ("none", "GET", "/a?b=c"),
        ("bad_request", None, None),
    ]


@pytest.mark.parametrize(
    "record",
    [
        {
            "ClientIP": "1.2.3.4",
            "ClientRequestHost": "www.example.com",
            "ClientRequestPath": "/a",
            "EdgeStartTimestamp": "2024-05-06T05:08:09Z",
            "EdgeResponseStatus": 200,
        },
        {
            "timestamp(ms)": "1714972089000",
            "c-ip": "1.2.3.4",
            "cs-uri-stem": "/a",
            "x-host-header": "www.example.com",
            "sc-status": "200",
        },
    ],
)
def test_fields_that_may_be_chosen_instead(read_log: ReadLog, record: dict[str, object]) -> None:
    (row,) = read_log(json.dumps(record).encode() + b"\n")
    assert (row.time, row.host, row.target) == ("2024-05-06 05:08:09", "www.example.com", "/a")


def test_columns_map_fields_to_paths(read_log: ReadLog) -> None:
    record = {
        "@t": "2024-05-06T07:08:09Z",
        "who": {"ip": "1.2.3.4"},
        "what": ["/a", "/b"],
        "x": 200,
    }
    (row,) = read_log(
        json.dumps(record).encode() + b"\n",
        columns={"time": "@t", "address": "who.ip", "target": "what.1", "status": "x"},
    )
    assert (row.time, row.address, row.target) == ("2024-05-06 07:08:09", "1.2.3.4", "/b")
    assert (row.status, row.referrer, row.host, row.method) == (200, None, None, None)


def test_generic_json_knows_our_own_names(read_log: ReadLog) -> None:
    record = {"time": 1714979289, "address": "1.2.3.4", "url": "https://example.com/a"}
    (row,) = read_log(json.dumps(record).encode() + b"\n")
    assert (row.time, row.address) == ("2024-05-06 07:08:09", "1.2.3.4")
    assert (row.target, row.status) == ("https://example.com/a", 0)


def test_a_map_that_names_some_fields_leaves_the_others_to_usual_keys(read_log: ReadLog) -> None:
    record = {"timestamp": 1714979289, "who": {"id": "u"}, "url": "/a", "referer": "/b"}
    (row,) = read_log(json.dumps(record).encode() + b"\n", columns={"address": "who.id"})
    assert (row.time, row.address) == ("2024-05-06 07:08:09", "u")
    assert (row.target, row.referrer) == ("/a", "/b")
    whole = {"time": "timestamp", "address": "who.id", "url": "url"}
    (row,) = read_log(json.dumps(record).encode() + b"\n", columns=whole)
    assert row.referrer is None


def test_a_field_that_is_none_of_ours(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match="unknown field tme; known are time, address, method"):
        read_log(line(), format="jsonl", columns={"tme": "t"})


def test_many_sets_of_keys_are_read_alike(read_log: ReadLog) -> None:
    lines = b"".join(line(**{f"extra{i}": i}) for i in range(1500))
    rows = read_log(lines)
    assert {row.reason for row in rows} == {"none"}
    assert {row.target for row in rows} == {"/a?b=c"}


def test_referrers_that_are_never_logged_are_unknown_not_absent(read_log: ReadLog) -> None:
    (row,) = read_log(line(http_referer="-"))
    assert row.referrer is None
    rows = read_log(line(http_referer=...), format="nginx_json")
    assert rows[0].referrer is None
