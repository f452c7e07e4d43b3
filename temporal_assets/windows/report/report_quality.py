"""The quality of URL patterns, as the evaluation report shows it.

Here: which days and sites are judged, and what is missing. Not here: the measures
(`pattern_quality`), their text (`reports.sections.patterns`), the report's other rows
(`report_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.crawl.mirror.mirror import Mirror, mirror_folder, stored_folder
from temporal_assets.crawl.mirror.page_html import html_of
from temporal_assets.reports.document import Missing
from temporal_assets.reports.sections.patterns import Method, Quality
from temporal_assets.windows.crawls.crawl_simulation import fitting, no_site_fits
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.patterns.pattern_quality import MethodQuality, assess

_HTML_PAGES: Final = 2_000
"""Most pages whose layout is compared, a hundred of each site; half a gigabyte at worst."""

_READ_MORE: Final = "read more days"
"""What to do where days or traffic do not suffice."""

_PERIODS: Final = 4
"""Equal parts of the window: patterns are learned on the first and judged on the others."""


def quality_of_patterns(
    job: Job, mirror: Mirror | None, sites: Sequence[Mapping[str, Any]], most: int
) -> Quality | Missing:
    """Return the quality of URL patterns, or what is missing.

    The patterns of at most `most` sites are learned on the first quarter of the window, and judged
    on the rest and on a mirror.
    """
    days = sorted(set(job.present("page_views")) & set(job.present("transits")))
    learned = [(row["site"], row["pages"]) for row in sites if row["status"] == "learned"]
    chosen = fitting(learned[:most])
    if len(days) < _PERIODS:
        return Missing(f"{_PERIODS} days are needed, and {len(days)} are there", _READ_MORE)
    if not learned:
        return Missing("no site was learned", f"{_READ_MORE} or more traffic")
    if not chosen:
        return no_site_fits()
    folder = mirror_folder(job.settings)
    copied = None if mirror is None else _mirrored(mirror, folder, chosen)
    assessed = assess(job.store, job.engine, job.settings, days, _PERIODS, copied, chosen)
    if not assessed.sites:
        why = "patterns cannot be learned on one part of the days and judged on others"
        return Missing(why, _READ_MORE)
    methods = {name: _method(measured) for name, measured in assessed.methods.items()}
    return Quality(assessed.learned, assessed.periods, assessed.sites, methods)


def mirrored_pages(mirror: Mirror | None) -> dict[str, int]:
    """Return the number of mirrored pages of each site."""
    if mirror is None:
        return {}
    return dict(zip(mirror.sites, np.diff(mirror.first).tolist(), strict=True))


def _mirrored(mirror: Mirror, folder: Path, sites: list[str]) -> pa.Table:
    """Return the mirrored pages of some sites, with the HTML of some where the mirror keeps any."""
    parts = [
        mirror.urls[int(mirror.first[k]) : int(mirror.first[k + 1])].cast(pa.string())
        for k, site in enumerate(mirror.sites)
        if site in sites
    ]
    urls = pa.chunked_array(parts, pa.string())
    kept = html_of(stored_folder(folder), urls, _HTML_PAGES)
    if not len(kept):
        return pa.table({"url": urls})
    place = pc.index_in(urls, value_set=kept.column("url"))
    return pa.table({"url": urls, "html": kept.column("html").take(place)})


def _mean_of_some(mean: float) -> float | None:
    """Return a mean, or None for NaN, the mean of no pairs."""
    return None if np.isnan(mean) else mean


def _method(method_quality: MethodQuality) -> Method:
    """Return a method's measures as the report shows them."""
    layout = method_quality.layout
    return Method(
        method_quality.divergence,
        method_quality.mirror.by_urls,
        None if layout is None else _mean_of_some(layout.within),
        None if layout is None else _mean_of_some(layout.random),
        tuple(share.by_urls for share in method_quality.later),
        tuple(share.by_visits for share in method_quality.later),
    )
