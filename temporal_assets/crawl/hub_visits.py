"""The schedule of visits to hubs.

Here: a small state machine over times that the caller gives. Not here: a clock, requests, Scrapy.

A hub is *waiting* until its time, then *asked for* until the visit is over, with the page or an
error; then it waits for its interval again. A page of which nothing is heard (a lost queue, a
middleware that drops it) is asked for again after some intervals, so not all has to be reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from temporal_assets.policy.document import HubEntry, SourceEntry

_PATIENCE_INTERVALS: Final = 4.0
_PATIENCE_SECONDS: Final = 3600.0
"""Least time after which a page that nothing was heard of is lost (or some intervals, if longer).
Slow crawls have long queues, and asking twice would make them longer."""


class HubVisits:
    """Schedule of the visits to all hubs of a policy.

    Times are seconds of any clock. `visited`, when each visit was over last, and `asked` may be
    kept with the crawl and given again.
    """

    def __init__(self, visited: dict[str, float], asked: dict[str, float]) -> None:
        self._visited = visited
        self._asked = asked
        self._interval: dict[str, float] = {}
        self._tier: dict[str, int] = {}

    def replace(self, hubs: Sequence[HubEntry | SourceEntry], factor: float = 1.0) -> None:
        """Use the hubs of a new policy; hubs that are new are due at once."""
        self._interval = {hub["url"]: factor * hub["interval_seconds"] for hub in hubs}
        self._tier = {hub["url"]: hub["tier"] for hub in hubs}
        for times in (self._visited, self._asked):
            for gone in times.keys() - self._interval.keys():
                del times[gone]

    def __contains__(self, url: object) -> bool:
        return url in self._interval

    def take(self, now: float) -> list[tuple[str, int]]:
        """Return hubs that are due and their tiers, the best first, and mark them as asked for."""
        due = [url for url in self._interval if self._is_due(url, now)]
        due.sort(key=lambda url: (self._tier[url], self._due(url), url))
        for url in due:
            self._asked[url] = now
        return [(url, self._tier[url]) for url in due]

    def has_begun(self, url: str) -> bool:
        """Return True if a hub was ever asked for."""
        return url in self._asked or url in self._visited

    def over(self, url: str, now: float) -> None:
        """End the visit of a hub, whose page has come or will not come."""
        if url in self._interval:
            self._asked.pop(url, None)
            self._visited[url] = now

    def _is_due(self, url: str, now: float) -> bool:
        asked = self._asked.get(url)
        if asked is not None:
            patience = max(_PATIENCE_SECONDS, _PATIENCE_INTERVALS * self._interval[url])
            return now > asked + patience
        return now >= self._due(url)

    def _due(self, url: str) -> float:
        """Return when a hub is due by its present interval, counted from the last visit."""
        visited = self._visited.get(url)
        return 0.0 if visited is None else visited + self._interval[url]
