"""Settings of log sources: where logs are and how they are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from temporal_assets.settings.section import Section, zone_name

_PREFIX = re.compile(r"https?://[^\s/?#]+/\S*")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(:\d{1,5})?")
"""Expression for a name or an address, with or without a port."""


def is_url(path: str) -> bool:
    """Return True if a path names something in an object store."""
    return "://" in path


def full_path(path: str, state: Path) -> str:
    """Return the path to read a source by: a URL as it is, others below the state folder."""
    return path if is_url(path) else str(state / Path(path).expanduser())


class LogSource(Section):
    """A source of access logs: its place and how to read it.

    One `[[sources]]` table each; `temporal-assets ingest` writes them.
    """

    path: str
    """File, folder, glob, or URL of an object store (s3://bucket/prefix); relative to the state
    folder. Folders are read recursively; rotated names sort numerically."""

    format: str = "auto"
    """A name from docs/log-formats.md, `auto` to detect it from the first lines, `nginx:` or
    `apache:` followed by the log format the server was given, or `regex:` by a pattern with named
    groups."""

    host: str | None = None
    """Host of the site, for formats whose lines do not carry one (combined, common)."""

    timezone: str = "UTC"
    """Zone of timestamps that carry no offset. W3C and CloudFront times are always UTC."""

    dates: Literal["day-first", "month-first"] | None = None
    """Order of dates such as 5/1/2026 in csv and tsv; `ingest` sets it where they tell it."""

    address: Literal["remote", "forwarded"] = "remote"
    """`remote`, or `forwarded` (the first address of X-Forwarded-For where the format has it)."""

    columns: dict[str, str] = Field(default_factory=dict)
    """Our field name -> column (name or number) or JSON path, for csv, tsv, parquet and jsonl.
    Several are joined by a template: `"https://{host}{path}"`."""

    url_prefix: str | None = None
    """Prefix of pages (and referrers) that are logged as bare ids or names, such as
    `https://www.example.com/article/`."""

    @field_validator("url_prefix")
    @classmethod
    def _whole_prefix(cls, value: str | None) -> str | None:
        if value is not None and not _PREFIX.fullmatch(value):
            raise ValueError(
                "this is no beginning of a URL: write it like https://www.example.com/a/"
            )
        return value

    @field_validator("format")
    @classmethod
    def _valid_pattern(cls, value: str) -> str:
        if value.startswith("regex:"):
            try:
                re.compile(value.removeprefix("regex:"))
            except re.error as error:
                raise ValueError(f"this is no regular expression: {error}") from error
        return value

    @field_validator("columns", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        """TOML tells numbers from texts; a column has one or the other for a name."""
        if not isinstance(value, dict):
            return value
        return {field: str(name) if type(name) is int else name for field, name in value.items()}

    @field_validator("host")
    @classmethod
    def _bare_host(cls, value: str | None) -> str | None:
        if value is not None and not _HOST.fullmatch(value):
            raise ValueError("this is no host: write it alone, like www.example.com")
        return value

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        return zone_name(value)
