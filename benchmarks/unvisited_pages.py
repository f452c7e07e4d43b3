"""What pages that nobody visits do to crawl orders: the demo's mirror, and larger ones around it.

    python benchmarks/unvisited_pages.py STATE

STATE is a demo with its mirror. BB's mirrors hold 11 times the URLs of their logs (Table 2), the
demo's hardly more than its log. Every page is given some of what a brute-force crawl finds beside
it and no user opens: views for printing, forms to reply, versions, other orders of a list, each of
them linked at the end of the page and leading back. Traffic stays what it is.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from temporal_assets.core.crawl_policies import SCENARIOS
from temporal_assets.crawl.evaluation import evaluate
from temporal_assets.crawl.mirror import FOLDER, Mirror, MirrorBuilder, load
from temporal_assets.crawl.traffic import traffic_of
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store

FORMS = (
    "/print/{page}.html",
    "/reply?to={page}",
    "/history?page={page}&version=1",
    "/history?page={page}&version=2",
    "/list?sort=author&at={page}",
    "/list?sort=oldest&at={page}",
    "/calendar/2019/{page}",
    "/member/{page}/profile",
    "/report?page={page}",
    "/rss/{page}/comments",
)
SHOWN = ("combined", "behaviour_graph", "page_rank", "breadth_first", "random")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("state", type=Path)
    settings = load_settings(parser.parse_args().state)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    known = load(settings.state / FOLDER)
    days = store.days("transits")
    halves = []
    for part in (days[: len(days) // 2], days[len(days) // 2 :]):
        files = [path for day in part for path in store.files("transits", day)]
        with store.scratch() as scratch:
            halves.append(traffic_of(engine, files, scratch, known.sites))
    print(f"| unvisited pages for each | scenario | {' | '.join(SHOWN)} |")
    print("|---:|---|" + "---:|" * len(SHOWN))
    for forms in (0, 2, 10):
        result = evaluate(with_unvisited(known, forms), halves[0], halves[1].pages)
        for scenario in SCENARIOS:
            curves = result.mean(scenario)
            needed = [curves[name].pages_for(0.8) for name in SHOWN]
            cells = ("never" if share is None else f"{share:.1%}" for share in needed)
            print(f"| {forms} | {scenario} | {' | '.join(cells)} |")


def with_unvisited(mirror: Mirror, forms: int) -> Mirror:
    """The mirror with so many unvisited pages for every page."""
    builder = MirrorBuilder()
    urls = mirror.urls.to_pylist()
    for page, url in enumerate(urls):
        origin = "/".join(url.split("/")[:3])
        beside = [origin + form.format(page=page) for form in FORMS[:forms]]
        links = [urls[goal] for goal in mirror.links.of(page).tolist()]
        builder.page(url, [(goal, False) for goal in (*links, *beside)])
        for one in beside:
            builder.page(one, [(url, False), (f"{origin}/", False)])
    return builder.build()


if __name__ == "__main__":
    main()
