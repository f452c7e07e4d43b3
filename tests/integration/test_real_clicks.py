"""Early labels on the public clicks of a news portal: learned on some days, right on later ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.early_labels import globo, scores
from temporal_assets.core.labels.early import Score
from temporal_assets.core.labels.early_comparison import CONCENTRATION, EARLY, PRIOR
from temporal_assets.core.labels.labels import Thresholds


@pytest.fixture(scope="module")
def found(shared_data: Path) -> dict[tuple[int, str], Score]:
    known, new = globo(shared_data / "globo_clicks" / "clicks_2017-10-01_to_08.parquet")
    assert (len(known.total), len(new.total)) == (1398, 1883)
    answers = scores(known, new, (1, 2), Thresholds(n=1.0, m=1))
    return {(one.age, one.answer): one for one in answers}


def test_two_days_of_clicks_say_more_than_any_other_answer(
    found: dict[tuple[int, str], Score],
) -> None:
    """Measured: 0.958 right against 0.640 by concentration and 0.499 by the portal's history."""
    early = found[2, EARLY]
    assert early.accuracy > 0.93
    assert early.accuracy > found[2, CONCENTRATION].accuracy + 0.15
    assert early.log_loss is not None
    assert early.log_loss < 0.12 < (found[2, PRIOR].log_loss or 0)


def test_one_day_on_one_site_says_something_and_pretends_to_no_more(
    found: dict[tuple[int, str], Score],
) -> None:
    """Measured: 0.695 right; the history of one site says nothing of its pages."""
    early = found[1, EARLY]
    assert early.accuracy > 0.67
    assert early.reliability is not None
    assert early.reliability.error < 0.08
    assert early.log_loss is not None
    assert early.log_loss < 0.55 < (found[1, PRIOR].log_loss or 0)
