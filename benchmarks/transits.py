"""Days of `transits` from rows that name URLs, and back for libraries that know no numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.days.transits import make_transits
from temporal_assets.engines.base import Engine
from temporal_assets.engines.statements import run
from temporal_assets.logs.urls.canonical import SITE
from temporal_assets.storage.store import Store


def publish_transits(
    store: Store,
    engine: Engine,
    day: dt.date,
    rows: pa.Table,
    opened: pa.Array | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Publish rows with `referrer`, `target` and `client` as the asset would.

    `opened` are pages that were opened: some of them only by people who loaded them again.
    """
    nobody = 0 if opened is None else len(opened)
    more = pa.array([], pa.string()) if opened is None else opened.cast(pa.string())
    url, referrer = (
        pa.concat_arrays([rows[name].cast(pa.string()).combine_chunks(), more])
        for name in ("target", "referrer")
    )
    clients = np.concatenate((rows["client"].to_numpy(), np.zeros(nobody, np.int64)))
    requests = requests_of(day, url, referrer, pa.array(clients))
    with store.scratch() as scratch:
        path = scratch / "requests.parquet"
        pq.write_table(requests, path)
        transits = run(engine, make_transits([str(path)], scratch))
        store.publish(
            "transits",
            day,
            transits.rows,
            inputs=[],
            settings_digest="",
            extra=extra,
            beside=transits.urls,
        )


def publish_truth(
    store: Store, engine: Engine, truth: Mapping[str, Path], days: Iterable[dt.date]
) -> None:
    """Publish the true daily views and transits of a corpus, which are what its logs lead to."""
    schema = contracts.PAGE_VIEWS.arrow_schema
    views, transits = (pq.read_table(truth[name]) for name in ("views", "transits"))
    for day in days:
        of_day = views.filter(pc.equal(views["day"], day)).select(schema.names).cast(schema)
        with store.scratch() as scratch:
            file = scratch / "rows.parquet"
            pq.write_table(of_day, file)
            store.publish("page_views", day, [file], inputs=[], settings_digest="")
        steps = transits.filter(pc.equal(transits["day"], day))
        publish_transits(store, engine, day, steps, of_day["url"].combine_chunks())


def requests_of(day: dt.date, url: pa.Array, referrer: pa.Array, client: pa.Array) -> pa.Table:
    """Requests of a day, as far as transits need them."""
    site = pc.extract_regex(url, SITE.replace("(", "(?P<site>", 1))
    return pa.table(
        {
            "day": pa.repeat(pa.scalar(day, pa.date32()), len(url)),
            "url": url,
            "referrer": referrer,
            "client": client,
            "site": pc.struct_field(site, "site"),
        }
    )


def text_files(store: Store, folder: Path) -> list[str]:
    """Files of all days with URLs, written once."""
    folder.mkdir(exist_ok=True)
    paths = []
    for day in store.days("transits"):
        path = folder / f"{day}.parquet"
        if not path.exists():
            pq.write_table(store.read("transits", day), path)
        paths.append(str(path))
    return paths
