"""A short crawl with faults: kills, a disk that fills up, hosts that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
pytest.importorskip("feedparser", reason="the scrapy extra is not installed")

from tests.faults import crawls


@pytest.mark.slow
def test_a_crawl_with_faults_archives_every_page_once(repository: Path, tmp_path: Path) -> None:
    table = crawls.crawl(25, 3, repository, tmp_path)
    assert "| kill -9 | 2 |" in table
    assert "| full disks | 2 (" in table
