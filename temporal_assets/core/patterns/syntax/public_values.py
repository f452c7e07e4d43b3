"""Keys and values of URLs that a pattern may name: those that enough clients asked for.

Here: the rule. Not here: counting clients (`audience`), and using the rule (`tree_builder`).

A path segment that only a handful of people know may be their name or a secret. Everything else in
a pattern is structure: how many segments there are, whether there is an extension. The host is
always named, because a reader of a pattern knows the site.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.text.url_keys import ABSENT, UrlKeys
from temporal_assets.core.text.url_split import EXTENSION, PATH, QUERY
from temporal_assets.core.traffic.audience import Audience, is_public


@dataclass(frozen=True, slots=True)
class PublicValues:
    """Keys and values that at least k clients requested; the rest are masked."""

    is_key_public: Flags
    """Flags of keys; the name of a query key may be a secret like a value."""
    is_value_public: Flags
    """Flags of values, in the row order of `UrlKeys`."""


def everything_public(keys: UrlKeys) -> PublicValues:
    """Return flags that mask nothing."""
    return PublicValues(np.ones(len(keys.keys), np.bool_), np.ones(len(keys.shape), np.bool_))


def public_values(keys: UrlKeys, audience: Audience, support: int) -> PublicValues:
    """Return flags of the keys and values that enough clients have asked for.

    Values of paths and queries with fewer than `support` URLs are not checked: no pattern would
    name them.
    """
    public = everything_public(keys)
    for key, kind in enumerate(keys.keys.kind.tolist()):
        if kind not in (PATH, EXTENSION, QUERY):
            continue
        codes = keys.codes[key]
        first, stop = int(keys.first[key]), int(keys.first[key + 1])
        frequent = np.flatnonzero(keys.count[first:stop] >= (1 if kind == EXTENSION else support))
        # The empty segment says nothing.
        flags = keys.stop[first:stop] == keys.start[first:stop]
        if len(frequent):
            number = np.full(stop - first + 1, -1, np.int32)
            number[1 + frequent] = np.arange(len(frequent))
            flags[frequent] |= is_public(audience, number[codes], len(frequent))
        public.is_value_public[first:stop] = flags
        if kind == QUERY:
            has_key = np.where(codes == ABSENT, -1, 0).astype(np.int32)
            public.is_key_public[key] = is_public(audience, has_key, 1)[0]
    return public
