"""The modelled web: which sites there are, their sections, and what kind of pages they hold.

What belongs here: hosts, sections, their shares and hubs. What does not: single pages (`pages`),
their URLs (`urls`) and how interest in them behaves (`interest`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Final

import numpy as np

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.seeds import generator


class SiteKind(StrEnum):
    """The purpose of a site."""

    PORTAL = "portal"
    MIXED = "mixed"
    """News and lasting pages on one host: cars, property (TW 4.2, NP 1)."""
    FORUM = "forum"
    REFERENCE = "reference"
    SHOP = "shop"
    EVENT = "event"
    """Appears and disappears within the window, as doha2006.sohu.com did (NP 1)."""


class PageKind(IntEnum):
    """The kind of a page, which decides how interest in it behaves."""

    HUB = 0
    NEWS = 1
    FEATURE = 2
    """Opens with a burst, yet lasts: a campaign, a test, a long read. Not news."""
    EVERGREEN = 3
    """Older than the window; interest hardly changes within it."""
    FRESH = 4
    """Lasting page that appeared within the window."""
    THREAD = 5
    """Discussion: a lively first weeks, then visits by search."""


class Style(IntEnum):
    """The style of a section's URLs."""

    DATED = 0
    """/news/2025/03/14/10012.html"""
    SERIAL = 1
    """/china/20250314/10012.shtml"""
    PROGRAM = 2
    """/news.php?id=10012"""
    SLUG = 3
    """/guides/Winter-Tyres-10012.html"""
    THREAD = 4
    """/thread.php?id=10012&page=2"""
    ITEM = 5
    """/item.aspx?cat=7&id=10012"""
    UNICODE = 6
    """/wiki/%E5%9F%8E%E5%B8%82_10012"""
    OPAQUE = 7
    """/articles/c5kq0z8r2wt6o: names that say nothing, as those of bbc.co.uk (`bbc_demand`)"""

    @property
    def is_program(self) -> bool:
        """True if pages differ in their query only."""
        return self in (Style.PROGRAM, Style.THREAD, Style.ITEM)


Mix = dict[PageKind, float]

_NEWS: Final[Mix] = {PageKind.NEWS: 0.996, PageKind.FEATURE: 0.003, PageKind.EVERGREEN: 0.001}
"""Kinds of pages in news folders (NP table 1): 2,322 news pages and 4 others."""

_LASTING: Final[Mix] = {
    PageKind.EVERGREEN: 0.635,
    PageKind.FRESH: 0.25,
    PageKind.FEATURE: 0.11,
    PageKind.NEWS: 0.005,
}
"""NP table 1: the other folders hold 699 lasting pages and 15 news pages; the features bring the
concentration of lasting pages near 1.86 on average, with 8.1 % of them at 3 or more (NP 4.1)."""

_DESK: Final[Mix] = {
    PageKind.NEWS: 0.60,
    PageKind.FEATURE: 0.10,
    PageKind.FRESH: 0.15,
    PageKind.EVERGREEN: 0.15,
}
"""A desk that files news and lasting pages in one folder. No real set here says which pages of a
folder are news; NP 1 names such folders as the reason for looking further than sites."""

NEWS_POPULARITY: Final = 0.8
"""Views of a news page relative to a lasting one: its readers turn to the next. With the sizes of
the sections this makes a seventh of the reliable pages temporal (TW 4.2: 135,939 of 975,151)."""

_TALK: Final[Mix] = {PageKind.THREAD: 1.0}

_OFFERS: Final[Mix] = {PageKind.FEATURE: 0.7, PageKind.EVERGREEN: 0.3}
"""A shop's folder of campaigns: they burn out within weeks, and are no news."""


@dataclass(frozen=True, slots=True)
class Section:
    """A folder or program of a site."""

    prefix: str
    """`/news/` or `/news.php`."""
    style: Style
    share: float
    """Share of the site's pages."""
    mix: Mix
    speed: float = 0.0
    """Added to mu of news: interest in finance fades faster than in far-away events (TW 5.2)."""
    hub: str | None = None
    """Path of the index page; the prefix itself for folders."""

    @property
    def hub_path(self) -> str:
        """Path of the page that lists the section's newest pages."""
        return self.hub or self.prefix

    @property
    def is_news(self) -> bool:
        """True if most pages are news."""
        return self.mix.get(PageKind.NEWS, 0.0) > 0.5


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The plan of sites of one kind and topic."""

    kind: SiteKind
    label: str
    """First part of the host."""
    sections: tuple[Section, ...]
    """Sections of the smallest site of the kind."""
    front_share: float
    """Share of the arrivals by hub that come by the front page; the rest come by section indexes.
    NP 6.2: most news of finance.sina.com.cn is linked from /stock/, not from the home page."""
    weekend: float
    """Traffic of a day of the weekend relative to a weekday: 0.5 for news (`globo_clicks`, one
    week), 0.7 to 0.8 for an encyclopedia (`wiki`); of the others no real set speaks."""
    further: tuple[tuple[Style, Mix], ...]
    """Sections beside those, in turn, if a site is large enough for more."""
    hot_list: str | None = None
    """A program that lists the newest pages of all sections (NP 4.2: /excl/msnhot.php)."""


def _folder(name: str, style: Style, share: float, mix: Mix, speed: float = 0.0) -> Section:
    return Section(f"/{name}/", style, share, mix, speed)


def _program(name: str, style: Style, share: float, mix: Mix, hub: str) -> Section:
    return Section(f"/{name}", style, share, mix, hub=hub)


BLUEPRINTS: Final = (
    Blueprint(
        SiteKind.PORTAL,
        "news",
        (
            _folder("news", Style.DATED, 0.34, _NEWS),
            _folder("china", Style.SERIAL, 0.19, _NEWS, 0.1),
            _folder("world", Style.DATED, 0.14, _NEWS, 0.35),
            _folder("finance/stock", Style.SERIAL, 0.14, _NEWS, -0.4),
            _program("news.php", Style.PROGRAM, 0.09, _NEWS, "/list.php?cat=news"),
            _folder("topics", Style.SLUG, 0.10, _LASTING),
        ),
        front_share=0.35,
        weekend=0.60,
        further=(
            (Style.DATED, _NEWS),
            (Style.OPAQUE, _DESK),
            (Style.SERIAL, _NEWS),
            (Style.SLUG, _LASTING),
        ),
        hot_list="/excl/hot.php",
    ),
    Blueprint(
        SiteKind.MIXED,
        "cars",
        (
            _folder("news", Style.DATED, 0.13, _NEWS),
            _folder("models", Style.SLUG, 0.42, _LASTING),
            _folder("care", Style.SLUG, 0.20, _LASTING),
            _program("dealer.aspx", Style.ITEM, 0.25, _LASTING, "/dealers/"),
        ),
        front_share=0.30,
        weekend=1.15,
        further=((Style.SLUG, _LASTING), (Style.OPAQUE, _LASTING), (Style.DATED, _DESK)),
    ),
    Blueprint(
        SiteKind.MIXED,
        "homes",
        (
            _folder("news", Style.SERIAL, 0.16, _NEWS),
            _folder("msgview", Style.DATED, 0.06, _NEWS, 0.1),
            _folder("msn", Style.SERIAL, 0.04, _NEWS, -0.2),
            _folder("decoration", Style.SLUG, 0.44, _LASTING),
            _program("house.php", Style.PROGRAM, 0.30, _LASTING, "/houses/"),
        ),
        front_share=0.20,
        weekend=1.10,
        further=((Style.SLUG, _LASTING), (Style.DATED, _DESK), (Style.SLUG, _LASTING)),
        hot_list="/excl/msnhot.php",
    ),
    Blueprint(
        SiteKind.FORUM,
        "bbs",
        (
            _program("thread.php", Style.THREAD, 0.80, _TALK, "/forum.php?fid=1"),
            _program("member.php", Style.PROGRAM, 0.20, _LASTING, "/members/"),
        ),
        front_share=0.25,
        weekend=1.05,
        further=((Style.SERIAL, _TALK), (Style.OPAQUE, _TALK)),
    ),
    Blueprint(
        SiteKind.REFERENCE,
        "wiki",
        (
            _folder("wiki", Style.UNICODE, 0.75, _LASTING),
            _folder("Guides", Style.SLUG, 0.25, _LASTING),
        ),
        front_share=0.50,
        weekend=0.80,
        further=((Style.SLUG, _LASTING), (Style.UNICODE, _LASTING), (Style.OPAQUE, _LASTING)),
    ),
    Blueprint(
        SiteKind.SHOP,
        "shop",
        (
            _program("item.aspx", Style.ITEM, 0.70, _LASTING, "/catalogue/"),
            _folder("Advice", Style.SLUG, 0.26, _LASTING),
            _folder("press", Style.DATED, 0.04, _NEWS, 0.2),
        ),
        front_share=0.40,
        weekend=1.20,
        further=((Style.SLUG, _LASTING), (Style.OPAQUE, _LASTING), (Style.SLUG, _OFFERS)),
    ),
    Blueprint(
        SiteKind.EVENT,
        "games",
        (
            _folder("results", Style.SERIAL, 0.45, _NEWS, -0.3),
            _folder("stories", Style.DATED, 0.35, _NEWS, 0.1),
            _folder("athletes", Style.SLUG, 0.20, {PageKind.FRESH: 1.0}),
        ),
        front_share=0.40,
        weekend=1.30,
        further=((Style.SERIAL, _NEWS), (Style.SLUG, {PageKind.FRESH: 1.0})),
    ),
)

_LABELS: Final = tuple(blueprint.label for blueprint in BLUEPRINTS)

_ORDER: Final = (
    *("wiki", "bbs", "news", "homes", "shop", "cars", "wiki"),
    *("games", "bbs", "shop", "cars", "news", "wiki", "homes", "bbs"),
)
"""Kinds of the sites in order of size, repeating. One site in fifteen reports an event."""

_NAMES: Final = (
    *("harbour", "sierra", "juniper", "münchen", "lantern", "meridian", "orchard"),
    *("granite", "willow", "cobalt", "ember", "quill", "saffron", "tundra", "velvet"),
)
"""Second-level names; one is international, and written in punycode where it is used."""

_SIZE_EXPONENT: Final = 0.7
"""Exponent with which pages and views fall from site to site, by size: a few large sites, many
small."""


SMALLEST_SITE: Final = 20
"""Least number of pages of a site."""

_PAGES_A_SECTION: Final = 45
MOST_SECTIONS: Final = 100
"""A site has a section for so many pages, and no more than these: the sites of `medium` have 20 to
100, as large news sites do (`top_news_arrivals`: up to 38 with an article every five days)."""

_SECTION_EXPONENT: Final = 1.3
"""Exponent with which new pages fall from section to section (`top_news_arrivals`: 1.2 to 1.8)."""

_SPEEDS: Final = (0.0, -0.4, 0.2, 0.1, -0.2, 0.35)
"""Speeds of further sections, by turns."""

_TOPICS: Final = (
    *("politics", "sport", "business", "culture", "science", "health", "travel", "education"),
    *("technology", "music", "film", "books", "food", "weather", "local", "opinion", "law"),
    *("religion", "fashion", "design", "nature", "animals", "family", "jobs", "money", "energy"),
    *("traffic", "housing", "history", "theatre", "museums", "television", "radio", "people"),
    *("football", "tennis", "cycling", "winter-sports", "sailing", "chess", "markets", "farming"),
    *("space", "medicine", "schools", "universities", "police", "courts", "elections", "europe"),
)
_PLACES: Final = ("", "-north", "-south")
"""Endings of names of further sections: topics, then topics of a place."""


_ARCHIVE: Final = 6.5
"""Number of pages of a site's mirror that nobody opens, for every page that somebody may open: with
those of the latter that nobody does open, nine tenths of a mirror (BB table 2: 91 % of 74
million)."""
_FILED: Final = 0.6
"""Share of those pages that lie in the site's sections; the rest lies beside them (`archive`)."""


@dataclass(frozen=True, slots=True)
class Site:
    """A host with its sections."""

    index: int
    host: str
    blueprint: Blueprint = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    """Its folders and programs; their shares sum to 1."""
    pages: int
    traffic: float
    """Share of the corpus' views, in [0, 1]."""
    opens: int
    closes: int
    """First day with visitors and first day without, as days since the window's first."""

    @property
    def kind(self) -> SiteKind:
        """Purpose of the site."""
        return self.blueprint.kind

    @property
    def origin(self) -> str:
        """Scheme and host."""
        return f"https://{self.host}"


def archived(site: Site, section: Section) -> int:
    """Return how many pages a section had before those that anybody still opens."""
    return round(_ARCHIVE * _FILED * section.share * site.pages)


def beside(site: Site) -> int:
    """Return the number of a site's unopened pages that are in none of its sections."""
    return round(_ARCHIVE * (1 - _FILED) * site.pages)


def make_sites(options: DemoOptions) -> tuple[Site, ...]:
    """Return the sites of a corpus, the largest first."""
    weights = np.arange(1, options.sites + 1, dtype=np.float64) ** -_SIZE_EXPONENT
    spare = options.pages - options.sites * SMALLEST_SITE
    pages = SMALLEST_SITE + np.floor(weights / weights.sum() * spare).astype(np.int64)
    pages[0] += options.pages - pages.sum()
    sections = [_sections(_blueprint(index), int(count)) for index, count in enumerate(pages)]
    traffic = pages * np.array([_popularity(of_site) for of_site in sections])
    traffic /= traffic.sum()
    return tuple(
        _make_site(options, index, sections[index], int(pages[index]), float(traffic[index]))
        for index in range(options.sites)
    )


def _sections(blueprint: Blueprint, pages: int) -> tuple[Section, ...]:
    """Return the blueprint's sections and, for a large site, further, ever smaller ones."""
    sections = blueprint.sections
    count = max(min(pages // _PAGES_A_SECTION, MOST_SECTIONS), len(sections))
    least = min(section.share for section in sections)
    wanted = [section.share for section in sections]
    wanted += [
        least * (k / len(sections)) ** -_SECTION_EXPONENT
        for k in range(len(sections) + 1, count + 1)
    ]
    every = (*sections, *_further(blueprint, count - len(sections)))
    return tuple(
        replace(section, share=share / sum(wanted))
        for section, share in zip(every, wanted, strict=True)
    )


def _further(blueprint: Blueprint, count: int) -> Iterator[Section]:
    """Yield `count` sections besides those of a blueprint."""
    names = [topic + place for place in _PLACES for topic in _TOPICS]
    for index, name in enumerate(names[:count]):
        style, mix = blueprint.further[index % len(blueprint.further)]
        yield _folder(name, style, 0.0, mix, _SPEEDS[index % len(_SPEEDS)])


def _blueprint(index: int) -> Blueprint:
    return BLUEPRINTS[_LABELS.index(_ORDER[index % len(_ORDER)])]


def _popularity(sections: tuple[Section, ...]) -> float:
    """Return views per page relative to a site of lasting pages only."""
    news = sum(part.share * part.mix.get(PageKind.NEWS, 0.0) for part in sections)
    return 1 - (1 - NEWS_POPULARITY) * news


def _make_site(
    options: DemoOptions, index: int, sections: tuple[Section, ...], pages: int, traffic: float
) -> Site:
    """Return a site by its number: name, kind, and the days on which it is open."""
    name = _NAMES[index % len(_NAMES)]
    series = index // len(_NAMES)
    blueprint = _blueprint(index)
    host = f"{blueprint.label}.{name}{series or ''}.example".encode("idna").decode("ascii")
    opens, closes = 0, options.days
    if blueprint.kind is SiteKind.EVENT:
        # The Asian Games lasted 15 days; with what leads up to them, three weeks of 60 days.
        rng = generator(options.seed, "event", index)
        length = max(1, round(options.days * 0.35))
        opens = int(rng.integers(options.days // 6, max(options.days // 3, options.days // 6 + 1)))
        closes = min(opens + length, options.days)
    return Site(index, host, blueprint, sections, pages, traffic, opens, closes)
