"""The job `what_if`: other thresholds from the launchpad, and what they would change.

No asset is made: the job publishes into a state folder of its own (`what_if`), so no partition
of the UI is overwritten or marked.
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from typing import Any, Final

import dagster as dg
from pydantic import Field

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import MAX_ROWS, grid
from temporal_assets.ops.what_if import Trial, what_if

EXAMPLE: Final = {"labels.q": "0.8"}


class Wish(dg.Config):
    """Configuration of the job in the launchpad."""

    settings: dict[str, str] = Field(
        default=EXAMPLE,
        description="Settings by their dotted names, with other values (docs/settings.md).",
    )
    day: str = Field(default="", description="Last day of the window; the latest when empty.")


def what_if_job() -> dg.JobDefinition:
    """Return the job, which only people start."""

    @dg.op(
        name="make_trial",
        description="Makes a window under other settings beside the published one.",
        out=dg.Out(dg.Nothing),
    )
    def make_trial(
        context: dg.OpExecutionContext, config: Wish, installation: dg.ResourceParam[Installation]
    ) -> None:
        trial = what_if(
            installation.settings,
            config.settings,
            dt.date.fromisoformat(config.day) if config.day else None,
            lambda asset, done, total: context.log.info(f"{asset} is made ({done} of {total})"),
        )
        context.add_output_metadata(_metadata(trial))

    @dg.job(
        name="what_if",
        description=(
            "What would other thresholds change? Name them in the launchpad. The result is in the"
            " metadata of the run's output; nothing that is published changes."
        ),
    )
    def job() -> None:
        make_trial()

    return job


def _metadata(trial: Trial) -> dict[str, Any]:
    """Return the differences of a trial as metadata of the run."""
    rows = [
        {
            "asset": difference.asset,
            "rows_now": difference.before,
            "rows_then": difference.after,
            "added": difference.added,
            "removed": difference.removed,
            "changed": difference.changed,
        }
        for difference in trial.differences
    ]
    entries = [
        {
            "kind": difference.kind,
            "change": difference.change,
            "site": difference.site,
            "name": difference.name,
        }
        for difference in trial.policy[:MAX_ROWS]
    ]
    return {
        "day": trial.day.isoformat(),
        "state_folder_of_the_trial": dg.MetadataValue.path(str(trial.settings.state)),
        "assets": grid(
            rows,
            {"asset": "string"}
            | dict.fromkeys(("rows_now", "rows_then", "added", "removed", "changed"), "int"),
        ),
        **({"warning": warning} if (warning := trial.warning()) else {}),
        "policy_changes": len(trial.policy),
        "policy": grid(entries, dict.fromkeys(("kind", "change", "site", "name"), "string")),
    }
