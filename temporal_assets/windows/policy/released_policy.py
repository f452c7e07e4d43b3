"""The release of a policy: the link `policy/latest` is moved to it, and crawlers load it.

The release makes no table and is not in `registry`. Here: which policy may be released, and
releasing it. Not here: the policy (`crawl_policy`), its files (`policy.bundle`), the asset that
releases it after the checks (`defs.assets.released_policy`).
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from temporal_assets.policy.bundle import is_newer, latest_of, release
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import is_fresh
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY, FOLDER, files_of

RELEASED_POLICY: Final = "released_policy"
"""Name of the asset."""


def release_policy(store: Store, settings: Settings, manifest: Manifest) -> bool:
    """Release the policy of a partition of `crawl_policy` that has passed its checks.

    Returns True if `latest` names it now; False if the partition names no policy files, or a later
    day's policy is released already. Raises `PolicyError` if the files are gone.
    """
    folder = files_of(store, settings, manifest)
    return folder is not None and release(folder.parent, folder.name)


def is_released(store: Store, settings: Settings, manifest: Manifest) -> bool:
    """Return True if the policy of a partition of `crawl_policy` is the released one."""
    folder = files_of(store, settings, manifest)
    latest = latest_of(settings.state / FOLDER)
    return folder is not None and latest is not None and latest.name == folder.name


def unreleased(store: Store, settings: Settings) -> dt.date | None:
    """Return the latest day whose policy may be released but is not, or None.

    A policy that breaks an invariant is passed over. One that was not checked yet may be released,
    if its checks can still run: the caller runs them first.
    """
    for day in reversed(store.days(CRAWL_POLICY.name)):
        manifest = store.intact(CRAWL_POLICY.name, day)
        if manifest is None:
            continue
        judged = verdicts.read(settings.state, manifest)
        is_accepted = verdicts.is_accepted(CRAWL_POLICY.table.checks, judged)
        may_be_released = not verdicts.blockers(judged) and (
            is_accepted or is_fresh(store, settings, CRAWL_POLICY, day)
        )
        if not may_be_released:
            continue
        folder = files_of(store, settings, manifest)
        is_waiting = folder is not None and is_newer(folder)
        return day if is_waiting and CRAWL_POLICY.is_whole(store, settings, manifest) else None
    return None
