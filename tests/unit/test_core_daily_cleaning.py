"""What counts of a day's records, against a loop over them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.traffic.daily_cleaning import (
    MINUTE,
    RobotLimits,
    behaviour,
    in_order,
    once,
)

DAY_LENGTH = 25 * 60 * MINUTE
records = st.lists(
    st.tuples(st.integers(0, DAY_LENGTH - 1) | st.integers(0, 3), st.integers(0, 3), st.booleans()),
    max_size=40,
)


@given(records, st.integers(-(2**60), 2**60))
def test_records_lie_by_time_and_client(rows: list[tuple[int, int, bool]], start: int) -> None:
    """Of any day, also of one with 25 hours; ties are said of all but the first."""
    time = np.array([when + start for when, _, _ in rows], np.int64)
    client = np.array([one for _, one, _ in rows], np.int32)
    order, is_tied = in_order(time, client)
    moments = [(time[row], client[row]) for row in order]
    assert moments == sorted(moments)
    assert sorted(order) == list(range(len(rows)))
    assert is_tied.tolist() == [
        at > 0 and moments[at] == moments[at - 1] for at in range(len(rows))
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_a_record_counts_as_often_as_in_the_log_that_has_it_most_often(
    rows: list[tuple[int, int]],
) -> None:
    rows = sorted(rows)
    record, source = np.array(rows, np.int64).reshape(-1, 2).T
    counts = once(record, source.astype(np.int32))
    kept = Counter(one for (one, _), is_kept in zip(rows, counts, strict=True) if is_kept)
    of_log = Counter(rows)
    assert kept == {
        one: max(of_log[one, log] for log in range(4)) for one in {one for one, _ in rows}
    }


@given(records, st.integers(-(2**40), 2**40), st.integers(1, 5), st.integers(0, 5))
def test_robots_are_those_of_a_loop(
    rows: list[tuple[int, int, bool]], start: int, per_minute: int, silent: int
) -> None:
    time = np.array([when + start for when, _, _ in rows], np.int64)
    client = np.array([one for _, one, _ in rows], np.int32)
    referred = np.array([has for _, _, has in rows], np.bool_)
    order, _ = in_order(time, client)
    robots = behaviour(order, time, client, referred, 4).robots(RobotLimits(per_minute, silent))
    for one in range(4):
        own = [(int(when), has) for when, who, has in zip(time, client, referred, strict=True)
               if who == one]  # fmt: skip
        minutes = Counter(when // MINUTE for when, _ in own)
        is_fast = max(minutes.values(), default=0) > per_minute
        is_silent = silent > 0 and len(own) >= silent and not any(has for _, has in own)
        assert robots["bot_rate"][one] == is_fast
        assert robots["bot_no_referrer"][one] == (is_silent and not is_fast)
