"""`temporal-assets show changes`: which sites have come and gone.

Here: the command and its tables. Not here: the groups (`reports.site_changes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import Json, State, existing_settings
from temporal_assets.cli.shared.windows import Day, window_day

if TYPE_CHECKING:
    from temporal_assets.reports.site_changes import Group, Report

_COLUMNS: Final = (
    *("site", "rank", "before", "score at least", "temporal pages"),
    *("first seen", "last seen"),
)


@command
def run(state: State = None, day: Day = None, as_json: Json = False) -> None:
    """Show which sites entered the ranked list, left it, moved, appeared or went quiet.

    The list is compared with the latest one before it that was made under the same settings.
    """
    from temporal_assets.reports.site_changes import report
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.lists.site_changes import compared_day

    settings = existing_settings(state)
    store = Store.open(settings)
    chosen = window_day(store, settings, "site_changes", day)
    rows = store.read("site_changes", chosen).to_pylist()
    if as_json:
        console.write_json(rows)
        return
    change_report = report(rows, chosen, compared_day(store.require("site_changes", chosen)))
    console.write_sentences("\n".join(_heading(change_report)))
    for group in change_report.groups:
        _show(group)


def _heading(change_report: Report) -> list[str]:
    """Return the lines above the tables: which lists are compared."""
    listed = console.counted(change_report.listed, "site")
    if change_report.earlier_day is None:
        return [
            f"{change_report.day}: {listed} in the list; no earlier one was made to compare it with"
        ]
    steady = f", {change_report.steady:,} in the same order" if change_report.listed else ""
    lines = [
        f"{change_report.day}, compared with {change_report.earlier_day}:"
        f" {listed} in the list{steady}"
    ]
    return lines if change_report.groups else [*lines, "No site has come, gone or moved."]


def _show(group: Group) -> None:
    more = f" (the first {len(group.rows)})" if len(group.rows) < group.sites else ""
    title = f"{group.title}: {console.counted(group.sites, 'site')}{more}"
    console.show_table(title, _COLUMNS, [_cells(row) for row in group.rows])


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    bound = "" if row["bound"] is None else f"{row['bound']:.3f}"
    return (
        *(row["site"], row["rank"], row["earlier_rank"], bound, row["temporal_pages"]),
        *(row["first_seen"], row["last_seen"]),
    )
