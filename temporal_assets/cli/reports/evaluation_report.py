"""An evaluation in words, tables and pictures, in the form of TW Table 1 and NP Table 2.

Here: choosing and naming what is shown. Not here: computing it. No URL is shown but those of lines
of the list in use that cannot be read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.logs.tables.site_lists import SiteList

Row = dict[str, Any]

_MAX_BAD: Final = 5
_K: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1542)
"""Lengths of seed lists that are shown, besides that of the list in use and the longest."""

_COLUMNS: Final = (
    *("list", "wanted found", "pages", "precision", "recall", "F", "95 % of F"),
    *("F gained", "95 % of the gain", "F ahead of best baseline", "95 % of the lead"),
)
_SIMPLE: Final = ("clicks", "recent")
"""Simple orders of hubs, as baselines."""
_HUB_COLUMNS: Final = (
    *("seeds", "list in use", "most pages linked", "greedy", "clicks yesterday", "new of late"),
    *("ours", "ours more than the simple", "95 % of the lead", "ours in two hops"),
)
_METHODS: Final = {
    ("baseline", "list"): "list in use",
    ("baseline", "everything"): "everything",
    ("baseline", "majority"): "majority of the top folder",
    ("policy", "published"): "policy, fetched now",
    ("sites", "published"): "sites, as published",
    ("sections", "published"): "sections, as published",
    ("prefixes", "published"): "prefixes, as published",
    ("sites", "paper"): "sites by all pages",
    ("sites", "confident"): "sites by all pages, where sure",
    ("sections", "confident"): "sections by all pages, where sure",
    ("prefixes", "paper"): "prefixes by all pages",
    ("prefixes", "confident"): "prefixes by all pages, where sure",
}


def show(listed: SiteList | None, lists: Sequence[Row], hubs: Sequence[Row]) -> None:
    """Print the whole result on the terminal."""
    if listed is not None:
        for line, text in listed.bad[:_MAX_BAD]:
            console.warn(f"line {line} of the list is neither a host nor a URL: {text!r}")
        if len(listed.bad) > _MAX_BAD:
            console.warn(f"and {len(listed.bad) - _MAX_BAD:,} more such lines")
        console.say(f"The list in use has {console.counted(len(listed.urls), 'usable line')}.")
    for title, rows in _tables(lists):
        console.show_table(title, _COLUMNS, rows)
    for title, rows in _hub_tables(hubs):
        console.show_table(title, _HUB_COLUMNS, rows)
    for sentence in _verdicts(lists, hubs):
        console.say(sentence)


def html(day: dt.date, listed: SiteList | None, lists: Sequence[Row], hubs: Sequence[Row]) -> str:
    """Return an HTML page to pass on: numbers only, no URL."""
    from temporal_assets.reports import html_page
    from temporal_assets.reports.sections.lists import precision_recall_chart
    from temporal_assets.reports.sections.seeds import seed_chart

    parts = [html_page.paragraph(sentence) for sentence in _verdicts(lists, hubs)]
    if listed is not None:
        parts.append(
            html_page.paragraph(
                f"The list in use has {len(listed.urls):,} usable lines;"
                f" {len(listed.bad):,} are neither a host nor a URL."
            )
        )
    for rows in _grouped(lists, ("trial", "horizon_days", "label")).values():
        title = _title(rows[0])
        parts += [
            html_page.heading(title),
            html_page.table(_COLUMNS, [_cells(row) for row in rows if row["is_used"]]),
            html_page.figure(precision_recall_chart(rows)),
        ]
    for rows in _grouped(hubs, ("trial", "horizon_days")).values():
        title = f"Seeds, {_title(rows[0])}"
        parts += [
            html_page.heading(title),
            html_page.table(_HUB_COLUMNS, [_hub_cells(row) for row in _some(rows)]),
            html_page.figure(seed_chart(rows)),
        ]
    return html_page.page(f"Evaluation, {day}", parts)


def _tables(lists: Sequence[Row]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    for rows in _grouped(lists, ("trial", "horizon_days", "label")).values():
        yield _title(rows[0]), [_cells(row) for row in rows if row["is_used"]]


def _hub_tables(hubs: Sequence[Row]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    for rows in _grouped(hubs, ("trial", "horizon_days")).values():
        wanted = rows[0]["wanted"]
        title = f"Temporal pages linked by the first seeds, of {wanted:,}; {_title(rows[0])}"
        yield title, [_hub_cells(row) for row in _some(rows)]


def _title(row: Row) -> str:
    label = f"{row['label']} pages" if "label" in row else "temporal pages"
    if row["trial"] == "in_sample":
        return f"{label}, in sample: learned and judged on the window up to {row['learned_until']}"
    return (
        f"{label}, out of time: learned up to {row['learned_until']}, judged by pages born in the"
        f" {row['horizon_days']} days after"
    )


def _cells(row: Row) -> tuple[Any, ...]:
    """Return the row of a list in the table of lists."""
    return (
        _METHODS[row["method"], row["rule"]],
        row["found"],
        row["pages"],
        f"{row['precision']:.1%}",
        f"{row['recall']:.1%}",
        f"{row['f']:.3f}",
        f"{row['f_low']:.3f} to {row['f_high']:.3f}",
        *_difference(row, "f_gain"),
        *_difference(row, "f_lead"),
    )


def _difference(row: Row, name: str) -> tuple[str, str]:
    """Return a difference of F and its interval."""
    if row.get(name) is None:
        return "", ""
    return f"{row[name]:+.3f}", f"{row[f'{name}_low']:+.3f} to {row[f'{name}_high']:+.3f}"


def _hub_cells(row: Row) -> tuple[Any, ...]:
    """Return the row of a number of seeds in the table of hubs."""
    lead = row["lead"]
    return (
        row["k"],
        *(row[f"{name}_one_hop"] for name in ("baseline", "paper", "greedy", *_SIMPLE, "ours")),
        None if lead is None else f"{lead:+,}",
        None if lead is None else f"{row['lead_low']:+,.0f} to {row['lead_high']:+,.0f}",
        row["ours_two_hops"],
    )


def _some(rows: Sequence[Row]) -> list[Row]:
    last = max((row["k"] for row in rows if row["baseline_one_hop"] is not None), default=0)
    shown = {*_K, last, rows[-1]["k"]}
    return [row for row in rows if row["k"] in shown]


def _verdicts(lists: Sequence[Row], hubs: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence on the outcome of each table, whichever way it went."""
    for rows in _grouped(lists, ("trial", "horizon_days", "label")).values():
        used = {(row["method"], row["rule"]): row for row in rows if row["is_used"]}
        published = [row for row in used.values() if row["rule"] == "published"]
        learned = [used["prefixes", rule] for rule in ("confident", "paper")]
        yield from (_lead(row) for row in published or learned if row["f_lead"] is not None)
    for rows in _grouped(hubs, ("trial", "horizon_days")).values():
        both = [row for row in rows if row["lead"] is not None]
        ahead = [row for row in both if row["lead_low"] > 0]
        behind = [row for row in both if row["lead_high"] < 0]
        yield (
            f"Seeds, {_title(rows[0])}: of {len(both):,} lengths, ours are ahead of the better of"
            f" two simple orders at {len(ahead):,}{_by_up_to(ahead)}, level at"
            f" {len(both) - len(ahead) - len(behind):,} (95 % interval over"
            f" {rows[0]['lead_unit']}), and BEHIND at"
            f" {len(behind):,}{_by_up_to(behind)}."
        )


def _by_up_to(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    most = max(rows, key=lambda row: abs(row["lead"]))
    return f" (by up to {abs(most['lead']):,} pages, with {most['k']:,})"


def _lead(row: Row) -> str:
    """Return the lead, positive or negative, of the published lists over the best baseline."""
    low, high = row["f_lead_low"], row["f_lead_high"]
    verdict = "ahead of" if low > 0 else "BEATEN BY" if high < 0 else "level with"
    return (
        f"F, {_title(row)}: {_METHODS[row['method'], row['rule']]} {row['f']:.3f}"
        f" ({row['f_low']:.3f} to {row['f_high']:.3f}), {verdict} the best baseline,"
        f" {_METHODS['baseline', row['best_baseline']]} (difference {row['f_lead']:+.3f},"
        f" {low:+.3f} to {high:+.3f})."
    )


def _grouped(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups
