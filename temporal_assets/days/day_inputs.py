"""The landed log files that a day is made from, verified, and reasons not to make the day.

In: the inventory of log files. Out: paths in groups, or an error that says what to do. Not here:
what is made of them (`requests`, `counts`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from temporal_assets.days.counts import CountFile
from temporal_assets.days.requests import RobotLimits
from temporal_assets.landing.inventory import LOST, Inventory
from temporal_assets.landing.landed_files import LandedFile, content_of
from temporal_assets.settings import ROBOT_PAGES_PER_MINUTE, ROBOT_PAGES_WITHOUT_REFERRER, Settings
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.retained_days import RetainedDays
from temporal_assets.storage.store import Store

_NEVER: Final = 2**62
"""A threshold that no client reaches."""


class NoLogs(LookupError):
    """Error: no log file holds lines of the day."""


def segments_of_day(
    inventory: Inventory, files: Sequence[LandedFile], day: dt.date
) -> list[list[str]]:
    """Return paths of the day's records in groups, in the order of the logs.

    Only files of one group overlap in time.
    """
    groups = list[list[str]]()
    for group in _overlapping(files, day):
        for file in group:
            inventory.verify(file, day)
        groups.append([path for file in group for path in inventory.segments(file, day)])
    return groups


def _overlapping(files: Sequence[LandedFile], day: dt.date) -> Iterator[list[LandedFile]]:
    """Group files so that only files of one group overlap in time; leave out empty ones."""
    group: list[LandedFile] = []
    last = 0
    for file in files:
        share = file.days[day]
        if not share.rows:
            continue
        # Overlapping logs of different sites share no line, but may share the group.
        if group and share.first > last:
            yield group
            group = []
        last = max(last, share.last) if group else share.last
        group.append(file)
    if group:
        yield group


def robot_limits(settings: Settings, files: Sequence[LandedFile]) -> RobotLimits:
    """Return the numbers of pages from which on a client counts as a robot on the day."""
    keep = settings.cleaning.bots == "keep"
    # Formats without referrers say nothing about who follows links.
    has_referrers = all(file.has_referrers for file in files)
    return RobotLimits(
        _NEVER if keep else ROBOT_PAGES_PER_MINUTE,
        _NEVER if keep or not has_referrers else ROBOT_PAGES_WITHOUT_REFERRER,
    )


def count_files(
    inventory: Inventory, files: Sequence[LandedFile], day: dt.date
) -> list[list[CountFile]]:
    """Return the day's files of counts in groups; only files of one group overlap in time."""
    groups = list[list[CountFile]]()
    for group in _overlapping([file for file in files if file.is_counted], day):
        for file in group:
            inventory.verify(file, day)
        groups.append([CountFile(file.serial, inventory.segments(file, day)) for file in group])
    return groups


def refuse_removed(settings: Settings, day: dt.date) -> None:
    """Raise `NoLogs` for a day whose lines were removed on purpose."""
    retained = RetainedDays.load(settings.state)
    if not retained.has_requests(day):
        raise NoLogs(
            f"the log lines of {day} were removed by `temporal-assets doctor clean`: lines are kept"
            f" from {retained.requests} on. What was made of that day stays as it is"
        )


def refuse_loss(store: Store, inventory: Inventory, day: dt.date) -> None:
    """Raise an error if records of a day published before were damaged in the landing zone.

    A log that has grown since holds their lines again, under another digest.
    """
    lost = inventory.whole().lost
    manifest = store.intact("requests", day) if lost else None
    named = [content_of(source.digest) for source in manifest.inputs] if manifest else []
    records = [lost[content] for content in named if content in lost]
    if not manifest or not records:
        return
    before = manifest.extra["lines"]
    left = sum(file.days[day].lines for file in inventory.of_day(day))
    if left < before:
        raise DamagedFile(
            f"{day} was made of {before:,} log lines, of which {left:,} are left: it stays as it"
            f" was published. {LOST.format(records[0])}"
        )


def no_lines_of(day: dt.date, inventory: Inventory) -> str:
    """Return the message that a day has no lines, with the span of those that have some."""
    days = inventory.days()
    span = f"the logs read so far span {days[0]} to {days[-1]}" if days else "no logs were read yet"
    return f"no log file holds lines of {day}: {span}"
