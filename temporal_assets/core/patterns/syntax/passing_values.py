"""Values of a node that pass with time, and are named by no pattern.

Here: which values of a key pass, among the URLs of a node. Not here: the signs of it
(`running_values`), and dates, which are recognised by their shape (`value_shapes`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.text.running_values import (
    NUMBERS,
    counts_pages,
    is_counter,
    is_page_value,
    is_page_word,
    kinds_of,
    numbered_families,
    passing_kinds,
)
from temporal_assets.core.text.url_keys import ABSENT
from temporal_assets.core.text.url_split import PATH, QUERY
from temporal_assets.core.text.value_shapes import DIGITS, bits_of

_LEAST_PASSING: Final = 2
"""Least number of values with support for one to pass with time: one alone has no successor."""


class PassingValues:
    """The rule of a site by which values pass with time.

    A value passes for one of four reasons: it is the number of a page of a list; its kind (names or
    numbers) is replaced by new values as time goes on; numbered values follow each other
    (`issue-108`); or, without days of birth, the numbers look like a counter.
    """

    def __init__(self, site: GrowingSite) -> None:
        """Keep the site; what is known of its values is looked for once."""
        self.site = site
        self._texts: dict[tuple[int, int], bytes] = {}
        self._is_page: dict[tuple[int, int], bool | None] = {}
        """True if a segment alone denotes a page of a list; None for numbers, which may."""
        self._page_words: dict[int, list[int]] = {}

    def lasting(
        self, key: int, codes: Int32s, counts: Int64s, column: Int32s, rows: Int32s
    ) -> Flags:
        """Return flags of the values that do not pass with time.

        Args:
            key: Number of the key.
            codes: Distinct values of the key among the node's URLs.
            counts: Number of URLs of each value.
            column: Code of the key for every URL of the site.
            rows: Numbers of the node's URLs.
        """
        site = self.site
        lasting = np.ones(len(codes), np.bool_)
        has_support = (counts >= site.support) & (codes != ABSENT)
        named = np.flatnonzero(has_support)
        for i, code in zip(named.tolist(), codes[named].tolist(), strict=True):
            lasting[i] = not self.counts_pages(key, code, rows)
        if len(named) < _LEAST_PASSING:
            return lasting
        shape = np.where(codes == ABSENT, 0, site.keys.shape[site.keys.first[key] + codes - 1])
        kinds = kinds_of(shape.astype(np.int32))
        passing = np.full(len(codes), -1, np.int8)
        if site.born is not None:
            site.counts[codes] = np.arange(1, len(codes) + 1)
            passing = passing_kinds(
                column,
                rows,
                site.counts,
                kinds,
                has_support,
                site.born.day,
                site.born.late,
                site.support,
            )[kinds]
            site.counts[codes] = 0
            lasting[named[self._in_turn(key, codes[named], column, rows)]] = False
        lasting[passing > 0] = False
        numbers = np.flatnonzero(has_support & (kinds == NUMBERS) & (passing < 0))
        if is_counter([int(self.text(key, code)) for code in codes[numbers].tolist()]):
            lasting[(kinds == NUMBERS) & (passing < 0)] = False
        return lasting

    def counts_pages(self, key: int, code: int, rows: Int32s) -> bool:
        """Return True if a value is the number of a page of a list."""
        site, keys = self.site, self.site.keys
        if site.kind[key] == QUERY:
            is_number = bits_of(int(keys.shape[keys.first[key] + code - 1])) & DIGITS
            return bool(is_number) and counts_pages(keys.keys.name[key])
        if site.kind[key] != PATH:
            return False
        if (key, code) not in self._is_page:
            value = self.text(key, code)
            self._is_page[key, code] = None if value.isdigit() else is_page_value(value)
        is_page = self._is_page[key, code]
        if is_page is not None:
            return is_page
        # Path segments are keys in their order.
        if site.index[key] == 0 or not (words := self._words_before_pages(key - 1)):
            return False
        before = keys.codes[key - 1][rows[keys.codes[key][rows] == code]]
        return bool(np.isin(before, words).all())

    def text(self, key: int, code: int) -> bytes:
        """Return the text of a value with support, which many nodes ask for."""
        text = self._texts.get((key, code))
        if text is None:
            text = self._texts[key, code] = self.site.keys.value(key, code)
        return text

    def _in_turn(self, key: int, codes: Int32s, column: Int32s, rows: Int32s) -> list[int]:
        """Return indices into `codes` of numbered values whose pages follow each other in time."""
        site = self.site
        families = numbered_families([self.text(key, code) for code in codes.tolist()])
        if site.born is None or not families:
            return []
        site.counts[codes] = np.arange(1, len(codes) + 1)
        place = site.counts[column[rows]].astype(np.int64) - 1
        site.counts[codes] = 0
        inside = np.flatnonzero(place >= 0)
        return site.born.in_turn(families, place[inside], rows[inside])

    def _words_before_pages(self, key: int) -> list[int]:
        """Return the codes of segments after which a number is a page of a list, such as `page`."""
        if key not in self._page_words:
            keys = self.site.keys
            first, last = keys.first[key : key + 2].tolist()
            often = np.flatnonzero(keys.count[first:last] >= self.site.support) + 1
            self._page_words[key] = [
                code for code in often.tolist() if is_page_word(self.text(key, code))
            ]
        return self._page_words[key]
