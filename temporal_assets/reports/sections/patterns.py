"""Report sections on URL patterns: BB Tables 2, 3 and 4, Figures 1 and 6, behaviour graph.

The sections take rows of `url_patterns`, `pattern_ranks` and `page_traffic`, and the measurements
of `windows.patterns.pattern_quality`. Patterns that few clients know have no name here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Graph,
    Mark,
    Missing,
    Node,
    Section,
    Series,
    Table,
    unavailable,
)
from temporal_assets.reports.sections.wording import (
    MOST_ROWS,
    PATTERNS,
    Row,
    counted,
    cut,
    percent,
    shown_of,
)

CUTS: Final = (("syntax", "T_syn"), ("visit", "T_visit"), ("transit", "T_tran"))
"""Column prefix and the paper's name of the three trees."""

_TABLE_3: Final = (
    ("paper: T_syn", 28, 1076, 283.7, 7, 17, 11.3),
    ("paper: T_visit", 20, 106, 60.9, 6, 12, 8.4),
    ("paper: T_tran", 16, 100, 51.1, 6, 11, 7.8),
)
_TABLE_4: Final = (
    ("paper: T_syn", 0.912, 0.915, 0.165),
    ("paper: T_visit", 0.991, 0.889, 0.166),
    ("paper: T_tran", 0.999, 0.881, 0.166),
    ("paper: random pairs", None, 0.322, None),
)
_PAPER_SITES: Final = (
    ("paper: www.mitbbs.com", 9_903_107, 265_464, 27_757),
    ("paper: www.gumtree.com", 9_135_292, 973_317, 64_663),
    ("paper: www.cooks.com", 3_555_610, 353_492, 200_354),
    ("paper: 6.cn", 6_996_186, 234_936, 53_962),
    ("paper: bbs.ngacn.cc", 2_901_950, 490_818, 49_980),
    ("paper: www.fotocommunity.de", 8_282_845, 1_699_434, 22_226),
    ("paper: ku6.com", 17_896_352, 1_613_165, 214_059),
    ("paper: www.playlist.com", 10_831_023, 964_819, 20_783),
    ("paper: fantong.com", 4_952_562, 67_060, 6_789),
)
_TENTH: Final = 0.1
_MARKS: Final[Mapping[str, Mark]] = {
    "urls": "dashes",
    "syntax": "line",
    "visit": "dashes",
    "transit": "dots",
}
"""Marks of the curves: several often coincide, and each must show through the next."""
_COLOURS: Final = {"syntax": 3, "visit": 0, "transit": 2, "urls": 5}
_NAMES: Final = {**dict(CUTS), "urls": "single URLs"}


@dataclass(frozen=True, slots=True)
class Method:
    """Measurements of a tree, or of single URLs, on later days and on a mirror; None if unknown."""

    divergence: float | None
    mirror: float | None
    layout: float | None
    layout_random: float | None
    later_urls: tuple[float | None, ...]
    later_visits: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """Measurements of `windows.patterns.pattern_quality`."""

    learned: tuple[dt.date, dt.date]
    periods: tuple[tuple[dt.date, dt.date], ...]
    sites: int
    methods: Mapping[str, Method]
    """Measurements by `CUTS`, and for `urls`."""


def scales(rows: Sequence[Row], mirrored: Mapping[str, int]) -> Section:
    """Return BB Table 2: URLs of each site in the log and in the mirror."""
    if not rows:
        return _no_patterns("bb-table-2", "BB Table 2", "Scales")
    log = sum(row["pages"] for row in rows)
    copied = sum(mirrored.get(row["site"], 0) for row in rows)
    of_mirror = f"; the mirror has {copied:,}" if mirrored else "; there is no mirror"
    kept = rows[:MOST_ROWS]
    return Section(
        "bb-table-2",
        PATTERNS,
        "BB Table 2",
        "Scales: URLs of each site",
        "no_judgement",
        (
            f"The window has {log:,} URLs of {counted(len(rows), 'site')}{of_mirror} (the paper:"
            " 6,662,505 and 74,454,927 of 9 sites).",
        ),
        (
            Table(
                "URLs by site",
                (
                    Column("site"),
                    Column("mirror", "count"),
                    Column("log", "count"),
                    Column("search results", "count"),
                    Column("visits", "count"),
                ),
                (
                    *((*paper_site, None) for paper_site in _PAPER_SITES),
                    *(
                        (
                            cut(row["site"]),
                            mirrored.get(row["site"]),
                            row["pages"],
                            None,
                            row["visits"],
                        )
                        for row in kept
                    ),
                ),
                len(_PAPER_SITES),
                shown_of(len(kept), len(rows), "site"),
            ),
        ),
        "Clicks on search results come with `temporal-assets evaluate crawls --clicks`; logs have"
        " none.",
    )


def tree_sizes(rows: Sequence[Row]) -> Section:
    """Return BB Table 3: leaves and height of the three trees over sites."""
    learned = [row for row in rows if row["status"] == "learned"]
    if not learned:
        return _no_patterns("bb-table-3", "BB Table 3", "Pattern trees")
    body = tuple(
        (
            name,
            *_spread([row[f"{cut_}_leaves"] for row in learned]),
            *_spread([row[f"{cut_}_height"] or 0 for row in learned]),
        )
        for cut_, name in CUTS
    )
    means = [float(row[3]) for row in body]
    direction = "shrink" if means[0] > means[2] else "do not shrink"
    columns = [Column("tree")]
    columns += [Column(f"leaves {end}", "number") for end in ("min", "max", "avg")]
    columns += [Column(f"height {end}", "number") for end in ("min", "max", "avg")]
    return Section(
        "bb-table-3",
        PATTERNS,
        "BB Table 3",
        "Pattern trees",
        "no_judgement",
        (
            f"From syntax to visits to transits the trees {direction}, from {means[0]:.1f} leaves"
            " on"
            f" average to {means[1]:.1f} and {means[2]:.1f}; in the paper 283.7, 60.9 and 51.1.",
        ),
        (Table("Leaves and height", tuple(columns), (*_TABLE_3, *body), len(_TABLE_3)),),
        f"Over {counted(len(learned), 'site')}.",
    )


def unlike_the_paper(rows: Sequence[Row], measured: Quality | Missing) -> str:
    """Return sentences on what limits an order of patterns here; empty if nothing was learned."""
    leaves = [row["transit_leaves"] for row in rows if row["status"] == "learned"]
    if not leaves:
        return ""
    sentence = (
        f"Why: an order of patterns knows as much as patterns tell pages apart. A site has"
        f" {sum(leaves) / len(leaves):.1f} patterns here (the paper: 51.1)"
    )
    lost = None if isinstance(measured, Missing) else measured.methods["transit"].divergence
    if lost is None:
        return f"{sentence}."
    return (
        f"{sentence}, and smoothing visits over them loses {lost:.3f} bits (the paper: 0.166). Our"
        " order"
        " also counts what the log says of single pages."
    )


def _spread(values: Sequence[int]) -> tuple[int, int, float]:
    return min(values), max(values), sum(values) / len(values)


def quality(measured: Quality | Missing) -> Section:
    """Return BB Table 4: mirror coverage, layout, divergence of the smoothed traffic."""
    if isinstance(measured, Missing):
        return unavailable(
            "bb-table-4", PATTERNS, "BB Table 4", "Quality of patterns", measured.why, measured.todo
        )
    methods = measured.methods
    rows: list[tuple[Any, ...]] = [
        (name, method.mirror, method.layout, method.divergence)
        for key, name in CUTS
        for method in (methods[key],)
    ]
    random = next(
        (method.layout_random for method in methods.values() if method.layout_random), None
    )
    if random is not None:
        rows.append(("random pairs", None, random, None))
    first, last = methods["syntax"], methods["transit"]
    says = []
    if first.mirror is not None and last.mirror is not None:
        says.append(
            f"Patterns of T_syn cover {percent(first.mirror)} of the mirror's URLs, those of T_tran"
            f" {percent(last.mirror)} (the paper: 91.2% and 99.9%)."
        )
    if first.divergence is not None and last.divergence is not None:
        says.append(
            "Smoothing traffic over patterns costs"
            f" {first.divergence:.3f} bits with T_syn and {last.divergence:.3f} with T_tran (the"
            " paper: 0.165 and 0.166)."
        )
    return Section(
        "bb-table-4",
        PATTERNS,
        "BB Table 4",
        "Quality of patterns",
        "in_sample",
        tuple(says) or ("No site has visits to compare.",),
        (
            Table(
                "Quality of patterns",
                (
                    Column("tree"),
                    Column("mirror coverage", "share"),
                    Column("layout similarity", "score"),
                    Column("divergence (bits)", "score"),
                ),
                (*_TABLE_4, *rows),
                len(_TABLE_4),
                "A dash: there is no mirror, or it keeps no HTML.",
            ),
        ),
        f"Learned on {measured.learned[0]} to {measured.learned[1]},"
        f" {counted(measured.sites, 'site')}."
        " Divergence is Jensen and Shannon's, between visits of URLs and of patterns on the same"
        " days; a mirror has pages of any day.",
    )


def reliability(measured: Quality | Missing) -> Section:
    """Return BB Figure 6: how long patterns and URLs stay known."""
    title = "How long patterns hold"
    if isinstance(measured, Missing):
        return unavailable(
            "bb-figure-6", PATTERNS, "BB Figure 6", title, measured.why, measured.todo
        )
    ticks = tuple(f"from {first:%d %b}" for first, _ in measured.periods)
    charts = tuple(_held(measured, what, ticks) for what in ("urls", "visits"))
    url, pattern = measured.methods["urls"].later_urls, measured.methods["transit"].later_urls
    return Section(
        "bb-figure-6",
        PATTERNS,
        "BB Figure 6",
        title,
        "out_of_time",
        (
            f"Of the URLs of the last period, {_share(url[-1])} were known by themselves and"
            f" {_share(pattern[-1])} by a pattern of T_tran; in the paper, too, URLs retire quickly"
            " and patterns do not.",
        ),
        charts,
        f"Learned on {measured.learned[0]} to {measured.learned[1]}"
        f" and compared with the periods after.",
    )


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else percent(value)


def _held(measured: Quality, what: str, ticks: tuple[str, ...]) -> Chart:
    """Return the chart of the share of later URLs, or visits, that each tree knows."""
    series = []
    for key, name in _NAMES.items():
        values = getattr(measured.methods[key], f"later_{what}")
        points = [(float(k), v) for k, v in enumerate(values) if v is not None]
        series.append(
            Series(
                name,
                _MARKS[key],
                _COLOURS[key],
                tuple(k for k, _ in points),
                tuple(v for _, v in points),
            )
        )
    return Chart(
        f"Known of later days, by {'URLs' if what == 'urls' else 'visits'}",
        "One line for each pattern tree, and one for single URLs.",
        Axis("period", ticks=ticks, low=0.0, high=float(max(len(ticks) - 1, 1))),
        Axis("share known", "share", 0.0, 1.0),
        tuple(series),
    )


def traffic_spread(
    curves: Mapping[str, Sequence[float]], pages: Mapping[str, int], crawls: Sequence[Row]
) -> Section:
    """Return BB Figure 1: how traffic is spread over pages, and PageRank's share of it.

    `crawls`: rows of `crawl_simulation`.
    """
    title = "How traffic is spread over pages"
    if not curves:
        return unavailable(
            "bb-figure-1",
            PATTERNS,
            "BB Figure 1",
            title,
            "no site has ten pages that were visited",
            "read more days or more traffic",
        )
    tenth = {site: float(shares[len(shares) // 10]) for site, shares in curves.items()}
    low, high = min(tenth.values()), max(tenth.values())
    points = len(next(iter(curves.values())))
    return Section(
        "bb-figure-1",
        PATTERNS,
        "BB Figure 1",
        title,
        "no_judgement",
        (
            f"The most visited tenth of a site's pages draws {percent(low)} to {percent(high)} of"
            " its"
            " visits: an order that knows them loses little by stopping early.",
            *_lost(crawls),
        ),
        (
            Chart(
                f"The {counted(len(curves), 'site')} with the most visits",
                "Share of the visits on the most visited pages, and on those that crawls fetched"
                " first, by share of the pages.",
                Axis("pages", "share", 0.0, 1.0),
                Axis("visits", "share", 0.0, 1.0),
                tuple(
                    Series(
                        f"{cut(site)} ({pages[site]:,} pages)",
                        "line",
                        colour,
                        tuple(k / (points - 1) for k in range(points)),
                        tuple(map(float, shares)),
                    )
                    for colour, (site, shares) in enumerate(curves.items())
                )
                + _crawled(crawls),
            ),
        ),
        "The paper's figure shows how much of the traffic PageRank's order loses. Lines count the"
        " pages that somebody opened, the most visited first. Dashes are crawls of a mirror, which"
        " may hold many pages that nobody opened: means over the sites that were crawled, in"
        " sample. What PageRank loses is the distance to the best crawl.",
    )


def _crawled(crawls: Sequence[Row]) -> tuple[Series, ...]:
    """Return curves of the best crawl, of one by PageRank and of a random one."""
    drawn = (
        ("oracle", "best crawl", 5),
        ("page_rank", "crawl in PageRank's order", 7),
        ("random", "crawl at random", 6),
    )
    lines = []
    for order, name, colour in drawn:
        points = sorted(
            (row["throughput"], row["traffic_share"])
            for row in crawls
            if (row["trial"], row["scenario"], row["crawl_order"]) == ("in_sample", "fetch", order)
        )
        if points:
            x, y = zip(*points, strict=True)
            lines.append(Series(name, "dashes", colour, x, y))
    return tuple(lines)


def _lost(crawls: Sequence[Row]) -> tuple[str, ...]:
    """Compare PageRank's traffic at a tenth of the pages with what could be had."""
    at = {
        row["crawl_order"]: row["traffic_share"]
        for row in crawls
        if row["trial"] == "in_sample"
        and row["scenario"] == "fetch"
        and round(row["throughput"], 4) == _TENTH
    }
    if "page_rank" not in at:
        return ()
    return (
        "A crawl of the first tenth of the pages in PageRank's order has"
        f" {percent(at['page_rank'])}"
        f" of the traffic, where {percent(at['oracle'])} could be had.",
    )


def behaviour_graph(site: str, nodes: Sequence[Row], edges: Sequence[Row], hidden: int) -> Section:
    """Return the section with the graph of the site with the most patterns.

    Nodes are rows of `pattern_ranks`, edges of `behaviour_graph`; `hidden` counts patterns without
    name.
    """
    title = "The behaviour graph of the site with the most patterns"
    if not edges:
        return unavailable(
            "behaviour-graph",
            PATTERNS,
            "BB 4.2",
            title,
            "nobody went from one known pattern to another",
            "read logs in a format that has referrers",
        )
    graph = graph_of(site, nodes, edges)
    names = [node.name for node in graph.nodes]
    busiest = graph.edges[0] if graph.edges else None
    says = f"{cut(site)} has {counted(len(nodes) + hidden, 'pattern')}"
    if busiest is not None:
        source, target, transits = busiest
        says += f"; most people, {transits:,.0f}, went from {names[source]} to {names[target]}"
    return Section(
        "behaviour-graph",
        PATTERNS,
        "BB 4.2",
        title,
        "no_judgement",
        (f"{says}.",),
        (graph,),
        GRAPH_KEY
        + (f" Not drawn: {counted(hidden, 'pattern')} with fewer visits." if hidden else ""),
    )


MOST_PATTERNS: Final = 16
"""Largest number of nodes of a drawn graph: more overlap."""
_MOST_EDGES: Final = 60


GRAPH_KEY: Final = (
    "A circle's area is its visits, an arrow's width its transits. Blue: hardly a page is temporal;"
    " purple: some; red: most. Grey: unknown."
)
"""Sentence that explains the drawing of a behaviour graph."""


def graph_of(site: str, nodes: Sequence[Row], edges: Sequence[Row]) -> Graph:
    """Return the behaviour graph of one site's patterns.

    Nodes are rows of `pattern_ranks`, edges of `behaviour_graph`.
    """
    place = {row["pattern"]: k for k, row in enumerate(nodes)}
    among = [
        (place[edge["source"]], place[edge["target"]], float(edge["transits"]))
        for edge in edges
        if edge["source"] in place and edge["target"] in place and edge["source"] != edge["target"]
    ]
    return Graph(
        f"Patterns of {cut(site)} and transits between them",
        "A circle's area is its visits, an arrow's width its transits; blue patterns last,"
        " red ones are temporal.",
        tuple(
            Node(_pattern_name(row), float(row["visits"]), row["temporal_share"]) for row in nodes
        ),
        tuple(sorted(among, key=lambda edge: -edge[2])[:_MOST_EDGES]),
    )


def _pattern_name(row: Row) -> str:
    return cut(row["template"]) if row["is_public"] else "(few clients)"


def ranked(rows: Sequence[Row], total: int) -> Section:
    """Return a searchable table of `pattern_ranks` by visits, of those that enough clients know."""
    if not rows:
        return _no_patterns("patterns", "BB 4", "Patterns")
    kept = rows[:MOST_ROWS]
    urgent = [row for row in rows if (row["temporal_share"] or 0) > 0.5]
    visits = sum(row["visits"] for row in rows)
    share = sum(row["visits"] for row in urgent) / max(visits, 1)
    columns = (
        Column("site"),
        Column("pattern"),
        *(Column(name, "count") for name in ("pages", "visits", "referrals")),
        *(Column(name, "count") for name in ("fetch rank", "discovery rank")),
        Column("temporal", "share"),
        Column("new a day", "number"),
    )
    names = ("volume", "visits", "referrals", "rank_fetch", "rank_discovery", "temporal_share")
    return Section(
        "patterns",
        PATTERNS,
        "BB 4",
        "Patterns: how valuable, how urgent, how productive",
        "no_judgement",
        (
            f"{counted(len(urgent), 'pattern')} of {total:,} have mostly temporal pages; they draw"
            f" {percent(share)} of the visits.",
        ),
        (
            Table(
                "Patterns, the most visited first",
                columns,
                tuple(
                    (
                        cut(row["site"]),
                        cut(row["template"]),
                        *(row[name] for name in names),
                        row["new_pages_per_day"],
                    )
                    for row in kept
                ),
                note=shown_of(len(kept), total, "pattern"),
            ),
        ),
        "Ranks are within the site: fetch by ½ (authority + hub) of the behaviour graph, discovery"
        " by hub.",
    )


def _no_patterns(id_: str, source: str, title: str) -> Section:
    return unavailable(
        id_, PATTERNS, source, title, "no site was learned", "read more days or more traffic"
    )
