"""Changing `settings.toml` while keeping its comments, with a lock against concurrent changes.

Here: reading, changing and replacing the text, and single values in it. Not here: the sources in it
(`sources`), what a setting means (`settings`).
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import tomlkit
from filelock import FileLock

from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import SETTINGS_FILE, Settings, load_settings
from temporal_assets.settings.template import comments

if TYPE_CHECKING:
    from tomlkit.items import Table

_HEADER: Final = """\
# Settings of this state folder: what differs from the defaults (docs/settings.md).
# `temporal-assets ingest` adds sources and leaves everything else as it is.
"""


def change(settings: Settings, edit: Callable[[str], str]) -> Settings:
    """Replace the text of settings.toml by what `edit` makes of it; return the new settings."""
    name = settings.state / SETTINGS_FILE
    file = name.resolve()  # a link stays one
    settings.make_state()
    locks = settings.state / "locks"
    locks.mkdir(exist_ok=True)
    with FileLock(locks / "settings.lock"):
        exists = file.exists()
        before = file.read_text("utf-8") if exists else f"{_HEADER}#\n{comments()}"
        after = edit(before)
        if after != before:
            # There may be a webhook in it, which is not for all to see.
            mode = stat.S_IMODE(file.stat().st_mode) if exists else None
            with scratch_folder(settings.state / "tmp") as scratch:
                # What a link leads to may be on another disk.
                replace_text(file, after, None if name.is_symlink() else scratch, mode)
    return load_settings(settings.state)


def set_values(settings: Settings, values: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Change values in settings.toml, by section and name; return the new settings."""
    return change(settings, lambda text: _with_values(text, values))


def _with_values(text: str, values: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of the settings with other values, comments kept."""
    document = tomlkit.parse(text)
    for section, changed in values.items():
        if section not in document:
            table: Table = tomlkit.table()
            table.trivia.indent = "\n"  # a blank line before it
            document.append(section, table)
        for name, value in changed.items():
            document[section][name] = value
    return tomlkit.dumps(document)
