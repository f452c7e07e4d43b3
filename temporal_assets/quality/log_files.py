"""Checks of log files: are they present, complete, read, and in the expected format?

Pure functions: records of files in, findings out. Not here: the lines in the files (`rejects` has
those).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.contracts import Severity
from temporal_assets.landing.landed_files import LandedFile

Troubles = Sequence[tuple[str, str]]
"""Pairs of (file, what is wrong with it)."""


@dataclass(frozen=True, slots=True)
class Logs:
    """Facts about the log files of an installation."""

    files: Sequence[LandedFile]
    missing: Sequence[str] = ()
    """Sources in the settings that match no file, with the reason."""
    expected: dt.date | None = None
    """Day that the logs must reach; None without such an expectation."""


@dataclass(frozen=True, slots=True)
class LogCheck:
    """A check of log files: its question, and a function that finds the files in trouble."""

    name: str
    severity: Severity
    description: str
    remedy: str
    """Sentence on what to do about it."""
    troubles: Callable[[Logs], Iterable[tuple[str, str]]]
    not_judged: Callable[[Logs], str] = lambda _: ""
    """Why the check cannot be judged; empty if it can."""


@dataclass(frozen=True, slots=True)
class LogFinding:
    """The result of one check."""

    check: LogCheck
    troubles: Troubles
    note: str = ""
    """Why nothing was judged."""

    @property
    def passed(self) -> bool:
        """True if no file is in trouble."""
        return not self.troubles

    @property
    def message(self) -> str:
        """A line on what is wrong, or why nothing was judged; empty if all is well."""
        if self.passed:
            return self.note
        name, trouble = self.troubles[0]
        more = f" (and {len(self.troubles) - 1} more)" if len(self.troubles) > 1 else ""
        return f"{name}: {trouble}{more}" if name else f"{trouble}{more}"


def _old(logs: Logs) -> Iterator[tuple[str, str]]:
    latest = max((day for file in logs.files for day in file.days), default=None)
    if logs.expected and (latest is None or latest < logs.expected):
        sentence = f"the latest day is {latest}" if latest else "no day was ever read"
        yield "", f"{sentence}, and {logs.expected} is expected: do log files still arrive?"


LOG_CHECKS: Final = (
    LogCheck(
        "sources_present",
        Severity.WARN,
        "Every source of the settings leads to at least one file.",
        "Correct `path` of the source in settings.toml, or bring the files back.",
        lambda logs: (("", message) for message in logs.missing),
    ),
    LogCheck(
        "files_readable",
        Severity.ERROR,
        "Every log file of the sources can be read. The lines of an unreadable file are missing"
        " from their days; all other files are used.",
        "The reason stands beside the file: rights, a damaged archive, a `format` to be named."
        " Mend it and run `temporal-assets ingest`; its days are made again.",
        lambda logs: ((file.name, file.error) for file in logs.files if file.error),
    ),
    LogCheck(
        "files_complete",
        Severity.WARN,
        "No log file ends before its end: a truncated archive is used as far as it could be read.",
        "Copy the file once more: when it has changed it is read, and its days are made, again.",
        lambda logs: ((file.name, file.problem) for file in logs.files if file.problem),
    ),
    LogCheck(
        "formats_likely",
        Severity.WARN,
        "Log files look like the format they were read as.",
        "Set `format` of the source in settings.toml: its files are then read again.",
        lambda logs: (
            (file.name, f"read as `{file.format}`, but looks like `{file.likely_format}`")
            for file in logs.files
            if file.likely_format and not file.error
        ),
    ),
    LogCheck(
        "days_recent",
        Severity.WARN,
        "The latest log lines are at most `alerts.max_age_days` days old. Judged in the nightly"
        " run, which waits for its day, and in no other: logs of last year are no fault.",
        "See whether logs are still rotated and copied, and what `temporal-assets status` says.",
        _old,
        lambda logs: "" if logs.expected else "Judged in the nightly run only.",
    ),
)


def evaluate_logs(logs: Logs, checks: Sequence[LogCheck] = LOG_CHECKS) -> tuple[LogFinding, ...]:
    """Return one finding per check, with files sorted by name."""
    return tuple(
        LogFinding(check, sorted(check.troubles(logs)), check.not_judged(logs)) for check in checks
    )
