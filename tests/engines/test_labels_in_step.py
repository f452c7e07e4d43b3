"""Labels of histories and curves read in step against sql/page_labels.sql."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.core.page_section import SECTION, section_of
from temporal_assets.engines.base import Engine
from temporal_assets.windows.days import counted_days
from temporal_assets.windows.page_labels import write_labels
from temporal_assets.windows.page_labels_in_step import labels_in_step
from temporal_assets.windows.page_rows import OutOfStep
from tests.sites import host_of
from tests.tables import write_table

FIRST = dt.date(2026, 3, 1)
DAYS = 6
DAY = FIRST + dt.timedelta(days=DAYS - 1)
URLS = sorted(
    (
        f"https://{host}{path}"
        for host in ("a.example", "b.example:8080")
        for path in ("/", "/news/1", "/news/2", "/news.php?id=1", "/ü/x")
    ),
    key=lambda url: (host_of(url), url),
)
NAMES = [
    ("all", ""),
    *{("site", host_of(url)): None for url in URLS},
    *{("section", section_of(url)): None for url in URLS},
]
SHARES = [0.0, 0.25, 0.7, 1.0]

Row = dict[str, Any]
a_share = st.sampled_from([None, *SHARES])
a_life = st.fixed_dictionaries(
    {
        "views": st.lists(st.integers(0, 9), min_size=DAYS, max_size=DAYS).filter(any),
        "phi_n": a_share,
        "phi_n_low": a_share,
        "phi_n_high": a_share,
    }
)
a_rule = st.fixed_dictionaries(
    {
        "score": st.sampled_from(["interest", "concentration"]),
        "days": st.integers(1, 4).map(float),
        "threshold": st.sampled_from([*SHARES, 1.91]),
        "is_used": st.booleans(),
    }
)


def write(folder: Path, name: str, rows: list[Row]) -> list[str]:
    schema = contracts.table(name).arrow_schema
    known = [{column: row.get(column) for column in schema.names} for row in rows]
    write_table(pa.Table.from_pylist(known, schema), folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet")]


def tables(lives: dict[str, Row], rules: dict[tuple[str, str], Row], folder: Path) -> Any:
    histories = []
    for url in filter(lives.__contains__, URLS):
        views = lives[url]["views"]
        birth = FIRST + dt.timedelta(days=next(n for n, seen in enumerate(views) if seen))
        page = {"site": host_of(url), "url": url, "birth": birth, "total": sum(views)}
        histories.append(lives[url] | page)
    chosen = [rule | {"scope": scope, "name": name} for (scope, name), rule in rules.items()]
    return {
        "page_histories": write(folder, "page_histories", histories),
        "interest_curves": write(folder, "interest_curves", histories),
        "calibration": write(folder, "calibration", chosen),
    }


def parameters(observed: list[bool], *, calibrated: bool = True) -> Row:
    return {
        "day": DAY,
        **counted_days(FIRST, np.array(observed)),
        "calibrated": calibrated,
        "section": SECTION,
        "n": 3.0,
        "q": 0.7,
        "m": 3,
        "p": 1.91,
    }


@given(
    lives=st.dictionaries(st.sampled_from(URLS), a_life, max_size=8),
    rules=st.dictionaries(st.sampled_from(NAMES), a_rule, max_size=6),
    observed=st.lists(st.booleans(), min_size=DAYS, max_size=DAYS),
    calibrated=st.sampled_from([True, True, False]),
)
@example(lives={}, rules={}, observed=[True] * DAYS, calibrated=True)
@settings(max_examples=60)
def test_labels_are_those_of_the_statement(
    engine: Engine,
    lives: dict[str, Row],
    rules: dict[tuple[str, str], Row],
    observed: list[bool],
    calibrated: bool,
) -> None:
    given_here = parameters(observed, calibrated=calibrated)
    lives = {
        url: life | {"views": views}
        for url, life in lives.items()
        if any(views := [n * there for n, there in zip(life["views"], observed, strict=True)])
    }  # nobody was seen on a day that is missing
    with TemporaryDirectory() as folder:
        inputs = tables(lives, rules, Path(folder))
        table, out = contracts.PAGE_LABELS, Path(folder, "out")
        out.mkdir()
        files = engine.query("page_labels", inputs, given_here, table, out)
        found = labels_in_step(inputs, given_here).read_all()
        assert found.to_pylist() == pq.read_table(files, partitioning=None).to_pylist()


def test_curves_of_other_histories_are_refused(engine: Engine, tmp_path: Path) -> None:
    if engine.spread is not None:
        pytest.skip("a cluster joins them")
    life = {"views": [9] * DAYS, "phi_n": 0.5, "phi_n_low": 0.4, "phi_n_high": 0.6}
    both = tables({URLS[0]: life, URLS[1]: life}, {}, tmp_path)
    for others in ([URLS[0]], [URLS[0], URLS[2]]):
        folder = tmp_path / str(len(others))
        folder.mkdir()
        curves = tables(dict.fromkeys(others, life), {}, folder)["interest_curves"]
        with pytest.raises(OutOfStep, match="`interest_curves` are not of the same pages"):
            write_labels(
                engine, both | {"interest_curves": curves}, parameters([True] * DAYS), folder
            )
