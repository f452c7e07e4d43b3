"""`ingest`: log files are read, counted and remembered as sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.cli.sources import source_options
from temporal_assets.settings import load_settings
from tests.command_line import call, line


def test_options_that_are_not_given_again_stay(log: Path, tmp_path: Path) -> None:
    """Naming the host took a source back to finding its format."""
    state = tmp_path / "state"
    first = ("--format", "combined", "--timezone", "Europe/Berlin", "--host", "a.example")
    assert call("ingest", log, *first, "--state", state).exit_code == 0
    assert call("ingest", log, "--host", "b.example", "--state", state).exit_code == 0
    (source,) = load_settings(state).sources
    assert (source.host, source.format, source.timezone) == (
        "b.example",
        "combined",
        "Europe/Berlin",
    )
    assert call("ingest", log, "--format", "auto", "--state", state).exit_code == 0
    (source,) = load_settings(state).sources
    assert (source.host, source.format, source.timezone) == ("b.example", "auto", "Europe/Berlin")


def test_ingest_counts_every_line_by_what_became_of_it(
    log: Path, ingested: tuple[Path, Any]
) -> None:
    _, report = ingested
    assert report["days"] == ["2026-01-30", "2026-01-31"]
    assert report["unchanged"] == 0
    (file,) = report["files"]
    assert file == {
        "file": str(log),
        "format": "combined",
        "lines": 10,
        "kept": 5,
        "dropped": {"bot_agent": 1, "method": 1, "static": 1, "status": 1},
        "rejected": {"not_the_format": 1},
        "days": ["2026-01-30", "2026-01-31"],
        "has_referrers": True,
        "problem": None,
        "error": None,
    }


def test_ingest_says_which_files_keep_other_options(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    other = call("ingest", log.parent, "--host", "b.example", "--state", state)
    text = " ".join(other.stderr.split())
    assert f"1 file of {log.parent} with options of another source, as {log} of {log}" in text
    own = call("ingest", log, "--host", "b.example", "--state", state)
    assert "options of another source" not in own.stderr


def test_ingest_says_what_to_do_where_lines_do_not_name_their_site(log: Path, state: Path) -> None:
    result = call("ingest", log, "--state", state)
    text = " ".join(result.stderr.split())
    assert "lines do not name their site" in text
    assert "--host www.example.com" in text
    assert "materialize" not in result.stdout + text


def test_of_many_files_that_are_no_logs_a_few_are_named(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for n in range(25):
        (folder / f"{n:02}.png").write_bytes(bytes(range(30)) * 9)
    result = call("ingest", folder, "--state", state)
    assert result.exit_code == 1
    text = " ".join(result.stderr.split())
    assert text.count("no text but binary") == 11  # ten files, and the source with the first
    assert "and 14 more files that cannot be read" in text
    listed = call("ingest", folder, "--json", "--state", state)
    assert len(json.loads(listed.stdout)["files"]) == 25


def test_one_bad_file_among_others_is_a_warning_that_is_said_once(
    tmp_path: Path, state: Path
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for n in range(10):
        (folder / f"{n}.log").write_text(f"{line('192.0.2.1', f'30 10:{n:02}:00', f'GET /{n}')}\n")
    (folder / "bad.log").write_bytes(bytes(range(30)) * 9)
    given = ("ingest", folder, "--host", "a.example", "--state", state)
    result = call(*given)
    assert result.exit_code == 0
    text = " ".join(result.stderr.split())
    assert "1 of 11 files cannot be read" in text
    assert text.count("no text but binary") == 1
    again = " ".join(call(*given).stderr.split())
    assert again.count("no text but binary") == 1, "repeated until it is mended"


def test_standard_input_is_read_once_under_its_name(state: Path) -> None:
    """Input that comes again is known, more of it replaces it, and no source is left behind."""
    lines = [line("192.0.2.1", f"30 10:{n:02}:00", f"GET /{n}") for n in range(30)]
    given = ("ingest", "-", "--name", "old.log", "--host", "a.example", "--state", state)
    text = "".join(f"{log_line}\n" for log_line in lines)
    first = call(*given, "--json", stdin=text)
    (file,) = json.loads(first.stdout)["files"]
    assert (file["lines"], Path(file["file"]).parts[-2:]) == (30, ("standard-input", "old.log"))
    assert [path.name for path in (state / "tmp").iterdir() if path.is_dir()] == []
    again = json.loads(call(*given, "--json", stdin=text).stdout)
    assert (again["files"], again["unchanged"]) == ([], 1)
    more = json.loads(call(*given, "--json", stdin=text + text.replace("30/Jan", "31/Jan")).stdout)
    assert [file["lines"] for file in more["files"]] == [60]
    assert more["missing"] == []
    assert json.loads(call("sources", "--json", "--state", state).stdout) == []
    assert json.loads(call("status", "--json", "--state", state).stdout)["log_files"]["read"] == 1


def test_standard_input_has_a_name_and_comes_alone(state: Path) -> None:
    for arguments, why in (
        (("-",), "name what standard input holds: --name"),
        (("-", "--name", "../x"), "name what standard input holds: --name"),
        (("-", "a.log", "--name", "x"), "is read by itself, without other paths"),
        (("a.log", "--name", "x"), "--name x names standard input: give - as the path"),
    ):
        result = call("ingest", *arguments, "--state", state, stdin="x\n")
        assert result.exit_code == 2
        assert why in " ".join(result.stderr.split())
    assert not state.exists()
    look = ("ingest", "-", "--name", "x.log", "--dry-run", "--host", "a.example", "--json")
    result = call(*look, "--state", state, stdin=line("192.0.2.1", "30 10:00:00", "GET /"))
    assert json.loads(result.stdout)[0]["kept"] == 1


def test_ingest_says_what_is_left_to_build(four_days: Path, all_built: tuple[Path, Any]) -> None:
    def message(state: Path) -> str:
        log = four_days.parent / "four.log"
        return str(call("ingest", log, "--host", "a.example", "--state", state).stderr)

    assert "Next: " in message(four_days)
    assert "Nothing to build. What is there: " in message(all_built[0])


def test_an_unreadable_file_fails_but_does_not_stop_the_others(
    log: Path, tmp_path: Path, state: Path
) -> None:
    odd = tmp_path / "odd.log"
    odd.write_text("what is this? 1\nwhat is that? 2\n")
    result = call("ingest", log, odd, "--host", "a.example", "--state", state)
    assert result.exit_code == 1
    assert "10 lines, 5 page requests kept" in result.stderr
    assert f"error: {odd}: 1 of 1 files cannot be read" in " ".join(result.stderr.split())
    assert [source.path for source in load_settings(state).sources] == [str(log)]
    assert "--format" in call("ingest", "--help").stdout


@pytest.mark.parametrize(
    ("line", "name", "way"),
    [
        ('192.0.2.1 - - [30/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512\n', "common",
         "say what the server was told to write: `--format nginx:…`"),
        ("time,visitor,url\n2026-01-30T10:00:00Z,a,/\n", "csv by address=visitor",
         "say under which name: `--column referrer=NAME`"),
    ],
)  # fmt: skip
def test_a_format_without_referrers_is_said_plainly(
    tmp_path: Path, state: Path, line: str, name: str, way: str
) -> None:
    log = tmp_path / "access.log"
    log.write_text(line)
    result = call("ingest", log, "--host", "a.example", "--state", state)
    assert result.exit_code == 0
    text = " ".join(result.stderr.split())
    assert f"1 file in a format without referrers ({name})" in text
    assert way in text


def test_help_lists_every_format() -> None:
    from temporal_assets.logs.formats.known_formats import FORMATS

    assert set(source_options.FORMAT_NAMES.split(", ")) == set(FORMATS)


def test_no_address_is_shown_or_written(built: tuple[Path, Any]) -> None:
    state, _ = built
    shown = [
        call("status", "--state", state).output,
        call("query", "SELECT * FROM requests", "--json", "--state", state).output,
        call("query", "SELECT * FROM rejects", "--csv", "--state", state).output,
    ]
    assert "192.0.2." not in "".join(shown)
    written = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not any(b"192.0.2." in content for content in written)
