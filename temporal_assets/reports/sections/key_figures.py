"""The large numbers at the top of the report's front page, each with what it is compared with.

In go the facts of the front page; out come figures. Not here: its sentences, tables and charts
(`front`), how a figure looks (`report_page`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from temporal_assets.core.numerics.proportions import lower_bound, upper_bound
from temporal_assets.reports.document import Figure, Tone
from temporal_assets.reports.sections.front_facts import Front
from temporal_assets.reports.sections.lists import METHODS
from temporal_assets.reports.sections.timely import STRATEGIES, delay_span, hours
from temporal_assets.reports.sections.wording import Row, counted, percent

_WEEK: Final = 7
_USUAL_HUBS: Final = 10
"""Number of hubs whose yield is shown where no list in use says how many to compare."""
_LATER: Final = "`temporal-assets report` makes the earlier windows it needs"
_FEW_BORN: Final = 10
"""Number of temporal pages of a simulated crawl below which two strategies are not compared."""
PLAIN: Final[Tone] = "plain"
GOOD: Final[Tone] = "good"
BAD: Final[Tone] = "bad"


def key_figures(facts: Front) -> Iterator[Figure]:
    """Yield the large numbers of the front page, the most important first."""
    yield _views(facts)
    yield _new_pages(facts)
    yield _right_pages(facts)
    yield _hub_yield(facts)
    yield _delay(facts)
    yield _interest_left(facts)
    yield _data(facts)
    yield _checks(facts)


def _views(facts: Front) -> Figure:
    if not facts.traffic:
        return Figure("Views", "–", "no day of the window is there")
    last = facts.traffic[-1]
    before = [row["views"] for row in facts.traffic if row["day"] == facts.day - dt.timedelta(1)]
    return Figure("Views of the day", f"{last['views']:,}", _since(last["views"], before))


def _new_pages(facts: Front) -> Figure:
    """Return the median of new pages a day over a week, and the change of the last day."""
    if not facts.births:
        return Figure("New pages a day", "–", "the window is too short")
    lately = [row["pages"] for row in facts.births[-_WEEK:]]
    before = [row["pages"] for row in facts.births[-2:-1]]
    last = facts.births[-1]
    change = _since(last["pages"], before)
    note = f"median of {len(lately)} days; {last['pages']:,} on the last, {change}"
    return Figure("New pages a day", f"{median(lately):,.0f}", note)


def _since(now: float, before: Sequence[float]) -> str:
    if not before or not before[0]:
        return "the day before is not known"
    return f"{now / before[0] - 1:+.0%} on the day before"


def _to_judge(facts: Front) -> str:
    """Return the reason why there is no evaluation out of time yet."""
    if facts.days_to_judge > 0:
        return f"judged on pages born later: in {counted(facts.days_to_judge, 'more day')} of logs"
    return _LATER


def _hub_yield(facts: Front) -> Figure:
    """Return the key figure: share of new pages linked by the first hubs, and by a list in use."""
    title = "New pages that hubs show"
    rows = [row for row in facts.reach if row["trial"] == "out_of_time" and row["wanted"]]
    longest = max((row["horizon_days"] for row in rows), default=0)
    later = [row for row in rows if row["horizon_days"] == longest]
    if not later:
        return Figure(title, "–", _to_judge(facts))
    listed = [row for row in later if row["baseline_one_hop"] is not None]
    row = max(listed, key=lambda other: other["k"]) if listed else _nearest(later, _USUAL_HUBS)
    ours = _share_one_hop(row, "ours")
    says = f"{_bounds(ours)} of new temporal pages are linked by {counted(row['k'], 'hub')}"
    tone, beside = _beside_simple_hubs(row)
    if not listed:
        return Figure(title, percent(ours[0]), f"{says}{beside}; no list in use is known", tone)
    theirs = _share_one_hop(row, "baseline")
    note = f"{says}{beside}; by as many of the list in use {_share_and_bounds(theirs)}"
    return Figure(title, percent(ours[0]), note, BAD if tone == BAD else _tone(ours, theirs))


def _beside_simple_hubs(row: Row) -> tuple[Tone, str]:
    """Return how our hubs stand beside the better of two simple orders, as tone and in words."""
    if row["lead"] is None:
        return PLAIN, ""
    tone, how = _verdict(row["lead_low"], row["lead_high"])
    span = f"{row['lead_low']:+,.0f} to {row['lead_high']:+,.0f}"
    return tone, f", {row['lead']:+,} pages ({span}) beside the better simple order: {how}"


def _verdict(low: float, high: float) -> tuple[Tone, str]:
    """Return the tone and the word for a difference with these bounds."""
    return (GOOD, "ahead") if low > 0 else (BAD, "behind") if high < 0 else (PLAIN, "level")


def _nearest(rows: Sequence[Row], k: int) -> Row:
    return min(rows, key=lambda row: abs(row["k"] - k))


def _share_one_hop(row: Row, seeds: str) -> tuple[float, float, float]:
    """Return the share of wanted pages one hop from the first seeds, with its 95 % bounds."""
    share, pages = row[f"{seeds}_one_hop"] / row["wanted"], row["wanted"]
    low, high = (float(bound(share, pages, 0.975)) for bound in (lower_bound, upper_bound))
    return share, low, high


def _bounds(value: tuple[float, float, float]) -> str:
    return f"{percent(value[1])} to {percent(value[2])}"


def _share_and_bounds(value: tuple[float, float, float]) -> str:
    return f"{percent(value[0])} ({_bounds(value)})"


def _tone(ours: tuple[float, float, float], theirs: tuple[float, float, float]) -> Tone:
    """Return whether a comparison is good or bad; neutral where intervals overlap."""
    return GOOD if ours[1] > theirs[2] else BAD if ours[2] < theirs[1] else PLAIN


def _delay(facts: Front) -> Figure:
    """Return the key figure: hours from birth to fetch, and the share of pages fetched at all."""
    title = "Delay to the first fetch"
    rows = {row["strategy"]: row for row in _latest_crawl(facts.timely)}
    ours = rows.get("ours")
    if ours is None:
        return Figure(title, "–", "no crawl could be simulated")
    if ours["median_delay_hours"] is None:
        return Figure(title, "–", f"{_born(ours)}, and none fetched")
    note = f"median, {delay_span(ours)}, {_fetched(ours)}"
    if "baseline" in rows:
        before = rows["baseline"]["median_delay_hours"]
        row = rows["baseline"]
        earlier = "" if before is None else f"{hours(before)} ({delay_span(row)}), "
        note += f"; list in use {earlier}{percent(row['temporal_fetched'])} fetched"
    return Figure(title, hours(ours["median_delay_hours"]), note)


def _fetched(row: Row) -> str:
    return f"{percent(row['temporal_fetched'])} of temporal pages fetched"


def _interest_left(facts: Front) -> Figure:
    """Return the key figure: share of interest still to come, beside the best other strategy."""
    title = "Interest left at fetch"
    rows = {row["strategy"]: row for row in _latest_crawl(facts.timely)}
    ours = rows.get("ours")
    if ours is None:
        return Figure(title, "–", "no crawl could be simulated")
    mine = _remaining(ours)
    note, few = _bounds(mine), ours["temporal"] < _FEW_BORN
    if few:
        note += f", with {_born(ours)}: too few to compare"
    others = [row for name, row in rows.items() if name not in ("ours", "split")]
    if not others:
        return Figure(title, percent(mine[0]), note)
    best = max(others, key=lambda row: row["remaining"])
    theirs = _remaining(best)
    tone = PLAIN if few else _tone(mine, theirs)
    name = STRATEGIES[best["strategy"]][0]
    return Figure(title, percent(mine[0]), f"{note}; {name} {_share_and_bounds(theirs)}", tone)


def _born(row: Row) -> str:
    """Return how many temporal pages were born in a simulated crawl, as text."""
    return f"{counted(row['temporal'], 'temporal page')} born"


def _remaining(row: Row) -> tuple[float, float, float]:
    return row["remaining"], row["remaining_low"], row["remaining_high"]


def _latest_crawl(rows: Sequence[Row]) -> list[Row]:
    """Return rows of the strategies under the least budget, out of time if that was tried."""
    later = [row for row in rows if row["trial"] == "out_of_time"] or list(rows)
    if not later:
        return []
    key = max((row["horizon_days"], -row["fetches_per_hour"]) for row in later)
    return [row for row in later if (row["horizon_days"], -row["fetches_per_hour"]) == key]


def _right_pages(facts: Front) -> Figure:
    """Return the key figure: F of the published list, beside the best baseline."""
    title = "Right pages in the list (F)"
    rows = judged_out_of_time(facts.lists)
    ours = next((row for row in rows if row["rule"] == "published"), None)
    ours = ours or next((row for row in rows if row["method"] == "prefixes"), None)
    if ours is None:
        return Figure(title, "–", _to_judge(facts))
    best = next(
        (
            row
            for row in rows
            if (row["method"], row["rule"]) == ("baseline", ours["best_baseline"])
        ),
        None,
    )
    if best is None:
        return Figure(title, f"{ours['f']:.2f}", _f_bounds(ours))
    tone, how = _verdict(ours["f_lead_low"], ours["f_lead_high"])
    name = METHODS[best["method"], best["rule"]]
    note = f"{_f_bounds(ours)}; {how}, {name} {best['f']:.2f} ({_f_bounds(best)})"
    return Figure(title, f"{ours['f']:.2f}", note, tone)


def _f_bounds(row: Row) -> str:
    return f"{row['f_low']:.2f} to {row['f_high']:.2f}"


def _data(facts: Front) -> Figure:
    """Return how many days of the window have data, and the share of rejected lines."""
    there = facts.days - facts.missing
    lost = "" if facts.rejected is None else f"; {facts.rejected:.1%} of the lines rejected"
    first = facts.traffic[0]["day"] if facts.traffic else facts.day
    early = max(facts.days - 1 - (facts.day - first).days, 0)
    missing = f"{facts.missing:,}" if facts.missing else "none"
    is_young = there and facts.missing == early > 0
    note = f"{missing} before the first log{lost}" if is_young else f"{missing} missing{lost}"
    return Figure("Days of data", f"{there:,} of {facts.days:,}", note, PLAIN if there else BAD)


def _checks(facts: Front) -> Figure:
    """Return how many checks fail, or else warn, with the names of the first two."""
    if not facts.is_judged:
        return Figure("Checks", "–", "nothing was judged yet")
    for title, names, tone in (
        ("Checks broken", facts.failed, BAD),
        ("Checks that warn", facts.warned, PLAIN),
    ):
        if names:
            named = ", ".join(names[:2]) + (" …" if len(names) > 2 else "")
            return Figure(title, f"{len(names):,}", named, tone)
    return Figure("Checks that pass", "all", "none is broken, and none warns", GOOD)


def judged_out_of_time(rows: Sequence[Row]) -> list[Row]:
    """Return rows of lists in use, for temporal pages of the longest horizon out of time."""
    later = [
        row
        for row in rows
        if row["trial"] == "out_of_time" and row["is_used"] and row["label"] == "temporal"
    ]
    longest = max((row["horizon_days"] for row in later), default=0)
    return [row for row in later if row["horizon_days"] == longest]
