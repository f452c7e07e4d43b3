"""Why the lists of a policy are empty, one-sided or provisional, and what would change it.

Here: the sentences that `policy.json` holds for people. Not here: the lists (`crawl_policy`), how
many days there are for what (`windows.frame.standing`, which every command asks).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from temporal_assets.policy.document import Document, HubEntry
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.counted_sites import uncounted_visitors
from temporal_assets.windows.frame.standing import days_in_words
from temporal_assets.windows.lists.sections import QUIET_DAYS, QUIET_SHARE
from temporal_assets.windows.pages.page_histories import least_views
from temporal_assets.windows.policy.provisional_lists import ENOUGH_PAGES

_COUNTS: Final = (
    "SELECT count(*) AS pages,"
    " coalesce(sum(CASE WHEN total >= {least} THEN 1 ELSE 0 END), 0) AS reliable,"
    " max(total) AS most FROM page_totals"
)
_QUIET: Final = "SELECT site FROM site_scores WHERE is_quiet AND clients >= {clients} ORDER BY site"
_NAMED: Final = 3
"""Sites that a sentence names; there may be thousands."""

Row = Mapping[str, Any]


def notes(job: Job, early: Sequence[Row], document: Document) -> list[str]:
    """Return the sentences about one policy.

    Args:
        job: The making of the policy.
        early: Rows of `provisional_lists` about whole sites.
        document: The policy, without notes.
    """
    window = job.settings.window
    present = job.present("page_views")
    least = least_views(window.min_views_per_day, len(present))
    (counts,) = job.engine.rows(
        _COUNTS.format(least=least), {"page_totals": job.files("page_totals")}
    )
    counts = dict(counts) | {"least": least, "days": len(present)}
    return [
        *_of_days(len(present), window.min_days, early),
        *_of_small_sites(len(present) >= window.min_days, counts, document),
        *_of_decisions(early, document),
        *_of_hubs(job, document["hubs"]),
        *_of_quiet(job),
        *_of_counts(job),
    ]


def _of_days(days: int, needed: int, early: Sequence[Row]) -> Iterator[str]:
    """Say how many days there are and how many are needed, if these are more."""
    if days >= needed:
        return
    yield days_in_words(days, needed)
    if days == 1 and early:
        yield (
            "One day does not say whose interest fades: every new page counts as worth fetching"
            " now, and a second day tells news from what lasts."
        )


def _of_small_sites(is_long: bool, counts: Row, document: Document) -> Iterator[str]:
    """Say how many pages have enough views, if sites are provisional in a long window."""
    if not is_long or not document["provisional"]:
        return
    sites = [entry["site"] for entry in document["sites"] if entry["provisional"]]
    named = ", ".join(sites[:_NAMED]) + (
        f" and {len(sites) - _NAMED} more" if sites[_NAMED:] else ""
    )
    have = (
        "page has"
        if counts["pages"] == 1
        else "pages has"
        if counts["reliable"] == 1
        else "pages have"
    )
    yield (
        f"{counts['reliable']:,} of {counts['pages']:,} {have} the {counts['least']:,} views in"
        f" {counts['days']} days that a label needs (the most opened has {counts['most']:,}). The"
        f" lists of sites with fewer than {ENOUGH_PAGES} labelled pages ({named}) are provisional:"
        " they rest on how fast the views of all pages fade. More readers change it, or a lower"
        " `window.min_views_per_day`."
    )


def _of_decisions(early: Sequence[Row], document: Document) -> Iterator[str]:
    """Yield notes for policies that fetch everything now, or nothing."""
    decisions = [entry["decision"] for entry in document["patterns"]]
    if not decisions and not document["prefixes"]:
        yield (
            "There are neither prefixes nor patterns: nothing was opened by enough visitors"
            " (`privacy.min_clients`) to be named. More days or more readers change it."
        )
        return
    now = [decision for decision in decisions if decision == "now"]
    if now or document["prefixes"]:
        if decisions and len(now) == len(decisions):
            yield (
                "Everything is fetched now: every pattern's pages are expected to be read mostly in"
                " their first days, on little evidence so far. More days or readers may change it."
                if document["provisional"]
                else "Everything is fetched now: every pattern has enough new pages that are read"
                " mostly in their first days."
            )
        return
    steady = [row for row in early if not row["is_listed"]]
    if steady and len(steady) == len(early):
        pages = sum(row["pages"] for row in steady)
        seen = f" of the {pages:,} pages with views enough to say" if pages > 1 else ""
        yield (
            "Nothing is fetched at once, all is `later`: on these sites pages are read on and on,"
            f" next to none{seen} fade within days. Pages that do so would change it."
        )
        return
    yield (
        "Nothing is fetched at once, all is `later`: no part of these sites had enough new pages"
        " that are read mostly in their first days."
    )


def _of_counts(job: Job) -> Iterator[str]:
    """Say which sites have views that are counted without visitors."""
    sites = uncounted_visitors(job)
    if sites:
        privacy = job.settings.privacy
        named = ", ".join(sites[:_NAMED]) + (
            f" and {len(sites) - _NAMED} more" if sites[_NAMED:] else ""
        )
        yield (
            f"Views of {named} are counted and their visitors are not: what is named has"
            f" {privacy.min_clients * VIEWS_PER_CLIENT} views on a day instead of"
            f" {privacy.min_clients} visitors."
        )


def _of_hubs(job: Job, hubs: Sequence[HubEntry]) -> Iterator[str]:
    """Say why there is no hub, and what changes it."""
    if hubs:
        return
    if not job.sources.tables["hub_seeds"].extra.get("has_referrers", True):
        yield (
            "There is no hub: no request says which page it came from. A log format with referrers,"
            " or a server that does not strip them, changes it."
        )
    else:
        yield (
            f"There is no hub: no page that {job.settings.privacy.min_clients} visitors or more"
            " opened led them to new pages. More days or more readers change it."
        )


def _of_quiet(job: Job) -> Iterator[str]:
    """Say which sites have gone quiet, so that no list has them."""
    query = _QUIET.format(clients=job.settings.privacy.min_clients)
    quiet = job.engine.rows(query, {"site_scores": job.files("site_scores")})
    names = ", ".join(row["site"] for row in quiet[:_NAMED])
    more = f" and {len(quiet) - _NAMED} more" if quiet[_NAMED:] else ""
    if quiet:
        yield (
            f"Gone quiet and not listed: {names}{more}. In the last {QUIET_DAYS} days they"
            f" had less than {QUIET_SHARE:.0%} of their usual views; new traffic changes it."
        )
