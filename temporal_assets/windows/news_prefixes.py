"""`news_prefixes`: the prefixes under which enough pages are news (NP 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.dated_sections import dated_sections
from temporal_assets.core.prefix_tree import PAPER_RULE, PrefixRule
from temporal_assets.core.proportions import chance_of_less, lower_bound, share
from temporal_assets.settings import Settings
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.prefix_trees import PREFIX_TREES
from temporal_assets.windows.sections import write_section_paths
from temporal_assets.windows.site_scores import quietness, write_activity

_BATCH_ROWS: Final = 65_536

_SCORED: Final = passing(
    name="scored_prefixes",
    description="Sections with the share of news and its bound.",
    grain="prefix",
    columns=(
        *contracts.PREFIX_TREES.columns,
        ColumnSpec("score", Type.DOUBLE, "Share of news."),
        ColumnSpec("bound", Type.DOUBLE, "Lower bound of `score`."),
        ColumnSpec("chance", Type.DOUBLE, "Of so low a score where the threshold is the truth."),
    ),
)


def rule_of(settings: Settings) -> PrefixRule:
    """When a section is a news prefix under the settings."""
    prefixes = settings.prefixes
    if prefixes.rule == "paper":
        rule = PAPER_RULE
    else:
        rule = PrefixRule(min_pages=prefixes.min_pages, confidence=prefixes.confidence)
    return rule if prefixes.threshold is None else replace(rule, threshold=prefixes.threshold)


_OLD_ENOUGH: Final = {"news": "aged_pages", "temporal": "curve_pages"}


def score_prefixes(
    batch: pa.RecordBatch, label: str, rule: PrefixRule, counted: str
) -> pa.RecordBatch:
    """Rows of `prefix_trees` with their share of news; `news_pages` are those that count.

    The share is one of the pages in the column `counted`, which become `pages`.
    """
    news, pages = batch.column(f"{label}_pages"), batch.column(counted).to_numpy()
    score = share(news.to_numpy(), pages)
    chance = chance_of_less(score, pages, rule.threshold)
    # A chance of one splits nothing.
    chance[dated_sections(batch.column("prefix").to_pylist())] = 1.0
    made = {
        "pages": batch.column(counted),
        "news_pages": news,
        "score": pa.array(score),
        "bound": pa.array(lower_bound(score, pages, rule.confidence)),
        "chance": pa.array(chance),
    }
    schema = _SCORED.arrow_schema
    columns = [made[name] if name in made else batch.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _make(job: Job) -> Sequence[Path]:
    rule = rule_of(job.settings)
    trees = {"prefix_trees": job.files("prefix_trees")}
    prefixes = job.settings.prefixes
    # What is too young to be news says nothing of a folder; the paper does not ask.
    counted = "pages" if prefixes.rule == "paper" else _OLD_ENOUGH[prefixes.label]
    kernel = partial(score_prefixes, label=prefixes.label, rule=rule, counted=counted)
    scored = job.engine.apply(kernel, trees, _SCORED, job.out, _BATCH_ROWS)
    inputs = {
        "scored_prefixes": [str(path) for path in scored],
        "section_paths": write_section_paths(job.engine, trees, job.out),
        "site_activity": write_activity(job),
    }
    parameters = {
        "day": job.day,
        "threshold": rule.threshold,
        "min_pages": rule.min_pages,
        "confidence": rule.confidence,
        "doubt": 1 - rule.confidence,
        "splits_mixed": rule.splits_mixed,
        "min_clients": job.settings.privacy.min_clients,
        "drops_quiet": prefixes.quiet == "drop",
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
        settings.sites.quiet_days,
        settings.sites.quiet_share,
        settings.prefixes.model_dump(mode="json"),
    ],
)
