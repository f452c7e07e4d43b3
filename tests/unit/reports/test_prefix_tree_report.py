"""The tree as text and HTML: hostile names, hidden sections, depth."""

from __future__ import annotations

from typing import Any

from temporal_assets.reports.prefix_tree import as_html, as_lines, trees_of


def row(prefix: str, parent: str | None, clients: int = 9, **changes: Any) -> dict[str, Any]:
    return {
        "prefix": prefix,
        "parent": parent,
        "clients": clients,
        "pages": 10,
        "news_pages": 9,
        "temporal_pages": 3,
        "is_prefix": False,
    } | changes


ROWS = [
    row("a.example/", None, pages=1000),
    row("a.example/<script>/", "a.example/", is_prefix=True),
    row("a.example/known/", "a.example/"),
    row("a.example/known/deep/", "a.example/known/"),
    row("a.example/known/deep/er/", "a.example/known/deep/"),
    row("a.example/secret/", "a.example/", clients=4),
    row("a.example/secret/plan/", "a.example/secret/", clients=4),
]


def test_lines() -> None:
    heading, *lines = as_lines(trees_of(ROWS, 5), 2)
    assert heading.split() == ["pages", "news", "share", "temporal"]
    assert [line[:60].rstrip() for line in lines] == [
        "a.example/",
        "├─ <script>/",
        "├─ known/",
        "│  └─ deep/",
        "│     └─ … 1 section beneath",
        "└─ 1 section that few clients know",
    ]
    assert lines[0].split() == ["a.example/", "1,000", "9", "1%", "3"]
    assert lines[1].endswith("90%         3  news prefix")


def test_lines_fit_a_narrow_terminal() -> None:
    deep = [*ROWS, row("a.example/known/" + 60 * "x" + "/", "a.example/known/")]
    lines = as_lines(trees_of(deep, 5), 2, 80)
    assert max(map(len, lines)) == 80
    assert any("…" in line for line in lines)


def test_html_is_escaped_and_hides_what_few_know() -> None:
    html = as_html(trees_of(ROWS, 5))
    assert "<script>" not in html
    assert "&lt;script&gt;/" in html
    assert "secret" not in html
    assert "1 section that few clients know" in html
    assert html.count("<details") == html.count("</details>") == 3
    # The root is open; `known` leads to no news prefix.
    assert html.count("<details open>") == 1


def test_nothing_is_shown_of_a_site_that_few_know() -> None:
    assert trees_of([row("b.example/", None, clients=1)], 5) == []


def test_characters_that_move_the_cursor_are_written_as_escapes() -> None:
    rows = [row("a.example/", None), row("a.example/\x1b[2J\u202e/", "a.example/")]
    for text in ("\n".join(as_lines(trees_of(rows, 1), 3)), as_html(trees_of(rows, 1))):
        assert "\x1b" not in text
        assert "\u202e" not in text
