"""The window that a command works on: that of the requested day, or the latest.

Where there is none, the error says how many days are missing.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import day_option
from temporal_assets.cli.shared.exits import CommandError
from temporal_assets.cli.shared.options import invocation

if TYPE_CHECKING:
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

Day = Annotated[
    dt.date | None,
    day_option("--day", "Last day of the window; the latest when none is given."),
]


def say_standing(store: Store, settings: Settings) -> None:
    """Print how many days there are, how many are needed, and what can be built now."""
    from temporal_assets.windows.frame.standing import standing

    for sentence in standing(store, settings).sentences:
        console.say(sentence)


def require_days(store: Store, settings: Settings, day: dt.date) -> None:
    """Refuse a window with too few days for assets that wait for more."""
    from temporal_assets.windows.frame.standing import days_in_words, days_there

    day_count, needed = days_there(store, settings, day), settings.window.min_days
    if day_count < needed:
        raise CommandError(f"nothing can be judged yet. {days_in_words(day_count, needed)}")


def window_day(store: Store, settings: Settings, asset: str, day: dt.date | None) -> dt.date:
    """Return the day of the window; the asset must be published on it."""
    days = store.days(asset)
    if day in days:
        return day
    if day is None and days:
        return days[-1]
    build = invocation(f"materialize {asset}" + (f" --day {day}" if day else ""), settings.state)
    days_there = (
        f"; there is {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    )
    raise CommandError(
        f"{asset} has no window {f'of {day}' if day else 'yet'}{days_there}: {build}"
    )
