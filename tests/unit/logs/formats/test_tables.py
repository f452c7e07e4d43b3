"""CSV and TSV with a line that names their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.formats.tables import names_of
from temporal_assets.logs.read.records import Block
from temporal_assets.settings import LogSource, Reading

ReadLog = Callable[..., list]

COLUMNS = {"time": "when", "address": "ip", "url": "page", "referrer": "from", "status": "code"}
HEAD = b"when,ip,page,from,code,extra\n"
RECORD = b"2024-05-06T07:08:09Z,1.2.3.4,https://example.com/a,https://example.com/,200,x\n"


def test_columns_are_mapped_by_name(read_log: ReadLog) -> None:
    (row,) = read_log(HEAD + RECORD, columns=COLUMNS)
    assert (row.line, row.reason, row.time) == (2, "none", "2024-05-06 07:08:09")
    assert (row.target, row.referrer) == ("https://example.com/a", "https://example.com/")
    assert (row.status, row.address, row.method) == (200, "1.2.3.4", None)


def test_columns_named_like_our_fields_need_no_map(read_log: ReadLog) -> None:
    (row,) = read_log(b"time,address,url\n1714979289,1.2.3.4,https://example.com/a\n")
    assert (row.time, row.target) == ("2024-05-06 07:08:09", "https://example.com/a")


@pytest.mark.parametrize(
    ("names", "values"),
    [
        # Google Analytics 4, microseconds beside a date.
        (
            b"event_date,event_timestamp,user_pseudo_id,page_location,page_referrer",
            b"20240506,1714979289000000,u,https://example.com/a,https://example.com/",
        ),
        # Cloudflare's Logpush as CSV.
        (
            b"EdgeStartTimestamp,ClientIP,ClientRequestHost,ClientRequestURI,ClientRequestReferer",
            b"2024-05-06T07:08:09Z,u,example.com,https://example.com/a,https://example.com/",
        ),
        # W3C as people import it into a spreadsheet.
        (
            b"date,time,c-ip,cs-uri-stem,cs(Referer),sc-status",
            b"2024-05-06,07:08:09,u,https://example.com/a,https://example.com/,200",
        ),
        # All that a browser has sent, and where from.
        (
            b"Cookie,IP,Time,URL,Referer",
            b"a=1; b=2,u,2024-05-06 07:08:09,https://example.com/a,https://example.com/",
        ),
        # Whose visitor is told twice, and a machine that is no host of the site.
        (
            b"Hostname,User ID,Visitor ID,Timestamp,URL,Referer,Request Time",
            b"web-3,,u,2024-05-06 07:08:09,https://example.com/a,https://example.com/,0.2",
        ),
    ],
)
def test_columns_named_as_others_do(read_log: ReadLog, names: bytes, values: bytes) -> None:
    (row,) = read_log(names + b"\n" + values + b"\n")
    assert (row.reason, row.time, row.address) == ("none", "2024-05-06 07:08:09", "u")
    assert (row.target, row.referrer) == ("https://example.com/a", "https://example.com/")


@pytest.mark.parametrize(
    "names",
    [
        b"date,time,request_ip,host,uri,status,host_header",
        b"date,time,c_ip,cs_host,cs_uri_stem,sc_status,x_host_header",
    ],
)
def test_the_site_of_a_table_of_cloudfront_is_what_visitors_asked_for(
    read_log: ReadLog, names: bytes
) -> None:
    record = b"2024-05-06,07:08:09,1.2.3.4,d1.cloudfront.net,/a,200,www.example.com\n"
    (row,) = read_log(names + b"\n" + record)
    assert (row.time, row.address, row.target) == ("2024-05-06 07:08:09", "1.2.3.4", "/a")
    assert (row.host, row.status) == ("www.example.com", 200)


def test_our_own_names_go_before_those_of_others(read_log: ReadLog) -> None:
    names = b"URL,url,timestamp,time,visitor,address\n"
    (row,) = read_log(names + b"/no,/yes,no,2024-05-06T07:08:09Z,no,yes\n")
    assert (row.target, row.address, row.reason) == ("/yes", "yes", "none")


def test_a_column_that_the_map_uses_is_taken_for_nothing_else(read_log: ReadLog) -> None:
    log = b"time,client,ip,url\n2024-05-06T07:08:09Z,Mozilla/5.0,1.2.3.4,/a\n"
    (row,) = read_log(log, columns={"agent": "client"})
    assert (row.reason, row.address, row.agent) == ("none", "1.2.3.4", "Mozilla/5.0")


def test_a_record_of_numbers_is_no_line_of_names(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match="does not look like column names"):
        read_log(b"1714979289,17,5\n", format="csv")


def test_a_whole_map_is_all_that_is_read(read_log: ReadLog) -> None:
    whole = {"time": "when", "address": "ip", "url": "page"}
    log = HEAD.replace(b"from", b"referrer").replace(b"code", b"status") + RECORD
    (row,) = read_log(log, columns=whole)
    assert (row.referrer, row.status) == (None, 0)
    (row,) = read_log(log.replace(b"when", b"time"), columns={"address": "ip", "url": "page"})
    assert (row.referrer, row.status) == ("https://example.com/", 200)


def test_columns_by_number_where_no_line_names_them(read_log: ReadLog) -> None:
    columns = {"time": "1", "address": "2", "url": "3", "referrer": "4"}
    rows = read_log(RECORD, RECORD, columns=columns)
    assert [(row.line, row.reason) for row in rows] == [(1, "none"), (2, "none")]
    assert {row.referrer for row in rows} == {"https://example.com/"}
    with pytest.raises(ColumnsError, match="the log has no 9; it has 6"):
        read_log(RECORD, format="csv", columns={**columns, "url": "9"})


def test_tabs(read_log: ReadLog) -> None:
    text = (HEAD + RECORD).replace(b",", b"\t")
    (row,) = read_log(text, columns=COLUMNS)
    assert (row.reason, row.target) == ("none", "https://example.com/a")


def test_names_hold_across_blocks(read_log: ReadLog) -> None:
    rows = read_log(HEAD + RECORD, RECORD, RECORD, columns=COLUMNS, format="csv")
    assert [(row.line, row.reason) for row in rows] == [(2, "none"), (3, "none"), (4, "none")]


def test_quotes_protect_separators_and_double(read_log: ReadLog) -> None:
    record = RECORD.replace(b"https://example.com/a", b'"https://example.com/a,b?""q"""')
    (row,) = read_log(HEAD + record, columns=COLUMNS)
    assert row.target == 'https://example.com/a,b?"q"'
    (row,) = read_log(HEAD + record.replace(b"https://example.com/,", b","), columns=COLUMNS)
    assert row.referrer is None


@pytest.mark.parametrize(("mark", "form"), [(b",", "csv"), (b"\t", "tsv")])
def test_only_quotes_inside_quotes_are_doubled(read_log: ReadLog, mark: bytes, form: str) -> None:
    names = mark.join((b"time", b"address", b"url", b"query", b"referrer", b"agent"))
    bare = mark.join((b"1714979289", b"u", b'/a""', b'q=""', b'/?q=""', b'a""b'))
    quoted = mark.join((b"1714979289", b"u", b'"/a"""', b'"q="""""', b'"/?q="""', b'"a""b"'))
    rows = read_log(b"\n".join((names, bare, quoted, b"")), format=form)
    assert [(row.target, row.referrer, row.agent) for row in rows] == [
        ('/a""?q=""', '/?q=""', 'a""b'),
        ('/a"?q=""', '/?q="', 'a"b'),
    ]


def test_a_target_is_quoted_where_its_request_is(read_log: ReadLog) -> None:
    log = (
        b"time,address,request,url\n"
        b'1714979289,u,GET /a?q="" HTTP/1.1,\n'
        b'1714979289,u,"GET /a?q=""b"" HTTP/1.1",\n'
    )
    assert [row.target for row in read_log(log, format="csv")] == ['/a?q=""', '/a?q="b"']


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"2024-05-06T07:08:09Z,1.2.3.4,/a,,200\n", "not_the_format"),
        (b"2024-05-06T07:08:09Z,1.2.3.4,/a,,200,x,y\n", "not_the_format"),
        (b'2024-05-06T07:08:09Z,1.2.3.4,"/a,,200,x\n', "not_the_format"),
        (b'2024-05-06T07:08:09Z,1.2.3.4,"/a"b,,200,x\n', "not_the_format"),
        (b"soon,1.2.3.4,/a,,200,x\n", "bad_time"),
        (b"2024-05-06T07:08:09Z,1.2.3.4,,,200,x\n", "bad_request"),
        (b"2024-05-06T07:08:09Z,1.2.3.4,/a,,,x\n", "bad_status"),
    ],
)
def test_why_a_line_is_rejected(read_log: ReadLog, record: bytes, reason: str) -> None:
    rows = read_log(HEAD + RECORD + record + RECORD, columns=COLUMNS, format="csv")
    assert [row.reason for row in rows] == ["none", reason, "none"]


def test_gaps_that_pandas_fills_with_floats(read_log: ReadLog) -> None:
    (row,) = read_log(HEAD + RECORD.replace(b",200,", b",200.0,"), columns=COLUMNS)
    assert row.status == 200


def test_a_missing_column_is_named_with_those_there_are(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match="the log has no page2; it has when, ip, page"):
        read_log(HEAD + RECORD, format="csv", columns={**COLUMNS, "url": "page2"})


def test_a_first_record_is_never_shown_as_names(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match="does not look like column names") as error:
        read_log(RECORD, format="csv", columns=COLUMNS)
    assert "1.2.3.4" not in str(error.value)


def test_names_of_a_header() -> None:
    assert names_of(b'\n"a, b", c \r\n1,2\n', b",") == ("a, b", "c")
    assert names_of(b"", b",") == ()


FIELD = st.text(st.characters(blacklist_categories=("Cs", "Cc"), max_codepoint=0x2FF), max_size=12)


@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=8))
def test_agrees_with_the_csv_module(pairs: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", "address", "url", "agent"])
    writer.writerows(["2024-05-06T07:08:09Z", "a", "/" + url, agent] for url, agent in pairs)
    block = Block(np.frombuffer(text.getvalue().encode(), np.uint8), 1, last=True)
    records = parse(block, FORMATS["csv"], LogSource(path="x"), Reading())
    assert records.agent is not None
    assert records.reason.tolist() == [0] * len(pairs)
    assert [
        (records.target.value(i), records.agent.value(i) or b"-") for i in range(len(pairs))
    ] == [(b"/" + url.encode(), agent.encode() or b"-") for url, agent in pairs]
