"""Pages of a site that nobody opens, which a copy of the site has and its logs lack.

What belongs here: which there are. What does not: their HTML and links (`mirror`).

Some are what the site's sections held before the pages that are still opened, with numbers and
dates before theirs. The others are what programs make beside them: versions for printers, lists by
word and by day, profiles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import OLDEST, Bursts
from temporal_assets.demo.world.pages import FRONT, PageTable
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import PageKind, Section, Site, Style, archived, beside

BESIDE: Final = (
    Section("/print.php", Style.PROGRAM, 0.4, {}),
    Section("/tags/", Style.UNICODE, 0.2, {}),
    Section("/calendar/", Style.DATED, 0.2, {}),
    Section("/profile.php", Style.PROGRAM, 0.2, {}),
)
"""Sections that programs make of a site's pages, besides the site's own sections."""

_YOUNGEST: Final = 16
"""Least age in days, at the window's first day, of pages that nobody opens: in a section they are
older than the pages that somebody opens."""


def make_archive(options: DemoOptions, site: Site) -> PageTable:
    """Return pages of a site that nobody opens, without hubs, in its own and further sections."""
    rng = generator(options.seed, "archive", site.index)
    larger = replace(site, sections=(*site.sections, *BESIDE))
    counts = [archived(site, section) for section in site.sections]
    counts += [round(beside(site) * section.share) for section in BESIDE]
    section = np.repeat(np.arange(len(counts), dtype=np.int16), counts)
    drawn = rng.uniform(-OLDEST, -_YOUNGEST, len(section)).astype(np.float32)
    birth = drawn[np.lexsort((drawn, section))]
    nothing = np.zeros(len(section), np.float32)
    ones = np.ones(len(section), np.float32)
    nowhere = np.zeros(0, np.int64)
    return PageTable(
        larger, 0, FRONT, section, np.full(len(section), PageKind.EVERGREEN, np.int8), birth,
        nothing, ones, nothing, Bursts(nowhere, nowhere, nothing[:0]),
    )  # fmt: skip
