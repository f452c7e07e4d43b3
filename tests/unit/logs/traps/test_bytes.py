"""Traps of bytes that are no text."""

from __future__ import annotations

import json

from tests.log_traps import Reader, page


def test_invalid_utf8_is_kept_byte_by_byte(read: Reader) -> None:
    text = page("/X").encode()
    kept = read(text.replace(b"X", b"\xff") + text.replace(b"X", b"\xe9t\xe9"))
    assert kept.urls == ["https://www.example.com/%FF", "https://www.example.com/%E9t%E9"]


def test_invalid_utf8_in_json(read: Reader) -> None:
    request = {"client_ip": "203.0.113.7", "method": "GET", "host": "e.org", "uri": "/X"}
    text = json.dumps({"ts": 1714979289.5, "request": request, "status": 200}).encode() + b"\n"
    assert read(text + text.replace(b"X", b"\xff")).urls == ["https://e.org/X", "https://e.org/%FF"]


def test_overlong_lines_are_rejected_alone(read: Reader) -> None:
    kept = read(page("/a") + page("/" + "x" * 3_000_000) + page("/b"))
    assert kept.reasons == {"too_long": 1}
    assert [url[-2:] for url in kept.urls] == ["/a", "/b"]


def test_nul_bytes_are_rejected_alone(read: Reader) -> None:
    kept = read(page("/a").encode() + b"\0" * 512 + b"\n" + page("/b").encode())
    assert (len(kept.urls), kept.reasons) == (2, {"nul_bytes": 1})


def test_garbage_is_counted_line_by_line(read: Reader) -> None:
    kept = read(page("/a").encode() * 3 + b"\x80garbage\n\x01\n{}\n" + page("/b").encode())
    assert (len(kept.urls), kept.reasons) == (4, {"not_the_format": 3})


def test_crlf_and_a_missing_final_newline(read: Reader) -> None:
    kept = read((page("/a") + page("/b")).replace("\n", "\r\n").rstrip())
    assert (len(kept.urls), kept.reasons) == (2, {})


def test_a_byte_order_mark_and_utf16(read: Reader) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read(page("/a").encode(encoding)).urls == ["https://www.example.com/a"]
