"""Estimate of the views that pages must draw for the log to have a number of lines.

What belongs here: that one estimate. What does not: drawing views (`pages`) or requests (`visits`,
`noise`), whose shares it adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from temporal_assets.demo.noise import LINES_PER_REQUEST
from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.interest import expected_views
from temporal_assets.demo.world.pages import PageTable, make_pages
from temporal_assets.demo.world.sites import Site
from temporal_assets.demo.world.visits import requests_per_view, share_by_hub

_STEPS: Final = 8
"""Number of parts of a day: the hubs' share of a page's readers falls within hours."""

_SAMPLE: Final = 200_000
"""Number of pages looked at. Only the share of readers who come by hubs depends on the pages."""


def views_of_corpus(options: DemoOptions, sites: Sequence[Site]) -> float:
    """Return expected views of all pages (hubs not counted) in the window."""
    sample = max(_SAMPLE // len(sites), 1)
    lines = 0.0
    for site in sites:
        by_hub = _share_by_hub(options, make_pages(options, site, 1.0), sample)
        lines += site.traffic * requests_per_view(site, by_hub) * LINES_PER_REQUEST
    return options.requests / lines


def _share_by_hub(options: DemoOptions, pages: PageTable, sample: int) -> float:
    """Return the share of all views of a site that come by hubs."""
    rows = slice(pages.hubs, None, -(-len(pages) // sample))
    birth, mu, sigma, amplitude = (
        column[rows] for column in (pages.birth, pages.mu, pages.sigma, pages.amplitude)
    )
    kind = pages.kind[rows]
    views = by_hub = 0.0
    last = min(pages.site.closes, options.days)
    for start in np.arange(pages.site.opens, last, 1 / _STEPS):
        middle = start + 0.5 / _STEPS
        expected = expected_views(birth, mu, sigma, amplitude, start, start + 1 / _STEPS)
        age = np.maximum(middle - birth, 0)
        views += float(expected.sum())
        by_hub += float((expected * share_by_hub(pages.site, kind, age)).sum())
    return by_hub / views if views else 0.0
