"""Patterns of real sites on later URLs: by year of learning, and by the rule of salience.

Run `python -m benchmarks.later_patterns FOLDER`; FOLDER holds `top_news_arrivals` and `bbc_demand`
(11 news sites, and what one of them showed and people read). Takes two minutes.

The first table learns on 60 days from the beginning of each year (of what is there of it) and
counts the URLs of the next 14 days, and of each later year, that some pattern covers. The second
compares both rules of `patterns.salience` on the 60 days after: bits that a later URL takes,
given the share of its pattern and 4 bits for each character that the pattern does not name, with
the model's own bits (half a logarithm of the URLs for each node, and the names) spread over them.
Sites of the first block were looked at when the rule was chosen, those of the second were not.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import gzip
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import constraints
from temporal_assets.core.patterns.pattern_tree import (
    OTHER,
    PatternTree,
    Salience,
    TreeOptions,
    pattern_tree,
)
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_split import PATH

Arrivals = list[tuple[dt.date, str]]

LEARNED: Final = 60
NEXT: Final = 14
_LEAST: Final = 200
_BITS: Final = 4.0
"""Of a character that a pattern does not name."""
_CHOSEN_ON: Final = ("nyt", "cbs", "abc", "npr", "usat")
_RULES: Final[tuple[Salience, ...]] = ("drop", "support")


def arrivals(folder: Path) -> dict[str, Arrivals]:
    """For each site, the URLs of its main host with the day they were first seen on."""
    seen: dict[str, dict[str, dt.date]] = defaultdict(dict)
    with gzip.open(
        folder / "top_news_arrivals" / "arrivals.csv.gz", "rt", encoding="utf-8"
    ) as file:
        for row in csv.DictReader(file):
            if row["url"].startswith("http") and row["url"].count("/") > 2:
                day = dt.date.fromisoformat(row["first_seen_utc"][:10])
                known = seen[row["site"]].get(row["url"], day)
                seen[row["site"]][row["url"]] = min(day, known)
    for file in sorted((folder / "bbc_demand").glob("*.parquet")):
        for row in pq.read_table(file, columns=["seen", "url"]).to_pylist():
            seen["bbc"].setdefault(row["url"], row["seen"].date())
    return {site: _of_main_host(found) for site, found in seen.items()}


def _of_main_host(found: dict[str, dt.date]) -> Arrivals:
    hosts = Counter(url.split("/")[2] for url in found)
    main = hosts.most_common(1)[0][0]
    return sorted((day, url) for url, day in found.items() if url.split("/")[2] == main)


def between(found: Arrivals, first: dt.date, days: int) -> list[str]:
    """URLs of some days."""
    end = first + dt.timedelta(days)
    return [url for day, url in found if first <= day < end]


def covered(tree: PatternTree, urls: list[str]) -> float:
    """Share of the URLs that some pattern holds."""
    return float((compile_matcher(tree).match_leaves(texts(urls)) != NOWHERE).mean())


def by_year(found: Arrivals) -> dict[int, tuple[int, int, float, dict[int, float]]]:
    """Year of learning -> URLs, patterns, share covered of the next days, and of later years."""
    years = sorted({day.year for day, _ in found})
    results = {}
    for year in years:
        first = next(day for day, _ in found if day.year == year)
        learned = between(found, first, LEARNED)
        following = between(found, first + dt.timedelta(LEARNED), NEXT)
        if len(learned) < _LEAST or not following:
            continue
        tree = pattern_tree(texts(learned))
        later = {
            other: covered(tree, urls)
            for other in years
            if other > year and (urls := [url for day, url in found if day.year == other])
        }
        results[year] = len(learned), len(tree.leaves), covered(tree, following), later
    return results


@dataclass(frozen=True, slots=True)
class Described:
    """How well a rule does on later URLs of a site; means over its windows."""

    patterns: float
    coverage: float
    bits: float
    model_bits: float
    in_wildcard: float
    """Share of the URLs learned from in the largest pattern whose first segment has no name."""


def described(found: Arrivals, rule: Salience) -> Described:
    """Windows of 60 days, from four days of the first year on, judged on the 60 days after."""
    rows = []
    for offset in (0, 120, 240, 365):
        first = found[0][0] + dt.timedelta(offset)
        learned = between(found, first, LEARNED)
        later = between(found, first + dt.timedelta(LEARNED), LEARNED)
        if len(learned) >= _LEAST and len(later) >= _LEAST:
            rows.append(_described(pattern_tree(texts(learned), TreeOptions(salience=rule)), later))
    return Described(*np.mean(rows, axis=0).tolist())


def _described(tree: PatternTree, later: list[str]) -> tuple[float, ...]:
    urls, leaves = int(tree.sizes[0]), tree.leaves
    rest = 0.5 * (len(leaves) + 1)
    share = (tree.sizes + 0.5) / (urls + rest)
    named = np.zeros(len(tree))
    in_wildcard = 0
    for node in leaves.tolist():
        found = constraints(tree, node)
        fixed = [(key, one.value) for key, one in found.items() if one.value > 0]
        kinds = tree.keys.keys.kind
        named[node] = sum(len(tree.keys.value(*one)) for one in fixed if kinds[one[0]] >= PATH)
        first = next((key for key in found if kinds[key] == PATH), None)
        if first is not None and found[first].value == OTHER:
            in_wildcard = max(in_wildcard, int(tree.sizes[node]))
    leaf = compile_matcher(tree).match_leaves(texts(later))
    length = np.array([len(url) - url.index("/", 8) for url in later])
    known = leaf != NOWHERE
    bits = np.where(
        known,
        -np.log2(share[leaf]) + _BITS * np.maximum(length - named[leaf], 0),
        -np.log2(0.5 / (urls + rest)) + _BITS * length,
    )
    model = 0.5 * np.log2(urls) * (len(tree) - 1) + _BITS * _named_length(tree)
    return (
        len(leaves),
        float(known.mean()),
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


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    found = arrivals(parser.parse_args().folder)
    print("site      learned in   URLs  patterns  next 14 days  later years")
    for site, rows in found.items():
        for year, (urls, patterns, following, later) in by_year(rows).items():
            shares = "  ".join(f"{other}: {share:.1%}" for other, share in later.items())
            print(f"{site:<10}{year:>10}{urls:>7,}{patterns:>10}{following:>14.1%}  {shares}")
    print("\nsite      rule     patterns  covered  bits a URL  of the model  in one wildcard")
    sites = [*_CHOSEN_ON, *(site for site in found if site not in _CHOSEN_ON)]
    for site in sites:
        if len(between(found[site], found[site][0][0], LEARNED)) < _LEAST:
            continue
        for rule in _RULES:
            row = described(found[site], rule)
            print(
                f"{site:<10}{rule:<9}{row.patterns:>8.1f}{row.coverage:>9.1%}{row.bits:>12.2f}"
                f"{row.model_bits:>14.2f}{row.in_wildcard:>17.1%}"
            )


if __name__ == "__main__":
    main()
