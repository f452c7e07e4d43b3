"""Visits of readers to the pages of a site on one day: the requests a clean log would hold.

What belongs here: sessions, arrivals by search, by address, by links from hubs and related pages,
and reloads. What does not: robots, resources, errors (`noise`); how many views a page has
(`interest`). Up to `respelled`, `row` is a page's row in `PageTable`, hubs first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import accumulated
from temporal_assets.demo.world.pages import FRONT, PageTable, draw_views
from temporal_assets.demo.world.people import agents_of
from temporal_assets.demo.world.requests import (
    DAY_MS,
    NO_REFERRER,
    NOT_MODIFIED,
    OK,
    PARTIAL,
    SEARCHES,
    Requests,
    join_requests,
    make_requests,
)
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, Site
from temporal_assets.demo.world.urls import SiteUrls

_VIEWS_PER_SESSION: Final = 2.2

_AUDIENCE: Final = 12
"""Number of readers of a site for every session of a mean day: one returns every 12 days."""
_SMALLEST_AUDIENCE: Final = 200
_LOYALTY: Final = 1.3
"""Exponent above 1: the lower a reader's number within the audience, the oftener he returns."""

_NEW_BY_HUB: Final = 0.45
"""Share of arrivals by hubs at a page just born, beside `_OLD_BY_HUB`; newer pages push it down."""
_DAYS_ON_FRONT: Final = 0.26
"""Mean days of a link on a front page: of its links 61 % are there three hours later, 37 % after
six, 12 % after twelve and 3 % after a day (`bbc_demand`)."""
_DAYS_ON_INDEX: Final = 1.0
"""Mean days of a link on an index, assumed to be four times as long."""
_GONE: Final = 30.0
"""Age in days from which on nothing is left of either."""
_OLD_BY_HUB: Final = 0.08
"""Share of arrivals by hubs at a page of any age."""
_BY_NEIGHBOUR: Final = 0.09
"""Share of arrivals by a link of a neighbour within the section (`RELATED`)."""
_BY_POPULAR: Final = 0.14
"""Share of arrivals by a link of a page that somebody else opens on the day."""
_BY_SEARCH: Final = 0.24
"""Share of arrivals from a search engine."""
_BY_OTHER_SITE: Final = 0.04
"""Share of arrivals from another site; who comes in no such way types the address or uses a
bookmark."""

_NEW: Final = 2.0
"""Age in days up to which a page is new to those who follow links."""
RELATED: Final = (-3, -2, -1, 1, 2, 3)
"""Positions of the neighbours that link a page, within its section in order of birth. Pages that
many open on a day also lead on, to any page of the site, and most of these are new: of a day's 50
articles that lead to the most new ones a fifth are still among the 50 on the next day, none after
two, and 88 % of the steps to new ones begin on a page younger than two days (`globo_clicks`)."""

_HOT_SHARE: Final = 0.10
"""Share of the arrivals by hub that come by the hot list, if a site has one."""
_HUB_FROM_FRONT: Final = 0.40
_HUB_BY_SEARCH: Final = 0.20
"""Share of the readers who search for a section's index; the rest have it bookmarked."""

_RELOADS: Final = 0.07
_SELF_REFERRED: Final = 0.20
"""Share of the reloads that name the page itself as referrer."""

_NOT_MODIFIED_SHARE: Final = 0.06
_PARTIAL_SHARE: Final = 0.005
_DECORATED: Final = 0.04
_OTHER_SPELLING: Final = 0.03

DECORATION_CODES: Final = 9
"""Number of codes of tracking and session keys, 0 for none (`formats`)."""

_HOURLY: Final = np.array(
    [21, 12, 6, 5, 5, 9, 21, 37, 54, 49, 54, 62, 65, 71, 68, 65, 67, 63, 53, 53, 49, 42, 40, 30],
    np.float64,
)
"""Relative traffic by hour (`globo_clicks`, in the zone of its site; here UTC)."""
_CLOCK: Final = np.append(0.0, np.cumsum(_HOURLY) / _HOURLY.sum())
_HOURS: Final = np.linspace(0, 1, len(_CLOCK))
"""Boundaries of the hours, as parts of a day."""
_LAST_START: Final = DAY_MS - 1_800_000
"""Latest start of a session in milliseconds: half an hour before midnight, so that it ends that
day."""


@dataclass(frozen=True, slots=True)
class SiteWorld:
    """Everything that the requests of a site depend on."""

    options: DemoOptions
    pages: PageTable
    urls: SiteUrls
    views: float
    """Expected views of pages (hubs not counted) in the whole window."""
    externals: int
    """Referrer codes below this are none, search engines, front pages of other sites."""

    @property
    def audience(self) -> int:
        """Return how many readers the site has."""
        sessions = self.views / _VIEWS_PER_SESSION / self.options.days
        wanted = max(_SMALLEST_AUDIENCE, int(_AUDIENCE * sessions))
        return min(wanted, self.options.clients)


def times_of_day(rng: np.random.Generator, count: int) -> NDArray[np.int32]:
    """Return random milliseconds since midnight by the daily rhythm, until 23:30."""
    share = np.interp(rng.random(count), _CLOCK, _HOURS)
    return (share * _LAST_START).astype(np.int32)


def page_requests(world: SiteWorld, day: int) -> Requests:
    """Return all page requests of readers on a day."""
    counts = draw_views(world.options, world.pages, day)
    rng = generator(world.options.seed, "visits", world.pages.site.index, day)
    row = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    client, time = _sessions(world, rng, row, counts)
    time = _while_young(world.pages, rng, row, time, day)
    referrer, hub = _arrivals(world, rng, row, day + time / DAY_MS)
    content = make_requests(len(row), time=time, client=client, row=row, referrer=referrer)
    trips = _hub_trips(world, rng, content, hub)
    readers = join_requests([content, *trips])
    everything = join_requests([readers, _reloads(world, rng, readers)])
    return _finish(rng, everything)


def _sessions(
    world: SiteWorld, rng: np.random.Generator, row: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return client and time of every view; the viewers of a page are distinct.

    Views in order of pages are dealt to sessions like cards, so that no session gets two views of
    one page.
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


def _while_young(
    pages: PageTable,
    rng: np.random.Generator,
    row: NDArray[np.int32],
    time: NDArray[np.int32],
    day: int,
) -> NDArray[np.int32]:
    """Return times in which views of pages born today or yesterday follow their interest curves.

    Interest in news halves within hours, so that the rhythm of readers alone would spread it too
    evenly. `time` is changed in place:

    1. Births go from clock time to reader time, which passes as fast as readers come: a page born
       at night waits for the morning.
    2. The age of each view is drawn from the page's lognormal curve, truncated to this day.
    3. Ages go back to milliseconds of the day, not before the page exists.
    """
    young = np.flatnonzero(pages.birth[row] > day - 1)
    page = row[young]
    birth, mu, sigma = (column[page] for column in (pages.birth, pages.mu, pages.sigma))
    birth_by_readers = np.floor(birth) + np.interp(birth % 1, _HOURS, _CLOCK)
    share_before_day = accumulated(day - birth_by_readers, mu, sigma)
    share_after_day = accumulated(day + 1 - birth_by_readers, mu, sigma)
    quantile = share_before_day + rng.random(len(page)) * (share_after_day - share_before_day)
    age = np.exp(mu + sigma * ndtri(quantile))
    at = np.interp(birth_by_readers + age - day, _CLOCK, _HOURS) * DAY_MS
    exists = np.clip((birth - day) * DAY_MS, 0, DAY_MS - 1)
    time[young] = np.clip(at, exists, DAY_MS - 1).astype(np.int32)
    return time


def _arrivals(
    world: SiteWorld, rng: np.random.Generator, row: NDArray[np.int32], at: NDArray[np.floating]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the referrer of every view (times in days), and its hub (-1 if it came by none)."""
    pages, site = world.pages, world.pages.site
    age = np.maximum(at - pages.birth[row], 0)
    draw = rng.random(len(row)) - share_by_hub(site, pages.kind[row], age)
    hub = _hub_of(world, rng, row, age)
    source = _linking(pages, rng, row, at)
    search = 1 + rng.integers(0, len(SEARCHES), len(row))
    other = 1 + len(SEARCHES) + rng.integers(0, world.options.sites, len(row))
    # A visit from one's own front page is no visit from another site.
    other[other == 1 + len(SEARCHES) + site.index] = NO_REFERRER
    steps = np.cumsum((_BY_NEIGHBOUR + _BY_POPULAR, _BY_SEARCH, _BY_OTHER_SITE))
    linked = np.where(source >= 0, world.externals + source, NO_REFERRER)
    choices = (world.externals + hub, linked, search, other)
    conditions = (draw < 0, draw < steps[0], draw < steps[1], draw < steps[2])
    referrer = np.select(conditions, choices, NO_REFERRER)
    return referrer.astype(np.int32), np.where(draw < 0, hub, -1).astype(np.int32)


def _linking(
    pages: PageTable, rng: np.random.Generator, row: NDArray[np.int32], at: NDArray[np.floating]
) -> NDArray[np.int64]:
    """Return a page of the site that links to each page viewed; -1 where there is none.

    A neighbour within the section, or one that somebody else opens on this day, rather a new one.
    """
    neighbour = row + rng.choice(RELATED, len(row))
    inside = np.clip(neighbour, pages.hubs, len(pages) - 1)
    is_near = (inside == neighbour) & (pages.section[inside] == pages.section[row])
    popular, another = row[rng.integers(0, max(len(row), 1), (2, len(row)))]
    popular = np.where(at - pages.birth[popular] > _NEW, another, popular)
    by_popular = rng.random(len(row)) < _BY_POPULAR / (_BY_NEIGHBOUR + _BY_POPULAR)
    source = np.where(by_popular, popular, inside)
    exists = (pages.birth[source] <= at) & (source != row) & (by_popular | is_near)
    return np.where(exists, source, -1)


def share_by_hub(
    site: Site, kind: NDArray[np.int8], age: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return the share of a page's readers who come by a hub, by the page's age in days."""
    lasting = (kind == PageKind.EVERGREEN) | (kind == PageKind.FRESH)
    front, index = _on_hubs(site, age)
    return _OLD_BY_HUB + np.where(lasting, 0, _NEW_BY_HUB * (front + index))


def _on_hubs(
    site: Site, age: NDArray[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return how many readers front page and index still bring a page, as a share of the first."""
    front, age = site.blueprint.front_share, np.minimum(age, _GONE)
    return front * np.exp(-age / _DAYS_ON_FRONT), (1 - front) * np.exp(-age / _DAYS_ON_INDEX)


def requests_per_view(site: Site, by_hub: float) -> float:
    """Return page requests of readers per view of a page, if a share `by_hub` comes by hubs."""
    blueprint = site.blueprint
    front = blueprint.front_share + (0 if blueprint.hot_list else _HOT_SHARE)
    return (1 + by_hub * (1 + _HUB_FROM_FRONT * (1 - front))) * (1 + _RELOADS)


def _hub_of(
    world: SiteWorld,
    rng: np.random.Generator,
    row: NDArray[np.int32],
    age: NDArray[np.floating],
) -> NDArray[np.int32]:
    """Return a hub that lists the page: its section's index, the front page or the hot list.

    Old pages that are still linked are so from both, those that are linked for being new from where
    they still are.
    """
    pages, site = world.pages, world.pages.site
    lasting = (pages.kind[row] == PageKind.EVERGREEN) | (pages.kind[row] == PageKind.FRESH)
    front, index = _on_hubs(site, np.where(lasting, 0, age))
    share = front / (front + index)
    draw = rng.random(len(row))
    hub = 1 + pages.section[row].astype(np.int32)
    hub[draw < share + _HOT_SHARE] = pages.hot_list
    hub[draw < share] = FRONT
    return hub


def _hub_trips(
    world: SiteWorld, rng: np.random.Generator, content: Requests, hub: NDArray[np.int32]
) -> list[Requests]:
    """Return the requests of the hubs that readers came by, seconds before, and their referrers."""
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
    """Return repeated requests of a page by the same client on the same day."""
    again = readers.take(np.flatnonzero(rng.random(len(readers)) < _RELOADS))
    later = np.minimum(again.time + rng.integers(5_000, 900_000, len(again)), DAY_MS - 1)
    itself = rng.random(len(again)) < _SELF_REFERRED
    referrer = np.where(itself, world.externals + again.row, again.referrer)
    return make_requests(
        len(again), time=later, client=again.client, row=again.row, referrer=referrer
    )


def respelled(world: SiteWorld, readers: Requests, day: int) -> Requests:
    """Return the same page requests, some with another spelling of the page's URL."""
    rng = generator(world.options.seed, "spelling", world.pages.site.index, day)
    other = rng.random(len(readers), np.float32) < _OTHER_SPELLING
    return replace(readers, row=np.where(other, world.urls.spelling[readers.row], readers.row))


def _finish(rng: np.random.Generator, readers: Requests) -> Requests:
    """Return requests with agents, statuses and tracking keys."""
    count = len(readers)
    draw = rng.random(count, np.float32)
    conditions = (draw < _NOT_MODIFIED_SHARE, draw < _NOT_MODIFIED_SHARE + _PARTIAL_SHARE)
    status = np.select(conditions, (NOT_MODIFIED, PARTIAL), OK)
    draw = rng.random(count, np.float32)
    tracked = rng.integers(1, DECORATION_CODES, count, np.int8)
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
