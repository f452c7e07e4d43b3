"""The README's path on real logs ends with a list, or with a sentence that says why there is none.

    ingest, materialize, policy

Logs of four days, of ten days in four years, with a field that no format knows, and a table of
clicks. Skips where the shared data is absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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
"""One in so many clients of the portal is enough for a list."""

_REST: Final = 1
"""Of their numbers. Of these clients the ninth day has less than a tenth of a usual day, as it has
of all (0.099); of others it has more by chance, and is a usual day."""


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


def call(state: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--state", str(state)])


@pytest.mark.parametrize("log", [elastic, secrepo, extra_field, clicks])
def test_the_first_hour_ends_with_an_answer(
    log: object, shared_data: Path, state: Path, tmp_path: Path
) -> None:
    assert callable(log)
    read = call(state, "ingest", *log(shared_data, tmp_path))
    assert read.exit_code == 0, read.output
    result = call(state, "materialize")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "Sites to watch" in text or "neither prefixes nor patterns" in text
    shown = call(state, "policy")
    assert shown.exit_code == 0, shown.output
    report = json.loads(call(state, "policy", "--json").stdout)
    lists = ("sites", "hubs", "prefixes", "patterns")
    assert all(report[name] or report["notes"] for name in lists)
    for note in report["notes"]:
        assert note in " ".join(shown.output.split())
    days = json.loads(call(state, "status", "--json").stdout)["window"]
    assert days["is_short"] == ("provisional" in " ".join(days["sentences"]))
    assert not days["is_short"] or (report["provisional"] and "(provisional)" in shown.output)
    _holds_for(log.__name__, report, days)


def _holds_for(name: str, report: dict[str, object], window: dict[str, object]) -> None:
    """What is known of each log."""
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
    else:
        # The ninth day, which ends in its first hours, has less than a tenth of the usual clicks.
        assert window["day"] == "2017-10-08"
        stray = window["stray_days"]
        assert isinstance(stray, list)
        assert min(stray) == "2017-10-09"
        assert max(stray) > "2017-10-12"
        assert "Left out behind it: 2017-10-09" in str(window["sentences"])
        assert decisions
