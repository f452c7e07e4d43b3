"""A night as it is: servers that nobody touches, and the clock comes to the hour of the schedule.

Not at night: in some zone a full hour is at hand, because some differ by halves and quarters of an
hour. `pytest -m long -n 0 tests/integration/test_night.py` takes three to thirty-five minutes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from temporal_assets.operate.home import prepare_home
from temporal_assets.settings import SETTINGS_FILE, load_settings
from temporal_assets.storage.store import Store
from tests import logs
from tests.faults.installation import Installation

ZONES = ("UTC", "Asia/Kolkata", "Asia/Kathmandu")
DAYS = 3
AHEAD = dt.timedelta(seconds=90)
"""Servers have to be up by then."""

WITHIN_SECONDS = 2400


def _next_hour(now: dt.datetime) -> dt.datetime:
    """The next full hour anywhere, in its zone."""
    local = [(now + AHEAD).astimezone(ZoneInfo(zone)) for zone in ZONES]
    return min(
        hour.replace(minute=0, second=0, microsecond=0) + dt.timedelta(hours=1) for hour in local
    )


@pytest.fixture
def morning() -> dt.datetime:
    return _next_hour(dt.datetime.now(dt.UTC))


@pytest.fixture
def night(tmp_path: Path, morning: dt.datetime) -> Iterator[Installation]:
    state, folder = tmp_path / "state", tmp_path / "logs"
    state.mkdir()
    (state / SETTINGS_FILE).write_text(
        f"[[sources]]\npath = '{folder}'\nformat = 'combined'\nhost = 'example.com'\n"
        "[window]\ndays = 4\nmin_days = 1\nmin_views_per_day = 0.1\n"
        f"[orchestration]\nhour = {morning.hour}\ntimezone = '{morning.tzinfo}'\n",
        encoding="utf-8",
    )
    logs.write_days(folder, morning.date() - dt.timedelta(days=DAYS), DAYS)
    prepare_home(load_settings(state))
    site = Installation(state)
    try:
        site.up()
        yield site
    finally:
        site.close()


@pytest.mark.long
def test_the_night_makes_yesterday_and_its_window(
    night: Installation, morning: dt.datetime
) -> None:
    night.switch_on("nightly")
    yesterday = morning.date() - dt.timedelta(days=1)
    store = Store.open(load_settings(night.state))

    def is_made() -> bool:
        return store.manifest("crawl_policy", yesterday) is not None and night.is_idle()

    night.wait(is_made, WITHIN_SECONDS, "the night")
    assert night.failures() == {}
    day = yesterday.isoformat()
    for asset in ("requests", "page_views", "transits", "page_labels", "crawl_policy"):
        assert night.known(asset) == [(day, day)], asset
