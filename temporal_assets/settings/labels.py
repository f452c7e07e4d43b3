"""Settings of the window and of what is computed for a page: curves and labels."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from temporal_assets.settings.section import Section


class Window(Section):
    """The days that window assets look back (docs/decisions.md)."""

    days: int = Field(60, ge=1)
    """TW 4.1 and NP 3 observe 60 days."""

    min_days: int = Field(7, ge=1)
    """Days of the window that labels, judged lists and the report need: a curve needs more than a
    weekend. With fewer days there is a provisional policy (docs/policy.md)."""

    min_views_per_day: float = Field(1.0, gt=0)
    """Pages with fewer views a day, on average over the days of the window that are there, have no
    history: too few to rely on (TW 4.1 and NP 3: 60 views in 60 days)."""


class Curves(Section):
    """Fits of interest curves (docs/labels.md)."""

    method: Literal["likelihood", "least_squares"] = "likelihood"
    """`least_squares` is the paper's (TW 4.1); `likelihood` labels better
    (docs/labels.md)."""

    weekdays: Literal["keep", "remove"] = "keep"
    """`remove`: views are divided by the weekday factor of their site before they are fitted (TW
    5.1). Better where all pages of a site follow the week alike, no better on the demo corpus."""


class Labels(Section):
    """Conditions of temporal pages (more than q in n days) and of news (concentration > p)."""

    rule: Literal["observed", "curve", "concentration"] = "observed"
    """Rule that decides if a page is temporal, in all lists and the policy. `observed`: the share
    of its views so far in the first `n` days where its life was observed, the curve where it is cut
    or days are missing. `curve`: TW 4.2 for all pages. `concentration`: NP 4.1 for all pages. The
    papers' labels are columns of `page_labels` whatever the rule."""

    n: float = Field(3.0, ge=1, le=30)
    """Days after birth at which accumulated interest is looked at (TW 4.2)."""

    q: float = Field(0.7, gt=0, lt=1)
    """A page is temporal if more of its interest than this accumulates in `n` days (TW 4.2)."""

    m: int = Field(3, ge=1)
    """First days of a life that concentration compares with all of it. NP does not give it; `n` is
    the same idea."""

    p: float = Field(1.91, gt=0)
    """A page is news if its concentration is above this (NP 6.1)."""

    thresholds: Literal["settings", "calibrated"] = "settings"
    """`calibrated`: q, m and p of the day's `calibration`, where it has any; `n` stays, because
    curves are made for it."""


class Calibration(Section):
    """Thresholds chosen from pages that people annotated, TW 4.2 and 5.2 (docs/labels.md)."""

    annotated: Path | None = None
    """CSV of annotated pages (URL, label); relative to the state folder. Unset: none."""

    miss_weight: float = Field(0.0, ge=0)
    """B of performance = hit - B · miss - C · false alarm (TW 5.2; A is 1, because only the ratio
    of the three matters): what a temporal page costs that is not labelled so. The defaults are the
    paper's objective, the number of pages labelled right."""

    false_alarm_weight: float = Field(0.0, ge=0)
    """C: what a page costs that is labelled temporal and is not."""

    by: Literal["none", "site", "section"] = "none"
    """Thresholds of their own for sites, or for sections (top folders and programs): news is read
    at different speeds (TW 5.2)."""

    min_pages: ClassVar[int] = 50
    """Annotated pages, of both kinds, that a site, a section or all of them need for thresholds
    that labels may use. With fewer, a choice says more about the sample than about the site."""
