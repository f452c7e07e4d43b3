"""`temporal-assets show patterns --quality`: how good the patterns of these logs are (BB 5.2).

Here: choosing days, and the answer as tables. Not here: measuring
(`windows.patterns.pattern_quality`).
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa

    from temporal_assets.engines.base import Engine
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.patterns.pattern_quality import MethodQuality, PatternQuality

_NAMES: Final = {
    "syntax": "by syntax",
    "visit": "cut by visits",
    "transit": "cut by links",
    "urls": "single URLs",
}


def show_quality(
    store: Store,
    engine: Engine,
    settings: Settings,
    site: str | None,
    mirror: Path | None,
    periods: int,
    as_json: bool,
) -> None:
    """Learn patterns on the first days and print how well they hold on the others."""
    from temporal_assets.windows.patterns.pattern_quality import assess

    if mirror is not None and not mirror.is_file():
        raise CommandError(
            f"there is no file {mirror}: a mirror is Parquet with url and html", USAGE
        )
    days = sorted(set(store.days("page_views")) & set(store.days("transits")))
    if len(days) < periods:
        raise CommandError(
            f"{console.counted(len(days), 'day')} cannot be divided into {periods} periods"
        )
    pages = None if mirror is None else _pages(mirror)
    measured = assess(store, engine, settings, days, periods, pages, (site,) if site else ())
    if not measured.sites:
        raise CommandError(
            f"no page of {site or 'any site'} was opened from {_span(measured.learned)}"
        )
    if as_json:
        console.write_json(_report(measured))
    else:
        _show(measured, mirror is not None)


def _pages(mirror: Path) -> pa.Table:
    """Return URL and HTML of a crawl, as text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(mirror)
        names = [name for name in ("url", "html") if name in file.schema_arrow.names]
        if "url" not in names:
            raise CommandError(f"{mirror}: a mirror is Parquet with url and html: no url")
        page_table = file.read(columns=names)
        texts = {name: page_table.column(name).cast(pa.string()) for name in names}
    except (OSError, pa.ArrowException) as error:
        raise CommandError(f"{mirror}: {error}") from None
    # Pages without HTML have no layout; `assess` knows them by that.
    return pa.table(texts | {"url": pc.fill_null(texts["url"], "")})


def _show(measured: PatternQuality, has_mirror: bool) -> None:
    """Show the trees of all methods, and how much of later days they know."""
    console.say(
        f"Learned from {_span(measured.learned)}"
        f" ({console.counted(measured.sites, 'site')}); what is"
        " known later is judged on days after, divergence on the same days"
    )
    columns = ["", "leaves", "height", "divergence (bits)"]
    if has_mirror:
        columns += ["mirror URLs covered", "layout within", "random pairs"]
    console.show_table(
        "Trees of patterns",
        columns,
        [
            _cells(name, method_quality, has_mirror)
            for name, method_quality in measured.methods.items()
        ],
    )
    console.show_table(
        "Known of later days, by URLs / by visits",
        ["", *(_span(period) for period in measured.periods)],
        [
            [
                _NAMES[name],
                *(f"{_share(s.by_urls)} / {_share(s.by_visits)}" for s in method_quality.later),
            ]
            for name, method_quality in measured.methods.items()
        ],
    )


def _cells(name: str, method_quality: MethodQuality, has_mirror: bool) -> list[Any]:
    """Return the row of a method in the table of trees."""
    divergence = "" if method_quality.divergence is None else f"{method_quality.divergence:.3f}"
    cells: list[Any] = [
        _NAMES[name],
        method_quality.leaves,
        method_quality.height or "",
        divergence,
    ]
    if has_mirror:
        layout = method_quality.layout
        cells.append(_share(method_quality.mirror.by_urls))
        cells += ["", ""] if layout is None else [f"{layout.within:.3f}", f"{layout.random:.3f}"]
    return cells


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _span(days: tuple[dt.date, dt.date]) -> str:
    return f"{days[0]}..{days[1]}"


def _report(measured: PatternQuality) -> dict[str, Any]:
    """Return the measurements as JSON values."""
    methods = {}
    for name, method_quality in measured.methods.items():
        layout = None if method_quality.layout is None else asdict(method_quality.layout)
        methods[_NAMES[name]] = {
            "leaves": method_quality.leaves,
            "height": method_quality.height,
            "divergence": method_quality.divergence,
            "mirror_coverage": method_quality.mirror.by_urls,
            "layout": layout,
            "later": [{"urls": s.by_urls, "visits": s.by_visits} for s in method_quality.later],
        }
    return {
        "learned": measured.learned,
        "periods": measured.periods,
        "sites": measured.sites,
        "methods": methods,
    }
