"""HTML that all views of the explorer share: the page, links, tables, numbers and forms.

Texts come from logs: all of them are escaped, no URL of a log is a link out, and the page's policy
forbids scripts and every connexion. Not here: what a view shows (`views`, `page_view`,
`pattern_view`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

from temporal_assets.cli.explorer.rows import Paged
from temporal_assets.reports.report_page import broken, digest, stylesheet
from temporal_assets.reports.text import shown

_OWN_STYLE: Final = """
.bar { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: baseline; margin: .8rem 0; }
.bar form { margin-left: auto; }
.bar input, .bar button, .search input, .search button {
  font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper);
  border: 1px solid var(--muted); border-radius: 5px; padding: .25rem .6rem;
}
.bar input { width: min(24rem, 60vw); }
.search { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; margin: .8rem 0; }
@media print { .bar, .search { display: none; } }
.path { font-size: .875rem; color: var(--muted); margin: .5rem 0; }
.more { display: flex; gap: 1rem; margin: .6rem 0; }
.decided { border-left: 4px solid var(--c2); padding: .2rem .9rem; margin: 1rem 0; }
.decided.later { border-color: var(--c3); } .decided.skip { border-color: var(--muted); }
"""


class NotKnown(Exception):
    """Error: the requested thing does not exist, or may not be shown."""


def style() -> str:
    """Return the stylesheet of every view."""
    return stylesheet() + _OWN_STYLE


def policy() -> str:
    """Return the content security policy: own style and forms to itself, nothing else."""
    return (
        f"default-src 'none'; style-src 'sha256-{digest(style())}'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )


def page(title: str, parts: Iterable[str], path: Sequence[tuple[str, str]] = ()) -> str:
    """Return a whole page from HTML parts; `path` holds (name, link) of the pages above."""
    crumbs = " › ".join(link_to(name, link) for name, link in path)
    above = f'<nav class="path" aria-label="Path">{crumbs}</nav>' if crumbs else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme"'
        f' content="light dark"><title>{escaped(title)}</title><style>{style()}</style></head>\n'
        '<body><a class="skip" href="#content">Skip to the content</a><header>'
        f'<nav class="bar" aria-label="Explorer">{link_to("At a glance", "/")}'
        f"{link_to('Sites', '/sites')}"
        '<form action="/find" method="get" role="search" aria-label="By URL">'
        "<label>Why is this URL fetched?"
        ' <input type="search" name="url" placeholder="https://…"></label>'
        ' <button type="submit">Find</button></form></nav></header>\n'
        f'<main id="content" tabindex="-1">{above}<h1>{broken(title)}</h1>'
        f"{''.join(parts)}</main></body></html>\n"
    )


def escaped(value: object) -> str:
    """Return any value as text escaped for HTML."""
    return escape(shown(str(value)))


def link_to(name: str, link: str) -> str:
    """Return a link with a name that may be broken into lines."""
    return f'<a href="{escape(link)}">{broken(name)}</a>'


def address(view: str, **values: object) -> str:
    """Return the link of a view."""
    query = {name: str(value) for name, value in values.items() if value not in ("", None, 0)}
    return f"/{view}?{urlencode(query)}" if query else f"/{view}"


def html_table(caption: str, columns: Mapping[str, bool], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of HTML cells; columns say whether they hold numbers."""
    head = "".join(
        f'<th scope="col"{_number_class(is_number)}>{escaped(name)}</th>'
        for name, is_number in columns.items()
    )
    kinds = list(columns.values())
    body = "".join(
        "<tr>"
        + "".join(f"<td{_number_class(kinds[k])}>{cell}</td>" for k, cell in enumerate(row))
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}"><table>'
        f"<caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _number_class(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def number_text(value: Any) -> str:
    """Return a number as people read it, a dash for none."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def percent_text(value: float | None) -> str:
    """Return a fraction as a percentage, a dash for none."""
    return "–" if value is None else f"{value:.1%}"


def more_links(rows_page: Paged, view: str, **values: object) -> str:
    """Return links to the rows before and after."""
    links = []
    if rows_page.page:
        links.append(link_to("← Before", address(view, **values, page=rows_page.page - 1)))
    if rows_page.has_more:
        links.append(link_to("Next →", address(view, **values, page=rows_page.page + 1)))
    return f'<p class="more">{" ".join(links)}</p>' if links else ""


def search_form(view: str, says: str, name: str, value: str, **hidden: str) -> str:
    """Return a form that shows a view again with a search text, keeping other values hidden."""
    inputs = "".join(
        f'<input type="hidden" name="{key}" value="{escaped(hidden_value)}">'
        for key, hidden_value in hidden.items()
        if hidden_value
    )
    return (
        f'<form class="search" action="/{view}" method="get" role="search" aria-label="In this'
        f' view">{inputs}<label>{escaped(says)}'
        f' <input type="search" name="{name}" value="{escaped(value)}"></label>'
        ' <button type="submit">Show</button></form>'
    )
