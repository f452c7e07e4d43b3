"""Report sections about what to watch: ranked sites, what has come and gone, hubs.

The sections take rows of `site_scores`, `site_changes` and `hub_seeds`; everything named here is
known to enough clients.
"""

from __future__ import annotations

from collections.abc import Sequence

from temporal_assets.core.text.readable import readable
from temporal_assets.reports.document import Column, Section, Table, unavailable
from temporal_assets.reports.sections.wording import (
    FOUND,
    MOST_ROWS,
    Row,
    counted,
    cut,
    percent,
    shown_of,
)
from temporal_assets.reports.site_changes import Report


def sites(rows: Sequence[Row], total: int) -> Section:
    """Return the section with the list of sites (TW 4.3) from the selected rows, by rank."""
    title = "Sites to watch"
    if not rows:
        return unavailable(
            "sites",
            FOUND,
            "TW 4.3",
            title,
            "no site has temporal pages and enough clients",
            "read more days or more traffic",
        )
    temporal, pages = (sum(row[name] for row in rows) for name in ("temporal_pages", "pages"))
    kept = rows[:MOST_ROWS]
    return Section(
        "sites",
        FOUND,
        "TW 4.3",
        title,
        "no_judgement",
        (
            f"{counted(len(rows), 'site')} of {total:,} visited ones are listed;"
            f" {percent(temporal / max(pages, 1))} of their {counted(pages, 'page')} are temporal.",
        ),
        (
            Table(
                "Ranked sites",
                (
                    Column("site"),
                    Column("rank", "count"),
                    Column("pages", "count"),
                    Column("temporal", "count"),
                    Column("share of pages", "share"),
                    Column("share of views", "share"),
                    Column("score", "score"),
                    Column("at least", "score"),
                ),
                tuple(
                    (
                        cut(row["site"]),
                        *(row[name] for name in ("rank", "pages", "temporal_pages")),
                        *(row[name] for name in ("score_1", "score_2", "score", "bound")),
                    )
                    for row in kept
                ),
                note=shown_of(len(kept), len(rows), "site"),
            ),
        ),
    )


def changes(report: Report) -> Section:
    """Return the section on sites that come and go (TW's Olympic Games, NP's doha2006)."""
    title = "Sites that came and went"
    if report.earlier_day is None:
        return unavailable(
            "changes",
            FOUND,
            "",
            title,
            "there is no earlier list to compare with",
            "make the window of an earlier day, for example the day before"
            " (`temporal-assets materialize site_scores --day DAY`)",
        )
    rows = tuple(
        (cut(row["site"]), group.title, row["rank"], row["earlier_rank"], row["temporal_pages"])
        for group, shown in zip(report.groups, _shown(report), strict=True)
        for row in group.rows[:shown]
    )
    total = sum(group.sites for group in report.groups)
    return Section(
        "changes",
        FOUND,
        "",
        title,
        "no_judgement",
        (
            f"Since {report.earlier_day}, {report.steady:,} of"
            f" {counted(report.listed, 'listed site')}"
            f" have kept their place; {counted(len(rows), 'change')}"
            f" {'is' if len(rows) == 1 else 'are'} shown.",
        ),
        (
            Table(
                f"Changes since {report.earlier_day}",
                (
                    Column("site"),
                    Column("change"),
                    Column("rank", "count"),
                    Column("rank before", "count"),
                    Column("temporal pages", "count"),
                ),
                rows,
                note=shown_of(len(rows), total, "change"),
            ),
        )
        if rows
        else (),
    )


def _shown(report: Report) -> list[int]:
    """Return how many sites of each group are shown, so that none crowds out the others."""
    left, shown = MOST_ROWS, [0] * len(report.groups)
    by_length = sorted(range(len(shown)), key=lambda n: len(report.groups[n].rows))
    for done, n in enumerate(by_length):
        shown[n] = min(len(report.groups[n].rows), left // (len(shown) - done))
        left -= shown[n]
    return shown


def hubs(rows: Sequence[Row], total: int) -> Section:
    """Return the section with hubs in the published order, of those that enough clients know."""
    title = "Hubs to visit"
    if not rows:
        return unavailable(
            "hubs",
            FOUND,
            "NP 5.1",
            title,
            "no page that enough clients know leads to temporal pages",
            "read logs in a format that has referrers, or more of them",
        )
    half = next((row["rank"] for row in rows if row["coverage"] >= rows[-1]["coverage"] / 2), 1)
    kept = rows[:MOST_ROWS]
    return Section(
        "hubs",
        FOUND,
        "NP 5.1",
        title,
        "no_judgement",
        (
            f"{counted(total, 'hub')} together lead to {percent(rows[-1]['coverage'])} of the"
            f" temporal pages; half of that takes {counted(half, 'hub')} (the paper lists 1,542).",
        ),
        (
            Table(
                "Hubs by what they will lead to",
                (
                    Column("hub"),
                    Column("rank", "count"),
                    Column("paper's rank", "count"),
                    Column("temporal pages", "count"),
                    Column("new a day", "number"),
                    Column("at least", "number"),
                    Column("at most", "number"),
                    Column("covered so far", "share"),
                    Column("visit every (minutes)", "count"),
                ),
                tuple(
                    (
                        cut(readable(row["url"])),
                        *(row[n] for n in ("rank", "paper_rank", "temporal_pages")),
                        *(row[f"new_per_day{n}"] for n in ("", "_low", "_high")),
                        row["coverage"],
                        row["revisit_minutes"],
                    )
                    for row in kept
                ),
                note=shown_of(len(kept), total, "hub"),
            ),
        ),
    )
