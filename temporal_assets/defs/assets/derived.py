"""The asset shared by `page_views` and `transits`: one SQL file over the requests of a day."""

from __future__ import annotations

import datetime as dt

from temporal_assets.days import daily
from temporal_assets.defs.days import refuse_blocked
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.made import Made
from temporal_assets.defs.metadata import metadata
from temporal_assets.engines.statements import Steps


def make_derived(installation: Installation, asset: str, day: dt.date) -> Steps[Made]:
    """Publish a day of `asset`, unless its requests are known to be wrong."""
    refuse_blocked(installation, "requests", [day])
    result = yield from daily.derived_steps(installation.store, asset, day)
    return Made(result.manifest, metadata.of_derived(result))
