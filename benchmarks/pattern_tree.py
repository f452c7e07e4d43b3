"""URL patterns at scale: one large site, many small ones, and the matcher.

Run `python benchmarks/pattern_tree.py` (minutes), or with `--quick` (seconds, smaller sites).

Measured is `learn_patterns`: keys, tree, both cuts, behaviour graph and ranks, from URLs and
transits in memory. Every size runs in a process of its own, so that its peak memory is its own; the
memory includes the site that is learned from. Making the site is not timed, nor is compilation,
which happens once on a machine. Time is given as elapsed and as processor time: on a busy machine
only the second says what the program costs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_quality import tree_size
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.site_patterns import SitePatterns, SiteTraffic, learn_patterns
from temporal_assets.core.patterns.syntax.tree_builder import pattern_tree
from temporal_assets.core.text.texts import Texts, texts

LARGEST: Final = 1_700_000
"""www.fotocommunity.de, the largest log of BB Table 2, had 1,699,434 URLs in 30 days."""
SMALL_SITES: Final = 10_000
SMALL_PAGES: Final = 150
"""Median pages of a small site; sizes are log-normal, up to some thousands."""
PROCESSES: Final = 2
SEED: Final = 20111024

_WORDS: Final = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"),
    *("knoll", "ledge", "marsh", "north", "orbit", "plaza", "quarry", "river", "stone", "tower"),
)
_HOST: Final = "portal.example"
_SECTIONS: Final = ("politics", "sport", "business", "culture", "science", "travel", "local")


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a measurement."""

    urls: int
    elapsed: float
    processor: float
    peak_mb: float
    said: str


def site(pages: int, seed: int) -> SiteTraffic:
    """A portal with news, a forum, a gallery, a shop and some disorder, and its traffic."""
    random = np.random.default_rng(seed)
    kind = _kinds(pages, random)
    fronts = _fronts(_HOST)
    urls = texts(fronts + list(_pages(kind, _HOST, random)))
    count = len(urls)
    views = np.minimum(random.pareto(1.1, count) + 1, 1e5).astype(np.int64).astype(np.float64)
    views[: len(fronts)] = 50.0 + pages
    # Half of a page's views come from its front, a quarter from a page like it, the rest from
    # outside.
    page = np.arange(len(fronts), count)
    front = np.where(kind == 0, random.integers(1, len(fronts), len(page)), 0)
    like = np.zeros(len(page), np.int64)
    for sort in range(5):
        same = np.flatnonzero(kind == sort)
        like[same] = len(fronts) + random.permutation(same)
    referrer = np.concatenate((front, like, np.zeros(len(fronts), np.int64)))
    target = np.concatenate((page, page, np.arange(len(fronts))))
    shares = np.concatenate((0.5 * views[page], 0.25 * views[page], np.full(len(fronts), 9.0)))
    referrals = np.bincount(referrer, weights=np.ceil(shares), minlength=count)
    return SiteTraffic(urls, views, referrals, referrer, target, np.ceil(shares))


def page_urls(pages: int, host: str, random: np.random.Generator) -> list[str]:
    """URLs of such a portal."""
    return _fronts(host) + list(_pages(_kinds(pages, random), host, random))


def _kinds(pages: int, random: np.random.Generator) -> np.ndarray:
    return random.choice(5, pages, p=[0.4, 0.25, 0.2, 0.1, 0.05])


def _fronts(host: str) -> list[str]:
    return [f"https://{host}/", *(f"https://{host}/{section}/" for section in _SECTIONS)]


def _pages(kind: np.ndarray, name: str, random: np.random.Generator) -> Iterator[str]:
    words = random.integers(0, len(_WORDS), (len(kind), 4))
    number = random.integers(0, 10_000, len(kind))
    host = f"https://{name}"
    for i, (sort, (a, b, c, d), n) in enumerate(
        zip(kind.tolist(), words.tolist(), number.tolist(), strict=True)
    ):
        slug = f"{_WORDS[a]}-{_WORDS[b]}-{_WORDS[c]}"
        if sort == 0:
            section = _SECTIONS[min(a, b) % len(_SECTIONS)]
            yield f"{host}/{section}/2011/{n % 12 + 1:02}/{n % 28 + 1:02}/{slug}-{i}.html"
        elif sort == 1:
            yield f"{host}/forum/showthread.php?f={min(c, d)}&page={n % 7}&t={i}"
        elif sort == 2:
            yield f"{host}/gallery/{_WORDS[a]}{n}/photo/{i}"
        elif sort == 3:
            yield f"{host}/shop/{_WORDS[a]}/{slug}?item={i}&sort={'apn'[n % 3]}"
        else:
            yield f"{host}/{slug}/{_WORDS[d]}/{i}?x{n}={c}&y={d}"


def learn(pages: int) -> Cost:
    """Learn one site in this process."""
    learn_patterns(site(2_000, SEED))  # compiles, or loads what was compiled
    traffic = site(pages, SEED + 1)
    begun, worked = time.perf_counter(), time.process_time()
    patterns = learn_patterns(traffic)
    return _cost(len(traffic.urls), begun, worked, _sizes(patterns))


def match(pages: int) -> Cost:
    """Match pages the tree has not seen, on one core."""
    tree = pattern_tree(site(pages, SEED + 1).urls)
    matcher = compile_matcher(tree)
    unseen = site(pages, SEED + 2).urls
    matcher.match(texts([unseen[0]]))
    begun, worked = time.perf_counter(), time.process_time()
    leaves = matcher.match_leaves(unseen)
    covered = np.count_nonzero(leaves != NOWHERE) / len(unseen)
    return _cost(len(unseen), begun, worked, f"{covered:.1%} covered by {len(tree.leaves)} leaves")


def hostile_urls(count: int) -> dict[str, Texts]:
    """URLs made to be slow, by what is odd about them; each some kilobytes of one thing."""
    host = f"https://{_HOST}"
    page, story = f"{host}/forum/showthread.php?", f"{host}/politics/2011/01/01/"
    fields = range(64)
    makers = {
        "64 query fields": lambda i: page + "&".join(f"k{i}{j}=v{j}" for j in fields),
        "64 fields of one name": lambda _: page + "&".join(f"f={j}" for j in fields),
        "64 nameless fields": lambda _: page + "&".join(f"f{j}" for j in fields),
        "2,000 empty fields": lambda _: page + "&" * 2_000,
        "300 folders": lambda i: f"{host}/{'ab/' * 300}{i}",
        "2,000 slashes": lambda _: f"{host}/{'/' * 2_000}",
        "4,000 digits": lambda _: f"{host}/gallery/x/photo/{'9' * 4_000}",
        "4,000 hexadecimal digits": lambda _: f"{host}/gallery/x/photo/{'af09' * 1_000}",
        "a slug of 3,900 letters": lambda _: f"{host}/gallery/{'ab-' * 1_300}/photo/7",
        "2,000 dots": lambda _: f"{story}{'a.' * 2_000}html",
        "a field of 4,000 digits": lambda _: f"{page}t={'9' * 4_000}&f=alpha",
        "600 letters as percent escapes": lambda _: f"{story}{'%C3%A4' * 600}.html",
        "500 host labels": lambda _: f"https://{'a.' * 500}portal.example/x",
    }
    return {name: texts([url(i) for i in range(count)]) for name, url in makers.items()}


def match_hostile(pages: int) -> dict[str, float]:
    """URLs a second of the processor, by family; the best of three runs."""
    matcher = compile_matcher(pattern_tree(site(pages, SEED + 1).urls))
    costs = {}
    for name, urls in hostile_urls(3_000).items():
        seconds = []
        for _ in range(3):
            begun = time.process_time()
            matcher.match(urls)
            seconds.append(time.process_time() - begun)
        costs[name] = len(urls) / min(seconds)
    return costs


def learn_small(sizes: list[int]) -> tuple[int, int, float]:
    """Learn some small sites: pages, patterns, seconds of the processor."""
    patterns, worked = 0, 0.0
    for number, pages in enumerate(sizes):
        traffic = site(pages, number)
        begun = time.process_time()
        patterns += len(learn_patterns(traffic).by_transit.leaves)
        worked += time.process_time() - begun
    return sum(sizes), patterns, worked


def make_small(sizes: list[int]) -> None:
    """Only make them, to know what that costs."""
    for number, pages in enumerate(sizes):
        site(pages, number)


def many(sites: int) -> tuple[Cost, float]:
    """Learn many small sites in parallel, sites made meanwhile; and what making them takes."""
    random = np.random.default_rng(SEED)
    sizes = np.maximum(random.lognormal(np.log(SMALL_PAGES), 1.0, sites), 1).astype(int)
    chunks = [chunk.tolist() for chunk in np.array_split(sizes, 8 * PROCESSES)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=spawn) as pool:
        list(pool.map(learn_small, [[50, 3_000]] * (4 * PROCESSES)))  # starts and compiles
        begun = time.perf_counter()
        list(pool.map(make_small, chunks))
        making = time.perf_counter() - begun
        begun = time.perf_counter()
        pages, patterns, worked = zip(*pool.map(learn_small, chunks), strict=True)
        elapsed = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Cost(sum(pages), elapsed, sum(worked), peak, f"{sum(patterns):,} patterns"), making


def _sizes(patterns: SitePatterns) -> str:
    trees = (patterns.by_syntax, patterns.by_visit, patterns.by_transit)
    sizes = [f"{size.leaves}/{size.height}" for size in map(tree_size, trees)]
    return "leaves/height " + " ".join(sizes)


def _cost(urls: int, begun: float, worked: float, said: str) -> Cost:
    elapsed, processor = time.perf_counter() - begun, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(urls, elapsed, processor, peak, said)


def _apart(work: str, pages: int) -> Any:
    """Run a measurement in a new process."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(globals()[work], pages).result()


def _show(name: str, cost: Cost) -> None:
    print(
        f"{name:<22}{cost.urls:>10,} URLs {cost.elapsed:8.2f} s elapsed {cost.processor:8.2f} s "
        f"processor {cost.peak_mb:7,.0f} MB  {cost.said}"
    )


def show_patterns(urls: Texts) -> None:
    """The largest patterns, to see that it is the site that was learned."""
    tree = pattern_tree(urls)
    largest = sorted(tree.leaves.tolist(), key=lambda node: -tree.sizes[node])[:8]
    for node in largest:
        print(f"{tree.sizes[node]:>12,}  {pattern_text(tree, node).template()}")


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    scale = 10 if parser.parse_args().quick else 1
    for pages in (LARGEST // 16, LARGEST // 4, LARGEST):
        _show("learn one site", _apart("learn", pages // scale))
    cost = _apart("match", LARGEST // 4 // scale)
    _show("match unseen URLs", cost)
    print(f"{'':<22}{cost.urls / cost.elapsed:>10,.0f} URLs/s elapsed, "
          f"{cost.urls / cost.processor:,.0f} URLs/s processor")  # fmt: skip
    for name, speed in _apart("match_hostile", 20_000).items():
        print(f"{'':<22}{speed:>10,.0f} URLs/s processor  {name}")
    cost, making = many(SMALL_SITES // scale)
    _show(f"{SMALL_SITES // scale:,} small sites", cost)
    print(f"{'':<22}on {PROCESSES} processes, of which {making:.2f} s elapsed make the sites")
    show_patterns(site(20_000, SEED).urls)


if __name__ == "__main__":
    main()
