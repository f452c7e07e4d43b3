"""How readers come to the pages of a site on one day: the requests a clean log would hold.

What belongs here: sessions, arrivals by search, by address, by links from hubs and related pages,
and reloads. What does not: robots, resources, errors (`noise`); how many views a page has
(`interest`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.pages import FRONT, PageTable, draw_views
from temporal_assets.demo.people import agents_of
from temporal_assets.demo.requests import (
    DAY_MS,
    NO_REFERRER,
    SEARCHES,
    Requests,
    join_requests,
    make_requests,
)
from temporal_assets.demo.seeds import generator
from temporal_assets.demo.sites import PageKind, Site
from temporal_assets.demo.urls import SiteUrls

_VIEWS_PER_SESSION: Final = 2.2

_AUDIENCE: Final = 12
"""Readers of a site for every session of a mean day: a reader returns about every 12 days."""
_SMALLEST_AUDIENCE: Final = 200
_LOYALTY: Final = 1.3
"""Exponent above 1: the lower a reader's number within the audience, the oftener he returns."""

_NEW_BY_HUB: Final = 0.50
_DAYS_ON_HUB: Final = 1.5
"""A new page is found on the hubs that list it, less and less as newer ones push it down."""
_OLD_BY_HUB: Final = 0.10
_BY_RELATED: Final = 0.15
_BY_SEARCH: Final = 0.28
_BY_OTHER_SITE: Final = 0.04
"""Shares of arrivals; the rest types the address or uses a bookmark."""

RELATED: Final = (-3, -2, -1, 1, 2, 3)
"""A page is linked from its neighbours in its section, in order of birth."""

_HOT_SHARE: Final = 0.10
"""Of arrivals by hub, those by the hot list where a site has one."""
_HUB_FROM_FRONT: Final = 0.40
_HUB_BY_SEARCH: Final = 0.20
"""How readers get to a section's index; the rest have it bookmarked."""

_RELOADS: Final = 0.07
_SELF_REFERRED: Final = 0.20
"""Of reloads, those that name the page itself as referrer."""

_NOT_MODIFIED: Final = 0.06
_PARTIAL: Final = 0.005
_DECORATED: Final = 0.04
_OTHER_SPELLING: Final = 0.03

DECORATIONS: Final = 9
"""Kinds of tracking and session keys (`formats`)."""

_HOURLY: Final = np.array(
    [22, 14, 9, 7, 7, 10, 20, 38, 58, 70, 76, 78, 80, 78, 74, 72, 74, 78, 84, 90, 94, 86, 64, 40],
    np.float64,
)
"""Relative traffic by hour (UTC)."""
_CLOCK: Final = np.append(0.0, np.cumsum(_HOURLY) / _HOURLY.sum())
_LAST_START: Final = DAY_MS - 1_800_000
"""Sessions start at least half an hour before midnight, so that they end on their day."""


@dataclass(frozen=True, slots=True)
class SiteWorld:
    """All that the requests of a site depend on."""

    options: DemoOptions
    pages: PageTable
    urls: SiteUrls
    views: float
    """Expected views of pages (hubs not counted) in the whole window."""
    externals: int
    """Referrer codes below this are none, search engines, front pages of other sites."""

    @property
    def audience(self) -> int:
        """How many readers the site has."""
        sessions = self.views / _VIEWS_PER_SESSION / self.options.days
        wanted = max(_SMALLEST_AUDIENCE, int(_AUDIENCE * sessions))
        return min(wanted, self.options.clients)


def times_of_day(rng: np.random.Generator, count: int) -> NDArray[np.int32]:
    """Milliseconds since midnight, by the daily rhythm, half an hour before its end at most."""
    share = np.interp(rng.random(count), _CLOCK, np.linspace(0, 1, len(_CLOCK)))
    return (share * _LAST_START).astype(np.int32)


def page_requests(world: SiteWorld, day: int) -> Requests:
    """All page requests of readers on a day."""
    counts = draw_views(world.options, world.pages, day)
    rng = generator(world.options.seed, "visits", world.pages.site.index, day)
    row = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    client, time = _sessions(world, rng, row, counts)
    time = _not_before_birth(world.pages, rng, row, time, day)
    referrer, hub = _arrivals(world, rng, row, day)
    content = make_requests(len(row), time=time, client=client, row=row, referrer=referrer)
    trips = _hub_trips(world, rng, content, hub)
    readers = join_requests([content, *trips])
    everything = join_requests([readers, _reloads(world, rng, readers)])
    return _finish(rng, everything)


def _sessions(
    world: SiteWorld, rng: np.random.Generator, row: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Client and time of every view; the viewers of a page are distinct.

    Views in order of pages are dealt to sessions like cards, so that no session gets two views
    of one page.
    """
    sessions = max(1, int(len(row) / _VIEWS_PER_SESSION), int(counts.max(initial=0)))
    seat = rng.permutation(sessions)
    start = times_of_day(rng, sessions)
    # Stratified over the audience, so that two sessions are hardly ever of one client.
    place = ((np.arange(sessions) + rng.random(sessions)) / sessions) ** _LOYALTY
    first = int(generator(world.options.seed, "audience", world.pages.site.index).integers(2**31))
    client = (first + (place * world.audience).astype(np.int64)) % world.options.clients
    order = np.arange(len(row))
    session = seat[order % sessions]
    pause = (order // sessions) * rng.integers(25_000, 240_000, len(row))
    return client[session].astype(np.int32), (start[session] + pause).astype(np.int32)


def _not_before_birth(
    pages: PageTable,
    rng: np.random.Generator,
    row: NDArray[np.int32],
    time: NDArray[np.int32],
    day: int,
) -> NDArray[np.int32]:
    """Nobody opens a page before it exists: such views move to the rest of the day."""
    birth = np.clip((pages.birth[row] - day) * DAY_MS, 0, DAY_MS - 1).astype(np.int64)
    early = np.flatnonzero(time < birth)
    rest = (DAY_MS - 1 - birth[early]) * rng.random(len(early)) ** 2
    time[early] = (birth[early] + rest).astype(np.int32)
    return time


def _arrivals(
    world: SiteWorld, rng: np.random.Generator, row: NDArray[np.int32], day: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Referrer of every view, and the hub it came from (-1 if from none)."""
    pages, site = world.pages, world.pages.site
    age = np.maximum(day + 0.5 - pages.birth[row], 0)
    draw = rng.random(len(row)) - share_by_hub(pages.kind[row], age)
    hub = _hub_of(world, rng, row)
    neighbour = row + rng.choice(RELATED, len(row))
    inside = np.clip(neighbour, pages.hubs, len(pages) - 1)
    related = (
        (inside == neighbour)
        & (pages.section[inside] == pages.section[row])
        & (pages.birth[inside] <= day)
    )
    search = 1 + rng.integers(0, len(SEARCHES), len(row))
    other = 1 + len(SEARCHES) + rng.integers(0, world.options.sites, len(row))
    # A visit from one's own front page is no visit from another site.
    other[other == 1 + len(SEARCHES) + site.index] = NO_REFERRER
    steps = np.cumsum((_BY_RELATED, _BY_SEARCH, _BY_OTHER_SITE))
    linked = np.where(related, world.externals + inside, NO_REFERRER)
    choices = (world.externals + hub, linked, search, other)
    conditions = (draw < 0, draw < steps[0], draw < steps[1], draw < steps[2])
    referrer = np.select(conditions, choices, NO_REFERRER)
    return referrer.astype(np.int32), np.where(draw < 0, hub, -1).astype(np.int32)


def share_by_hub(kind: NDArray[np.int8], age: NDArray[np.floating]) -> NDArray[np.floating]:
    """Share of a page's readers who come by a hub, by the page's age in days."""
    lasting = (kind == PageKind.EVERGREEN) | (kind == PageKind.FRESH)
    return _OLD_BY_HUB + np.where(lasting, 0, _NEW_BY_HUB * np.exp(-age / _DAYS_ON_HUB))


def requests_per_view(site: Site, by_hub: float) -> float:
    """Page requests of readers for every view of a page, if `by_hub` of the views come by hubs."""
    blueprint = site.blueprint
    front = blueprint.front_share + (0 if blueprint.hot_list else _HOT_SHARE)
    return (1 + by_hub * (1 + _HUB_FROM_FRONT * (1 - front))) * (1 + _RELOADS)


def _hub_of(
    world: SiteWorld, rng: np.random.Generator, row: NDArray[np.int32]
) -> NDArray[np.int32]:
    """A hub that lists the page: its section's index, the front page or the hot list."""
    pages = world.pages
    draw = rng.random(len(row))
    front = pages.site.blueprint.front_share
    hub = 1 + pages.section[row].astype(np.int32)
    hub[draw < front + _HOT_SHARE] = pages.hot_list
    hub[draw < front] = FRONT
    return hub


def _hub_trips(
    world: SiteWorld, rng: np.random.Generator, content: Requests, hub: NDArray[np.int32]
) -> list[Requests]:
    """The requests of the hubs that readers came by, seconds before, and how they got there."""
    came = np.flatnonzero(hub >= 0)
    client, row = content.client[came], hub[came]
    time = np.maximum(content.time[came] - rng.integers(4_000, 40_000, len(came)), 0)
    draw = rng.random(len(came))
    by_front = (draw < _HUB_FROM_FRONT) & (row != FRONT)
    by_search = ~by_front & (draw < _HUB_FROM_FRONT + _HUB_BY_SEARCH)
    search = 1 + rng.integers(0, len(SEARCHES), len(came))
    referrer = np.where(by_front, world.externals + FRONT, np.where(by_search, search, NO_REFERRER))
    hubs = make_requests(len(came), time=time, client=client, row=row, referrer=referrer)
    before = np.maximum(time[by_front] - 9_000, 0)
    front = make_requests(len(before), time=before, client=client[by_front], row=FRONT)
    return [hubs, front]


def _reloads(world: SiteWorld, rng: np.random.Generator, readers: Requests) -> Requests:
    """Further requests of a page by the same client on the same day."""
    again = readers.take(np.flatnonzero(rng.random(len(readers)) < _RELOADS))
    later = np.minimum(again.time + rng.integers(5_000, 900_000, len(again)), DAY_MS - 1)
    itself = rng.random(len(again)) < _SELF_REFERRED
    referrer = np.where(itself, world.externals + again.row, again.referrer)
    return make_requests(
        len(again), time=later, client=again.client, row=again.row, referrer=referrer
    )


def respelled(world: SiteWorld, readers: Requests, day: int) -> Requests:
    """The same page requests, some with another spelling of the page's URL."""
    rng = generator(world.options.seed, "spelling", world.pages.site.index, day)
    other = rng.random(len(readers), np.float32) < _OTHER_SPELLING
    return replace(readers, row=np.where(other, world.urls.spelling[readers.row], readers.row))


def _finish(rng: np.random.Generator, readers: Requests) -> Requests:
    """Agents, statuses and tracking keys."""
    count = len(readers)
    draw = rng.random(count, np.float32)
    status = np.select((draw < _NOT_MODIFIED, draw < _NOT_MODIFIED + _PARTIAL), (1, 2), 0)
    draw = rng.random(count, np.float32)
    tracked = rng.integers(1, DECORATIONS, count, np.int8)
    return make_requests(
        count,
        time=np.minimum(readers.time, DAY_MS - 1),
        client=readers.client,
        row=readers.row,
        referrer=readers.referrer,
        agent=agents_of(readers.client),
        decoration=np.where(draw < _DECORATED, tracked, 0),
        status=status,
    )
