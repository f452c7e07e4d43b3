"""The probability that a page of a site and section is temporal, before anything of it is seen.

Here: shares shrunk from section to site to everything (empirical Bayes). Not here: what the page's
own views add (`early`).

A section of three pages, all temporal, is no section of temporal pages for certain. Its share is
drawn towards its site's as if `strength` more pages with the site's share had been seen, and the
site's likewise towards the share of all pages. The strength is the one under which the labels
are most probable (beta-binomial likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

Floats = NDArray[np.float64]

_STRENGTHS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


@dataclass(frozen=True, slots=True)
class _Level:
    """Counts of one grouping (sections, or sites), sorted by name."""

    names: NDArray[Any]
    pages: Floats
    temporal: Floats
    strength: float

    def counts(self, names: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return pages and temporal pages of each name; zeros where it is unknown."""
        if len(self.names) == 0:
            return np.zeros(len(names)), np.zeros(len(names))
        at = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        is_named = self.names[at] == names
        return np.where(is_named, self.pages[at], 0.0), np.where(is_named, self.temporal[at], 0.0)


@dataclass(frozen=True, slots=True)
class Prior:
    """Learned shares of temporal pages."""

    rate: float
    """Share of temporal pages among all pages."""
    _sites: _Level
    _sections: _Level

    @classmethod
    def learn(cls, truth: ArrayLike, sites: ArrayLike, sections: ArrayLike) -> Prior:
        """Learn from known pages.

        Section names must be unique over all sites (`site/folder`, not `folder`).
        """
        t, by_site, by_section = (
            np.asarray(truth, np.bool_),
            np.asarray(sites),
            np.asarray(sections),
        )
        rate = (t.sum() + 1.0) / (len(t) + 2.0)
        site = _level(t, by_site, np.full(len(t), rate))
        pages, temporal = site.counts(by_site)
        centre = (temporal + site.strength * rate) / (pages + site.strength)
        return cls(float(rate), site, _level(t, by_section, centre))

    def of(self, sites: ArrayLike, sections: ArrayLike) -> Floats:
        """Return the probability for pages of these sites and sections."""
        by_site, by_section = np.asarray(sites), np.asarray(sections)
        rate = np.full(len(by_site), self.rate)
        for level, names in ((self._sites, by_site), (self._sections, by_section)):
            pages, temporal = level.counts(names)
            rate = (temporal + level.strength * rate) / (pages + level.strength)
        return rate


def _level(truth: NDArray[np.bool_], names: NDArray[Any], centre: Floats) -> _Level:
    """Count pages by name, and choose how far each name is drawn to the level above."""
    unique, index = np.unique(names, return_inverse=True)
    pages: Floats = np.bincount(index, minlength=len(unique)).astype(np.float64)
    temporal: Floats = np.bincount(index, truth, len(unique)).astype(np.float64)
    middle = np.bincount(index, centre, len(unique)) / np.maximum(pages, 1.0)
    likelihoods = []
    for strength in _STRENGTHS:
        a, b = strength * middle, strength * (1 - middle)
        likelihoods.append(np.sum(betaln(temporal + a, pages - temporal + b) - betaln(a, b)))
    best = int(np.argmax(likelihoods)) if len(unique) else 0
    return _Level(unique, pages, temporal, _STRENGTHS[best])
