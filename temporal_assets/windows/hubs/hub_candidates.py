"""Facts that both ways of choosing hubs need.

Here: which candidate pages are of search engines, and how many clients opened each.
Not here: the links (`link_graph`, `wanted_links`), and the order of hubs (`hub_choice`,
`hub_choice_compiled`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import NUMBERED_COUNTS, passing
from temporal_assets.days.transits import no_counts
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.batches import handed_on
from temporal_assets.logs.privacy.key_periods import key_numbers
from temporal_assets.logs.urls.search_engines import search_engine_pattern
from temporal_assets.settings import VIEWS_PER_CLIENT, Hubs, Settings
from temporal_assets.windows.hubs.link_graph import paths

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

CLIENTS_SQL: Final = ("page_clients", "link_visits")
"""Names of the statements that count clients; each gives the columns `page` and `clients`."""

_PAGE_CLIENTS: Final = passing("page_clients", "page BIGINT, clients BIGINT")
_LINK_VISITS: Final = replace(_PAGE_CLIENTS, name="link_visits")


@dataclass(frozen=True, slots=True)
class VisitFiles:
    """Files that say who opened which page in a window."""

    transits: Inputs
    """The tables `transits`, `urls` and, where anything is counted without clients, `counts`."""
    traffic: Sequence[str]
    """The table `page_traffic`."""
    days: Sequence[dt.date]
    """The days of the window."""

    def keys(self, settings: Settings) -> list[int]:
        """Return a number for the pseudonym key of each day."""
        secrets, rotation = settings.state / "secrets", settings.privacy.rotation_days
        return key_numbers(secrets, rotation, self.days)

    def have_one_key(self, settings: Settings) -> bool:
        """Return True if all days share one pseudonym key: only then a client counts once."""
        return len(set(self.keys(settings))) < 2


def without_search_engines(rows: Rows, hubs: Hubs) -> Rows:
    """Return the rows of pages whose host is not a search engine."""
    pattern = search_engine_pattern(hubs.more_search_engines)
    hosts = rows.column("host")
    engines_found = (
        name for name in pc.unique(hosts).to_pylist() if pattern.fullmatch(_without_user(name))
    )
    searching = pa.array(engines_found, pa.string())
    return rows.filter(pc.invert(pc.is_in(hosts.cast(pa.string()), value_set=searching)))


def _without_user(host: str) -> str:
    return host.rpartition("@")[2]


def count_clients(
    engine: Engine, settings: Settings, files: VisitFiles, pages: Sequence[str], out: Path
) -> list[str]:
    """Return files with the number of clients of each page in `pages`.

    `pages` have the columns `page`, `url` and `number`, their row in `page_totals`.

    `page_traffic` has the numbers unless the window has pseudonyms under several keys. Only then
    are the transits read, which are many.
    """
    if files.have_one_key(settings):
        inputs = {"candidates": pages, "page_traffic": files.traffic}
        return paths(engine.query("page_clients", inputs, {}, _PAGE_CLIENTS, out))
    of_days = pa.table({"day": pa.array(files.days, pa.date32()), "key": files.keys(settings)})
    key_days = handed_on(of_days, out / "key_days.parquet")
    followed = {"counts": no_counts(NUMBERED_COUNTS, out), **files.transits}
    inputs = {**followed, "candidates": pages, "key_days": key_days}
    parameters = {"views_per_client": VIEWS_PER_CLIENT}
    return paths(engine.query("link_visits", inputs, parameters, _LINK_VISITS, out))
