"""`pattern_ranks`: what the patterns of a site are worth (BB 4), and how urgent and productive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from temporal_assets import contracts
from temporal_assets.core.behaviour_graph import BehaviourGraph, PatternRanks, rank_patterns
from temporal_assets.core.texts import Floats
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.page_traffic import later_half
from temporal_assets.windows.site_traffic import floats, links
from temporal_assets.windows.url_patterns import URL_PATTERNS, site_limits


def site_ranks(rows: pa.Table, new_days: int) -> pa.RecordBatch:
    """Rows of `pattern_ranks` for the rows of `url_patterns` of a site."""
    patterns = rows.filter(rows.column("is_pattern")).combine_chunks()
    ranks = rank_patterns(_graph(patterns))
    count = len(patterns)
    said = {
        name: pa.repeat(pa.scalar(value), count)
        for name, value in (
            ("is_converged", ranks.convergence.converged),
            ("rounds", ranks.convergence.rounds),
            ("movement", float(ranks.convergence.movement)),
            ("components", ranks.components),
        )
    }
    columns: dict[str, Any] = {
        **{name: patterns.column(name) for name in patterns.column_names},
        **_ranks(ranks, patterns),
        **said,
        "is_isolated": pa.array(ranks.is_isolated),
        **_of_time(patterns, new_days),
    }
    schema = contracts.PATTERN_RANKS.arrow_schema
    table = pa.table([columns[name] for name in schema.names], schema=schema)
    (batch,) = table.combine_chunks().to_batches()
    return batch


def _graph(patterns: pa.Table) -> BehaviourGraph:
    nodes = patterns.column("pattern").to_numpy()
    ends, transits, counts = links(patterns, "links")
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    rows = (transits.astype(np.float64), np.searchsorted(nodes, ends), first)
    return BehaviourGraph(
        patterns.column("volume").to_numpy(),
        floats(patterns, "visits"),
        floats(patterns, "referrals"),
        sparse.csr_array(rows, shape=(len(nodes), len(nodes))),
    )


def _ranks(ranks: PatternRanks, patterns: pa.Table) -> dict[str, pa.Array]:
    """Scores and places; NULL where what they need is not known, with the reason."""
    count = len(patterns)
    no_graph = np.full(count, not ranks.has_transits)
    no_referrals = np.full(count, floats(patterns, "referrals").sum() == 0)
    referred = floats(patterns, "referred").sum() > 0
    reason = None if ranks.has_transits else "no_transits" if referred else "no_referrers"
    scores = {"authority": ranks.authority, "hub": ranks.hub, "fetch_score": ranks.fetch_score}
    return {
        **{name: pa.array(score, mask=no_graph) for name, score in scores.items()},
        "rank_volume": pa.array(ranks.by_volume),
        "rank_visits": pa.array(ranks.by_overall_visit),
        "rank_average_visits": pa.array(ranks.by_average_visit),
        "rank_referrals": pa.array(ranks.by_overall_referral, mask=no_referrals),
        "rank_average_referrals": pa.array(ranks.by_average_referral, mask=no_referrals),
        "rank_fetch": pa.array(ranks.by_fetch, mask=no_graph),
        "rank_discovery": pa.array(ranks.by_discovery, mask=no_graph),
        "missing_ranks": pa.array([reason] * count, pa.string()),
    }


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


def _no_ranks(rows: pa.Table, status: str, reason: str) -> pa.RecordBatch:
    """Ranks are arithmetic: a site that cannot be ranked is a fault of ours, not of its data."""
    site = pc.first(rows.column("site")).as_py()
    raise RuntimeError(f"the patterns of {site} cannot be ranked ({status}): {reason}")


def _make(job: Job) -> Sequence[Path]:
    days = later_half(job.window("transits").present)
    return job.engine.apply_groups(
        partial(site_ranks, new_days=len(days)),
        {"url_patterns": job.files("url_patterns")},
        "site",
        job.asset.table,
        job.out,
        # A site takes milliseconds, a process two seconds to start; nothing can be left out.
        replace(site_limits(job.settings), processes=0),
        _no_ranks,
    )


PATTERN_RANKS: Final = WindowAsset(
    "pattern_ranks",
    _make,
    windows=("transits",),  # which of the days are there
    tables=(URL_PATTERNS,),
    settings=lambda settings: [settings.window.days],
)
