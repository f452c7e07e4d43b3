"""`SHA256SUMS` of a folder: digests of its files, in the format of `sha256sum -c`.

For files without a digest of their own: pages and lists. Not here: tables, whose manifests have
digests (`manifest`), and records, which are sealed (`sealed`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from temporal_assets.machine.durable import replace_text

NAME: Final = "SHA256SUMS"

_LINE: Final = re.compile(r"([0-9a-f]{64})  ([^/\0]+)")


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_of(folder: Path, names: Iterable[str]) -> str:
    """Return the text of SHA256SUMS for some files of a folder."""
    return _text({name: sum_of(folder / name) for name in names})


def note(folder: Path, names: Iterable[str], locks: Path) -> None:
    """Record the digests of files that were just written; those of other files stay.

    If the process is killed between writing a file and this, the file counts as damaged until it is
    written again.
    """
    from temporal_assets.machine.locks import brief  # crawlers, who only look, need no filelock

    with brief(locks / f"sums-{folder.name}.lock"):
        sums_by_name = {
            name: digest for name, digest in noted(folder).items() if (folder / name).exists()
        }
        sums_by_name |= {name: sum_of(folder / name) for name in names}
        replace_text(folder / NAME, _text(sums_by_name))


def noted(folder: Path) -> dict[str, str]:
    """Return the recorded digests by file name."""
    try:
        text = (folder / NAME).read_text("utf-8", "replace")
    except FileNotFoundError:
        return {}
    matches = (_LINE.fullmatch(line) for line in text.splitlines())
    return {line[2]: line[1] for line in matches if line}


def faults(folder: Path) -> list[Path]:
    """Return the paths of files that are missing or changed; none if there is no SHA256SUMS.

    The list itself is among them where it cannot be read in full.
    """
    file, noted_sums = folder / NAME, noted(folder)
    wrong = [
        folder / name for name in noted_sums if not _is_as_noted(folder / name, noted_sums[name])
    ]
    is_whole = not file.exists() or file.read_bytes() == _text(noted_sums).encode()
    return wrong if is_whole else [*wrong, file]


def _is_as_noted(path: Path, wanted: str) -> bool:
    try:
        return sum_of(path) == wanted
    except FileNotFoundError:
        return False


def _text(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
