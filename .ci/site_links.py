"""A hook of MkDocs: links to files beside `docs/` become their names, which a site can show."""

from __future__ import annotations

import re
from typing import Any, Final

_OUTSIDE: Final = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write links that lead out of `docs/` as text; links between pages stay."""
    depth = page.file.src_uri.count("/") + 1

    def named(found: re.Match[str]) -> str:
        ups = found[0].count("../")
        return found[0] if ups < depth else f"{found[1]} (`{found[2]}` in the repository)"

    return _OUTSIDE.sub(named, markdown)
