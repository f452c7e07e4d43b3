"""Exports as plain text and as sitemaps."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS, export, sitemap
from tests.exported import (
    hubs_in_order,
)
from tests.policies import (
    WHOLE,
)


def test_plain_text(policy: Policy, doc: Document) -> None:
    files = TARGETS["plain-text"](doc)
    assert files["sites.txt"].splitlines() == ["news.example", "board.example", "shop.example"]
    assert [line for line in files["prefixes.txt"].splitlines() if line != WHOLE] == [
        "news.example/politics/",
        "board.example/t.php?",
    ]
    assert files["hubs.txt"].splitlines() == hubs_in_order(policy)
    assert files["hubs.tsv"].splitlines()[1] == "https://news.example/\t1\t1200"


def test_sitemap(policy: Policy, doc: Document) -> None:
    text = TARGETS["sitemap"](doc)["sitemap.xml"]
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    urls = ET.fromstring(text).findall("s:url", space)  # noqa: S314 - we wrote it
    message = [tuple(e.text for e in url) for url in urls]
    assert message == [
        ("https://news.example/", "hourly", "1.0"),
        ("https://news.example/politics/", "hourly", "0.9"),
        ("https://board.example/list?forum=2&sort=new", "daily", "0.9"),
        ("https://shop.example/offers(1).php", "hourly", "0.8"),
    ]
    assert [url for url, _, _ in message] == hubs_in_order(policy)


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (1 / 24, "hourly"),
        (1, "daily"),
        (7, "weekly"),
        (14, "monthly"),
        (30, "monthly"),
        (35, "yearly"),
        (700, "yearly"),
    ],
)
def test_a_sitemap_promises_no_more_visits_than_are_worth_it(days: float, word: str) -> None:
    assert sitemap.frequency(round(days * 86_400)) == word


def test_more_hubs_than_a_sitemap_holds_make_several(
    doc: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MAX_URLS", 3)
    files = TARGETS["sitemap"](doc)
    assert {name: text.count("<loc>") for name, text in files.items()} == {
        "sitemap-1.xml": 3,
        "sitemap-2.xml": 1,
    }


def test_sitemaps_that_are_not_written_any_more_go(
    doc: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitemap-9.xml").write_text("<urlset/>")
    export(doc, "sitemap", tmp_path)
    for most, names in ((1, [1, 2, 3, 4]), (2, [1, 2]), (9, [])):
        monkeypatch.setattr(sitemap, "MAX_URLS", most)
        export(doc, "sitemap", tmp_path)
        left = {f"sitemap-{number}.xml" for number in names} or {"sitemap.xml"}
        assert {path.name for path in tmp_path.iterdir()} == {*left, "sitemap-9.xml"}
