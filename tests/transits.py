"""Days of `transits` as they are published, from rows that name URLs."""

from __future__ import annotations

import datetime as dt
import pickle
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.demo import DemoOptions, DemoSummary, generate
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.settings import load_settings
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.day_numbers import DayFiles
from tests.shared import made_once
from tests.tables import write_table

Row = Mapping[str, Any]


def write_transits(
    day: dt.date, rows: Iterable[Row], out: Path, opened: Iterable[str] = ()
) -> tuple[Path, Path]:
    """Files of rows with `referrer`, `target` and `client`, and of their URLs.

    `opened` are pages that were opened besides: reloads are no transits.
    """
    known = list(rows)
    pages = {row["target"] for row in known} | set(opened)
    others = {row["referrer"] for row in known} - pages - {None}
    urls = [*sorted(pages, key=_place), *sorted(others, key=_place)]
    number = {url: n for n, url in enumerate(urls)}
    triples = {
        (number[row["target"]], number.get(row["referrer"], -1), row["client"]) for row in known
    }
    stored = [
        {"day": day, "referrer": None if came < 0 else came, "target": target, "client": client}
        for target, came, client in sorted(triples)
    ]
    named = [
        {"day": day, "number": n, "site": site_of(url), "url": url, "is_opened": url in pages}
        for n, url in enumerate(urls)
    ]
    files = out / f"transits-{day}.parquet", out / f"urls-{day}.parquet"
    for path, table, actual in zip(
        files, (contracts.TRANSITS.stored, contracts.URLS), (stored, named), strict=True
    ):
        write_table(pa.Table.from_pylist(actual, table.arrow_schema), path)
    return files


def day_files(day: dt.date, rows: Iterable[Row], out: Path, opened: Iterable[str] = ()) -> DayFiles:
    """The same as windows take them."""
    transits, urls = write_transits(day, rows, out, opened)
    return DayFiles(day, [str(transits)], [str(urls)])


def as_inputs(days: Iterable[DayFiles]) -> dict[str, list[str]]:
    """The tables `transits` and `urls`, as statements read them."""
    some = list(days)
    return {
        "transits": [path for day in some for path in day.rows],
        "urls": [path for day in some for path in day.urls],
    }


def publish_transits(
    store: Store,
    day: dt.date,
    rows: Iterable[Row],
    opened: Iterable[str] = (),
    inputs: Sequence[Input] = (),
    extra: dict[str, Any] | None = None,
) -> Manifest:
    """The same published."""
    with store.scratch() as scratch:
        transits, urls = write_transits(day, rows, scratch, opened)
        return store.publish(
            "transits",
            day,
            [transits],
            inputs=inputs,
            settings_digest="",
            extra=extra,
            beside=[urls],
        )


def publish_truth(store: Store, made: DemoSummary) -> None:
    """Publish the true views and transits of a demo corpus."""
    views, transits = (pq.read_table(made.truth[name]) for name in ("views", "transits"))
    schema = contracts.PAGE_VIEWS.arrow_schema
    for day in made.days:
        seen = views.filter(pc.equal(views["day"], day)).select(schema.names).cast(schema)
        with store.scratch() as scratch:
            write_table(seen, scratch / "page_views.parquet")
            path = scratch / "page_views.parquet"
            store.publish("page_views", day, [path], inputs=[], settings_digest="")
        rows = transits.filter(pc.equal(transits["day"], day)).to_pylist()
        publish_transits(store, day, rows, seen["url"].to_pylist())


def true_days(factory: pytest.TempPathFactory) -> tuple[Path, DemoSummary]:
    """Return a state folder with the true days of the demo corpus, made once a run, and the corpus.

    The folder is a copy, in which windows can be made.
    """
    made, _ = made_once(factory, "true-days", _make_true_days)
    corpus: DemoSummary = pickle.loads((made / "corpus").read_bytes())  # noqa: S301 - our own
    return shutil.copytree(made / "state", factory.mktemp("true-days") / "state"), corpus


def _make_true_days(folder: Path) -> None:
    corpus = generate(DemoOptions(mirror=False), folder / "demo")
    publish_truth(Store.open(load_settings(folder / "state")), corpus)
    (folder / "corpus").write_bytes(pickle.dumps(corpus))


def _place(url: str) -> tuple[bytes, bytes]:
    return site_of(url).encode(), url.encode()
