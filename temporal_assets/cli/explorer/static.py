"""The explorer as one file: the first sites with their folders, hubs, patterns and pages.

The file is bounded in size, and lists what it leaves out. Links within the file work; other links
are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape
from typing import Final

from temporal_assets.cli.explorer import html_parts
from temporal_assets.cli.explorer.rows import Window
from temporal_assets.cli.explorer.server import answer
from temporal_assets.reports.sections.wording import counted

SITES: Final = 20
"""Number of sites in the file."""
_EACH: Final = 5
"""Number of patterns and of pages per site."""

_MAIN: Final = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)
_LINK: Final = re.compile(r'<a href="(/[^"]*)">(.*?)</a>', re.DOTALL)
_FORM: Final = re.compile(r"<form.*?</form>", re.DOTALL)
_HEADING: Final = re.compile(r"<(/?)h([1-5])\b")
_ID: Final = re.compile(r'(id|aria-labelledby)="([^"]*)"')


def one_file(window: Window) -> str:
    """Return the HTML of the whole file."""
    wanted = _targets(window)
    anchor_of_target = {target: f"v{place}" for place, target in enumerate(wanted)}
    parts = [_left_out(window)]
    for target, anchor in anchor_of_target.items():
        status, content = answer(window, target)
        main = _MAIN.search(content)
        if status == 200 and main:
            parts.append(
                f'<article id="{anchor}">{_inner(main[1], anchor_of_target, anchor)}</article>\n'
            )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">'
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy}'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Explorer, window up to {window.day}</title>"
        f"<style>{html_parts.style()}</style></head>"
        f"<body><main><h1>Explorer, window up to {window.day}</h1>{''.join(parts)}</main></body>"
        "</html>\n"
    )


def _policy() -> str:
    # A page says nothing about its frames itself.
    return html_parts.policy().replace("; frame-ancestors 'none'", "")


def _targets(window: Window) -> list[str]:
    """Return the addresses of the views in the file, in order."""
    targets = ["/", "/sites"]
    for row in window.sites("", "rank", 0).rows[:SITES]:
        name = row["site"]
        targets.append(html_parts.address("site", site=name))
        patterns = window.patterns(name)
        ranked = (
            sorted(patterns.ranks.values(), key=lambda pattern_row: -pattern_row["visits"])
            if patterns
            else []
        )
        public = [pattern_row for pattern_row in ranked if pattern_row["is_public"]][:_EACH]
        targets += [
            html_parts.address("pattern", site=name, pattern=pattern_row["pattern"] + 1)
            for pattern_row in public
        ]
        shown = window.pages(name, "", "", 0).rows[:_EACH]
        targets += [html_parts.address("page", url=pattern_row["url"]) for pattern_row in shown]
    return targets


def _left_out(window: Window) -> str:
    """Return the note on what the file leaves out, as HTML."""
    query = (
        "SELECT count(*) AS sites, CAST(coalesce(sum(pages), 0) AS BIGINT) AS pages"
        " FROM site_scores WHERE clients >= {least}"
    )
    total = window.rows(query, "site_scores")[0]
    shown = min(SITES, total["sites"])
    more = f"{total['sites'] - shown:,} more sites, " if total["sites"] > shown else ""
    rest = total["pages"] - _EACH * shown
    pages = f"at least {rest:,} of the {total['pages']:,} labelled pages, " if rest > 0 else ""
    return (
        f"<p class='note'>{counted(shown, 'site')}, with up to {_EACH} patterns and {_EACH} pages"
        f" of each. Left out are {more}{pages}{'and ' if more or pages else ''}the views of"
        " single folders; <code>temporal-assets explore</code> serves all of them.</p>\n"
    )


def _inner(content: str, anchor_of_target: Mapping[str, str], anchor: str) -> str:
    """Return a view for the file: links only to views within it, and unique ids."""

    def linked(link: re.Match[str]) -> str:
        target = anchor_of_target.get(unescape(link[1]))
        return f'<a href="#{escape(target)}">{link[2]}</a>' if target else link[2]

    def own(link: re.Match[str]) -> str:
        names = " ".join(f"{anchor}-{identifier}" for identifier in link[2].split())
        return f'{link[1]}="{names}"'

    def lower(link: re.Match[str]) -> str:
        return f"<{link[1]}h{int(link[2]) + 1}"

    # One title for the whole file; each view has the next level.
    lowered = _HEADING.sub(lower, _FORM.sub("", content))
    return _LINK.sub(linked, _ID.sub(own, lowered))
