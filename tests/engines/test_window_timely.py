"""What a timely crawler is told of a window, against a count by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.engines.base import Engine
from temporal_assets.windows.crawls.timely_simulation import TIMELY_SIMULATION, new_per_hour
from temporal_assets.windows.frame.asset import Job, Sources
from tests.histories import Histories

DAYS = 10


@pytest.mark.parametrize(("missing", "a_day"), [(None, 24 / 9), (3, 17 / 7), (0, 22 / 8)])
@pytest.mark.parametrize("days_now", [DAYS, 6, 14])
def test_births_are_those_of_crawled_sites_on_days_that_tell(
    engine: Engine, tmp_path: Path, missing: int | None, a_day: float, days_now: int
) -> None:
    """Nine pages are older, two are born on the second day, and three on each one after it.

    Windows may have become shorter or longer since this one was made.
    """
    births = [0] * 9 + [1] * 2 + [2] * 3 + [3] * 3 + [4] * 4 + [5] * 3 + [6] * 3 + [7] * 3
    births += [8] * 3
    views = np.array([[0] * day + [20] * (DAYS - day) for day in births])
    views = np.concatenate([views, views])
    urls = [f"https://{site}.example/{n:03}" for site in "ab" for n in range(len(births))]
    here = Histories(engine, tmp_path, views, missing, urls)
    sites = tmp_path / "sites.parquet"
    pq.write_table(pa.table({"site": ["a.example"]}), sites)
    now = here.settings.window.model_copy(update={"days": days_now})
    job = Job(
        TIMELY_SIMULATION,
        here.store,
        engine,
        here.settings.model_copy(update={"window": now}),
        here.day,
        Sources({}, {}, {}, {}, ()),
        tmp_path,
    )
    assert new_per_hour(job, here.day, [str(sites)]) == pytest.approx(a_day / 24)
