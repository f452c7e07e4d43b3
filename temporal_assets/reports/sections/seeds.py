"""Report section on the pages that seeds lead to (NP 6.2), from rows of `hub_evaluation`.

There is one row per trial and number of seeds, without a URL. Not here: lists of sites and
prefixes (`lists`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from temporal_assets.reports.document import Axis, Chart, Mark, Section, Series, unavailable
from temporal_assets.reports.sections.wording import LISTS, Row, counted, grouped, trial_in_words

_LISTS_OF_SEEDS: Final = (
    ("baseline", "list in use", 5),
    ("paper", "paper's order", 3),
    ("greedy", "greedy", 2),
    ("clicks", "most clicks out yesterday", 4),
    ("recent", "most new links of late", 6),
    ("ours", "ours", 1),
)


def seeds_reached(hubs: Sequence[Row]) -> Section:
    """Return the section on wanted pages within reach of the first K seeds (NP 6.2)."""
    groups = grouped(hubs, ("trial", "horizon_days"))
    if not any(row["wanted"] for row in hubs):
        return unavailable(
            "seeds",
            LISTS,
            "NP 6.2",
            "Temporal pages that seeds lead to",
            "no temporal page of the window is reached from another page",
            "read logs in a format that has referrers",
        )
    return Section(
        "seeds",
        LISTS,
        "NP 6.2",
        "Temporal pages that seeds lead to",
        "both" if len(groups) > 1 else "in_sample",
        tuple(_reach(own) for own in groups.values()),
        tuple(seed_chart(own) for own in groups.values()),
        "Seeds in our order (most new temporal pages to expect), the paper's (most temporal pages"
        " linked first), greedy order (each adds the most that no earlier one links), and two"
        " orders that anybody can write down: clicks out of a page on the last day, and newly born"
        " pages it led to, each counted half as much a day earlier. Lines are one hop, dashes two.",
    )


def seeds_at_length(hubs: Sequence[Row]) -> str:
    """Compare seeds of the list in use, the paper and ours, in one sentence."""
    listed = [r for r in hubs if r["trial"] == "in_sample" and r["baseline_one_hop"] is not None]
    both = [row for row in listed if row["paper_one_hop"] is not None]
    if not both:
        return ""
    last = max(both, key=lambda row: row["k"])
    lead = ""
    if last["lead"] is not None:
        lead = (
            f", {last['lead']:+,} beside the better of two simple orders (95 % interval over"
            f" {last['lead_unit']}: {last['lead_low']:+,.0f} to {last['lead_high']:+,.0f})"
        )
    return (
        f"{last['k']:,} front pages of the list in use link {last['baseline_one_hop']:,} temporal"
        f" pages, as many hubs in the paper's order {last['paper_one_hop']:,}, in ours"
        f" {last['ours_one_hop']:,}{lead} (the paper: 46,210 against 79,292 with 1,542)."
    )


def _reach(own: Sequence[Row]) -> str:
    """Return a sentence on how far our seeds reach, compared with two simple orders."""
    both = [row for row in own if row["lead"] is not None]
    ahead = sum(row["lead_low"] > 0 for row in both)
    behind = sum(row["lead_high"] < 0 for row in both)
    half = next((r["k"] for r in own if 2 * r["ours_one_hop"] >= r["wanted"] > 0), None)
    reach = (
        "never lead to half of the temporal pages in one hop"
        if half is None
        else f"lead to half of the {own[0]['wanted']:,} temporal pages with {counted(half, 'seed')}"
    )
    return (
        f"Temporal pages, {trial_in_words(own[0])}: our seeds {reach}. Beside the better of two"
        f" simple orders they reach more at {ahead:,} of {len(both):,} lengths, as many at"
        f" {len(both) - ahead - behind:,} (the 95 % interval over {own[0]['lead_unit']}"
        f" holds 0), and FEWER at {behind:,}."
    )


def seed_chart(own: Sequence[Row]) -> Chart:
    """Return a chart of pages that the first seeds of one trial lead to."""
    return Chart(
        f"Temporal pages reached, {trial_in_words(own[0])}",
        _reach(own),
        Axis("seeds", "count", is_log=True),
        Axis("temporal pages", "count", low=0.0),
        tuple(_seed_series(own)),
    )


_HOPS: Final[tuple[tuple[str, Mark, str], ...]] = (
    ("one_hop", "line", ""),
    ("two_hops", "dashes", ", two hops"),
)


def _seed_series(own: Sequence[Row]) -> Iterator[Series]:
    """Yield the curves of lists of seeds: wanted pages by number of seeds, for each hop."""
    for name, title, colour in _LISTS_OF_SEEDS:
        for hops, mark, words in _HOPS:
            there = [row for row in own if row[f"{name}_{hops}"] is not None]
            kept = _some(there)
            if kept:
                yield Series(
                    f"{title}{words}",
                    "dots" if len(kept) == 1 else mark,
                    colour,
                    tuple(float(row["k"]) for row in kept),
                    tuple(float(row[f"{name}_{hops}"]) for row in kept),
                )


def _some(rows: Sequence[Row]) -> list[Row]:
    """Return the first rows, then rows at growing distances, and the last."""
    kept: list[Row] = []
    for row in rows:
        if not kept or row["k"] >= 1.12 * kept[-1]["k"] or row is rows[-1]:
            kept.append(row)
    return kept
