"""Log files of the demo: which sites share one, its format, zone, compression and place.

What belongs here: naming, grouping, compressing and writing files. What does not: their lines
(`formats`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zstandard
from isal import igzip

from temporal_assets.demo.world.sites import Site
from temporal_assets.settings import LogSource

LOGS: Final = "logs"
"""Folder of the log files within that of the corpus."""

_GROUP_PAGES: Final = 500_000
"""Largest number of pages whose URLs are in memory at once, unless a single site has more."""

_SINGLE_SITES: Final = 30
"""Number of the largest sites that may have a log of their own; every such log is one source."""

_PACKED: Final = ".gz"

_FASTEST: Final = 1
"""Level of compression: the fastest, since a log is written once and read once."""


@dataclass(frozen=True, slots=True)
class Style:
    """Practice of a kind of server with its log: format, zone, rotation."""

    format: str
    zone: str
    suffix: str


STYLES: Final = (
    Style("combined", "Europe/Berlin", ".gz"),
    Style("combined_vhost", "America/New_York", ""),
    Style("nginx_json", "Asia/Shanghai", ".zst"),
    Style("w3c", "UTC", ""),
    Style("cloudfront", "UTC", ".gz"),
    Style("caddy_json", "UTC", ""),
)
"""Styles of the sites, by turns. Two zones change their clocks within a default window."""

_BY_SITE: Final = STYLES[0]
"""The style whose lines do not name the site: every site needs a log of its own."""
_SHARED: Final = STYLES[1]


@dataclass(frozen=True, slots=True)
class LogGroup:
    """Sites that share a log, one file a day (UTC; stamps are in the server's zone)."""

    style: Style
    number: int
    """Number of the group among those of its style."""
    sites: tuple[Site, ...]
    packed: bool = False
    """True if files of a style without compression are compressed all the same."""

    @property
    def name(self) -> str:
        """Name of the host, or of the server that several sites share."""
        return self.sites[0].host if self.style is _BY_SITE else f"server{self.number:02d}"

    def file(self, corpus: Path, day: dt.date) -> Path:
        """Return the path of a day's log."""
        suffix = self.style.suffix or (_PACKED if self.packed else "")
        return self.folder(corpus) / f"access-{day}.log{suffix}"

    def folder(self, corpus: Path) -> Path:
        """Return the folder of the log's files."""
        return corpus / LOGS / self.style.format / self.name


def make_groups(sites: Sequence[Site], packed: bool = False) -> list[LogGroup]:
    """Return groups with every site in exactly one; `packed` as in `DemoOptions`."""
    groups: list[LogGroup] = []
    for style in STYLES:
        members: list[Site] = []
        number = 0
        for site in sites:
            if style_of(site) is not style:
                continue
            full = sum(other.pages for other in members) + site.pages > _GROUP_PAGES
            if members and (full or style is _BY_SITE):
                groups.append(LogGroup(style, number, tuple(members), packed))
                members, number = [], number + 1
            members.append(site)
        if members:
            groups.append(LogGroup(style, number, tuple(members), packed))
    return groups


def style_of(site: Site) -> Style:
    """Return the style of a site's servers."""
    style = STYLES[site.index % len(STYLES)]
    return _SHARED if style is _BY_SITE and site.index >= _SINGLE_SITES else style


def source_of(group: LogGroup, corpus: Path) -> LogSource:
    """Return settings with which the pipeline reads the log of a group."""
    host = group.sites[0].host if group.style is _BY_SITE else None
    return LogSource(path=str(group.folder(corpus)), format=group.style.format, host=host)


def write_log(path: Path, header: bytes, lines: memoryview) -> None:
    """Write a file, compressed as its name says; equal content gives equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        if path.suffix == _PACKED:
            content = b"".join((header, lines))
            file.write(igzip.compress(content, compresslevel=_FASTEST, mtime=0))
        elif path.suffix == ".zst":
            content = b"".join((header, lines))
            file.write(zstandard.ZstdCompressor(level=_FASTEST).compress(content))
        else:
            file.write(header)
            file.write(lines)
