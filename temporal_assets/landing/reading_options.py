"""Digest of all settings that change what is read from a log file.

A file is read again when its digest changes. Not here: what the settings mean (`settings`).
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from temporal_assets.logs.clean.cleaning import AHEAD, EARLIEST, METHOD
from temporal_assets.logs.privacy.key_periods import had_one_key
from temporal_assets.logs.privacy.pseudonyms import ipv6_bits_of
from temporal_assets.logs.read.packed import MAX_EXPANSION
from temporal_assets.settings import (
    DEFAULT_SCHEME,
    REJECT_SAMPLES,
    SHOWN_STATUSES,
    LogSource,
    Settings,
)
from temporal_assets.storage.sealed import digest_of

READER_VERSION: Final = 7
"""Version of reading and cleaning: raised when results change, so that files are read again."""


_FIXED: Final = {
    "earliest": EARLIEST.isoformat(),
    "future_hours": AHEAD / dt.timedelta(hours=1),
    "max_expansion": MAX_EXPANSION,
    "sample_lines": REJECT_SAMPLES,
}
"""Constants of reading that affect the result, under the names that they had as settings."""

_FIXED_CLEANING: Final = {"methods": [METHOD.decode()], "statuses": [*SHOWN_STATUSES]}
"""Constants of cleaning that affect the result, under the names that they had as settings."""


def options_digest(source: LogSource, settings: Settings) -> str:
    """Return a digest of everything but the content that changes what is read from a file."""
    return digest_of(
        {
            "reader": READER_VERSION,
            "source": source.model_dump(mode="json", exclude=_apart(source))
            | {"scheme": DEFAULT_SCHEME},
            "reading": settings.reading.model_dump(mode="json", exclude={"max_reject_share"})
            | _FIXED,
            "cleaning": settings.cleaning.model_dump(mode="json") | _FIXED_CLEANING,
            "privacy": _privacy(settings),
            "timezone": settings.orchestration.timezone,
        }
    )


def _apart(source: LogSource) -> set[str]:
    """Return the fields of a source that are not part of the digest.

    The path changes nothing that is read. `dates`, where it is not set, would change the digest of
    sources that were read before there was such a field.
    """
    return {"path"} if source.dates else {"path", "dates"}


def _privacy(settings: Settings) -> dict[str, Any]:
    """Return the privacy settings that are part of the digest.

    Keys that begin to rotate in a folder that had one key do so from a later day on: what was read
    is not read again (`key_periods`).
    """
    options = settings.privacy.model_dump(mode="json", exclude={"min_clients"})
    options["mask_ipv6_bits"] = ipv6_bits_of(settings.privacy.mask_ipv4_bits)
    if had_one_key(settings.state / "secrets"):
        options["rotation_days"] = 0
    return options
