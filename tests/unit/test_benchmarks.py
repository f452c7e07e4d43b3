"""Benchmarks: stages up to a policy, and lives that a window truncates."""

from __future__ import annotations

import numpy as np

from benchmarks import scaling, synthetic, truncation
from benchmarks.paper_scale import WINDOWS
from temporal_assets.windows.registry import WINDOW_NAMES


def test_every_window_asset_up_to_the_policy_is_a_stage() -> None:
    assert WINDOW_NAMES[: WINDOW_NAMES.index("crawl_policy") + 1] == WINDOWS


def test_a_population_is_its_seed() -> None:
    first, again, other = (synthetic.draw(300, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.views, again.views)
    assert first.views.shape != other.views.shape or (first.views != other.views).any()
    assert (first.views.sum(axis=1) >= 60).all()


def test_no_page_is_seen_before_its_birth() -> None:
    people = synthetic.draw(500, seed=1)
    first = (people.views > 0).argmax(axis=1)
    assert (first >= np.floor(people.birth)).all()


def test_truth_with_a_base_counts_one_window_of_it() -> None:
    people = synthetic.draw(500, seed=1, base=1.0)
    assert (people.accumulated(60) < 1).all()
    assert (people.accumulated(3) < people.accumulated(10)).all()


def test_every_answer_is_scored_on_every_part() -> None:
    people = synthetic.draw(400, seed=1)
    rows = truncation.compare(people)
    names = set(truncation.answers())
    assert {(row.answer, row.part) for row in rows} == {
        (name, part) for name in names for part in ("all", "whole", "cut left", "cut right")
    }
    for name in names:
        pages = {row.part: row.outcome.pages for row in rows if row.answer == name}
        assert pages["all"] == pages["whole"] + pages["cut left"] + pages["cut right"]


def test_the_likelihood_labels_cut_lives_better_than_raw_shares_and_the_dots() -> None:
    people = synthetic.draw(4000, seed=1)
    rows = {(r.answer, r.part): r.outcome for r in truncation.compare(people)}
    best = rows["likelihood", "cut right"]
    assert best.accuracy > rows["raw share", "cut right"].accuracy
    assert best.accuracy > rows["concentration", "cut right"].accuracy
    everywhere = rows["likelihood", "all"].accuracy
    assert everywhere > rows["least squares", "all"].accuracy


def test_a_billion_is_the_larger_slope_times_what_is_read() -> None:
    def row(read: float, shuffled: float, processor: float) -> dict[str, float]:
        return {"read": read, scaling.SHUFFLED: shuffled, "processor": processor}

    # Two seconds a gigabyte, and five that the statement costs however little it reads.
    small = {"page_traffic": row(1e9, 5e9, 7), "start": row(0, 0, 3)}
    large = {"page_traffic": row(4e9, 16e9, 13), "start": row(0, 0, 3)}
    assert scaling.slopes(small, large).splitlines()[2:] == [
        "| `page_traffic` | 1,000.0 | 4,000.0 | 5.0 | 4.0 | 7 | 13 |",
        "| `start` | 0.0 | 0.0 | 0.0 | 0.0 | 3 | 3 |",
    ]
    assert scaling.at_a_billion(small, large).splitlines()[2:] == [
        "| `page_traffic` | 2,700 GB | 13,500 GB | 2 |",
        "| **all** | | 13,500 GB | 2 |",
    ]
