"""Crawl orders on real link graphs with real traffic, out of time.

    python -m benchmarks.crawl_orders [--data ../shared/data] [--only SET]
    python -m benchmarks.crawl_orders --state STATE
    python -m benchmarks.crawl_orders --demo FOLDER [--part 0/10 --save FILE]
    python -m benchmarks.crawl_orders --saved FILE...

Each set has links between pages and traffic in two periods: orders are learned on the first and
scored on the second (BB 5.3). `combined` is ours; it stands beside the simple order that has the
most traffic at each share of the pages, which is chosen with hindsight. The difference has a 95 %
interval where a set has several sites.

    wikispeedia    links of an encyclopaedia, paths of people through them; articles have no
                   folders, so each is given its top category as one
    wikipedia      five link graphs with daily views; learned on 60 days, scored on the next 60
    portal         clicks on a news portal; steps of users are links; 60 hours, and the next 60
    site           a log of a web site; steps of users are links; the first half, and the second

STATE is a state folder with a mirror, a demo's for example. FOLDER is the corpus of a demo, of
which the links and the true visits are read: a large demo needs no reading of its log. Its sites
may be crawled in parts, each part in a process of its own, and printed together.

The constants of `combined` were chosen on demo seed 11, on a quarter of the portal's clients over
six days from the first, and on the first 240 days of the encyclopaedia's views. The portal's
clients here are others, the encyclopaedia's days are later ones, and nothing was chosen on the
rest.
"""

from __future__ import annotations

import argparse
import datetime as dt
import pickle
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS
from temporal_assets.core.crawls.crawl_policies import SCENARIOS
from temporal_assets.crawl.evaluation import evaluate
from temporal_assets.crawl.evaluation_results import Evaluation, SiteResult
from temporal_assets.crawl.mirror.mirror import FOLDER, Mirror, MirrorBuilder, load
from temporal_assets.crawl.mirror.traffic import (
    Learning,
    Traffic,
    learning_of,
    mirror_of,
    traffic_of,
)
from temporal_assets.days.transits import transit_inputs
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.canonical import canonical_url
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store

Step = tuple[str | None, str, object]
"""(referrer, target, client)"""

FIRST: Final = "United_Kingdom"
"""An article that links many others and is linked by many."""
WIKI_GRAPHS: Final = (1, 2, 3, 4, 6)
"""Link graphs with fifty pages or more."""
LATER_DAYS: Final = 240
"""Days of the encyclopaedia's views before those that are reported on."""
PORTAL_START: Final = pd.Timedelta(hours=36)
PORTAL_HOURS: Final = 60
LOG_LINE: Final = re.compile(
    r'^(\S+) \S+ \S+ \[([^]]+)\] "GET (\S+) [^"]*" (\d+) \S+ "([^"]*)" "([^"]*)"'
)
NO_PAGE: Final = re.compile(r"\.(png|jpe?g|gif|css|js|ico|gz|zip|svg|woff2?|ttf|pdf|txt|xml)$")
SITE: Final = "https://www.semicomplete.com"


@dataclass(frozen=True, slots=True)
class Set:
    """Links, traffic to learn from and traffic that scores."""

    mirror: Mirror
    learned: Learning
    scored: Traffic


def main() -> None:
    """Print a table for each set and scenario."""
    sets = {"wikispeedia": wikispeedia, "wikipedia": wikipedia, "portal": portal, "site": site}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=sets)
    parser.add_argument("--state", type=Path, help="a state folder with a mirror, instead")
    parser.add_argument("--demo", type=Path, help="the folder of a demo corpus, instead")
    parser.add_argument("--part", default="0/1", help="part of its sites, such as 3/10")
    parser.add_argument("--save", type=Path, help="keep what was crawled in a file")
    parser.add_argument("--saved", type=Path, nargs="+", help="print what such files have, instead")
    given = parser.parse_args()
    if given.saved is not None:
        show("saved", together([pickle.loads(path.read_bytes()) for path in given.saved]))  # noqa: S301 - files of our own
        return
    if given.demo is not None:
        result = crawled(corpus(given.demo, *map(int, given.part.split("/"))))
        if given.save is not None:
            given.save.write_bytes(pickle.dumps((result.sites, dict(result.skipped))))
        show(str(given.demo), result)
        return
    if given.state is not None:
        show(str(given.state), crawled(stored(given.state)))
        return
    for name in [given.only] if given.only else sets:
        show(name, crawled(sets[name](given.data)))


def crawled(mirrors: Set) -> Evaluation:
    """Crawl every site of a set."""
    return evaluate(mirrors.mirror, mirrors.learned, mirrors.scored.pages)


def together(parts: list[tuple[tuple[SiteResult, ...], dict[str, str]]]) -> Evaluation:
    """Return the sites of several parts as those of one set."""
    sites = sorted((site for own, _ in parts for site in own), key=lambda site: site.site)
    return Evaluation(tuple(sites), {k: why for _, own in parts for k, why in own.items()})


def show(name: str, result: Evaluation) -> None:
    """Print traffic at each share of the pages."""
    pages, links = (sum(getattr(one, what) for one in result.sites) for what in ("pages", "links"))
    visited = sum(one.visited for one in result.sites) / pages
    print(f"\n## {name}: {len(result.sites)} sites, {pages:,} pages, {links:,} links,", end=" ")
    print(f"{visited:.0%} of the pages have traffic that scores")
    print("".join(f"\nleft out: {name}, {why}" for name, why in result.skipped.items()))
    header = " | ".join(f"{share:.0%}" for share in THROUGHPUTS)
    print(f"| scenario | order | {header} |\n|---|---|{'---:|' * len(THROUGHPUTS)}")
    for scenario in SCENARIOS:
        show_scenario(result, scenario)


def show_scenario(result: Evaluation, scenario: str) -> None:
    """Print the curves of one scenario, and what ours has more than the best simple order."""
    at = np.array(THROUGHPUTS)
    for order, curve in result.mean(scenario).items():
        print(f"| {scenario} | {order} |", " | ".join(f"{v:.3f}" for v in curve.at(at)), "|")
    best = result.best_baseline(scenario, at)
    gain = result.gain(scenario, "combined", best, at)
    cells = [f"{v:+.3f}" for v in gain.mean]
    if gain.low is not None and gain.high is not None:
        bounds = zip(gain.low, gain.high, strict=True)
        cells = [f"{c} [{a:+.2f}, {b:+.2f}]" for c, (a, b) in zip(cells, bounds, strict=True)]
    print(f"| {scenario} | **combined less the best** |", " | ".join(cells), "|")
    print(f"| {scenario} | which is |", " | ".join(best), "|")


def stored(state: Path) -> Set:
    """Read the mirror and the transits of a state folder; orders learn from the first half."""
    settings = load_settings(state)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    mirror = load(settings.state / FOLDER)
    days = store.days("transits")
    half = days[len(days) // 2]
    with store.scratch() as scratch:
        manifests = [store.require("transits", day) for day in days]
        early = {
            manifest.day: transit_inputs(store, [manifest])
            for manifest in manifests
            if manifest.day < half
        }
        late = transit_inputs(store, [manifest for manifest in manifests if manifest.day >= half])
        learned = learning_of(engine, early, scratch, mirror.sites)
        return Set(mirror, learned, traffic_of(engine, late, scratch, mirror.sites))


def corpus(folder: Path, part: int, parts: int) -> Set:
    """Read links and true visits of a part of a demo's sites, learned on half of its days."""
    truth = pq.read_table(folder / "truth" / "sites.parquet", columns=["site"])
    sites = sorted(truth["site"].to_pylist())[part::parts]
    builder = MirrorBuilder()
    links = _of_sites(folder / "mirror" / "links.parquet", "source", sites)
    for source, target in zip(*(column.to_pylist() for column in links.columns), strict=True):
        builder.link(source, target)
    visits = _of_sites(folder / "truth" / "transits.parquet", "target", sites)
    days = np.unique(visits["day"].to_numpy())
    quarter = visits["day"].to_numpy() >= days[len(days) // 4]
    half = visits["day"].to_numpy() >= days[len(days) // 2]
    first, second, third, learned = (
        _true_traffic(visits.filter(own), sites) for own in (~quarter, quarter & ~half, half, ~half)
    )
    return Set(builder.build(), Learning(learned, first, second), third)


def _of_sites(path: Path, column: str, sites: list[str]) -> pa.Table:
    """Return the rows of a table of which a column is a URL of one of the sites, in their order."""
    batches = []
    for batch in pq.ParquetFile(path).iter_batches(1_000_000):
        host = pc.struct_field(pc.extract_regex(batch[column], "//(?P<host>[^/:]+)"), "host")
        batches.append(batch.filter(pc.is_in(host, pa.array(sites))))
    return pa.Table.from_batches(batches)


def _true_traffic(visits: pa.Table, sites: list[str]) -> Traffic:
    """Count the visits of each site."""
    host = pc.struct_field(pc.extract_regex(visits["target"], "//(?P<host>[^/:]+)"), "host")
    traffic = []
    for site in sites:
        own = visits.filter(pc.equal(host, site))
        columns = (own[name].to_pylist() for name in ("referrer", "target", "client"))
        traffic.append(traffic_of_steps(site, zip(*columns, strict=True)))
    tables = ([period.pages for period in traffic], [period.transits for period in traffic])
    return Traffic(*map(pa.concat_tables, tables))


def traffic_of_steps(site: str, steps: Iterable[Step]) -> Traffic:
    """Count distinct steps (BB 2)."""
    triples = set(steps)
    visits = Counter(target for _, target, _ in triples)
    inside = [step for step in triples if step[0] in visits]
    referrals = Counter(source for source, _, _ in inside)
    pairs = Counter((source, target) for source, target, _ in inside)
    urls = sorted(visits)
    pages = {
        "site": pa.array([site] * len(urls), pa.string()),
        "url": pa.array(urls, pa.string()),
        "visits": pa.array([visits[url] for url in urls], pa.int64()),
        "referrals": pa.array([referrals[url] for url in urls], pa.int64()),
    }
    transits = {
        "site": pa.array([site] * len(pairs), pa.string()),
        "referrer": pa.array([source for source, _ in pairs], pa.string()),
        "target": pa.array([target for _, target in pairs], pa.string()),
        "clients": pa.array(pairs.values(), pa.int64()),
    }
    return Traffic(pa.table(pages), pa.table(transits))


def set_of_steps(site: str, parts: list[list[Step]], mirror: Mirror | None = None) -> Set:
    """Make a set from the steps of three periods: two to learn from, one that scores."""
    first, second, third = parts
    learned = Learning(
        traffic_of_steps(site, first + second),
        traffic_of_steps(site, first),
        traffic_of_steps(site, second),
    )
    links = mirror or mirror_of(traffic_of_steps(site, first + second + third))
    return Set(links, learned, traffic_of_steps(site, third))


def wikispeedia(data: Path) -> Set:
    """Read the game: learned on the earlier half of the paths."""
    folder, site = data / "wikispeedia", "wiki.example"
    category: dict[str, str] = {}
    for article, subject in rows(folder / "categories.tsv"):
        category.setdefault(article, subject.split(".")[1])
    urls = {
        article: str(canonical_url(f"https://{site}/{category.get(article, 'Other')}/{article}"))
        for (article,) in rows(folder / "articles.tsv")
    }
    linked: dict[str, list[tuple[str, bool]]] = {article: [] for article in urls}
    for source, target in rows(folder / "links.tsv"):
        linked[source].append((urls[target], False))
    builder = MirrorBuilder()
    builder.page(f"https://{site}/", [(urls[FIRST], False)])
    for article, links in linked.items():
        builder.page(urls[article], links)
    paths = sorted((int(row[1]), row[0], row[3]) for row in rows(folder / "paths_unfinished.tsv"))
    quarter = len(paths) // 4
    parts = (paths[:quarter], paths[quarter : 2 * quarter], paths[2 * quarter :])
    steps = [[step for path in part for step in trail(urls, path)] for part in parts]
    return set_of_steps(site, steps, builder.build())


def rows(path: Path) -> Iterator[list[str]]:
    """Yield rows of a published table; comments and empty lines are no rows."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def trail(urls: dict[str, str], path: tuple[int, str, str]) -> Iterator[Step]:
    """Yield the steps of a player; `<` goes back and is no visit."""
    _, player, text = path
    behind: list[str] = []
    for step in text.split(";"):
        if step == "<":
            del behind[max(len(behind) - 1, 1) :]
            continue
        yield (urls[behind[-1]] if behind else None, urls[step], player)
        behind.append(step)


def wikipedia(data: Path) -> Set:
    """Read daily views of pages and their links; where readers came from is not known."""
    builder = MirrorBuilder()
    periods = ((0, 30), (30, 60), (0, 60), (60, 120))
    counts: list[list[tuple[str, str, int]]] = [[] for _ in periods]
    for number in WIKI_GRAPHS:
        folder, site = data / "wiki_pageviews_links" / f"trial_{number}", f"wiki{number}.example"
        views = pd.read_csv(folder / "ts.csv", index_col=0).fillna(0).iloc[:, LATER_DAYS:]
        titles = pd.read_csv(folder / "mapping.csv").set_index("id")["title"]
        pages = [page for page in views.index if page in titles.index]
        url = {page: str(canonical_url(f"https://{site}/wiki/{titles[page]}")) for page in pages}
        linked: dict[int, list[tuple[str, bool]]] = {page: [] for page in pages}
        edges = pd.read_csv(folder / "edges.csv")
        for source, target in zip(edges["src"], edges["dst"], strict=True):
            if source in linked and target in linked:
                linked[source].append((url[target], False))
        most = max(pages, key=lambda page: len(linked[page]))
        builder.page(f"https://{site}/", [(url[most], False)])
        for page in pages:
            builder.page(url[page], linked[page])
        for (start, stop), opened in zip(periods, counts, strict=True):
            sums = (views.iloc[:, start:stop].sum(axis=1) / 1000).astype(int)
            opened += [(site, url[page], int(sums[page])) for page in pages if sums[page] > 0]
    earlier, later, whole, scored = map(views_alone, counts)
    return Set(builder.build(), Learning(whole, earlier, later), scored)


def views_alone(counts: list[tuple[str, str, int]]) -> Traffic:
    """Return traffic of which only visits are known."""
    sites, urls, visits = zip(*sorted(counts), strict=True)
    pages = {
        "site": pa.array(sites, pa.string()),
        "url": pa.array(urls, pa.string()),
        "visits": pa.array(visits, pa.int64()),
        "referrals": pa.array([0] * len(urls), pa.int64()),
    }
    return Traffic(pa.table(pages), traffic_of_steps("", []).transits)


def portal(data: Path) -> Set:
    """Read clicks of a quarter of the portal's clients."""
    clicks = pq.read_table(data / "globo_clicks/clicks_2017-10-01_to_08.parquet").to_pandas()
    start = clicks["ts"].min().floor("D") + PORTAL_START
    hours = (clicks["ts"] - start) / pd.Timedelta(hours=1)
    clicks = clicks[(clicks["client"] % 4 == 1) & (hours >= 0) & (hours < 2 * PORTAL_HOURS)]
    home = "https://globo.example/"
    before = clicks["previous_article"].astype("Int64").astype("string")
    steps = pd.DataFrame(
        {
            "referrer": (home + "a/" + before).fillna(home),
            "target": home + "a/" + clicks["article"].astype("string"),
            "client": clicks["client"],
        }
    )
    entries = steps[steps["referrer"] == home].assign(referrer=None, target=home)
    passed = hours[clicks.index] / PORTAL_HOURS
    bounds = ((0, 0.5), (0.5, 1), (1, 2))
    parts = []
    for low, high in bounds:
        own = (passed >= low) & (passed < high)
        both = pd.concat([entries[own.reindex(entries.index)], steps[own]])
        parts.append(list(both.astype(object).where(both.notna(), None).itertuples(False, None)))
    return set_of_steps("globo.example", parts)


def site(data: Path) -> Set:
    """Read the log of the web site, without its robots and what is no page."""
    steps: list[tuple[dt.datetime, Step]] = []
    with (data / "elastic_logs/apache_logs").open(encoding="utf-8", errors="replace") as file:
        for line in file:
            match = LOG_LINE.match(line)
            if match is None or "bot" in match[6].lower() or match[4] not in ("200", "206", "304"):
                continue
            target = canonical_url(SITE + match[3])
            if target is None or NO_PAGE.search(target.split("?")[0]):
                continue
            came = re.sub(r"^http://(www\.)?semicomplete\.com", SITE, match[5])
            referrer = canonical_url(came) if came.startswith(SITE) else None
            moment = dt.datetime.strptime(match[2], "%d/%b/%Y:%H:%M:%S %z")
            steps.append((moment, (referrer, target, match[1])))
    steps.sort(key=lambda row: row[0])
    quarter = len(steps) // 4
    parts = (steps[:quarter], steps[quarter : 2 * quarter], steps[2 * quarter :])
    return set_of_steps(SITE.split("//")[1], [[step for _, step in part] for part in parts])


if __name__ == "__main__":
    main()
