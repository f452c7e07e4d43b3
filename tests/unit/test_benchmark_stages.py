"""The benchmark of the papers' size makes all that a policy is made of."""

from __future__ import annotations

from benchmarks.paper_scale import WINDOWS
from temporal_assets.windows.registry import WINDOW_NAMES


def test_every_window_asset_up_to_the_policy_is_a_stage() -> None:
    assert WINDOW_NAMES[: WINDOW_NAMES.index("crawl_policy") + 1] == WINDOWS
