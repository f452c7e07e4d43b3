"""`behaviour_graph`: transits between the patterns of a site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS


def _make(job: Job) -> Sequence[Path]:
    inputs = {"url_patterns": job.files("url_patterns")}
    return job.engine.query("behaviour_graph", inputs, {}, job.asset.table, job.out)


BEHAVIOUR_GRAPH: Final = WindowAsset(
    "behaviour_graph", _make, tables=(URL_PATTERNS,), sql=("behaviour_graph",)
)
