"""The lines of the benchmark suite, and one way of one of them in this process.

    python -m benchmarks.suite_lines NAME WAY FOLDER SIZE REPEATS

prints what was measured as JSON; WAY `prepare` writes what the line reads, and
`check` compares the tables that its ways have made. `python -m
benchmarks.suite` calls this for every way. Not here: the jobs themselves, tables and medians.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Final

from benchmarks import suite_graphs as graphs
from benchmarks import suite_links as links
from benchmarks import suite_lists as lists
from benchmarks import suite_logs as logs
from benchmarks import suite_parts as parts
from benchmarks import suite_urls as urls
from benchmarks import suite_windows as windows
from benchmarks.suite_job import Line, timed

LINES: Final[dict[str, Line]] = {
    "generate": Line(
        "access logs for trials",
        "lines",
        {"ours": logs.made_by_us, "plain Python": logs.made_plainly, "Faker": logs.made_by_faker},
        {"Faker": "faker"},
    ),
    "read": Line(
        "logs to distinct visitors by page and day",
        "lines",
        {
            "ours": logs.read_by_us,
            "ours, all lines as they stand": parts.lines_by_us,
            "awk and sort": logs.read_by_awk,
            "awk and sort, all lines as they stand": logs.read_by_sort,
            "GoAccess": logs.read_by_goaccess,
            "Matomo's importer": logs.read_by_matomo,
        },
        {
            "GoAccess": "!goaccess",
            "awk and sort": "!awk",
            "awk and sort, all lines as they stand": "!awk",
            "Matomo's importer": "!import_logs.py",
        },
        (logs.write_inputs,),
        logs.visits_are_alike,
        ("awk and sort",),
        {"awk and sort, all lines as they stand": "ours, all lines as they stand"},
    ),
    "transits": Line(
        "distinct transits of a day",
        "requests",
        {
            "ours": logs.transits_by_us,
            "pandas": logs.transits_by_pandas,
            "Polars": logs.transits_by_polars,
        },
        {"Polars": "polars"},
        (logs.write_inputs,),
    ),
    "totals": Line(
        "totals and births of 60 days",
        "page-days",
        {
            "ours": windows.totals_by_us,
            "pandas": windows.totals_by_pandas,
            "Polars": windows.totals_by_polars,
        },
        {"Polars": "polars"},
        (windows.write_views,),
    ),
    "incremental": Line(
        "the same, a day later",
        "page-days",
        {"ours": windows.totals_incremental, "ours, anew": windows.totals_by_us},
        {},
        (windows.write_views,),
    ),
    "histories": Line(
        "totals and histories, a day later",
        "page-days",
        {
            "ours": windows.histories_incremental,
            "ours, anew": windows.histories_anew,
            "pandas": windows.histories_by_pandas,
            "Polars": windows.histories_by_polars,
        },
        {"Polars": "polars"},
        (windows.write_views,),
    ),
    "curves": Line(
        "interest curves",
        "pages",
        {
            "ours": lists.curves_by_us,
            "curve_fit, 5 starts": lists.curves_by_scipy,
            "lmfit": lists.curves_by_lmfit,
        },
        {"lmfit": "lmfit"},
    ),
    "labels": Line(
        "labels from curves and histories",
        "pages",
        {
            "ours": windows.labels_by_us,
            "Polars": windows.labels_by_polars,
            "pandas, one threshold": windows.labels_by_pandas,
        },
        {"Polars": "polars"},
        (windows.write_views,),
        windows.same_labels,
    ),
    "scores": Line(
        "scores of sites and their sections from labels",
        "pages",
        {
            "ours": lists.scores_by_us,
            "ours, sites alone": parts.sites_by_us,
            "Polars": lists.sections_by_polars,
            "Polars, sites alone": lists.scores_by_polars,
            "pandas, sites alone": lists.scores_by_pandas,
        },
        {"Polars": "polars", "Polars, sites alone": "polars"},
        (lists.write_labels,),
        lists.same_scores,
        parts=dict.fromkeys(("Polars, sites alone", "pandas, sites alone"), "ours, sites alone"),
    ),
    "prefixes": Line(
        "site scores and news prefixes, in memory",
        "pages",
        {"ours": lists.prefixes_of("ours"), "plain Python": lists.prefixes_of("plain")},
        {},
    ),
    "traffic": Line(
        "traffic of every page from the transits of 60 days",
        "transits",
        {
            "ours": links.traffic_by_us,
            "pandas, without lists": links.traffic_by_pandas,
            "Polars": links.traffic_by_polars,
        },
        {"Polars": "polars"},
        (links.write_links,),
    ),
    "hubs": Line(
        "hubs from labels, traffic and transits",
        "transits",
        {
            "ours": links.hubs_by_us,
            "Polars, the paper's order alone": links.order_by_polars,
            "pandas, the paper's order alone": links.hubs_by_pandas,
        },
        {"Polars, the paper's order alone": "polars"},
        (links.write_links,),
    ),
    "patterns": Line(
        "URL patterns of a site",
        "URLs",
        {"ours": urls.patterns_by_us, "os-urlpattern": urls.patterns_by_os_urlpattern},
        {"os-urlpattern": "!pattern-make"},
    ),
    "hits": Line(
        "hubs and authorities",
        "links",
        {
            "ours": graphs.hits_by_us,
            "networkx": graphs.hits_by_networkx,
            "igraph": graphs.hits_by_igraph,
            "scikit-network": graphs.hits_by_sknetwork,
        },
        {"networkx": "networkx", "igraph": "igraph", "scikit-network": "sknetwork"},
    ),
    "ranks": Line(
        "PageRank",
        "links",
        {
            "ours": graphs.ranks_of("ours"),
            "networkx": graphs.ranks_of("networkx"),
            "igraph": graphs.ranks_of("igraph"),
            "scikit-network": graphs.ranks_of("sknetwork"),
        },
        {"networkx": "networkx", "igraph": "igraph", "scikit-network": "sknetwork"},
    ),
    "simulation": Line(
        "a crawl of a mirror",
        "pages",
        {"ours": graphs.crawl_by_us, "plain Python": graphs.crawl_by_python},
        {},
    ),
    "policy": Line(
        "decisions of a crawl policy",
        "URLs",
        {
            "ours": urls.decided_by_us,
            "regular expressions by site": urls.decided_by_expressions,
            "url-matcher": urls.decided_by_url_matcher,
        },
        {"url-matcher": "url_matcher"},
    ),
    "report": Line(
        "a page of tables and charts from numbers",
        "blocks",
        {"ours": lists.report_by_us, "pandas and matplotlib": lists.report_by_matplotlib},
        {"pandas and matplotlib": "matplotlib"},
    ),
}


def prepare(name: str, folder: Path, size: str) -> None:
    """Write what a line reads; it stays, so that a second call costs nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    for write in LINES[name].inputs:
        own = folder / write.__name__
        if (own / "prepared").exists():
            continue
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir()
        write(own, size)
        (own / "prepared").touch()


def main() -> None:
    """Prepare a line, or time one way of it."""
    name, way, folder, size = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    if way == "prepare":
        prepare(name, folder, size)
        return
    inputs, check = LINES[name].inputs, LINES[name].check
    own = folder / inputs[0].__name__ if inputs else folder
    if way == "check" and check is not None:
        check(own, size)
        return
    job = LINES[name].ways[way](own, size)
    print(json.dumps(timed(job, int(sys.argv[5]))))


if __name__ == "__main__":
    main()
