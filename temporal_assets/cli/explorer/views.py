"""The views of the explorer that start at sites: at a glance, the list of sites, a single site.

In: a window of published tables, and what to search and sort by. Out: HTML. Every view is a link of
its own and works without scripts. Not here: pages (`page_view`), patterns (`pattern_view`), HTML
that all views share (`html_parts`), the queries (`rows`), the server (`server`).
"""

from __future__ import annotations

from temporal_assets.cli.explorer.html_parts import (
    NotKnown,
    address,
    html_table,
    link_to,
    more_links,
    number_text,
    page,
    percent_text,
    search_form,
)
from temporal_assets.cli.explorer.rows import SORTS, Row, Window
from temporal_assets.core.text.readable import readable
from temporal_assets.policy.assemble import on_ladder
from temporal_assets.reports.charts.svg_icicle import icicle, share_legend
from temporal_assets.reports.prefix_tree import Section
from temporal_assets.reports.report_page import (
    front_page,
    prose,
)
from temporal_assets.reports.sections.wording import every
from temporal_assets.windows.report.evaluation_report import read_report


def at_a_glance(window: Window) -> str:
    """Return the view of the report's front page, with links to go on."""
    first = _notes(window)
    if window.store.manifest("evaluation_report", window.day) is not None:
        report = read_report(window.store, window.day)
        first = [front_page(section) for section in report.sections if section.id == "front"]
    onward = f"<p>{link_to('All sites', '/sites')}: ranked, searched, page by page.</p>"
    return page(f"Window up to {window.day}", [*first, onward])


def _notes(window: Window) -> list[str]:
    """Return the notes of the policy, as HTML: why lists are empty, and what helps."""
    return [f"<p class='lead'>{prose(note)}</p>" for note in window.notes()]


def sites(window: Window, wanted: str, sort: str, number: int) -> str:
    """Return the view of the ranked sites, filtered and searched."""
    rows_page = window.sites(wanted, sort, number)
    orders = " · ".join(
        link_to(f"by {name}", address("sites", q=wanted, sort=name)) for name in SORTS
    )
    columns = {"site": False, "rank": True, "pages": True, "temporal": True, "share": True}
    columns |= {"score": True, "at least": True, "clients": True}
    rows = (
        (
            link_to(row["site"], address("site", site=row["site"])),
            *map(number_text, (row["rank"], row["pages"], row["temporal_pages"])),
            percent_text(row["temporal_pages"] / row["pages"] if row["pages"] else None),
            *map(number_text, (row["score"], row["bound"], row["clients"])),
        )
        for row in rows_page.rows
    )
    return page(
        "Sites",
        [
            search_form("sites", "Sites whose name holds", "q", wanted, sort=sort),
            f"<p>{orders}</p>",
            *(() if any(row["score"] for row in rows_page.rows) else _notes(window)),
            html_table("Sites that enough clients know", columns, rows),
            more_links(rows_page, "sites", q=wanted, sort=sort),
        ],
    )


def site(window: Window, name: str, prefix: str = "") -> str:
    """Return the view of a site: scores, folders as an icicle, hubs and patterns."""
    row = window.site(name)
    if row is None:
        raise NotKnown(f"{name} is no site of this window that enough clients know")
    parts = [
        f"<p>{_summary_of(row)}</p>",
        f"<p>{link_to('Its pages', address('pages', site=name))}</p>",
        *_hosts(window, name),
        *_folders(window, name, prefix),
        *_hubs(window, name),
        *_patterns(window, name),
    ]
    path = path_to(window, name)
    return page(prefix or name, parts, path if prefix else path[:-1])


def path_to(window: Window, host: str) -> list[tuple[str, str]]:
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
            link_to(row["site"], address("site", site=row["site"])),
            *map(number_text, (row["pages"], row["temporal_pages"])),
        )
        for row in rows
        if row["site"] != name
    )
    return ["<h2>Hosts</h2>", html_table("Hosts of the domain", columns, cells)]


def _summary_of(row: Row) -> str:
    """Return rank, share of temporal pages and score of a site in a sentence."""
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
    """Return the folders of a site below a prefix, as a picture and a table."""
    tree = window.tree(name)
    if tree is None:
        return []
    here = _section_at(tree, prefix) if prefix else tree
    if here is None:
        raise NotKnown(f"{prefix} is no folder of {name} that enough clients know")
    columns = {"folder or program": False, "pages": True, "temporal": True, "news": True}
    below = sorted(here.beneath, key=lambda child: (-child.pages, child.prefix))
    rows = (
        (
            link_to(readable(child.name), address("site", site=name, prefix=child.prefix)),
            *map(number_text, (child.pages, child.temporal_pages, child.news_pages)),
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
        f"<p>{link_to(f'Pages below {here.prefix}', pages)}</p>",
        html_table(f"Below {here.prefix}", columns, rows) if below else "",
        hidden,
    ]


def _section_at(section: Section, prefix: str) -> Section | None:
    if section.prefix == prefix:
        return section
    below = (child for child in section.beneath if prefix.startswith(child.prefix))
    return next((node for child in below if (node := _section_at(child, prefix)) is not None), None)


def _hubs(window: Window, name: str) -> list[str]:
    """Return the table of a site's hubs."""
    rows = window.hubs(name)
    if not rows:
        return []
    columns = {"hub": False, "rank": True, "temporal pages": True, "new a day": True}
    columns |= {"at least": True, "at most": True, "visit every": True}
    numbers = ("rank", "temporal_pages", "new_per_day", "new_per_day_low", "new_per_day_high")
    cells = (
        (
            link_to(readable(row["url"]), address("page", url=row["url"])),
            *(number_text(row[number]) for number in numbers),
            every(on_ladder(60 * row["revisit_minutes"])),
        )
        for row in rows
    )
    return ["<h2>Hubs</h2>", html_table(f"Hubs of {name} to visit", columns, cells)]


def _patterns(window: Window, name: str) -> list[str]:
    """Return the table of a site's public patterns."""
    stored = window.patterns(name)
    if stored is None:
        return []
    ranked = sorted(stored.ranks.values(), key=lambda row: (-row["visits"], row["pattern"]))
    columns = {"pattern": False, "pages": True, "visits": True, "temporal": True}
    columns |= {"new a day": True, "fetch rank": True}
    cells = (
        (
            link_to(row["template"], address("pattern", site=name, pattern=row["pattern"] + 1)),
            *map(number_text, (row["volume"], row["visits"])),
            percent_text(row["temporal_share"]),
            *map(number_text, (row["new_pages_per_day"], row["rank_fetch"])),
        )
        for row in ranked
        if row["is_public"]
    )
    title = f"Patterns of {name}, the most visited first"
    return ["<h2>URL patterns</h2>", html_table(title, columns, cells)]
