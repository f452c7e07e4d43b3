"""Exploration: the share of a crawl that goes to pages its policy does not know.

Here: candidates by arm, the budget, and what each arm has paid. An arm is a group of similar
candidates. Not here: the choice between arms (`core.crawls.exploration`), requests.

    section:HOST/FOLDER      pages of a watched site that only its site speaks for
    pattern:HOST/TEMPLATE    pages of patterns that the policy puts off ("later")
    host:HOST                pages of hosts that it does not know, linked by its sources

A fetch pays if its source or the page itself dates it to the last two days. A page without a date
says nothing about its arm: a calendar makes new links without end. Whether people wanted the page
is known a day later from the logs, and the next policy says so.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.crawls.exploration import choose, learned
from temporal_assets.crawl.instant.memory import Memory

SHARE: Final = 0.05
"""Default share of all fetches that explore."""

RECENT_SECONDS: Final = 2 * 86_400.0

_MOST_ARMS: Final = 5_000
_MOST_CANDIDATES: Final = 50
"""Most candidates of an arm; the latest are kept."""

_MOST_SAVED: Final = 5.0
"""Most exploring fetches that are made up for after a time without candidates."""

_DATES: Final = re.compile(
    rb"(?:article:published_time|datePublished|pubdate|dateCreated)[\"']?\s*(?:content)?"
    rb"[\"'\s:=]{1,5}(\d{4}-\d{2}-\d{2}(?:T[0-9:.]{5,12}(?:Z|[+-]\d{2}:?\d{2})?)?)",
    re.IGNORECASE,
)
"""Expressions for publication times in pages: Open Graph, JSON-LD, microdata."""

_DATED_BYTES: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be explored."""

    url: str
    page: str
    arm: str
    source: str
    is_new: bool
    """True if its link appeared since its source was last read, or the source dates it so."""
    is_dated: bool = False
    """True if the source dates it to the last days."""


_Waiting = OrderedDict[str, OrderedDict[str, Candidate]]
"""Candidates of each arm by their pages, the last offered last."""


class Explorer:
    """Chooses pages to explore; a `share` of 0 explores nothing."""

    def __init__(self, memory: Memory, share: float = SHARE, seed: int | None = None) -> None:
        self._memory, self._share = memory, share
        self._random = np.random.default_rng(seed)
        self._arms = memory.arms()
        self._new: _Waiting = OrderedDict()
        self._old: _Waiting = OrderedDict()
        self._saved = 0.0

    def spent(self, *, exploring: bool) -> None:
        """Count a fetch; every other fetch earns its share of an exploring one."""
        if not exploring and self._share > 0:
            earned = self._share / (1 - self._share)
            self._saved = min(self._saved + earned, _MOST_SAVED)

    def offer(self, candidate: Candidate) -> None:
        """Remember a page that the policy does not want now."""
        if self._share <= 0:
            return
        arms = self._new if candidate.is_new else self._old
        waiting = arms.get(candidate.arm)
        if waiting is None:
            if len(arms) >= _MOST_ARMS:
                arms.popitem(last=False)
            waiting = arms[candidate.arm] = OrderedDict()
        waiting[candidate.page] = candidate
        if len(waiting) > _MOST_CANDIDATES:
            waiting.popitem(last=False)

    def take(self) -> Candidate | None:
        """Return the next page to explore, or None without budget or candidates.

        Arms that have a new page come first: most arms are tried too seldom to tell them apart.
        """
        while self._saved >= 1 and (waiting := self._new or self._old):
            arms = list(waiting)
            odds = [self._arms.get(arm, (0.0, 0.0)) for arm in arms]
            wins, losses = zip(*odds, strict=True)
            arm = arms[choose(wins, losses, self._random)]
            _, candidate = waiting[arm].popitem()
            if not waiting[arm]:
                del waiting[arm]
            if not self._memory.knows(candidate.page):
                self._saved -= 1
                return candidate
        return None

    def learned(self, arm: str, *, paid: bool) -> None:
        """Note the result of an exploring fetch of an arm."""
        before = self._arms.get(arm, (0.0, 0.0))
        self._arms[arm] = learned(*before, paid=paid)
        self._memory.keep_arm(arm, *self._arms[arm])


def arm_of(reason: str, site: str | None, page: str, template: str | None) -> str | None:
    """Return the arm of a page by the policy's decision, or None if it is not explored."""
    host, _, path = page.split("://", 1)[-1].partition("/")
    if reason == "unknown_site":
        return f"host:{host}"
    if site is None:
        return None
    if reason == "pattern":
        return f"pattern:{host}/{(template or '')[:200]}"
    folder, slash, _ = path.partition("?")[0].partition("/")
    return f"section:{host}/{folder[:100] if slash else ''}"


def is_recent(body: bytes, now: float) -> bool | None:
    """Return whether a page was published in the last days; None if it gives no date."""
    from temporal_assets.crawl.sources.entries import seconds_of

    for match in _DATES.finditer(body[:_DATED_BYTES]):
        time = seconds_of(match[1].decode("ascii"))
        if time is not None:
            return time > now - RECENT_SECONDS
    return None


def facts_of(candidate: Candidate) -> str:
    """Return the facts that are stored with a request for a candidate, as JSON."""
    return json.dumps({"arm": candidate.arm, "is_dated": candidate.is_dated})
