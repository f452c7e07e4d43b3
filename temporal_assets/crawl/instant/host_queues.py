"""Requests that wait for their hosts: one at a time of each, the best tier of all first.

Here: the order in memory. Not here: what a request is, how long a host is left alone (`scheduler`),
what is kept on disk (`memory`).

A host is *busy* from the moment one of its requests is taken until it is released. Hosts that are
ready stand in a heap by their best request, the others in a heap by the time they are ready.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

Request = tuple[int, int]
"""Tier and number: requests of one tier are taken in the order of their numbers."""


class HostQueues:
    """Queues of all hosts. Times are seconds of any clock."""

    def __init__(self) -> None:
        self._queues: dict[str, list[Request]] = {}
        self._ready: list[tuple[Request, str]] = []
        self._waiting: list[tuple[float, str]] = []
        self._not_before: dict[str, float] = {}
        self._busy: set[str] = set()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, host: str, request: Request) -> None:
        """Add a request of a host."""
        queue = self._queues.setdefault(host, [])
        heapq.heappush(queue, request)
        self._count += 1
        if host not in self._busy and queue[0] == request:
            self._offer(host)

    def pop(self, now: float) -> tuple[str, int] | None:
        """Take the best request of all hosts that are ready; None if no host is.

        Returns its host, which is busy from now on, and its number.
        """
        while self._waiting and self._waiting[0][0] <= now:
            _, host = heapq.heappop(self._waiting)
            if self._not_before.get(host, 0.0) <= now:
                self._not_before.pop(host, None)
                self._offer(host)
        while self._ready:
            request, host = heapq.heappop(self._ready)
            queue = self._queues.get(host)
            if host in self._busy or host in self._not_before or not queue or queue[0] != request:
                continue  # an entry of a moment that is over
            heapq.heappop(queue)
            self._count -= 1
            if not queue:
                del self._queues[host]
            self._busy.add(host)
            return host, request[1]
        return None

    def release(self, host: str, ready_at: float) -> None:
        """Let the next request of a host be taken from a time on."""
        self._busy.discard(host)
        self._not_before[host] = max(ready_at, self._not_before.get(host, ready_at))
        heapq.heappush(self._waiting, (self._not_before[host], host))

    def hosts(self) -> Iterator[str]:
        """Yield hosts with requests."""
        return iter(self._queues)

    def _offer(self, host: str) -> None:
        queue = self._queues.get(host)
        if queue and host not in self._busy and host not in self._not_before:
            heapq.heappush(self._ready, (queue[0], host))
