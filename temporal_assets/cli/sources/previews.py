"""Showing what was understood of logs before they are read, and asking where it is doubtful.

Here: tables and the question. Not here: what is understood (`landing.preview`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.landing.preview import Preview
    from temporal_assets.landing.preview_lines import PreviewLine

_SHOWN: Final = 5
"""Most sources whose lines are shown: with more, most are alike."""

_TEXT: Final = 60
"""Characters of a text in a preview."""


def preview_report(preview: Preview) -> dict[str, Any]:
    """Return a preview, for JSON."""
    return {
        "path": preview.source.path,
        "file": str(preview.file),
        "files": preview.files,
        "format": preview.format,
        "other_formats": dict(preview.other_formats),
        "lines": preview.sampled,
        "kept": preview.kept,
        "preview": [
            {
                "line": line.line,
                "time": line.time,
                "visitor": line.visitor,
                "site": line.site,
                "page": line.page,
                "referrer": line.referrer,
                "agent": line.agent,
                "outcome": line.outcome,
            }
            for line in preview.lines
        ],
        "fields": {
            name: {"given": share.present, "usable": share.usable}
            for name, share in preview.shares.items()
        },
        "doubts": list(preview.doubts),
        "missing": list(preview.missing),
        "error": preview.error,
    }


def show_previews(previews: Sequence[Preview], *, with_errors: bool = True) -> None:
    """Print five lines of each source, the shares of usable values, and doubts.

    With `with_errors`, unreadable sources are printed too; reading does so itself if it follows.
    """
    for preview in previews[:_SHOWN]:
        if preview.lines:
            _show(preview)
    if len(previews) > _SHOWN:
        console.say(f"and {counted(len(previews) - _SHOWN, 'more source')}")
    for preview in previews:
        for doubt in preview.doubts:
            console.warn(console.plain(f"{preview.source.path}: {doubt}"))
        if preview.error is not None and with_errors:
            console.fail(console.plain(preview.error))


def _show(preview: Preview) -> None:
    """Show the first lines of a source as they are understood, shares and doubts."""
    console.show_table(
        f"{preview.source.path}: {counted(preview.files, 'file')}, the first lines of"
        f" {preview.file.name}",
        # On a narrow terminal the last are left out: the page has the site, too.
        ("time", "visitor", "outcome", "page", "referrer", "agent", "site"),
        [_row(line) for line in preview.lines],
    )
    others = "".join(f"; others as {name} ({file})" for name, file in preview.other_formats)
    console.say(f"Read as: {preview.format}{others}")
    parts = [
        f"{name} {_share(usable_share.usable, usable_share.present)}"
        for name, usable_share in preview.shares.items()
    ]
    logged = ("referrer",) if preview.missing else ("referrer", "agent")
    absent = [name for name in logged if name not in preview.shares]
    parts += [f"{name} not logged" for name in absent]
    console.say(
        f"Usable in {counted(preview.sampled, 'line')}: {', '.join(parts)}."
        f" {'Rows' if preview.missing else 'Page requests'}: {preview.kept:,}"
    )
    for sentence in preview.missing:
        console.say(sentence)


def _row(line: PreviewLine) -> tuple[str, ...]:
    time = line.time.strftime("%Y-%m-%d %H:%M:%S") if line.time else ""
    texts = (line.page, line.referrer, line.agent, line.site)
    return (time, line.visitor, line.outcome, *map(_cut, texts))


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def _share(usable: int, present: int) -> str:
    if not present:
        return "none"
    return "all" if usable == present else f"{usable:,} of {present:,}"


def ask(previews: Sequence[Preview], yes: bool) -> None:
    """Ask whether to go on where something is doubtful and a person is there to answer."""
    doubtful = [preview for preview in previews if preview.doubts or preview.error]
    if not doubtful or yes or not console.is_interactive():
        return
    if not typer.confirm("Something is doubtful. Read all of it like this?", err=True):
        raise CommandError("nothing was read or stored")
