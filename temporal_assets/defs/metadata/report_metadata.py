"""Metadata of `evaluation_report`: its sentences, a few small plots, the page.

No URL is shown here, and sentences that may name a site stay in the report.
"""

from __future__ import annotations

import datetime as dt
import shlex
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.reports.document import Chart, Report
from temporal_assets.reports.plots import drawn
from temporal_assets.settings import Settings
from temporal_assets.windows.report.evaluation_report import page_of_day, read_report

_TOLD: Final = (
    *("tw-table-1", "np-table-2", "out-of-time", "seeds", "labels", "calibration", "early-labels"),
    *("bb-table-3", "bb-table-4", "bb-figure-6", "bb-figure-8", "bb-figure-10", "timely"),
)
_PLOTTED: Final = ("precision-recall", "bb-figure-8", "bb-figure-10")

_Metadata = dict[str, Any]


def details(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return the report's sentences without names, and the first chart of some sections."""
    report = read_report(installation.store, day)
    missing = sum(bool(section.missing) for section in report.sections)
    shown: _Metadata = {
        "sections": len(report.sections) - missing,
        "sections_missing": missing,
        "says": _sentences(report),
    }
    page = page_of_day(installation.settings, day)
    if page.is_file():  # else made by an earlier release
        shown |= link(installation.settings, day)
        shown["page_bytes"] = page.stat().st_size
    return shown | _previews(report) if plots else shown


def link(settings: Settings, day: dt.date) -> _Metadata:
    """Return a link to the report of a day, and how to open it without a server.

    Without `orchestration.reports` the link is for the web server of `temporal-assets ui`, which
    shows the pages itself. Browsers open no file from a page that came over the network.
    """
    page = page_of_day(settings, day)
    base = settings.orchestration.reports
    if base:
        return {"report": dg.MetadataValue.url(f"{base.rstrip('/')}/{page.name}")}
    state = shlex.quote(str(settings.state))
    command = f"temporal-assets report --open --day {day} --state {state}"
    link = dg.MetadataValue.url(f"/report/{page.name}")
    return {"report": link, "open_report_with": command}


def _sentences(report: Report) -> dg.TableMetadataValue:
    rows = [
        {"section": section.source or section.title, "says": section.missing or section.says[0]}
        for section in report.sections
        if section.id in _TOLD
    ]
    return grid(rows, {"section": "string", "says": "string"})


def _previews(report: Report) -> _Metadata:
    pictures: _Metadata = {}
    for section in report.sections:
        charts = [block for block in section.blocks if isinstance(block, Chart)]
        if section.id in _PLOTTED and charts:
            pictures[section.id.replace("-", "_")] = dg.MetadataValue.md(drawn(charts[-1]))
    return pictures
