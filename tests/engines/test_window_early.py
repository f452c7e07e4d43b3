"""`early_labels` against views counted by hand and the model called by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from temporal_assets import contracts
from temporal_assets.core.labels.early import AGES, learn
from temporal_assets.core.labels.early_comparison import (
    ALWAYS,
    CONCENTRATION,
    CURVE,
    EARLY,
    PRIOR,
    SHARE,
)
from temporal_assets.core.text.page_section import section_of
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.windows.frame.asset import job_of
from temporal_assets.windows.labels import first_days as first_days_module
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.early_trial import early_trial
from temporal_assets.windows.labels.first_days import first_days
from tests.histories import Histories

DAYS = 60
NEWS, GUIDE = "https://a.example/news", "https://a.example/guide"


def population(seed: int) -> tuple[np.ndarray, list[str]]:
    """News that is over in days, and guides that go on; born on all days of the window."""
    rng = np.random.default_rng(seed)
    views, urls = [], []
    for page in range(420):
        is_news, born = page % 2 == 0, int(rng.integers(0, DAYS))
        age = np.arange(DAYS) - born
        interest = np.where(age >= 0, (0.35 if is_news else 0.99) ** np.maximum(age, 0), 0.0)
        drawn = rng.poisson(interest * (120 if is_news else 6))
        drawn[born] += 1
        views.append(drawn)
        urls.append(f"{NEWS if is_news else GUIDE}/{page:04}")
    return np.array(views), urls


@pytest.fixture(scope="module", params=[None, 56], ids=["all days", "a young day missing"])
def here(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Histories:
    views, urls = population(1)
    return Histories(engine, tmp_path_factory.mktemp("state"), views, request.param, urls)


def rows(here: Histories) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in here.store.read("early_labels", here.day).to_pylist()}


def lived(here: Histories, page: int) -> np.ndarray:
    """Views of a page by day from its birth on, on missing days the geometric mean around them.

    Of a missing seventh day they are those of the sixth: no later one is looked at.
    """
    views = here.views[page]
    if not views.any():
        return views[:0]
    born = int((views > 0).argmax())
    whole = views.astype(float)
    for day in np.flatnonzero(~here.observed):
        if born < day:
            after = day + 1 if day < born + 6 else day - 1
            whole[day] = np.sqrt((views[day - 1] + 0.5) * (views[after] + 0.5)) - 0.5
    return whole[born:]


def test_young_pages_are_those_born_in_the_last_week(here: Histories) -> None:
    wanted = {}
    for page, url in enumerate(here.urls):
        active = np.flatnonzero(here.views[page])
        if len(active) and active[0] >= DAYS - 7:
            wanted[url] = (DAYS - active[0], int(here.views[page].sum()))
    actual = {url: (row["age"], row["total"]) for url, row in rows(here).items()}
    assert actual == wanted
    assert {row["section"] for row in rows(here).values()} == {
        "a.example/news/",
        "a.example/guide/",
    }


def test_probabilities_are_those_of_the_model_learned_from_what_pages_did(here: Histories) -> None:
    known = []
    for page, url in enumerate(here.urls):
        born, total = int((here.views[page] > 0).argmax()), int(here.views[page].sum())
        if 7 <= born <= DAYS - 7 and total >= 3 and here.observed[born : born + 3].all():
            known.append((born, url, page))
    known.sort()
    first = np.array([np.pad(lived(here, page), (0, 7))[:7] for _, _, page in known])
    total = np.array([here.views[page].sum() for _, _, page in known])
    truth = first[:, :3].sum(axis=1) / total > 0.7
    sites = np.full(len(known), "a.example")
    sections = np.array([section_of(url) for _, url, _ in known])
    seen = np.array([len(lived(here, page)) for _, _, page in known])
    model = learn(first, truth, sites, sections, seen_days=seen)
    assert 0 < truth.sum() < len(truth)
    # Pages too seldom read for a history are learned from as well.
    assert (total < DAYS).any()
    for url, row in rows(here).items():
        page = here.urls.index(url)
        views = np.zeros((1, 7))
        views[0, : row["age"]] = lived(here, page)
        expected = model.probability(views, [row["age"]], ["a.example"], [section_of(url)])
        assert row["probability"] == pytest.approx(expected[0], rel=1e-9)
        assert (row["basis"], row["learned_from"]) == ("views", len(known))


def test_of_many_known_pages_every_so_manieth_is_learned_from(
    here: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are drawn in the order of their URLs, on a walk and by the statement."""
    monkeypatch.setattr(first_days_module, "MOST_KNOWN", 50)
    job = job_of(here.store, here.engine, here.settings, EARLY_LABELS, here.day, tmp_path)
    known, young = first_days(job)
    assert 20 < len(known) <= 50
    # The last four weeks have as many alone.
    assert known.born.min() >= np.datetime64(here.day) - 27
    assert len(young) == len(rows(here))
    monkeypatch.setattr(first_days_module, "walk", lambda *_: None)
    asked, also_young = first_days(job)
    assert asked.first_views.tolist() == known.first_views.tolist()
    assert asked.is_temporal.tolist() == known.is_temporal.tolist()
    assert also_young.to_pylist() == young.to_pylist()


def test_probabilities_say_what_pages_are(here: Histories) -> None:
    news = [r["probability"] for url, r in rows(here).items() if url.startswith(NEWS)]
    guides = [r["probability"] for url, r in rows(here).items() if url.startswith(GUIDE)]
    assert np.mean(news) > 0.9
    assert np.mean(guides) < 0.1


def test_the_trial_judges_later_pages_by_earlier_ones(here: Histories, tmp_path: Path) -> None:
    scores = early_trial(here.store, here.engine, here.settings, here.day, tmp_path)
    actual = {(score.age, score.answer): score for score in scores}
    answers = (EARLY, PRIOR, SHARE, ALWAYS, CURVE, CONCENTRATION)
    assert set(actual) == {(age, answer) for age in AGES for answer in answers}
    assert actual[7, EARLY].accuracy > 0.9
    # Half of the pages are of each kind, and on their first day all views are of the first days.
    assert actual[1, SHARE].accuracy == pytest.approx(actual[1, ALWAYS].accuracy, abs=0.2)
    for age in AGES:
        own = actual[age, EARLY]
        best = max(actual[age, answer].accuracy for answer in answers[1:])
        assert own.lead is not None
        assert actual[age, own.rival].accuracy == best
        assert own.lead.value == pytest.approx(own.accuracy - best)
        assert own.lead.low < own.lead.value < own.lead.high
    labels = here.settings.labels.model_copy(update={"q": 0.01, "m": 1, "p": 0.01})
    other = here.settings.model_copy(update={"labels": labels})
    # By a threshold that all pages pass, nothing is to be learned.
    assert early_trial(here.store, here.engine, other, here.day, tmp_path) == []


def test_everything_promised_holds(here: Histories) -> None:
    inspector = Inspector(here.store, here.engine, here.settings)
    findings = inspector.inspect(contracts.EARLY_LABELS, [here.day])[here.day]
    assert [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ] == []


def test_the_statement_gives_what_the_walk_does(
    here: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, but on a cluster, which only asks the statement."""
    published = here.store.files("early_labels", here.day)
    monkeypatch.setattr(first_days_module, "walk", lambda *_: None)
    job = job_of(here.store, here.engine, here.settings, EARLY_LABELS, here.day, tmp_path)
    asked = EARLY_LABELS.make(job)
    assert [path.read_bytes() for path in asked] == [Path(one).read_bytes() for one in published]


@pytest.mark.parametrize(("days", "basis"), [(3, "nothing"), (6, "nothing"), (12, "views")])
def test_short_logs_say_what_they_rest_on(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, days: int, basis: str
) -> None:
    """Under a week nothing is known; under two weeks, what the first births did."""
    views, urls = population(2)
    short = Histories(engine, tmp_path_factory.mktemp("short"), views[:, -days:], None, urls)
    actual = rows(short).values()
    assert {row["basis"] for row in actual} == {basis}
    is_known = basis != "nothing"
    assert {row["probability"] is not None for row in actual} == {is_known}
    assert {row["learned_from"] > 0 for row in actual} == {is_known}
    inspector = Inspector(short.store, short.engine, short.settings)
    judged = inspector.inspect(contracts.EARLY_LABELS, [short.day])[short.day]
    assert [judgement for judgement in judged if judgement.status is Status.BROKEN] == []


def test_births_count_from_the_first_day_with_data(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Five weeks of logs in a window of sixty days: old pages are not taken for new ones."""
    views, urls = population(3)
    missing = range(25)
    late = Histories(engine, tmp_path_factory.mktemp("late"), views, missing, urls)
    wanted = 0
    for page in late.views:
        born = int((page > 0).argmax())
        wanted += 25 + 7 <= born <= DAYS - 7 and page.sum() >= 3
    assert {row["learned_from"] for row in rows(late).values()} == {wanted}
