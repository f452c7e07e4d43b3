"""How many views the pages must draw for the log to have as many lines as were asked for.

What belongs here: that one estimate. What does not: drawing views (`pages`) or requests
(`visits`, `noise`), whose shares it adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from temporal_assets.demo.noise import LINES_PER_REQUEST
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.pages import PageTable, make_pages
from temporal_assets.demo.sites import Site
from temporal_assets.demo.visits import requests_per_view, share_by_hub

_SAMPLE: Final = 200_000
"""Pages looked at. Only the share of readers who come by hubs depends on the pages."""


def views_of_corpus(options: DemoOptions, sites: Sequence[Site]) -> float:
    """Expected views of all pages (hubs not counted) in the window."""
    sample = max(_SAMPLE // len(sites), 1)
    lines = 0.0
    for site in sites:
        by_hub = _share_by_hub(options, make_pages(options, site, 1.0), sample)
        lines += site.traffic * requests_per_view(site, by_hub) * LINES_PER_REQUEST
    return options.requests / lines


def _share_by_hub(options: DemoOptions, pages: PageTable, sample: int) -> float:
    """Share of all views of a site that come by hubs."""
    rows = slice(pages.hubs, None, -(-len(pages) // sample))
    part = PageTable(
        pages.site,
        pages.hubs,
        pages.hot_list,
        *(
            getattr(pages, name)[rows]
            for name in ("section", "kind", "birth", "mu", "sigma", "amplitude")
        ),
    )
    views = by_hub = 0.0
    for day in range(pages.site.opens, min(pages.site.closes, options.days)):
        expected = part.expected(day, day + 1)
        age = np.maximum(day + 0.5 - part.birth, 0)
        views += float(expected.sum())
        by_hub += float((expected * share_by_hub(part.kind, age)).sum())
    return by_hub / views if views else 0.0
