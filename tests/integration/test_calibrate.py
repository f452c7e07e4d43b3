"""`temporal-assets try thresholds` from the file to the settings it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from benchmarks.synthetic import draw
from temporal_assets.cli.app import app
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from tests.histories import Histories

HOST = "https://a.example"


class Annotated:
    """A state whose windows are made, and a file about its pages."""

    def __init__(self, state: Path, pages: int) -> None:
        people = draw(pages, 60, seed=4)
        self.state, self.count = state, len(people.views)
        urls = [f"{HOST}/{'news' if n % 2 else 'more'}/{n:04}" for n in range(self.count)]
        engine = DuckDBEngine(load_settings(state))
        Histories(engine, state, people.views.astype(np.int64), urls=urls)
        truth = people.accumulated(3.0) > 0.7
        self.truth = {url: bool(label) for url, label in zip(urls, truth, strict=True)}
        self.file = state / "annotated.csv"
        lines = [f"{url},{int(label)}" for url, label in self.truth.items()]
        odd = [f"{HOST}/nobody,1", "news/1,1", f"{urls[0]}#again,{int(truth[0])}"]
        self.file.write_text("\n".join([*lines, *odd]), "utf-8")

    def run(self, *arguments: object) -> Result:
        return CliRunner().invoke(
            app, ["try", "thresholds", *map(str, arguments), "--state", str(self.state)]
        )

    def json(self, *arguments: object) -> Any:
        result = self.run(self.file, "--json", *arguments)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Annotated:
    return Annotated(tmp_path_factory.mktemp("state"), 400)


def test_everything_is_in_the_json(here: Annotated) -> None:
    actual = here.json()
    assert actual["annotated_pages"] == here.count + 1
    assert actual["with_history"] == here.count
    assert actual["unknown"] == [f"{HOST}/nobody"]
    assert [row["line"] for row in actual["bad_lines"]] == [here.count + 2]
    assert actual["repeated"] == [{"url": f"{HOST}/more/0000", "lines": [1, here.count + 3]}]
    always, settings, best, validated, *_ = actual["interest"]
    assert always["which"] == "always untemporal"
    assert always["hit"] + always["miss"] == here.count
    assert (settings["which"], settings["days"], settings["threshold"]) == ("settings", 3, 0.7)
    assert best["hit"] + best["miss"] + best["false_alarm"] == here.count
    assert settings["hit"] <= best["hit"] == best["performance"]
    assert validated["days"] is None
    assert max(max(row) for row in actual["grid"][0]["hit"]) == best["hit"]


def test_weights_move_the_choice(here: Annotated) -> None:
    careful = here.json("--false-alarm-weight", 20)["interest"][2]
    eager = here.json("--miss-weight", 20)["interest"][2]
    assert careful["false_alarm"] < eager["false_alarm"]
    assert careful["miss"] > eager["miss"]
    assert careful["performance"] == careful["hit"] - 20 * careful["false_alarm"]


def test_a_person_sees_tables_maps_and_what_is_wrong(here: Annotated, tmp_path: Path) -> None:
    png, html = tmp_path / "a.png", tmp_path / "a.html"
    shown = here.run(here.file, "--by", "section", "--png", png, "--html", html)
    assert shown.exit_code == 0, shown.output
    for text in (
        "temporal by curve: share in n days > q",
        "a.example/news/",
        "best, cross-validated",
        "B best",
    ):
        assert text in shown.stdout, text
    assert f"line {here.count + 2}: no URL of a page" in shown.stderr
    assert "1 page nobody opened in the window:\n  https://a.example/nobody" in shown.stderr
    assert png.read_bytes().startswith(b"\x89PNG\r\n")
    page = html.read_text("utf-8")
    assert page.count('<svg class="plot"') == 2
    assert "nobody" not in page.replace("that nobody opened", ""), "a page to pass on names no URL"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "name a CSV file of URL and label, or set `calibration.annotated`"),
        (["nowhere.csv"], 2, "there is no nowhere.csv"),
        (["{file}", "--by", "planet"], 2, "by: Input should be 'none', 'site' or 'section'"),
        (["{file}", "--day", "2020-01-01"], 1, "no partition for 2020-01-01"),
        (["{bad}"], 1, "names no page that could be used; line 1: no label 'maybe'"),
        (["{few}", "--adopt"], 1, "nothing is adopted"),
    ],
)
def test_what_cannot_be_done_is_said(
    here: Annotated, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    bad, few = tmp_path / "bad.csv", tmp_path / "few.csv"
    bad.write_text(f"{HOST}/1,maybe\n", "utf-8")
    few.write_text("\n".join(here.file.read_text("utf-8").splitlines()[:8]), "utf-8")
    given = [argument.format(file=here.file, bad=bad, few=few) for argument in arguments]
    result = here.run(*given)
    assert (result.exit_code, says in result.stderr) == (code, True), result.output


def test_adopting_writes_the_settings_and_keeps_comments(tmp_path: Path) -> None:
    own = Annotated(tmp_path, 300)
    (tmp_path / "settings.toml").write_text("# mine\n[window]\ndays = 60 # two months\n", "utf-8")
    shown = own.run(own.file, "--miss-weight", 2, "--by", "section", "--adopt")
    assert shown.exit_code == 0, shown.output
    assert "Adopted: n = " in shown.stderr
    settings = load_settings(tmp_path)
    best = next(r for r in own.json()["interest"] if r["which"] == "best, in sample")
    assert settings.labels.thresholds == "calibrated"
    assert settings.labels.n == best["days"]
    assert settings.labels.q == 0.7, "chosen with every window, not written down"
    assert (settings.calibration.annotated, settings.calibration.by) == (own.file, "section")
    assert settings.calibration.miss_weight == 2
    text = (tmp_path / "settings.toml").read_text("utf-8")
    assert text.startswith("# mine\n[window]\ndays = 60 # two months\n")
