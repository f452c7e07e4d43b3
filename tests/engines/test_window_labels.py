"""Curves and labels of a window against `core` called by hand; and both against the truth."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.synthetic import draw
from temporal_assets import contracts
from temporal_assets.core.curves.curves import Options, Reason, fit
from temporal_assets.core.curves.weekdays import weekday_factors
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.labels import Rule, Thresholds, label
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.windows.frame.asset import Job, _sources, build, is_fresh
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from tests.histories import Histories


@pytest.fixture(scope="module", params=[None, 11, (3, 4)], ids=["all days", "a day missing", "two"])
def here(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Histories:
    views = draw(200, 30, seed=5).views.astype(np.int64)
    one_day = np.zeros((1, 30), np.int64)
    one_day[0, 9] = 70
    young = np.zeros((1, 30), np.int64)
    young[0, 27:] = 40
    first_alone = np.zeros((1, 30), np.int64)
    # Where two days are missing, only one of its first three is there.
    first_alone[0, [2, 29]] = 70, 1
    everything = np.concatenate([views, one_day, first_alone, young])
    return Histories(engine, tmp_path_factory.mktemp("state"), everything, request.param)


def histories(here: Histories) -> np.ndarray:
    return np.array(here.store.read("page_histories", here.day).column("views").to_pylist())


def test_curves_are_those_of_the_fitter(here: Histories) -> None:
    curves = fit(histories(here), Options("likelihood", n=3.0), observed=here.observed)
    rows = here.store.read("interest_curves", here.day).to_pylist()
    assert len(rows) == len(curves.mu) > 50
    for row, code, mu, phi in zip(rows, curves.reason, curves.mu, curves.phi_n, strict=True):
        assert row["reason"] == Reason(code).name.lower()
        assert row["mu"] == (mu if row["is_converged"] else None)
        assert row["phi_n"] == (phi if row["is_converged"] or code == Reason.ONE_DAY else None)


def test_pages_are_fitted_in_batches_that_do_not_matter(
    here: Histories, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.windows.labels import interest_curves

    if here.engine.name == "spark":
        pytest.skip("batches are fitted by executors, which this process does not see")
    sizes: list[int] = []
    fit_batch = interest_curves.fit_batch

    def noted(batch: pa.RecordBatch, **options: Any) -> pa.RecordBatch:
        sizes.append(len(batch))
        return fit_batch(batch, **options)

    before = here.store.require("interest_curves", here.day).digest
    monkeypatch.setattr(interest_curves, "fit_batch", noted)
    monkeypatch.setattr(interest_curves, "BATCH_PAGES", 7)
    after = build(here.store, here.engine, here.settings, INTEREST_CURVES, here.day).manifest
    assert max(sizes) <= 7 < sum(sizes) == after.rows
    assert after.digest == before


def test_pages_without_a_curve_say_why(here: Histories) -> None:
    rows = {row["url"]: row for row in here.store.read("interest_curves", here.day).to_pylist()}
    *_, one_day, _, young = sorted(rows)
    assert rows[one_day] | {"day": None} == {
        "day": None,
        "site": "a.example",
        "url": one_day,
        **dict.fromkeys(("amplitude", "b", "mu", "sigma", "objective", "goodness")),
        "is_converged": False,
        "reason": "one_day",
        "phi_1": pytest.approx(1.0),
        "phi_n": pytest.approx(1.0),
        "phi_n_low": pytest.approx(1 - 3 / 70),
        "phi_n_high": 1.0,
        "method": "likelihood",
    }
    assert (rows[young]["reason"], rows[young]["phi_n"]) == ("too_young", None)


def test_labels_are_those_of_core(here: Histories) -> None:
    labels = label(histories(here), Thresholds(), observed=here.observed)
    for name in ("is_temporal", "is_sure", "is_temporal_by_curve", "is_news", "first_share"):
        assert here.column("page_labels", name).tolist() == getattr(labels, name).tolist(), name
    assert here.column("page_labels", "label_basis").tolist() == labels.basis.tolist()
    concentrations = concentration(histories(here), 3, observed=here.observed)
    assert here.column("page_labels", "concentration").tolist() == concentrations.value.tolist()
    assert (
        here.column("page_labels", "has_concentration").tolist()
        == concentrations.is_defined.tolist()
    )
    assert 0 < labels.is_temporal.sum() < len(labels.basis)
    assert 0 < labels.is_news.sum() < len(labels.basis)
    assert {"share", "cut_share", "none"} <= set(labels.basis)


@pytest.mark.parametrize("rule", ["curve", "concentration"])
def test_the_papers_labels_can_be_chosen(here: Histories, rule: Rule, tmp_path: Path) -> None:
    labels = here.settings.labels.model_copy(update={"rule": rule})
    settings = here.settings.model_copy(update={"labels": labels})
    assert not is_fresh(here.store, settings, PAGE_LABELS, here.day)
    sources = _sources(here.store, settings, PAGE_LABELS, here.day)
    job = Job(PAGE_LABELS, here.store, here.engine, settings, here.day, sources, tmp_path)
    table = pq.read_table(list(PAGE_LABELS.make(job)), partitioning=None)
    wanted = label(histories(here), Thresholds(), rule, observed=here.observed)
    for name in ("is_temporal", "is_sure", "is_temporal_by_curve", "is_news"):
        assert table[name].to_pylist() == getattr(wanted, name).tolist(), name
    assert table["label_basis"].to_pylist() == wanted.basis.tolist()
    paper = wanted.is_temporal_by_curve if rule == "curve" else wanted.is_news
    assert table["is_temporal"].to_pylist() == paper.tolist()


@pytest.mark.parametrize("asset", ["interest_curves", "page_labels"])
def test_everything_promised_holds(here: Histories, asset: str) -> None:
    inspector = Inspector(here.store, here.engine, here.settings)
    findings = inspector.inspect(contracts.table(asset), [here.day])[here.day]
    wrong = [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ]
    assert wrong == []


def test_a_threshold_makes_what_depends_on_it_stale(here: Histories) -> None:
    def fresh(**labels: float) -> tuple[bool, bool]:
        settings = here.settings.model_copy(
            update={"labels": here.settings.labels.model_copy(update=labels)}
        )
        return (
            is_fresh(here.store, settings, INTEREST_CURVES, here.day),
            is_fresh(here.store, settings, PAGE_LABELS, here.day),
        )

    assert fresh() == (True, True)
    assert fresh(q=0.8) == (True, False)
    assert fresh(n=2.0) == (False, False)


def test_weekdays_of_a_site_are_removed_where_that_is_asked_for(
    engine: Engine, tmp_path: Path
) -> None:
    views = draw(150, 42, seed=6, weekend=0.4).views.astype(np.int64)
    urls = [f"https://{'ab'[n % 2]}.example/{n:04}" for n in range(len(views))]
    actual = Histories(engine, tmp_path, views, 20, urls, curves={"weekdays": "remove"})
    table = histories(actual).astype(np.float64)
    sites = actual.column("page_histories", "site")
    first = actual.day - dt.timedelta(days=41)
    weekday = np.array([(first + dt.timedelta(days=n)).weekday() for n in range(42)])
    for site in ("a.example", "b.example"):
        own = sites == site
        total = table[own].sum(axis=0)
        factors = weekday_factors(total, first.weekday(), observed=actual.observed)
        assert factors[5] < 0.7 < factors[2]
        table[own] /= factors[weekday]
    curves = fit(table, Options("likelihood", n=3.0), observed=actual.observed)
    rows = actual.store.read("interest_curves", actual.day).to_pylist()
    shares = [row["phi_n"] for row in rows]
    assert [p for p in shares if p is not None] == [
        phi
        for phi, code in zip(curves.phi_n, curves.reason, strict=True)
        if code <= Reason.AT_BOUND or code == Reason.ONE_DAY
    ]
    assert len(shares) > 50
