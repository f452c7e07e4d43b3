"""The asset `released_policy`: releases a policy to crawlers after its blocking checks passed.

A Dagster shell, and the sensor that requests it. Not here: the release itself
(`windows.policy.released_policy`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.days import as_steps, make_days, refuse_blocked
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.logs_and_releases import of_releases
from temporal_assets.defs.metadata.metadata import plotted
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.defs.publications import Publication, Publications
from temporal_assets.defs.runs import tags
from temporal_assets.defs.stages import documentation, group_of
from temporal_assets.policy.document import FILE
from temporal_assets.settings import Settings
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY, files_of
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY, release_policy
from temporal_assets.windows.registry import WINDOW_ASSETS

RELEASE_WHEN_CHECKED: Final = (
    dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed()
).with_label("release_when_checked")
"""Condition to release a policy: it is new, and its blocking checks have passed.

Scheduled runs release their own policy; the condition is for policies that somebody builds alone.
"""

SENSOR: Final = "release"
"""Name of the sensor that evaluates the condition."""


def release_sensor() -> dg.AutomationConditionSensorDefinition:
    """Return the sensor that releases policies that fulfil `RELEASE_WHEN_CHECKED`.

    It runs by default: a policy that passed its checks need not wait for a person.
    """
    return dg.AutomationConditionSensorDefinition(
        SENSOR,
        target=dg.AssetSelection.assets(RELEASED_POLICY),
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Releases a policy that somebody has made alone, once its checks have passed.",
    )


def released_policy_asset(
    settings: Settings, days: dg.PartitionsDefinition[str]
) -> dg.AssetsDefinition:
    """Return the asset `released_policy`, partitioned by `days`: the last day of each window."""
    spec = dg.AssetSpec(
        RELEASED_POLICY,
        deps=[CRAWL_POLICY.name],
        description=(
            "The release of the policy: `policy/latest` of the state folder names it from now on,"
            " and crawlers load it. Only a policy that has passed its blocking checks is released,"
            " and never one of an earlier day than the one that crawlers have."
        ),
        group_name=group_of(RELEASED_POLICY),
        owners=[settings.orchestration.owner],
        kinds={"file"},
        tags={"grain": "window"},
        metadata={"documentation": documentation(RELEASED_POLICY, settings)},
        automation_condition=RELEASE_WHEN_CHECKED,
    )

    @dg.multi_asset(
        name=RELEASED_POLICY,
        specs=[spec],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
        # Before the evaluations: crawlers need not wait for these.
        op_tags={tags.PRIORITY: str(-WINDOW_ASSETS.index(CRAWL_POLICY))},
    )
    def released_policy(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        with_plots = plotted(context.partition_keys)

        def make(installation: Installation, day: dt.date) -> Publications:
            return {RELEASED_POLICY: _released(installation, day, day in with_plots)}

        yield from make_days(context, installation, [RELEASED_POLICY], as_steps(make))

    return released_policy


def _released(installation: Installation, day: dt.date, plots: bool) -> Publication:
    """Release the policy of a day and return it with its metadata.

    With `plots`, the metadata includes the history of releases. Raises BlockedDay if a blocking
    check of the policy failed.
    """
    store, settings = installation.store, installation.settings
    manifest = store.require(CRAWL_POLICY.name, day)
    refuse_blocked(installation, CRAWL_POLICY.name, [day])
    is_latest = release_policy(store, settings, manifest)
    metadata: dict[str, Any] = {
        "crawlers_have": "this policy" if is_latest else "that of a later day",
        "entries": manifest.rows,
        "content": manifest.digest,
    }
    if folder := files_of(store, settings, manifest):
        metadata["folder"] = dg.MetadataValue.path(str(folder))
        metadata["policy_bytes"] = (folder / FILE).stat().st_size
    return Publication(manifest, metadata | (of_releases(installation, day) if plots else {}))
