"""Reasons of rejection (`Reject`) as plain integers, which compiled loops handle well."""

from __future__ import annotations

from temporal_assets.logs.read.records import Reject

NONE, NOT_THE_FORMAT, BAD_TIME, BAD_REQUEST, BAD_STATUS, TOO_LONG, NUL_BYTES = (
    int(reason)
    for reason in (
        Reject.NONE,
        Reject.NOT_THE_FORMAT,
        Reject.BAD_TIME,
        Reject.BAD_REQUEST,
        Reject.BAD_STATUS,
        Reject.TOO_LONG,
        Reject.NUL_BYTES,
    )
)
