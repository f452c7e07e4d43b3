"""The preview of `ingest` on a narrow terminal."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from temporal_assets.cli.shared import console
from temporal_assets.cli.sources.previews import show_previews
from temporal_assets.landing.preview import Preview, PreviewLine
from temporal_assets.settings import LogSource


def test_eighty_columns_say_of_each_line_what_became_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "_results", lambda: Console(file=screen, width=80))
    line = PreviewLine(
        1,
        dt.datetime(2026, 3, 1, 12),
        "visitor 1",
        "www.example.com",
        "https://www.example.com/news/2026/03/a-long-title-of-a-page.html",
        "https://search.example.org/results?q=a-long-title",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101",
        "kept",
    )
    file: Any = Path("access.log")
    source = LogSource(path="access.log")
    show_previews([Preview(source, file, 1, "combined", (line,), 1, 1, {}, ())])
    shown = screen.getvalue()
    assert "outcome" in shown
    assert "kept" in shown
    assert max(map(len, shown.splitlines())) <= 80
