"""Judging the log files themselves: were they read, whole, and as what they look like?

Pure: the inventory in, findings out. Not here: the lines in the files (`rejects` has those).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.contracts import Severity
from temporal_assets.storage.inventory import LandedFile


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A question every log file answers with nothing, or with what is wrong."""

    name: str
    severity: Severity
    description: str
    trouble: Callable[[LandedFile], str | None]


@dataclass(frozen=True, slots=True)
class FileFinding:
    """Files in trouble, as (name, what is wrong)."""

    check: FileCheck
    troubles: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """Whether no file is in trouble."""
        return not self.troubles

    @property
    def message(self) -> str:
        """What is wrong in one line; empty when nothing is."""
        if self.passed:
            return ""
        name, trouble = self.troubles[0]
        more = f" (and {len(self.troubles) - 1} more files)" if len(self.troubles) > 1 else ""
        return f"{name}: {trouble}{more}"


def _unlikely_format(file: LandedFile) -> str | None:
    if file.error or not file.likely_format or file.likely_format == file.format:
        return None
    return f"read as `{file.format}`, but looks like `{file.likely_format}`"


FILE_CHECKS: Final = (
    FileCheck(
        "files_readable",
        Severity.ERROR,
        "Every log file of the sources can be read. The lines of an unreadable file are missing"
        " from their days; all other files are used.",
        lambda file: file.error,
    ),
    FileCheck(
        "files_complete",
        Severity.WARN,
        "No log file ends before its end: a truncated archive is used as far as it could be read.",
        lambda file: file.problem,
    ),
    FileCheck(
        "formats_likely",
        Severity.WARN,
        "Log files look like the format they were read as.",
        _unlikely_format,
    ),
)


def evaluate_log_files(
    files: Iterable[LandedFile], checks: Sequence[FileCheck] = FILE_CHECKS
) -> tuple[FileFinding, ...]:
    """One finding per check, with files in the order of their names."""
    ordered = sorted(files, key=lambda file: file.name)
    return tuple(
        FileFinding(
            check,
            tuple((file.name, trouble) for file in ordered if (trouble := check.trouble(file))),
        )
        for check in checks
    )
