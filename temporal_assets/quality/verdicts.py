"""Verdicts: the last result of each check on each partition, as files of the state folder.

    verdicts/<asset>/<day>.json     in the state folder

Dagster keeps one result per check and run, and a run may hold thirty days. Whether one day may be
built upon, and what `status` shows of it, is kept here. A verdict holds for the content that was
judged and no other: a partition published since has none. It is void, too, if its check has changed
or is gone: the partition is judged again before anything is built upon it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from temporal_assets import contracts
from temporal_assets.contracts import Drift, Rule, Severity
from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.quality.evaluate import Finding, Status
from temporal_assets.quality.wording import compared
from temporal_assets.reports.text import shown
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.sealed import digest_of, is_as_written, sealed, unsealed

_REMEMBERED: Final = 1 << 11
"""Number of files kept parsed in memory, each of a few kB: every step reads those of its days."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The recorded result of one check, of one day where the asset has days."""

    asset: str
    check: str
    day: dt.date | None
    passed: bool
    blocking: bool
    """True if nothing may be built on the data while the check fails."""
    message: str
    """The fault and its remedy, or why nothing could be judged; empty if all is well."""
    value: float | None = None
    """The number judged, for a drift."""
    measured: tuple[tuple[str, float | None], ...] = ()
    """Numbers that it was computed from, by name, for comparison on later days."""


def judgement(asset: str, day: dt.date, check: Rule | Drift, finding: Finding) -> Judgement:
    """Convert a finding to a judgement."""
    return Judgement(
        asset=asset,
        check=check.name,
        day=day,
        passed=finding.passed,
        blocking=is_blocking(check),
        message=_message(check, finding),
        value=finding.expected.value if finding.expected.measured else None,
        measured=finding.expected.measured,
    )


def is_blocking(check: Rule | Drift) -> bool:
    """Return True if a check states an invariant."""
    return isinstance(check, Rule) and check.severity is Severity.ERROR


def record(
    state: Path,
    manifest: Manifest,
    judgements: Sequence[Judgement],
    scratch: Path | None = None,
) -> None:
    """Write judgements of a partition; checks that were not repeated keep theirs.

    For many partitions, pass a `scratch` folder of the state. The files are not flushed to the disk
    then: a day whose verdict a crash of the machine has damaged is judged again.
    """
    path = _path(state, manifest.asset, manifest.day)
    by_check = {judgement.check: judgement for judgement in read(state, manifest)}
    by_check |= {judgement.check: judgement for judgement in judgements}
    rules = _rules(manifest.asset)
    checks = [
        {**_fields(judgement), "rule": rules.get(judgement.check)}
        for judgement in by_check.values()
    ]
    text = sealed({"digest": manifest.digest, "checks": checks})
    path.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext(scratch) if scratch else scratch_folder(state / "tmp") as folder:
        replace_text(path, text, folder, is_flushed=scratch is None)


def read(state: Path, manifest: Manifest) -> tuple[Judgement, ...]:
    """Return the judgements of exactly this content; none if it has not been judged."""
    try:
        fields = _parsed(_path(state, manifest.asset, manifest.day).read_text("utf-8"))
        if fields["digest"] != manifest.digest:
            return ()
        rules = _rules(manifest.asset)
        return tuple(
            Judgement(asset=manifest.asset, day=manifest.day, **_as_kept(row))
            for row in fields["checks"]
            if _is_asked(row, rules)
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return ()  # one that cannot be read is no verdict


@lru_cache(_REMEMBERED)
def _parsed(text: str) -> Mapping[str, Any]:
    """Return the fields of a file of judgements. Raises `ValueError` if it is damaged."""
    return unsealed(text)


def missing(state: Path, manifest: Manifest) -> frozenset[str]:
    """Return the names of the checks that have no judgement of exactly this content."""
    judged = {judgement.check for judgement in read(state, manifest)}
    return frozenset(_rules(manifest.asset).keys() - judged)


def damaged(state: Path) -> list[Path]:
    """Return files of judgements whose digest does not match."""
    files = sorted((state / "verdicts").glob("*/*.json"))
    return [file for file in files if not is_as_written(file.read_bytes())]


def forget(state: Path, asset: str, day: dt.date) -> None:
    """Remove the judgements of a removed day."""
    _path(state, asset, day).unlink(missing_ok=True)


def blockers(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return the broken invariants; while there are any, nothing may be built on the data."""
    return [judgement for judgement in judgements if judgement.blocking and not judgement.passed]


def is_accepted(checks: Iterable[Rule | Drift], judgements: Iterable[Judgement]) -> bool:
    """Return True if every invariant among `checks` was judged and holds."""
    held = {judgement.check for judgement in judgements if judgement.passed}
    return all(check.name in held for check in checks if is_blocking(check))


def _rules(asset: str) -> dict[str, str]:
    """Return digests of the definitions of an asset's checks, by name."""
    return {check.name: _question(check) for check in contracts.table(asset).checks}


@cache
def _question(check: Rule | Drift) -> str:
    return digest_of(repr(replace(check, protects="", remedy="")))  # whatever is said about it


def _is_asked(fields: Mapping[str, Any], rules: Mapping[str, str]) -> bool:
    """Return True if a judgement is of its check's present definition."""
    if "rule" not in fields:  # of a release that did not keep it
        return bool(fields["passed"])
    return bool(fields["rule"] == rules.get(fields["check"]))


def _fields(judgement: Judgement) -> Mapping[str, Any]:
    """Return the fields of a judgement in the file, whose name has the asset and the day."""
    names = ("check", "passed", "blocking", "message")
    measured = ("value", "measured") if judgement.measured else ()
    return {name: getattr(judgement, name) for name in (*names, *measured)}


def _as_kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    measured = tuple((str(name), number) for name, number in fields.get("measured", ()))
    kept = {name: value for name, value in fields.items() if name != "rule"}
    return {**kept, "measured": measured}


def _message(check: Rule | Drift, finding: Finding) -> str:
    """Return the result of a check in a sentence, empty if it holds."""
    if finding.status is Status.HELD:
        return ""
    if finding.status is Status.NOT_JUDGED:
        return finding.note
    if finding.status is Status.FAILED:
        return (
            f"the check could not be done, which says nothing about the data: {shown(finding.note)}"
        )
    expected = finding.expected
    comparison = compared(expected.value, expected.minimum, expected.maximum)
    return f"{comparison}. {check.protects} {check.remedy}"


def _path(state: Path, asset: str, day: dt.date) -> Path:
    return state / "verdicts" / asset / f"{day}.json"
