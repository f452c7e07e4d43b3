"""Canonical URLs: once per distinct value, as the log reader makes them, against line by line.

Run `python benchmarks/url_speed.py`. Both ways get the same request targets in the same process,
one after the other, repeatedly; the last line is the ratio. The other way is what a script would
do with the standard library: `urllib.parse` for every line. It does less (no Unicode hosts, no
dot segments, one spelling of escapes only by accident), so the ratio favours it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import numpy as np

from temporal_assets.logs.read.encode import encode, from_values
from temporal_assets.logs.read.records import Column
from temporal_assets.logs.urls.urls import SESSION_KEYS, TRACKING_KEYS, canonical_url, plain_targets

_ORIGIN: Final = "https://www.news.example"
_LINES: Final = 1_000_000
_LINES_PER_PAGE: Final = 20
"""A page of a site in the papers is requested about so often a day."""
_SHARE_WITH_QUERY: Final = 0.3
_ROUNDS: Final = 3
_SEED: Final = 20130101

_DROPPED: Final = SESSION_KEYS | TRACKING_KEYS


def targets(lines: int) -> Column:
    """Request targets with few popular pages and many rare ones, in random order."""
    random = np.random.default_rng(_SEED)
    pages = max(1, lines // _LINES_PER_PAGE)
    rank = (pages ** random.random(lines)).astype(np.int64)  # log-uniform: Zipf with exponent 1
    queried = random.random(pages + 1) < _SHARE_WITH_QUERY
    names = [
        b"/section-%d/story.php?id=%d&utm_source=feed&page=1" % (page % 40, page)
        if queried[page]
        else b"/section-%d/2013/05/%02d/a-headline-of-some-words-%d.html"
        % (page % 40, page % 28, page)
        for page in range(pages + 1)
    ]
    distinct = from_values(names)
    return from_values([distinct.value(page) or b"" for page in rank.tolist()])


def by_distinct_value(column: Column) -> int:
    """How `logs/clean/cleaning.py` does it: encode, let plain values pass, parse the rest."""
    encoded = encode(column, np.arange(len(column)))
    distinct = encoded.distinct
    plain = plain_targets(distinct.data, distinct.start, distinct.stop)
    origin = _ORIGIN.encode()
    rest = [
        canonical_url(origin + (distinct.value(i) or b"")) for i in np.flatnonzero(~plain).tolist()
    ]
    return int(plain.sum()) + len(rest)


def by_line(lines: list[str]) -> int:
    """What a script would do: parse every line."""
    return len({_standard_library(_ORIGIN + line) for line in lines})


def _standard_library(url: str) -> str:
    parts = urlsplit(url)
    fields = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(sorted(pair for pair in fields if not _dropped(pair[0].lower())))
    path = quote(unquote(parts.path), safe="/!$&'()*+,:=@;~")
    return urlunsplit((parts.scheme, parts.hostname or "", path, query, ""))


def _dropped(key: str) -> bool:
    return key in _DROPPED or key.startswith("utm_")


def seconds(work: Callable[[], int]) -> float:
    """Median wall time of some rounds."""
    times = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    """Print both speeds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=_LINES, help="request targets to canonicalise")
    column = targets(parser.parse_args().lines)
    lines = [(column.value(i) or b"").decode("ascii") for i in range(len(column))]
    pages = by_distinct_value(column)  # compiles the kernels, too
    ours = seconds(lambda: by_distinct_value(column))
    theirs = seconds(lambda: by_line(lines))
    print(f"{len(lines):,} lines, {pages:,} distinct targets, median of {_ROUNDS} rounds")
    print(f"by distinct value   {ours:8.3f} s   {len(lines) / ours:12,.0f} lines/s")
    print(f"urllib.parse        {theirs:8.3f} s   {len(lines) / theirs:12,.0f} lines/s")
    print(f"ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
