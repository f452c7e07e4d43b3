"""Report sections on prefix trees: NP Table 1 and Figure 3.

Sections of sites that few clients know are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from temporal_assets.reports.document import Branch, Column, Section, Table, Tree, unavailable
from temporal_assets.reports.prefix_tree import Section as Folder
from temporal_assets.reports.sections.wording import (
    FOUND,
    LISTS,
    MOST_ROWS,
    Row,
    counted,
    cut,
    percent,
    shown_of,
)

MOST_FOLDERS: Final = 1_000
"""Largest number of folders drawn; beyond it smaller sites are left out."""


_TOLD_BY: Final = {
    "news": "News is told by concentration here",
    "temporal": "News are the temporal pages here (`labels.rule`)",
}


def folders(rows: Sequence[Row], label: str) -> Section:
    """Return NP Table 1 for the site with the most news.

    `rows` count pages and news inside and outside of prefixes; `label` is the label that makes a
    page news (`prefixes.label`).
    """
    title = "News inside and outside of news prefixes"
    with_news = [row for row in rows if row["news_pages"]]
    if not with_news or not any(row["prefixes"] for row in with_news):
        return unavailable(
            "np-table-1",
            LISTS,
            "NP Table 1",
            title,
            "no site has a news prefix",
            "lower `prefixes.threshold`, or read more days",
        )
    # Of sites that publish both kinds, as the paper's does.
    mixed = [row for row in with_news if row["pages"] > row["prefix_pages"]] or with_news
    best = max(mixed, key=lambda row: (row["prefix_news_pages"], row["site"]))
    inside, news = best["prefix_news_pages"], best["news_pages"]
    all_inside = sum(row["prefix_news_pages"] for row in with_news)
    all_news = sum(row["news_pages"] for row in with_news)
    columns = (Column("pages of"), Column("news", "count"), Column("not news", "count"))
    other_in = best["prefix_pages"] - inside
    other_out = best["pages"] - news - other_in
    return Section(
        "np-table-1",
        LISTS,
        "NP Table 1",
        title,
        "in_sample",
        (
            f"Of the {counted(news, 'news page')} of {cut(best['site'])}, {percent(inside / news)}"
            f" are under its {counted(best['prefixes'], 'news prefix')}, with"
            f" {counted(other_in, 'page')} that are no news; in the paper 99.4% and 4.",
            f"Over all sites, prefixes hold {percent(all_inside / all_news)} of {all_news:,} news"
            " pages.",
        ),
        (
            Table(
                "Pages by where they are",
                columns,
                (
                    ("paper: three news folders of its site", 2_322, 4),
                    ("paper: its other folders", 15, 699),
                    (f"news prefixes of {cut(best['site'])}", inside, other_in),
                    ("the rest of the site", news - inside, other_out),
                ),
                2,
            ),
        ),
        f"{_TOLD_BY[label]}; in the paper people had labelled the pages. Pages too young to be told"
        " count as no news.",
    )


def trees(roots: Sequence[Folder], sites: int) -> Section:
    """Return NP Figure 3: prefix trees, those with the most news first.

    `sites` counts all sites.
    """
    if not roots:
        return unavailable(
            "np-figure-3",
            FOUND,
            "NP Figure 3",
            "Prefix trees",
            "no site with labelled pages is known to enough clients",
            "read more days or more traffic",
        )
    shown: list[Branch] = []
    left = MOST_FOLDERS
    for root in sorted(roots, key=lambda tree: (-tree.news_pages, tree.prefix)):
        size = _size([root])
        if size <= left:
            left -= size
            shown.append(_branch(root))
    marked = _marked(roots)
    counted_sites = counted(len(roots), "site")
    if len(roots) < sites:
        counted_sites = f"The {counted_sites} with the most news, of {sites:,} sites,"
    return Section(
        "np-figure-3",
        FOUND,
        "NP Figure 3",
        "Prefix trees",
        "no_judgement",
        (
            f"{counted_sites} have {counted(_size(roots), 'folder')} and programs;"
            f" {marked:,} of them are news prefixes, which are marked.",
        ),
        (Tree(f"Folders and programs of {counted(len(shown), 'site')}", tuple(shown)),),
        shown_of(len(shown), sites, "site"),
    )


def prefix_table(rows: Sequence[Row], total: int) -> Section:
    """Return a searchable table of `news_prefixes`, of those that enough clients know."""
    if not rows:
        return unavailable(
            "prefixes",
            FOUND,
            "",
            "News prefixes",
            "no folder or program is a news prefix",
            "lower `prefixes.threshold`, or read more days",
        )
    kept = rows[:MOST_ROWS]
    pages, news = sum(row["pages"] for row in rows), sum(row["news_pages"] for row in rows)
    return Section(
        "prefixes",
        FOUND,
        "",
        "News prefixes",
        "no_judgement",
        (
            f"New URLs under {counted(total, 'prefix')} are worth"
            f" fetching now: {percent(news / max(pages, 1))} of {counted(pages, 'page')} under them"
            " are news"
            " (the paper found 439).",
        ),
        (
            Table(
                "News prefixes, those with the most news first",
                (
                    Column("prefix"),
                    Column("pages", "count"),
                    Column("news", "count"),
                    Column("share", "share"),
                    Column("at least", "share"),
                ),
                tuple(
                    (cut(r["prefix"]), r["pages"], r["news_pages"], r["score"], r["bound"])
                    for r in kept
                ),
                note=shown_of(len(kept), total, "prefix"),
            ),
        ),
    )


def _branch(folder: Folder) -> Branch:
    """Return a folder, and those beneath, as a branch with names cut for display."""
    return Branch(
        cut(folder.name),
        cut(folder.prefix),
        folder.pages,
        folder.news_pages,
        folder.temporal_pages,
        folder.is_prefix,
        tuple(map(_branch, folder.beneath)),
        folder.hidden,
    )


def _size(folders_: Iterable[Folder]) -> int:
    return sum(1 + _size(inner.beneath) for inner in folders_)


def _marked(folders_: Iterable[Folder]) -> int:
    return sum(inner.is_prefix + _marked(inner.beneath) for inner in folders_)
