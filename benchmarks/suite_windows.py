"""Lines of the benchmark suite about windows of sixty days: totals, histories, labels.

Not here: curves (`suite_lists`), what lists are made of labels (`suite_lists`).
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.suite_job import Done, Job, Sized, same_rows

if TYPE_CHECKING:
    from temporal_assets.engines.base import Engine

_PAGES: Final[Sized] = {"small": 40_000, "medium": 400_000, "paper": 2_000_000}
FIRST: Final = dt.date(2025, 3, 3)
_DAYS: Final = 60
_LAST: Final = FIRST + dt.timedelta(days=_DAYS)
"""Last day of the window that is made; the window before it ends a day earlier."""
_SECOND: Final = FIRST + dt.timedelta(days=1)
_LEAST: Final = 60
"""Views that make a page reliable: one a day."""
_LABELLED: Final = "labels.parquet"
"""File of labels that Polars makes of curves and histories."""
_THRESHOLDS: Final = {"n": 3.0, "q": 0.7, "m": 3, "p": 1.91}


def write_views(folder: Path, size: str) -> None:
    """Sixty-one days of page views, and the totals and histories of both windows."""
    from benchmarks.suite_page_views import write_page_views
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    write_page_views(Store.open(load_settings(folder / "state")), _PAGES[size], _DAYS + 1)
    days = _days(folder)
    for name, last, views in (("before", _LAST - dt.timedelta(days=1), days[:-1]),
                              ("now", _LAST, days[1:])):  # fmt: skip
        out = folder / name
        out.mkdir()
        _make(folder, "page_totals", {"page_views": views}, _totals(last), out)
        inputs = {"page_totals": [str(out / "page_totals.parquet")], "page_views": views}
        _make(folder, "page_histories", inputs, _histories(last), out)
    _write_curves(folder)


def _write_curves(folder: Path) -> None:
    """Write the columns of curves that labels need, for every history; and no calibration."""
    from temporal_assets import contracts

    pages = pq.read_table(folder / "now" / "page_histories.parquet", columns=["site", "url"])
    phi = np.random.default_rng(1).random(len(pages))
    low, high = np.maximum(phi - 0.05, 0), np.minimum(phi + 0.05, 1)
    for name, values in (("phi_n", phi), ("phi_n_low", low), ("phi_n_high", high)):
        pages = pages.append_column(name, pa.array(values))
    pages = pages.append_column("reason", pa.repeat("converged", len(pages)))
    pq.write_table(pages, folder / "now" / "interest_curves.parquet")
    none = contracts.table("calibration").arrow_schema.empty_table()
    pq.write_table(none, folder / "now" / "calibration.parquet")


def _make(folder: Path, sql: str, inputs: dict[str, list[str]], parameters: Any, out: Path) -> None:
    from temporal_assets import contracts
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings

    engine = DuckDBEngine(load_settings(folder / "state"))
    engine.query(sql, inputs, parameters, contracts.table(sql), out)
    engine.close()


def queried(folder: Path, sql: str, inputs: dict[str, list[str]], parameters: Any) -> Job:
    """Return a job that runs a SQL file of ours over Parquet, into Parquet."""
    from temporal_assets import contracts

    table = contracts.table(sql)
    files = [path for several in inputs.values() for path in several]
    return published_by(
        folder, files, lambda engine, out: engine.query(sql, inputs, parameters, table, out)
    )


def published_by(
    folder: Path, inputs: list[str], make: Callable[[Engine, Path], list[Path]]
) -> Job:
    """Return a job in which an engine makes one file of Parquet files in a folder."""
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings

    engine = DuckDBEngine(load_settings(folder / "state"))
    rows = sum(pq.read_metadata(path).num_rows for path in inputs)
    out = Path(tempfile.mkdtemp(dir=folder))  # written over, as the files of the others

    def job() -> Done:
        (path,) = make(engine, out)
        return rows, pq.read_metadata(path).num_rows

    job()  # the database is open
    return job


def _days(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / "state/tables/page_views").glob("*/*.parquet"))


def _of(folder: Path, window: str, table: str) -> list[str]:
    return [str(folder / window / f"{table}.parquet")]


def _totals(last: dt.date) -> dict[str, Any]:
    from temporal_assets.windows.pages.page_totals import whole_window

    return whole_window(last - dt.timedelta(days=_DAYS - 1), last)


def _histories(last: dt.date) -> dict[str, Any]:
    first = last - dt.timedelta(days=_DAYS - 1)
    return {"day": last, "first": first, "observed_from": first, "days": _DAYS, "least": _LEAST}


def _window_rows(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in _days(folder)[1:])


# Totals and births ---------------------------------------------------------------------------


def totals_by_us(folder: Path, _: str) -> Job:
    """`sql/pages/page_totals.sql`."""
    return queried(folder, "page_totals", {"page_views": _days(folder)[1:]}, _totals(_LAST))


def totals_incremental(folder: Path, _: str) -> Job:
    """Return a job that makes totals from the window of the day before."""
    from temporal_assets.windows.frame.incremental import Earlier
    from temporal_assets.windows.pages.page_totals_incremental import go_on

    days = _days(folder)
    earlier = Earlier(_of(folder, "before", "page_totals"), 1, days[-1:], days[:1])
    files = [*earlier.files, *earlier.entering, *earlier.leaving]
    job = published_by(
        folder, files, lambda engine, out: go_on(engine, earlier, _SECOND, _LAST, out, 2)
    )
    rows = _window_rows(folder)
    return lambda: (rows, job()[1])  # the window's rows, which it need not read


def totals_by_pandas(folder: Path, _: str) -> Job:
    """Grouped by URL."""
    import pandas as pd

    def job() -> Done:
        read = pd.concat([pd.read_parquet(path) for path in _days(folder)[1:]])
        groups = read.groupby(["site", "url"], sort=True)
        out = groups.agg(total=("views", "sum"), birth=("day", "min")).reset_index()
        out.to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(read), len(out)

    return job


def totals_by_polars(folder: Path, _: str) -> Job:
    """The same."""
    import polars as pl

    def job() -> Done:
        read = pl.read_parquet(_days(folder)[1:])
        out = read.group_by("site", "url").agg(
            pl.col("views").sum().alias("total"), pl.col("day").min().alias("birth")
        )
        out.sort("site", "url").write_parquet(folder / "polars.parquet")
        return len(read), len(out)

    return job


# Rolling histories ---------------------------------------------------------------------------


def histories_incremental(folder: Path, _: str) -> Job:
    """Totals from those of the day before, and histories by a walk along all days."""
    from benchmarks.window_builds import job_of
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES

    settings = load_settings(folder / "state")
    store, engine = Store.open(settings), DuckDBEngine(settings)
    with store.scratch() as scratch:
        copy = shutil.copy(folder / "now" / "page_totals.parquet", scratch)
        store.publish("page_totals", _LAST, [Path(copy)], inputs=(), settings_digest="")

    def histories() -> Done:
        with job_of(store, engine, settings, PAGE_HISTORIES, _LAST) as job:
            (path,) = PAGE_HISTORIES.make(job)
            return 0, pq.read_metadata(path).num_rows

    return _both(folder, totals_incremental(folder, ""), histories)


def histories_anew(folder: Path, _: str) -> Job:
    """The same from all days."""
    totals = totals_by_us(folder, "")
    inputs = {"page_totals": _of(folder, "now", "page_totals"), "page_views": _days(folder)[1:]}
    return _both(folder, totals, queried(folder, "page_histories", inputs, _histories(_LAST)))


def _both(folder: Path, totals: Job, histories: Job) -> Job:
    rows = _window_rows(folder)

    def job() -> Done:
        totals()
        return rows, histories()[1]

    return job


def histories_by_pandas(folder: Path, _: str) -> Job:
    """Totals, and a table of reliable pages by days."""
    import pandas as pd

    def job() -> Done:
        read = pd.concat([pd.read_parquet(path) for path in _days(folder)[1:]])
        groups = read.groupby(["site", "url"], sort=True)
        totals = groups.agg(total=("views", "sum"), birth=("day", "min")).reset_index()
        totals.to_parquet(folder / "pandas.parquet", compression="zstd")
        reliable = totals[totals["total"] >= _LEAST]
        kept = read[read["url"].isin(reliable["url"])]
        wide = kept.pivot(index="url", columns="day", values="views").fillna(0).astype(np.int64)
        lists = reliable.set_index("url").join(
            pd.Series(list(wide.to_numpy()), wide.index, name="views")
        )
        lists.sort_values(["site", "url"]).to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(read), len(lists)

    return job


def histories_by_polars(folder: Path, _: str) -> Job:
    """The same."""
    import polars as pl

    def job() -> Done:
        read = pl.read_parquet(_days(folder)[1:])
        totals = (
            read.group_by("site", "url")
            .agg(pl.col("views").sum().alias("total"), pl.col("day").min().alias("birth"))
            .sort("site", "url")
        )
        totals.write_parquet(folder / "polars.parquet")
        reliable = totals.filter(pl.col("total") >= _LEAST)
        rows = read.join(reliable.select("url"), on="url", how="semi")
        wide = rows.pivot("day", index="url", values="views", sort_columns=True).fill_null(0)
        views = wide.select("url", pl.concat_list(pl.exclude("url")).alias("views"))
        out = reliable.join(views, on="url").sort("site", "url")
        out.write_parquet(folder / "polars.parquet")
        return len(read), len(out)

    return job


# Labels --------------------------------------------------------------------------------------


def labels_by_us(folder: Path, _: str) -> Job:
    """`page_labels`, with thresholds that sites and sections may have of their own."""
    inputs, _ = _labels(folder)
    pages = pq.read_metadata(inputs["page_histories"][0]).num_rows
    files = [path for several in inputs.values() for path in several]
    job = published_by(folder, files, lambda engine, out: _write_labels(engine, folder, out))
    return lambda: (pages, job()[1])


def _write_labels(engine: Engine, folder: Path, out: Path) -> list[Path]:
    from temporal_assets import contracts

    return engine.query("page_labels", *_labels(folder), contracts.PAGE_LABELS, out)


def _labels(folder: Path) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return the inputs of the statement, and its parameters."""
    from temporal_assets.core.text.page_section import SECTION

    names = ("calibration", "interest_curves", "page_histories")
    parameters = {
        "day": _LAST, "first": _SECOND, "days": _DAYS,
        "seen_before": ",".join(map(str, range(_DAYS + 1))),
        "calibrated": True, "section": SECTION, **_THRESHOLDS,
        "rule": "observed", "n_days": 3, "least_days": 5,
    }  # fmt: skip
    return {name: _of(folder, "now", name) for name in names}, parameters


def labels_by_pandas(folder: Path, _: str) -> Job:
    """Phi and concentration beside one threshold for all pages (TW 4.2, NP 4.1)."""
    import pandas as pd

    def job() -> Done:
        pages = pd.read_parquet(folder / "now" / "page_histories.parquet")
        curves = pd.read_parquet(folder / "now" / "interest_curves.parquet")
        both = pages.merge(curves[["url", "phi_n", "phi_n_low", "phi_n_high"]], on="url")
        views = np.stack(both["views"].to_list())
        born = (pd.to_datetime(both["birth"]) - pd.Timestamp(_SECOND)).dt.days.to_numpy()
        age = np.arange(_DAYS) - born[:, None]
        days = _DAYS - born
        first_days = np.minimum(days, _THRESHOLDS["m"])
        first = np.where((age >= 0) & (age < _THRESHOLDS["m"]), views, 0).sum(axis=1)
        is_old = days > first_days
        share = first / both["total"] / (first_days / days)
        both["concentration"] = np.where(is_old, share, 1.0)
        both["is_news"] = (both["concentration"] > _THRESHOLDS["p"]) & is_old
        both["is_temporal"] = both["phi_n"] > _THRESHOLDS["q"]
        both["is_sure"] = (both["phi_n_low"] > _THRESHOLDS["q"]) | (
            both["phi_n_high"] <= _THRESHOLDS["q"]
        )
        out = both.drop(columns="views").sort_values(["site", "url"])
        out.to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(pages), len(out)

    return job


def labels_by_polars(folder: Path, _: str) -> Job:
    """All that ours says, with the thresholds of sections and sites."""
    import polars as pl

    from temporal_assets.core.text.page_section import SECTION

    now = folder / "now"
    of = {"q": "interest", "m": "concentration", "p": "concentration"}

    def job() -> Done:
        pages = pl.read_parquet(now / "page_histories.parquet")
        curves = pl.read_parquet(now / "interest_curves.parquet")
        rules = pl.read_parquet(now / "calibration.parquet").filter("is_used")
        values = {"q": "threshold", "m": "days", "p": "threshold"}
        used = rules.group_by("scope", "name").agg(
            pl.col(values[scope]).filter(pl.col("score") == of[scope]).max().alias(scope)
            for scope in of
        )
        both = pages.join(curves.drop("site"), on="url").with_columns(
            section=pl.col("url").str.extract(SECTION), everywhere=pl.lit("")
        )
        scopes = {"section": "section", "site": "site", "all": "everywhere"}
        for scope, key in scopes.items():
            its = used.filter(pl.col("scope") == scope).select(
                pl.lit("").alias(key) if scope == "all" else pl.col("name").alias(key),
                pl.col("q", "m", "p", "scope").name.suffix(f"_{scope}"),
            )
            both = both.join(its, on=key, how="left")
        chosen = {
            one: pl.coalesce([f"{one}_{scope}" for scope in scopes] + [pl.lit(_THRESHOLDS[one])])
            for one in of
        }
        by = pl.coalesce([f"scope_{scope}" for scope in scopes] + [pl.lit("settings")])
        both = both.with_columns(
            **chosen,
            thresholds=by,
            days=_DAYS - (pl.col("birth") - pl.lit(_SECOND)).dt.total_days(),
        )
        first_days = pl.min_horizontal("days", "m")
        first = pl.col("views").list.slice(_DAYS - pl.col("days"), "m").list.sum()
        is_old = pl.col("days") > first_days
        share = first / pl.col("total") / (first_days / pl.col("days"))
        is_sure = (pl.col("phi_n_low") > pl.col("q")) | (pl.col("phi_n_high") <= pl.col("q"))
        out = both.select(
            "site", "url", "phi_n", "q", "m", "p", "thresholds", day=pl.lit(_LAST),
            is_temporal=(pl.col("phi_n") > pl.col("q")).fill_null(value=False),
            is_sure=is_sure.fill_null(value=False),
            concentration=pl.when(is_old).then(share).otherwise(1.0),
            has_concentration=is_old, n=pl.lit(_THRESHOLDS["n"]),
        )  # fmt: skip
        is_news = (pl.col("concentration") > pl.col("p")) & pl.col("has_concentration")
        out.with_columns(is_news=is_news).sort("site", "url").write_parquet(folder / _LABELLED)
        return len(pages), len(out)

    job()
    return job


def same_labels(folder: Path, _: str) -> None:
    """Return whether Polars makes the rows that ours makes."""
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings

    engine = DuckDBEngine(load_settings(folder / "state"))
    with tempfile.TemporaryDirectory(dir=folder) as out:
        files = _write_labels(engine, folder, Path(out))
        same_rows(folder / _LABELLED, [str(path) for path in files], "url")
    engine.close()
