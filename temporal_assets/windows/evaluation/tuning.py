"""Choosing alpha, beta, K and the rule of prefixes by F, on a window that is not reported.

Here: the pages of the tuning window, split by birth. Not here: the grid (`core.lists.list_tuning`)
and the command (`cli.operate.tune`).

Lists are learned from the pages born up to a day, and judged by those born after it: what is new
is what a crawler wants to know about. Settings chosen this way may be reported on a later window,
never on the one they were chosen on.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.lists.list_tuning import (
    PrefixTrial,
    ShareTrial,
    SiteTrial,
    page_share_effect,
    tune_prefixes,
    tune_sites,
)
from temporal_assets.core.lists.site_scores import Counts, count
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.days import made_window
from temporal_assets.windows.lists.news_prefixes import rule_of
from temporal_assets.windows.lists.scored import scoring_of

_PAGES: Final = passing(
    name="tuning_pages",
    description="Pages with their labels and births.",
    grain="url",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host."),
        ColumnSpec("url", Type.VARCHAR, "The page."),
        ColumnSpec("is_temporal", Type.BOOLEAN, "By the curve."),
        ColumnSpec("is_news", Type.BOOLEAN, "By concentration."),
        ColumnSpec("is_known", Type.BOOLEAN, "Both labels say something."),
        ColumnSpec("is_aged", Type.BOOLEAN, "Old enough to be news."),
        ColumnSpec("birth", Type.DATE, "First day with views."),
        ColumnSpec("total", Type.BIGINT, "Views in the window."),
    ),
)


class NothingToTune(ValueError):
    """There are no pages to learn from or to judge by; the message says which."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was tried on one window."""

    day: dt.date
    learned_until: dt.date
    learned_pages: int
    judged_pages: int
    sites: list[SiteTrial]
    """Those in use first."""
    page_shares: list[ShareTrial]
    prefixes: list[PrefixTrial]
    """The rule in use first."""


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

    scoring = scoring_of(settings)
    label = settings.prefixes.label
    told = pages["is_aged"] if label == "news" else np.ones(len(born_late), np.bool_)
    return Tuned(
        day,
        learned_until,
        int(learned.sum()),
        int(judged.sum()),
        tune_sites(counts(learned), counts(judged), listed, scoring, settings.sites.top_k),
        page_share_effect(counts(learned), counts(judged), listed, scoring, settings.sites.top_k),
        tune_prefixes(
            section_trees(from_arrow(pages["url"])),
            pages[f"is_{label}"],
            learned & told,
            judged & told,
            rule_of(settings),
        ),
    )


def _pages(store: Store, engine: Engine, day: dt.date) -> dict[str, Any]:
    """Columns by name; `url` stays in Arrow."""
    inputs = {name: store.files(name, day) for name in ("page_labels", "page_histories")}
    parameters = made_window(store.require("page_histories", day))
    with store.scratch() as scratch:
        made = engine.query("tuning_pages", inputs, parameters, _PAGES, scratch)
        table = pa.concat_tables(
            [pq.read_table(path, partitioning=None) for path in made]
        ).combine_chunks()
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
