"""Many small logs: what a file costs when it is new, when it was renamed, and when it is known.

    python benchmarks/many_logs.py                       3,000 and 12,000 files of 50 lines
    python benchmarks/many_logs.py --files 1000 20000    other numbers

CloudFront writes a file every few minutes, and all of them begin with the same directives; rotation
by number gives every file another name each day. Beside each: the same lines in one file. What a
file costs must not depend on how many there are. Loops are compiled beforehand.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path
from typing import Final

from temporal_assets.landing.landing import refresh
from temporal_assets.settings import Settings, load_settings

_LINES: Final = 50
_HEADER: Final = (
    "#Version: 1.0\n"
    "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status"
    " cs(Referer) cs(User-Agent) cs-uri-query\n"
)
_DAY_SECONDS: Final = 86_400


def main() -> None:
    """Print seconds and milliseconds a file, for every number of files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, nargs="+", default=[3_000, 12_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name) / "warm", 10)
        print(f"{'files':>8}{'in one':>10}{'new':>10}{'renamed':>10}{'known':>10}", end="")
        print(f"{'new / in one':>14}{'ms a new file':>15}")
        for files in arguments.files:
            one, new, renamed, known = measure(Path(name) / f"{files}", files)
            print(
                f"{files:>8,}{one:>8.2f} s{new:>8.2f} s{renamed:>8.2f} s{known:>8.2f} s"
                f"{new / one:>14.1f}{new / files * 1e3:>15.2f}"
            )


def measure(folder: Path, files: int) -> tuple[float, float, float, float]:
    """Seconds for the lines in one file, in many, and for these renamed and known."""
    texts = [_lines(n, files) for n in range(files)]
    whole, logs = folder / "whole", folder / "logs"
    _write(whole / "whole.log.gz", "".join(texts))
    for n, text in enumerate(texts):
        _write(logs / f"access.{n:06}.gz", text)
    in_one = _seconds(_settings(folder / "one", whole), files * _LINES)
    settings = _settings(folder / "many", logs)
    new = _seconds(settings, files * _LINES)
    for path in logs.iterdir():
        path.rename(path.with_name(f"rotated.{path.name}"))
    return in_one, new, _seconds(settings, 0), _seconds(settings, 0)


def _lines(number: int, files: int) -> str:
    """A file's records, some minutes of a day."""
    rows = []
    for n in range(_LINES):
        second = int((number + n / _LINES) / files * _DAY_SECONDS)
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        client, page = (number * 7 + n) % 65_536, (number * n) % 5_000
        rows.append(
            f"2025-03-03\t{clock}\tFRA56-P4\t512\t10.0.{client // 256}.{client % 256}\tGET"
            f"\td111.cloudfront.net\t/news/{page}.html\t200\t-\tMozilla/5.0%20(X11)\t-\n"
        )
    return "".join(rows)


def _write(path: Path, records: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress((_HEADER + records).encode(), 1))


def _settings(state: Path, logs: Path) -> Settings:
    return load_settings(state, sources=[{"path": str(logs), "host": "example.com"}])


def _seconds(settings: Settings, lines: int) -> float:
    """How long a refresh takes, which must read so many lines."""
    started = time.perf_counter()
    report = refresh(settings)
    taken = time.perf_counter() - started
    found = sum(file.lines for file in report.landed)
    if found != lines:
        raise SystemExit(f"{found:,} lines were read, not {lines:,}")
    return taken


if __name__ == "__main__":
    main()
