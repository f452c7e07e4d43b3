"""The log sources in `settings.toml`: adding and changing them without losing a comment.

Here: the text of the file. Not here: what a source means (`settings`), finding files (`logs`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomlkit
from filelock import FileLock
from tomlkit.items import AoT, Table

from temporal_assets.settings import SETTINGS_FILE, Settings, load_settings
from temporal_assets.storage.durable import replace_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.settings import LogSource

_HEADER: Final = """\
# Settings of this state folder: what differs from the defaults (docs/settings.md).
# `temporal-assets ingest` adds sources and leaves everything else as it is.
"""


def add_sources(settings: Settings, sources: Sequence[LogSource]) -> Settings:
    """Settings with `sources` added, also on disk; one with the same path is replaced.

    The first source that lists a file decides how it is read, so a source that names one file
    goes before those that name folders or globs.
    """
    file = settings.state / SETTINGS_FILE
    locks = settings.state / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / "settings.lock"):
        before = file.read_text("utf-8") if file.exists() else _HEADER
        after = _with_sources(before, sources)
        if after != before:
            replace_text(file, after)
    return load_settings(settings.state)


def _with_sources(text: str, sources: Sequence[LogSource]) -> str:
    document = tomlkit.parse(text)
    listed = document.get("sources")
    if not isinstance(listed, AoT):
        # An inline array cannot be told apart in place: it is written out as tables.
        entries = [dict(entry) for entry in listed or ()]
        document.pop("sources", None)
        listed = tomlkit.aot()
        for entry in entries:
            listed.append(_table(entry))
        document.append("sources", listed)
    for source in sources:
        _put(listed, source.model_dump(mode="json", exclude_defaults=True))
    return tomlkit.dumps(document)


def _put(listed: AoT, entry: dict[str, Any]) -> None:
    for known in listed:
        if known["path"] == entry["path"]:
            for key in [key for key in known if key not in entry]:
                del known[key]
            for key, value in entry.items():
                if known.get(key) != value:
                    known[key] = value
            return
    if Path(entry["path"]).is_file():
        listed.insert(0, _table(entry))
    else:
        listed.append(_table(entry))


def _table(entry: dict[str, Any]) -> Table:
    table = tomlkit.table()
    table.trivia.indent = "\n"  # a blank line before it
    for key, value in entry.items():
        table[key] = value
    return table
