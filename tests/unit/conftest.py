"""A short way from log lines to what was read of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pytest

from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.parsing import State, advance, parse
from temporal_assets.logs.read.records import Block, Column, Records, Reject
from temporal_assets.settings import LogSource, Reading

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Row:
    """Record as text; `reason` is "none" for lines that were read."""

    line: int
    reason: str
    time: str | None
    status: int
    method: str | None
    target: str | None
    host: str | None
    scheme: str | None
    referrer: str | None
    agent: str | None
    address: str | None


def rows_of(records: Records) -> list[Row]:
    """All records of a block. Bytes become text one to one."""

    def text(column: Column | None, i: int) -> str | None:
        value = column.value(i) if column is not None else None
        return None if value is None else value.decode("latin-1")

    return [
        Row(
            line=int(records.line[i]),
            reason=Reject(int(records.reason[i])).label,
            time=_iso(int(records.time[i])) if records.reason[i] == Reject.NONE else None,
            status=int(records.status[i]),
            method=text(records.method, i),
            target=text(records.target, i),
            host=text(records.host, i),
            scheme=text(records.scheme, i),
            referrer=text(records.referrer, i),
            agent=text(records.agent, i),
            address=text(records.address, i),
        )
        for i in range(len(records))
    ]


def _iso(microseconds: int) -> str:
    moment = _EPOCH + dt.timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f").removesuffix(".000000")


def blocks_of(chunks: Iterable[bytes]) -> list[Block]:
    """Blocks of whole lines, numbered as in one file."""
    pieces = list(chunks)
    line, blocks = 1, []
    for i, data in enumerate(pieces):
        blocks.append(Block(np.frombuffer(data, np.uint8), line, i == len(pieces) - 1))
        line += data.count(b"\n")
    return blocks


ReadLog = Callable[..., list[Row]]


@pytest.fixture(scope="session")
def read_log() -> ReadLog:
    """`read_log(text, *more_blocks, format="auto", **source_options) -> rows`."""

    def read(*chunks: bytes, reading: Reading | None = None, **options: object) -> list[Row]:
        source = LogSource.model_validate({"path": "x", **options})
        fmt = resolve(source, chunks[0])
        rows: list[Row] = []
        state: State = None
        for block in blocks_of(chunks):
            rows += rows_of(parse(block, fmt, source, reading or Reading(), state))
            state = advance(block, fmt, state, source)
        return rows

    return read
