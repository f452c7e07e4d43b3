"""Judging the log files themselves: are they there, were they read, whole, as what they look like?

Pure: records of files in, findings out. Not here: the lines in the files (`rejects` has those).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.contracts import Severity
from temporal_assets.storage.inventory import LandedFile

Troubles = Sequence[tuple[str, str]]
"""(file, what is wrong with it)"""


@dataclass(frozen=True, slots=True)
class Logs:
    """What is known of the log files."""

    files: Sequence[LandedFile]
    missing: Sequence[str] = ()
    """What is wrong with sources of the settings that lead to no file."""


@dataclass(frozen=True, slots=True)
class LogCheck:
    """A question about the log files, answered with those in trouble."""

    name: str
    severity: Severity
    description: str
    troubles: Callable[[Logs], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class LogFinding:
    """The answer to one question."""

    check: LogCheck
    troubles: Troubles

    @property
    def passed(self) -> bool:
        """Whether nothing is in trouble."""
        return not self.troubles

    @property
    def message(self) -> str:
        """What is wrong in one line; empty when nothing is."""
        if self.passed:
            return ""
        name, trouble = self.troubles[0]
        more = f" (and {len(self.troubles) - 1} more)" if len(self.troubles) > 1 else ""
        return f"{name}: {trouble}{more}" if name else f"{trouble}{more}"


LOG_CHECKS: Final = (
    LogCheck(
        "sources_present",
        Severity.WARN,
        "Every source of the settings leads to at least one file.",
        lambda logs: (("", message) for message in logs.missing),
    ),
    LogCheck(
        "files_readable",
        Severity.ERROR,
        "Every log file of the sources can be read. The lines of an unreadable file are missing"
        " from their days; all other files are used.",
        lambda logs: ((file.name, file.error) for file in logs.files if file.error),
    ),
    LogCheck(
        "files_complete",
        Severity.WARN,
        "No log file ends before its end: a truncated archive is used as far as it could be read.",
        lambda logs: ((file.name, file.problem) for file in logs.files if file.problem),
    ),
    LogCheck(
        "formats_likely",
        Severity.WARN,
        "Log files look like the format they were read as.",
        lambda logs: (
            (file.name, f"read as `{file.format}`, but looks like `{file.likely_format}`")
            for file in logs.files
            if file.likely_format and not file.error
        ),
    ),
)


def evaluate_logs(logs: Logs, checks: Sequence[LogCheck] = LOG_CHECKS) -> tuple[LogFinding, ...]:
    """One finding per check, with files in the order of their names."""
    return tuple(LogFinding(check, sorted(check.troubles(logs))) for check in checks)
