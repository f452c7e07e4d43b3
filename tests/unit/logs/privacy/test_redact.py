"""Samples of lines hold nothing private, whatever the lines hold."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.logs.privacy.redact import SAMPLE_CHARACTERS, redact


@pytest.mark.parametrize(
    ("line", "sample"),
    [
        # Addresses.
        (b"x 192.0.2.1 y", "x [address] y"),
        (b"x x192.0.2.1y", "x x[address]y"),
        (b"7192.0.2.199 y", "[address] y"),
        (b"x 192.0.2.1:8080", "x [address]:8080"),
        (b"x 192.0.2.1.", "x [address]."),
        (b"x ip-192-0-2-1.example", "x ip-[address].example"),
        (b"x 192%2E0%2e2%2E1", "x [address]"),
        (b"x 192\\x2e0\\x2E2.1", "x [address]"),
        (b"x %3192.0.2.1", "x [address]"),
        (b"x %10.0.0.1", "x %[address]"),
        (b"x %10%2E0%2e0\\x2e1", "x %[address]"),
        (b"x \\%3A%3A1", "x \\[address]"),
        (b'x "[2001:db8::1]:443" y', 'x "[[address]]:443" y'),
        (b"x 2001:0db8:0:0:0:0:0:1 y", "x [address] y"),
        (b"x zz::ffff:192.0.2.1zz", "x zz[address]zz"),
        (b"x 2001%3Adb8%3a%3A1", "x [address]"),
        (b"x 2001%253Adb8%253A%253A1", "x [address]"),
        (b"x 2001\\x3adb8\\u003a\\\\x3a1", "x [address]"),
        (b"x fe80::1%eth0", "x [address]%eth0"),
        (b"cut off 192.0.2.", "cut off [address]"),
        (b"cut off 2001:db8:1:2:", "cut off [address]"),
        # No addresses: times, versions, names of C++.
        (b"- - [10/Oct/2000:13:55:36", "- - [10/Oct/2000:13:55:36"),
        (b'at "2024-01-02T03:04:05Z"', 'at "2024-01-02T03:04:05Z"'),
        (b"Chrome/99.0.4844.51 std::string", "Chrome/99.0.4844.51 st[address]string"),
        (b"LWP::Simple", "LWP::Simple"),
        # Who the client is.
        (
            b'host.isp.example - alice [10/Oct/2000:13:55:36 -0700] "\x16\x03" 400 0',
            '[client] - [client] [10/Oct/2000:13:55:36 -0700] "\\x16\\x03" 400 0',
        ),
        (
            b"h.example - bob [10/Oct/2000:13:55:36 -0700] 1\rh.example - eve [10/Oct/2000",
            "[client] - [client] [10/Oct/2000:13:55:36 -0700] 1\\x0d"
            "[client] - [client] [10/Oct/2000",
        ),
        (b"2024/01/02 03:04:05 [error] 7#7: x", "2024/01/02 03:04:05 [error] 7#7: x"),
        (b"host.isp.example nonsense", "[client] nonsense"),
        (b"GET /news HTTP/1.1", "GET /news HTTP/1.1"),
        # People and their secrets.
        (b"x bob.smith+a@mail.example y", "x [email] y"),
        (b"x bob%40mail.example y", "x [email] y"),
        (b"GET https://bob:p@ss@h.example/", "GET https://[credentials]h.example/"),
        (b"GET /a?token=abc&page=2", "GET /a?token=[secret]&page=2"),
        (b"GET /a?Access_Token=a%26b&page=2", "GET /a?Access_Token=[secret]&page=2"),
        (b"GET /a?next=%2Fb%3Fsid%3Dabc", "GET /a?next=%2Fb%3Fsid%3D[secret]"),
        (b"GET /a?q=keyword&author=x", "GET /a?q=keyword&author=[secret]"),
        (b"Authorization: Bearer abc.def ok", "Authorization: [secret] ok"),
        (b'{"user":"bob b","bytes":5}', '{"user":"[secret]","bytes":5}'),
        (b'{"Cookie":["a=b c"],"n":1}', '{"Cookie":["[cookie]"],"n":1}'),
        (b'{"m":"{\\"password\\":\\"a b\\"}"}', '{"m":"{\\"password\\":\\"[secret]\\"}"}'),
        (b'200 "a=1; b=2" end', '200 "[cookie]" end'),
        (b'200 "_ga=GA1" end', '200 "[cookie]" end'),
        (b"200 ASPX=1;+b=2 end", "200 [cookie] end"),
        # What cannot be printed.
        (b'"a\x00b\x1b[0m\xff\xc3\xa9', '"a\\x00b\\x1b[0m\\xff\xe9'),
        ("a\u202eb".encode(), "a\\u202eb"),
        (b"", ""),
    ],
)
def test_samples(line: bytes, sample: str) -> None:
    assert redact(line) == sample


def test_known_values_are_replaced_wherever_they_are() -> None:
    line = b'Host-7.ISP.example x "GET /?c=host-7.isp.example" host%2D7.isp.example'
    assert redact(line, [b"host-7.isp.example"]) == '[client] x "GET /?c=[client]" [client]'
    assert redact(b"a u1, u22 b u22", [b"u1, u22"]) == "a [client] b [client]"
    assert redact(b"id 7 of 77 at -", [b"7", b"-", b""]) == "id [client] of 77 at -"


def test_samples_are_short() -> None:
    assert redact(b"z" * 500) == "z" * 500
    assert redact(b"z" * 501) == "z" * 499 + "…"
    assert redact(b"z" * 50_000_000) == "z" * 499 + "…"
    assert redact("é".encode() * 501) == "é" * 499 + "…"


def test_a_long_secret_does_not_pull_the_cut_into_the_sample() -> None:
    """8,192 bytes are looked at; the address that their end goes through is not shown."""
    for width in range(1, 12):
        line = b"x?token=" + b"s" * (8192 - 8 - 1 - width) + b" 192.0.2.177 z"
        assert redact(line) == "x?token=[secret]…"


def _notations(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[bytes]:
    plain = str(address)
    texts = {plain, address.exploded, plain.upper(), f"[{plain}]:443", f"{plain}:80", f"::{plain}"}
    if isinstance(address, ipaddress.IPv4Address):
        texts.add(f"::ffff:{plain}")
    texts |= {text.replace(":", "%3A").replace(".", "%2e") for text in texts}
    texts |= {text.replace(":", "\\x3a").replace(".", "\\u002E") for text in texts}
    return [text.encode() for text in sorted(texts)]


_GARBAGE = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("0123456789abcdef.:-%\\x[]{}\"'@=&; u", max_size=40).map(str.encode),
)
_ADDRESS = st.ip_addresses().filter(lambda address: not address.is_unspecified)


@given(before=_GARBAGE, address=_ADDRESS, after=_GARBAGE, choice=st.integers(0, 10**6))
@example(b"%", ipaddress.IPv4Address("10.0.0.1"), b"", 0)
@example(b"%2", ipaddress.IPv6Address("5::1"), b"", 0)
@example(b"1-2-3-", ipaddress.IPv4Address("4.5.6.7"), b"8.", 0)
def test_no_address_is_left(
    before: bytes, address: ipaddress.IPv4Address | ipaddress.IPv6Address, after: bytes, choice: int
) -> None:
    forms = _notations(address)
    form = forms[choice % len(forms)]
    sample = redact(before + form + after)
    assert form.decode() not in sample
    assert not _contains(sample, str(address))


def _contains(sample: str, address: str) -> bool:
    """Return whether the sample holds the address, or would if its escapes were undone.

    The bytes that `redact` itself escapes cannot be part of an address.
    """
    return address in sample or address in unquote(sample) or address in unquote(unquote(sample))


@given(pad=st.integers(400, 9000), address=_ADDRESS, word=st.sampled_from(["z", "%2525", '\\"']))
def test_no_address_is_left_in_long_lines(
    pad: int, address: ipaddress.IPv4Address | ipaddress.IPv6Address, word: str
) -> None:
    padding = (word * pad)[:pad]
    for form in (str(address), address.exploded):
        assert form not in redact(f"a?token={padding} {form} x".encode())


@given(line=st.binary(max_size=300), known=st.lists(st.binary(max_size=8), max_size=3))
def test_any_bytes_become_printable_text(line: bytes, known: list[bytes]) -> None:
    sample = redact(line, known)
    assert sample.isprintable()
    assert len(sample) <= SAMPLE_CHARACTERS


@pytest.mark.parametrize(
    "unit",
    [
        b"1.1.1-",
        b"token=",
        b"a@",
        b"::",
        b"%25",
        b"\\",
        b'"a=',
        b"a=b;",
        b"://",
        b'a="',
        b"[",
        b"1",
    ],
)
def test_hostile_lines_are_cut_to_size(unit: bytes) -> None:
    assert len(redact(unit * (10_000_000 // len(unit)), [b"192.0.2.1"])) <= SAMPLE_CHARACTERS


_DOTTED = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")


def test_no_address_is_left_of_real_lines(shared_data: Path) -> None:
    lines = [
        line
        for file in sorted((shared_data / "parser_conformance").rglob("*log*"))
        if file.suffix not in (".gz", ".bz2") and file.is_file()
        for line in file.read_bytes().splitlines()[:200]
    ]
    assert len(lines) > 1000
    assert sum(1 for line in lines if _DOTTED.search(line.decode("latin-1"))) > 1000
    left = [sample for sample in map(redact, lines) if _DOTTED.search(sample)]
    assert left == []
