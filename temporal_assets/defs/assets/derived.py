"""What `page_views` and `transits` share: one SQL file over the requests of a day."""

from __future__ import annotations

import datetime as dt

from temporal_assets import daily
from temporal_assets.defs import metadata
from temporal_assets.defs.days import BlockedDay, Made
from temporal_assets.defs.resources import Installation
from temporal_assets.quality import verdicts


def make_derived(installation: Installation, asset: str, day: dt.date) -> Made:
    """Publish a day of `asset`, unless its requests are known to be wrong."""
    refuse_blocked(installation, day)
    result = daily.build_derived(installation.store, installation.engine, asset, day)
    return Made(result.manifest, metadata.of_derived(result))


def refuse_blocked(installation: Installation, day: dt.date) -> None:
    """Raise where the day's `requests` break an invariant.

    Dagster stops what is downstream of a failed check within one run. This stops later runs too.
    """
    manifest = installation.store.manifest("requests", day)
    if manifest is None:
        return  # reading it will say so
    broken = verdicts.blockers(verdicts.read(installation.settings.state, manifest))
    if broken:
        names = ", ".join(f"{one.check} ({one.message})" for one in broken)
        raise BlockedDay(f"requests of {day} must not be built upon: {names}")
