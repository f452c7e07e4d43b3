"""The views of the explorer as HTML: sites, a site, pages below a folder, a pattern, a page.

Every view is a link of its own and works without scripts. Here: what a view shows. Not here: the
queries (`rows`), the server (`server`). Texts come from logs: all of them are escaped, no URL of a
log is a link out, and the page's policy forbids scripts and every connexion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

from temporal_assets.cli.explorer.rows import CANDIDATES, SORTS, Paged, Row, Window
from temporal_assets.cli.shared.exits import CommandError
from temporal_assets.cli.show.page import explained
from temporal_assets.core.text.readable import readable
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy.assemble import on_ladder
from temporal_assets.policy.matcher import Decision
from temporal_assets.reports.charts.svg_icicle import icicle, share_legend
from temporal_assets.reports.page_chart import as_chart
from temporal_assets.reports.prefix_tree import Section
from temporal_assets.reports.report_page import (
    block,
    broken,
    digest,
    front_page,
    prose,
    stylesheet,
)
from temporal_assets.reports.sections.patterns import GRAPH_KEY
from temporal_assets.reports.sections.wording import every
from temporal_assets.reports.text import shown
from temporal_assets.windows.patterns.stored_patterns import StoredPatterns, graph_of
from temporal_assets.windows.report.evaluation_report import read_report

_OWN: Final = """
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

_REASONS: Final = {
    "no_page": "it is no URL of a page",
    "static": "it is a static file",
    "hub": "it is a hub of the policy",
    "prefix": "it is under a news prefix",
    "pattern": "its pattern decides",
    "site": "its site is known, and nothing more of it",
    "unknown_site": "nothing is known of its site",
}


class NotKnown(Exception):
    """Error: the requested thing does not exist, or may not be shown."""


def style() -> str:
    """Return the stylesheet of every view."""
    return stylesheet() + _OWN


def policy() -> str:
    """Return the content security policy: own style and forms to itself, nothing else."""
    return (
        f"default-src 'none'; style-src 'sha256-{digest(style())}'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )


def page(title: str, parts: Iterable[str], path: Sequence[tuple[str, str]] = ()) -> str:
    """Return a whole page from HTML parts; `path` holds (name, link) of the pages above."""
    crumbs = " › ".join(_link(name, link) for name, link in path)
    above = f'<nav class="path" aria-label="Path">{crumbs}</nav>' if crumbs else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme"'
        f' content="light dark"><title>{_text(title)}</title><style>{style()}</style></head>\n'
        '<body><a class="skip" href="#content">Skip to the content</a><header>'
        f'<nav class="bar" aria-label="Explorer">{_link("At a glance", "/")}'
        f"{_link('Sites', '/sites')}"
        '<form action="/find" method="get" role="search" aria-label="By URL">'
        "<label>Why is this URL fetched?"
        ' <input type="search" name="url" placeholder="https://…"></label>'
        ' <button type="submit">Find</button></form></nav></header>\n'
        f'<main id="content" tabindex="-1">{above}<h1>{broken(title)}</h1>'
        f"{''.join(parts)}</main></body></html>\n"
    )


def escaped(value: str) -> str:
    """Return any text escaped for HTML."""
    return _text(value)


def _text(value: object) -> str:
    return escape(shown(str(value)))


def _link(name: str, link: str) -> str:
    return f'<a href="{escape(link)}">{broken(name)}</a>'


def address(view: str, **values: object) -> str:
    """Return the link of a view."""
    given = {name: str(value) for name, value in values.items() if value not in ("", None, 0)}
    return f"/{view}?{urlencode(given)}" if given else f"/{view}"


def _table(caption: str, columns: Mapping[str, bool], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of HTML cells; columns say whether they hold numbers."""
    head = "".join(
        f'<th scope="col"{_number(is_number)}>{_text(name)}</th>'
        for name, is_number in columns.items()
    )
    kinds = list(columns.values())
    body = "".join(
        "<tr>"
        + "".join(f"<td{_number(kinds[k])}>{cell}</td>" for k, cell in enumerate(row))
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(caption)}"><table>'
        f"<caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _number(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _count(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _more(rows_page: Paged, view: str, **values: object) -> str:
    """Return links to the rows before and after."""
    links = []
    if rows_page.page:
        links.append(_link("← Before", address(view, **values, page=rows_page.page - 1)))
    if rows_page.has_more:
        links.append(_link("Next →", address(view, **values, page=rows_page.page + 1)))
    return f'<p class="more">{" ".join(links)}</p>' if links else ""


def _search(view: str, says: str, name: str, value: str, **hidden: str) -> str:
    kept = "".join(
        f'<input type="hidden" name="{key}" value="{_text(hidden_value)}">'
        for key, hidden_value in hidden.items()
        if hidden_value
    )
    return (
        f'<form class="search" action="/{view}" method="get" role="search" aria-label="In this'
        f' view">{kept}<label>{_text(says)}'
        f' <input type="search" name="{name}" value="{_text(value)}"></label>'
        ' <button type="submit">Show</button></form>'
    )


# Views -------------------------------------------------------------------------------------------


def at_a_glance(window: Window) -> str:
    """Return the view of the report's front page, with links to go on."""
    first = _notes(window)
    if window.store.manifest("evaluation_report", window.day) is not None:
        report = read_report(window.store, window.day)
        first = [front_page(section) for section in report.sections if section.id == "front"]
    onward = f"<p>{_link('All sites', '/sites')}: ranked, searched, page by page.</p>"
    return page(f"Window up to {window.day}", [*first, onward])


def _notes(window: Window) -> list[str]:
    """Return the notes of the policy, as HTML: why lists are empty, and what helps."""
    return [f"<p class='lead'>{prose(note)}</p>" for note in window.notes()]


def sites(window: Window, wanted: str, sort: str, number: int) -> str:
    """Return the view of the ranked sites, filtered and searched."""
    rows_page = window.sites(wanted, sort, number)
    orders = " · ".join(
        _link(f"by {name}", address("sites", q=wanted, sort=name)) for name in SORTS
    )
    columns = {"site": False, "rank": True, "pages": True, "temporal": True, "share": True}
    columns |= {"score": True, "at least": True, "clients": True}
    rows = (
        (
            _link(row["site"], address("site", site=row["site"])),
            *map(_count, (row["rank"], row["pages"], row["temporal_pages"])),
            _share(row["temporal_pages"] / row["pages"] if row["pages"] else None),
            *map(_count, (row["score"], row["bound"], row["clients"])),
        )
        for row in rows_page.rows
    )
    return page(
        "Sites",
        [
            _search("sites", "Sites whose name holds", "q", wanted, sort=sort),
            f"<p>{orders}</p>",
            *(() if any(row["score"] for row in rows_page.rows) else _notes(window)),
            _table("Sites that enough clients know", columns, rows),
            _more(rows_page, "sites", q=wanted, sort=sort),
        ],
    )


def site(window: Window, name: str, prefix: str = "") -> str:
    """Return the view of a site: scores, folders as an icicle, hubs and patterns."""
    row = window.site(name)
    if row is None:
        raise NotKnown(f"{name} is no site of this window that enough clients know")
    parts = [
        f"<p>{_said_of(row)}</p>",
        f"<p>{_link('Its pages', address('pages', site=name))}</p>",
        *_hosts(window, name),
        *_folders(window, name, prefix),
        *_hubs(window, name),
        *_patterns(window, name),
    ]
    path = _path_to(window, name)
    return page(prefix or name, parts, path if prefix else path[:-1])


def _path_to(window: Window, host: str) -> list[tuple[str, str]]:
    """Return links from the list of sites down to a host."""
    names = dict.fromkeys((window.listed(host), host))
    return [("Sites", "/sites"), *((name, address("site", site=name)) for name in names)]


def _hosts(window: Window, name: str) -> list[str]:
    """Return the hosts of a domain, where sites are domains."""
    rows = window.hosts(name)
    if not rows:
        return []
    columns = {"host": False, "pages": True, "temporal": True}
    cells = (
        (
            _link(row["site"], address("site", site=row["site"])),
            *map(_count, (row["pages"], row["temporal_pages"])),
        )
        for row in rows
        if row["site"] != name
    )
    return ["<h2>Hosts</h2>", _table("Hosts of the domain", columns, cells)]


def _said_of(row: Row) -> str:
    rank = "Not ranked" if row["rank"] is None else f"Rank {row['rank']:,}"
    listed = "in the list" if row["is_selected"] else "not in the list"
    if row["score"] is None:
        return (
            f"{rank}, {listed}; no page has views enough for a label; {row['clients']:,} clients."
        )
    return (
        f"{rank}, {listed}; {row['temporal_pages']:,} of {row['pages']:,} pages are temporal;"
        f" score {row['score']:.3f}, at least {row['bound']:.3f}; {row['clients']:,} clients."
    )


def _folders(window: Window, name: str, prefix: str) -> list[str]:
    tree = window.tree(name)
    if tree is None:
        return []
    here = _at(tree, prefix) if prefix else tree
    if here is None:
        raise NotKnown(f"{prefix} is no folder of {name} that enough clients know")
    columns = {"folder or program": False, "pages": True, "temporal": True, "news": True}
    below = sorted(here.beneath, key=lambda child: (-child.pages, child.prefix))
    rows = (
        (
            _link(readable(child.name), address("site", site=name, prefix=child.prefix)),
            *map(_count, (child.pages, child.temporal_pages, child.news_pages)),
        )
        for child in below
    )
    hidden = f"<p class='note'>{here.hidden:,} that few clients know.</p>" if here.hidden else ""
    pages = address("pages", site=name, prefix=here.prefix)
    return [
        "<h2>Folders and programs</h2><p class='note'>As wide as their pages. A click goes down."
        f"</p>{share_legend()}<div class='scroll' role='region' tabindex='0' aria-label='Folders'>",
        icicle(here, lambda child: address("site", site=name, prefix=child.prefix), "i"),
        "</div>",
        f"<p>{_link(f'Pages below {here.prefix}', pages)}</p>",
        _table(f"Below {here.prefix}", columns, rows) if below else "",
        hidden,
    ]


def _at(section: Section, prefix: str) -> Section | None:
    if section.prefix == prefix:
        return section
    below = (child for child in section.beneath if prefix.startswith(child.prefix))
    return next((node for child in below if (node := _at(child, prefix)) is not None), None)


def _hubs(window: Window, name: str) -> list[str]:
    rows = window.hubs(name)
    if not rows:
        return []
    columns = {"hub": False, "rank": True, "temporal pages": True, "new a day": True}
    columns |= {"at least": True, "at most": True, "visit every": True}
    numbers = ("rank", "temporal_pages", "new_per_day", "new_per_day_low", "new_per_day_high")
    cells = (
        (
            _link(readable(row["url"]), address("page", url=row["url"])),
            *(_count(row[number]) for number in numbers),
            every(on_ladder(60 * row["revisit_minutes"])),
        )
        for row in rows
    )
    return ["<h2>Hubs</h2>", _table(f"Hubs of {name} to visit", columns, cells)]


def _patterns(window: Window, name: str) -> list[str]:
    stored = window.patterns(name)
    if stored is None:
        return []
    ranked = sorted(stored.ranks.values(), key=lambda row: (-row["visits"], row["pattern"]))
    columns = {"pattern": False, "pages": True, "visits": True, "temporal": True}
    columns |= {"new a day": True, "fetch rank": True}
    cells = (
        (
            _link(row["template"], address("pattern", site=name, pattern=row["pattern"] + 1)),
            *map(_count, (row["volume"], row["visits"])),
            _share(row["temporal_share"]),
            *map(_count, (row["new_pages_per_day"], row["rank_fetch"])),
        )
        for row in ranked
        if row["is_public"]
    )
    title = f"Patterns of {name}, the most visited first"
    return ["<h2>URL patterns</h2>", _table(title, columns, cells)]


def pages(window: Window, name: str, prefix: str, wanted: str, number: int) -> str:
    """Return the view of a site's pages, the most visited first."""
    if window.site(name) is None:
        raise NotKnown(f"{name} is no site of this window that enough clients know")
    rows_page = window.pages(name, prefix, wanted, number)
    columns = {"page": False, "visits": True, "clients": True, "born": False, "label": False}
    labels = {None: "too few views", True: "temporal", False: "not temporal"}
    cells = (
        (
            _link(readable(row["url"]), address("page", url=row["url"])),
            *map(_count, (row["visits"], row["clients"])),
            _text(row["birth"]),
            labels[row["is_temporal"]],
        )
        for row in rows_page.rows
    )
    return page(
        f"Pages below {prefix or name}",
        [
            _search("pages", "Pages whose URL holds", "q", wanted, site=name, prefix=prefix),
            _table("Pages that enough clients opened", columns, cells),
            _more(rows_page, "pages", site=name, prefix=prefix, q=wanted),
        ],
        _path_to(window, name),
    )


def pattern(window: Window, name: str, number: int) -> str:
    """Return the view of a pattern: template, ranks, examples, and where people go from it."""
    stored, place = window.patterns(name), number - 1
    row = None if stored is None else stored.ranks.get(place)
    if stored is None or row is None or not row["is_public"]:
        raise NotKnown("there is no such pattern that enough clients know")
    node = stored.nodes[place]
    says = (
        f"{row['volume']:,} pages, {row['visits']:,} visits; temporal:"
        f" {_share(row['temporal_share'])}; {row['new_pages_per_day']:.1f} new pages a day."
    )
    examples = window.examples(stored, place)
    columns = {"page": False, "visits": True, "born": False}
    cells = (
        (
            _link(readable(page_row["url"]), address("page", url=page_row["url"])),
            _count(page_row["visits"]),
            _text(page_row["birth"]),
        )
        for page_row in examples
    )
    parts = [
        f"<p>{_text(says)}</p><details><summary>As a regular expression</summary>"
        f"<code>{_text(node['expression'])}</code></details>",
        _table("Examples that enough clients opened", columns, cells)
        if examples
        else f"<p class='note'>No example among the {CANDIDATES:,} most visited pages.</p>",
        _neighbours(stored, name, place),
    ]
    graph = graph_of(stored)
    if graph.edges:
        parts += [
            f"<p class='note'>{_text(GRAPH_KEY)}</p>",
            f'<div class="figures">{block(graph, "g")}</div>',
        ]
    return page(row["template"], parts, _path_to(window, name))


def _neighbours(stored: StoredPatterns, name: str, place: int) -> str:
    rows = []
    for inward, says in ((True, "from"), (False, "to")):
        for other, transits in stored.partners(place, inward=inward)[:10]:
            row = stored.ranks.get(other)
            if row is not None and row["is_public"]:
                link = address("pattern", site=name, pattern=other + 1)
                rows.append((says, _link(row["template"], link), _count(transits)))
    columns = {"direction": False, "pattern": False, "people": True}
    return _table("Where people come from and go to", columns, rows) if rows else ""


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
        parts.append(f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in reasons)}</ul>")
    return page(readable(canonical), parts, _path_to(window, site_of(canonical))[:2])


def _decided(window: Window, url: str, decision: Decision | None) -> str:
    if decision is None:
        return "<p>No policy is published yet: nothing is known of when it would be fetched.</p>"
    why = _REASONS.get(decision.reason, decision.reason.replace("_", " "))
    when = {"now": "now", "later": "later", "skip": "not at all"}[decision.decision]
    parts = [f"<b>Fetched {when}</b> (tier {decision.tier} of 16), because {_text(why)}."]
    if decision.interval_seconds:
        parts.append(f"Visited again every {every(decision.interval_seconds)}.")
    if decision.prefix:
        name = decision.prefix.partition("/")[0]
        link = address("site", site=name, prefix=decision.prefix)
        parts.append(f"Prefix: {_link(decision.prefix, link)}.")
    if decision.pattern:
        parts.append(f"Pattern: {_pattern_link(window, url, decision)}.")
    kind = escape(str(decision.decision))
    return f'<p class="decided {kind}">{" ".join(parts)}</p>'


def _pattern_link(window: Window, url: str, decision: Decision) -> str:
    name = site_of(url)
    number = window.pattern_of(name, url)
    if number is None:
        return f"<code>{_text(decision.pattern)}</code>"
    return _link(str(decision.pattern), address("pattern", site=name, pattern=number + 1))
