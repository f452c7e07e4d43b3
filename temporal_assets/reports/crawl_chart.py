"""Curves of crawl orders: share of traffic against share of pages (BB Figures 7 to 10)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Final

import numpy as np

from temporal_assets.core.crawls.crawl_curves import CrawlCurve

TITLES: Final = {
    "fetch": "Comprehensive fetch: traffic downloaded",
    "discovery": "Timely discovery: traffic seen",
}
_STYLES: Final = {
    "oracle": ("#999999", ":"),
    "combined": ("#b2182b", "-"),
    "behaviour_graph": ("#d6604d", "-"),
    "average_visit": ("#f4a582", "--"),
    "average_referral": ("#f4a582", "--"),
    "overall_visit": ("#8073ac", "--"),
    "overall_referral": ("#8073ac", "--"),
    "volume": ("#b2abd2", "-."),
    "page_counts": ("#8c510a", "-"),
    "page_rank": ("#2166ac", "-"),
    "opic": ("#35978f", "--"),
    "breadth_first": ("#1b7837", "-"),
    "random": ("#777777", "-."),
}
"""Ours warm, theirs cold, bounds grey; every curve also has a line of its own in the legend."""


def as_png(curves: Mapping[str, Mapping[str, CrawlCurve]], title: str, dpi: int = 100) -> bytes:
    """One panel a scenario."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=10, parse_math=False)
    for axes, (scenario, policies) in zip(
        np.atleast_1d(figure.subplots(1, len(curves))), curves.items(), strict=True
    ):
        for name, curve in policies.items():
            colour, line = _STYLES[name]
            scale = np.linspace(0.0, 100.0, len(curve.share))
            label = name.replace("_", " ")
            axes.plot(scale, 100.0 * curve.share, line, color=colour, label=label, linewidth=1.6)
        axes.axhline(80, color="#cccccc", linewidth=0.8, zorder=0)
        axes.set(xlim=(0, 100), ylim=(0, 101), xlabel="pages fetched (%)", ylabel="traffic (%)")
        axes.set_title(TITLES[scenario], fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8, loc="lower right", frameon=False)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
