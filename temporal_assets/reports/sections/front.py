"""The front page of the report: what to watch, what changed, the crawl budget, reliability.

The front page is one screen. Its input is counts, and names that enough clients know. Not here:
the large numbers (`key_figures`), the queries (`windows.report.front_rows`), how it looks
(`report_page`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from temporal_assets.core.text.readable import readable
from temporal_assets.reports.document import (
    Axis,
    Block,
    Chart,
    Column,
    Figures,
    Forest,
    Interval,
    Section,
    Series,
    Table,
)
from temporal_assets.reports.sections.front_facts import Front
from temporal_assets.reports.sections.key_figures import judged_out_of_time, key_figures
from temporal_assets.reports.sections.lists import forest_rows
from temporal_assets.reports.sections.wording import FRONT, Row, counted, cut

_MOST_CHANGES: Final = 6
_FEW_PAGES: Final = 100
"""Number of labelled pages below which the front page warns that lists rest on little."""
_KINDS: Final = {"hub": "hubs", "prefix": "prefixes", "site": "sites", "pattern": "patterns"}


def front(facts: Front) -> Section:
    """Return the first section of the report."""
    blocks: tuple[Block, ...] = (
        Figures("Key figures", tuple(key_figures(facts))),
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


def _trusted(facts: Front) -> Iterator[Forest]:
    """Yield the F of published lists and baselines on pages born later."""
    rows = judged_out_of_time(facts.lists)
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
