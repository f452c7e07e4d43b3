"""Links to temporal pages by the numbers of days, against a loop over all visits."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.engines.base import Engine
from temporal_assets.windows.hubs import wanted_links
from temporal_assets.windows.hubs.wanted_links import TooManyLinks
from tests.engines.test_traffic_incremental import LENGTH, URLS, Traffic, Visit, many_days

LAST = LENGTH - 1


def _expected(here: Traffic) -> tuple[dict[tuple[str, int], list[int]], np.ndarray, int]:
    """Days of the links from pages, the number of each page if it is wanted, and how many are."""
    rows = here.rows(LAST)
    wanted = [url for url, row in rows.items() if row["is_temporal"]]
    links: dict[tuple[str, int], list[int]] = {}
    for day, visits in enumerate(here.days[:LENGTH]):
        for referrer, target, _ in visits:
            if referrer in rows and referrer != target and target in wanted:
                links.setdefault((str(referrer), wanted.index(target)), []).append(day)
    number = [wanted.index(url) if url in wanted else -1 for url in rows]
    return links, np.array(number, np.int32), len(wanted)


@settings(max_examples=40)
@given(days=many_days, held=st.sampled_from([0, 4]))
def test_links_are_those_of_a_loop(duckdb: Engine, days: list[list[Visit]], held: int) -> None:
    """Also where those of all days are not held at once."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(wanted_links, "_HELD", held)
        here = Traffic(duckdb, Path(folder), days)
        job = here.hubs_job(LAST, Path(folder))
        links, number, wanted = _expected(here)
        actual: Any = wanted_links.wanted_links(job, number, wanted, 100)
        urls = actual.url.to_pylist()
        assert urls == [url for url in here.rows(LAST) if url in {hub for hub, _ in links}]
        pairs = [(urls[at], n) for at, n in zip(actual.source, actual.target, strict=True)]
        assert pairs == sorted(links, key=lambda pair: (urls.index(pair[0]), pair[1]))
        assert actual.first_day.tolist() == [min(links[pair]) for pair in pairs]
        assert actual.last_day.tolist() == [max(links[pair]) for pair in pairs]
        other = np.append(number, np.int32(-1))
        assert wanted_links.wanted_links(job, other, wanted, 100) is None


def test_what_does_not_fit_is_said(duckdb: Engine, tmp_path: Path) -> None:
    ring = zip(URLS, [*URLS[1:], URLS[0]], strict=True)
    days: list[list[Visit]] = [[(None, one, 1), (one, other, 1)] for one, other in ring]
    here = Traffic(duckdb, tmp_path / "numbered", days)
    job = here.hubs_job(LAST, tmp_path)
    links, number, wanted = _expected(here)
    assert links
    for most in (len(links) - 1, 0):
        with pytest.raises(TooManyLinks):
            wanted_links.wanted_links(job, number, wanted, most)
