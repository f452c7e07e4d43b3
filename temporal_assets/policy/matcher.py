"""`Policy`: the decision on a URL, seen or unseen: fetch it now, later, or skip it.

Here: the order in which entries decide, for one URL and for many. Not here: the loop that finds
them (`kernels`), the document (`document`).

    1  a static file                         skip
    2  a hub                                 now, in the hub's tier
    3  of a pattern that overrules           as the pattern says: surely not urgent
    4  under a news prefix, the longest      now, in the prefix's tier
    5  of another pattern                    as the pattern says
    6  of a known site                       later, in the site's tier
    7  anything else                         skip

A policy is immutable: threads share one. Memory does not grow with the URLs that are matched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Int8s, Int32s, Int64s
from temporal_assets.core.patterns.pattern_forest import Forest, plant
from temporal_assets.core.text.texts import Texts, texts
from temporal_assets.logs.urls.canonical import canonical_url
from temporal_assets.logs.urls.plain_urls import plain_pages
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy import document as documents
from temporal_assets.policy.document import Action, Document, SiteTree, tier_of_action
from temporal_assets.policy.kernels import (
    NONE,
    REASONS,
    Beginnings,
    Found,
    Tiers,
    beginnings,
    extensions,
    find,
)

_COLUMNS: Final = 4
_SITE, _HUB_HTTPS, _HUB_HTTP, _PREFIX = range(_COLUMNS)
"""Columns of entries in `Beginnings`, in the order of its parameters."""

BATCH_URLS: Final = 262_144
"""Number of URLs that `match_many` processes at once, some ten megabytes. In larger batches more
URLs share a site, and with it what is in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one URL."""

    url: str
    decision: Action
    tier: int
    """1 is fetched first; every tier belongs to one decision."""
    reason: str
    """Reason, one of REASONS."""
    site: str | None
    hub: str | None
    prefix: str | None
    """The longest news prefix of the URL."""
    pattern: str | None
    """Template of the pattern that the URL belongs to."""
    interval_seconds: int | None
    """Seconds between visits of a hub."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions on many URLs, in arrays; NONE (-1) stands for no entry."""

    policy: Policy
    tier: Int8s
    reason: Int8s
    site: Int32s
    """Index in the document's `sites`; likewise for the others."""
    hub: Int32s
    prefix: Int32s
    pattern: Int32s

    def __len__(self) -> int:
        return len(self.tier)

    def row(self, i: int, url: str) -> Decision:
        """Return the decision on the i-th URL."""
        document = self.policy.document
        tier = int(self.tier[i])
        site, hub, prefix, pattern = (
            int(column[i]) for column in (self.site, self.hub, self.prefix, self.pattern)
        )
        return Decision(
            url,
            tier_of_action(tier),
            tier,
            REASONS[self.reason[i]],
            document["sites"][site]["site"] if site >= 0 else None,
            document["hubs"][hub]["url"] if hub >= 0 else None,
            document["prefixes"][prefix]["prefix"] if prefix >= 0 else None,
            document["patterns"][pattern]["template"] if pattern >= 0 else None,
            document["hubs"][hub]["interval_seconds"] if hub >= 0 else None,
        )


class Policy:
    """A loaded policy that decides on URLs."""

    def __init__(self, document: Document) -> None:
        self.document: Final = document
        rules = document["urls"]
        self._rules: Final = UrlRules(
            rules["scheme"], frozenset(rules["dropped_keys"]), frozenset(rules["kept_keys"])
        )
        self._names, sites = _beginnings(document)
        self._static = extensions(rules["static_extensions"])
        trees = document["trees"]
        self._forest: Forest = plant(
            trees,
            ignores_scheme=rules["scheme"] != "keep",
            # The site was found by the whole host then, and a tree is that of one site.
            ignores_host=not document["includes_subdomains"],
        )
        self._tree_of_site = np.full(len(document["sites"]), NONE, np.int64)
        for place, tree in enumerate(trees):
            self._tree_of_site[sites[tree["site"]]] = place
        patterns = [place for tree in trees for place in _patterns_of_leaves(tree)]
        self._tiers = Tiers(
            _tiers(document["sites"]),
            _tiers(document["hubs"]),
            _tiers(document["prefixes"]),
            _tiers(document["patterns"]),
            np.array([entry["overrules"] for entry in document["patterns"]], np.bool_),
            np.array(patterns, np.int32),
        )

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Return a policy from `policy.json` or the folder it lies in. Raises `PolicyError`."""
        file = documents.policy_file(path)
        try:
            return cls(documents.read(file))
        except documents.PolicyError:
            raise  # it says all there is to say
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            what = str(error).partition("\n")[0]
            raise documents.PolicyError(
                f"{file} is damaged ({type(error).__name__}: {what}): copy it again"
            ) from error

    def match(self, url: str) -> Decision:
        """Return the decision on a URL."""
        return self.match_many([url]).row(0, url)

    def match_many(self, urls: Sequence[str] | Texts) -> Decisions:
        """Return the decisions on many URLs; several times as fast as one by one."""
        flat = urls if isinstance(urls, Texts) else texts(urls)
        parts = [
            self._decide(Texts(flat.data, flat.offsets[at : at + BATCH_URLS + 1]))
            for at in range(0, max(1, len(flat)), BATCH_URLS)
        ]
        columns = zip(*parts, strict=True)
        return Decisions(self, *(np.concatenate(column) for column in columns))

    def matches(self, urls: Sequence[str]) -> Iterator[Decision]:
        """Yield decisions one after the other."""
        decisions = self.match_many(urls)
        return (decisions.row(i, url) for i, url in enumerate(urls))

    def canonical(self, url: str) -> str | None:
        """Return a URL's canonical form, by which the policy knows it, or None if it is no page."""
        return canonical_url(url, self._rules)

    def _decide(self, urls: Texts) -> Found:
        """Decide on URLs: those in canonical form as they stand, others by their canonical form."""
        starts, stops = urls.offsets[:-1], urls.offsets[1:]
        is_plain = plain_pages(urls.data, starts, stops, self._rules) > 0
        answer = self._find(urls.data, np.where(is_plain, starts, NONE), stops)
        odd = np.flatnonzero(~is_plain)
        if len(odd):
            raw = (urls.data[urls.offsets[i] : urls.offsets[i + 1]].tobytes() for i in odd)
            pages = [canonical_url(url, self._rules) or "" for url in raw]
            flat = texts(pages)
            is_page = flat.offsets[1:] > flat.offsets[:-1]
            starts = np.where(is_page, flat.offsets[:-1], NONE)
            later = self._find(flat.data, starts, flat.offsets[1:])
            columns: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(answer, later, strict=True)
            for column, part in columns:
                column[odd] = part
        return answer

    def _find(self, data: NDArray[np.uint8], starts: Int64s, stops: Int64s) -> Found:
        """Run the compiled loop over canonical URLs in `data`; a start of -1 is no page."""
        return find(
            data,
            starts,
            stops,
            beginnings=self._names,
            static=self._static,
            tree_of_site=self._tree_of_site,
            forest=self._forest,
            tiers=self._tiers,
            includes_subdomains=self.document["includes_subdomains"],
        )


def _patterns_of_leaves(tree: SiteTree) -> list[int]:
    """Return, for each tree node, the pattern of the URLs that stop there, or NONE.

    A pattern at an inner node holds the leaves below it, and nothing else.
    """
    pattern_of_node = list(tree["pattern"])
    for node, above in enumerate(tree["parent"]):
        if above >= 0 and pattern_of_node[node] == NONE:
            pattern_of_node[node] = pattern_of_node[above]
    # key < 0: a leaf. A URL that stops at an inner node belongs to no pattern.
    return [
        place if key < 0 else NONE for place, key in zip(pattern_of_node, tree["key"], strict=True)
    ]


def _tiers(entries: Sequence[Any]) -> Int8s:
    return np.array([entry["tier"] for entry in entries], np.int8)


def _beginnings(document: Document) -> tuple[Beginnings, dict[str, int]]:
    """Return the hash table of hosts, hubs and prefixes, and the index of every site."""
    rows: dict[str, list[int]] = {}
    for place, column, text in _named(document):
        row = rows.setdefault(text, [NONE] * _COLUMNS)
        if row[column] == NONE:  # of two of one name the first decides, as in `exports.rules`
            row[column] = place
    sites = {text: row[_SITE] for text, row in rows.items() if row[_SITE] != NONE}
    columns = np.array(list(rows.values()), np.int32).reshape(-1, _COLUMNS)
    return beginnings(list(rows), *(np.ascontiguousarray(column) for column in columns.T)), sites


def _named(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield (index, column of `Beginnings`, text) of every site, hub and prefix."""
    for place, site in enumerate(document["sites"]):
        yield place, _SITE, site["site"]
    keeps = document["urls"]["scheme"] == "keep"
    for place, hub in enumerate(document["hubs"]):
        scheme, _, text = hub["url"].partition("://")
        if scheme == "https" or not keeps:
            yield place, _HUB_HTTPS, text
        if scheme == "http" or not keeps:
            yield place, _HUB_HTTP, text
    for place, prefix in enumerate(document["prefixes"]):
        yield place, _PREFIX, prefix["prefix"]


__all__ = ["REASONS", "Decision", "Decisions", "Policy"]
