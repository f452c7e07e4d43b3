"""Reading access logs as a user with such a log meets it: from bytes on disk to page requests.

The parts have tests of their own; each trap is followed through all of them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.parsing import State, advance, parse
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read.paths import expand
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.settings import LogSource, Settings

NOW = dt.datetime(2024, 12, 31, tzinfo=dt.UTC)


EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"


@dataclass
class Kept:
    """Result of reading a file."""

    urls: list[str] = field(default_factory=list)
    referrers: list[str | None] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    clients: list[int] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    """Lines that were not kept, by reason."""
    knows_referrers: bool = False
    problem: str | None = None
    digest: str = ""


class Reader:
    """Reads bytes as the product reads files: found, unpacked, parsed, cleaned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = KeyRing(folder / "keys", 0)

    def __call__(self, data: bytes | str, *, cleaning: Any = None, **options: Any) -> Kept:
        path = self.folder / "access.log"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        source = {"path": str(path), "host": "www.example.com", **options}
        settings = Settings.model_validate({"cleaning": cleaning or {}})
        return self.read(LogSource.model_validate(source), settings)

    def read(self, source: LogSource, settings: Settings) -> Kept:
        (path,) = expand(source.path)
        cleaner = Cleaner(source, settings, self.keys, is_bot, NOW)
        kept = Kept()
        state: State = None
        with open_stream(path, settings.reading) as stream:
            fmt = resolve(source, stream.head)
            for block in stream:
                records = parse(block, fmt, source, settings.reading, state)
                state = advance(block, fmt, state, source)
                cleaned = cleaner.clean(records)
                kept.urls += cleaned.url.to_arrow().to_pylist()
                kept.referrers += cleaned.referrer.to_arrow().to_pylist()
                kept.clients += cleaned.client.tolist()
                kept.times += [
                    (EPOCH + dt.timedelta(microseconds=time)).isoformat(" ")[:19]
                    for time in cleaned.time.tolist()
                ]
                for row in cleaned.tally.rows():
                    kept.reasons[row["reason"]] += row["lines"]
                kept.knows_referrers |= records.referrer is not None
            kept.problem, kept.digest = stream.problem, stream.digest
        return kept


def line(
    request: str = "GET /a HTTP/1.1",
    status: str = "200",
    referrer: str = "-",
    agent: str = AGENT,
    address: str = "203.0.113.7",
    time: str = "06/May/2024:07:08:09 +0000",
) -> str:
    return f'{address} - - [{time}] "{request}" {status} 512 "{referrer}" "{agent}"\n'


def page(target: str) -> str:
    return line(f"GET {target} HTTP/1.1")
