"""The front page of the report: what to watch, what changed, the crawl budget, reliability.

The front page is one screen. Its input is counts, and names that enough clients know. Not here:
the queries (`front_rows`), how it looks (`report_page`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from temporal_assets.core.numerics.proportions import lower_bound, upper_bound
from temporal_assets.core.text.readable import readable
from temporal_assets.reports.document import (
    Axis,
    Block,
    Chart,
    Column,
    Figure,
    Figures,
    Forest,
    Interval,
    Section,
    Series,
    Table,
    Tone,
)
from temporal_assets.reports.sections.crawls import delay_span, hours
from temporal_assets.reports.sections.lists import forest_rows
from temporal_assets.reports.sections.wording import FRONT, Row, counted, cut, percent

_MOST_CHANGES: Final = 6
_WEEK: Final = 7
_USUAL_HUBS: Final = 10
"""Number of hubs whose yield is shown where no list in use says how many to compare."""
_LATER: Final = "`temporal-assets report` makes the earlier windows it needs"
_FEW_PAGES: Final = 100
"""Number of labelled pages below which the front page warns that lists rest on little."""
_FEW_BORN: Final = 10
"""Number of temporal pages of a simulated crawl below which two strategies are not compared."""
PLAIN: Final[Tone] = "plain"
GOOD: Final[Tone] = "good"
BAD: Final[Tone] = "bad"
_KINDS: Final = {"hub": "hubs", "prefix": "prefixes", "site": "sites", "pattern": "patterns"}


@dataclass(frozen=True, slots=True)
class Front:
    """The contents of the front page; tables are rows with the columns named."""

    day: dt.date
    traffic: Sequence[Row]
    """`day`, `views`, `pages` of each day of the window with data."""
    births: Sequence[Row]
    """`day`, `pages`, `temporal`: number of pages born on each observed day."""
    entries: Sequence[Row]
    """`kind`, `decision`, `entries` (number) of the crawl policy."""
    budget: Sequence[Row]
    """`what`, `fetches` per day, the largest first."""
    watched: Sequence[Row]
    """`kind`, `name`, `why`: the first entries of each kind that enough clients know."""
    hubs: Sequence[Row]
    """`name`, `new_per_day` and its bounds of the first hubs that enough clients know."""
    changes: Sequence[Row]
    """`site`, `change`, most important first."""
    crawled: Sequence[Row]
    """Sums of `sources` by kind, of those that crawls visited; empty without results of crawls."""
    best_source: Sequence[Row]
    """`url`, `pages`, `temporal_pages` of the source that was first to show the most temporal
    pages."""
    compared: dt.date | None
    """Day of the earlier list of sites, since which changes are listed."""
    days: int
    missing: int
    """Number of days of the window, and of those without data."""
    opened: int
    labelled: int
    """Number of pages opened in the window, and of those with enough views for a label."""
    days_to_judge: int
    """Number of further days of logs until lists can be evaluated out of time."""
    rejected: float | None
    """Share of the day's log lines that could not be read; None if unknown."""
    failed: Sequence[str]
    """Names of invariants that the day's tables break."""
    warned: Sequence[str]
    """Names of other checks of the day that did not pass."""
    is_judged: bool
    """True if checks of the day have run. How many have depends on when the report is made, and the
    same data must give the same report."""
    lists: Sequence[Row]
    """Rows of `seed_evaluation`."""
    reach: Sequence[Row]
    """Rows of `hub_evaluation`."""
    timely: Sequence[Row]
    """Rows of `timely_simulation`."""


def front(facts: Front) -> Section:
    """Return the first section of the report."""
    blocks: tuple[Block, ...] = (
        Figures("Key figures", tuple(_figures(facts))),
        _watched(facts),
        _changed(facts),
        _budget(facts),
        *_crawled(facts),
        _traffic(facts),
        _births(facts),
        *_hubs(facts),
        *_trusted(facts),
    )
    says = (_summary(facts), *_cautions(facts))
    title = f"{facts.day:%A, %-d %B %Y}"
    return Section("front", FRONT, "", title, "no_judgement", says, blocks)


def _summary(facts: Front) -> str:
    """Return the first sentence: what to watch now, and the state of data and checks."""
    now = {row["kind"]: row["entries"] for row in facts.entries if row["decision"] == "now"}
    parts = [
        counted(now[kind], noun)
        for kind, noun in (("hub", "hub"), ("prefix", "prefix"))
        if kind in now
    ]
    watch = f"Watch {' and '.join(parts)} now" if parts else "There is nothing to watch yet"
    if not facts.is_judged:
        health = "nothing was checked yet"
    elif facts.failed:
        health = f"do not trust it: {counted(len(facts.failed), 'check')} broken"
    elif facts.warned:
        health = f"no check is broken, {counted(len(facts.warned), 'check')} to look at"
    else:
        health = "all checks pass"
    days = counted(facts.days - facts.missing, "day")
    return f"{watch}. {days} of data; {health}. Ranges are intervals of 95 %."


def _cautions(facts: Front) -> Iterator[str]:
    """Yield warnings for operators of small or young logs, with remedies."""
    if facts.labelled < _FEW_PAGES:
        labelled = f"{facts.labelled:,}" if facts.labelled else "none"
        yield (
            f"Little to learn from yet: {labelled} of {counted(facts.opened, 'page')} had views"
            " enough to say for how long it is read. More days of logs, or a lower"
            " `window.min_views_per_day`, help; until then take the lists as a guess."
        )


# Key figures ------------------------------------------------------------------------------------


def _figures(facts: Front) -> Iterator[Figure]:
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
    if not listed:
        return Figure(title, percent(ours[0]), f"{says}; no list in use is known")
    theirs = _share_one_hop(row, "baseline")
    note = f"{says}; by as many of the list in use {_share_and_bounds(theirs)}"
    return Figure(title, percent(ours[0]), note, _tone(ours, theirs))


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
    """Return the key figure: share of interest that is still to come at the fetch."""
    title = "Interest left at fetch"
    rows = {row["strategy"]: row for row in _latest_crawl(facts.timely)}
    ours = rows.get("ours")
    if ours is None:
        return Figure(title, "–", "no crawl could be simulated")
    mine = _remaining(ours)
    note, few = _bounds(mine), ours["temporal"] < _FEW_BORN
    if few:
        note += f", with {_born(ours)}: too few to compare"
    if "baseline" not in rows:
        return Figure(title, percent(mine[0]), note)
    theirs = _remaining(rows["baseline"])
    tone = PLAIN if few else _tone(mine, theirs)
    return Figure(title, percent(mine[0]), f"{note}; list in use {_share_and_bounds(theirs)}", tone)


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
    """Return the key figure: F of the published list, beside the list in use."""
    title = "Right pages in the list (F)"
    rows = _judged(facts.lists)
    ours = next((row for row in rows if row["rule"] == "published"), None)
    ours = ours or next((row for row in rows if row["method"] == "prefixes"), None)
    if ours is None:
        return Figure(title, "–", _to_judge(facts))
    before = next(
        (row for row in rows if (row["method"], row["rule"]) == ("baseline", "list")), None
    )
    note = _f_bounds(ours)
    if before is None:
        return Figure(title, f"{ours['f']:.2f}", f"{note}; no list in use is known")
    tone = GOOD if ours["f_gain_low"] > 0 else BAD if ours["f_gain_high"] < 0 else PLAIN
    return Figure(
        title,
        f"{ours['f']:.2f}",
        f"{note}; list in use {before['f']:.2f} ({_f_bounds(before)})",
        tone,
    )


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


# Tables -----------------------------------------------------------------------------------------


def _watched(facts: Front) -> Table:
    """Return the table of sources and sites to watch now."""
    totals = {
        row["kind"]: sum(
            entry["entries"] for entry in facts.entries if entry["kind"] == row["kind"]
        )
        for row in facts.entries
    }
    rows = tuple((row["kind"], cut(readable(row["name"])), row["why"]) for row in facts.watched)
    named = ", ".join(f"{total:,} {_KINDS[kind]}" for kind, total in totals.items())
    return Table(
        "Watch now",
        (Column("watch"), Column("name"), Column("why")),
        rows,
        note=f"The first of {named} in the policy." if named else "The policy is empty.",
    )


def _budget(facts: Front) -> Table:
    """Return the table of fetches a day by their purpose."""
    total = sum(row["fetches"] for row in facts.budget)
    rows = tuple(
        (row["what"], round(row["fetches"], 1), row["fetches"] / total if total else None)
        for row in facts.budget
    )
    return Table(
        "Where the budget goes",
        (Column("fetches of"), Column("a day", "number"), Column("share", "share")),
        rows,
        note="As the policy asks: hubs by their intervals, new pages as they are born.",
    )


def _crawled(facts: Front) -> Iterator[Table]:
    """Yield a table of what crawls found, by kind of source, if their results are known."""
    if not facts.crawled:
        return
    gone = sum(row["gone"] for row in facts.crawled)
    note = "Pages count for the source that showed them first."
    if facts.best_source:
        best = facts.best_source[0]
        note += (
            f" The best is {cut(readable(best['url'].partition('//')[2]))}:"
            f" {best['temporal_pages']:,} of {counted(best['pages'], 'page')} are temporal."
        )
    if gone:
        note += f" Gone, and out of the policy: {gone:,}."
    yield Table(
        "What crawls found",
        (
            Column("sources"),
            *(Column(name, "count") for name in ("visited", "visits", "unchanged", "failed")),
            *(Column(name, "count") for name in ("pages found", "temporal")),
        ),
        tuple(
            (
                f"{row['kind']}s",
                *(row[name] for name in ("sources", "visits", "unchanged", "failures")),
                *(row[name] for name in ("pages", "temporal_pages")),
            )
            for row in facts.crawled
        ),
        note=note,
    )


def _changed(facts: Front) -> Table:
    """Return the table of sites that entered or left the list since the day compared with."""
    kept = facts.changes[:_MOST_CHANGES]
    since = "yesterday" if facts.compared == facts.day - dt.timedelta(1) else str(facts.compared)
    title = "Changed since " + since if facts.compared else "Changed"
    left = len(facts.changes) - len(kept)
    note = f"{left:,} more below." if left > 0 else ""
    if not kept:
        note = (
            "No site came or went."
            if facts.compared
            else "There is no earlier list to compare with."
        )
    rows = tuple((cut(row["site"]), row["change"]) for row in kept)
    return Table(title, (Column("site"), Column("change")), rows, note=note)


# Charts -----------------------------------------------------------------------------------------


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Return rows of lists in use, for temporal pages of the longest horizon out of time."""
    later = [
        row
        for row in rows
        if row["trial"] == "out_of_time" and row["is_used"] and row["label"] == "temporal"
    ]
    longest = max((row["horizon_days"] for row in later), default=0)
    return [row for row in later if row["horizon_days"] == longest]


def _trusted(facts: Front) -> Iterator[Forest]:
    """Yield the F of published lists and baselines on pages born later."""
    rows = _judged(facts.lists)
    if rows:
        head = rows[0]
        yield Forest(
            f"Can it be trusted? On pages born in the {head['horizon_days']} days after"
            f" {head['learned_until']}",
            "F of each list with its 95 % interval; further right is better.",
            Axis("F on pages born later", "score", 0.0, 1.0),
            forest_rows(_published_and_baselines(rows)),
        )


def _published_and_baselines(rows: Sequence[Row]) -> list[Row]:
    """Return rows of the policy (or published lists) and of baselines; all if none is published."""
    published = [row for row in rows if row["rule"] == "published"]
    published = [row for row in published if row["method"] == "policy"] or published
    return (
        [*published, *(row for row in rows if row["method"] == "baseline")]
        if published
        else [*rows]
    )


def _hubs(facts: Front) -> Iterator[Forest]:
    """Yield the chart of new temporal pages a day by hub, if there are hubs."""
    if facts.hubs:
        yield Forest(
            "What hubs are expected to bring",
            "New temporal pages a day of each hub with their 95 % interval.",
            Axis("new temporal pages a day", "number", 0.0),
            tuple(
                Interval(
                    readable(row["name"].partition("//")[2]),
                    row["new_per_day"],
                    row["new_per_day_low"],
                    row["new_per_day_high"],
                    1,
                )
                for row in facts.hubs
            ),
        )


def _traffic(facts: Front) -> Chart:
    """Return the chart of views by day."""
    days = tuple(float(row["day"].toordinal()) for row in facts.traffic)
    views = tuple(float(row["views"]) for row in facts.traffic)
    return Chart(
        "Views a day",
        "Views of each day of the window; days without data are gaps.",
        Axis("", "date"),
        Axis("views", "count", 0.0),
        (Series("views", "line", 0, days, views),),
    )


def _births(facts: Front) -> Chart:
    """Return the chart of pages born on each day, and of the temporal ones among them."""
    days = [float(row["day"].toordinal()) for row in facts.births]
    return Chart(
        "New pages a day",
        "Pages born on each day, and those of them that are temporal.",
        Axis("", "date"),
        Axis("new pages", "count", 0.0),
        (
            Series(
                "new pages", "bars", 5, tuple(days), tuple(float(r["pages"]) for r in facts.births)
            ),
            Series(
                "temporal among them",
                "bars",
                1,
                tuple(days),
                tuple(float(r["temporal"]) for r in facts.births),
            ),
        ),
    )
