"""`pattern_ranks`: authority and hub ranks of a site's patterns (BB 4), urgency and yield."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from temporal_assets import contracts
from temporal_assets.contracts import passing
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.patterns.behaviour_graph import (
    BehaviourGraph,
    PatternRanks,
    rank_patterns,
)
from temporal_assets.core.patterns.pattern_match import portable_matcher
from temporal_assets.core.patterns.pattern_rules import portable_of
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.lists.flow_shares import flow_of
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.patterns.site_traffic import floats, links
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.traffic.page_traffic import later_half

_STRENGTH: Final = 4.0
"""Pages that the share of the site counts for in the share of a pattern (shrinkage). With 1 the F
of patterns is 0.959 and not 0.960 on `arrivals_summer`, and the same on `mix_a` and
`bbc_most_read_3h_spring`, with 16 the same on these two; they are not reported."""

_OF_FLOW: Final = ("flow_pages", "flow_temporal_pages", "flow_score")

RANKED: Final = passing(
    "ranked_patterns",
    *(column for column in contracts.PATTERN_RANKS.columns if column.name not in _OF_FLOW),
)

_URLS: Final = passing(
    "pattern_urls",
    "site VARCHAR, pattern BIGINT, parent BIGINT, rule VARCHAR, is_pattern BOOLEAN,"
    " url VARCHAR, temporal DOUBLE",
)

FLOW_OF_PATTERNS: Final = passing(
    "pattern_flow", "site VARCHAR, pattern BIGINT, flow_pages BIGINT, flow_thousandths BIGINT"
)


def site_ranks(rows: pa.Table, new_days: int) -> pa.RecordBatch:
    """Return rows of `pattern_ranks` for rows of `url_patterns`; sites must be complete."""
    patterns = rows.filter(rows.column("is_pattern")).combine_chunks()
    first = _first_of_sites(patterns)
    site = np.repeat(np.arange(len(first) - 1), np.diff(first))
    ranks = rank_patterns(_graph(patterns, site), first)
    columns: dict[str, Any] = {
        **{name: patterns.column(name) for name in patterns.column_names},
        **_ranks(ranks, patterns, site),
        "is_converged": pa.array(ranks.convergence.converged[site]),
        "rounds": pa.array(ranks.convergence.rounds[site]),
        "movement": pa.array(ranks.convergence.movement[site]),
        "components": pa.array(ranks.components[site]),
        "is_isolated": pa.array(ranks.is_isolated),
        **_of_time(patterns, new_days),
    }
    schema = RANKED.arrow_schema
    table = pa.table([columns[name] for name in schema.names], schema=schema)
    (batch,) = table.combine_chunks().to_batches()
    return batch


def _first_of_sites(rows: pa.Table) -> Int64s:
    """Return the first row of each site, and the number of all rows at the end."""
    (sites,) = rows.column("site").chunks
    ends = pc.run_end_encode(sites).run_ends.to_numpy()
    return np.concatenate((np.zeros(1, np.int64), ends.astype(np.int64)))


def _graph(patterns: pa.Table, site: Int64s) -> BehaviourGraph:
    numbers = patterns.column("pattern").to_numpy()
    ends, transits, counts = links(patterns, "links")
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    # Numbers are those of a site's tree; rows lie in the order of both.
    partners = np.searchsorted(site << 32 | numbers, np.repeat(site, counts) << 32 | ends)
    return BehaviourGraph(
        patterns.column("volume").to_numpy(),
        floats(patterns, "visits"),
        floats(patterns, "referrals"),
        sparse.csr_array(
            (transits.astype(np.float64), partners, first), shape=(len(numbers), len(numbers))
        ),
    )


def _ranks(ranks: PatternRanks, patterns: pa.Table, site: Int64s) -> dict[str, pa.Array]:
    """Return the columns of scores and ranks; NULL, with the reason, where inputs are unknown."""
    has_graph = ranks.has_transits[site]
    no_referrals = ~_has_any(floats(patterns, "referrals"), site)
    no_referrers = ~_has_any(floats(patterns, "referred"), site)
    reason = np.where(no_referrers, "no_referrers", "no_transits").astype(object)
    scores = {"authority": ranks.authority, "hub": ranks.hub, "fetch_score": ranks.fetch_score}
    return {
        **{name: pa.array(score, mask=~has_graph) for name, score in scores.items()},
        "rank_volume": pa.array(ranks.by_volume),
        "rank_visits": pa.array(ranks.by_overall_visit),
        "rank_average_visits": pa.array(ranks.by_average_visit),
        "rank_referrals": pa.array(ranks.by_overall_referral, mask=no_referrals),
        "rank_average_referrals": pa.array(ranks.by_average_referral, mask=no_referrals),
        "rank_fetch": pa.array(ranks.by_fetch, mask=~has_graph),
        "rank_discovery": pa.array(ranks.by_discovery, mask=~has_graph),
        "missing_ranks": pa.array(reason, pa.string(), mask=has_graph),
    }


def _has_any(counts: Floats, site: Int64s) -> Flags:
    """Return flags of the rows whose site has any positive count."""
    has_counts: Flags = np.bincount(site, counts)[site] > 0
    return has_counts


def _of_time(patterns: pa.Table, new_days: int) -> dict[str, pa.Array]:
    """Return the columns of how urgent and how productive each pattern is."""
    labelled = floats(patterns, "labelled_pages")
    share = _ratio(floats(patterns, "temporal_pages"), labelled)
    born = floats(patterns, "new_pages")
    rate = born / max(new_days, 1)
    return {
        "temporal_share": pa.array(share, mask=labelled == 0),
        "new_pages_per_day": pa.array(rate, mask=np.full(len(rate), new_days == 0)),
    }


def _ratio(part: Floats, whole: Floats) -> Floats:
    return part / np.maximum(whole, 1.0)


def patterns_of_flow(rows: pa.Table) -> pa.RecordBatch:
    """Return the flow of each pattern for rows of `pattern_urls`; sites must be complete."""
    flow_tables: list[pa.Table] = []
    rows = rows.combine_chunks()
    first = _first_of_sites(rows)
    for start, stop in pairwise(first.tolist()):
        flow_tables += _flow_of_site(rows.slice(start, stop - start))
    table = (
        pa.concat_tables(flow_tables)
        if flow_tables
        else FLOW_OF_PATTERNS.arrow_schema.empty_table()
    )
    return pa.RecordBatch.from_arrays(
        [
            pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
            for column in table.columns
        ],
        schema=FLOW_OF_PATTERNS.arrow_schema,
    )


def _flow_of_site(rows: pa.Table) -> list[pa.Table]:
    """Return the flow of one site's patterns; none where it has no tree or no new pages."""
    is_node = pc.is_null(rows["url"])
    nodes, pages = rows.filter(is_node), rows.filter(pc.invert(is_node))
    if not len(nodes) or not len(pages):
        return []
    tree = portable_of(nodes["parent"].to_pylist(), nodes["rule"].to_pylist())
    matched = portable_matcher(tree).match(from_arrow(pages["url"].combine_chunks()))
    above, node = pattern_above(nodes), matched.astype(np.int64)
    pattern = np.where(node >= 0, above[np.maximum(node, 0)], -1)
    thousandths = np.rint(1000 * pages["temporal"].to_numpy()).astype(np.int64)
    has_pattern = pattern >= 0
    count = np.bincount(pattern[has_pattern], minlength=len(nodes))
    temporal = np.bincount(pattern[has_pattern], thousandths[has_pattern], len(nodes)).astype(
        np.int64
    )
    there = np.flatnonzero(count)
    columns = {
        "site": pa.repeat(pages["site"][0].cast(pa.string()), len(there)),
        "pattern": nodes["pattern"].combine_chunks().take(pa.array(there)),
        "flow_pages": pa.array(count[there]),
        "flow_thousandths": pa.array(temporal[there]),
    }
    return [pa.table(columns, schema=FLOW_OF_PATTERNS.arrow_schema)]


def pattern_above(nodes: pa.Table) -> Int64s:
    """Return, for each node, the row of the pattern that it is or lies below, or -1."""
    parent, is_pattern = nodes["parent"].to_pylist(), nodes["is_pattern"].to_pylist()
    patterns_above: list[int] = []
    # Nodes are numbered in the order of their rows, and come after the ones above them.
    for row, (above, flag) in enumerate(zip(parent, is_pattern, strict=True)):
        over = patterns_above[above] if above >= 0 else -1
        patterns_above.append(over if over >= 0 else row if flag else -1)
    return np.array(patterns_above, np.int64)


def _make(job: Job) -> Sequence[Path]:
    days = later_half(job.present("transits"))
    patterns = {"url_patterns": job.files("url_patterns")}
    flow = patterns | {"page_flow": job.files("page_flow")}
    url_files = job.engine.query("pattern_urls", flow, {}, _URLS, job.out)
    urls = {"pattern_urls": [*map(str, url_files)]}
    ranked = job.engine.apply_groups(
        partial(site_ranks, new_days=len(days)), patterns, "site", RANKED, job.out, None
    )
    flow_files = job.engine.apply_groups(
        patterns_of_flow, urls, "site", FLOW_OF_PATTERNS, job.out, None
    )
    inputs = {
        "ranked_patterns": [*map(str, ranked)],
        "pattern_flow": [*map(str, flow_files)],
        "prefix_trees": job.files("prefix_trees"),
    }
    parameters = {"stock_weight": flow_of(job).stock_weight, "strength": _STRENGTH}
    return job.engine.query("pattern_ranks", inputs, parameters, job.asset.table, job.out)


PATTERN_RANKS: Final = WindowAsset(
    "pattern_ranks",
    _make,
    days=("transits",),
    tables=(PAGE_FLOW, PREFIX_TREES, URL_PATTERNS),
    sql=("pattern_urls", "pattern_ranks"),
    settings=lambda settings: [settings.window.days],
)
