"""Report sections on crawl orders (BB Figures 7 to 10), from rows of `crawl_simulation`.

There is one row per trial, scenario, order and share of pages fetched (`throughput`); values of a
complete curve, such as its area, are repeated in all of its rows. No row has a URL. Not here:
crawls while pages are born (`timely`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Missing,
    Section,
    Series,
    Table,
    unavailable,
)
from temporal_assets.reports.sections.wording import CRAWLS, Row, counted, grouped, percent, signed

# Columns: id of the section, figure, scenario, title, and True for orders by links.
_FIGURES: Final = (
    ("bb-figure-7", "BB Figure 7", "fetch", "Orders of patterns, to fetch a site", False),
    ("bb-figure-8", "BB Figure 8", "fetch", "Breadth first and PageRank, to fetch a site", True),
    ("bb-figure-9", "BB Figure 9", "discovery", "Orders of patterns, to discover pages", False),
    (
        "bb-figure-10",
        "BB Figure 10",
        "discovery",
        "Breadth first and PageRank, to discover pages",
        True,
    ),
)
_PATTERNS: Final = (
    *("oracle", "combined", "behaviour_graph", "average_visit", "overall_visit", "volume"),
    *("average_referral", "overall_referral", "random"),
)
_LINKS: Final = (
    *("oracle", "combined", "behaviour_graph"),
    *("page_counts", "page_rank", "opic", "breadth_first", "random"),
)
_COLOURS: Final = {
    "oracle": 5,
    "combined": 1,
    "behaviour_graph": 2,
    "average_visit": 3,
    "average_referral": 3,
    "overall_visit": 4,
    "overall_referral": 4,
    "volume": 6,
    "page_counts": 3,
    "page_rank": 0,
    "opic": 7,
    "breadth_first": 4,
    "random": 6,
}
_NAMES: Final = {"page_rank": "PageRank", "combined": "combined (ours)", "opic": "OPIC"}
_DASHED: Final = ("oracle", "random", "volume", "average_visit", "average_referral", "opic")
_EARLY: Final = (0.01, 0.05, 0.1, 0.2, 0.4)
"""Shares of the pages at which orders are compared in words: budgets that crawlers have."""
_THROUGHPUTS: Final = (0.01, 0.05, 0.1, 0.2, 0.4, 0.8)
_SCENARIOS: Final = {"fetch": "traffic downloaded", "discovery": "traffic seen"}
_TRIALS: Final = {"in_sample": "in sample", "out_of_time": "out of time"}
_PAPER_80: Final = {
    "fetch": "behaviour graph under 40%, PageRank and breadth first more than 60%",
    "discovery": "behaviour graph about 10%, PageRank 35%, breadth first 55%",
}
MAKE: Final = (
    "`temporal-assets evaluate mirror PATH...` (or its `--transits`), then `temporal-assets report`"
)
_NO_CRAWL: Final = Missing("no site could be crawled", MAKE)


def orders(rows: Sequence[Row], why: str, missing: Missing | None = None) -> list[Section]:
    """Return BB Figures 7 to 10, one section each.

    Args:
        rows: Rows of `crawl_simulation`.
        why: Sentence on how these sites differ from the paper's, shown where its claim fails.
        missing: Reason why there are no rows, if known.
    """
    if not rows:
        why_missing = missing or _NO_CRAWL
        return [
            unavailable(id_, CRAWLS, source, title, why_missing.why, why_missing.todo)
            for id_, source, _, title, _ in _FIGURES
        ]
    return [_figure(rows, why, *figure) for figure in _FIGURES]


def _figure(
    rows: Sequence[Row], why: str, id_: str, source: str, scenario: str, title: str, by_links: bool
) -> Section:
    """Return the section of one of the paper's figures, with curves and a table per trial."""
    of_scenario = [row for row in rows if row["scenario"] == scenario]
    trials = grouped(of_scenario, ("trial",))
    names = _LINKS if by_links else _PATTERNS
    says = [
        _links_sentence(t, scenario) if by_links else _patterns_sentence(t) for t in trials.values()
    ]
    if by_links and why and not all(map(_paper_holds, trials.values())):
        says.append(why)
    curves = tuple(curves_of(trial_rows, title, names) for trial_rows in trials.values())
    sums = tuple(_sums(trial_rows, names) for trial_rows in trials.values())
    return Section(
        id_,
        CRAWLS,
        source,
        title,
        "both" if len(trials) > 1 else "in_sample",
        tuple(says),
        (*curves, *sums),
        _about(rows[0]),
    )


def _about(row: Row) -> str:
    """Return what was crawled, and what the oracle and the combined order are."""
    kind = (
        "the stored mirror"
        if row["mirror"] == "stored"
        else "what users did, since no mirror is stored: every page of it has traffic"
    )
    return (
        f"{counted(row['sites'], 'site')} with {counted(row['pages'], 'page')} of {kind}; each is"
        " crawled from its home page and counts the same. The oracle is a bound no order can"
        " exceed;"
        " combined is our order."
    )


def _row_of_order(trial_rows: Sequence[Row]) -> dict[str, Row]:
    """Return one row of each order, for values of the complete curve."""
    return {row["crawl_order"]: row for row in trial_rows}


def _needs(row: Row) -> str:
    """Return the share of pages needed for 80 % of the traffic as text."""
    share = row["pages_80"]
    return "never" if share is None else percent(share)


def _links_sentence(trial_rows: Sequence[Row], scenario: str) -> str:
    """Return sentences on the orders by links: pages needed for 80 % of the traffic."""
    curves = _row_of_order(trial_rows)
    ours, graph = curves["combined"], curves["behaviour_graph"]
    rank, breadth = curves["page_rank"], curves["breadth_first"]
    verdict = {
        (True, True): "In these means the paper's claim holds, for its order and for ours",
        (True, False): "In these means the paper's claim holds",
        (False, True): "In these means the paper's claim does not hold for its order; it does for"
        " ours",
        (False, False): "In these means the paper's claim does not hold",
    }[_paper_holds(trial_rows), _needs_fewest(trial_rows, "combined")]
    return (
        f"{_trial(trial_rows)}, pages needed for 80% of the traffic, mean of the sites:"
        f" combined (ours) {_needs(ours)},"
        f" behaviour graph {_needs(graph)}, PageRank {_needs(rank)}, breadth first"
        f" {_needs(breadth)}, random {_needs(curves['random'])} (the paper: {_PAPER_80[scenario]})."
        f" {verdict}."
        f" {_early_sentence(trial_rows)} {_best_sentence(trial_rows)}"
    )


def _early_sentence(trial_rows: Sequence[Row]) -> str:
    """Return a sentence on budgets at which PageRank or random beats the behaviour graph."""
    shares = _shares(trial_rows)
    graph, behind = shares["behaviour_graph"], []
    for name, title in (("page_rank", "PageRank"), ("random", "random")):
        at = [t for t in _EARLY if t in graph and shares[name][t] > graph[t] + _SAME]
        if at:
            behind.append(
                f"{title} has more traffic than the behaviour graph at {_listed(at)} of the pages"
            )
    if not behind:
        return "At 1% to 40% of the pages the behaviour graph has no less than PageRank and random."
    return f"{'; '.join(behind)}."


def _best_sentence(trial_rows: Sequence[Row]) -> str:
    """Return a sentence that compares our order with the best simple order at each budget.

    The best simple order is the best in hindsight.
    """
    rows = [
        row
        for row in trial_rows
        if row["crawl_order"] == "combined" and round(row["throughput"], 4) in _EARLY
    ]
    sure = [row for row in rows if row["traffic_less_best_low"] is not None]
    parts = [
        f"Combined less the best simple order at each share: {_gains(rows)}",
        _surely("ahead", [r for r in sure if r["traffic_less_best_low"] > 0]),
        _surely("behind", [r for r in sure if r["traffic_less_best_high"] < 0]),
    ]
    if not sure:
        parts.append("one site gives no interval")
    return f"{'; '.join(part for part in parts if part)}."


def _gains(rows: Sequence[Row]) -> str:
    """Return our lead over the best simple order at each share of pages, in percentage points."""
    return ", ".join(
        f"{signed(100 * row['traffic_less_best'])} points at {row['throughput']:.0%}"
        f" ({_NAMES.get(row['best_baseline'], row['best_baseline'].replace('_', ' '))})"
        for row in rows
    )


def _surely(how: str, rows: Sequence[Row]) -> str:
    """Return the shares of pages at which ours is `how` ("ahead") beyond chance; empty if none."""
    at = [round(row["throughput"], 4) for row in rows]
    return f"{how} beyond chance (95%, over sites) at {_listed(at)}" if at else ""


def _listed(throughputs: Sequence[float]) -> str:
    """Return shares of pages as text: `1%, 5%`."""
    return ", ".join(f"{t:.0%}" for t in throughputs)


_SAME: Final = 1e-9
"""Largest difference between shares of the traffic that count as equal."""


def _shares(trial_rows: Sequence[Row]) -> dict[str, dict[float, float]]:
    """Return the share of traffic, by order and by share of pages fetched."""
    shares_of_order: dict[str, dict[float, float]] = {}
    for row in trial_rows:
        at = round(row["throughput"], 4)
        shares_of_order.setdefault(row["crawl_order"], {})[at] = row["traffic_share"]
    return shares_of_order


def _paper_holds(trial_rows: Sequence[Row]) -> bool:
    """Return True if the paper's claim on the behaviour graph holds for a trial."""
    return _needs_fewest(trial_rows, "behaviour_graph")


def _needs_fewest(trial_rows: Sequence[Row], order: str) -> bool:
    """Return True if an order needs fewer pages than PageRank and breadth first for 80 %."""
    curves = _row_of_order(trial_rows)
    needed = curves[order]["pages_80"]
    rivals = [curves[name]["pages_80"] for name in ("page_rank", "breadth_first")]
    return needed is not None and all(rival is None or needed < rival for rival in rivals)


def _patterns_sentence(trial_rows: Sequence[Row]) -> str:
    """Return sentences on the best and the worst of the orders of patterns in a trial."""
    curves = {
        k: v for k, v in _row_of_order(trial_rows).items() if k in _PATTERNS and k != "oracle"
    }
    best = max(curves.values(), key=lambda row: row["area"])
    plain = [row for name, row in curves.items() if name != "combined"]
    first, last = (choose(plain, key=lambda row: row["area"]) for choose in (max, min))
    return (
        f"{_trial(trial_rows)}: the largest area under the curve is {best['area']:.3f}, of"
        f" {_name(best)}; of the paper's orders {_name(first)} is the best ({first['area']:.3f})"
        " and"
        f" {_name(last)} the worst ({last['area']:.3f}). In the paper the behaviour graph is the"
        " best throughout."
    )


def _trial(trial_rows: Sequence[Row]) -> str:
    """Return the name of the rows' trial, with its days if it is out of time."""
    head = trial_rows[0]
    if head["trial"] == "in_sample":
        return "In sample"
    return (
        f"Out of time (learned to {head['learned_until']}, scored by {head['scored_from']} to"
        f" {head['scored_until']})"
    )


def _name(row: Row) -> str:
    """Return the title of a row's order."""
    name = str(row["crawl_order"])
    return _NAMES.get(name, name.replace("_", " "))


def curves_of(trial_rows: Sequence[Row], title: str, names: Sequence[str] = ()) -> Chart:
    """Return a chart of the rows of one scenario and trial: traffic by share of pages fetched.

    `names` are the orders to show, all by default.
    """
    names = names or tuple(_COLOURS)
    curves = grouped(trial_rows, ("crawl_order",))
    series = []
    for name in names:
        points = sorted(curves.get((name,), []), key=lambda row: row["throughput"])
        if points:
            series.append(
                Series(
                    _NAMES.get(name, name.replace("_", " ")),
                    "dashes" if name in _DASHED else "line",
                    _COLOURS[name],
                    tuple(row["throughput"] for row in points),
                    tuple(row["traffic_share"] for row in points),
                )
            )
    what = _SCENARIOS[trial_rows[0]["scenario"]]
    return Chart(
        f"{title}, {_TRIALS[trial_rows[0]['trial']]}",
        f"Share of the {what} after each share of the pages; further up and left is better.",
        Axis("pages fetched", "share", 0.0, 1.0),
        Axis(what, "share", 0.0, 1.0),
        tuple(series),
    )


def _sums(trial_rows: Sequence[Row], names: Sequence[str]) -> Table:
    """Return a table of the area of each curve, and of pages needed and traffic covered."""
    curves = grouped(trial_rows, ("crawl_order",))
    columns = (
        Column("order"),
        Column("area", "score"),
        *(Column(f"pages for {part} %", "share") for part in (50, 80, 90)),
        *(Column(f"80 %: less {name}", "share") for name in ("breadth first", "PageRank")),
        *(Column(f"traffic at {100 * t:g} %", "share") for t in _THROUGHPUTS),
    )
    rows = []
    for name in names:
        points = curves.get((name,), [])
        if points:
            head = points[0]
            at = {round(row["throughput"], 4): row["traffic_share"] for row in points}
            rows.append(
                (
                    _NAMES.get(name, name.replace("_", " ")),
                    *(head[column] for column in ("area", "pages_50", "pages_80", "pages_90")),
                    head["pages_80_less_breadth_first"],
                    head["pages_80_less_page_rank"],
                    *(at.get(t) for t in _THROUGHPUTS),
                )
            )
    rows.sort(key=lambda row: -row[1])
    return Table(f"The curves in numbers, {_TRIALS[trial_rows[0]['trial']]}", columns, tuple(rows))
