"""The views of pages: those of a site below a folder, and a single page with its reasons.

In: a window of published tables, and a site or URL. Out: HTML. Not here: the queries (`rows`).
"""

from __future__ import annotations

from html import escape
from typing import Final

from temporal_assets.cli.explorer.html_parts import (
    NotKnown,
    address,
    escaped,
    html_table,
    link_to,
    more_links,
    number_text,
    page,
    search_form,
)
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.views import path_to
from temporal_assets.cli.shared.exits import CommandError
from temporal_assets.cli.show.page import explained
from temporal_assets.core.text.readable import readable
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.matcher import Decision
from temporal_assets.reports.page_chart import as_chart
from temporal_assets.reports.report_page import block, broken
from temporal_assets.reports.sections.wording import every

_REASONS_OF_DECISIONS: Final = {
    "no_page": "it is no URL of a page",
    "static": "it is a static file",
    "hub": "it is a hub of the policy",
    "prefix": "it is under a news prefix",
    "pattern": "its pattern decides",
    "site": "its site is known, and nothing more of it",
    "unknown_site": "nothing is known of its site",
}


def pages(window: Window, name: str, prefix: str, wanted: str, number: int) -> str:
    """Return the view of a site's pages, the most visited first."""
    if window.site(name) is None:
        raise NotKnown(f"{name} is no site of this window that enough clients know")
    rows_page = window.pages(name, prefix, wanted, number)
    columns = {"page": False, "visits": True, "clients": True, "born": False, "label": False}
    labels = {None: "too few views", True: "temporal", False: "not temporal"}
    cells = (
        (
            link_to(readable(row["url"]), address("page", url=row["url"])),
            *map(number_text, (row["visits"], row["clients"])),
            escaped(row["birth"]),
            labels[row["is_temporal"]],
        )
        for row in rows_page.rows
    )
    return page(
        f"Pages below {prefix or name}",
        [
            search_form("pages", "Pages whose URL holds", "q", wanted, site=name, prefix=prefix),
            html_table("Pages that enough clients opened", columns, cells),
            more_links(rows_page, "pages", site=name, prefix=prefix, q=wanted),
        ],
        path_to(window, name),
    )


def one_page(window: Window, url: str) -> str:
    """Return the view of a page: views and curve, reasons of its labels, decision of crawlers."""
    canonical = canonical_url(url, UrlRules.from_settings(window.settings.cleaning))
    if canonical is None:
        raise NotKnown("this is no URL of a page: give the whole, like https://example.com/news/1")
    decision = window.decision(canonical)
    parts = [_decided(window, canonical, decision)]
    try:
        chart, reasons = explained(window.store, window.settings, canonical, window.day)
    except CommandError as error:
        why = str(error)
        parts.append(f"<p>{broken(why[:1].upper() + why[1:])}.</p>")
    else:
        drawn = as_chart(chart, "Views a day and the interest curve")
        parts.append(f'<div class="figures">{block(drawn, "p")}</div>')
        parts.append(f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in reasons)}</ul>")
    return page(readable(canonical), parts, path_to(window, site_of(canonical))[:2])


def _decided(window: Window, url: str, decision: Decision | None) -> str:
    """Return the policy's decision on a page, and its reason, as HTML."""
    if decision is None:
        return "<p>No policy is published yet: nothing is known of when it would be fetched.</p>"
    why = _REASONS_OF_DECISIONS.get(decision.reason, decision.reason.replace("_", " "))
    when = {"now": "now", "later": "later", "skip": "not at all"}[decision.decision]
    parts = [f"<b>Fetched {when}</b> (tier {decision.tier} of 16), because {escaped(why)}."]
    if decision.interval_seconds:
        parts.append(f"Visited again every {every(decision.interval_seconds)}.")
    if decision.prefix:
        name = decision.prefix.partition("/")[0]
        link = address("site", site=name, prefix=decision.prefix)
        parts.append(f"Prefix: {link_to(decision.prefix, link)}.")
    if decision.pattern:
        parts.append(f"Pattern: {_pattern_link(window, url, decision)}.")
    kind = escape(str(decision.decision))
    return f'<p class="decided {kind}">{" ".join(parts)}</p>'


def _pattern_link(window: Window, url: str, decision: Decision) -> str:
    name = site_of(url)
    number = window.pattern_of(name, url)
    if number is None:
        return f"<code>{escaped(decision.pattern)}</code>"
    return link_to(str(decision.pattern), address("pattern", site=name, pattern=number + 1))
