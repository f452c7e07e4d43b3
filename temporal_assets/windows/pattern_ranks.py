"""`pattern_ranks`: what the patterns of a site are worth (BB 4), and how urgent and productive."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from temporal_assets import contracts
from temporal_assets.core.behaviour_graph import BehaviourGraph, PatternRanks, rank_patterns
from temporal_assets.core.texts import Flags, Floats, Int64s
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.page_traffic import later_half
from temporal_assets.windows.site_traffic import floats, links
from temporal_assets.windows.url_patterns import URL_PATTERNS


def site_ranks(rows: pa.Table, new_days: int) -> pa.RecordBatch:
    """Rows of `pattern_ranks` for the rows of `url_patterns` of some whole sites."""
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
    schema = contracts.PATTERN_RANKS.arrow_schema
    table = pa.table([columns[name] for name in schema.names], schema=schema)
    (batch,) = table.combine_chunks().to_batches()
    return batch


def _first_of_sites(rows: pa.Table) -> Int64s:
    """Where the rows of each site begin, and how many there are."""
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
    """Scores and places; NULL where what they need is not known, with the reason."""
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
    """Of each row, whether its site counts anything."""
    found: Flags = np.bincount(site, counts)[site] > 0
    return found


def _of_time(patterns: pa.Table, new_days: int) -> dict[str, pa.Array]:
    """How urgent and how productive."""
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


def _make(job: Job) -> Sequence[Path]:
    days = later_half(job.present("transits"))
    return job.engine.apply_groups(
        partial(site_ranks, new_days=len(days)),
        {"url_patterns": job.files("url_patterns")},
        "site",
        job.asset.table,
        job.out,
        None,
    )


PATTERN_RANKS: Final = WindowAsset(
    "pattern_ranks",
    _make,
    days=("transits",),
    tables=(URL_PATTERNS,),
    settings=lambda settings: [settings.window.days],
)
