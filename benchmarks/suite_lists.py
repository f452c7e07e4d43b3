"""Lines of the benchmark suite about pages and lists: curves, scores, prefixes, the report.

Not here: labels (`suite_windows`), hubs (`suite_links`), ranks of graphs (`suite_graphs`).
"""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.suite_job import Done, Job, Setup, Sized, same_rows

if TYPE_CHECKING:
    from temporal_assets.reports.document import Report

_CURVES: Final[Sized] = {"small": 20_000, "medium": 200_000, "paper": 975_151}
_CURVES_OF_OTHERS: Final = 10
"""They take a hundred milliseconds each; pages per second do not depend on how many there are."""
LABELLED: Final[Sized] = {"small": 100_000, "medium": 250_000, "paper": 975_151}
_SECTIONS: Final[Sized] = {"small": 10, "medium": 40, "paper": 40}
SITES: Final = 2_000
_TREES: Final = "sections.parquet"
_SCORED: Final = "sites.parquet"
"""File of sites that Polars scores from labels."""


# Curves --------------------------------------------------------------------------------------


def curves_by_us(_: Path, size: str) -> Job:
    """The fitter, with its search, its verdicts and its intervals."""
    from benchmarks import synthetic
    from temporal_assets.core.curves.curves import fit

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
    """Fit curves from one start with `LognormalModel`, as its documentation uses it."""
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
    from benchmarks import synthetic

    drawn = synthetic.draw(_CURVES[size], 60, seed=1).views
    return drawn[(drawn > 0).sum(axis=1) > 5][:_CURVES_OF_OTHERS].astype(np.float64)


# Scores and prefixes -------------------------------------------------------------------------


def write_labels(folder: Path, size: str) -> None:
    """Labels of pages of two thousand sites, with the papers' rules."""
    from benchmarks import suite_pages as both
    from temporal_assets.engines.duckdb import DuckDBEngine

    store, settings = scored_store(folder)
    both.write(store, DuckDBEngine(settings), both.make_pages(LABELLED[size], SITES))


def scored_store(folder: Path) -> tuple[Any, Any]:
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
    from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
    from temporal_assets.windows.lists.site_scores import SITE_SCORES

    store, settings = scored_store(folder)
    engine = DuckDBEngine(settings)

    def job() -> Done:
        for asset in (PREFIX_TREES, SITE_SCORES):
            build(store, engine, settings, asset, labelled_day(store))
        scores = store.read("site_scores", labelled_day(store), ["score", "pages"])
        scored = scores.drop_null()
        return sum(scored["pages"].to_pylist()), sum(scored["score"].to_pylist())

    job()
    return job


def labelled_day(store: Any) -> dt.date:
    """The day of the window: the only one with labels."""
    (day,) = store.days("page_labels")
    labelled: dt.date = day
    return labelled


def label_files(store: Any) -> tuple[str, str]:
    """The files of `page_labels` and `page_histories`."""
    (labels,) = store.files("page_labels", labelled_day(store))
    (histories,) = store.files("page_histories", labelled_day(store))
    return str(labels), str(histories)


def scores_by_pandas(folder: Path, _: str) -> Job:
    """Score1, Score2 and Score of each site (TW 4.3), from the same files."""
    import pandas as pd

    labels_file, histories_file = label_files(scored_store(folder)[0])

    def job() -> Done:
        labels = pd.read_parquet(labels_file, columns=["site", "url", "is_temporal"])
        totals = pd.read_parquet(histories_file, columns=["url", "total"])
        both = labels.merge(totals, on="url")
        both["temporal_views"] = both["total"].where(both["is_temporal"], 0)
        sums = both.groupby("site").agg(
            pages=("url", "size"), temporal=("is_temporal", "sum"),
            views=("total", "sum"), temporal_views=("temporal_views", "sum"),
        )  # fmt: skip
        page_share = sums["temporal"] / sums["pages"]
        sums["score"] = (3 * page_share + 2 * sums["temporal_views"] / sums["views"]) / 5
        sums.sort_values(["score", "temporal"], ascending=False).to_parquet(
            folder / "pandas.parquet", compression="zstd"
        )
        return len(labels), float(sums["score"].sum())

    return job


def scores_by_polars(folder: Path, _: str) -> Job:
    """The same: one score of each site."""
    import polars as pl

    labels_file, histories_file = label_files(scored_store(folder)[0])

    def job() -> Done:
        labels = pl.read_parquet(labels_file, columns=["site", "url", "is_temporal"])
        both = labels.join(pl.read_parquet(histories_file, columns=["url", "total"]), on="url")
        temporal = pl.col("is_temporal")
        page_share = temporal.mean()
        view_share = pl.col("total").filter(temporal).sum() / pl.col("total").sum()
        sums = both.group_by("site").agg(
            temporal.sum().alias("temporal"), ((3 * page_share + 2 * view_share) / 5).alias("score")
        )
        ranked = sums.sort("score", "temporal", descending=True)
        ranked.write_parquet(folder / "polars.parquet")
        return len(labels), float(ranked["score"].sum())

    return job


def sections_by_polars(folder: Path, _: str) -> Job:
    """All that both tables say: every folder and program, and the sites with bound and rank."""
    from temporal_assets.windows.lists.sections import QUIET_DAYS

    store, settings = scored_store(folder)
    day = labelled_day(store)

    def job() -> Done:
        pages, sections = _sections_by_polars(store, day, QUIET_DAYS)
        sections.write_parquet(folder / _TREES)
        scored = _sites_by_polars(store, day, settings, sections)
        scored.write_parquet(folder / _SCORED)
        return pages, float(scored["score"].sum())

    job()
    return job


def same_scores(folder: Path, _: str) -> None:
    """Return whether Polars makes our rows; here are no young pages or domains."""
    store, _settings = scored_store(folder)
    day = labelled_day(store)
    same_rows(folder / _TREES, store.files("prefix_trees", day), "prefix")
    young = ("young_pages", "young_temporal_pages", "young_temporal_views")
    ours = store.files("site_scores", day)
    same_rows(folder / _SCORED, ours, "site", without=("hosts", *young))


def _sections_by_polars(store: Any, day: dt.date, recent: int) -> tuple[int, Any]:
    """Pages, and the sums of each section of them."""
    import polars as pl

    temporal, views = pl.col("is_temporal"), pl.col("total")
    sums = {
        "own_pages": pl.col("is_own").sum(), "pages": pl.len(), "temporal_pages": temporal.sum(),
        "news_pages": pl.col("is_news").sum(), "curve_pages": pl.col("phi_n").count(),
        "aged_pages": pl.col("is_aged").sum(), "views": views.sum(),
        "temporal_views": views.filter(temporal).sum(), "recent_views": pl.col("recent").sum(),
        "view_squares": (views**2).sum(), "clients": pl.col("clients").max(),
        "first_seen": pl.col("birth").min(),
    }  # fmt: skip
    labels_file, histories_file = label_files(store)
    columns = ["site", "url", "is_temporal", "is_news", "phi_n", "m", "p"]
    labels = pl.read_parquet(labels_file, columns=columns)
    lives = pl.read_parquet(histories_file, columns=["url", "total", "birth", "views"])
    path = pl.col("url").str.replace("^https?://", "").str.split("?").list.first()
    days = (pl.lit(day) - pl.col("birth")).dt.total_days() + 1
    pages = labels.join(lives, on="url").with_columns(
        folders=path.str.split("/"),
        program=pl.when(pl.col("url").str.contains("?", literal=True)).then(path + "?"),
        is_aged=pl.col("is_news") | (days > pl.col("m") * pl.col("p")),
        recent=pl.col("views").list.tail(recent).list.sum(),
        clients=pl.col("views").list.max(),
    )
    pages = pages.with_columns(levels=pl.col("folders").list.len() - 1).drop("views")
    parts = []
    for depth in range(int(pages["levels"].max())):
        beneath = pages.filter(pl.col("levels") > depth).with_columns(
            is_own=pl.col("program").is_null() & (pl.col("levels") == depth + 1)
        )
        folder = pl.col("folders").list.head(depth + 1).list.join("/") + "/"
        level = beneath.group_by("site", prefix=folder).agg(**sums)
        parts.append(level.with_columns(depth=depth, is_program=False))
    programs = pages.drop_nulls("program").with_columns(is_own=True)
    of_programs = programs.group_by("site", prefix="program").agg(
        **sums, depth=pl.col("levels").first()
    )
    parts.append(of_programs.with_columns(is_program=True))
    above = pl.col("prefix").str.extract("^(.*/)[^/]+/?$")
    trees = pl.concat(parts, how="diagonal_relaxed").with_columns(day=pl.lit(day), parent=above)
    return len(pages), trees.sort("site", "prefix")


def _sites_by_polars(store: Any, day: dt.date, settings: Any, trees: Any) -> Any:
    """Score sites by Polars (TW 4.3), with Wilson's bound, rank and visited days."""
    import polars as pl
    from scipy.special import ndtri

    from temporal_assets.windows.lists.scored import CONFIDENCE
    from temporal_assets.windows.lists.sections import QUIET_DAYS, QUIET_SHARE

    rules, least = settings.sites, settings.privacy.min_clients
    from_day = pl.lit(day - dt.timedelta(days=QUIET_DAYS - 1))
    days = store.days("page_views")
    views = pl.read_parquet([file for day in days for file in store.files("page_views", day)])
    seen = views.group_by("site").agg(
        first_seen=pl.col("day").min(), last_seen=pl.col("day").max(),
        all_views=pl.col("views").sum(), most=pl.col("views").max(),
        of_late=pl.col("views").filter(pl.col("day") >= from_day).sum(),
    )  # fmt: skip
    names = ("pages", "temporal_pages", "views", "temporal_views", "view_squares")
    roots = trees.filter(pl.col("depth") == 0).select("site", "clients", *names)
    z = float(ndtri(CONFIDENCE))

    def bound(share: Any, cases: Any) -> Any:
        middle = share + z**2 / (2 * cases)
        around = z * (share * (1 - share) / cases + z**2 / (4 * cases**2)).sqrt()
        return (middle - around) / (1 + z**2 / cases)

    cases = pl.col("pages").cast(pl.Float64)
    share, view_share = (
        pl.col("temporal_pages") / cases, pl.col("temporal_views") / pl.col("views")
    )  # fmt: skip
    worth = pl.col("views").cast(pl.Float64) ** 2 / pl.col("view_squares")
    sites = seen.join(roots, on="site", how="left").with_columns(
        clients=pl.max_horizontal("clients", "most"),
        score_1=share, score_2=view_share, score=(3 * share + 2 * view_share) / 5,
        bound=(3 * bound(share, cases) + 2 * bound(view_share, worth)) / 5,
        is_quiet=((pl.lit(day) - pl.col("first_seen")).dt.total_days() >= QUIET_DAYS)
        & (pl.col("of_late") < QUIET_SHARE * pl.col("all_views") / len(days)),
    )  # fmt: skip
    is_ranked = (
        (pl.col("pages") >= rules.min_pages) & (pl.col("temporal_pages") > 0)
        & (pl.col("clients") >= least) & ~pl.col("is_quiet")
    )  # fmt: skip
    ranked = sites.with_columns(is_ranked=is_ranked.fill_null(value=False)).sort(
        "is_ranked", "bound", "temporal_pages", "site", descending=[True, True, True, False]
    )
    ranked = ranked.with_row_index("rank", 1).with_columns(
        rank=pl.when("is_ranked").then("rank"), day=pl.lit(day)
    )
    chosen = (pl.col("rank") <= rules.top_k).fill_null(value=False)
    return ranked.with_columns(is_selected=chosen).drop("most", "all_views", "of_late", "is_ranked")


def prefixes_of(way: str) -> Setup:
    """Site scores and news prefixes from columns in memory."""

    def setup(_: Path, size: str) -> Job:
        from benchmarks import suite_pages as both

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
                    for line in block.series:
                        axes.plot(line.x, line.y, label=line.name)
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
