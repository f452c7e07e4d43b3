"""A few rows of what was published, for people who open an asset for the first time.

Rows name pages, sites and prefixes that at least `privacy.min_clients` clients opened, and no
others. A table without such rows, or in which clients cannot be counted, has no sample.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from temporal_assets.contracts import Type, table
from temporal_assets.days.asset_names import COUNTED
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.settings import VIEWS_PER_CLIENT

ROWS: Final = 10
"""Number of rows in a sample: enough to see what a row is."""

_MOST_CLIENTS: Final = "list_max(views)"
"""SQL for a lower bound of a page's clients: views of a day are distinct clients, so a page had at
least as many clients as on its best day."""


@dataclass(frozen=True, slots=True)
class _Sample:
    """Query for the rows of a sample."""

    columns: tuple[str, ...]
    rest: str
    """SQL that follows `FROM <asset>`; `{k}` is the least number of clients."""
    also: tuple[str, ...] = ()
    """Other tables of the day that the query reads."""


_SAMPLES: Final[Mapping[str, _Sample]] = {
    "requests": _Sample(
        ("site", "url", "count(DISTINCT client) AS clients"),
        "GROUP BY site, url HAVING count(DISTINCT client) >= {k}"
        " ORDER BY clients DESC, url LIMIT {rows}",
    ),
    "page_traffic": _Sample(
        ("urls.url AS url", "visits", "clients", "referred", "referrals"),
        "INNER JOIN urls ON urls.number = page_traffic.url"
        " WHERE clients >= {k} ORDER BY visits DESC, urls.url LIMIT {rows}",
    ),
    "prefix_trees": _Sample(
        ("prefix", "pages", "news_pages", "temporal_pages", "clients"),
        "WHERE clients >= {k} ORDER BY pages DESC, prefix LIMIT {rows}",
    ),
    "provisional_lists": _Sample(
        ("kind", "name", "days", "pages", "share", "clients", "is_listed"),
        "WHERE clients >= {k} ORDER BY pages DESC, kind, name LIMIT {rows}",
    ),
    # No name is in the next: pages, fetches and sources by what is known of them.
    "fetches": _Sample(
        ("kind", "status", "count(*) AS fetches"),
        "GROUP BY kind, status ORDER BY fetches DESC, kind, status LIMIT {rows}",
    ),
    "sources": _Sample(
        ("kind", "is_listed", "count(*) AS sources"),
        "GROUP BY kind, is_listed ORDER BY sources DESC, kind, is_listed LIMIT {rows}",
    ),
    "page_totals": _Sample(
        ("birth", "count(*) AS pages", "sum(total) AS views"),
        "GROUP BY birth ORDER BY birth DESC LIMIT {rows}",
    ),
    "page_flow": _Sample(
        ("basis", "count(*) AS pages", "CAST(sum(views) AS BIGINT) AS summed_views"),
        "GROUP BY basis ORDER BY pages DESC, basis LIMIT {rows}",
    ),
    "early_labels": _Sample(
        ("age", "basis", "count(*) AS pages"),
        "GROUP BY age, basis ORDER BY age, basis LIMIT {rows}",
    ),
    "behaviour_graph": _Sample(
        ("source", "target", "transits", "out_share", "in_share"),
        "ORDER BY transits DESC, source, target LIMIT {rows}",
    ),
    "hub_evaluation": _Sample(
        ("trial", "horizon_days", "k", "baseline_one_hop", "paper_one_hop", "ours_one_hop"),
        "WHERE k IN (1, 10, 100, 1000) ORDER BY trial, horizon_days, k LIMIT {rows}",
    ),
    "page_views": _Sample(
        ("site", "url", "views"), "WHERE views >= {k} ORDER BY views DESC, url LIMIT {rows}"
    ),
    "transits": _Sample(
        ("sources.url AS referrer", "targets.url AS target", "count(*) AS clients"),
        "INNER JOIN urls AS sources ON sources.number = transits.referrer"
        " INNER JOIN urls AS targets ON targets.number = transits.target"
        " GROUP BY sources.url, targets.url HAVING count(*) >= {k}"
        " ORDER BY clients DESC, sources.url, targets.url LIMIT {rows}",
    ),
    "page_histories": _Sample(
        ("site", "url", "birth", "total", f"{_MOST_CLIENTS} AS best_day"),
        f"WHERE {_MOST_CLIENTS} >= {{k}} ORDER BY total DESC, url LIMIT {{rows}}",
    ),
    "interest_curves": _Sample(
        ("url", "reason", "mu", "sigma", "goodness", "phi_n"),
        "INNER JOIN page_histories USING (day, site, url)"
        f" WHERE {_MOST_CLIENTS} >= {{k}} ORDER BY total DESC, url LIMIT {{rows}}",
        ("page_histories",),
    ),
    "page_labels": _Sample(
        ("url", "is_temporal", "label_basis", "first_share", "phi_n", "concentration"),
        "INNER JOIN page_histories USING (day, site, url)"
        f" WHERE {_MOST_CLIENTS} >= {{k}} ORDER BY total DESC, url LIMIT {{rows}}",
        ("page_histories",),
    ),
    "hub_seeds": _Sample(
        ("rank", "url", "clients", "temporal_pages", "new_per_day", "tier", "revisit_minutes"),
        "WHERE clients >= {k} AND rank IS NOT NULL ORDER BY rank LIMIT {rows}",
    ),
    "site_scores": _Sample(
        ("rank", "site", "score", "bound", "pages", "temporal_pages", "clients"),
        "WHERE clients >= {k} AND rank IS NOT NULL ORDER BY rank LIMIT {rows}",
    ),
    "section_scores": _Sample(
        ("rank", "prefix", "score", "bound", "pages", "temporal_pages", "clients"),
        "WHERE clients >= {k} AND rank IS NOT NULL ORDER BY rank LIMIT {rows}",
    ),
    "news_prefixes": _Sample(
        ("prefix", "score", "pages", "news_pages", "clients"),
        "WHERE clients >= {k} ORDER BY news_pages DESC, prefix LIMIT {rows}",
    ),
    # The next two hold nothing that fewer clients know, by their contracts.
    "site_changes": _Sample(
        ("site", "change", "rank", "earlier_rank", "is_first_seen", "is_gone_quiet"),
        "ORDER BY rank NULLS LAST, site LIMIT {rows}",
    ),
    "crawl_policy": _Sample(
        ("kind", "site", "name", "decision", "tier", "score"),
        "QUALIFY 3 >= row_number() OVER (PARTITION BY kind ORDER BY place) ORDER BY kind, place",
    ),
    # No URL and no site is in the last two.
    "seed_evaluation": _Sample(
        ("trial", "horizon_days", "label", "method", "precision", "recall", "f"),
        "WHERE is_used ORDER BY trial, horizon_days, label, method LIMIT {rows}",
    ),
    "calibration": _Sample(
        ("score", "scope", "days", "threshold", "pages", "hit", "false_alarm", "performance"),
        "WHERE is_best AND scope = 'all' ORDER BY score LIMIT {rows}",
    ),
}

_OF_VIEWS: Final = ("page_views", "page_histories", "interest_curves", "page_labels")
"""Tables whose rows are shown for their views, which may be counted without clients."""

_KINDS: Final = {
    Type.BIGINT: "int",
    Type.DOUBLE: "float",
    Type.BOOLEAN: "bool",
}


def sample(installation: Installation, asset: str, day: dt.date) -> dict[str, Any]:
    """Return the sample as metadata; nothing for assets without one."""
    sample_query = _SAMPLES.get(asset)
    if sample_query is None:
        return {}
    store = installation.store
    if any(store.manifest(name, day) is None for name in sample_query.also):
        return {}
    privacy = installation.settings.privacy
    views = store.manifest("page_views", day) if asset in _OF_VIEWS else None
    of_views = views is not None and bool(views.extra.get(COUNTED))
    k = privacy.min_clients * (VIEWS_PER_CLIENT if of_views else 1)
    rest = sample_query.rest.format(k=int(k), rows=ROWS)
    query = f"SELECT {', '.join(sample_query.columns)} FROM {asset} {rest}"  # noqa: S608 - ours, and a number
    inputs = {name: store.files(name, day) for name in (asset, *sample_query.also)}
    if urls := store.paths_beside(store.require(asset, day)):
        inputs["urls"] = urls
    rows = installation.engine.rows(query, inputs)
    names = {column.rpartition(" AS ")[2]: _kind(asset, column) for column in sample_query.columns}
    shown = [{name: _value(row[name]) for name in names} for row in rows]
    return {"sample": grid(shown, names)} if shown else {}


def _kind(asset: str, column: str) -> str:
    types = {contract_column.name: contract_column.type for contract_column in table(asset).columns}
    name = column.rpartition(" AS ")[2]
    if name in types:
        return _KINDS.get(types[name], "string")
    return "int" if " AS " in column else "string"


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else value
