"""sql/labels/page_labels.sql against its definition written row by row, on both engines."""

from __future__ import annotations

import datetime as dt
import math
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
from temporal_assets.core.text.page_section import section_of
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Labels
from temporal_assets.windows.frame.days import day_parameters
from temporal_assets.windows.labels.page_labels import rule_parameters
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
        "is_born_before": st.booleans(),
        "reason": st.sampled_from(["converged", "one_day", "too_young"]),
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
    full_rows = [{column: row.get(column) for column in schema.names} for row in rows]
    write_table(pa.Table.from_pylist(full_rows, schema), folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet")]


def tables(lives: dict[str, Row], rules: dict[tuple[str, str], Row], folder: Path) -> Any:
    histories = []
    for url in filter(lives.__contains__, URLS):
        views = lives[url]["views"]
        birth = FIRST + dt.timedelta(days=next(n for n, seen in enumerate(views) if seen))
        page = {"site": host_of(url), "url": url, "birth": birth, "total": sum(views)}
        page["is_born_before"] = lives[url]["is_born_before"]
        histories.append(lives[url] | page)
    chosen = [rule | {"scope": scope, "name": name} for (scope, name), rule in rules.items()]
    return {
        "page_histories": write(folder, "page_histories", histories),
        "interest_curves": write(folder, "interest_curves", histories),
        "calibration": write(folder, "calibration", chosen),
    }


def parameters(observed: list[bool], labels: Labels) -> Row:
    return {"day": DAY, **day_parameters(FIRST, np.array(observed)), **rule_parameters(labels)}


def thresholds_of(url: str, rules: dict[tuple[str, str], Row], labels: Labels) -> Row:
    """q, m and p of a page: those of its section before its site's, before everybody's."""
    actual: Row = {"q": labels.q, "m": labels.m, "p": labels.p, "thresholds": "settings"}
    if labels.thresholds == "settings":
        return actual
    for scope, name in (("all", ""), ("site", host_of(url)), ("section", section_of(url))):
        rule = rules.get((scope, name))
        if rule is None or not rule["is_used"]:
            continue
        actual["thresholds"] = scope
        if rule["score"] == "interest":
            actual["q"] = rule["threshold"]
        else:
            actual |= {"m": int(rule["days"]), "p": rule["threshold"]}
    return actual


def labelled(url: str, life: Row, observed: list[bool], own: Row, labels: Labels) -> Row:
    """A row of `page_labels` as its contract says it."""
    views, total = life["views"], sum(life["views"])
    born = next(n for n, count in enumerate(views) if count)
    days = sum(observed[born:])
    n_days = math.ceil(labels.n)
    m_days = sum(observed[born : born + own["m"]])
    share = sum(views[born : born + n_days]) / total
    m_share = sum(views[born : born + own["m"]]) / total
    has_concentration = days > m_days
    c = m_share * days / m_days if has_concentration else 1.0
    by_curve = life["phi_n"] is not None and life["phi_n"] > own["q"]
    is_news = has_concentration and c > own["p"]
    is_observed = len(views) - born >= 5 and days > sum(observed[born : born + n_days])
    if labels.rule == "concentration":
        basis = "concentration" if has_concentration else "none"
    elif labels.rule == "observed" and is_observed:
        basis = "cut_share" if life["is_born_before"] else "share"
    elif life["phi_n"] is None:
        basis = "none"
    else:
        basis = "limit" if life["reason"] == "one_day" else "curve"
    cut_q = own["q"] + (1 - own["q"]) / 6
    decided = {"share": share > own["q"], "cut_share": share > cut_q}
    decided |= {"concentration": is_news, "none": False}
    low, high = life["phi_n_low"], life["phi_n_high"]
    curve_is_sure = (low is not None and low > own["q"]) or (high is not None and high <= own["q"])
    cut = own["p"] * m_days / days
    sure = {
        "share": (share - own["q"]) ** 2 > 3.8415 * own["q"] * (1 - own["q"]) / total,
        "cut_share": (low is not None and low > own["q"])
        if share > cut_q
        else (high is not None and high <= own["q"]),
        "concentration": (m_share - cut) ** 2 > 3.8415 * cut * (1 - cut) / total,
        "none": False,
    }
    return {
        "day": DAY,
        "site": host_of(url),
        "url": url,
        "is_temporal": decided.get(basis, by_curve),
        "label_basis": basis,
        "is_sure": sure.get(basis, curve_is_sure),
        "is_temporal_by_curve": by_curve,
        "is_news": is_news,
        "first_share": pytest.approx(share),
        "phi_n": life["phi_n"],
        "concentration": pytest.approx(c),
        "has_concentration": has_concentration,
        "n": labels.n,
        **own,
    }


@given(
    lives=st.dictionaries(st.sampled_from(URLS), a_life, max_size=8),
    rules=st.dictionaries(st.sampled_from(NAMES), a_rule, max_size=6),
    observed=st.lists(st.booleans(), min_size=DAYS, max_size=DAYS),
    rule=st.sampled_from(["observed", "curve", "concentration"]),
    thresholds=st.sampled_from(["calibrated", "settings"]),
    n=st.sampled_from([1.0, 2.5, 3.0]),
)
@example(lives={}, rules={}, observed=[True] * DAYS, rule="curve", thresholds="settings", n=3.0)
@settings(max_examples=60)
def test_labels_are_what_their_contract_says(
    engine: Engine,
    lives: dict[str, Row],
    rules: dict[tuple[str, str], Row],
    observed: list[bool],
    rule: Any,
    thresholds: Any,
    n: float,
) -> None:
    labels = Labels(rule=rule, thresholds=thresholds, n=n)
    lives = {
        url: life | {"views": views}
        for url, life in lives.items()
        if any(views := [n * there for n, there in zip(life["views"], observed, strict=True)])
    }  # nobody was seen on a day that is missing
    wanted = [
        labelled(url, lives[url], observed, thresholds_of(url, rules, labels), labels)
        for url in filter(lives.__contains__, URLS)
    ]
    with TemporaryDirectory() as folder:
        inputs = tables(lives, rules, Path(folder))
        table, out = contracts.PAGE_LABELS, Path(folder, "out")
        out.mkdir()
        files = engine.query("page_labels", inputs, parameters(observed, labels), table, out)
        rows = pq.read_table(files, partitioning=None).to_pylist()
    assert rows == wanted
