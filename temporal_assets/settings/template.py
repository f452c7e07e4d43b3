"""The comments of a new `settings.toml`: everyday settings with their defaults."""

from __future__ import annotations

from itertools import groupby

from temporal_assets.settings.everyday import EVERYDAY
from temporal_assets.settings.page import default_of


def comments() -> str:
    """Return the lines of a new `settings.toml` that show these settings, all commented out."""
    lines = ["# The settings that are changed most often, with their defaults."]
    names = [name for name in EVERYDAY if not name.startswith("sources.")]
    for section, within in groupby(names, key=lambda name: name.partition(".")[0]):
        lines += ["#", f"# [{section}]"]
        lines += [
            f"# {name.partition('.')[2]} = {_default(name)}  # {EVERYDAY[name]}" for name in within
        ]
    return "\n".join(lines) + "\n"


def _default(name: str) -> str:
    """Return the default, or dots where there is none: TOML has no word for that."""
    default = default_of(name)
    return "..." if default == "unset" else default
