"""Calls that a Scrapy crawl repeats while it runs; one of them looks for a new policy.

Here: loops that outlive errors, and loading a policy in a thread. Not here: the file of the policy
(`policy_source`), what follows from a new one (`scrapy`, `instant.spider`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy.utils.asyncio import create_looping_call, run_in_thread
from scrapy.utils.defer import deferred_from_coro

from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.policy import PolicyError

logger = logging.getLogger(__name__)


class CrawlLoops:
    """Repeated calls of a crawl; `ends` takes an error and returns True if it ends the crawl."""

    def __init__(self, ends: Callable[[Exception], bool] = lambda _: False) -> None:
        self._ends = ends
        self._loops: list[Any] = []

    def repeat(self, function: Callable[[], None], seconds: float) -> None:
        """Call a function every `seconds` seconds, first after that time."""
        loop = create_looping_call(lambda: self.call(function))
        loop.start(seconds, now=False)
        self._loops.append(loop)

    def call(self, function: Callable[[], None]) -> None:
        """Call a function once and log its error, which would end a Scrapy loop for good."""
        try:
            function()
        except Exception as error:
            if not self._ends(error):
                logger.exception("The crawl goes on; this is tried again")

    def watch(
        self,
        source: PolicySource,
        seconds: float,
        use: Callable[[], None],
        count: Callable[[str], None],
    ) -> None:
        """Look for a new policy every `seconds` seconds (0: never), and use it."""

        async def look() -> None:
            """Load the policy again if it has changed; a damaged one leaves that in use."""
            # A large policy takes a second to load; requests go on meanwhile.
            try:
                has_changed = await run_in_thread(source.reload)
            except PolicyError as error:
                count("reload_errors")
                logger.error("The policy in use stays: %s", error)
                return
            if has_changed:
                count("reloads")
                use()

        if seconds > 0:
            self.repeat(lambda: _begin(look()), seconds)

    def stop(self) -> None:
        """Stop all loops."""
        for loop in self._loops:
            if loop.running:
                loop.stop()


def _begin(coroutine: Any) -> None:
    deferred_from_coro(coroutine)
