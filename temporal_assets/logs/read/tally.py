"""Numbers of the lines that are not kept, by day and reason, with a few samples of each.

A line without a readable time belongs to the day of the line before it (at the start of a file,
to the day of the first line that has one), so that every line of a file is counted in some day.
Not here: why a line is not kept (`cleaning`), the table of these numbers (`days.rejects`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

UNKNOWN_DAY = -1
"""Number that stands for the day of lines before the first readable time."""


@dataclass(slots=True)
class Count:
    """Lines of one day with one reason; samples are (line number, redacted text)."""

    lines: int = 0
    samples: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Lines read by day, and lines not kept by day, kind and reason."""

    samples_kept: int
    read: dict[int, int] = field(default_factory=dict)
    """Day (days since 1970-01-01) -> lines read, kept or not."""
    counts: dict[tuple[int, str, str], Count] = field(default_factory=dict)
    """(day, `rejected` or `dropped`, reason) -> count."""

    def saw(self, day: int, lines: int) -> None:
        """Count lines that were read."""
        self.read[day] = self.read.get(day, 0) + lines

    def add(
        self, day: int, kind: str, reason: str, lines: int, samples: list[tuple[int, str]]
    ) -> None:
        """Count lines that are not kept."""
        count = self.counts.setdefault((day, kind, reason), Count())
        count.lines += lines
        count.samples.extend(samples[: self.samples_kept - len(count.samples)])

    def merge(self, other: Tally, day_before: int, lines_before: int = 0) -> None:
        """Add the tally of the block that follows; its unknown day is `day_before`.

        Its lines are counted from behind the first `lines_before`.
        """
        for day, lines in other.read.items():
            self.saw(day_before if day == UNKNOWN_DAY else day, lines)
        for (day, kind, reason), count in other.counts.items():
            known_day = day_before if day == UNKNOWN_DAY else day
            samples = [(line + lines_before, text) for line, text in count.samples]
            self.add(known_day, kind, reason, count.lines, samples)

    def assign_unknown(self, day: int) -> None:
        """Give the lines before the first readable time their day."""
        if UNKNOWN_DAY in self.read:
            self.saw(day, self.read.pop(UNKNOWN_DAY))
        for key in [key for key in self.counts if key[0] == UNKNOWN_DAY]:
            count = self.counts.pop(key)
            late = self.counts.pop((day, *key[1:]), Count())
            self.add(day, key[1], key[2], count.lines, count.samples)
            self.add(day, key[1], key[2], late.lines, late.samples)

    def total(self, kind: str) -> int:
        """Return lines of a kind over all days."""
        return sum(count.lines for (_, k, _), count in self.counts.items() if k == kind)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield JSON-ready rows, in a fixed order."""
        for (day, kind, reason), count in sorted(self.counts.items(), key=lambda item: item[0]):
            yield {
                "day": day,
                "kind": kind,
                "reason": reason,
                "lines": count.lines,
                "samples": count.samples,
            }
