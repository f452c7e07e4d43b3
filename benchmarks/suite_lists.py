"""Lines of the benchmark suite about pages and lists: curves, scores, prefixes, the report.

Not here: labels (`suite_windows`), hubs (`suite_links`), ranks of graphs (`suite_graphs`).
"""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.suite_job import Done, Job, Setup, Sized

if TYPE_CHECKING:
    from temporal_assets.reports.document import Report

_CURVES: Final[Sized] = {"small": 20_000, "medium": 200_000, "paper": 975_151}
_CURVES_OF_OTHERS: Final = 10
"""They take a hundred milliseconds each; pages per second do not depend on how many there are."""
LABELLED: Final[Sized] = {"small": 100_000, "medium": 250_000, "paper": 975_151}
_SECTIONS: Final[Sized] = {"small": 10, "medium": 40, "paper": 40}
SITES: Final = 2_000


# Curves --------------------------------------------------------------------------------------


def curves_by_us(_: Path, size: str) -> Job:
    """The fitter, with its search, its verdicts and its intervals."""
    from temporal_assets.core import synthetic
    from temporal_assets.core.curves import fit

    views = synthetic.draw(_CURVES[size], 60, seed=1).views
    fit(views[:10])
    return lambda: (len(fit(views).objective), None)


def curves_by_scipy(_: Path, size: str) -> Job:
    """`scipy.optimize.curve_fit` from five starts."""
    from benchmarks.curve_fit import scipy_speed

    views = _some_views(size)

    def job() -> Done:
        scipy_speed(views)
        return len(views), None

    return job


def curves_by_lmfit(_: Path, size: str) -> Job:
    """One start: `LognormalModel`, as its documentation uses it."""
    from lmfit.models import LognormalModel

    views, model = _some_views(size), LognormalModel()

    def job() -> Done:
        for row in views:
            alive = row[int(np.argmax(row > 0)) :]
            x = np.arange(1.0, len(alive) + 1)
            model.fit(alive, model.make_params(amplitude=row.sum(), center=0.5, sigma=1.0), x=x)
        return len(views), None

    return job


def _some_views(size: str) -> Any:
    from temporal_assets.core import synthetic

    drawn = synthetic.draw(_CURVES[size], 60, seed=1).views
    return drawn[(drawn > 0).sum(axis=1) > 5][:_CURVES_OF_OTHERS].astype(np.float64)


# Scores and prefixes -------------------------------------------------------------------------


def write_labels(folder: Path, size: str) -> None:
    """Labels of pages of two thousand sites, with the papers' rules."""
    from benchmarks import sites_and_prefixes as both
    from temporal_assets.engines.duckdb import DuckDBEngine

    store, settings = _scored_store(folder)
    both.write(store, DuckDBEngine(settings), both.make_pages(LABELLED[size], SITES))


def _scored_store(folder: Path) -> tuple[Any, Any]:
    """The store, and the settings that make the lists those of the papers."""
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    rules: dict[str, Any] = {
        "prefixes": {"rule": "paper"}, "privacy": {"min_clients": 1},
    }  # fmt: skip
    settings = load_settings(folder / "labelled", **rules)
    return Store.open(settings), settings


def scores_by_us(folder: Path, _: str) -> Job:
    """`prefix_trees` and `site_scores`, as they are published: both scores, bound, rank, quiet."""
    from benchmarks.window_builds import build
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.windows.prefix_trees import PREFIX_TREES
    from temporal_assets.windows.site_scores import SITE_SCORES

    store, settings = _scored_store(folder)
    engine = DuckDBEngine(settings)

    def job() -> Done:
        for asset in (PREFIX_TREES, SITE_SCORES):
            build(store, engine, settings, asset, labelled_day(store))
        scores = store.read("site_scores", labelled_day(store), ["score", "pages"])
        known = scores.drop_null()
        return sum(known["pages"].to_pylist()), sum(known["score"].to_pylist())

    job()
    return job


def labelled_day(store: Any) -> dt.date:
    """The day of the window: the only one with labels."""
    (day,) = store.days("page_labels")
    found: dt.date = day
    return found


def _label_files(store: Any) -> tuple[str, str]:
    (labels,) = store.files("page_labels", labelled_day(store))
    (histories,) = store.files("page_histories", labelled_day(store))
    return str(labels), str(histories)


def scores_by_pandas(folder: Path, _: str) -> Job:
    """Score1, Score2 and Score of each site (TW 4.3), from the same files."""
    import pandas as pd

    labels_file, histories_file = _label_files(_scored_store(folder)[0])

    def job() -> Done:
        labels = pd.read_parquet(labels_file, columns=["site", "url", "is_temporal"])
        totals = pd.read_parquet(histories_file, columns=["url", "total"])
        both = labels.merge(totals, on="url")
        both["temporal_views"] = both["total"].where(both["is_temporal"], 0)
        found = both.groupby("site").agg(
            pages=("url", "size"), temporal=("is_temporal", "sum"),
            views=("total", "sum"), temporal_views=("temporal_views", "sum"),
        )  # fmt: skip
        page_share = found["temporal"] / found["pages"]
        found["score"] = (3 * page_share + 2 * found["temporal_views"] / found["views"]) / 5
        found.sort_values(["score", "temporal"], ascending=False).to_parquet(
            folder / "pandas.parquet", compression="zstd"
        )
        return len(labels), float(found["score"].sum())

    return job


def scores_by_polars(folder: Path, _: str) -> Job:
    """The same: one score of each site."""
    import polars as pl

    labels_file, histories_file = _label_files(_scored_store(folder)[0])

    def job() -> Done:
        labels = pl.read_parquet(labels_file, columns=["site", "url", "is_temporal"])
        both = labels.join(pl.read_parquet(histories_file, columns=["url", "total"]), on="url")
        temporal = pl.col("is_temporal")
        page_share = temporal.mean()
        view_share = pl.col("total").filter(temporal).sum() / pl.col("total").sum()
        found = both.group_by("site").agg(
            temporal.sum().alias("temporal"), ((3 * page_share + 2 * view_share) / 5).alias("score")
        )
        ranked = found.sort("score", "temporal", descending=True)
        ranked.write_parquet(folder / "polars.parquet")
        return len(labels), float(ranked["score"].sum())

    return job


def sections_by_polars(folder: Path, _: str) -> Job:
    """The scores of every section, too: all folders of all pages, and the programs."""
    import polars as pl

    labels_file, histories_file = _label_files(_scored_store(folder)[0])
    temporal = pl.col("is_temporal")
    sums = {
        "pages": pl.len(), "temporal": temporal.sum(), "news": pl.col("is_news").sum(),
        "curves": pl.col("phi_n").count(), "views": pl.col("total").sum(),
        "temporal_views": pl.col("total").filter(temporal).sum(),
        "recent": pl.col("recent").sum(), "squares": (pl.col("total") ** 2).sum(),
        "clients": pl.col("clients").max(),
    }  # fmt: skip

    def job() -> Done:
        labels = pl.read_parquet(
            labels_file, columns=["site", "url", "is_temporal", "is_news", "phi_n"]
        )
        histories = pl.read_parquet(histories_file, columns=["url", "total", "views"])
        path = pl.col("url").str.replace("^https?://", "").str.split("?").list.first()
        pages = labels.join(histories, on="url").with_columns(
            folders=path.str.split("/"),
            program=pl.when(pl.col("url").str.contains("?", literal=True)).then(path + "?"),
            recent=pl.col("views").list.tail(7).list.sum(),
            clients=pl.col("views").list.max(),
        )
        pages = pages.with_columns(depth=pl.col("folders").list.len() - 1).drop("views")
        levels = []
        for depth in range(1, int(pages["depth"].max()) + 1):
            beneath = pages.filter(pl.col("depth") >= depth)
            folder_of = pl.col("folders").list.head(depth).list.join("/") + "/"
            level = beneath.group_by("site", prefix=folder_of).agg(**sums)
            levels.append(level.with_columns(level=depth))
        programs = pages.drop_nulls("program").group_by("site", prefix="program").agg(**sums)
        levels.append(programs.with_columns(level=0))
        share = 3 * pl.col("temporal") / pl.col("pages")
        score = (share + 2 * pl.col("temporal_views") / pl.col("views")) / 5
        trees = pl.concat(levels, how="vertical_relaxed").with_columns(score=score)
        trees.sort("site", "prefix").write_parquet(folder / "sections.parquet")
        sites = trees.filter(pl.col("level") == 1).sort("score", "temporal", descending=True)
        sites.write_parquet(folder / "sites.parquet")
        return len(pages), float(sites["score"].sum())

    return job


def prefixes_of(way: str) -> Setup:
    """Site scores and news prefixes from columns in memory."""

    def setup(_: Path, size: str) -> Job:
        from benchmarks import sites_and_prefixes as both

        pages = both.make_pages(LABELLED[size], SITES)
        find = both.functions_of_core if way == "ours" else both.plain_python
        both.functions_of_core(pages.slice(0, 1000))
        return lambda: (len(pages), len(find(pages)[0]))

    return setup


# The report ----------------------------------------------------------------------------------


def report_by_us(_: Path, size: str) -> Job:
    """`reports.report_page`: SVG that takes the page's colours, the numbers behind each chart."""
    from temporal_assets.reports.report_page import page

    report = _report(size)
    page(report)
    return lambda: (2 * _SECTIONS[size], len(page(report)) * 0)


def report_by_matplotlib(_: Path, size: str) -> Job:
    """The same tables by `DataFrame.to_html`, the same charts by matplotlib as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt
    import pandas as pd

    from temporal_assets.reports.document import Chart, Table

    report = _report(size)

    def job() -> Done:
        parts = []
        for section in report.sections:
            for block in section.blocks:
                if isinstance(block, Table):
                    names = [column.name for column in block.columns]
                    parts.append(pd.DataFrame(list(block.rows), columns=names).to_html())
                elif isinstance(block, Chart):
                    figure, axes = plt.subplots(figsize=(5.2, 2.9))
                    for one in block.series:
                        axes.plot(one.x, one.y, label=one.name)
                    axes.set(title=block.title, xlabel=block.x.label, ylabel=block.y.label)
                    axes.legend()
                    drawn = io.StringIO()
                    figure.savefig(drawn, format="svg")
                    plt.close(figure)
                    parts.append(drawn.getvalue())
        return 2 * _SECTIONS[size], len("".join(parts)) * 0

    return job


def _report(size: str) -> Report:
    """Sections with a table of a hundred rows and a chart of four lines of sixty points."""
    from temporal_assets.reports.document import Axis, Chart, Column, Report, Section, Series, Table

    dice = np.random.default_rng(1)
    columns = (Column("site"), Column("pages", "count"), Column("score", "share"))
    days = tuple(float(day) for day in range(60))
    sections = []
    for number in range(_SECTIONS[size]):
        rows = tuple(
            (f"site{n}.example", int(dice.integers(1, 9_999)), float(dice.random()))
            for n in range(100)
        )
        series = tuple(
            Series(f"line {n}", "line", n, days, tuple(dice.random(60).tolist())) for n in range(4)
        )
        chart = Chart(f"chart {number}", "lines", Axis("day"), Axis("share", "share"), series)
        blocks = (Table(f"table {number}", columns, rows), chart)
        sections.append(
            Section(f"s{number}", "Part", "", "A section", "in_sample", ("It is so.",), blocks)
        )
    return Report(dt.date(2025, 5, 1), "Report", (("pages", "1"),), tuple(sections))
