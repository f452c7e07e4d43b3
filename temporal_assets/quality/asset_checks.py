"""Findings of checks as Dagster's asset check results, with limited metadata.

Metadata live in Dagster's event log.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, Final

import dagster as dg

from temporal_assets.contracts import Drift, Rule, Severity
from temporal_assets.contracts.markdown import expected
from temporal_assets.quality.evaluate import Finding, Status
from temporal_assets.quality.inspect import MAX_SAMPLES
from temporal_assets.quality.wording import number, told_apart
from temporal_assets.reports.text import shown

MAX_DAYS_LISTED: Final = 31
"""Largest number of days with a finding in one result: a month, the size of one backfill run."""

_HIDDEN: Final = frozenset({"client"})
"""Columns left out of samples for privacy: who visited what."""


def described(check: Rule | Drift) -> str:
    """Return the description of a check: what it protects, and what to do when it fails."""
    if isinstance(check, Drift):
        tested = f"`{check.measure}`, compared with the days before it"
    elif check.offenders:
        tested = f"no row of `{check.offenders}`"
    else:
        tested = f"`{check.measure}` is {expected(check)}"
    return f"{check.protects} {check.remedy}\n\nTested on each partition by itself: {tested}."


def to_check_result(
    asset: str, check: Rule | Drift, findings: Mapping[dt.date, Finding]
) -> dg.AssetCheckResult:
    """Return one result for all days of a run: passed if every day passed."""
    troubled = {day: finding for day, finding in findings.items() if not finding.passed}
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=check.name,
        passed=not troubled,
        severity=_severity(check, findings),
        description=_description(check, findings, troubled),
        metadata=_metadata(findings, troubled),
    )


def _severity(check: Rule | Drift, findings: Mapping[dt.date, Finding]) -> dg.AssetCheckSeverity:
    failed = any(finding.status is Status.FAILED for finding in findings.values())
    severity = check.severity if isinstance(check, Rule) else Severity.WARN
    if failed or severity is Severity.ERROR:
        return dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckSeverity.WARN


def _description(
    check: Rule | Drift,
    findings: Mapping[dt.date, Finding],
    troubled: Mapping[dt.date, Finding],
) -> str | None:
    if not troubled:
        unjudged = {finding.note for finding in findings.values() if finding.note}
        return "; ".join(sorted(unjudged)) or None
    if all(finding.status is Status.FAILED for finding in troubled.values()):
        return "The check itself could not be done; this says nothing about the data."
    return f"{check.protects} {check.remedy}"


def _metadata(
    findings: Mapping[dt.date, Finding], troubled: Mapping[dt.date, Finding]
) -> dict[str, Any]:
    """Return the metadata of a check over some days."""
    metadata: dict[str, Any] = {"days": len(findings), **_partitions(findings)}
    if len(findings) == 1:
        (finding,) = findings.values()
        metadata |= _numbers(finding)
    elif troubled:
        metadata |= {"days_not_passed": len(troubled), "not_passed": _table_of_days(troubled)}
    samples = [row for finding in troubled.values() for row in finding.samples]
    if samples:
        metadata["samples"] = _table(samples[:MAX_SAMPLES])
    return metadata


def _partitions(days: Collection[dt.date]) -> dict[str, str]:
    """Return metadata with the checked days, which Dagster does not record for checks."""
    if not days:
        return {}
    first, last = min(days), max(days)
    name = "partition" if first == last else "partitions"
    return {name: f"{first}" if first == last else f"{first} to {last}"}


def _numbers(finding: Finding) -> dict[str, Any]:
    """Return the measured number of a finding, its limits and its note as metadata."""
    expected = finding.expected
    numbers = {
        "value": expected.value,
        "minimum": expected.minimum,
        "maximum": expected.maximum,
        "note": finding.note and dg.MetadataValue.text(shown(finding.note)),
    }
    return {name: number for name, number in numbers.items() if number not in (None, "")}


def _table_of_days(findings: Mapping[dt.date, Finding]) -> dg.TableMetadataValue:
    first = sorted(findings)[:MAX_DAYS_LISTED]
    return _table([{"day": day.isoformat(), **_row(findings[day])} for day in first])


def _row(finding: Finding) -> dict[str, Any]:
    """Return a finding as a row of the table of days."""
    expected = finding.expected
    value, low, high = told_apart(expected.value, expected.minimum, expected.maximum)
    return {
        "status": finding.status.value,
        "value": value,
        "minimum": low,
        "maximum": high,
        "note": finding.note,
    }


def _table(rows: list[Mapping[str, Any]] | list[dict[str, Any]]) -> dg.TableMetadataValue:
    # Cells of a table are shown as plain text, not as Markdown.
    cells = [
        {name: _cell(value) for name, value in row.items() if name not in _HIDDEN} for row in rows
    ]
    columns = [dg.TableColumn(name, type="string") for name in cells[0]]
    return dg.MetadataValue.table(
        [dg.TableRecord(record) for record in cells], schema=dg.TableSchema(columns=columns)
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return number(value) if isinstance(value, float) else shown(str(value))
