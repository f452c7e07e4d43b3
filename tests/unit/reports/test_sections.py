"""Sentences follow the numbers whichever way they fall, and no log makes the page large."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np

from temporal_assets.core.labels.early import score_label, score_probability
from temporal_assets.core.labels.early_comparison import EARLY
from temporal_assets.core.numerics.metrics import Difference
from temporal_assets.reports import site_changes
from temporal_assets.reports.document import Chart, Missing, Report, Section, Table
from temporal_assets.reports.prefix_tree import Section as Folder
from temporal_assets.reports.report_page import page
from temporal_assets.reports.sections import crawls, found, lists, patterns, prefixes, trust
from temporal_assets.reports.sections.timely import timely_crawls
from temporal_assets.reports.sections.wording import counted, more_or_fewer

Row = dict[str, Any]
DAY = dt.date(2026, 1, 31)
EARLIER = dt.date(2026, 1, 30)
NOTHING = Missing("nothing", "more")


def judged(method: str, rule: str, found_: int, pages: int, **more: Any) -> Row:
    """TW's 135,939 temporal pages and NP's 147,927 news pages, judged as the papers do."""
    label = more.get("label", "temporal")
    wanted = 135_939 if label == "temporal" else 147_927
    precision, recall = found_ / pages, found_ / wanted
    return {
        "trial": "in_sample",
        "horizon_days": 0,
        "learned_until": DAY,
        "label": label,
        "method": method,
        "rule": rule,
        "setting": None if method == "baseline" else 100.0,
        "is_used": True,
        "found": found_,
        "pages": pages,
        "wanted": wanted,
        "precision": precision,
        "recall": recall,
        "f": 2 * precision * recall / (precision + recall),
        "f_low": 0.1,
        "f_high": 0.9,
        "best_baseline": None if method == "baseline" else "list",
        "f_lead": None if method == "baseline" else 0.1,
        "f_lead_low": None if method == "baseline" else 0.05,
        "f_lead_high": None if method == "baseline" else 0.2,
        "f_gain": None if method == "baseline" else 0.1,
        "f_gain_low": None if method == "baseline" else 0.05,
        "f_gain_high": None if method == "baseline" else 0.2,
        **more,
    }


TW = [judged("baseline", "list", 59_113, 108_237), judged("sites", "paper", 70_110, 91_996)]
NP = [
    judged("baseline", "list", 86_714, 177_801, label="news"),
    judged("prefixes", "paper", 101_870, 111_934, label="news"),
]


def rows_of(section: Section) -> tuple[Any, ...]:
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return table.rows


def test_the_papers_counts_give_the_papers_words() -> None:
    section = lists.site_list(TW)
    assert section.says[0].startswith(
        "The sites (TW 4.3) cover 18.6% more temporal pages than the list in use, with 15.0% fewer"
        " pages in all (F 0.615 against 0.484, +0.100, interval +0.050 to +0.200)"
    )
    paper, ours = rows_of(section)[1], rows_of(section)[3]
    assert [round(value, 3) for value in ours[1:-1]] == list(paper[1:-1])
    assert ours[-1] == "0.100 to 0.900"
    section = lists.prefix_list(NP, [])
    assert "cover 17.5% more news pages than the list in use, with 37.0% fewer" in section.says[0]
    paper, ours = rows_of(section)[1], rows_of(section)[3]
    assert [round(value, 3) for value in ours[1:-1]] == list(paper[1:-1])


def test_no_table_of_a_paper_is_told_without_an_interval_and_the_best_baseline() -> None:
    losing = {"f_lead": -0.2, "f_lead_low": -0.3, "f_lead_high": -0.1, "best_baseline": "majority"}
    said = lists.site_list([TW[0], {**TW[1], **losing}]).says[0]
    assert "F of sites (TW 4.3) is 0.615 (0.100 to 0.900), it LOSES to the best baseline" in said
    assert "majority of the top folder (-0.200, interval -0.300 to -0.100)" in said


def test_a_list_in_use_that_is_better_is_said_to_be() -> None:
    rows = [judged("baseline", "list", 200, 400), judged("sites", "paper", 100, 500)]
    assert (
        "cover 50.0% fewer temporal pages than the list in use, with 25.0% more"
        in (lists.site_list(rows).says[0])
    )
    alone = lists.site_list(rows[1:]).says[0]
    assert "No list in use is known" in alone


def out_of_time(low: float, high: float) -> str:
    later = {"trial": "out_of_time", "horizon_days": 7}
    rows = [
        judged("baseline", "list", 200, 400, **later),
        judged("prefixes", "paper", 300, 400, **later),
        judged("prefixes", "confident", 300, 400, f_gain_low=low, f_gain_high=high, **later),
    ]
    return lists.out_of_time(rows).says[0]


def test_a_gain_that_may_be_chance_is_said_to_be() -> None:
    assert out_of_time(0.01, 0.2).endswith("more than chance would explain.")
    assert out_of_time(-0.01, 0.2).endswith("which may be chance.")
    assert out_of_time(-0.2, -0.1).endswith("less, and not by chance.")
    assert "To get it: run `temporal-assets report`" in lists.out_of_time(TW).missing


def test_a_baseline_that_wins_is_named_and_so_is_a_tie() -> None:
    later = {"trial": "out_of_time", "horizon_days": 7}

    def said(low: float, high: float) -> str:
        more = {"best_baseline": "everything", "f_lead_low": low, "f_lead_high": high}
        rows = [
            judged("baseline", "everything", 200, 400, **later),
            judged("prefixes", "published", 300, 400, **(later | more)),
        ]
        return lists.out_of_time(rows).says[0]

    assert ", ahead of the best baseline, everything (" in said(0.01, 0.2)
    assert ", level with the best baseline, everything (" in said(-0.01, 0.2)
    assert ", it LOSES to the best baseline" in said(-0.2, -0.1)


def test_lists_of_the_same_pages_are_one_sentence() -> None:
    later = {"trial": "out_of_time", "horizon_days": 7}
    rows = [
        judged("baseline", "everything", 200, 400, **later),
        *(
            judged(method, "published", 300, 400, best_baseline="everything", **later)
            for method in ("sites", "sections", "prefixes")
        ),
        judged("policy", "published", 310, 400, best_baseline="everything", f=0.9, **later),
    ]
    (said,) = lists.out_of_time(rows).says
    assert "F of sites, sections and prefixes is " in said
    assert "F of policy is " in said


def crawled(order: str, pages_80: float | None, area: float = 0.5) -> list[Row]:
    return [
        {
            "trial": "out_of_time",
            "scenario": scenario,
            "crawl_order": order,
            "throughput": at,
            "traffic_share": at,
            "best_baseline": "page_rank",
            "traffic_less_best": 0.1,
            "traffic_less_best_low": 0.05,
            "traffic_less_best_high": 0.2,
            "area": area,
            "pages_50": 0.1,
            "pages_80": pages_80,
            "pages_90": 0.9,
            "pages_80_less_breadth_first": 0.0,
            "pages_80_less_page_rank": 0.0,
            "sites": 2,
            "pages": 100,
            "mirror": "stored",
            **dict.fromkeys(("learned_until", "scored_from", "scored_until"), DAY),
        }
        for scenario in ("fetch", "discovery")
        for at in (0.0, 0.01, 0.1, 1.0)
    ]


def claim(graph: float | None, ours: float) -> tuple[str, ...]:
    rows = [
        *crawled("behaviour_graph", graph, 0.4),
        *crawled("combined", ours, 0.6),
        *crawled("page_rank", 0.35),
        *crawled("breadth_first", 0.55),
        *crawled("random", 0.8),
    ]
    figures = {section.id: section for section in crawls.orders(rows, "Because.")}
    return figures["bb-figure-10"].says


def test_the_papers_claim_is_compared_and_not_repeated() -> None:
    assert (
        "In these means the paper's claim holds, for its order and for ours." in claim(0.1, 0.09)[0]
    )
    assert "In these means the paper's claim holds. " in claim(0.1, 0.4)[0]
    (said, why) = claim(0.4, 0.1)
    assert "does not hold for its order; it does for ours." in said
    assert why == "Because."
    assert "In these means the paper's claim does not hold. " in claim(None, 0.9)[0]
    assert len(claim(0.1, 0.09)) == 1


def test_small_budgets_are_compared_as_well() -> None:
    """A claim for 80 % of the traffic says nothing of the first pages."""
    rows = [
        *crawled("behaviour_graph", 0.1, 0.4),
        *crawled("combined", 0.1, 0.6),
        *crawled("page_rank", 0.35),
        *crawled("breadth_first", 0.55),
        *crawled("random", 0.8),
    ]
    for row in rows:
        if row["crawl_order"] == "page_rank" and row["throughput"] == 0.01:
            row["traffic_share"] = 0.5
    figures = {section.id: section for section in crawls.orders(rows, "Because.")}
    (said,) = figures["bb-figure-10"].says
    assert "PageRank has more traffic than the behaviour graph at 1% of the pages." in said
    assert "random has more" not in said
    assert "+10.0 points at 1% (PageRank)" in said
    assert "ahead beyond chance (95%, over sites) at 1%, 10%" in said


def test_what_page_rank_loses_is_drawn_beside_the_best_crawl_of_the_same_pages() -> None:
    rows = [
        {**row, "scenario": "fetch", "trial": "in_sample"}
        for order in ("oracle", "page_rank", "random", "combined")
        for row in crawled(order, 0.5)
    ]
    section = patterns.traffic_spread({"a.example": [0.0, 0.6, 1.0]}, {"a.example": 20}, rows)
    (chart,) = section.blocks
    assert isinstance(chart, Chart)
    names = ["a.example (20 pages)", "best crawl", "crawl in PageRank's order", "crawl at random"]
    assert [series.name for series in chart.series] == names
    assert len({series.colour for series in chart.series}) == len(names)


def test_an_order_that_never_has_the_traffic_needs_no_share_of_the_pages() -> None:
    assert (
        "pages needed for 80% of the traffic, mean of the sites: combined (ours) 90.0%, behaviour"
        " graph never, PageRank 35.0%, breadth first 55.0%, random 80.0% (the"
    ) in claim(None, 0.9)[0]


def test_a_crawl_in_time_says_whether_a_simpler_one_catches_more() -> None:
    days = {"crawled_from": DAY, "crawled_until": DAY}
    row = dict.fromkeys(("median_delay_hours", "delay_90_hours", "median_delay_low_hours"), 1.0)
    row |= {"trial": "out_of_time", "horizon_days": 7, "fetches_per_hour": 3.0, "temporal": 9}
    row |= {"born": 20, "median_delay_high_hours": 2.0, "fetches": 9, "wasted": 1} | days
    row |= {"temporal_remaining": 0.9, "temporal_fetched": 1.0, "remaining": 0.8}
    less = ("remaining_less_ours", "remaining_less_ours_low", "remaining_less_ours_high")
    ours = row | dict.fromkeys(less, 0.0) | {"strategy": "ours"}
    for sign, verdict in ((-1, "ahead of"), (1, "it LOSES to")):
        ends = sorted((sign * 0.01, sign * 0.05))
        other = row | dict(zip(less, (sign * 0.03, *ends), strict=True)) | {"strategy": "page_rank"}
        section = timely_crawls([ours, other])
        points = f"{-3 * sign:+.1f} points (95 %: {-100 * ends[1]:+.1f} to {-100 * ends[0]:+.1f})"
        assert f"By all pages {verdict} PageRank: {points}." in section.says[0]
        table = next(block for block in section.blocks if isinstance(block, Table))
        assert table.rows[0][3] is None
        assert table.rows[1][3].startswith(f"{3 * sign:+.1f} (")


def test_without_data_every_section_says_what_to_do() -> None:
    empty = [
        *crawls.orders([], ""),
        timely_crawls([]),
        found.sites([], 0),
        found.hubs([], 0),
        prefixes.folders([], "news"),
        prefixes.trees([], 0),
        prefixes.prefix_table([], 0),
        patterns.scales([], {}),
        patterns.tree_sizes([]),
        patterns.quality(NOTHING),
        patterns.reliability(NOTHING),
        patterns.traffic_spread({}, {}, []),
        patterns.behaviour_graph("", [], [], 0),
        patterns.ranked([], 0),
        trust.calibration([], {}, is_configured=False),
        trust.early([], 0),
    ]
    assert all(section.missing and not section.says for section in empty)


def test_early_labels_say_whether_a_simpler_answer_is_ahead() -> None:
    truth = np.arange(100) % 10 > 0
    own = score_probability(1, EARLY, truth, 0.8 * truth + 0.1)
    other = score_label(1, "always", truth, np.ones(100, np.bool_))
    for sign, verdict in ((1, "ahead of"), (-1, "BEATEN BY")):
        lead = Difference(sign * 0.1, sign * 0.1 - 0.06, sign * 0.1 + 0.06)
        section = trust.early([replace(own, lead=lead, rival="always"), other], 3)
        points = f"{10 * sign:+.1f} points (95 %: {10 * sign - 6:+.1f} to {10 * sign + 6:+.1f})"
        assert f"{verdict} the best simpler answer (always, 90.0%): {points}" in section.says[0]
    level = replace(own, lead=Difference(0.0, -0.1, 0.1), rival="always")
    said = trust.early([level, other], 3).says[0]
    assert "level with the best" in said
    assert "ahead of it at 0, level at 1 (the 95 % interval holds 0), and BEHIND at 0." in said


def test_thresholds_stand_beside_one_label_for_all_pages() -> None:
    row = dict.fromkeys(("name", "days", "threshold", "is_used"), 0)
    row |= {"score": "interest", "scope": "all", "is_best": True, "pages": 100, "temporal": 10}
    counts = {"hit": 95, "miss": 2, "false_alarm": 3}
    row |= counts | {f"cross_validated_{name}": count for name, count in counts.items()}
    section = trust.calibration([row], {}, is_configured=True)
    assert "level with always untemporal (90.0%): +5.0 points (95 %: -1." in section.says[0]
    assert ("always untemporal", None, None, 100, 90, 10, 0, None) in rows_of(section)


def test_a_site_wholly_under_its_prefix_is_not_one_that_has_both() -> None:
    whole = {"site": "a.example", "pages": 30, "news_pages": 20}
    whole |= {"prefixes": 1, "prefix_pages": 30, "prefix_news_pages": 20}
    mixed = {"site": "b.example", "pages": 30, "news_pages": 10}
    mixed |= {"prefixes": 1, "prefix_pages": 12, "prefix_news_pages": 9}
    section = prefixes.folders([whole, mixed], "news")
    assert [row[1:] for row in rows_of(section)[2:]] == [(9, 3), (1, 17)]
    assert "told by concentration" in section.about
    assert "the temporal pages here" in prefixes.folders([whole, mixed], "temporal").about


def test_divergence_of_the_days_learned_from_is_in_sample() -> None:
    method = patterns.Method(0.1, 0.9, None, None, (0.8,), (0.7,))
    learned, later = (EARLIER, EARLIER), ((DAY, DAY),)
    methods = dict.fromkeys(("syntax", "visit", "transit", "urls"), method)
    quality = patterns.Quality(learned, later, 1, methods)
    assert patterns.quality(quality).trial == "in_sample"
    assert patterns.reliability(quality).trial == "out_of_time"


def change(site: str, **more: Any) -> Row:
    """A row of `site_changes`."""
    plain = {"rank": 1, "earlier_rank": 1, "temporal_pages": 9, "change": "unlisted"}
    return plain | {"site": site, "is_first_seen": False, "is_gone_quiet": False} | more


def test_no_log_makes_the_page_large() -> None:
    """Long names of characters that take four times their room, far too many of everything."""
    name, many = "<" * 3_000, 5_000
    numbers = dict.fromkeys(
        (
            *("rank", "pages", "temporal_pages", "news_pages", "paper_rank", "gain", "visits"),
            *("revisit_minutes", "volume", "referrals", "rank_fetch", "rank_discovery"),
        ),
        1_234_567,
    )
    shares = dict.fromkeys(
        (
            *("new_per_day", "new_per_day_low", "new_per_day_high"),
            *("score_1", "score_2", "score", "bound", "coverage", "temporal_share"),
            *("new_pages_per_day",),
        ),
        0.123456,
    )
    row = numbers | shares | dict.fromkeys(("site", "url", "prefix", "template"), name)
    rows = [row] * many
    tree = [Folder(name, name, 9, 9, 9, True, (), 0)] * many
    sections = (
        found.sites(rows, many),
        found.hubs(rows, many),
        prefixes.prefix_table(rows, many),
        prefixes.trees(tree, len(tree)),
        patterns.scales(rows, {}),
        patterns.ranked(rows, many),
        found.changes(site_changes.report([change(name, is_first_seen=True)] * many, DAY, EARLIER)),
    )
    html = page(Report(DAY, "Report", (), sections))
    assert len(html.encode()) < 4_000_000  # and 1 MB for charts
    assert "500 of 5,000 hubs are shown." in html
    assert "500 of 5,000 changes are shown." in html


def test_many_new_sites_leave_room_for_other_changes() -> None:
    rows = [change(f"{n:04}.example", is_first_seen=True) for n in range(3_000)]
    rows += [change(f"in{n}.example", change="entered") for n in range(300)]
    rows += [change("out.example", change="left")]
    table = rows_of(found.changes(site_changes.report(rows, DAY, EARLIER)))
    titles = [row[1] for row in table]
    assert [titles.count(title) for title in dict.fromkeys(titles)] == [250, 249, 1]
    assert list(dict.fromkeys(titles)) == ["First seen", "Entered the list", "Left the list"]
    few = found.changes(site_changes.report(rows[3_000:3_002], DAY, EARLIER))
    assert [row[0] for row in rows_of(few)] == ["in0.example", "in1.example"]
    assert few.blocks[0].note == ""


def test_words() -> None:
    assert counted(1, "prefix") == "1 prefix"
    assert counted(1_200, "prefix") == "1,200 prefixes"
    assert more_or_fewer(3, 2) == "50.0% more"
    assert more_or_fewer(2, 2) == "as many"
    assert more_or_fewer(0, 0) == "as many"
