"""Paths of fields in JSON lines: those that users name, and usual names of keys.

In: the columns of a source's settings, and the keys that lines have. Out: the paths to try for each
field, the most likely first. Not here: finding paths in lines (`json_scan`, `structured`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from temporal_assets.logs.fields.layouts import COLUMN_NAMES, COUNTS, Slot
from temporal_assets.logs.formats.columns import (
    check,
    lacking,
    mapped,
    renamed_columns,
    with_first_parts,
)
from temporal_assets.logs.formats.format import Format
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.structured import Path, dotted
from temporal_assets.settings import LogSource

_REQUESTED: Final = frozenset({Slot.REQUEST, Slot.TARGET})
"""Fields that say what was asked for."""


def with_known_keys(fmt: Format, source: LogSource, keys: Collection[str]) -> Format:
    """Return a JSON format extended by the usual names of fields among the given keys.

    Such keys are used for fields that have no other path, from the user or the format.
    """
    paths = json_paths(source) if fmt.paths is None else fmt.paths
    covered = {slot for slot, options in paths.items() if any(path[0] in keys for path in options)}
    if covered & _REQUESTED:
        covered |= _REQUESTED  # a target beside a whole request would be another one
    more = {
        COLUMN_NAMES[field]: name
        for field, name in mapped(source.columns, keys).items()
        if field not in source.columns and COLUMN_NAMES[field] not in covered
    }
    if not more:
        return fmt
    more_paths = {slot: (*paths.get(slot, ()), (name,)) for slot, name in more.items()}
    chosen_text = renamed_columns({slot.name.lower(): name for slot, name in more.items()})
    return replace(fmt, paths={**paths, **more_paths}, by=chosen_text)


def json_paths(source: LogSource) -> Mapping[Slot, tuple[Path, ...]]:
    """Return the paths of generic JSON lines: the user's, and usual keys for what they lack."""
    check(source.columns)
    columns = with_first_parts(source.columns)
    chosen = {COLUMN_NAMES[field]: (dotted(name),) for field, name in columns.items()}
    if not lacking(chosen):
        return chosen
    paths = dict(FORMATS["nginx_json"].paths or {})
    for name, slot in reversed(COLUMN_NAMES.items()):
        if slot in COUNTS or slot is Slot.EVENT:
            continue  # beside a client counts say nothing of requests; events may be any
        paths[slot] = ((name,), *paths.get(slot, ()))
    return {**paths, **chosen}
