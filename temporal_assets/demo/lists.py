"""Lists made by people: the annotated sample of pages and the site list in use today.

What belongs here: imitating annotators and list keepers. What does not: the truth they know
only in part (`truth`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.demo.options import DemoOptions
from temporal_assets.demo.world.seeds import generator
from temporal_assets.demo.world.sites import Site, SiteKind

TEMPORAL: Final = "temporal"
UNTEMPORAL: Final = "untemporal"
"""Labels of the annotated sample (the words of TW 4.2)."""

_ANNOTATED: Final = 3_040
"""Number of annotated pages, as in TW 4.2 and NP 3."""

_KNOWN: Final = {SiteKind.PORTAL: 0.7, SiteKind.MIXED: 0.5}
"""Share of the sites of each kind that the list keepers know. No list has the event: it is too new
(TW 1: a manual list is not sensitive to emerging sites)."""

_GONE: Final = ("news.oldpaper.example", "www.citypost.example")
"""Entries of the list for sites that no longer exist."""

_HEADER: Final = (
    "# Sites of the instant crawler, one per line, kept by hand.",
    "# Whole sites only. Remove what is dead, please.",
    "",
)


def annotate(options: DemoOptions, site: Site, pages: pa.Table) -> list[tuple[str, str]]:
    """Return (url, label) of a few pages of one site with as many views as the window has days.

    People judge by what a page is, not by how often it was opened.
    """
    expected = pages["expected_views"].fill_null(0).to_numpy()
    reliable = np.flatnonzero(expected >= options.days)
    wanted = min(-(-_ANNOTATED * site.pages // options.pages), len(reliable))
    rng = generator(options.seed, "annotated", site.index)
    chosen = pages.take(np.sort(rng.choice(reliable, wanted, replace=False)))
    labels = (TEMPORAL if news else UNTEMPORAL for news in chosen["is_news"].to_pylist())
    return list(zip(chosen["url"].to_pylist(), labels, strict=True))


def write_annotated(path: Path, rows: Iterable[tuple[str, str]]) -> None:
    """Write the sample as CSV with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("url", "label"))
        writer.writerows(rows)


def baseline(options: DemoOptions, sites: Sequence[Site]) -> list[str]:
    """Return lines of the list: some of the sites with news, written as people write them."""
    rng = generator(options.seed, "baseline")
    hosts_listed: list[str] = []
    for kind, share in _KNOWN.items():
        hosts = [site.host for site in sites if site.kind is kind]
        count = max(round(share * len(hosts)), min(len(hosts), 1))
        hosts_listed += [hosts[i] for i in np.sort(rng.choice(len(hosts), count, replace=False))]
    entries = [*hosts_listed, *_GONE]
    rng.shuffle(entries)
    return [*_HEADER, *(_written(entry, int(rng.integers(4))) for entry in entries)]


def _written(host: str, habit: int) -> str:
    """Return a host as one of several keepers of the list writes it."""
    return (host, host, f"http://{host}/", f"{host.upper()}  # checked")[habit]
