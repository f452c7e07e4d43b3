"""`calibration` against counting by hand; and labels that use it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.synthetic import draw
from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.windows.frame.asset import build, is_fresh
from temporal_assets.windows.labels.calibration import CALIBRATION
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests.histories import Histories

FAST, SLOW = "https://fast.example", "https://slow.example"


@pytest.fixture(scope="module")
def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Histories:
    """Two sites; on the slow one pages count as temporal that lose interest within ten days."""
    root = tmp_path_factory.mktemp("state")
    people = draw(700, 60, seed=8)
    count = len(people.views)
    site = [FAST if n % 2 else SLOW for n in range(count)]
    urls = [f"{site[n]}/{'news' if n % 4 < 2 else 'more'}/{n:04}" for n in range(count)]
    fast, slow = people.accumulated(3.0) > 0.7, people.accumulated(10.0) > 0.7
    truth = np.where([one == FAST for one in site], fast, slow)
    lines = [f"{url},{int(label)}" for url, label in zip(urls, truth, strict=True)]
    lines += [f"{FAST}/nobody,1", "not a url,1"]
    (root / "annotated.csv").write_text("\n".join(lines), "utf-8")
    views = people.views.astype(np.int64)
    histories = Histories(
        engine, root, views, urls=urls, calibration={"annotated": "annotated.csv", "by": "site"}
    )
    histories.truth = dict(zip(urls, truth.tolist(), strict=True))  # type: ignore[attr-defined]
    return histories


def rows(here: Histories, asset: str) -> list[dict[str, Any]]:
    return list(here.store.read(asset, here.day).to_pylist())


def test_every_cell_counts_the_labels_of_its_thresholds(here: Histories) -> None:
    truth: dict[str, bool] = here.truth  # type: ignore[attr-defined]
    labels = {row["url"]: row for row in rows(here, "page_labels")}
    assert set(labels) == set(truth)
    for score, days, threshold, label in (
        ("interest", 3.0, 0.7, "is_temporal_by_curve"),
        ("concentration", 3.0, 1.91, "is_news"),
    ):
        (cell,) = (
            row
            for row in rows(here, "calibration")
            if (row["score"], row["scope"], row["days"], row["threshold"])
            == (score, "all", days, threshold)
        )
        pairs = [(truth[url], bool(row[label])) for url, row in labels.items()]
        assert cell["pages"] == len(pairs)
        assert cell["hit"] == sum(a == b for a, b in pairs) == cell["performance"]
        assert cell["temporal"] == sum(true for true, _ in pairs)
        assert cell["miss"] == pairs.count((True, False))
        assert cell["false_alarm"] == pairs.count((False, True))


def test_choices_are_the_best_of_their_scope_and_of_the_days_labels_use(here: Histories) -> None:
    table = rows(here, "calibration")
    scopes = {(row["score"], row["scope"], row["name"]) for row in table}
    names = [("all", ""), ("site", "fast.example"), ("site", "slow.example")]
    assert scopes == {(s, *name) for s in ("interest", "concentration") for name in names}
    for scope in scopes:
        cells = [row for row in table if (row["score"], row["scope"], row["name"]) == scope]
        (best,) = (row for row in cells if row["is_best"])
        (used,) = (row for row in cells if row["is_used"])
        assert best["performance"] == max(row["performance"] for row in cells)
        allowed = [row for row in cells if scope[0] == "concentration" or row["days"] == 3.0]
        assert used["performance"] == max(row["performance"] for row in allowed)
        assert best["cross_validated_hit"] <= best["hit"] + 0.02 * best["pages"]


def test_everything_promised_holds(here: Histories) -> None:
    inspector = Inspector(here.store, here.engine, here.settings)
    for asset in ("calibration", "page_labels"):
        findings = inspector.inspect(contracts.table(asset), [here.day])[here.day]
        assert [
            finding
            for finding in findings
            if finding.status not in (Status.HELD, Status.NOT_JUDGED)
        ] == []


@pytest.fixture(scope="module")
def adopted(here: Histories) -> Histories:
    """The same with labels that use the calibration of each site."""
    labels = here.settings.labels.model_copy(update={"thresholds": "calibrated"})
    here.settings = here.settings.model_copy(update={"labels": labels})
    build(here.store, here.engine, here.settings, PAGE_LABELS, here.day)
    return here


def test_labels_use_the_thresholds_of_their_site_and_show_them(adopted: Histories) -> None:
    truth: dict[str, bool] = adopted.truth  # type: ignore[attr-defined]
    used = {
        (row["name"], row["score"]): row for row in rows(adopted, "calibration") if row["is_used"]
    }
    right = {"fast.example": 0, "slow.example": 0}
    for row in rows(adopted, "page_labels"):
        by_curve = used[row["site"], "interest"]
        by_days = used[row["site"], "concentration"]
        assert row["thresholds"] == "site"
        assert (row["n"], row["q"]) == (3.0, by_curve["threshold"])
        assert (row["m"], row["p"]) == (by_days["days"], by_days["threshold"])
        right[row["site"]] += bool(row["is_temporal_by_curve"]) == truth[row["url"]]
    for site, count in right.items():
        assert count == used[site, "interest"]["hit"]
    assert used["slow.example", "interest"]["threshold"] < 0.7
    inspector = Inspector(adopted.store, adopted.engine, adopted.settings)
    findings = inspector.inspect(contracts.table("page_labels"), [adopted.day])[adopted.day]
    assert [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ] == []


def test_a_changed_file_makes_it_stale(here: Histories, tmp_path: Path) -> None:
    def fresh(annotated: str) -> bool:
        changed = here.settings.calibration.model_copy(update={"annotated": Path(annotated)})
        settings = here.settings.model_copy(update={"calibration": changed})
        return is_fresh(here.store, settings, CALIBRATION, here.day)

    copy = tmp_path / "copy.csv"
    copy.write_bytes((here.settings.state / "annotated.csv").read_bytes())
    assert fresh("annotated.csv")
    assert fresh(str(copy)), "content decides, not the name"
    copy.write_text("https://a.example/,1\n", "utf-8")
    assert not fresh(str(copy))
    assert not fresh("gone.csv")


def test_without_a_file_the_partition_is_empty_and_labels_are_those_of_the_settings(
    engine: Engine, tmp_path: Path
) -> None:
    views = draw(60, 30, seed=1).views.astype(np.int64)
    histories = Histories(engine, tmp_path, views, labels={"thresholds": "calibrated"})
    assert rows(histories, "calibration") == []
    assert {row["thresholds"] for row in rows(histories, "page_labels")} == {"settings"}
    assert histories.store.manifest("calibration", histories.day) is not None
    assert isinstance(histories.day, dt.date)
    assert WINDOW_ASSETS.index(CALIBRATION) < WINDOW_ASSETS.index(PAGE_LABELS)


def test_a_file_that_is_gone_is_named(here: Histories) -> None:
    changed = here.settings.calibration.model_copy(update={"annotated": Path("gone.csv")})
    settings = here.settings.model_copy(update={"calibration": changed})
    with pytest.raises(FileNotFoundError, match=r"gone\.csv"):
        build(here.store, here.engine, settings, CALIBRATION, here.day)
