"""`early_labels` against views counted by hand and the model called by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from temporal_assets import contracts
from temporal_assets.core.early import AGES, COPIES, learn
from temporal_assets.core.early_comparison import ANSWERS
from temporal_assets.core.page_section import section_of
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import Settings
from temporal_assets.windows import early_labels
from temporal_assets.windows.asset import job_of
from temporal_assets.windows.early_labels import EARLY_LABELS
from temporal_assets.windows.early_trial import early_trial
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


def seen_days(here: Histories, page: int) -> np.ndarray:
    """Views of a page on the days that are there, from its birth on."""
    views = here.views[page][here.observed]
    return views[(views > 0).argmax() :] if views.any() else views[:0]


def test_young_pages_are_those_born_in_the_last_week(here: Histories) -> None:
    wanted = {}
    for page, url in enumerate(here.urls):
        active = np.flatnonzero(here.views[page])
        if len(active) and active[0] >= DAYS - 7:
            wanted[url] = (len(seen_days(here, page)), int(here.views[page].sum()))
    found = {url: (row["age"], row["total"]) for url, row in rows(here).items()}
    assert found == wanted
    assert {row["section"] for row in rows(here).values()} == {
        "a.example/news/",
        "a.example/guide/",
    }


def test_probabilities_are_those_of_the_model_learned_from_complete_pages(here: Histories) -> None:
    labels = {r["url"]: r for r in here.store.read("page_labels", here.day).to_pylist()}
    complete = []
    for page, url in enumerate(here.urls):
        born = int((here.views[page] > 0).argmax())
        if url in labels and 7 <= born <= DAYS - 28 and labels[url]["phi_n"] is not None:
            complete.append((born, url, page))
    complete.sort()
    first = np.array([seen_days(here, page)[:14] for _, _, page in complete])
    truth = np.array([labels[url]["is_temporal"] for _, url, _ in complete])
    sites = np.full(len(complete), "a.example")
    sections = np.array([section_of(url) for _, url, _ in complete])
    model = learn(first, truth, sites, sections, copies=COPIES)
    assert 0 < truth.sum() < len(truth)
    for url, row in rows(here).items():
        page = here.urls.index(url)
        views = np.zeros((1, 7))
        views[0, : row["age"]] = seen_days(here, page)
        expected = model.probability(views, [row["age"]], ["a.example"], [section_of(url)])
        assert row["probability"] == pytest.approx(expected[0], rel=1e-9)
        assert (row["basis"], row["learned_from"]) == ("views", len(complete))


def test_probabilities_say_what_pages_are(here: Histories) -> None:
    news = [r["probability"] for url, r in rows(here).items() if url.startswith(NEWS)]
    guides = [r["probability"] for url, r in rows(here).items() if url.startswith(GUIDE)]
    assert np.mean(news) > 0.9
    assert np.mean(guides) < 0.1


def test_the_trial_judges_by_the_thresholds_and_days_that_labels_were_made_with(
    here: Histories, tmp_path: Path
) -> None:
    def right(settings: Settings) -> dict[tuple[int, str], float]:
        scores = early_trial(here.store, here.engine, settings, here.day, tmp_path)
        return {(one.age, one.answer): one.accuracy for one in scores}

    wanted = right(here.settings)
    assert set(wanted) == {(age, answer) for age in AGES for answer in ANSWERS}
    labels = here.settings.labels.model_copy(update={"q": 0.01, "m": 1, "p": 0.01})
    assert right(here.settings.model_copy(update={"labels": labels})) == wanted
    shorter = here.settings.window.model_copy(update={"days": 40})
    assert right(here.settings.model_copy(update={"window": shorter})) == wanted


def test_everything_promised_holds(here: Histories) -> None:
    inspector = Inspector(here.store, here.engine, here.settings)
    found = inspector.inspect(contracts.EARLY_LABELS, [here.day])[here.day]
    assert [one for one in found if one.status not in (Status.HELD, Status.NOT_JUDGED)] == []


def test_the_statement_gives_what_the_walk_does(
    here: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, but on a cluster, which only asks the statement."""
    published = here.store.files("early_labels", here.day)
    monkeypatch.setattr(early_labels, "walk", lambda *_: None)
    job = job_of(here.store, here.engine, here.settings, EARLY_LABELS, here.day, tmp_path)
    asked = EARLY_LABELS.make(job)
    assert [path.read_bytes() for path in asked] == [Path(one).read_bytes() for one in published]


def test_where_nothing_is_complete_nothing_is_promised(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    views, urls = population(2)
    short = Histories(engine, tmp_path_factory.mktemp("short"), views[:, -20:], None, urls)
    found = rows(short).values()
    assert {(r["basis"], r["probability"], r["prior"], r["learned_from"]) for r in found} == {
        ("nothing", None, None, 0)
    }
    inspector = Inspector(short.store, short.engine, short.settings)
    judged = inspector.inspect(contracts.EARLY_LABELS, [short.day])[short.day]
    assert [one for one in judged if one.status is Status.BROKEN] == []
