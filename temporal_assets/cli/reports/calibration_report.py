"""Results of `temporal-assets try thresholds`: tables, heat maps, a page, JSON.

Here: putting results into rows and words. Not here: computing them (`windows.labels.calibration`),
drawing (`reports.heat_map`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console

if TYPE_CHECKING:
    from temporal_assets.core.labels.calibration import Calibration
    from temporal_assets.core.numerics.metrics import Outcome
    from temporal_assets.logs.tables.annotations import Annotations
    from temporal_assets.reports.heat_map import HeatMap
    from temporal_assets.settings import Settings
    from temporal_assets.windows.labels.annotated_pages import Found
    from temporal_assets.windows.labels.calibration import Choice

_LISTED: Final = 20
"""Lines or URLs listed for a person; `--json` lists all."""

_RULES: Final = {
    "interest": "temporal by curve: share in n days > q",
    "concentration": "news by concentration: C over m days > p",
}
_NAMES: Final = {"interest": ("n", "q"), "concentration": ("m", "p")}


def heat_map_of(settings: Settings, choice: Choice) -> HeatMap:
    """Return the grid of one score as a heat map."""
    from temporal_assets.reports.heat_map import HeatMap

    best, used, labels = choice.best, choice.used, settings.labels
    now = (labels.n, labels.q) if choice.score == "interest" else (float(labels.m), labels.p)
    return HeatMap(
        title=_RULES[choice.score],
        days=best.table.days,
        thresholds=best.table.thresholds.tolist(),
        values=best.table.performance,
        best=(best.days, best.threshold),
        used=(used.days, used.threshold) if used else None,
        now=now,
        names=_NAMES[choice.score],
    )


_COLUMNS: Final = (
    "pages of", "thresholds", "days", "above", "hit", "miss", "false alarm", "performance", "right",
)  # fmt: skip


def _table(settings: Settings, choices: Sequence[Choice], score: str) -> list[tuple[Any, ...]]:
    """Return the rows of one score: settings, best and usable thresholds, in sample and out."""
    rows: list[tuple[Any, ...]] = []
    for choice in choices:
        if choice.score != score:
            continue
        name = choice.name or "all sites"
        heat = heat_map_of(settings, choice)
        rows.append(_row(settings, name, *_constant(choice.best.in_sample)))
        rows.append(_row(settings, name, "settings", heat.now, _cell_of(choice.best, heat.now)))
        rows += _pair(settings, name, "best", choice.best)
        used = choice.used
        if used and (used.days, used.threshold) != (choice.best.days, choice.best.threshold):
            rows += _pair(settings, name, "best of labels.n", used)
    return rows


def _constant(in_sample: Outcome) -> tuple[str, None, tuple[int, int, int]]:
    """Return what, cell and counts of one label for all pages, the commoner one."""
    temporal, rest = in_sample.positive, in_sample.pages - in_sample.positive
    if temporal > rest:
        return "always temporal", None, (temporal, 0, rest)
    return "always untemporal", None, (rest, temporal, 0)


def _pair(
    settings: Settings, name: str, what: str, calibration: Calibration
) -> list[tuple[Any, ...]]:
    """Return a row of results in sample and one of cross-validation."""
    cell = (calibration.days, calibration.threshold)
    inside, outside = (
        (accuracy.hit, accuracy.miss, accuracy.false_alarm)
        for accuracy in (calibration.in_sample, calibration.cross_validated)
    )
    return [
        _row(settings, name, f"{what}, in sample", cell, inside),
        _row(settings, name, f"{what}, cross-validated", None, outside),
    ]


def _cell_of(best: Calibration, cell: tuple[float, float]) -> tuple[int, int, int]:
    table = best.table
    d, k = table.days.index(cell[0]), table.thresholds.tolist().index(cell[1])
    return int(table.hit[d, k]), int(table.miss[d, k]), int(table.false_alarm[d, k])


def _row(
    settings: Settings,
    name: str,
    what: str,
    cell: tuple[float, float] | None,
    counts: tuple[int, int, int],
) -> tuple[Any, ...]:
    hit, miss, false_alarm = counts
    weights = settings.calibration
    performance = hit - weights.miss_weight * miss - weights.false_alarm_weight * false_alarm
    days, threshold = cell or ("", "")  # cross-validation chooses anew for every fold
    share = f"{hit / max(sum(counts), 1):.1%}"
    return (name, what, days, threshold, hit, miss, false_alarm, performance, share)


def show(
    settings: Settings,
    annotations: Annotations,
    looked_up: Found,
    choices: Sequence[Choice],
    maps: Sequence[HeatMap],
) -> None:
    """Print the whole result on the terminal."""
    from temporal_assets.reports.heat_map import as_text

    _show_troubles(annotations, looked_up)
    for heat in maps:
        score = next(name for name, rule in _RULES.items() if rule == heat.title)
        console.show_table(heat.title, _COLUMNS, _table(settings, choices, score))
        console.write("\n".join([*as_text(heat), ""]))
    if not choices:
        console.warn("no annotated page has a history in this window: nothing can be calibrated")
    elif not any(choice.used for choice in choices):
        console.warn(_too_few(settings, looked_up))


def _too_few(settings: Settings, looked_up: Found) -> str:
    temporal = int(looked_up.is_temporal.sum())
    return (
        f"{console.counted(temporal, 'temporal page')} and"
        f" {console.counted(len(looked_up.urls) - temporal, 'untemporal one')} have a history:"
        f" labels"
        f" use no thresholds from fewer than {settings.calibration.min_pages} pages of both kinds"
    )


def _show_troubles(annotations: Annotations, looked_up: Found) -> None:
    """Print on standard error which lines of the file are not used, and why."""
    console.say(
        f"{console.counted(len(annotations.pages), 'annotated page')} ({annotations.encoding}),"
        f" {len(looked_up.urls):,} of them with a history in the window"
    )
    for what, lines in (
        ("line that cannot be read", bad_lines(annotations)),
        ("page that is named twice", _repeats(annotations, "repeats")),
        ("page with both labels, left out", _repeats(annotations, "contradictions")),
        ("page nobody opened in the window", list(looked_up.unread)),
        ("page with too few views for a history", list(looked_up.rare)),
    ):
        if lines:
            noun, _, rest = what.partition(" ")
            console.warn(f"{console.counted(len(lines), noun)} {rest}:")
            for line in lines[:_LISTED]:
                console.say(f"  {line}")
            if len(lines) > _LISTED:
                console.say(f"  ... and {len(lines) - _LISTED:,} more (all with --json)")


def bad_lines(annotations: Annotations) -> list[str]:
    """Return lines that cannot be read, and why."""
    return [f"line {row.line}: {row.reason}: {row.text}" for row in annotations.bad]


def _repeats(annotations: Annotations, kind: str) -> list[str]:
    repeats = getattr(annotations, kind)
    return [f"lines {', '.join(map(str, repeat.lines))}: {repeat.url}" for repeat in repeats]


def report(
    settings: Settings,
    annotations: Annotations,
    looked_up: Found,
    choices: Sequence[Choice],
    day: dt.date,
) -> dict[str, Any]:
    """Return the whole result as JSON values."""
    names = ("scope", "which", "days", "threshold", "hit", "miss", "false_alarm", "performance")
    return {
        "day": day,
        "annotated_pages": len(annotations.pages),
        "encoding": annotations.encoding,
        "with_history": len(looked_up.urls),
        "bad_lines": [
            {"line": r.line, "reason": r.reason, "text": r.text} for r in annotations.bad
        ],
        "repeated": [{"url": r.url, "lines": r.lines} for r in annotations.repeats],
        "contradictory": [{"url": r.url, "lines": r.lines} for r in annotations.contradictions],
        "unknown": list(looked_up.unread),
        "too_few_views": list(looked_up.rare),
        **{
            score: [
                dict(zip(names, (None if cell == "" else cell for cell in row), strict=False))
                for row in _table(settings, choices, score)
            ]
            for score in _RULES
        },
        "grid": [_grid(choice) for choice in choices],
    }


def _grid(choice: Choice) -> Mapping[str, Any]:
    """Return the grid of a choice as JSON values."""
    table = choice.best.table
    return {
        "score": choice.score,
        "scope": choice.scope,
        "name": choice.name,
        "days": table.days,
        "thresholds": table.thresholds.tolist(),
        **{
            name: getattr(table, name).tolist()
            for name in ("hit", "miss", "false_alarm", "performance")
        },
    }


def html(
    settings: Settings,
    annotations: Annotations,
    looked_up: Found,
    choices: Sequence[Choice],
    maps: Sequence[HeatMap],
    day: dt.date,
) -> str:
    """Return an HTML page to pass on: numbers only, no URL."""
    from temporal_assets.reports import html_page
    from temporal_assets.reports.heat_map import as_block

    weights = settings.calibration
    parts = [
        html_page.paragraph(
            f"{len(annotations.pages):,} annotated pages, {len(looked_up.urls):,} of them with a"
            f" history in the {settings.window.days} days up to {day}."
            f" Left out: {len(annotations.bad):,} lines that"
            f" cannot be read, {len(annotations.contradictions):,} pages with both labels,"
            f" {len(looked_up.unread):,} that nobody opened,"
            f" {len(looked_up.rare):,} with too few views."
        ),
        html_page.paragraph(
            f"Performance = hit − {weights.miss_weight:g} · miss −"
            f" {weights.false_alarm_weight:g} · false alarm. Cross-validated: every page is"
            " labelled by thresholds chosen without it."
        ),
    ]
    for score, rule in _RULES.items():
        rows = _table(settings, choices, score)
        parts += [html_page.heading(rule), html_page.table(_COLUMNS, rows)]
        parts += [
            html_page.figure(as_block(heat, f"Performance by thresholds: {rule}"))
            for heat in maps
            if heat.title == rule
        ]
    return html_page.page(f"Thresholds from annotated pages, {day}", parts)
