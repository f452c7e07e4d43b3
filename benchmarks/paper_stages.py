"""Stages of `paper_scale` in one process: one whose peak memory is asked for, or those of a day.

    python -m benchmarks.paper_stages FOLDER STAGE... --fraction 0.05 --days 60 [--packed]

Prints what was done as a line of JSON for each stage. One that was interrupted goes on where it
was: logs that were read and days that were published are there already. Here is what the stages
do; not in which order, nor what becomes of the numbers (`paper_scale`).
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from isal import igzip

from temporal_assets.cli.sources.settings_file import set_values
from temporal_assets.cli.sources.sources import add_sources
from temporal_assets.days import asset_names, daily, staleness
from temporal_assets.demo import DemoOptions, generate
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build, is_fresh
from temporal_assets.windows.registry import WINDOW_ASSETS

Facts = dict[str, Any]

_PAPER_DAYS: Final = 60
_COMPRESSED: Final = (".gz", ".zst", ".bz2")
_GZIP_LEVEL: Final = 1
_CHUNK: Final = 1 << 22


def main() -> None:
    """Do the stages one after the other, and print the facts of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("stages", nargs="+", metavar="STAGE")
    parser.add_argument("--fraction", type=float, required=True)
    parser.add_argument("--days", type=int, required=True)
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--memory-limit")
    arguments = parser.parse_args()
    used = 0.0
    for stage in arguments.stages:
        started = time.perf_counter()
        facts = _work(stage)(arguments, stage)
        seconds, before, used = time.perf_counter() - started, used, _processor_seconds()
        spent = {"seconds": seconds, "processor_seconds": used - before, "peak_mib": _peak_mib()}
        print(json.dumps({"stage": stage, **spent, **facts}), flush=True)


def _processor_seconds() -> float:
    """Return processor seconds of this process with its imports, and of its children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _peak_mib() -> float:
    """Return the peak of the largest process so far."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(usage.ru_maxrss for usage in both) / 1024


def _work(stage: str) -> Callable[[argparse.Namespace, str], Facts]:
    name = stage.removeprefix("later ")
    if name == "generate":
        return _generate
    if name == "ingest":
        return _ingest
    return _daily if name in ("requests", *asset_names.DERIVED) else _window


def _generate(asked: argparse.Namespace, _stage: str) -> Facts:
    """A corpus of the days and one more, whose logs are kept aside until its turn comes."""
    folder, fraction, days = asked.folder, asked.fraction, asked.days
    paper = DemoOptions.preset("paper")
    span = days + 1
    corpus = generate(
        DemoOptions.preset(
            "paper",
            days=span,
            sites=max(round(paper.sites * fraction), 20),
            pages=round(paper.pages * fraction),
            requests=round(paper.requests * fraction * span / _PAPER_DAYS),
            clients=max(round(paper.clients * fraction), 10_000),
            packed=asked.packed,
        ),
        folder / "corpus",
    )
    later = folder / "later"
    for path in _logs(folder / "corpus", corpus.days[-1]):
        target = later / path.relative_to(folder / "corpus")
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    settings = add_sources(load_settings(folder / "state"), corpus.sources)
    chosen: Facts = {"window": {"min_days": min(settings.window.min_days, days)}}
    if asked.memory_limit:
        chosen["engine"] = {"memory_limit": asked.memory_limit}
    set_values(settings, chosen)
    first = _log_bytes(folder / "corpus")
    return {"lines": corpus.lines, "pages": corpus.pages, "log_bytes": first[0], "gzip": first[1]}


def _ingest(asked: argparse.Namespace, stage: str) -> Facts:
    folder = asked.folder
    if stage.startswith("later"):
        for path in _logs(folder / "later"):
            path.rename(folder / "corpus" / path.relative_to(folder / "later"))
    settings = load_settings(folder / "state")
    report = refresh(settings)
    lines = sum(file.lines for file in report.landed)
    return {"lines": lines, "files": len(report.landed), "failed": len(report.failed)}


def _daily(asked: argparse.Namespace, stage: str) -> Facts:
    settings, store, engine = _opened(asked.folder)
    name = stage.removeprefix("later ")
    inventory = Inventory.load(settings)
    late = staleness.stale(store, inventory, settings)[name]
    published = []
    for day in late:
        if name == "requests":
            made = daily.build_requests(store, engine, settings, day, inventory).requests
        else:
            made = daily.build_derived(store, engine, name, day)
        published.append(made.manifest)
    return {
        "days": len(published),
        "rows": sum(manifest.rows for manifest in published),
        "bytes": sum(file.bytes for manifest in published for file in manifest.files),
    }


def _window(asked: argparse.Namespace, stage: str) -> Facts:
    settings, store, engine = _opened(asked.folder)
    day = _last_day(store)
    (asset,) = (asset for asset in WINDOW_ASSETS if asset.name == stage.removeprefix("later "))
    if is_fresh(store, settings, asset, day):
        raise SystemExit(f"{asset.name} of {day} is there already")
    manifest = build(store, engine, settings, asset, day).manifest
    return {"rows": manifest.rows, "bytes": sum(file.bytes for file in manifest.files)}


def _opened(folder: Path) -> tuple[Settings, Store, DuckDBEngine]:
    settings = load_settings(folder / "state")
    return settings, Store.open(settings), DuckDBEngine(settings)


def _last_day(store: Store) -> dt.date:
    return store.days("page_views")[-1]


def _logs(folder: Path, day: dt.date | None = None) -> Iterator[Path]:
    """Log files of a day, or all, in a fixed order."""
    pattern = f"access-{day}.log*" if day else "access-*"
    yield from sorted((folder / "logs").rglob(pattern))


def _log_bytes(folder: Path) -> tuple[int, int]:
    """Bytes of the logs as they lie there, and with those that are not compressed in gzip."""
    total = packed = 0
    for path in _logs(folder):
        size = path.stat().st_size
        total += size
        packed += size if path.suffix in _COMPRESSED else _gzip_bytes(path)
    return total, packed


def _gzip_bytes(path: Path) -> int:
    size = 0
    with path.open("rb") as log:
        while chunk := log.read(_CHUNK):
            size += len(igzip.compress(chunk, _GZIP_LEVEL))
    return size


if __name__ == "__main__":
    main()
