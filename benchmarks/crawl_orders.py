"""Crawl orders on Wikispeedia: real links between articles, and the paths of people through them.

    python benchmarks/crawl_orders.py FOLDER

FOLDER holds articles.tsv, categories.tsv, links.tsv and paths_unfinished.tsv as published. Articles
have no folders, so each is given its top category as one. Orders are learned on the earlier half of
the paths and scored on the later. The home page links one article, from which the rest follows.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from temporal_assets.core.crawl_curves import WANTED
from temporal_assets.core.crawl_policies import SCENARIOS
from temporal_assets.crawl.evaluation import evaluate
from temporal_assets.crawl.mirror import Mirror, MirrorBuilder
from temporal_assets.crawl.traffic import Traffic
from temporal_assets.logs.urls import canonical_url

SITE = "wiki.example"
HOME = f"https://{SITE}/"
FIRST = "United_Kingdom"
"""An article that links many others and is linked by many."""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    category: dict[str, str] = {}
    for article, subject in rows(folder / "categories.tsv"):
        category.setdefault(article, subject.split(".")[1])
    urls = {
        article: str(canonical_url(f"{HOME}{category.get(article, 'Other')}/{article}"))
        for (article,) in rows(folder / "articles.tsv")
    }
    paths = sorted((int(row[1]), row[0], row[3]) for row in rows(folder / "paths_unfinished.tsv"))
    half = len(paths) // 2
    learned, scored = traffic(urls, paths[:half]), traffic(urls, paths[half:])
    result = evaluate(mirror(folder, urls), learned, scored.pages)
    (site,) = result.sites
    print(f"{site.pages:,} pages, {site.links:,} links, {site.patterns} patterns")
    for scenario in SCENARIOS:
        for name, curve in result.mean(scenario).items():
            needed = ", ".join(share(curve.pages_for(wanted)) for wanted in WANTED)
            print(f"{scenario}, {name}: area {curve.area:.3f}, pages for 50, 80, 90 %: {needed}")


def share(value: float | None) -> str:
    """A share of the pages."""
    return "never" if value is None else f"{value:.1%}"


def rows(path: Path) -> Iterator[list[str]]:
    """Rows of a published table; comments and empty lines are no rows."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def mirror(folder: Path, urls: dict[str, str]) -> Mirror:
    """All articles and their links."""
    linked: dict[str, list[tuple[str, bool]]] = {article: [] for article in urls}
    for source, target in rows(folder / "links.tsv"):
        linked[source].append((urls[target], False))
    builder = MirrorBuilder()
    builder.page(HOME, [(urls[FIRST], False)])
    for article, links in linked.items():
        builder.page(urls[article], links)
    return builder.build()


def traffic(urls: dict[str, str], paths: Iterable[tuple[int, str, str]]) -> Traffic:
    """Transits of players; `<` in a path goes back and is no visit."""
    triples = set()
    for _, player, path in paths:
        trail: list[str] = []
        for step in path.split(";"):
            if step == "<":
                del trail[max(len(trail) - 1, 1) :]
                continue
            triples.add((trail[-1] if trail else None, step, player))
            trail.append(step)
    visits = Counter(target for _, target, _ in triples)
    referrals = Counter(source for source, _, _ in triples if source is not None)
    steps = Counter((source, target) for source, target, _ in triples if source is not None)
    articles = sorted(visits.keys() | referrals.keys())
    return Traffic(
        pa.table(
            {
                "site": [SITE] * len(articles),
                "url": [urls[article] for article in articles],
                "visits": [visits[article] for article in articles],
                "referrals": [referrals[article] for article in articles],
            }
        ),
        pa.table(
            {
                "site": [SITE] * len(steps),
                "referrer": [urls[source] for source, _ in steps],
                "target": [urls[target] for _, target in steps],
                "clients": list(steps.values()),
            }
        ),
    )


if __name__ == "__main__":
    main()
