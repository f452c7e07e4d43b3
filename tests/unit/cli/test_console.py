"""Output of commands is harmless on a terminal, whatever log lines hold."""

from __future__ import annotations

import datetime as dt
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.cli.shared import console


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\x07\u202ec\n", "a\\x1b[31mb\\x07\\u202ec\\n"),
        ("https://例え.example/ключ", "https://例え.example/ключ"),
        (None, ""),
    ],
)
def test_controls_are_written_as_escapes(text: str | None, shown: str) -> None:
    assert console.plain(text) == shown


@given(st.text())
def test_no_control_or_invisible_character_survives(text: str) -> None:
    shown = console.plain(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def test_markup_in_a_table_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_table("[bold]T[/bold]", ["[red]c"], [["[link=http://x]y[/link] :smile: \x1b]8;;"]])
    shown = capsys.readouterr().out
    assert "[bold]T[/bold]" in shown
    assert "[red]c" in shown
    assert "[link=http://x]y[/link] :smile: \\x1b]8;;" in shown
    assert "\x1b" not in shown


def test_markup_in_a_message_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    console.fail("[bold]x[/bold]\x1b[2J\nsecond")
    assert capsys.readouterr().err == "error: [bold]x[/bold]\\x1b[2J\nsecond\n"


def test_numbers_are_grouped_and_nothing_is_cut_in_a_pipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "https://a.example/" + "x" * 150
    console.show_table("", ["url", "views", "share"], [[long, 1234567, 0.5], ["b", 2, 1 / 3]])
    shown = capsys.readouterr().out
    assert long in shown
    assert "1,234,567" in shown
    assert "0.333333" in shown


@pytest.mark.parametrize("room", [60, 80])
def test_numbers_and_days_stay_whole_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(console, "_WIDE", room)
    columns = ("asset", "days", "to", "rows of it", "missing days", "stale")
    row = ("an_asset_with_a_long_name", 60, dt.date(2025, 5, 1), 279610, 123456, -0.5)
    console.show_table("", columns, [row])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= room
    for value in ("2025-05-01", "279,610", "123,456", "-0.5"):
        assert value in shown


@pytest.mark.parametrize("room", [40, 80])
def test_words_are_never_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(console, "_WIDE", room)
    url = "https://news.example/politics/2026/a-long-story-about-nothing.html?page=2"
    message = "Most requests come from one address; if it is a proxy, say so in the settings"
    console.show_table("", ("hub", "temporal_pages", "what to do"), [(url, 1234567, message)])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= room
    words = set(re.findall(r"[\w,]+", shown))
    for word in (*re.findall(r"[\w,]+", url), "1,234,567"):
        assert word in words
    if room == 80:
        assert set(re.findall(r"[\w,]+", message)) <= words


def test_columns_that_do_not_fit_are_left_out_and_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_WIDE", 30)
    console.show_table("", [f"name {k}" for k in range(4)], [[1234567] * 4])
    captured = capsys.readouterr()
    assert captured.out.count("1,234,567") == 2
    assert "no room here for name 2, name 3" in captured.err


@given(st.text(max_size=80), st.integers(1, 30))
def test_nothing_of_a_text_is_lost_by_wrapping(text: str, width: int) -> None:
    shown = console.wrapped(console.plain(text), width)
    assert "".join(shown.split()) == "".join(console.plain(text).split())


def test_a_sentence_breaks_between_words_on_a_terminal_and_not_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    sentence = "State folder /srv/a/rather/long/path/of/a/state/folder is not there: name it"
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", stream)
        console.say(sentence)
        shown = stream.getvalue()
        assert shown.split() == sentence.split()
        lines = [line for line in shown.splitlines() if "/" not in line]
        assert all(len(line.rstrip()) <= 40 for line in lines)
        assert ("\n" in shown.rstrip()) is stream.isatty()


def test_a_progress_bar_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress_bar("Reading", 10) as bar:
        bar.at(5)
        bar.at(10, 20, "more")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def test_of_many_days_that_failed_few_reasons_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from temporal_assets.cli.shared.building import show_outcome
    from temporal_assets.operate.outcome import Failed, Outcome

    days = [dt.date(2026, 1, day) for day in range(1, 8)]
    failures = [Failed("requests", (day,), f"reason {day.day}") for day in days]
    alone = Failed("page_labels", (days[-1],), "reason of labels")
    show_outcome(Outcome(failures=(*failures, alone)))
    text = " ".join(capsys.readouterr().err.split())
    assert [n for n in range(1, 8) if f"reason {n}" in text] == [1, 2, 3]
    assert "and 4 more reasons, requests of 2026-01-04..2026-01-07: the UI has them all" in text
    assert "page_labels of 2026-01-07: reason of labels" in text


def test_nothing_that_was_built_is_no_empty_table(capsys: pytest.CaptureFixture[str]) -> None:
    from temporal_assets.cli.shared.building import show_outcome
    from temporal_assets.operate.outcome import Outcome, Skipped

    show_outcome(Outcome(skipped=(Skipped(dt.date(2999, 1, 1), "the day has not begun"),)))
    message = capsys.readouterr().err
    assert "Nothing was built." in message
    assert "2999-01-01 was left out: the day has not begun" in message
    assert "rows" not in message


@pytest.mark.parametrize("parts", [[], [[]], [[{"a": 1}]], [[1, {"a": [2]}], [], [{}, [], "\n]"]]])
def test_a_list_in_parts_is_written_as_the_whole(
    parts: list[list[object]], capsys: pytest.CaptureFixture[str]
) -> None:
    console.write_json([row for part in parts for row in part])
    whole = capsys.readouterr().out
    console.write_json_rows(parts)
    assert capsys.readouterr().out == whole
