"""Choosing alpha, beta, K and the rule of prefixes by F, on a window that is not reported.

Here: the pages of the tuning window, split by birth. Not here: the grid (`core.lists.list_tuning`)
and the command (`cli.trial.rules`).

Lists are learned from the pages born up to a day, and judged by those born after it: what is new
is what a crawler wants to know about. Settings chosen this way may be reported on a later window,
never on the one they were chosen on.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.contracts import passing
from temporal_assets.core.lists.list_tuning import (
    Kind,
    PrefixTrial,
    ShareTrial,
    SiteTrial,
    learn_flow,
    page_share_effect,
    tune_prefixes,
    tune_sites,
)
from temporal_assets.core.lists.site_scores import Counts, count
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.text.url_sections import SectionTrees, section_trees
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.days import histories_parameters, histories_window
from temporal_assets.windows.lists.news_prefixes import rule_of
from temporal_assets.windows.lists.page_flow import flow_from
from temporal_assets.windows.lists.scored import scoring_of

_PAGES: Final = passing(
    "tuning_pages",
    "site VARCHAR, url VARCHAR, is_temporal BOOLEAN, is_news BOOLEAN, is_known BOOLEAN,"
    " is_aged BOOLEAN, birth DATE, total BIGINT",
)


class NothingToTune(ValueError):
    """There are no pages to learn from or to judge by; the message says which."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The rules tried on one window."""

    day: dt.date
    learned_until: dt.date
    learned_pages: int
    born_pages: int
    """Number of pages among the learned ones that were born in the window: the flow."""
    judged_pages: int
    sites: list[SiteTrial]
    """Trials of sites, those in use first."""
    page_shares: list[ShareTrial]
    prefixes: list[PrefixTrial]
    """Trials of prefix rules, the rule in use first."""


def tune(
    store: Store, engine: Engine, settings: Settings, day: dt.date, learned_until: dt.date
) -> Tuned:
    """Try weights, lengths and rules on the window that ends with `day`."""
    pages = _pages(store, engine, day)
    born_late = pages["birth"] > np.datetime64(learned_until)
    learned, judged = ~born_late, born_late & pages["is_known"]
    for rows, what in ((learned, "up to"), (judged, "after")):
        if not rows.any():
            raise NothingToTune(
                f"no page of the window up to {day} was born {what} {learned_until} and has labels"
            )
    names, of = np.unique(_site_names(settings, pages["site"]), return_inverse=True)
    listed = [str(name) for name in names]

    def counts(rows: NDArray[np.bool_]) -> Counts:
        temporal, views = pages["is_temporal"][rows], pages["total"][rows]
        return count(of[rows], temporal, views, len(listed))

    born = learned & (pages["birth"] >= np.datetime64(_flow_from(store, day)))
    trees = section_trees(from_arrow(pages["url"]))
    flow = learn_flow(trees, pages["is_temporal"], born, learned & ~born)
    sites, prefixes = settings.sites, settings.prefixes
    scoring = scoring_of(settings)
    in_use: Kind = prefixes.rule
    rule = rule_of(settings)
    if in_use == "flow" and prefixes.threshold is None:
        rule = replace(rule, threshold=flow.worth)
    # By the flow it is temporal pages that a prefix is to cover.
    label = "temporal" if in_use == "flow" else prefixes.label
    has_outcome = pages["is_aged"] if label == "news" else np.ones(len(born_late), np.bool_)
    uses_flow = sites.rule == "flow"
    of_sites = (counts(learned), counts(judged), listed)
    return Tuned(
        day,
        learned_until,
        int(learned.sum()),
        int(born.sum()),
        int(judged.sum()),
        tune_sites(
            *of_sites, None if uses_flow else scoring, sites.top_k, _by_site(trees, flow.merit, of)
        ),
        page_share_effect(*of_sites, scoring, sites.top_k),
        tune_prefixes(
            trees,
            pages[f"is_{label}"],
            learned & has_outcome,
            judged & has_outcome,
            (in_use, rule),
            flow,
        ),
    )


def _flow_from(store: Store, day: dt.date) -> dt.date:
    """Return the first day on which a page of the window counts as born."""
    first, observed = histories_window(store.require("page_histories", day))
    present = [first + dt.timedelta(days=n) for n in np.flatnonzero(observed).tolist()]
    return flow_from(present)


def _by_site(trees: SectionTrees, merit: Floats, of: NDArray[np.int64]) -> Floats:
    """Return the sum over each site of the merits of its hosts' root sections."""
    root, first = np.unique(trees.roots, return_index=True)
    merit_of_site: Floats = np.bincount(of[first], merit[root], int(of.max()) + 1).astype(
        np.float64
    )
    return merit_of_site


def _pages(store: Store, engine: Engine, day: dt.date) -> dict[str, Any]:
    """Return the columns of the pages by name, as arrays; `url` stays in Arrow."""
    inputs = {name: store.files(name, day) for name in ("page_labels", "page_histories")}
    parameters = histories_parameters(store.require("page_histories", day))
    with store.scratch() as scratch:
        written = engine.query("tuning_pages", inputs, parameters, _PAGES, scratch)
        table = pa.concat_tables([whole_table(path) for path in written]).combine_chunks()
    numbers = {
        name: table.column(name).to_numpy()
        for name in ("is_temporal", "is_news", "is_known", "is_aged", "total")
    }
    birth = table.column("birth").to_numpy().astype("datetime64[D]")
    url = pa.concat_arrays(table.column("url").chunks) if len(table) else pa.array([], pa.string())
    return numbers | {"birth": birth, "url": url, "site": table.column("site").to_pylist()}


def _site_names(settings: Settings, hosts: list[str]) -> list[str]:
    if settings.sites.by == "host":
        return hosts
    return [registrable_domain(host) for host in hosts]
