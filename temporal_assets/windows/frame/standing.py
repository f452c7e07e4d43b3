"""Progress of an installation on its way to a policy, in one sentence.

Here: how many days there are, how many are needed, what can be built now, and which days are left
out. Not here: what to type (`cli`), and why a list is empty (`windows.policy.policy_notes`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import first_of
from temporal_assets.windows.frame.window_end import LATEST_OF, WindowEnd, window_end


@dataclass(frozen=True, slots=True)
class Standing:
    """Number of days in the latest window, and what can be built from them."""

    end: WindowEnd | None
    """End of the latest window; None where no day was built."""
    days: int
    """Number of published days in the window."""
    needed: int
    """Number of days that labels, the papers' tables and the report need."""
    older: int = 0
    """Number of published days before the window."""

    @property
    def is_short(self) -> bool:
        """True if there are fewer days than labels need."""
        return self.days < self.needed

    @property
    def sentences(self) -> list[str]:
        """Sentences for people; none if the window is complete."""
        if self.end is None:
            return ["No day of the logs has been built yet."]
        days_sentence = [days_in_words(self.days, self.needed)] if self.is_short else []
        return [*days_sentence, *self.of_days_outside]

    @property
    def of_days_outside(self) -> list[str]:
        """Sentences about days behind the window, and before it if it lacks days."""
        if self.end is None:
            return []
        older = [_older(self.older, self.end)] if self.older and self.is_short else []
        return [*older, *([_stray(self.end)] if self.end.stray else [])]

    @property
    def report(self) -> dict[str, Any]:
        """Facts of the window as JSON values."""
        end = self.end
        return {
            "day": end.day if end else None,
            "days": self.days,
            "needed": self.needed,
            "is_short": self.is_short,
            "stray_days": list(end.stray) if end else [],
            "sentences": self.sentences,
        }


def standing(store: Store, settings: Settings) -> Standing:
    """Return the standing of an installation."""
    end = window_end(store, settings)
    needed = settings.window.min_days
    if end is None:
        return Standing(None, 0, needed)
    first = first_of(settings, end.day)
    older = sum(day < first for day in store.days(LATEST_OF))
    return Standing(end, days_there(store, settings, end.day), needed, older)


def days_there(store: Store, settings: Settings, day: dt.date) -> int:
    """Return how many days are published in the window that ends with `day`."""
    first = first_of(settings, day)
    return sum(first <= stored_day <= day for stored_day in store.days(LATEST_OF))


def days_in_words(days: int, needed: int) -> str:
    """Return the sentence about a window that is short."""
    are = "day is" if days == 1 else "days are"
    return (
        f"{days} {are} there, and {needed} are needed (`window.min_days`): until then the policy is"
        " provisional, from views, links and how fast interest fades. Labels of pages, judged lists"
        f" and the report come with {_more(needed - days)}."
    )


def _more(days: int) -> str:
    return "1 more day" if days == 1 else f"{days} more days"


def _older(days: int, end: WindowEnd) -> str:
    are = "1 older day is" if days == 1 else f"{days} older days are"
    return f"{are} not in the window that ends with {end.day} (`window.days`)."


def _stray(end: WindowEnd) -> str:
    """Name the days behind the window, and what they have."""
    return (
        f"The window ends with {end.day}, the last day with a usual amount of requests (about"
        f" {end.usual_requests:,}). Left out behind it: {_spans(end.stray)}, with"
        f" {end.stray_requests:,} in all."
    )


def _spans(days: tuple[dt.date, ...]) -> str:
    """Write ascending days as spans, three at most."""
    spans = [[days[0], days[0]]]
    for before, day in pairwise(days):
        if day - before == dt.timedelta(days=1):
            spans[-1][1] = day
        else:
            spans.append([day, day])
    words = [str(a) if a == b else f"{a} to {b}" for a, b in spans[:3]]
    left = len(days) - sum((b - a).days + 1 for a, b in spans[:3])
    return ", ".join(words) + (f" and {left} more" if left else "")
