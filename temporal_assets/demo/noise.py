"""Log lines besides readers' page requests, which cleaning must remove.

What belongs here: resources, errors, other methods, robots, scripts, malformed lines. What does
not: readers (`visits`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.world.people import (
    READER_AGENTS,
    ROBOT_AGENTS,
    ROBOTS,
    SCRIPTS,
    agents_of,
)
from temporal_assets.demo.world.requests import (
    DAY_MS,
    GARBAGE,
    METHODS,
    NO_REFERRER,
    STATUSES,
    TRUNCATED,
    Category,
    Requests,
    make_requests,
)
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.urls import STATIC
from temporal_assets.demo.world.visits import SiteWorld, times_of_day
from temporal_assets.settings import ROBOT_PAGES_PER_MINUTE, ROBOT_PAGES_WITHOUT_REFERRER

_RESOURCES: Final = 0.30
_ERRORS: Final = 0.03
_METHODS: Final = 0.02
_ROBOT_LINES: Final = 0.08
_MALFORMED: Final = 0.002
"""Number of malformed lines per page request of a reader."""

_SCRIPT_LINES: Final = 0.01
"""Number of lines of scripts per page request of a reader, over many days; on a single one there
are none or hundreds."""

LINES_PER_REQUEST: Final = (
    1 + _RESOURCES + _ERRORS + _METHODS + _ROBOT_LINES + _MALFORMED + _SCRIPT_LINES
)
"""Expected number of lines of all kinds per page request of a reader."""

GARBAGE_KINDS: Final = 6
"""Number of rows of the garbage table (`formats`)."""

_MISSING: Final = 5
_NOT_FOUND: Final = STATUSES.index(b"404")
_HOUR_MS: Final = 3_600_000


def noise_requests(world: SiteWorld, readers: Requests, day: int) -> list[Requests]:
    """Return all other requests of a day; their number follows that of the readers' requests."""
    rng = generator(world.options.seed, "noise requests", world.pages.site.index, day)
    return [
        _resources(world, rng, readers),
        _errors(world, rng, readers),
        _methods(rng, readers),
        _robots(world, rng, len(readers), day),
        *_scripts(world, rng, len(readers), day),
        _malformed(rng, readers),
    ]


def _some(rng: np.random.Generator, readers: Requests, share: float) -> Requests:
    return readers.take(np.flatnonzero(rng.random(len(readers), np.float32) < share))


def _resources(world: SiteWorld, rng: np.random.Generator, readers: Requests) -> Requests:
    """Return requests of style sheets, scripts and images, referred by the page that loads them."""
    page = _some(rng, readers, _RESOURCES)
    return make_requests(
        len(page),
        time=np.minimum(page.time + rng.integers(50, 1_500, len(page)), DAY_MS - 1),
        client=page.client,
        row=world.urls.static + rng.integers(0, len(STATIC), len(page)),
        referrer=world.externals + page.row,
        agent=page.agent,
        category=Category.STATIC,
    )


def _errors(world: SiteWorld, rng: np.random.Generator, readers: Requests) -> Requests:
    """Return requests of pages that are missing, moved, failed or forbidden."""
    page = _some(rng, readers, _ERRORS)
    status = rng.integers(_NOT_FOUND, len(STATUSES), len(page))
    missing = world.urls.missing + rng.integers(0, _MISSING, len(page))
    return make_requests(
        len(page),
        time=page.time,
        client=page.client,
        row=np.where(status == _NOT_FOUND, missing, page.row),
        referrer=page.referrer,
        agent=page.agent,
        status=status,
        category=Category.STATUS,
    )


def _methods(rng: np.random.Generator, readers: Requests) -> Requests:
    """Return requests with other methods than GET: forms, link checkers, other protocols."""
    page = _some(rng, readers, _METHODS)
    return make_requests(
        len(page),
        time=page.time,
        client=page.client,
        row=page.row,
        referrer=page.referrer,
        agent=page.agent,
        method=rng.integers(1, len(METHODS), len(page)),
        category=Category.METHOD,
    )


def _robots(world: SiteWorld, rng: np.random.Generator, readers: int, day: int) -> Requests:
    """Return requests of declared robots, which fetch pages regardless of their popularity."""
    living = np.flatnonzero(world.pages.birth < day)
    count = int(rng.poisson(readers * _ROBOT_LINES)) if len(living) else 0
    robot = rng.integers(0, ROBOTS, count)
    return make_requests(
        count,
        time=times_of_day(rng, count),
        client=world.options.clients + robot,
        row=living[rng.integers(0, max(len(living), 1), count)],
        agent=len(READER_AGENTS) + robot % len(ROBOT_AGENTS),
        category=Category.BOT,
    )


def _scripts(world: SiteWorld, rng: np.random.Generator, readers: int, day: int) -> list[Requests]:
    """Return requests of scripts with the agent of a browser: too fast, or without referrers.

    Both exceed the limits of `settings` by a wide margin, and stay within hours in which no log is
    rotated.
    """
    living = np.flatnonzero(world.pages.birth < day)
    requests = []
    for is_fast in (True, False):
        limit = ROBOT_PAGES_PER_MINUTE if is_fast else ROBOT_PAGES_WITHOUT_REFERRER
        size = int(rng.integers(limit * 3 // 2, limit * 5 // 2))
        expected = readers * _SCRIPT_LINES / 2 / size
        runs = int(rng.poisson(expected)) if len(living) >= size else 0
        requests += [_script(world, rng, living, size, is_fast) for _ in range(runs)]
    return requests


def _script(
    world: SiteWorld, rng: np.random.Generator, living: NDArray[np.int64], size: int, is_fast: bool
) -> Requests:
    """Return requests of a script: many a minute, or steadily at a slow rate."""
    client = world.options.clients + ROBOTS + int(rng.integers(0, SCRIPTS))
    start = int(rng.integers(10, 18)) * _HOUR_MS + int(rng.integers(0, 50)) * 60_000
    if is_fast:
        # Within one minute of the clock, and within any minute that is counted from its start.
        time = start + np.sort(rng.integers(5_000, 45_000, size))
    else:
        time = start + np.arange(size) * 15_000 + rng.integers(0, 9_000, size)
    return make_requests(
        size,
        time=time,
        client=client,
        row=rng.choice(living, size, replace=False),
        referrer=world.externals if is_fast else NO_REFERRER,
        agent=agents_of(np.array([client])),
        category=Category.SCRIPT,
    )


def _malformed(rng: np.random.Generator, readers: Requests) -> Requests:
    """Return copies of readers' lines that break off, and garbage in their place."""
    line = _some(rng, readers, _MALFORMED)
    flaw = rng.integers(TRUNCATED, GARBAGE + GARBAGE_KINDS, len(line))
    return make_requests(
        len(line),
        time=line.time,
        client=line.client,
        row=line.row,
        referrer=line.referrer,
        agent=line.agent,
        flaw=flaw,
        category=Category.MALFORMED,
    )
