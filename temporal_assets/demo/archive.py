"""Pages of a site that nobody opens, which a copy of the site has and its logs lack.

Here: the number, sections and birth of these pages. Not here: their HTML and links (`mirror`).

There are two kinds: older pages of the site's own sections, with lower numbers and earlier dates
than the pages that users still open; and pages that programs generate from others, such as versions
for printers, lists by word and by day, and profiles.
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

GENERATED: Final = (
    Section("/print.php", Style.PROGRAM, 0.4, {}),
    Section("/tags/", Style.UNICODE, 0.2, {}),
    Section("/calendar/", Style.DATED, 0.2, {}),
    Section("/profile.php", Style.PROGRAM, 0.2, {}),
)
"""Sections of pages that programs generate, in addition to the site's own sections."""

_YOUNGEST: Final = 16
"""Least age in days, at the window's first day, of pages that nobody opens: in a section they are
older than the pages that somebody opens."""


def make_archive(options: DemoOptions, site: Site) -> PageTable:
    """Return the pages of a site that nobody opens, sorted by section and birth.

    The table has no hubs and no views; its site has the generated sections after its own.
    """
    rng = generator(options.seed, "archive", site.index)
    site_with_generated = replace(site, sections=(*site.sections, *GENERATED))
    counts = [archived(site, section) for section in site.sections]
    counts += [round(beside(site) * section.share) for section in GENERATED]
    section = np.repeat(np.arange(len(counts), dtype=np.int16), counts)
    births = rng.uniform(-OLDEST, -_YOUNGEST, len(section)).astype(np.float32)
    birth = births[np.lexsort((births, section))]
    zeros = np.zeros(len(section), np.float32)
    no_rows = np.zeros(0, np.int64)
    return PageTable(
        site=site_with_generated,
        hubs=0,
        hot_list=FRONT,
        section=section,
        kind=np.full(len(section), PageKind.EVERGREEN, np.int8),
        birth=birth,
        mu=zeros,
        sigma=np.ones(len(section), np.float32),
        amplitude=zeros,
        bursts=Bursts(no_rows, no_rows, zeros[:0]),
    )
