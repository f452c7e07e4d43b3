"""`temporal-assets show sources`: what crawls found on each hub, feed and sitemap.

Here: the command and its table. Not here: the counts (`windows.results.sources`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import Json, State, existing_settings
from temporal_assets.cli.shared.windows import Day, window_day

_COLUMNS: Final = (
    *("source", "kind", "visits", "unchanged", "failed", "pages", "temporal", "late (h)"),
    *("new a day (95 %)", "every (min)"),
)


@command
def run(
    site: Annotated[
        str | None, typer.Argument(metavar="SITE", help="Only those of a site.")
    ] = None,
    state: State = None,
    day: Day = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of sources to show.")] = 50,
    as_json: Json = False,
) -> None:
    """Show what crawls found on each hub, feed and sitemap, the most fruitful first.

    Pages count for the source that showed them first. Nothing is shown without results of crawls
    (`crawls.results`) and sources that you list (`crawls.sources`).
    """
    from temporal_assets.storage.store import Store

    settings = existing_settings(state)
    store = Store.open(settings)
    chosen = window_day(store, settings, "sources", day)
    rows = store.read("sources", chosen).to_pylist()
    rows = sorted((row for row in rows if site in (None, row["site"])), key=_order)
    if as_json:
        console.write_json(rows)
        return
    if not rows:
        where = f" of {site}" if site else ""
        console.say(
            f"No crawl visited a hub, feed or sitemap{where} in the window up to {chosen}:"
            " `crawls.results` names the files that crawls leave (docs/crawl-results.md)"
        )
        return
    more = f", the first {top} of {len(rows):,}" if len(rows) > top else ""
    title = f"Sources, in the window up to {chosen}{more}"
    console.show_table(title, _COLUMNS, [_cells(row) for row in rows[:top]])


def _order(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    return row["is_gone"], -(row["new_per_day"] or 0.0), row["url"]


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the row of a source in the table of sources."""
    late, rate = row["delay_hours"], row["new_per_day"]
    expected = (
        ""
        if rate is None
        else f"{rate:.1f} ({row['new_per_day_low']:.1f}-{row['new_per_day_high']:.1f})"
    )
    return (
        *(
            row["url"].removeprefix("https://"),
            row["kind"],
            row["visits"],
            row["unchanged"],
            row["failures"],
        ),
        *(row["pages"], row["temporal_pages"], "" if late is None else f"{late:.1f}"),
        expected,
        "gone" if row["is_gone"] else row["revisit_minutes"],
    )
