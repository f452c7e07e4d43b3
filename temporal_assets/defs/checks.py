"""Asset checks: the rules of the contracts, and the state of the log files.

Invariants block: what is downstream is not built in the same run, and crawlers go on with the
policy before. Drifts warn. A run over several days judges each of them; Dagster keeps one result
per check and run, which lists the days that did not pass. Executed on their own, from the UI, the
checks judge the newest days. Not here: measuring and judging (`quality`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import dagster as dg

from temporal_assets.contracts import Severity, Table
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.jobs import FINISH, NIGHTLY
from temporal_assets.defs.metadata.metadata import MAX_ROWS, grid
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.defs.runs import lifelines
from temporal_assets.defs.runs.finished_runs import SUMMARY
from temporal_assets.defs.runs.tags import EXPECTED_DAY, days_of_run
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.source_files import missing_sources
from temporal_assets.quality import verdicts
from temporal_assets.quality.asset_checks import described, to_check_result
from temporal_assets.quality.evaluate import Finding
from temporal_assets.quality.inspect import Inspector
from temporal_assets.quality.log_files import LOG_CHECKS, LogFinding, Logs, evaluate_logs
from temporal_assets.quality.verdicts import Judgement, is_blocking, judgement
from temporal_assets.reports.text import shown
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows import registry


def contract_checks(table: Table) -> dg.AssetChecksDefinition:
    """Return the checks of one table as one step."""

    @dg.multi_asset_check(
        name=f"{table.name}_checks",
        specs=[
            dg.AssetCheckSpec(
                check.name,
                asset=table.name,
                description=described(check),
                blocking=is_blocking(check),
            )
            for check in table.checks
        ],
        can_subset=True,
    )
    def checks(
        context: dg.AssetCheckExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.AssetCheckResult]:
        selected = {key.name for key in context.selected_asset_check_keys}
        chosen = [check for check in table.checks if check.name in selected]
        days = _days(context, installation, table)
        if context.run.job_name != FINISH:
            _judge(installation, table, _left_by_others(context, installation, table, days))
        findings_of_day = _judge(installation, table, days, selected)
        for n, check in enumerate(chosen):
            by_day = {day: findings[n] for day, findings in findings_of_day.items()}
            yield to_check_result(table.name, check, by_day)

    return checks


def log_file_checks() -> dg.AssetChecksDefinition:
    """Return the checks of the log files, which do not block: the other files are used."""

    @dg.multi_asset_check(
        name="log_files_checks",
        specs=[
            dg.AssetCheckSpec(
                check.name,
                asset="log_files",
                description=f"{check.description} {check.remedy}",
            )
            for check in LOG_CHECKS
        ],
        can_subset=True,
    )
    def checks(
        context: dg.AssetCheckExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.AssetCheckResult]:
        selected = {key.name for key in context.selected_asset_check_keys}
        chosen = [check for check in LOG_CHECKS if check.name in selected]
        expected = _expected_day(context, installation.settings)
        for finding in evaluate_logs(logs_of(installation.settings, expected), chosen):
            judgement = log_file_judgement(finding)
            installation.report(Event("checked", "log_files", judgement=judgement))
            yield _file_result(finding)

    return checks


def logs_of(
    settings: Settings, expected: dt.date | None = None, inventory: Inventory | None = None
) -> Logs:
    """Return the present log files with the day that they must reach."""
    inventory = inventory or Inventory.load(settings)
    return Logs(inventory.files, missing_sources(inventory, settings), expected)


def _expected_day(context: dg.AssetCheckExecutionContext, settings: Settings) -> dt.date | None:
    """Return the day that the logs of a nightly run should reach, or None.

    It is counted from the run's own day and not from the clock: it may be run again.
    """
    limit = settings.alerts.max_age_days
    tags = context.run.tags
    days = days_of_run(tags) if context.run.job_name == NIGHTLY else []
    if EXPECTED_DAY in tags:
        days = [dt.date.fromisoformat(tags[EXPECTED_DAY])]
    return days[-1] - dt.timedelta(days=limit - 1) if days and limit else None


def log_file_judgement(finding: LogFinding) -> Judgement:
    """Return a finding about log files as the command line shows it."""
    return Judgement("log_files", finding.check.name, None, finding.passed, False, finding.message)


def _judge(
    installation: Installation,
    table: Table,
    days: Sequence[dt.date],
    names: Collection[str] | None = None,
) -> Mapping[dt.date, Sequence[Finding]]:
    """Run the checks called `names`, or all, on some days, and store the results."""
    if not days:
        return {}
    checks = [check for check in table.checks if names is None or check.name in names]
    before = {day: installation.store.manifest(table.name, day) for day in days}
    inspector = Inspector(installation.store, installation.engine, installation.settings)
    findings_of_day = inspector.inspect(table, days, names)
    judgements = {
        day: [judgement(table.name, day, *pair) for pair in zip(checks, findings, strict=True)]
        for day, findings in findings_of_day.items()
    }
    for of_day in judgements.values():
        for verdict in of_day:
            installation.report(Event("checked", table.name, verdict.day, judgement=verdict))
    with installation.store.scratch() as scratch:
        for day, judged in before.items():
            _remember(installation, table, scratch, judged, judgements[day])
    return findings_of_day


def _left_by_others(
    context: dg.AssetCheckExecutionContext,
    installation: Installation,
    table: Table,
    days: Sequence[dt.date],
) -> Sequence[dt.date]:
    """Return days that a killed run published without checks; running runs check their own."""
    if lifelines.are_others_running(installation.settings.state, context.run.run_id):
        return ()
    return registry.unjudged_days(installation.store, installation.settings, table.name, set(days))


def _days(
    context: dg.AssetCheckExecutionContext, installation: Installation, table: Table
) -> Sequence[dt.date]:
    if context.run.job_name == FINISH:
        return registry.unjudged_days(installation.store, installation.settings, table.name)
    days = days_of_run(context.run.tags)
    if days:
        return days
    return installation.store.days(table.name)[-DAYS_PER_RUN:]


def _remember(
    installation: Installation,
    table: Table,
    scratch: Path,
    judged: Manifest | None,
    judgements: Sequence[Judgement],
) -> None:
    """Store the results of a day."""
    # What another run has published meanwhile was not judged here; that run does.
    if judged is None or installation.store.manifest(table.name, judged.day) != judged:
        return
    verdicts.record(installation.settings.state, judged, judgements, scratch)


def _file_result(finding: LogFinding) -> dg.AssetCheckResult:
    """Return a finding on log files as Dagster's result of a check."""
    rows = [{"file": file, "trouble": trouble} for file, trouble in finding.troubles]
    severe = finding.check.severity is Severity.ERROR
    return dg.AssetCheckResult(
        check_name=finding.check.name,
        asset_key="log_files",
        passed=finding.passed,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        metadata={
            **({SUMMARY: dg.MetadataValue.text(shown(finding.message))} if finding.message else {}),
            "files_in_trouble": len(rows),
            "files": grid(rows[:MAX_ROWS], {"file": "string", "trouble": "string"}),
        },
    )
