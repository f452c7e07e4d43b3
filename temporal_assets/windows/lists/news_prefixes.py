"""`news_prefixes`: the prefixes under which enough pages are news (NP 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.contracts import passing
from temporal_assets.core.lists.dated_sections import dated_sections, passing_sections
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, PrefixRule
from temporal_assets.core.numerics.proportions import chance_of_less, lower_bound, share
from temporal_assets.settings import VIEWS_PER_CLIENT, Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.lists import sections
from temporal_assets.windows.lists.flow_shares import Flow, flow_counts, flow_of
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.scored import SPLIT_CONFIDENCE, SPLITTING_PAGES
from temporal_assets.windows.lists.sections import write_section_paths
from temporal_assets.windows.lists.site_scores import quietness, write_activity

_BATCH_ROWS: Final = 65_536

_SCORED: Final = passing(
    "scored_prefixes",
    *contracts.PREFIX_TREES.columns,
    # `chance` is that of so low a score where the threshold is the truth.
    "score DOUBLE, bound DOUBLE, is_good BOOLEAN, weight DOUBLE, chance DOUBLE",
)


def rule_of(settings: Settings) -> PrefixRule:
    """Return the rule by which the stock makes a section a news prefix, as configured."""
    prefixes = settings.prefixes
    if prefixes.rule == "paper":
        rule = PAPER_RULE
    else:
        rule = PrefixRule(min_pages=SPLITTING_PAGES, confidence=SPLIT_CONFIDENCE)
    return rule if prefixes.threshold is None else replace(rule, threshold=prefixes.threshold)


_OLD_ENOUGH: Final = {"news": "aged_pages", "temporal": "curve_pages"}


@dataclass(frozen=True, slots=True)
class Walk:
    """Rule, label and flow by which prefixes are chosen on a walk down the prefix trees."""

    kind: Literal["flow", "confident", "paper"]
    label: Literal["news", "temporal"]
    rule: PrefixRule
    flow: Flow

    @property
    def counted(self) -> str:
        """Name of the column with the pages that the share of `label` refers to."""
        # What is too young to be news says nothing of a folder; the paper does not ask.
        return "pages" if self.kind == "paper" else _OLD_ENOUGH[self.label]


def score_prefixes(batch: pa.RecordBatch, walk: Walk) -> pa.RecordBatch:
    """Return rows of `prefix_trees` with the share that is compared with the threshold.

    `pages` and `news_pages` are replaced by the pages of the stock that count.
    """
    names = batch.column("prefix").to_pylist()
    pages, news = batch.column(walk.counted), batch.column(f"{walk.label}_pages")
    if walk.kind == "flow":
        weight, part = flow_counts(batch, walk.flow)
        score, bound = (batch.column(name).to_numpy() for name in ("flow_score", "flow_bound"))
        is_good = (score > walk.rule.threshold) & ~passing_sections(names)
    else:
        weight, part = pages.to_numpy(), news.to_numpy()
        score = share(part, weight)
        bound = lower_bound(score, weight, walk.rule.confidence)
        is_good = (weight >= walk.rule.min_pages) & (bound > walk.rule.threshold)
    chance = chance_of_less(share(part, weight), weight, walk.rule.threshold)
    # A chance of one splits nothing.
    chance[dated_sections(names)] = 1.0
    chance[weight < walk.rule.min_pages] = 1.0
    new_columns = {
        "pages": pages,
        "news_pages": news,
        "score": pa.array(score),
        "bound": pa.array(bound),
        "is_good": pa.array(is_good),
        "weight": pa.array(weight.astype(np.float64)),
        "chance": pa.array(chance),
    }
    schema = _SCORED.arrow_schema
    columns = [
        new_columns[name] if name in new_columns else batch.column(name) for name in schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def walk_of(job: Job) -> Walk:
    """Return how the prefixes of a window are chosen."""
    prefixes, flow = job.settings.prefixes, flow_of(job)
    rule = rule_of(job.settings)
    if prefixes.rule == "flow" and prefixes.threshold is None:
        rule = replace(rule, threshold=flow.worth)
    return Walk(prefixes.rule, prefixes.label, rule, flow)


def _make(job: Job) -> Sequence[Path]:
    """Write `news_prefixes`: score sections, then select prefixes and rank them."""
    walk = walk_of(job)
    trees = {"prefix_trees": job.files("prefix_trees")}
    kernel = partial(score_prefixes, walk=walk)
    scored = job.engine.apply(kernel, trees, _SCORED, job.out, _BATCH_ROWS)
    inputs = {
        "scored_prefixes": [str(path) for path in scored],
        "section_paths": write_section_paths(job.engine, trees, job.out),
        "site_activity": write_activity(job),
    }
    parameters = {
        "day": job.day,
        "rule": walk.kind,
        "threshold": walk.rule.threshold,
        "min_pages": walk.rule.min_pages,
        "confidence": walk.rule.confidence,
        "doubt": 1 - walk.rule.confidence,
        "splits_mixed": walk.rule.splits_mixed,
        "min_clients": job.settings.privacy.min_clients,
        **quietness(job),
    }
    return job.engine.query("news_prefixes", inputs, parameters, job.asset.table, job.out)


NEWS_PREFIXES: Final = WindowAsset(
    "news_prefixes",
    _make,
    windows=("page_views",),
    tables=(PREFIX_TREES,),
    sql=("site_activity", "news_prefixes"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        VIEWS_PER_CLIENT,
        sections.QUIET_DAYS,
        sections.QUIET_SHARE,
        SPLITTING_PAGES,
        settings.prefixes.model_dump(mode="json"),
    ],
)
