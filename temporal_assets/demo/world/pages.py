"""The pages of one site as compact arrays (24 bytes a page), a pure function of the options.

What belongs here: which pages exist, when they were born and the parameters of their interest.
What does not: their URLs (`urls`), views of a day (`interest`, `visits`).

Rows: the front page, the section indexes, the hot list if there is one; then the pages,
section by section and within a section by birth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import (
    Bursts,
    Floats,
    amplitudes,
    day_factor,
    draw_births,
    draw_bursts,
    draw_curves,
    expected_views,
    page_noise,
)
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, Section, Site

FRONT: Final = 0
"""Row of the front page."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """All pages of a site, hubs first."""

    site: Site
    hubs: int
    """Number of hubs, which are the first rows."""
    hot_list: int
    """Row of the hot list; the front page where the site has none."""
    section: NDArray[np.int16]
    """Index into `site.sections`; -1 for the front page and the hot list."""
    kind: NDArray[np.int8]
    birth: Floats
    """Days since the window's first day."""
    mu: Floats
    sigma: Floats
    amplitude: Floats
    """A: views over the whole life of a page; 0 for hubs, whose views come from readers' paths."""
    bursts: Bursts

    def __len__(self) -> int:
        return len(self.kind)

    def expected(self, first: float, last: float) -> Floats:
        """Return expected views between two times in days, before noise and without bursts."""
        return expected_views(self.birth, self.mu, self.sigma, self.amplitude, first, last)

    def expected_on(self, day: int) -> Floats:
        """Return expected views on a day, before noise."""
        views = self.expected(day, day + 1)
        views[self.bursts.row] *= self.bursts.factor(day).astype(np.float32)
        return views


def make_pages(options: DemoOptions, site: Site, views: float) -> PageTable:
    """Return the pages of a site, scaled to `views` expected views in the window, without hubs."""
    rng = generator(options.seed, "pages", site.index)
    hubs = 1 + len(site.sections) + (site.blueprint.hot_list is not None)
    columns = [_hub_rows(site, hubs)]
    shares = np.array([section.share for section in site.sections])
    counts = np.floor(shares * site.pages).astype(np.int64)
    counts[0] += site.pages - counts.sum()
    for index, section in enumerate(site.sections):
        columns.append(_section_rows(options, site, index, section, int(counts[index]), rng))
    section_of, kind, birth, mu, sigma = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    amplitude = amplitudes(kind, birth, mu, sigma, options.days, rng)
    table = PageTable(
        site, hubs, 1 + len(site.sections) if site.blueprint.hot_list else FRONT,
        section_of, kind, birth, mu, sigma, amplitude, draw_bursts(kind, site, rng),
    )  # fmt: skip
    drawn = float(table.expected(site.opens, site.closes).sum(dtype=np.float64))
    amplitude *= np.float32(views / drawn)
    return table


def draw_views(options: DemoOptions, pages: PageTable, day: int) -> NDArray[np.int64]:
    """Views of every page (hubs 0) on a day, by distinct readers: Poisson around the interest."""
    factor = day_factor(options, pages.site, day)
    if factor == 0.0:
        return np.zeros(len(pages), np.int64)
    expected = pages.expected_on(day) * np.float32(factor)
    rng = generator(options.seed, "views", pages.site.index, day)
    # Where less than a view is expected, chance alone hides all other noise.
    seen = np.flatnonzero(expected > 1)
    expected[seen] *= page_noise(rng, len(seen))
    return np.asarray(rng.poisson(expected), np.int64)


_Rows = tuple[NDArray[np.int16], NDArray[np.int8], Floats, Floats, Floats]


def _hub_rows(site: Site, hubs: int) -> _Rows:
    section = np.full(hubs, -1, np.int16)
    section[1 : 1 + len(site.sections)] = np.arange(len(site.sections))
    zeros = np.zeros(hubs, np.float32)
    return section, np.full(hubs, PageKind.HUB, np.int8), zeros + site.opens, zeros, zeros + 1


def _section_rows(
    options: DemoOptions,
    site: Site,
    index: int,
    section: Section,
    count: int,
    rng: np.random.Generator,
) -> _Rows:
    """Draw the pages of a section: kind, birth and curve, by birth."""
    kinds = list(section.mix)
    counts = np.floor(np.array(list(section.mix.values())) * count + rng.random()).astype(np.int64)
    counts[0] = 0
    counts[0] = max(count - int(counts.sum()), 0)
    parts: list[tuple[NDArray[np.int8], Floats, Floats, Floats]] = []
    for kind, number in zip(kinds, counts.tolist(), strict=True):
        birth = draw_births(options, kind, number, site, rng).astype(np.float32)
        mu, sigma = draw_curves(kind, section.speed, number, rng)
        parts.append((np.full(number, kind, np.int8), birth, mu, sigma))
    kind_of, birth, mu, sigma = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(birth, kind="stable")[:count]
    return (
        np.full(len(order), index, np.int16),
        kind_of[order], birth[order], mu[order], sigma[order],
    )  # fmt: skip
