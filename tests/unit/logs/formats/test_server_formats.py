"""Log formats as servers are told them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.server_formats import ServerFormatError, layout_of
from temporal_assets.settings import LogSource

ReadLog = Callable[..., list]

MAIN = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent'
    ' "$http_referer" "$http_user_agent" "$http_x_forwarded_for"'
)
APACHE = ("%h", "%t", "%r", "%s", "%{a b}t", "${x}")
PIECES = MAIN.replace(' "', " '\n  '\"")
DOUBLE = '"' + MAIN.replace('"', '\\"').replace("$status", '"\n  "$status') + '";'
COMBINED = r"%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""

VALUES = {
    "$remote_addr": "203.0.113.7", "$remote_user": "jo smith",
    "$time_local": "06/May/2024:07:08:09 +0000", "$msec": "1714979289.000",
    "$request": "GET /a?x=1 HTTP/1.1", "$status": "200", "$body_bytes_sent": "512",
    "$http_referer": "https://www.example.com/", "$http_user_agent": "Mozilla/5.0 (X11)",
    "$host": "www.example.com", "$scheme": "https", "$request_time": "0.012",
    "$upstream_response_time": "0.003, 0.004", "$http_x_forwarded_for": "198.51.100.2, 10.0.0.1",
}  # fmt: skip


def written(directive: str) -> bytes:
    """A line as nginx writes it."""
    return re.sub(r"\$\w+", lambda found: VALUES[found[0]], directive).encode() + b"\n"


@pytest.mark.parametrize(
    ("server", "directive", "name"),
    [
        ("nginx", MAIN.removesuffix(' "$http_x_forwarded_for"'), "combined"),
        ("apache", COMBINED, "combined"),
        ("apache", "%v:%p " + COMBINED, "combined_vhost"),
        ("apache", r"%h %l %u %t \"%r\" %>s %b", "common"),
    ],
)
def test_well_known_formats_are_divided_as_under_their_names(
    server: str, directive: str, name: str
) -> None:
    form, known = layout_of(server, directive), FORMATS[name].layout
    assert known is not None
    assert form.kinds == known.kinds[: len(form.kinds)]
    assert form.slots == known.slots[: len(form.slots)]


@pytest.mark.parametrize(
    ("server", "whole", "directive"),
    [
        ("nginx", f"log_format main '{MAIN}';", MAIN),
        ("nginx", "log_format main escape=default\n  '" + PIECES + "';", MAIN),
        ("nginx", f"log_format my-main '{MAIN}';", MAIN),
        ("nginx", "log_format main " + DOUBLE, MAIN),
        ("nginx", MAIN.replace("$status", "${status}"), MAIN),
        ("apache", f'LogFormat "{COMBINED}" combined', COMBINED),
        ("apache", f'LogFormat "{COMBINED}" with-a-dash', COMBINED),
        ("apache", COMBINED.replace("%>s", "%!304s").replace("Referer", "referer"), COMBINED),
    ],
)
def test_whole_lines_of_a_configuration(server: str, whole: str, directive: str) -> None:
    assert layout_of(server, whole) == layout_of(server, directive)


def test_fields_between_others_do_not_hide_referrers(read_log: ReadLog) -> None:
    """`combined` needs the referrer right behind the bytes; `common` knows none."""
    directive = MAIN.replace('"$http_referer"', '$request_time "$host" rt=$msec "$http_referer"')
    (row,) = read_log(written(directive), format=f"nginx:{directive}")
    assert (row.reason, row.referrer, row.host) == (
        "none",
        "https://www.example.com/",
        "www.example.com",
    )
    assert (row.target, row.address, row.status) == ("/a?x=1", "203.0.113.7", 200)


@given(
    st.permutations(['"$request"', "[$time_local]", "$remote_addr", "$status", "$host", "x=$msec"])
)
def test_fields_may_stand_in_any_order(read_log: ReadLog, fields: list[str]) -> None:
    directive = " ".join(fields)
    for given_one in (directive, directive.replace(" ", "\t")):
        (row,) = read_log(written(given_one), format=f"nginx:{given_one}")
        assert (row.target, row.address, row.host) == ("/a?x=1", "203.0.113.7", "www.example.com")
        assert row.time == "2024-05-06 07:08:09"


def test_blanks_that_only_align_fields(read_log: ReadLog) -> None:
    """The layout is that of the file that nginx once came with."""
    directive = (
        MAIN.replace("$status", "").replace("] ", "]  $status ").replace("  $body", " $body")
    )
    (row,) = read_log(written(directive), format=f"nginx:{directive}")
    assert (row.reason, row.target, row.status) == ("none", "/a?x=1", 200)
    assert row.referrer == "https://www.example.com/"


def test_what_stands_behind_the_last_used_field_is_free(read_log: ReadLog) -> None:
    directive = MAIN + " $upstream_response_time"
    (row,) = read_log(written(directive), format=f"nginx:{directive}")
    assert row.agent == "Mozilla/5.0 (X11)"


@pytest.mark.parametrize("directive", [MAIN, MAIN.replace('"$request"', '"$host" "$request"')])
def test_what_a_proxy_says_is_the_visitor_where_nothing_else_does(
    read_log: ReadLog, directive: str
) -> None:
    hidden = directive.replace("$remote_addr", "$http_x_forwarded_for")
    (row,) = read_log(written(hidden), format=f"nginx:{hidden}")
    assert (row.address, row.target) == ("198.51.100.2", "/a?x=1")
    (row,) = read_log(written(directive), format=f"nginx:{directive}")
    assert row.address == "203.0.113.7"
    (row,) = read_log(written(directive), format=f"nginx:{directive}", address="forwarded")
    assert row.address == "198.51.100.2"


def test_what_a_load_balancer_says_of_the_visitor(read_log: ReadLog) -> None:
    directive = '$proxy_protocol_addr $remote_addr [$time_local] "$request" $status'
    line = b'198.51.100.2 10.0.0.1 [06/May/2024:07:08:09 +0000] "GET /a HTTP/1.1" 200\n'
    for address, expected in (("remote", "10.0.0.1"), ("forwarded", "198.51.100.2")):
        (row,) = read_log(line, format=f"nginx:{directive}", address=address)
        assert row.address == expected


def test_times_of_apache(read_log: ReadLog) -> None:
    line = b'203.0.113.7 1714979289 "GET /a HTTP/1.1" [2024-05-06 09:08:09.000 +0200] 200\n'
    for directive in (
        r"%a %{sec}t \"%r\" [%D] %s",
        r"%a %D \"%r\" [%{%Y-%m-%d %H:%M:%S %z}t] %s",
        r"%a %D \"%r\" [%{%Y-%m-%d %H:%M:%S}t.%{msec_frac}t %{%z}t] %s",
    ):
        (row,) = read_log(line, format=f"apache:{directive}")
        assert (row.time, row.target) == ("2024-05-06 07:08:09", "/a")


@pytest.mark.parametrize(
    ("server", "directive", "message"),
    [
        ("nginx", '{"time":"$msec","ip":"$remote_addr"}', "use `jsonl`"),
        ("nginx", '$remote_addr "$request"', "nothing is named for time"),
        ("nginx", '$remote_addr $time_local "$request"', "`.time_local` has a blank"),
        ("nginx", '$remote_addr [$time_local] "$request', "do not delimit"),
        ("nginx", '$remote_addr rt="$request_time" [$time_local] "$request"', "parts `rt=` and"),
        ("nginx", "combined", "`combined` is the name of a format"),
        ("apache", "", "nothing is named for time, address, target"),
        ("apache", '%h %{%Y-%m-%d %T}t "%r" %s', "has a blank and nothing around it"),
    ],
)
def test_what_cannot_be_read_says_why(server: str, directive: str, message: str) -> None:
    with pytest.raises(ServerFormatError, match=message):
        layout_of(server, directive)


@given(
    st.sampled_from(["nginx", "apache"]),
    st.lists(st.sampled_from([*VALUES, *APACHE, *'"[]{}\\%$- \t'])),
)
def test_any_text_is_a_layout_or_refused(server: str, pieces: list[str]) -> None:
    try:
        form = layout_of(server, "".join(pieces))
    except ServerFormatError:
        return
    assert form.has(Slot.TIME)
    assert form.has(Slot.ADDRESS)
    assert len(form.kinds) == len(form.slots) >= form.required


def test_words_of_a_log_shipper_come_before_them_too() -> None:
    line = b"2024-05-06T07:08:09Z stdout F " + written(MAIN)
    resolved = resolve(LogSource(path="x", format=f"nginx:{MAIN}"), line * 3)
    assert resolved.name == "nginx's own after 3 words"
    assert resolved.has_referrer
    assert resolved.layout is not None
    assert resolved.layout.has(Slot.FORWARDED)
