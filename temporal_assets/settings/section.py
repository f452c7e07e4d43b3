"""The base of all sections of the settings, and values that several of them check alike."""

from __future__ import annotations

from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict


def zone_name(value: str) -> str:
    """Return `value` if it names a time zone. Raises `ValueError` otherwise."""
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError) as error:  # unknown, a folder, a path
        raise ValueError(
            f"{value!r} is no time zone; names are like `UTC` and `Europe/Berlin`"
        ) from error
    return value


def web_address(value: str) -> str:
    """Return `value` if it is a web URL. Raises `ValueError` without repeating it."""
    message = "must be a URL that begins with http:// or https://"
    try:
        parts = urlsplit(value)
    except ValueError:  # which would repeat it
        raise ValueError(message) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not value.isprintable():
        raise ValueError(message)
    return value


class Section(BaseModel):
    """A section of `settings.toml`: frozen, and an unknown name in it is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
