"""Settings that read a folder of logs, and what was read of them."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import LandingReport
from temporal_assets.settings import Settings, load_settings

DAY = dt.date(2026, 3, 2)


NOON = dt.datetime.combine(DAY, dt.time(12))


def settings_of(state: Path, folder: Path, **changes: object) -> Settings:
    source = {"path": str(folder), "host": "example.com"}
    return load_settings(state, sources=[source | changes.pop("source", {})], **changes)  # type: ignore[operator]


def rows_of(settings: Settings, day: dt.date = DAY) -> int:
    inventory = Inventory.load(settings)
    return sum(file.days[day].rows for file in inventory.of_day(day))


def errors_of(report: LandingReport) -> list[str]:
    return [str(file.error) for file in report.failed]


def let_grace_pass(state: Path) -> None:
    for record in (state / "landing" / "files").iterdir():
        os.utime(record, (1e9, 1e9))


W3C_HEADER = "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status\n"


def w3c_line(minute: int) -> str:
    return f"{DAY} 12:{minute:02}:00 192.0.2.1 GET /news/{minute} 200\n"
