"""Which window a command is about: the day that was asked for, or the latest there is."""

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


def say_what_is_missing(store: Store, settings: Settings) -> None:
    """Why there are no windows in the first days, to people who wait for them."""
    from temporal_assets.windows.frame.asset import first_of
    from temporal_assets.windows.registry import LATEST_OF, is_short

    days = store.days(LATEST_OF)
    if not days or not is_short(store, settings, days[-1]):
        return
    there = sum(day >= first_of(settings, days[-1]) for day in days)
    console.say(
        f"No window yet: {there} of the {settings.window.min_days} days are there that"
        " `window.min_days` asks for."
        " Curves, labels, lists, the policy and the report need one"
    )


def window_day(store: Store, settings: Settings, asset: str, day: dt.date | None) -> dt.date:
    """The day, for which the asset has to be there."""
    days = store.days(asset)
    if day in days:
        return day
    if day is None and days:
        return days[-1]
    build = invocation(f"materialize {asset}" + (f" --day {day}" if day else ""), settings.state)
    known = f"; there is {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    raise CommandError(f"{asset} has no window {f'of {day}' if day else 'yet'}{known}: {build}")
