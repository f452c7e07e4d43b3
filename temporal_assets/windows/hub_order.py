"""Which pages of a window may be hubs, in the order of the paper (NP 4.2, 5.1).

Here: from the links of a window to a table of candidates. Not here: the links (`link_graph`), and
which candidates become seeds (`hub_seeds`). All of it is tables, however many pages there are.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.texts import Flags
from temporal_assets.engines.base import Engine
from temporal_assets.logs.search_engines import search_engine_pattern
from temporal_assets.settings import Hubs, Settings
from temporal_assets.windows.link_graph import IS_OPENED, PAGE, URL, LinkTables, paths

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

ORDER_SQL: Final = ("hub_pages", "opened_visits", "link_visits", "hub_order")
"""The statements that make the order."""

_USUAL_VISITS: Final = 3.0
"""Visits that the last days of a hub should have had before silence says anything: with fewer,
nobody comes in more than 5 % of such days (exp(-3)) to a hub that is as alive as ever."""

_ONE_KEY: Final = 10_000_000
"""Days of the period of a key that is never changed."""

_ROWS: Final = 100_000
"""Pages whose hosts are looked at together."""

_IS_EXTERNAL: Final = ColumnSpec("is_external", Type.BOOLEAN, "Nobody opened a page of its host.")
_CLIENTS: Final = ColumnSpec(
    "clients",
    Type.BIGINT,
    "Distinct clients while one key of the pseudonyms was in use; the most, where it was changed.",
)
_TEMPORAL_PAGES: Final = ColumnSpec("temporal_pages", Type.BIGINT, "Temporal pages it links to.")
HUB_COLUMNS: Final = (
    PAGE,
    ColumnSpec("place", Type.BIGINT, "In the order of the paper, from 1."),
    URL,
    _IS_EXTERNAL,
    _CLIENTS,
    _TEMPORAL_PAGES,
)
"""What is known of a page that may be a hub."""

_HUB_PAGES: Final = passing(
    name="hub_pages",
    description="Pages with links to temporal ones.",
    grain="page",
    columns=(
        PAGE,
        URL,
        ColumnSpec("host", Type.VARCHAR, "Host of the URL, with its port."),
        IS_OPENED,
        _IS_EXTERNAL,
        _TEMPORAL_PAGES,
    ),
)
_OPENED_VISITS: Final = passing(
    name="opened_visits",
    description="Who came to some pages.",
    grain="page",
    columns=(
        PAGE,
        _CLIENTS,
        ColumnSpec("visits", Type.BIGINT, "Clients who came to it, once a day; or from it."),
        ColumnSpec("recent_visits", Type.BIGINT, "Those of the last days."),
    ),
)
_LINK_VISITS: Final = replace(_OPENED_VISITS, name="link_visits")
_HUB_ORDER: Final = passing(
    name="hub_order",
    description="Pages that may be hubs.",
    grain="page",
    columns=HUB_COLUMNS,
)


@dataclass(frozen=True, slots=True)
class VisitFiles:
    """Files that say who opened which page in a window."""

    transits: Sequence[str]
    traffic: Sequence[str]
    """The table `page_traffic`."""
    recent: Sequence[str]
    """The last days of `page_views`, `sites.quiet_days` of them where they are there."""


def hub_order(
    engine: Engine,
    settings: Settings,
    files: VisitFiles,
    links: LinkTables,
    observed: Flags,
    day: dt.date,
    out: Path,
) -> list[str]:
    """Files of the candidates in their order, which is that of the paper.

    `day` is the last of the window; `observed` tells for each of its days whether it is there.
    """
    pages = _crawlable(engine, settings, links, out)
    visits = count_visits(engine, settings, files, pages, day, out)
    inputs = {"hub_pages": pages, "link_visits": visits}
    rules = order_rules(settings, observed)
    return paths(engine.query("hub_order", inputs, rules, _HUB_ORDER, out))


def order_rules(settings: Settings, observed: Flags) -> dict[str, Any]:
    """Parameters of sql/hub_order.sql: which pages with links may be hubs."""
    last = settings.sites.quiet_days
    return {
        "min_clients": settings.privacy.min_clients,
        "drops_quiet": settings.hubs.quiet == "drop",
        "recent_days": int(observed[-last:].sum()),
        "observed_days": int(observed.sum()),
        "usual_visits": _USUAL_VISITS,
        "quiet_share": settings.sites.quiet_share,
    }


def _crawlable(engine: Engine, settings: Settings, links: LinkTables, out: Path) -> list[str]:
    """Files of the pages with links that a crawler can be sent to."""
    inputs = {"link_numbers": links.numbers, "link_pages": links.pages}
    parameters = {"keeps_external": settings.hubs.external == "keep"}
    made = engine.query("hub_pages", inputs, parameters, _HUB_PAGES, out)
    if settings.hubs.search_engines == "keep":
        return paths(made)
    kernel = partial(without_search_engines, hubs=settings.hubs)
    folder = out / "crawlable"
    folder.mkdir()
    given = {"hub_pages": paths(made)}
    return paths(engine.apply(kernel, given, _HUB_PAGES, folder, _ROWS))


def without_search_engines(rows: Rows, hubs: Hubs) -> Rows:
    """The pages whose host is none of a search engine."""
    pattern = search_engine_pattern(hubs.more_search_engines)
    hosts = rows.column("host")
    found = (
        name for name in pc.unique(hosts).to_pylist() if pattern.fullmatch(_without_user(name))
    )
    searching = pa.array(found, pa.string())
    return rows.filter(pc.invert(pc.is_in(hosts.cast(pa.string()), value_set=searching)))


def _without_user(host: str) -> str:
    return host.rpartition("@")[2]


def count_visits(
    engine: Engine,
    settings: Settings,
    files: VisitFiles,
    pages: Sequence[str],
    day: dt.date,
    out: Path,
) -> list[str]:
    """Files that say who came to some pages; `pages` has `page`, `url` and `is_opened`.

    Transits are many: they are asked only where pseudonyms have several keys, which `page_traffic`
    does not tell apart, and for pages that it does not know.
    """
    rotation = settings.privacy.rotation_days
    made: list[Path] = []
    if not rotation:
        inputs = {
            "candidates": pages,
            "page_traffic": files.traffic,
            "recent_views": files.recent,
        }
        made += engine.query("opened_visits", inputs, {}, _OPENED_VISITS, out)
    if rotation or settings.hubs.external == "keep":
        parameters = {
            "rotation_days": rotation or _ONE_KEY,
            "recent_from": day - dt.timedelta(days=settings.sites.quiet_days - 1),
            "counts_opened": rotation > 0,
        }
        inputs = {"transits": files.transits, "candidates": pages}
        made += engine.query("link_visits", inputs, parameters, _LINK_VISITS, out)
    return paths(made)
