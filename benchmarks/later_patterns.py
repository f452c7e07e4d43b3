"""Patterns of real sites on later URLs: by year of learning, and by the rule of salience.

Run `python -m benchmarks.later_patterns FOLDER`; FOLDER is that of the real data. It takes two
minutes; `--traffic` prints the last table alone, `--only nyt npr` the others of some sites.

The first table learns on 60 days from the beginning of each year (of what is there of it) and
counts the URLs of the next 14 days, and of each later year, that some pattern covers. The second
compares both rules of `patterns.salience` on the 60 days after: bits that a later URL takes,
given the share of its pattern and 4 bits for each character that the pattern does not name, with
the model's own bits (half a logarithm of the URLs for each node, and the names) spread over them.
Sites of the first block were looked at when the rule was chosen, those of the second were not.

The third table is the divergence of traffic out of time (BB 5.2 has it in sample): each URL of the
later half of a set is expected to draw the mean of its pattern in the earlier half, and the
Jensen-Shannon divergence to what it really drew is given in bits. Beside both rules stand the
URL's own earlier traffic, and all URLs alike. Front page and most read stories of the BBC count
by place, the log of a small site by visits.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import gzip
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import real_visits
from benchmarks.real_visits import times_of
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.patterns.constraints import constraints
from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_quality import divergence
from temporal_assets.core.patterns.pattern_tree import OTHER, PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import Salience, TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_split import PATH

Arrivals = list[tuple[dt.date, str]]

LEARNED: Final = 60
NEXT: Final = 14
_LEAST: Final = 200
_NO_DATES: Final = re.compile(
    "/(?:januar|februar|maerz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo"
    "|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|fevrier|mars|avril|juin"
    "|juillet|aout|septembre|octobre|novembre|decembre|w[0-5]?[0-9]|[12][0-9]{3}-q[1-4]|q[1-4])/",
    re.IGNORECASE,
)
"""Months, weeks and quarters that the tree takes for names."""
_BITS: Final = 4.0
"""Bits of a character that a pattern does not name."""
_CHOSEN_ON: Final = ("nyt", "cbs", "abc", "npr", "usat")
_RULES: Final[tuple[Salience, ...]] = ("drop", "support")


def arrivals(folder: Path) -> dict[str, Arrivals]:
    """Return the URLs of each site's main host with the day they were first seen on."""
    seen: dict[str, dict[str, dt.date]] = defaultdict(dict)
    with gzip.open(
        folder / "top_news_arrivals" / "arrivals.csv.gz", "rt", encoding="utf-8"
    ) as file:
        for row in csv.DictReader(file):
            if row["url"].startswith("http") and row["url"].count("/") > 2:
                day = dt.date.fromisoformat(row["first_seen_utc"][:10])
                first_day = seen[row["site"]].get(row["url"], day)
                seen[row["site"]][row["url"]] = min(day, first_day)
    for file in sorted((folder / "bbc_demand").glob("*.parquet")):
        for row in pq.read_table(file, columns=["seen", "url"]).to_pylist():
            seen["bbc"].setdefault(row["url"], row["seen"].date())
    return {site: _of_main_host(first_days) for site, first_days in seen.items()}


def _of_main_host(first_days: dict[str, dt.date]) -> Arrivals:
    hosts = Counter(url.split("/")[2] for url in first_days)
    main = hosts.most_common(1)[0][0]
    return sorted((day, url) for url, day in first_days.items() if url.split("/")[2] == main)


def between(first_days: Arrivals, first: dt.date, days: int) -> list[str]:
    """URLs of some days."""
    end = first + dt.timedelta(days)
    return [url for day, url in first_days if first <= day < end]


def learned_on(first_days: Arrivals, first: dt.date, rule: Salience = "support") -> PatternTree:
    """Return the tree of 60 days from a day on."""
    end = first + dt.timedelta(LEARNED)
    pages = [(url, (day - first).days) for day, url in first_days if first <= day < end]
    urls, born = [url for url, _ in pages], np.array([day for _, day in pages], np.int32)
    return pattern_tree(texts(urls), TreeOptions(salience=rule), born=born)


def covered(tree: PatternTree, urls: list[str]) -> float:
    """Share of the URLs that some pattern holds."""
    return float((compile_matcher(tree).match_leaves(texts(urls)) != NOWHERE).mean())


def by_year(first_days: Arrivals) -> dict[int, tuple[int, int, float, dict[int, float]]]:
    """Year of learning -> URLs, patterns, share covered of the next days, and of later years."""
    years = sorted({day.year for day, _ in first_days})
    results = {}
    for year in years:
        first = next(day for day, _ in first_days if day.year == year)
        learned = between(first_days, first, LEARNED)
        following = between(first_days, first + dt.timedelta(LEARNED), NEXT)
        if len(learned) < _LEAST or not following:
            continue
        tree = learned_on(first_days, first)
        later = {
            other: covered(tree, urls)
            for other in years
            if other > year and (urls := [url for day, url in first_days if day.year == other])
        }
        results[year] = len(learned), len(tree.leaves), covered(tree, following), later
    return results


@dataclass(frozen=True, slots=True)
class Described:
    """Quality of a rule on later URLs of a site; means over its windows."""

    patterns: float
    coverage: float
    bits: float
    model_bits: float
    in_wildcard: float
    """Share of the URLs learned from in the largest pattern whose first segment has no name."""


def described(first_days: Arrivals, rule: Salience) -> Described:
    """Windows of 60 days, from four days of the first year on, judged on the 60 days after."""
    rows = []
    for offset in (0, 120, 240, 365):
        first = first_days[0][0] + dt.timedelta(offset)
        learned = between(first_days, first, LEARNED)
        later = between(first_days, first + dt.timedelta(LEARNED), LEARNED)
        if len(learned) >= _LEAST and len(later) >= _LEAST:
            tree = learned_on(first_days, first_days[0][0] + dt.timedelta(offset), rule)
            rows.append(_described(tree, later))
    return Described(*np.mean(rows, axis=0).tolist())


def _described(tree: PatternTree, later: list[str]) -> tuple[float, ...]:
    urls, leaves = int(tree.sizes[0]), tree.leaves
    rest = 0.5 * (len(leaves) + 1)
    share = (tree.sizes + 0.5) / (urls + rest)
    named = np.zeros(len(tree))
    in_wildcard = 0
    for node in leaves.tolist():
        fixed_values = constraints(tree, node)
        fixed = [(key, one.value) for key, one in fixed_values.items() if one.value > 0]
        kinds = tree.keys.keys.kind
        named[node] = sum(len(tree.keys.value(*one)) for one in fixed if kinds[one[0]] >= PATH)
        first = next((key for key in fixed_values if kinds[key] == PATH), None)
        if first is not None and fixed_values[first].value == OTHER:
            in_wildcard = max(in_wildcard, int(tree.sizes[node]))
    leaf = compile_matcher(tree).match_leaves(texts(later))
    length = np.array([len(url) - url.index("/", 8) for url in later])
    has_leaf = leaf != NOWHERE
    bits = np.where(
        has_leaf,
        -np.log2(share[leaf]) + _BITS * np.maximum(length - named[leaf], 0),
        -np.log2(0.5 / (urls + rest)) + _BITS * length,
    )
    model = 0.5 * np.log2(urls) * (len(tree) - 1) + _BITS * _named_length(tree)
    return (
        len(leaves),
        float(has_leaf.mean()),
        float(bits.mean()) + model / len(later),
        model / len(later),
        in_wildcard / urls,
    )


def _named_length(tree: PatternTree) -> int:
    """Characters of the values that branches name."""
    above = tree.split_key[tree.hierarchy.parent]
    return sum(
        len(tree.keys.value(int(key), int(code)))
        for key, code in zip(above[1:], tree.branch[1:], strict=True)
        if code > 0
    )


def with_traffic(data: Path) -> dict[str, pa.Table]:
    """Return visits of real sites whose URLs have sections, and which people opened."""
    log = real_visits.logged([data / "elastic_logs" / "apache_logs"], "www.semicomplete.com")
    return {
        "bbc front page": real_visits.bbc_front_page(data),
        "bbc most read": real_visits.bbc_most_read(data),
        "small site's log": log,
    }


def later_traffic(visits: pa.Table) -> dict[str, float]:
    """Return the divergence of the later half of visits from what each answer expects of it."""
    time = times_of(visits)
    is_early = time < time[0] + (time[-1] - time[0]) // 2
    urls = np.array(visits["url"].to_pylist(), np.str_)
    early_urls, drew = np.unique(urls[is_early], return_counts=True)
    later, draws = np.unique(urls[~is_early], return_counts=True)
    usual, place = (
        float(drew.mean()),
        np.minimum(np.searchsorted(early_urls, later), len(early_urls) - 1),
    )
    answers: dict[str, Floats] = {
        "all alike": np.ones(len(later)),
        "own traffic": np.where(early_urls[place] == later, drew[place], usual).astype(np.float64),
    }
    for rule in _RULES:
        tree = pattern_tree(texts(early_urls.tolist()), TreeOptions(salience=rule))
        matcher = compile_matcher(tree)
        leaf = matcher.match_leaves(texts(early_urls.tolist()))
        volume, traffic = np.bincount(leaf, minlength=len(tree)), np.bincount(leaf, drew, len(tree))
        mean = np.where(volume > 0, traffic / np.maximum(volume, 1), usual)
        leaves = matcher.match_leaves(texts(later.tolist()))
        answers[rule] = np.where(leaves == NOWHERE, usual, mean[np.maximum(leaves, 0)])
    truth = draws / draws.sum()
    return {
        name: divergence(truth, estimate / estimate.sum()) for name, estimate in answers.items()
    }


def show_traffic(data: Path) -> None:
    """Print the third table."""
    print("\nset               all alike  own traffic    drop  support")
    for name, visits in with_traffic(data).items():
        row = later_traffic(visits)
        numbers = (row["all alike"], row["own traffic"], row["drop"], row["support"])
        print(
            f"{name:<18}{numbers[0]:>9.3f}{numbers[1]:>13.3f}{numbers[2]:>8.3f}{numbers[3]:>9.3f}"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--traffic", action="store_true", help="the last table alone")
    parser.add_argument("--only", nargs="+", help="names of sites, without the last table")
    given = parser.parse_args()
    if not given.traffic:
        arrivals_of = arrivals(given.folder)
        show_urls({site: arrivals_of[site] for site in given.only or arrivals_of})
    if not given.only:
        show_traffic(given.folder)


def show_urls(arrivals_of: dict[str, Arrivals]) -> None:
    """Print what later URLs are to patterns."""
    print("site      learned in   URLs  patterns  next 14 days  later years")
    for site, rows in arrivals_of.items():
        for year, (urls, patterns, following, later) in by_year(rows).items():
            shares = "  ".join(f"{other}: {share:.1%}" for other, share in later.items())
            print(f"{site:<10}{year:>10}{urls:>7,}{patterns:>10}{following:>14.1%}  {shares}")
    urls = [url for known in arrivals_of.values() for _, url in known]
    unknown = sum(_NO_DATES.search(url) is not None for url in urls)
    print(f"\n{unknown:,} of {len(urls):,} URLs have a date in words that the tree does not know")
    print("\nsite      rule     patterns  covered  bits a URL  of the model  in one wildcard")
    for site in sorted(arrivals_of, key=lambda site: site not in _CHOSEN_ON):
        if len(between(arrivals_of[site], arrivals_of[site][0][0], LEARNED)) < _LEAST:
            continue
        for rule in _RULES:
            row = described(arrivals_of[site], rule)
            print(
                f"{site:<10}{rule:<9}{row.patterns:>8.1f}{row.coverage:>9.1%}{row.bits:>12.2f}"
                f"{row.model_bits:>14.2f}{row.in_wildcard:>17.1%}"
            )


if __name__ == "__main__":
    main()
