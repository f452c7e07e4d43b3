"""The sorting of a document's links: fetched now, offered for exploration, or dropped.

In go the links that a source or a page shows; out come rows of the crawl's memory for those that
the policy wants, and candidates for the explorer. Not here: how links are read from a document
(`crawl.sources`), when a row is fetched (`scheduler`), what is explored (`explore`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from temporal_assets.crawl.instant.explore import RECENT_SECONDS, Candidate, Explorer, arm_of
from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.crawl.instant.memory import Memory, Row, Source
from temporal_assets.crawl.instant.watch import Watch
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.sources import HUB, SITEMAP, Entry
from temporal_assets.policy import Decision
from temporal_assets.policy.document import tier_of_action
from temporal_assets.policy.kernels import NO_PAGE, REASONS, SITE, STATIC

PAGE: Final = "page"
EXPLORE: Final = "explore"
LAST_NOW: Final = 8
"""Last tier of the policy's action `now`."""
LAST_LATER: Final = 15
"""Last tier of the policy's action `later`."""
_NEVER_EXPLORED: Final = frozenset((REASONS[NO_PAGE], REASONS[STATIC], "hub", "prefix"))


class LinkFollower:
    """Sorts links by the policy, up to a tier; `enqueue` queues a row unless it is known."""

    def __init__(
        self,
        policy_source: PolicySource,
        memory: Memory,
        watch: Watch,
        explorer: Explorer,
        last_tier: int,
        enqueue: Callable[[Row], bool],
        count: Callable[[str], None],
    ) -> None:
        self._policy_source, self._memory, self._watch = policy_source, memory, watch
        self._explorer, self._last_tier = explorer, last_tier
        self._enqueue, self._count = enqueue, count

    def follow(self, entries: list[Entry], row: Row, source: Source | None) -> tuple[int, int]:
        """Sort the links that a document shows; return the numbers of new and of new wanted ones.

        `row` is the request of the document, `source` the hub, feed or sitemap that it is, if any.
        """
        now, policy = time.time(), self._policy_source.current
        pages = [policy.canonical(entry.url) for entry in entries]
        entry_of_page = {page: entry for page, entry in zip(pages, entries, strict=True) if page}
        if not entry_of_page:
            return 0, 0
        shower = source.url if source is not None else row.page
        new = set(self._memory.new_links(entry_of_page, shower, now))
        decisions = policy.match_many([entry.url for entry in entry_of_page.values()])
        wanted_count = 0
        undecided_hosts: set[str] = set()
        for place, (page, entry) in enumerate(entry_of_page.items()):
            decision, is_new = decisions.row(place, entry.url), page in new
            if decision.hub in self._watch:
                self._count("links_to_hubs")
                continue
            self._count(f"reason/{decision.reason}")
            tier = self._tier(entry, source, decision, now, is_new=is_new)
            if tier is not None:
                wanted_count += self._want(entry, page, decision, tier, shower) and is_new
            elif not _is_too_late(entry, source, now, is_new=is_new):
                self._put_off(entry, page, decision, source, row, is_new=is_new)
                if is_new and decision.reason == REASONS[SITE]:
                    undecided_hosts.add(host_of(page))
        if source is not None and source.kind == HUB and source.visits:
            self._watch.ask_feeds(undecided_hosts, now)
        return len(new), wanted_count

    def _tier(
        self, entry: Entry, source: Source | None, decision: Decision, now: float, *, is_new: bool
    ) -> int | None:
        """Return the tier in which a link is fetched, or None if it is not wanted now."""
        if _is_too_late(entry, source, now, is_new=is_new):
            self._count("old_links")
            return None
        if decision.tier <= self._last_tier:
            return decision.tier
        if _is_news_of_site(entry, source, decision, now):
            # Others may have shown the link before: it is this date that makes it wanted.
            self._count("announced")
            return LAST_NOW
        return None

    def _want(self, entry: Entry, page: str, decision: Decision, tier: int, shower: str) -> bool:
        """Queue a link; return False if its page is known."""
        self._count(f"requests/{tier_of_action(tier)}")
        row = Row(0, page, entry.url, host_of(entry.url), tier, decision.reason, shower, PAGE)
        return self._enqueue(row)

    def _put_off(
        self, entry: Entry, page: str, decision: Decision, source: Source | None, row: Row,
        *, is_new: bool,
    ) -> None:  # fmt: skip
        """Offer a link that the policy does not want now for exploration."""
        self._count("dropped")
        if decision.reason in _NEVER_EXPLORED or (
            decision.reason == "pattern" and decision.decision == "skip"
        ):
            return
        if decision.reason == "unknown_site" and source is None and row.kind != EXPLORE:
            return  # pages link anywhere; sources link what is news to them
        arm = arm_of(decision.reason, decision.site, page, decision.pattern)
        if arm is None:
            return
        is_dated = entry.time is not None and time.time() - entry.time < RECENT_SECONDS
        appeared = is_dated or (is_new and source is not None and source.visits > 0)
        shower = source.url if source else row.page
        self._explorer.offer(Candidate(entry.url, page, arm, shower, appeared, is_dated))


def _is_too_late(entry: Entry, source: Source | None, now: float, *, is_new: bool) -> bool:
    """Return True if a feed or sitemap lists a page that appeared before the last days.

    A sitemap without dates lists all that a site has: new is what was not there before.
    """
    if source is None or source.kind == HUB:
        return False
    if entry.time is not None:
        return now - entry.time > RECENT_SECONDS
    return source.kind == SITEMAP and not (is_new and source.visits)


def _is_news_of_site(entry: Entry, source: Source | None, decision: Decision, now: float) -> bool:
    """Return True if a feed or sitemap of a watched site announces a page published just now.

    The site says that it is news. The policy knows the site and nothing of the section, or it would
    have a prefix or a pattern for it.
    """
    if source is None or source.kind == HUB or decision.reason != REASONS[SITE]:
        return False
    return entry.is_published and entry.time is not None and now - entry.time < RECENT_SECONDS
