"""Sentences on what crawls found of a page, and how often it is visited as a source.

In: the store, and the canonical URL of a page. Out: sentences for `show page`. Not here: its labels
(`page_reasons`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console

if TYPE_CHECKING:
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

Row = dict[str, Any]
"""A row of a table, by the names of its columns."""

_CRAWLED_DAYS: Final = 60
"""Latest days with results of crawls that are looked at."""

_MOST_FETCHES: Final = 1_000
"""Largest number of fetches of a page that are read."""


def fetches_of(store: Store, settings: Settings, page: str) -> list[Row]:
    """Return the fetches of a page in the latest days with results of crawls, in order."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.engines.sql import literal

    manifests = (store.manifest("fetches", day) for day in store.days("fetches")[-_CRAWLED_DAYS:])
    files = [
        path
        for manifest in manifests
        if manifest is not None and manifest.rows
        for path in store.paths(manifest)
    ]
    if not files:
        return []
    query = (
        "SELECT CAST(time AS VARCHAR) AS time, kind, status, source FROM fetches"  # noqa: S608 - the URL is a literal
        f" WHERE page = {literal(page)} OR source = {literal(page)} AND kind = 'hub' ORDER BY time"
    )
    return engine_of(settings).rows(query, {"fetches": files}, limit=_MOST_FETCHES)


def sentences_of_fetches(crawled: list[Row]) -> list[str]:
    """Return when a page was fetched, and which source showed it first, in words."""
    if not crawled:
        return []
    first, last = crawled[0], crawled[-1]
    times = console.counted(len(crawled), "time")
    status = f", the last with status {last['status']}" if last["status"] else ", the last in vain"
    if first["kind"] == "hub":
        return [f"visited as a hub {times} since {first['time']}{status}"]
    shown = f", first shown by {console.plain(first['source'])}" if first["source"] else ""
    return [f"fetched {times}, first {first['time']}{shown}{status}"]


def sentences_of_source(store: Store, settings: Settings, page: str) -> list[str]:
    """Return what the visits of a hub brought in the latest window with results, in words."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.engines.sql import literal

    days = store.days("sources")
    if not days:
        return []
    query = f"SELECT * FROM sources WHERE visits > 0 AND url = {literal(page)}"  # noqa: S608 - the URL is a literal
    rows = engine_of(settings).rows(query, {"sources": store.files("sources", days[-1])}, limit=1)
    return [
        sentence
        for row in rows
        for sentence in (_yield_of_source(row), *_interval(store, settings, row))
    ]


def _yield_of_source(source: Row) -> str:
    pages = console.counted(source["pages"], "page")
    return (
        f"{pages} that it showed first, {source['temporal_pages']} of them temporal;"
        f" {source['unchanged']} visits found nothing changed, {source['failures']} failed;"
        f" {source['new_per_day']:.1f} new temporal pages to expect a day (95 % interval"
        f" {source['new_per_day_low']:.1f} to {source['new_per_day_high']:.1f})"
    )


def _interval(store: Store, settings: Settings, source: Row) -> list[str]:
    """Return how often the policy visits a hub, and how often it would by the logs alone."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.engines.sql import literal

    if store.manifest("crawl_policy", source["day"]) is None:
        return []
    if source["is_gone"]:
        return ["it is gone, so the policy does not visit it any more"]
    inputs = {name: store.files(name, source["day"]) for name in ("crawl_policy", "hub_seeds")}
    query = (
        "SELECT interval_seconds, revisit_minutes FROM crawl_policy"  # noqa: S608 - the URL is a literal
        " INNER JOIN (SELECT url AS name, revisit_minutes FROM hub_seeds) AS hubs USING (name)"
        f" WHERE kind = 'hub' AND name = {literal(source['url'])}"
    )
    rows = engine_of(settings).rows(query, inputs, limit=1)
    return [_intervals(row["interval_seconds"], row["revisit_minutes"]) for row in rows]


def _intervals(seconds: int, by_logs: float) -> str:
    from temporal_assets.policy.assemble import on_ladder

    sentence = f"the policy visits it every {seconds // 60:,} minutes"
    alone = on_ladder(round(60 * by_logs))
    return sentence if alone == seconds else f"{sentence}, by the logs alone every {alone // 60:,}"
