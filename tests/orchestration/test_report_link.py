"""Where the UI says the report of a day is."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import dagster as dg

from temporal_assets.defs.metadata.report_metadata import link
from temporal_assets.settings import load_settings

DAY = dt.date(2026, 3, 1)


def test_where_reports_are_served_it_is_a_link(tmp_path: Path) -> None:
    served = load_settings(tmp_path, orchestration={"reports": "https://d.example/report/"})
    assert link(served, DAY) == {
        "report": dg.MetadataValue.url("https://d.example/report/evaluation-2026-03-01.html")
    }


def test_elsewhere_it_is_a_link_of_our_web_server_and_the_command_that_opens_it(
    tmp_path: Path,
) -> None:
    state = tmp_path / "a state"
    assert link(load_settings(state), DAY) == {
        "report": dg.MetadataValue.url("/report/evaluation-2026-03-01.html"),
        "open_report_with": f"temporal-assets report --open --day 2026-03-01 --state '{state}'",
    }
