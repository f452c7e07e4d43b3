"""The path of the pages on real logs ends with a list, or a sentence that says why there is none.

The commands are those of the README and the quick start, word for word but for the path of the log
and the name of the site. Logs of four days, of ten days in four years, with a field that no format
knows, and a table of clicks. Skips where the shared data is absent.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from temporal_assets.cli.app import app

_CLIENTS: Final = 80
"""Clients of the portal that are kept, one in so many: enough for a list."""

_REST: Final = 1
"""Remainder of clients' numbers. Of these clients the ninth day has less than a tenth of a usual
day, as it has of all (0.099); of others it has more by chance, and is a usual day."""


def elastic(data: Path, _: Path) -> Sequence[str]:
    return [str(data / "elastic_logs" / "apache_logs"), "--host", "www.semicomplete.com"]


def secrepo(data: Path, _: Path) -> Sequence[str]:
    return [str(data / "secrepo_logs"), "--host", "www.secrepo.com"]


def extra_field(data: Path, folder: Path) -> Sequence[str]:
    """Lines with the host and an empty field between size and referrer."""
    lines = (data / "elastic_logs" / "apache_logs").read_text("utf-8").splitlines()
    between = re.compile(r'(" \d{3} (?:\d+|-)) (")')
    file = folder / "extra.log"
    changed = (between.sub(r"\1 - www.semicomplete.com \2", line, count=1) for line in lines)
    file.write_text("\n".join(changed) + "\n", "utf-8")
    return [str(file)]


def clicks(data: Path, folder: Path) -> Sequence[str]:
    """Clicks of a portal of some clients, with the tail of late times behind its eight days."""
    rows = pq.read_table(data / "globo_clicks" / "clicks_2017-10-01_to_08.parquet")
    rows = rows.filter(pa.array(rows["client"].to_numpy() % _CLIENTS == _REST))
    urls = {
        name: pc.binary_join_element_wise(
            "https://globo.example/a/", pc.cast(rows[column], pa.string()), ""
        )
        for name, column in (("url", "article"), ("referrer", "previous_article"))
    }
    table = pa.table({"time": rows["ts"], "address": pc.cast(rows["client"], pa.string()), **urls})
    file = folder / "clicks.parquet"
    pq.write_table(table, file)
    return [str(file)]


_OWN_LOG: Final = '"/var/log/nginx/access.log*" --host www.example.com'
_SERVERS: Final = ("explore", "ui")
"""Commands that go on until they are interrupted."""


def written(page: Path) -> list[str]:
    """The commands of the section on a user's own logs, as the page has them."""
    section = re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)
    (text,) = (part for part in section if "our own logs\n" in part.partition("\n")[0] + "\n")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if "temporal-assets " in line]


@pytest.fixture(scope="module")
def commands(repository: Path) -> list[str]:
    """The commands of both pages, each once, in their order."""
    pages = (repository / "README.md", repository / "docs" / "quickstart.md")
    return list(dict.fromkeys(line for page in pages for line in written(page)))


def run(line: str, log: Sequence[str]) -> Result:
    """Run a line of a page on a log."""
    given, _, command = line.rpartition("| temporal-assets ")
    words = shlex.split(command or line)
    if words[0] == "temporal-assets":
        words = words[1:]
    at = words.index("/var/log/nginx/access.log*") if words[0] == "ingest" else None
    arguments = ["ingest", *log] if at is not None else [w for w in words if w != "--open"]
    text = given.removeprefix("echo ").strip()
    return CliRunner().invoke(app, arguments, input=f"{text}\n" if given else None)


def test_both_pages_have_the_path(commands: list[str]) -> None:
    assert f"temporal-assets ingest {_OWN_LOG}" in commands
    assert {"temporal-assets materialize", "temporal-assets policy"} <= set(commands)
    assert any("policy match" in line for line in commands)
    assert any("policy export" in line for line in commands)


@pytest.mark.parametrize(
    "log",
    [
        elastic,
        extra_field,
        pytest.param(secrepo, marks=pytest.mark.slow),
        pytest.param(clicks, marks=pytest.mark.slow),
    ],
)
def test_the_first_hour_ends_with_an_answer(
    log: Callable[[Path, Path], Sequence[str]],
    shared_data: Path,
    commands: list[str],
    state: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(state))
    monkeypatch.chdir(tmp_path)
    own = log(shared_data, tmp_path)
    results = {
        line: run(line, own)
        for line in commands
        if not any(f"temporal-assets {server}" in line for server in _SERVERS)
    }
    actual, shown = results["temporal-assets materialize"], results["temporal-assets policy"]
    assert "What to watch: temporal-assets policy" in run("temporal-assets materialize", own).output
    report = json.loads(run("temporal-assets policy --json", own).stdout)
    window = json.loads(run("temporal-assets status --json", own).stdout)["window"]
    for line, result in results.items():
        is_early = "temporal-assets report" in line and window["is_short"]
        assert result.exit_code == int(is_early), f"{line}: {result.output}"
        assert not is_early or "days are there, and 7 are needed" in " ".join(result.output.split())
    message = " ".join(actual.output.split())
    assert "Sites to watch" in message or "neither prefixes nor patterns" in message
    lists = ("sites", "hubs", "prefixes", "patterns")
    assert all(report[name] or report["notes"] for name in lists)
    for note in report["notes"]:
        assert note in " ".join(shown.output.split())
    assert window["is_short"] == ("provisional" in " ".join(window["sentences"]))
    assert not window["is_short"] or (report["provisional"] and "(provisional)" in shown.output)
    (matched,) = (result for line, result in results.items() if "policy match" in line)
    assert json.loads(matched.stdout)["url"] == "https://www.example.com/news/1"
    assert any((tmp_path / "scrapy-policy").iterdir())
    checks = json.loads(run("temporal-assets status --json", own).stdout)["checks"]
    warned = [check for check in checks if not check["passed"]]
    # The portal's days behind the window have a hundredth of its clicks, which is unusual.
    assert log is clicks or not warned, "a healthy small site shows no warning"
    _holds_for(log.__name__, report, window)


def _holds_for(name: str, report: dict[str, object], window: dict[str, object]) -> None:
    """Check what is known of each log."""
    patterns = report["patterns"]
    assert isinstance(patterns, list)
    decisions = {pattern["decision"] for pattern in patterns}
    notes = str(report["notes"])
    if name in ("elastic", "extra_field"):
        assert window["days"] == 4
        assert "now" not in decisions, "a personal site whose pages last"
        assert "all is `later`" in notes
    elif name == "secrepo":
        assert window["day"] == "2022-12-23"
        assert "2 days are there, and 7 are needed" in notes
        assert "on little evidence so far" in notes
    else:
        # The ninth day, which ends in its first hours, has less than a tenth of the usual clicks.
        assert window["day"] == "2017-10-08"
        stray = window["stray_days"]
        assert isinstance(stray, list)
        assert min(stray) == "2017-10-09"
        assert max(stray) > "2017-10-12"
        assert "Left out behind it: 2017-10-09" in str(window["sentences"])
        assert decisions
