"""Texts of alerts; pure functions from facts to text.

Not here: finding the facts (`defs.runs.finished_runs`), sending (`delivery`). Errors quote log
lines and names of files, which strangers write: what is quoted is made harmless for where it is
shown.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final

from temporal_assets.reports.text import shown

_FAULTS: Final = 2
_LINES: Final = 3
_CHECKS: Final = 4
"""Largest number of failed checks, and of lines of an error, in a message; the run has all."""

_WIDTH: Final = 600
"""Largest number of characters of a line, escapes counted: enough for the reason of a failed day
with file and line."""

_LENGTH: Final = 7_000
"""Largest number of characters of a message: Slack (40,000) and Mattermost (16,383) take it whole.
What they cut themselves may be the end of a block of code, and with it what keeps `@all`
harmless."""

_IN_CHAT: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "'"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A step of a run that failed."""

    step: str
    error: str
    """Text of the error in any number of lines; the first ones name day, file and line."""


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that did not pass."""

    asset: str
    name: str
    is_error: bool
    """True for an error, False for a warning."""
    text: str
    """The danger that the check guards against, and its remedy."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Facts about a finished run for a message."""

    run_id: str
    job: str
    days: Sequence[dt.date]
    """Contiguous days; empty if the run is about no days."""
    failed: bool
    faults: Sequence[Fault] = ()
    checks: Sequence[FailedCheck] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a message."""

    text: str
    quoted: bool = False
    """True if somebody else wrote it: an error, a log line, the name of a file."""


_LEFT_OUT: Final = Line("…")


@dataclass(frozen=True, slots=True)
class Message:
    """The text of one alert."""

    title: str
    lines: tuple[Line, ...]


def of_run(report: RunReport, ui: str, *, warnings: bool) -> Message | None:
    """Return the message about a run, or None if there is nothing to report.

    `ui` is the address of the web server. Without `warnings` only errors count.
    """
    checks = [check for check in report.checks if check.is_error or warnings]
    if not report.failed and not checks:
        return None
    lines = [
        *_faults(report.faults),
        *_checks(checks),
        Line(f"Look at {ui}/runs/{report.run_id}, or call: temporal-assets status"),
    ]
    return Message(f"{_subject(report)} {_outcome(report.failed, checks)}", tuple(lines))


def of_old_data(latest: dt.date, today: dt.date, limit: int) -> Message:
    """Return the message that `page_views` ends more than `limit` days before today."""
    return Message(
        f"no new data since {latest}",
        (
            Line(f"The latest day of page_views is {latest}, {(today - latest).days} days ago;"),
            Line(f"alerts.max_age_days allows {limit}. This is said once a day."),
            Line("Do log files still arrive? Is the sensor new_log_files or the schedule on?"),
            Line("Call: temporal-assets status"),
        ),
    )


def of_test() -> Message:
    """Return a test message."""
    return Message(
        "this is a test",
        (Line("Alerts of temporal_assets arrive here. Nothing is wrong."),),
    )


def subject(message: Message) -> str:
    """Return the title as the subject of a mail."""
    return f"[temporal_assets] {shown(message.title)}"


def plain(message: Message) -> str:
    """Return the body as plain text."""
    return "".join(
        f"  | {line.text}\n" if line.quoted else f"{line.text}\n"
        for line in _cut(message.lines, shown, _LENGTH)
    )


def chat(message: Message) -> str:
    """Return the message for services like Slack and Mattermost.

    Slack reads `<...>` as links and mentions; both read Markdown. So `&`, `<` and `>` are escaped,
    and what is quoted stands in a block of code, which it cannot end: nobody is called by a log
    line that holds `@all`.
    """
    parts = [f"*{_escaped(subject(message), _in_chat)}*"]
    lines = _cut(message.lines, _in_chat, _LENGTH - len(parts[0]))
    for quoted, block in groupby(lines, lambda line: line.quoted):
        texts = [line.text for line in block]
        parts += ["```", *texts, "```"] if quoted else texts
    return "\n".join(parts)


def _in_chat(character: str) -> str:
    return _IN_CHAT.get(character) or shown(character)


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return the text escaped and cut to length, never within an escape."""
    parts: list[str] = []
    room = _WIDTH
    for part in map(escape, text):
        room -= len(part)
        if room < 0:
            return f"{''.join(parts)}…"
        parts.append(part)
    return "".join(parts)


def _cut(lines: Sequence[Line], escape: Callable[[str], str], room: int) -> list[Line]:
    """Return lines that fit, escaped: all, or the first ones and the last, which has the link."""
    sent = [Line(_escaped(line.text, escape), line.quoted) for line in lines]
    if sum(map(_length, sent)) <= room:
        return sent
    *first, last = sent
    room -= _length(last) + _length(_LEFT_OUT)
    lengths = accumulate(map(_length, first))
    kept = [line for line, length in zip(first, lengths, strict=True) if length <= room]
    return [*kept, _LEFT_OUT, last]


def _length(line: Line) -> int:
    """Return the largest number of characters of a line, with the marks of a quotation."""
    return len(line.text) + len("```\n\n```\n" if line.quoted else "\n")


def _subject(report: RunReport) -> str:
    if not report.days:
        return report.job
    first, last = report.days[0], report.days[-1]
    if first == last:
        return f"{report.job} of {first}"
    return f"{report.job} of {first} to {last}"


def _outcome(failed: bool, checks: Sequence[FailedCheck]) -> str:
    if failed:
        return "failed"
    errors = sum(check.is_error for check in checks)
    warnings = len(checks) - errors
    counts = [(errors, "broken check"), (warnings, "warning")]
    parts = [f"{n} {noun}{'s' if n > 1 else ''}" for n, noun in counts if n]
    return f"succeeded with {' and '.join(parts)}"


def _faults(faults: Sequence[Fault]) -> Iterator[Line]:
    for fault in faults[:_FAULTS]:
        yield Line(f"Step {fault.step} failed:")
        lines = [line for line in fault.error.splitlines() if line.strip()]
        yield from (Line(line, quoted=True) for line in lines[:_LINES])
        yield from _more(len(lines) - _LINES, "line")
    yield from _more(len(faults) - _FAULTS, "failed step")


def _checks(checks: Iterable[FailedCheck]) -> Iterator[Line]:
    ordered = sorted(checks, key=lambda check: not check.is_error)
    for check in ordered[:_CHECKS]:
        kind = "BROKEN" if check.is_error else "warning"
        yield Line(f"Check {check.asset}.{check.name} ({kind}):")
        yield Line(check.text, quoted=True)
    yield from _more(len(ordered) - _CHECKS, "check")


def _more(number: int, noun: str) -> Iterator[Line]:
    if number > 0:
        yield Line(f"and {number} more {noun}{'s' if number > 1 else ''}")
