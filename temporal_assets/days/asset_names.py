"""Names of the daily assets, in the order in which they are computed."""

from __future__ import annotations

from typing import Final

DERIVED: Final = ("page_views", "transits")
"""Daily assets built from `requests` alone."""

DAILY_ASSETS: Final = ("requests", "rejects", *DERIVED)
"""All daily assets, in the order in which they are computed."""

COUNTED: Final = "counted_sites"
"""Key of a partition's facts: the sites with known views and unknown visitors."""
