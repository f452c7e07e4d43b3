"""`evaluation_report`: the tables and figures of the three papers, on the data at hand.

Here: which sections there are, the rows that each is given, and publishing them. Not here: their
text (`reports.sections`), their looks (`reports.report_page`), the queries (`report_rows`).

The table is the truth; the pages, and the JSON of the latest window, are copies in the state
folder:

    report/evaluation-2025-05-01.html    of the day: to look at, to link to and to pass on
    report/evaluation.html               the latest
    report/evaluation.json               the same numbers for machines
    report/SHA256SUMS                    what these were when they were written
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets import __version__
from temporal_assets.core.labels.labels import by_both
from temporal_assets.engines.engine_choice import engine_version
from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.reports import site_changes
from temporal_assets.reports.document import (
    Missing,
    Report,
    Section,
    as_json,
    section_content,
    section_of,
)
from temporal_assets.reports.report_page import page
from temporal_assets.reports.sections import crawls, found, lists, pages, patterns, prefixes, trust
from temporal_assets.reports.sections.front import front
from temporal_assets.reports.sections.seeds import seeds_reached
from temporal_assets.reports.sections.timely import timely_crawls
from temporal_assets.settings import VIEWS_PER_CLIENT, Settings
from temporal_assets.storage import checksums
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls.crawl_simulation import (
    CRAWL_SIMULATION,
    MOST_SITES,
    stored_mirror,
    too_large,
)
from temporal_assets.windows.crawls.timely_simulation import TIMELY_SIMULATION
from temporal_assets.windows.evaluation.hub_evaluation import HUB_EVALUATION
from temporal_assets.windows.evaluation.seed_evaluation import SEED_EVALUATION
from temporal_assets.windows.evaluation.trials import sample_of
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.counted_sites import uncounted_visitors
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.labels.calibration import CALIBRATION
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.early_trial import early_trial
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.site_changes import SITE_CHANGES, compared_day
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.patterns.behaviour_graph import BEHAVIOUR_GRAPH
from temporal_assets.windows.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.report.front_rows import front_of
from temporal_assets.windows.report.report_quality import mirrored_pages, quality_of_patterns
from temporal_assets.windows.report.report_rows import MANY, ReportRows, Row
from temporal_assets.windows.results.sources import SOURCES
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC, TRAFFIC_SQL

FOLDER: Final = "report"
"""Name of the folder in the state folder."""
HTML: Final = "evaluation.html"
JSON: Final = "evaluation.json"
OF_DAY: Final = "evaluation-{day}.html"

DATA: Final = "data"
"""Id of the row that describes the data."""

_ELSEWHERE: Final[dict[str, bool | set[str]]] = {
    **dict.fromkeys(("state", "storage", "sources", "reading", "orchestration"), True),
    **dict.fromkeys(("engine", "spark", "retention", "alerts"), True),
    # Where lists lie; what they hold is in the tables that are made of it.
    "baseline": {"path"},
    "calibration": {"annotated"},
}
"""Settings that affect the report only through its inputs."""

_NAMED_DAYS: Final = 8
"""Most missing days that are named; of more, only their number is given."""

_TOTALS: Final = (
    "SELECT count(*) AS pages, count(DISTINCT site) AS sites,"
    " CAST(coalesce(sum(total), 0) AS BIGINT) AS views FROM page_totals"
)
_SITES: Final = (
    "SELECT site, rank, pages, temporal_pages, score_1, score_2, score, bound FROM site_scores"
    " WHERE is_selected AND clients >= {least} ORDER BY rank"
)
_HUBS: Final = (
    "SELECT url, rank, paper_rank, temporal_pages, new_per_day, new_per_day_low,"
    " new_per_day_high, coverage, revisit_minutes FROM hub_seeds"
    " WHERE rank IS NOT NULL AND clients >= {least} ORDER BY rank"
)
_PREFIXES: Final = (
    "SELECT prefix, pages, news_pages, score, bound FROM news_prefixes WHERE clients >= {least}"
    " ORDER BY news_pages DESC, prefix"
)
_PATTERNS: Final = "SELECT * FROM pattern_ranks WHERE is_public ORDER BY visits DESC, site, pattern"


def compose(job: Job) -> Report:
    """Return the report of a day."""
    reader = ReportRows(job)
    crawled = reader.table("crawl_simulation")
    timely = reader.table("timely_simulation")
    missing = None if crawled and timely else too_large(job)
    sections = (
        front(front_of(job, reader)),
        *_lists(job, reader),
        *_pages(job, reader),
        *_found(job, reader),
        *_patterns(job, reader, crawled, missing),
        timely_crawls(timely, missing),
    )
    # As they are stored, with the digits that are kept: page, table and JSON are the same.
    kept = tuple(section_of(section_content(section)) for section in sections)
    return Report(job.day, f"Evaluation report, {job.day}", tuple(_facts(job, reader)), kept)


def read_report(store: Store, day: dt.date) -> Report:
    """Return a published report. Raises `MissingPartition` if there is none."""
    rows = store.read("evaluation_report", day).sort_by("place").to_pylist()
    data = json.loads(rows[0]["content"])
    sections = tuple(section_of(json.loads(row["content"])) for row in rows[1:])
    return Report(day, data["title"], tuple(map(tuple, data["facts"])), sections)


def _lists(job: Job, reader: ReportRows) -> Iterator[Section]:
    rows, hubs = reader.table("seed_evaluation"), reader.table("hub_evaluation")
    yield lists.site_list(rows)
    yield lists.prefix_list(rows, hubs)
    yield prefixes.folders(reader.folders(), job.settings.prefixes.label)
    yield lists.out_of_time(rows)
    yield lists.precision_recall(rows)
    yield seeds_reached(hubs)


def _pages(job: Job, reader: ReportRows) -> Iterator[Section]:
    """Yield the sections about single pages: curves, labels, early labels."""
    yield pages.curves(reader.examples())
    yield pages.first_day_interest(*reader.interest())
    typical = reader.typical()
    yield pages.evolution(typical.get(True), typical.get(False))
    points, facts = reader.concentrations()
    yield pages.concentration(
        points[True], points[False], facts, "by their curve", _number(reader.cuts()["p"])
    )
    pairs, thresholds = reader.labels()
    sure = sum(int(row["sure"]) for row in pairs)
    yield pages.agreement(by_both(pairs), sure, thresholds)
    is_configured = job.settings.calibration.annotated is not None
    yield trust.calibration(*reader.calibration(), is_configured=is_configured)
    scores = early_trial(job.store, job.engine, job.settings, job.day, job.out)
    yield trust.early(scores, job.sources.tables["early_labels"].rows)


def _found(job: Job, reader: ReportRows) -> Iterator[Section]:
    """Yield the sections about what was learned: sites, changes, hubs, prefixes."""
    scored = job.sources.tables["site_scores"].rows
    yield found.sites(reader.rows(_SITES, "site_scores"), scored)
    earlier = compared_day(job.sources.tables["site_changes"])
    changed = reader.table("site_changes")
    yield found.changes(site_changes.report(changed, job.day, earlier))
    hubs = reader.rows(_HUBS, "hub_seeds")
    yield found.hubs(hubs, len(hubs))
    prefix_rows = reader.rows(_PREFIXES, "news_prefixes")
    yield prefixes.prefix_table(prefix_rows, len(prefix_rows))
    yield prefixes.trees(*reader.trees())


def _patterns(
    job: Job, reader: ReportRows, crawled: list[Row], missing: Missing | None
) -> Iterator[Section]:
    """Yield the sections about URL patterns, and crawls ordered by them."""
    mirror = stored_mirror(job.settings)
    sites = reader.sites()
    yield patterns.traffic_spread(*reader.traffic(sites), crawled)
    yield patterns.scales(sites, mirrored_pages(mirror))
    yield patterns.tree_sizes(sites)
    quality = quality_of_patterns(job, mirror, sites, MOST_SITES)
    yield patterns.quality(quality)
    yield patterns.reliability(quality)
    yield patterns.behaviour_graph(*reader.graph(sites, patterns.MOST_PATTERNS))
    ranked = reader.rows(_PATTERNS, "pattern_ranks")
    yield patterns.ranked(ranked, len(ranked))
    why = patterns.unlike_the_paper(sites, quality)
    yield from crawls.orders(crawled, why, missing)


def _number(text: str) -> float | None:
    """Return a threshold as a number; None if the text is a range."""
    return None if " " in text else float(text)


def _facts(job: Job, reader: ReportRows) -> Iterator[tuple[str, str]]:
    """Yield the rows that describe the data: days, requests, pages, and what was rejected."""
    settings, labels, cuts = job.settings, job.settings.labels, reader.cuts()
    (totals,) = reader.rows(_TOTALS, "page_totals")
    reliable = job.sources.tables["page_histories"].rows
    yield "Window", f"{job.first} to {job.day} ({settings.window.days} days)"
    yield "Days missing", _missing(job)
    yield "Sites", f"{totals['sites']:,}"
    if totals["sites"] > MANY:
        yield "Sites in tables", f"the first {MANY:,} of each"
    yield "Pages opened", f"{totals['pages']:,}"
    yield "Pages with enough views for a label", f"{reliable:,}"
    yield "Views", f"{totals['views']:,}"
    logged = job.sources.tables["page_traffic"].extra.get("has_referrers", True)
    yield "Referrers", "logged" if logged else "not logged: nothing is known of links"
    yield "Temporal", f"more than {cuts['q']} of the interest within {labels.n:g} days"
    yield "News", f"concentration over {cuts['m']} days > {cuts['p']}"
    yield "Thresholds", labels.thresholds
    share = sample_of(job).share
    yield "Lists judged by", "all sites" if share == 1 else f"a sample of {share:.1%} of the sites"
    yield "List in use", "none is known" if settings.baseline.path is None else "compared"
    yield "Names shown", f"of what at least {settings.privacy.min_clients} clients opened"
    if sites := uncounted_visitors(job):
        floor = settings.privacy.min_clients * VIEWS_PER_CLIENT
        yield (
            "Counted without clients",
            f"{len(sites):,} sites; names are shown from {floor} views on a day",
        )
    yield "Settings digest", digest_of(_settings(settings))
    yield "Made by", f"temporal_assets {__version__}, {engine_version(settings)}"


def _missing(job: Job) -> str:
    missing = job.window("page_views").missing
    if not missing:
        return "none"
    if len(missing) > _NAMED_DAYS:
        return f"{len(missing)}, from {missing[0]} to {missing[-1]}"
    return ", ".join(map(str, missing))


def _make(job: Job) -> Sequence[Path]:
    report = compose(job)
    _write_pages(job, report)
    return job.write_rows(_rows(report))


def _rows(report: Report) -> Iterator[Row]:
    """Yield the facts about the data as the first row, then a row for each section."""
    data = {"title": report.title, "facts": report.facts}
    first: dict[str, Any] = {
        "id": DATA,
        "source": "",
        "title": report.title,
        "trial": "no_judgement",
        "is_available": True,
        "says": "; ".join(f"{name}: {value}" for name, value in report.facts[:5]),
        "content": json.dumps(data, ensure_ascii=False),
    }
    rows = [first, *map(_row, report.sections)]
    for place, row in enumerate(rows):
        yield {"day": report.day, "place": place, **row}


def _row(section: Section) -> Row:
    content = section_content(section)
    return {
        **{name: content[name] for name in ("id", "source", "title", "trial")},
        "is_available": not section.missing,
        "says": section.missing or content["says"][0],
        "content": json.dumps(content, ensure_ascii=False, allow_nan=False),
    }


def page_of_day(settings: Settings, day: dt.date) -> Path:
    """Return the path of a day's page."""
    return settings.state / FOLDER / OF_DAY.format(day=day)


def remove_page(settings: Settings, day: dt.date) -> None:
    """Remove the page of a day, and its checksum."""
    file = page_of_day(settings, day)
    file.unlink(missing_ok=True)
    checksums.note(file.parent, (), settings.state / "locks")


def day_of(path: Path) -> dt.date | None:
    """Return the day of a page by its file name; None for other files."""
    head, tail = OF_DAY.split("{day}")
    if not (path.name.startswith(head) and path.name.endswith(tail)):
        return None
    try:
        return dt.date.fromisoformat(path.name.removeprefix(head).removesuffix(tail))
    except ValueError:
        return None


def _write_pages(job: Job, report: Report) -> None:
    """Write the page of the day, and the latest page and JSON unless these are of a later day."""
    html = page(report)
    write_page(job.settings, page_of_day(job.settings, job.day).name, html)
    if any(day > job.day for day in job.store.days("evaluation_report")):
        return
    write_page(job.settings, HTML, html)
    write_page(job.settings, JSON, as_json(report))


def write_page(settings: Settings, name: str, content: str) -> None:
    """Write a file into the folder of reports, and record its checksum."""
    folder, locks = settings.state / FOLDER, settings.state / "locks"
    for needed in (folder, locks):
        needed.mkdir(parents=True, exist_ok=True)
    with scratch_folder(settings.state / "tmp") as scratch:
        replace_text(folder / name, content, scratch)
    checksums.note(folder, [name], locks)


def _is_whole(store: Store, settings: Settings, manifest: Manifest) -> bool:
    """Return True if the pages written with a day are as they were written."""
    folder = settings.state / FOLDER
    own = {page_of_day(settings, manifest.day).name, checksums.NAME}
    if not any(day > manifest.day for day in store.days(manifest.asset)):
        own |= {HTML, JSON}
    return own.isdisjoint(path.name for path in checksums.faults(folder))


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide the content of the report.

    Paths, limits of cost, alerts and retention are left out.
    """
    return settings.model_dump(mode="json", exclude=_ELSEWHERE)


EVALUATION_REPORT: Final = WindowAsset(
    "evaluation_report",
    _make,
    waits=True,
    windows=("page_views", "transits"),
    tables=(
        PAGE_TOTALS,
        PAGE_HISTORIES,
        INTEREST_CURVES,
        CALIBRATION,
        PAGE_LABELS,
        EARLY_LABELS,
        PAGE_TRAFFIC,
        URL_PATTERNS,
        BEHAVIOUR_GRAPH,
        PATTERN_RANKS,
        CRAWL_POLICY,
        HUB_SEEDS,
        PREFIX_TREES,
        SITE_SCORES,
        NEWS_PREFIXES,
        SITE_CHANGES,
        SEED_EVALUATION,
        HUB_EVALUATION,
        CRAWL_SIMULATION,
        TIMELY_SIMULATION,
        SOURCES,
    ),
    sql=("page_totals", *TRAFFIC_SQL, "first_days"),
    # A new version may say it in other words.
    settings=lambda settings: [__version__, _settings(settings)],
    is_whole=_is_whole,
)
