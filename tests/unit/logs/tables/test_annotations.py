"""Annotated pages as people write them, and what is said of lines that are wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.tables.annotations import AnnotatedPage, BadRow, Repeat, read_annotations
from temporal_assets.logs.urls.url_rules import UrlRules

RULES = UrlRules()


def pages(text: str | bytes) -> list[tuple[str, bool, int]]:
    content = text.encode() if isinstance(text, str) else text
    return [(p.url, p.is_temporal, p.line) for p in read_annotations(content, RULES).pages]


A, B = "https://a.example/1", "https://a.example/2"
BOTH = [(A, True, 1), (B, False, 2)]
NEXT = [(A, True, 2), (B, False, 3)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{A},temporal\n{B},untemporal\n", BOTH),
        (f"{A},temporal\r\n{B},untemporal", BOTH),
        (f"{A},temporal\r{B},untemporal", BOTH),
        (f"{A}; 1\n{B}; 0\n", BOTH),
        (f"{A},1.0\n{B},0.0\n", BOTH),
        (f"{A}\tTRUE\n{B}\tfalse\n", BOTH),
        (f'"{A}","News"\n"{B}","no"\n', BOTH),
        (f"url,label\n{A},temporal\n{B},untemporal\n", NEXT),
        (f"Label;who;URL\nyes;me;{A}\nno;you;{B}\n", NEXT),
        (f"# by hand\n{A},y\n\n  # more\n{B},n\n", [(A, True, 2), (B, False, 5)]),
        (f"{A},1,sure\n{B},0,perhaps\n", BOTH),
        ('"https://a.example/x,y",1\n', [("https://a.example/x,y", True, 1)]),
        ("", []),
        ("# nothing\n\n", []),
        ("url,label\n", []),
    ],
)
def test_forms(text: str, found: list[tuple[str, bool, int]]) -> None:
    assert pages(text) == found


def test_pages_are_named_as_the_logs_name_them() -> None:
    text = "HTTP://A.Example:80/1?utm_source=x&b=2&a=1#top,temporal\n"
    assert pages(text) == [("https://a.example/1?a=1&b=2", True, 1)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    text = f"# Müller\n{A},temporal\n"
    actual = read_annotations(text.encode(encoding), RULES)
    assert actual.encoding == encoding.removesuffix("-sig")
    assert [(p.url, p.line) for p in actual.pages] == [(A, 2)]


def test_what_is_wrong_is_said_by_line() -> None:
    text = f'{A},temporal\nnews/1,temporal\n{B},perhaps\n{B}\n"{B},temporal\n{B},0\n'
    actual = read_annotations(text.encode(), RULES)
    assert actual.pages == (AnnotatedPage(A, True, 1), AnnotatedPage(B, False, 6))
    assert actual.bad == (
        BadRow(
            2,
            "no URL of a page: it must be whole, like https://example.com/news/1",
            "news/1,temporal",
        ),
        BadRow(3, "no label 'perhaps': write temporal or untemporal (or 1 and 0)", f"{B},perhaps"),
        BadRow(4, "it has 1 of the two fields URL and label", B),
        BadRow(5, "a quote is not closed, or stands in the middle of a field", f'"{B},temporal'),
    )


def test_a_page_named_twice_counts_once_and_one_with_both_labels_not_at_all() -> None:
    text = f"{A},1\n{B},1\n{A}#x,1\n{B},0\n"
    actual = read_annotations(text.encode(), RULES)
    assert actual.pages == (AnnotatedPage(A, True, 1),)
    assert actual.repeats == (Repeat(A, (1, 3)),)
    assert actual.contradictions == (Repeat(B, (2, 4)),)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_and_every_line_is_accounted_for(content: bytes) -> None:
    actual = read_annotations(content, RULES)
    numbers = [row.line for row in actual.bad] + [page.line for page in actual.pages]
    assert len(set(numbers)) == len(numbers)
