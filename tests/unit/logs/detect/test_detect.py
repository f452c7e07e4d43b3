"""Detection of formats, and messages where a format cannot be known."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given as given_values
from hypothesis import settings
from hypothesis import strategies as st

from temporal_assets.logs.detect.dated_files import UnknownFormatError
from temporal_assets.logs.detect.detection import likely_format
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.detect.sample import shape
from temporal_assets.logs.formats.known_formats import ALIASES, FORMATS
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.formats.shipped_lines import WRAPPERS, unwrapped
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.read.streams import peek
from temporal_assets.settings import LogSource, Reading

COMBINED = (
    b'83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 2030 "-" "Mozilla/5.0"\n'
)
COMMON = b'83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 2030\n'


def detected(head: bytes, **options: object) -> str:
    return resolve(LogSource.model_validate({"path": "x", **options}), head).label


# The examples of docs/log-formats.md are detected in test_formats.


@pytest.mark.parametrize("name", [*FORMATS, *ALIASES])
def test_a_named_format_is_taken_by_name_in_any_case(name: str) -> None:
    expected = ALIASES.get(name, name)
    assert detected(b"", format=name) == expected
    assert detected(b"", format=name.upper()) == expected


KEYS = b'{"time": 1714979289, "ip": "192.0.2.3", "url": "/a", "visitorId": "u", "Referer": "/"}\n'
BOTH = b'{"time": 1714979289, "ip": "192.0.2.3", "request": "GET /a HTTP/1.1", "page": "/b"}\n'
NAMED = b'{"time": 1714979289, "url": "https://e.org/", "address": "a"}\n'


@pytest.mark.parametrize(
    ("head", "options", "label"),
    [
        (COMBINED, {"format": "common"}, "common"),
        # A few bad lines do not decide, only the beginning is looked at, the last may be cut.
        (b"starting server\n\x16\x03\x01\n" + COMBINED * 5 + b"oops\n", {}, "combined"),
        (COMBINED * 60 + b"garbage\n" * 1000, {}, "combined"),
        (COMBINED + COMMON[:30], {}, "combined"),
        (b"server started\n" + NAMED * 3, {}, "jsonl"),
        # A small Parquet file may have carriage returns and no newline, as logs of old Macintoshs.
        (b"PAR1\x15\r\x04 rows \r without a newline PAR1", {}, "parquet"),
        # Usual keys of servers come before those of tables.
        (KEYS, {}, "nginx_json by referrer=Referer"),
        (KEYS, {"format": "jsonl"}, "jsonl by referrer=Referer"),
        (KEYS.replace(b"Referer", b"referer"), {}, "nginx_json"),
        # A target beside a whole request is another one.
        (BOTH, {}, "nginx_json"),
        # A count beside a visitor is no aggregate.
        (b"time,visitor,url,clicks\n1714979289,u1,/a,3\n", {}, "csv by address=visitor"),
    ],
)
def test_what_decides(head: bytes, options: dict[str, str], label: str) -> None:
    assert detected(head, **options) == label


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (COMBINED, "combined"),
        (COMMON, "common"),
        (b"www.example.com " + COMBINED, "combined_vhost"),
        (b"intranet " + COMBINED, "combined_vhost"),
        (b"intranet:8080 " + COMMON, "common_vhost"),
        # A server without a name, as Debian has it by default: its address is no visitor's.
        (b"127.0.1.1:80 " + COMBINED, "combined_vhost"),
        (b"[2001:db8::5]:443 " + COMBINED, "combined_vhost"),
        (b"127.0.1.1:8080 " + COMMON, "common_vhost"),
        # The port of a client.
        (b"203.0.113.9:51234 " + COMBINED, "combined"),
        # A host in its own alphabet.
        ("bücher.example:8080 ".encode() + COMBINED, "combined_vhost"),
        # A proxy's X-Forwarded-For before the rest is an address, not a host.
        (b"10.0.0.1 " + COMBINED, "combined"),
        # A client name and a user of identd are neither address nor host.
        (COMBINED.replace(b"83.149.9.216 -", b"host.example.com jo"), "combined"),
        (COMBINED.replace(b"216 - -", b"216 www.example.com -"), "ovh"),
        (COMBINED.replace(b"216 - -", b"216 jo -"), "combined"),
        (COMBINED.replace(b"83.149.9.216", b"2001:db8::1"), "combined"),
        (COMBINED.replace(b"83.149.9.216", b"1.2.3.x"), "combined"),
        # Visitors without an address, behind the name of the site.
        (COMBINED.replace(b"83.149.9.216", b"www.example.com 5f3a"), "combined_vhost"),
        (COMMON.replace(b"83.149.9.216", b"www.example.com anon:5f3a"), "common_vhost"),
        (COMBINED.replace(b"83.149.9.216", b"www.example.com 1.2.*.*"), "combined_vhost"),
        (COMBINED.replace(b"\n", b"\r\n"), "combined"),
        (COMBINED.rstrip(), "combined"),
        (COMBINED.replace(b"GET /a HTTP/1.1", b"-"), "combined"),
        (b"\n\n# a comment\n" + COMBINED, "combined"),
    ],
)
def test_formats_that_differ_little(head: bytes, name: str) -> None:
    assert detected(head) == name


SHIPPERS = [
    (b"web-1  | ", 2),
    (b"2024-03-10T08:00:00.123456789Z stdout F ", 3),
    (b"2024-03-10T08:00:00.123456+01:00 web1 nginx[7]: ", 3),
    (b"Mar  1 08:00:00 web1 nginx: ", 5),
    (b"Mar 10 08:00:00 web1.example.net nginx: ", 5),
    (b"<190>1 2024-03-10T08:00:00.000Z web1 nginx - - - ", 7),
]


@pytest.mark.parametrize(("words", "number"), SHIPPERS)
@pytest.mark.parametrize(
    ("rest", "name"),
    [
        (COMBINED, "combined"),
        (COMMON, "common"),
        (b"www.example.com:443 " + COMBINED, "combined_vhost"),
        (COMBINED.replace(b"83.149.9.216", b"2001:db8::1"), "combined"),
    ],
)
def test_words_of_a_log_shipper_are_no_visitor(
    words: bytes, number: int, rest: bytes, name: str
) -> None:
    """Each line would be a visitor of its own, or all of them one."""
    for given in ("auto", name):
        assert detected((words + rest) * 3, format=given) == f"{name} after {number} words"


@pytest.mark.parametrize(("words", "number"), SHIPPERS)
def test_a_named_format_may_be_that_of_a_few_lines_of_a_machine(words: bytes, number: int) -> None:
    """The month that a line of syslog begins with would be the only visitor."""
    other = b"Mar 10 08:00:00 web1 sshd[1]: Accepted publickey for jo from 10.0.0.1 port 22\n"
    head = other * 3 + words + COMBINED + other * 2
    assert detected(head, format="combined") == f"combined after {number} words"


HAPROXY = (
    b"192.0.2.1:5500 [10/Nov/2026:08:01:00.584] ft~ bk/x 0/0/0/0/1 200 0 - - ---- 5/4/0/0/0 0/0 "
    b'{|} "GET /news/1 HTTP/1.1"\n'
)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (b"", 0),
        (b"2026-11-10T08:00:00.123456+01:00 lb haproxy[1]: ", 3),
        (b"<134>Nov 10 08:00:00 haproxy[1]: ", 4),
        (b"Nov  1 08:00:00 lb haproxy[1]: ", 5),
    ],
)
def test_haproxy_writes_to_syslog_or_to_nobody(words: bytes, number: int) -> None:
    for given in ("auto", "haproxy"):
        expected = f"haproxy after {number} words" if number else "haproxy"
        assert detected((words + HAPROXY) * 3, format=given) == expected


ENVOY = (
    b'[2024-03-10T08:00:00.310Z] "GET /a HTTP/2" 200 - 154 0 226 100 "203.0.113.9, 10.0.0.1" '
    b'"Mozilla/5.0" "cc21d9b0-cf5c" "www.example.com" "10.0.2.1:80"\n'
)


@pytest.mark.parametrize(("words", "number"), SHIPPERS)
def test_envoy_in_a_container_is_envoy(words: bytes, number: int) -> None:
    """Its lines have a time in brackets, a request and a status, as `common` has."""
    for given in ("auto", "envoy"):
        assert detected((words + ENVOY) * 3, format=given) == f"envoy after {number} words"


@pytest.mark.parametrize(("words", "number"), SHIPPERS)
def test_words_of_a_shipper_are_no_visitor_where_the_line_names_none(
    words: bytes, number: int
) -> None:
    line = words + b'[10/Mar/2024:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "Mozilla/5.0"\n'
    with pytest.raises(UnknownFormatError):
        detected(line * 3)


def test_only_an_address_makes_words_before_it_those_of_a_shipper() -> None:
    named = COMBINED.replace(b"83.149.9.216 - -", b"host.example.com - jo smith")
    assert detected(named) == "combined"
    # All of X-Forwarded-For: the visitor comes first, whatever looks like an address behind it.
    assert detected(COMBINED.replace(b" - -", b", 10.0.0.1 - -")) == "combined"


@pytest.mark.parametrize(
    "line",
    [COMBINED, b'{"time": 1714979289, "address": "203.0.113.7", "url": "https://e.org/a"}\n'],
)
def test_a_log_that_begins_well_and_is_mostly_broken_can_be_named(line: bytes) -> None:
    head = line + b"oops\n" * 3
    with pytest.raises(UnknownFormatError, match=r"most of those .* \(--format (\w+)\)") as error:
        detected(head)
    name = str(error.value).rpartition(" ")[2].rstrip(")")
    assert detected(head, format=name) == name == detected(line)


@pytest.mark.parametrize("head", [b"", b"\n\n", b"  \r\n"])
def test_an_empty_log_is_in_any_format(head: bytes) -> None:
    assert resolve(LogSource(path="x"), head).name in FORMATS
    assert likely_format(head) is None


def test_json_by_its_keys_not_by_its_syntax() -> None:
    with pytest.raises(UnknownFormatError, match="JSON lines need a time, an address and a target"):
        detected(b'{"message": "started", "level": "info", "ts": 1714979289}\n')
    # Without an address under a known name visitors could not be told apart.
    with pytest.raises(UnknownFormatError, match="JSON lines need"):
        detected(b'{"time": 1714979289, "url": "https://e.org/", "person": "a"}\n')
    options = {"columns": {"time": "time", "url": "url", "address": "person"}}
    head = b'{"time": 1714979289, "url": "https://e.org/", "person": "a"}\n'
    assert detected(head, **options) == "jsonl"


EVENT = (
    b'{"userId": "u:1", "referrerUrl": "https://e.org/", "pageUrl": "https://e.org/a", "ts": 1}\n'
)


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({}, "jsonl by address=userId, target=pageUrl, referrer=referrerUrl"),
        ({"format": "jsonl"}, "jsonl by address=userId, target=pageUrl, referrer=referrerUrl"),
        ({"columns": {"address": "userId"}}, "jsonl by target=pageUrl, referrer=referrerUrl"),
        ({"columns": {"time": "ts", "url": "pageUrl", "address": "userId"}}, "jsonl"),
    ],
)
def test_json_with_keys_that_tables_have(options: dict[str, object], label: str) -> None:
    event = EVENT.replace(b'"ts": 1', b'"ts": 1714979289')
    assert resolve(LogSource(path="x", **options), event * 3).label == label


def test_json_that_is_not_known_says_which_keys_it_has() -> None:
    with pytest.raises(UnknownFormatError) as error:
        detected(b'{"at": 1714979289, "who": {"ip": "203.0.113.7"}, "192.0.2.9": "/secret"}\n')
    assert "here the keys are at, who.ip, [address]. " in str(error.value)
    assert not any(word in str(error.value) for word in ("203", "192", "secret"))
    with pytest.raises(UnknownFormatError, match="the first line is no JSON"):
        detected(b'{"at": 1714979289, "who":\n')


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            b'{"log":"a line of it, no more\\n","stream":"stdout","time":"2024-03-10T08:00:00Z"}\n',
            "within `log`, and these fit no known format",
        ),
        (
            b'[\n{"time":1714979289,"ip":"192.0.2.1","url":"https://e.org/"},\n]\n',
            "jq -c '.\\[\\]'",
        ),
        (b'{"records": [{"time":"2024-03-10T08:00:00Z"}]}\n', "jq -c '.records\\[\\]'"),
        (b'{\n  "time":"2024-03-10T08:00:00Z"\n}\n', "jq -c '.' FILE"),
        (
            b'{"MESSAGE":"a line of it, no more","__REALTIME_TIMESTAMP":"1710057600000000"}\n',
            "within `MESSAGE`",
        ),
    ],
)
def test_json_around_lines_is_to_be_taken_off(head: bytes, message: str) -> None:
    with pytest.raises(UnknownFormatError, match=message):
        detected(head)


def test_parquet_by_its_first_bytes(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x")
    assert detected(peek(tmp_path / "x")) == "parquet"


@pytest.mark.parametrize(
    ("head", "options", "message"),
    [
        (COMBINED, {"format": "comined"}, "format 'comined' is not known; known are gandi"),
        (  # a bracket is no array
            ENVOY.replace(b"GET /a HTTP/2", b"-").replace(b" - 154", b" - 7 - 154"),
            {},
            r"lines look like `\[9-9-9a9",
        ),
        (
            b"Page path;Views;Users\n/a;17;3\n",
            {},
            r"^counts of views that do not say of which day",
        ),
        (  # names of Elasticsearch
            b'"@timestamp","client.ip","url.original"\n"2024","203.0.113.7","/a"\n',
            {},
            r"for target .*; it has @timestamp, client",
        ),
        (  # numbers of rows need no name
            b",host,time,url\n0,a.example,804571201,/a\n",
            {},
            "for address; it has host, time, url; say which",
        ),
        (b",,bob,\n,,al,\n", {}, "names no columns"),
    ],
)
def test_what_is_unknown_is_said(head: bytes, options: dict[str, str], message: str) -> None:
    with pytest.raises(UnknownFormatError, match=message):
        detected(head, **options)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            b"garbage\nmore garbage\n",
            r"lines look like `a` .letters are a, digits 9.\. Name the format",
        ),
        (b"2026-01-01\tbob\t/a\n", "names no columns needs their numbers .--column time=1 "),
        (bytes(500), "binary, or UTF-16 without a mark"),
        ("GET / HTTP/1.1\n".encode("utf-16-le") * 9, "binary, or UTF-16 without a mark"),
        (b"PK\x03\x04" + bytes(60), "zip archives are not read: unpack the file"),
    ],
)
def test_what_is_no_log_says_why_and_what_to_do(head: bytes, message: str) -> None:
    with pytest.raises(UnknownFormatError, match=message) as error:
        detected(head)
    assert "regex:" in str(error.value)
    assert "docs/log-formats.md" in str(error.value)
    assert likely_format(head) is None


def test_a_table_says_which_columns_it_has_and_what_they_lack() -> None:
    with pytest.raises(UnknownFormatError) as error:
        detected(b"time,who,page\n1,2,3\n")
    assert str(error.value) == (
        "columns: nothing is named for address; it has time, who, page; say which is meant:"
        " --column FIELD=NAME (docs/log-formats.md)"
    )


def test_the_first_record_of_a_table_is_never_shown() -> None:
    with pytest.raises(UnknownFormatError) as error:
        detected(b"secret.example/a\tbob\thttps://secret.example/b\n" * 3)
    assert "secret" not in str(error.value)
    assert "bob" not in str(error.value)


def test_a_table_by_the_names_of_others_says_which_were_taken() -> None:
    head = b"status,Page URL,cookie_id,user_id,timestamp\n200,/a,u,,2024-05-06T07:08:09Z\n"
    assert detected(head) == "csv by time=timestamp, address=cookie_id, target=Page URL"
    assert likely_format(head) == resolve(LogSource(path="x"), head).name == "csv"
    assert detected(head, columns={"address": "user_id"}) == (
        "csv by time=timestamp, target=Page URL, address=user_id"
    )
    columns = {"time": "timestamp", "address": "user_id", "url": "Page URL"}
    assert detected(head, columns=columns) == "csv"


@pytest.mark.parametrize("separator", [b";", b"|", b","])
@pytest.mark.parametrize("name", ["auto", "csv"])
def test_csv_is_divided_by_what_comes_first_in_it(separator: bytes, name: str) -> None:
    head = separator.join((b"time", b"address", b"url")) + b"\n"
    record = separator.join((b"2024-05-06", b"u", b"/a"))
    assert resolve(LogSource(path="x", format=name), head + record).separator == separator
    numbers = LogSource(path="x", format=name, columns={"time": "1", "address": "2", "url": "3"})
    assert resolve(numbers, record + b"?b=c,d;e|f\n").separator == separator


def test_a_table_by_numbers() -> None:
    columns = {"time": "1", "address": "2", "url": "3"}
    head = b"2024-05-06\tu\t/a,b,c\n"
    assert detected(head, columns=columns) == "tsv"
    assert detected(head.replace(b"\t", b","), columns=columns) == "csv"
    with pytest.raises(UnknownFormatError, match="the log has no 4; it has 3"):
        detected(head, columns={**columns, "referrer": "4"})


def test_a_tar_archive_is_named(tmp_path: Path) -> None:
    member = tmp_path / "access.log"
    member.write_bytes(COMBINED)
    path = tmp_path / "logs.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(member, member.name)
    with pytest.raises(UnknownFormatError, match="tar archives are not read"):
        detected(peek(path))


def test_messages_show_shapes_and_no_content() -> None:
    with pytest.raises(UnknownFormatError) as error:
        detected(b"user jo@example.com from 203.0.113.7 bought 3 things\n")
    assert "`a a@a.a a 9.9.9.9 a 9 a`" in str(error.value)
    assert not any(word in str(error.value) for word in ("jo@", "203", "bought"))


def test_shapes() -> None:
    assert shape(b'1.2.3.4 - jo [10/Feb/2012] "GET /\xc3\xbc"') == '9.9.9.9 - a [9/a/9] "a /a"'
    assert shape(b"\x00\x01\xff") == "??\N{REPLACEMENT CHARACTER}"
    assert len(shape(b"a " * 500)) == 161


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (COMBINED, "combined"),
        (b"#Fields: date time c-ip cs-uri-stem\n", "w3c"),
        # Known even where it lacks what is needed: that is what the message is about.
        (b"#Fields: date time\n2024-05-06 07:08:09\n", "w3c"),
        (b"garbage\n", None),
    ],
)
def test_the_likely_format_for_messages(head: bytes, name: str | None) -> None:
    assert likely_format(head) == name


@pytest.mark.parametrize(
    "head",
    [
        b"Feb 25 16:19:38 192.168.4.2 sshd[1]: Accepted publickey for jo from 10.0.0.1 port 22\n",
        b"2020-10-14 01:29:23 [scrapy.utils.log] INFO: Scrapy 2.1.0 started (bot: scrapybot)\n",
        b"[Fri Feb 01 22:03:08.318615 2019] [core:debug] [pid 9] [client 172.17.0.1:50752] AH: x\n",
        b"1 2 3 4 5 6 7 8 9 10 11 12 13\n",
    ],
)
def test_other_logs_are_not_taken_for_access_logs(head: bytes) -> None:
    with pytest.raises(UnknownFormatError):
        detected(head * 5)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            b'- - - [01/Mar/2026:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0"\n',
            "combined",
        ),
        (b'- - - [01/Mar/2026:00:00:09 +0000] "GET / HTTP/1.1" 200 5\n', "common"),
    ],
)
def test_logs_may_name_no_address_at_all(line: bytes, name: str) -> None:
    assert resolve(LogSource(path="x"), line * 3).name == name
    with_address = line.replace(b"- - -", b"192.0.2.1 - -")
    assert resolve(LogSource(path="x"), line * 3 + with_address).name == name


def test_lines_of_a_clock_that_was_not_set_are_explained() -> None:
    line = b'192.0.2.1 - - [01/Jan/1970:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0"\n'
    with pytest.raises(
        UnknownFormatError, match="look like `combined`, but their times lie before"
    ):
        resolve(LogSource(path="x"), line * 3)


def test_lines_that_end_in_carriage_returns_alone_are_refused_and_not_read_as_one() -> None:
    line = b'192.0.2.1 - - [01/Mar/2026:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0"\r'
    for name in ("auto", "combined"):
        with pytest.raises(UnknownFormatError, match="end in carriage returns alone"):
            resolve(LogSource(path="x", format=name), line * 3)
    assert resolve(LogSource(path="x"), line).name == "combined"


@pytest.mark.parametrize("line", [b"a\rb,c\n", b'"a,' + b"b" * 200_000 + b"\n"])
def test_a_line_that_is_no_csv_is_no_fault_of_ours(line: bytes) -> None:
    """Found by fuzzing: one such file kept all others from being read."""
    with pytest.raises(UnknownFormatError):
        resolve(LogSource(path="x"), line)


TEXT = COMBINED.decode().rstrip()
ENTRY = {"timeUnixNano": "1714979289000000000", "body": {"stringValue": TEXT}}
ATTRIBUTES = {
    "client.address": "203.0.113.7",
    "http.request.method": "GET",
    "url.path": "/a",
    "url.query": "b=c",
    "server.address": "www.example.com",
    "http.request.header.referer": "https://www.example.com/",
    "user_agent.original": "Mozilla/5.0",
}
BY_ATTRIBUTES = {
    "timeUnixNano": "1714979289000000000",
    "attributes": [
        {"key": "http.response.status_code", "value": {"intValue": "200"}},
        *({"key": key, "value": {"stringValue": value}} for key, value in ATTRIBUTES.items()),
    ],
}
CADDY = {
    "ts": 1703373474.8, "status": 200,
    "request": {"remote_ip": "10.0.0.1", "method": "GET", "host": "www.example.com", "uri": "/a"},
}  # fmt: skip


def otel(*records: object) -> object:
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": list(records)}]}]}


@pytest.mark.parametrize(
    ("record", "name", "targets"),
    [
        ({"log": TEXT + "\n", "stream": "stdout", "time": "2024-03-10T08:00:00Z"},
         "combined within log", ["/a"]),
        ({"message": TEXT, "host": "web1", "source_type": "file",
          "timestamp": "2024-03-10T08:00:00.123456789Z"},
         "combined within message", ["/a"]),
        ({"schema": {"type": "string"}, "payload": TEXT}, "combined within payload", ["/a"]),
        ({"schema": {}, "payload": CADDY}, "caddy_json within payload", ["/a"]),
        ({"value": TEXT, "offset": 7, "key": None}, "combined within value", ["/a"]),
        ({"date": 1714979289.0, "remote": "203.0.113.7", "host": "-", "user": "-", "method": "GET",
          "path": "/a", "code": "200", "size": "5", "referer": "-", "agent": "x"},
         "fluent_json", ["/a"]),
        ({"log": json.dumps(CADDY), "stream": "stderr"}, "caddy_json within log", ["/a"]),
        ({"MESSAGE": TEXT, "__REALTIME_TIMESTAMP": "1"}, "combined within MESSAGE", ["/a"]),
        (otel(ENTRY, ENTRY), "combined within resourceLogs", ["/a", "/a"]),
        (otel(BY_ATTRIBUTES), "jsonl within resourceLogs", ["/a?b=c"]),
        (otel(BY_ATTRIBUTES | {"body": {"stringValue": "GET /a"}}), "jsonl within resourceLogs",
         ["/a?b=c"]),
        (otel({"body": {"kvlistValue": {"values": [
            {"key": "log", "value": {"stringValue": TEXT}}]}}}),
         "combined within resourceLogs", ["/a"]),
        (TEXT, "combined within a string of JSON", ["/a"]),
        ({"timestamp": "2024-03-10T08:00:00", "client_ip": "203.0.113.7", "request": "GET",
          "host": "www.example.com", "url": "/a", "request_referer": ""}, "nginx_json", ["/a"]),
        ({"date": 1714979289.0, "host": "203.0.113.7", "user": "-", "method": "GET", "path": "/a",
          "code": "200", "size": "5", "referer": "-", "agent": "x"}, "fluent_json", ["/a"]),
    ],
)  # fmt: skip
def test_lines_within_those_of_a_shipper_are_taken_out(
    record: object, name: str, targets: list[str]
) -> None:
    head = json.dumps(record).encode() + b"\n"
    source = LogSource(path="x")
    fmt = resolve(source, head)
    assert fmt.name == name
    block = Block(np.frombuffer(head * 2 + b"no record\n", np.uint8), 1, last=True)
    records = parse(block, fmt, source, Reading())
    good = [i for i in range(len(records)) if not records.reason[i]]
    assert [records.target.value(i) for i in good] == [target.encode() for target in targets * 2]
    assert len(records) == len(good) + 1, "no line disappears"
    addresses = (b"203.0.113.7", b"83.149.9.216", b"10.0.0.1")
    assert all(records.address.value(i) in addresses for i in good)


FLUENT = {"remote": "203.0.113.7", "host": "-", "method": "GET", "path": "/a", "code": "200",
          "referer": "-", "agent": "x"}  # fmt: skip


@pytest.mark.parametrize("record", [{"log": TEXT}, FLUENT], ids=["line", "keys"])
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("nginx: [1714979289.000000000, ", "]"),
        ("[[1714979289.000000, {}], ", "]"),
        ("2024-05-06T07:08:09+00:00\tnginx.access\t", ""),
    ],
    ids=["fluent bit", "fluent bit 2", "fluentd"],
)
def test_files_of_fluent_bit_have_the_time_outside(
    before: str, behind: str, record: dict[str, str]
) -> None:
    head = f"{before}{json.dumps(record)}{behind}\n".encode()
    source = LogSource(path="x")
    fmt = resolve(source, head)
    wanted = "combined within log" if "log" in record else "fluent_json within a record with its"
    assert fmt.name.startswith(wanted)
    records = parse(Block(np.frombuffer(head, np.uint8), 1, last=True), fmt, source, Reading())
    assert (records.reason[0], records.target.value(0)) == (0, b"/a")
    if "log" not in record:
        assert records.time[0] == 1_714_979_289_000_000


@pytest.mark.parametrize(
    ("host", "site"), [("web-1", None), ("www.example.com", b"www.example.com")]
)
def test_the_machine_that_vector_names_is_no_site(host: str, site: bytes | None) -> None:
    record = {"client": "203.0.113.7", "host": host, "method": "GET", "path": "/a", "status": 200,
              "source_type": "file", "timestamp": "2024-03-10T08:00:00Z"}  # fmt: skip
    head = json.dumps(record).encode() + b"\n"
    source = LogSource(path="x")
    fmt = resolve(source, head)
    records = parse(Block(np.frombuffer(head, np.uint8), 1, last=True), fmt, source, Reading())
    assert fmt.name == "nginx_json"
    assert (None if records.host is None else records.host.value(0)) == site


def test_a_named_format_may_be_within_those_of_a_shipper() -> None:
    head = json.dumps({"log": TEXT, "stream": "stdout"}).encode() + b"\n"
    assert detected(head, format="combined") == "combined within log"


@settings(max_examples=100, deadline=None)
@given_values(st.recursive(
    st.none() | st.text(max_size=5) | st.integers(-5, 5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["log", "payload", "resourceLogs", "scopeLogs", "logRecords",
                                       "body", "attributes", "key", "value"]), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_no_nesting_breaks_unwrapping(record: object) -> None:
    line = json.dumps({"resourceLogs": record, "log": record}).encode() + b"\n"
    for path in WRAPPERS:
        block = unwrapped(Block(np.frombuffer(line, np.uint8), 1, last=True), path)
        assert block.data.tobytes().count(b"\n") >= 1
