"""Showing what the checks of the contracts found. Not here: checking (`quality`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import ranges

if TYPE_CHECKING:
    import datetime as dt

    from temporal_assets.quality.verdicts import Judgement

_FAILED_SHOWN: Final = 20
"""Most rows that are printed; `--json` lists all."""


def check_report(judgement: Judgement) -> dict[str, Any]:
    """Return one check of one day, for JSON."""
    return {
        "asset": judgement.asset,
        "check": judgement.check,
        "day": judgement.day,
        "passed": judgement.passed,
        "blocking": judgement.blocking,
        "message": judgement.message,
    }


def show_checks(judgements: Sequence[Judgement]) -> None:
    """Show how many checks passed, and those that did not: broken invariants first."""
    if not judgements:
        return
    failed = [judgement for judgement in judgements if not judgement.passed]
    console.say(f"{len(judgements) - len(failed):,} of {len(judgements):,} checks passed")
    if not failed:
        return
    rows = _rows(failed)
    console.show_table(
        "Checks that did not pass",
        ("asset", "check", "kind", "days", "message"),
        rows[:_FAILED_SHOWN],
    )
    if len(rows) > _FAILED_SHOWN:
        console.say(f"and {len(rows) - _FAILED_SHOWN} more checks; --json lists all")


def _rows(failed: Sequence[Judgement]) -> list[tuple[str, str, str, str, str]]:
    """Return one row per check, with all its days and what it said of the last of them."""
    days: dict[tuple[bool, str, str], list[dt.date]] = {}
    messages: dict[tuple[bool, str, str], str] = {}
    for judgement in failed:
        key = (not judgement.blocking, judgement.asset, judgement.check)
        days.setdefault(key, []).extend([judgement.day] if judgement.day else [])
        messages[key] = judgement.message
    return [
        (
            asset,
            check,
            "warning" if warning else "BROKEN",
            ranges(sorted(days[warning, asset, check]), limit=3),
            messages[warning, asset, check],
        )
        for warning, asset, check in sorted(days)
    ]
