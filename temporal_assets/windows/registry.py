"""All window assets, and which of them are out of date.

Window partitions are kept up to date for the latest day only: a late file changes the windows of
up to sixty days, and remaking them all would cost sixty times what anybody looks at. Older ones
say what was known when they were made; a backfill makes them again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from temporal_assets.contracts import TABLES, table
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings
from temporal_assets.storage.partition_errors import ShortWindow
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls.crawl_simulation import CRAWL_SIMULATION
from temporal_assets.windows.crawls.timely_simulation import TIMELY_SIMULATION
from temporal_assets.windows.evaluation.hub_evaluation import HUB_EVALUATION
from temporal_assets.windows.evaluation.seed_evaluation import SEED_EVALUATION
from temporal_assets.windows.frame.asset import WindowAsset, is_fresh
from temporal_assets.windows.frame.window_end import LATEST_OF, window_end
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.labels.calibration import CALIBRATION
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_changes import SITE_CHANGES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.patterns.behaviour_graph import BEHAVIOUR_GRAPH
from temporal_assets.windows.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.provisional_lists import PROVISIONAL_LISTS
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY, unreleased
from temporal_assets.windows.report.evaluation_report import EVALUATION_REPORT
from temporal_assets.windows.results.fetches import FETCHES
from temporal_assets.windows.results.sources import SOURCES
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

WINDOW_ASSETS: Final[tuple[WindowAsset, ...]] = (
    PAGE_TOTALS,
    PAGE_HISTORIES,
    INTEREST_CURVES,
    CALIBRATION,
    PAGE_LABELS,
    EARLY_LABELS,
    PAGE_FLOW,
    PAGE_TRAFFIC,
    HUB_SEEDS,
    PREFIX_TREES,
    SITE_SCORES,
    SECTION_SCORES,
    NEWS_PREFIXES,
    SITE_CHANGES,
    URL_PATTERNS,
    BEHAVIOUR_GRAPH,
    PATTERN_RANKS,
    PROVISIONAL_LISTS,
    FETCHES,
    SOURCES,
    CRAWL_POLICY,
    SEED_EVALUATION,
    HUB_EVALUATION,
    CRAWL_SIMULATION,
    TIMELY_SIMULATION,
    EVALUATION_REPORT,
)
"""Window assets in build order: each comes after those it is made from, and soon after others that
read the same files, which are still in memory then."""

WINDOW_NAMES: Final = tuple(asset.name for asset in WINDOW_ASSETS)

WAITING_NAMES: Final = frozenset(asset.name for asset in WINDOW_ASSETS if asset.waits)
"""Names of the assets that are only built once there are `window.min_days` days."""

STEP_NAMES: Final = (*WINDOW_NAMES, RELEASED_POLICY)
"""Names of all steps of a window: the tables, and the release of the policy."""


@dataclass(frozen=True, slots=True)
class Due:
    """Assets of a window that are missing or out of date on the latest day."""

    day: dt.date
    assets: tuple[str, ...]


def unfinished(store: Store, settings: Settings) -> dict[str, tuple[dt.date, ...]]:
    """Return days by asset that were published but not checked, and that of an unreleased policy.

    A run that is killed between publishing, checking and releasing leaves such days. Checking them
    and releasing the policy finishes its work.
    """
    days_by_name = {asset.name: unjudged_days(store, settings, asset.name) for asset in TABLES}
    waiting = unreleased(store, settings)
    days_by_name[RELEASED_POLICY] = (waiting,) if waiting else ()
    return {name: days for name, days in days_by_name.items() if days}


def unjudged_days(
    store: Store, settings: Settings, name: str, leave_out: Collection[dt.date] = ()
) -> tuple[dt.date, ...]:
    """Return the published days of an asset that lack checks, but for `leave_out`; ascending."""
    days = (day for day in store.folders(name) if day not in leave_out)
    manifests = (store.intact(name, day) for day in days)
    return tuple(
        manifest.day
        for manifest in manifests
        if manifest is not None
        and verdicts.missing(settings.state, manifest)
        and _can_be_judged(store, settings, name, manifest.day)
    )


def _can_be_judged(store: Store, settings: Settings, name: str, day: dt.date) -> bool:
    """Return True if the inputs that the checks of a day compare it with are still published.

    A stale day is rebuilt instead. The inputs of an older day may have been removed by `doctor
    clean`.
    """
    asset = next(
        (window_asset for window_asset in WINDOW_ASSETS if window_asset.name == name), None
    )
    if asset is not None:
        return is_fresh(store, settings, asset, day)
    read = {other for check in table(name).checks for other in check.reads}
    return all(store.intact(other, day) is not None for other in read)


def stale(store: Store, settings: Settings, day: dt.date) -> tuple[str, ...]:
    """Return the window assets whose partition of a day is missing or older than its inputs."""
    answers: dict[str, bool] = {}
    return tuple(
        asset.name for asset in WINDOW_ASSETS if not is_fresh(store, settings, asset, day, answers)
    )


def due(store: Store, settings: Settings, before: dt.date | None = None) -> Due | None:
    """Return what has to be built of the latest window, or None if nothing has to.

    With `before`, it is the latest window that ends before that day. While a window is short, the
    assets that wait for more days are left out.
    """
    end = window_end(store, settings, before)
    if end is None:
        return None
    assets = stale(store, settings, end.day)
    if is_short(store, settings, end.day):
        assets = tuple(name for name in assets if name not in WAITING_NAMES)
    if CRAWL_POLICY.name in assets or unreleased(store, settings) == end.day:
        assets = (*assets, RELEASED_POLICY)
    return Due(end.day, assets) if assets else None


def is_short(store: Store, settings: Settings, day: dt.date) -> bool:
    """Return whether a window that ends with `day` has fewer days than `window.min_days`."""
    window = settings.window
    try:
        store.window(LATEST_OF, day, window.days, min(window.min_days, window.days))
    except ShortWindow:
        return True
    return False


def needed(
    store: Store, settings: Settings, wanted: Collection[str], days: Iterable[dt.date]
) -> tuple[str, ...]:
    """Return the wanted assets, and those they are made from that are out of date on any day.

    The result includes the release of a policy that is built.
    """
    late = {name for day in days for name in stale(store, settings, day)}
    chosen = set(wanted)
    if RELEASED_POLICY in chosen:
        chosen |= {CRAWL_POLICY.name} & late
    for asset in reversed(WINDOW_ASSETS):
        if asset.name in chosen:
            chosen |= {table.name for table in asset.tables if table.name in late}
    if CRAWL_POLICY.name in chosen:
        chosen.add(RELEASED_POLICY)
    return tuple(name for name in STEP_NAMES if name in chosen)
