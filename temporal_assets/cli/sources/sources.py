"""The log sources in `settings.toml`: adding and changing them while keeping comments.

Here: their text. Not here: the file (`settings_file`), what a source means (`settings`), finding
files (`logs`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import AoT, Table

from temporal_assets.cli.sources.settings_file import change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.settings import LogSource, Settings


def add_sources(settings: Settings, sources: Sequence[LogSource]) -> Settings:
    """Store sources in settings.toml; one with the same path is replaced. Return the new settings.

    The first source that lists a file decides how it is read, so a source that names one file goes
    before those that name folders or globs.
    """
    return change(settings, lambda text: _with_sources(text, sources))


def store_sources(settings: Settings, sources: Sequence[LogSource]) -> Settings:
    """Add sources as `add_sources` does, and remove those that they take over."""
    replaced = [source.path for source in _taken_over(settings.sources, sources)]
    return change(
        settings,
        lambda text: _without_sources(_with_sources(text, sources), replaced, settings.state),
    )


def remove_sources(settings: Settings, sources: Sequence[LogSource]) -> Settings:
    """Remove sources from settings.toml; return the new settings."""
    paths = [source.path for source in sources]
    return change(settings, lambda text: _without_sources(text, paths, settings.state))


def with_sources(
    listed_before: Sequence[LogSource], new: Sequence[LogSource]
) -> tuple[LogSource, ...]:
    """Return the sources that the settings would have with `new` stored, in the same order."""
    replaced = _taken_over(listed_before, new)
    listed = [source for source in listed_before if source not in replaced]
    for source in new:
        places = [i for i, listed_source in enumerate(listed) if listed_source.path == source.path]
        if places:
            listed[places[0]] = source
        else:
            listed.insert(0 if Path(source.path).is_file() else len(listed), source)
    return tuple(listed)


def is_within(narrow: LogSource, wide: LogSource) -> bool:
    """Return True if all files of one source also belong to another."""
    from temporal_assets.landing.source_verdicts import covers
    from temporal_assets.logs.read.paths import NoSuchLogError, expand

    if narrow.path == wide.path:
        return False
    try:
        files = {path.absolute() for path in expand(wide.path)}
        return files.issuperset(path.absolute() for path in expand(narrow.path))
    except NoSuchLogError:
        return covers(wide, narrow.path)


def _taken_over(listed: Sequence[LogSource], new: Sequence[LogSource]) -> list[LogSource]:
    """Return the listed sources that a new source covers entirely with the same options."""
    named = {source.path for source in new}
    return [
        source
        for source in listed
        if source.path not in named
        and any(
            is_within(source, wide) and source.model_copy(update={"path": wide.path}) == wide
            for wide in new
        )
    ]


def _without_sources(text: str, paths: Sequence[str], state: Path) -> str:
    """Return the text without the sources of these paths, which may be relative to `state`."""
    from temporal_assets.settings.sources import full_path

    document = tomlkit.parse(text)
    listed = document.get("sources")
    if not paths or listed is None:
        return text
    for place in reversed(range(len(listed))):
        if full_path(listed[place]["path"], state) in paths:
            del listed[place]
    if not len(listed):
        del document["sources"]
    return tomlkit.dumps(document)


def _with_sources(text: str, sources: Sequence[LogSource]) -> str:
    """Return the text of the settings with sources added or replaced."""
    document = tomlkit.parse(text)
    listed = document.get("sources")
    if not isinstance(listed, AoT):
        # Entries of an inline array (`sources = [{...}]`) are rewritten as tables (`[[sources]]`).
        entries = [dict(entry) for entry in listed or ()]
        for note in _comments(listed):
            document.add(tomlkit.comment(note))
        document.pop("sources", None)
        listed = tomlkit.aot()
        for entry in entries:
            listed.append(_table(entry))
        document.append("sources", listed)
    for source in sources:
        _put(listed, source.model_dump(mode="json", exclude_defaults=True))
    return tomlkit.dumps(document)


def _comments(array: Any) -> list[str]:
    """Return the comments within an inline array, which would be lost when tables replace it."""
    text = "" if array is None else array.as_string()
    tokens = re.findall(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|#[^\n]*", text)
    return [note.removeprefix("#").strip() for note in tokens if note.startswith("#")]


def _put(listed: AoT, entry: dict[str, Any]) -> None:
    """Update the table with the entry's path, or add a table: a single file first, others last."""
    for listed_entry in listed:
        if listed_entry["path"] == entry["path"]:
            for key in [key for key in listed_entry if key not in entry]:
                del listed_entry[key]
            for key, value in entry.items():
                if listed_entry.get(key) != value:
                    listed_entry[key] = value
            return
    table = _table(entry)
    if len(listed) and Path(entry["path"]).is_file():
        # tomlkit keeps the blank line before a table as its indent: the new first table takes that
        # of the old one.
        table.trivia.indent, listed[0].trivia.indent = listed[0].trivia.indent, table.trivia.indent
        listed.insert(0, table)
    else:
        listed.append(table)


def _table(entry: dict[str, Any]) -> Table:
    """Return an entry as a TOML table with a blank line before it."""
    table = tomlkit.table()
    table.trivia.indent = "\n"
    for key, value in entry.items():
        table[key] = value
    return table
