"""A hook of MkDocs: links as a site shows them.

Links to files beside `docs/` become their names, and links that are named by a file its title.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

_OUTSIDE: Final = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)(?:#[^)]*)?\)")
_BY_FILE: Final = re.compile(r"\[[\w-]+\.md\]\(([\w./-]+\.md)(#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Write links that lead out of `docs/` as text, and others under the title of their page."""
    depth = page.file.src_uri.count("/") + 1
    folder = (Path(config["docs_dir"]) / page.file.src_uri).parent

    def named(found: re.Match[str]) -> str:
        ups = found[0].count("../")
        return found[0] if ups < depth else f"{found[1]} (`{found[2]}` in the repository)"

    def titled(found: re.Match[str]) -> str:
        return f"[{_title(folder / found[1])}]({found[1]}{found[2] or ''})"

    return _BY_FILE.sub(titled, _OUTSIDE.sub(named, markdown))


def _title(file: Path) -> str:
    """The heading of a page; its name where there is none."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return next((line[2:].replace("`", "") for line in lines if line.startswith("# ")), file.name)
