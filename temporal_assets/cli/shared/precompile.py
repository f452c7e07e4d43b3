"""Compiling the loops of the window assets while logs are still being read.

Here: the process that does so, and what it runs. Not here: the loops (`core`), and how they are
compiled and kept on disk (`core.numerics.compiled`).

A fresh installation compiles every loop when it is first called, which takes longer than a small
corpus takes in all. The loops of curves, patterns and simulations are needed last and cost most:
they are compiled by a process of their own, by calling them on next to nothing.
"""

from __future__ import annotations

import datetime as dt
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from temporal_assets.cli.shared import console
from temporal_assets.machine import same_python

if TYPE_CHECKING:
    import pyarrow as pa

_PAGES: Final = 40
"""Pages of the site whose patterns are learned: enough for its tree to have branches."""

_DAYS: Final = 30
"""Days on which they were born: enough to say which values last."""


@contextmanager
def precompiling() -> Iterator[None]:
    """Compile beside what is done inside; says so, and does nothing where all is compiled."""
    if _is_compiled():
        yield
        return
    console.say("Compiling numerical loops meanwhile, once for this installation")
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(  # noqa: S603 - a module of ours
        same_python.command("temporal_assets.cli.shared.precompile"),
        stdout=quiet,
        stderr=quiet,
        env=same_python.environment(),
    )
    try:
        yield
    finally:
        # Whatever it has not come to by now was not needed, or is compiled already.
        child.terminate()
        child.wait()


def _is_compiled() -> bool:
    """Return whether the loop that takes longest is on disk, for this version of its file."""
    from temporal_assets.core.curves import curves

    loop = curves._fit_rows
    kept = Path(loop.stats.cache_path)  # type: ignore[attr-defined]
    source = Path(curves.__file__)
    return any(
        index.stat().st_mtime >= source.stat().st_mtime
        for index in kept.glob("curves._fit_rows-*.nbi")
    )


def compile_all() -> None:
    """Call every loop of the window assets that takes seconds to compile."""
    import numpy as np
    import pyarrow as pa

    from temporal_assets.core.crawls.crawl_simulation import crawl
    from temporal_assets.core.crawls.timely_simulation import Strategy, TimelyWorld, simulate_timely
    from temporal_assets.core.curves.curves import fit
    from temporal_assets.core.graph.link_graph import LinkGraph
    from temporal_assets.core.graph.page_rank import page_rank
    from temporal_assets.core.hubs.coverage import greedy_order
    from temporal_assets.core.hubs.yields import NewLinks
    from temporal_assets.core.hubs.yields import learn as learn_yields
    from temporal_assets.core.patterns.pattern_match import compile_matcher
    from temporal_assets.core.text.sorted_texts import Keys, Seeker, count_up_to, merged
    from temporal_assets.core.text.texts import texts
    from temporal_assets.core.text.url_sections import section_trees
    from temporal_assets.core.traffic.moved_links import LinkLists, moved_links
    from temporal_assets.engines.arrow_texts import from_arrow
    from temporal_assets.windows.patterns.pattern_nodes import PatternOptions, learn, site_nodes

    fit(np.ones((1, 60)))
    rows = _site()
    urls = pa.concat_arrays(rows.column("url").chunks)
    trees = section_trees(from_arrow(urls))
    trees.total(np.ones(len(urls), np.int64))
    options = PatternOptions("support", "transit", 5)
    site_nodes(rows, options)
    _, learned = learn(rows, options)
    compile_matcher(learned.patterns).match(texts(["https://a.example/news001"]))
    ones, yes = np.ones(1), np.ones(1, np.bool_)
    start, target = np.array([0, 1]), np.zeros(1, np.int32)
    graph = LinkGraph(start, target)
    greedy_order(graph, [0])
    learn_yields(NewLinks(start, start, start), np.ones(9, np.bool_))
    page_rank(graph)
    pairs = Keys(texts(["a"]), np.zeros(1, np.int32), texts(["a"]))
    Seeker([pairs], 1).look(pairs, 0)
    merged(pairs, pairs)
    count_up_to(pairs, 0, pairs)
    none = np.zeros(0, np.int64)
    no_links = LinkLists(np.zeros(1, np.int64), none, none)
    moved_links(no_links, none, none, none, no_links, none)
    crawl(graph, [0], [1.0])
    world = TimelyWorld(graph, np.zeros(1, np.int64), ones, ones, ones, ones, yes)
    plan = Strategy(ones, ones, new_first=True, is_adaptive=True, is_allowed=yes)
    simulate_timely(world, plan, 1.0, 1.0)


def _site() -> pa.Table:
    """Rows of `page_traffic` of a site of two kinds of pages, each linked from the one before."""
    import pyarrow as pa

    from temporal_assets.contracts.traffic.page_traffic import PAGE_TRAFFIC

    day, numbers = dt.date(2026, 1, 1), range(_PAGES)
    columns = {
        "day": [day] * _PAGES,
        "site": ["a.example"] * _PAGES,
        "url": [f"https://a.example/{'news' if n % 2 else 'list.php?id='}{n:03}" for n in numbers],
        "few_clients": [[n] for n in numbers],
        "birth": [day + dt.timedelta(days=n % _DAYS) for n in numbers],
        "links": [[{"page": n - 1, "transits": 1}] if n else [] for n in numbers],
    }
    schema = PAGE_TRAFFIC.arrow_schema
    rest = {
        field.name: [False if pa.types.is_boolean(field.type) else 1] * _PAGES
        for field in schema
        if field.name not in columns
    }
    return pa.Table.from_pydict({**columns, **rest}, schema)


if __name__ == "__main__":
    compile_all()
