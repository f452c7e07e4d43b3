"""`site_changes`: sites that entered the ranked list, left it or moved since the list before."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets import contracts
from temporal_assets.engines.batches import write_empty
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.lists.site_scores import SITE_SCORES

_EARLIER: Final = "site_scores/day="
"""Prefix of the input in the manifest that names the earlier list."""


def _make(job: Job) -> Sequence[Path]:
    """Compare the list of sites with the one before it; without one, all are new."""
    earlier = job.earlier("site_scores")
    parameters = {
        "day": job.day,
        "earlier_day": earlier.day if earlier else job.day - dt.timedelta(days=1),
        "has_earlier": earlier is not None,
        "observed_from": job.present("page_views")[0],
        "min_clients": job.settings.privacy.min_clients,
    }
    files = job.store.paths(earlier) if earlier else [str(_empty(job.out))]
    inputs = {"now": job.files("site_scores"), "earlier": files}
    return job.engine.query("site_changes", inputs, parameters, job.asset.table, job.out)


def compared_day(manifest: Manifest) -> dt.date | None:
    """Return the day of the list that a day was compared with, or None without one."""
    names = (
        manifest_input.name
        for manifest_input in manifest.inputs
        if manifest_input.name.startswith(_EARLIER)
    )
    return next((dt.date.fromisoformat(name.removeprefix(_EARLIER)) for name in names), None)


def _empty(folder: Path) -> Path:
    return write_empty(contracts.SITE_SCORES.arrow_schema, folder / "no_earlier_list.parquet")


SITE_CHANGES: Final = WindowAsset(
    "site_changes",
    _make,
    days=("page_views",),
    tables=(SITE_SCORES,),
    earlier=(SITE_SCORES,),
    sql=("site_changes",),
    settings=lambda settings: [settings.window.days, settings.privacy.min_clients],
)
