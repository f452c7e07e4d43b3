"""The mirror: pages and links of sites as compact arrays, in a folder of the state.

Here: what a mirror is, collecting one, writing and reading it. Not here: the sources it is
collected from, one module each (`warc`, `wat`, `page_table`, `edge_list`, `traffic`), and tables of
links that are too large to be collected one by one (`link_tables`).

Pages are ordered by site and URL, so that a site is a range of numbers. Ten million pages with a
hundred million links take 0.6 GB of arrays, the bytes of their URLs beside them; files are mapped
into memory, so only what is looked at is loaded.
"""

from __future__ import annotations

import filecmp
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import blake3
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import FileLock
from numpy.typing import NDArray

from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.crawl.mirror.page_html import FILE as HTML
from temporal_assets.crawl.mirror.page_html import HtmlKeeper
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import DEFAULT, UrlRules
from temporal_assets.machine.durable import replace_text, sync
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import Settings
from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.sealed import sealed, unsealed

FOLDER: Final = "mirror"
"""Name of the mirror's folder in the state folder."""
_CURRENT: Final = "current.json"
_URLS: Final = "urls.parquet"
_SITES: Final = "sites.parquet"
_DAMAGED: Final = "the stored mirror is damaged: make it again"
_HOPS: Final = 5
"""Redirects that are followed; browsers follow 20, honest sites need two."""


class NoMirror(LookupError):
    """Error: there is no mirror to read, or nothing to make one from."""


class DamagedMirror(NoMirror, DamagedFile):
    """Error: the pointer to the mirror's folder is damaged."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """Pages, numbered by site and URL, and the links between them."""

    urls: pa.LargeStringArray
    """Canonical, ordered by site and URL."""
    sites: tuple[str, ...]
    first: Int64s
    """Shape (sites + 1): site i is the pages first[i] to first[i + 1] - 1."""
    links: LinkGraph
    is_nofollow: Flags
    """Flags of links whose author asks crawlers not to follow them."""
    counts: dict[str, int]
    """Numbers of what was read, and of what was left out and why."""

    def __len__(self) -> int:
        return len(self.urls)

    def number(self, urls: pa.Array) -> NDArray[np.int64]:
        """Return the page of each URL; -1 where there is none."""
        positions = pc.index_in(urls.cast(pa.large_string()), value_set=self.urls)
        return np.asarray(pc.fill_null(positions, -1)).astype(np.int64)


@dataclass(slots=True)
class MirrorBuilder:
    """Collector of pages and links, in any order, from any number of sources."""

    rules: UrlRules = DEFAULT
    keeper: HtmlKeeper | None = None
    """Writer of the HTML of pages, if it is to be kept."""
    counts: Counter[str] = field(default_factory=Counter)
    cut: list[str] = field(default_factory=list)
    """Faults of files that were read in part."""
    _number: dict[str, int] = field(default_factory=dict)
    _is_page: bytearray = field(default_factory=bytearray)
    _source: array[int] = field(default_factory=lambda: array("i"))
    _target: array[int] = field(default_factory=lambda: array("i"))
    _nofollow: bytearray = field(default_factory=bytearray)
    _moved: dict[int, int] = field(default_factory=dict)

    def number(self, url: str) -> int | None:
        """Return the number of a URL as written, or None if it is no page."""
        # A canonical URL is its own canonical form, so what is known needs no parsing.
        page_number = self._number.get(url)
        if page_number is not None:
            return page_number
        canonical = canonical_url(url, self.rules)
        if canonical is None:
            return None
        number = self._number.setdefault(canonical, len(self._number))
        if number == len(self._is_page):
            self._is_page.append(0)
        return number

    def page(
        self, url: str, links: Iterable[tuple[str, bool]], html: Callable[[], str] | None = None
    ) -> bool:
        """Add a page with its links (URL, nofollow); return False if its URL is none or known.

        The function `html` is called for its HTML if that is kept.
        """
        number = self.number(url)
        if number is None:
            self.counts["no_page_url"] += 1
            return False
        if self._is_page[number]:
            self.counts["duplicate"] += 1
            return False
        self._is_page[number] = 1
        self.counts["pages"] += 1
        if self.keeper is not None and html is not None:
            canonical = canonical_url(url, self.rules) or url
            kept = self.keeper.keep(canonical, html())
            self.counts["html_kept" if kept else "html_left_out"] += 1
        seen: dict[int, bool] = {}
        for target, nofollow in links:
            goal = self.number(target)
            # Of two links to one page the one that may be followed counts.
            if goal is not None:
                seen[goal] = seen.get(goal, True) and nofollow
        for goal, nofollow in seen.items():
            self._add(number, goal, nofollow)
        return True

    def link(self, source: str, target: str, *, nofollow: bool = False) -> None:
        """Add a link of an edge list; both ends become pages if they can be."""
        ends = self.number(source), self.number(target)
        for end in ends:
            if end is not None:
                self._is_page[end] = 1
        self._join(*ends, nofollow)

    def step(self, source: str, target: str) -> None:
        """Add a link that somebody followed; it counts if both ends are pages of the mirror."""
        self._join(self.number(source), self.number(target), nofollow=False)

    def moved(self, source: str, target: str) -> None:
        """Add a redirect: links to `source` lead to `target`."""
        ends = self.number(source), self.number(target)
        if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
            self._moved.setdefault(ends[0], ends[1])
            self.counts["redirects"] += 1

    def _join(self, source: int | None, target: int | None, nofollow: bool) -> None:
        if source is None or target is None:
            self.counts["no_page_url"] += 1
        else:
            self._add(source, target, nofollow)

    def _add(self, source: int, target: int, nofollow: bool) -> None:
        self._source.append(source)
        self._target.append(target)
        self._nofollow.append(nofollow)

    def build(self) -> Mirror:
        """Return the mirror of all that was collected, without links to other pages."""
        resolved = self._resolved()
        is_page = np.frombuffer(self._is_page, np.uint8).astype(np.bool_)
        if not is_page.any():
            raise NoMirror("no page was found in the sources of the mirror")
        urls, place = _ordered(self._number, is_page)
        source = place[np.frombuffer(self._source, np.int32)]
        target = place[resolved[np.frombuffer(self._target, np.int32)]]
        nofollow = np.frombuffer(self._nofollow, np.uint8).astype(np.bool_)
        inside = (source >= 0) & (target >= 0)
        self.counts["outside"] += int((~inside).sum())
        source, target, nofollow = source[inside], target[inside], nofollow[inside]
        # Of a pair that was given twice the first stays in its place, and follows if any does.
        order = np.argsort(source.astype(np.int64) * len(urls) + target, kind="stable")
        s, t = source[order], target[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1])
        begins = np.flatnonzero(is_new)
        kept = np.zeros(len(order), np.bool_)
        kept[order[begins]] = True
        if len(begins):
            nofollow[order[begins]] = np.logical_and.reduceat(nofollow[order], begins)
        graph = link_graph(len(urls), source[kept], target[kept])
        flags = nofollow[kept][np.argsort(source[kept], kind="stable")]
        sites, first = site_ranges(pa.array([site_of(url) for url in urls.to_pylist()]))
        counts = {**self.counts, "pages": len(urls), "links": graph.links}
        return Mirror(urls, sites, first, graph, flags, counts)

    def _resolved(self) -> NDArray[np.int32]:
        """Return the URL at which links to each URL end, after redirects."""
        ends = np.arange(len(self._number), dtype=np.int32)
        for source in self._moved:
            at = source
            for _ in range(_HOPS):
                if self._is_page[at] or at not in self._moved:
                    break
                at = self._moved[at]
            ends[source] = at
        return ends


def _ordered(number: dict[str, int], is_page: Flags) -> tuple[pa.LargeStringArray, NDArray[Any]]:
    """Return the sorted URLs of the pages, and the position of each number in them, or -1."""
    pages = np.flatnonzero(is_page)
    urls = pa.array(number, pa.large_string()).take(pa.array(pages))
    sites = pa.array([site_of(url) for url in urls.to_pylist()], pa.large_string())
    table = pa.table({"site": sites, "url": urls})
    order = np.asarray(
        pc.sort_indices(table, sort_keys=[("site", "ascending"), ("url", "ascending")])
    )
    place = np.full(len(is_page), -1, np.int32)
    place[pages[order]] = np.arange(len(pages), dtype=np.int32)
    return urls.take(pa.array(order)), place


def site_ranges(sites: pa.ChunkedArray | pa.Array) -> tuple[tuple[str, ...], Int64s]:
    """Return sites in their order and where each begins, from the site of every page."""
    runs = pc.run_end_encode(
        sites.combine_chunks() if isinstance(sites, pa.ChunkedArray) else sites, pa.int64()
    )
    ends = np.asarray(runs.run_ends).astype(np.int64)
    return tuple(runs.values.to_pylist()), np.concatenate((np.zeros(1, np.int64), ends))


def save(mirror: Mirror, state: Path, html: Path | None = None) -> Path:
    """Replace the stored mirror; readers of the old one keep its files until they end.

    `html` is a file of an `HtmlKeeper`, which is moved.
    """
    home, locks = state / FOLDER, state / "locks"
    home.mkdir(parents=True, exist_ok=True)
    locks.mkdir(parents=True, exist_ok=True)
    with scratch_folder(state / "tmp") as scratch:
        new_folder = scratch / FOLDER
        name = _write(mirror, new_folder, html)
        pointer = sealed({"folder": name, "counts": mirror.counts})
        # Under a lock: of two saved at once, neither removes what the other's pointer is to name.
        with FileLock(locks / "mirror.lock"):
            if not _is_copy(home / name, new_folder):
                if (home / name).exists():  # damaged since, and perhaps being read
                    (home / name).rename(scratch / name)
                new_folder.rename(home / name)
                sync(home)
            replace_text(home / _CURRENT, pointer, scratch)
            sync(home)  # the pointer is on the disk before what it named is gone
            for old in home.iterdir():
                if old.is_dir() and old.name != name:
                    # It goes with the scratch folder: removed here, a killed process would leave
                    # half of it under the name by which the same mirror is found again.
                    old.rename(scratch / old.name)
    return home / name


def _write(mirror: Mirror, folder: Path, html: Path | None) -> str:
    """Write the files of a mirror; return the name of its folder, which is their digest."""
    folder.mkdir()
    pq.write_table(pa.table({"url": mirror.urls}), folder / _URLS, compression="zstd")
    sites = {"site": pa.array(mirror.sites, pa.string()), "first": mirror.first[:-1]}
    pq.write_table(pa.table(sites), folder / _SITES, compression="zstd")
    np.save(folder / "first.npy", mirror.links.first)
    np.save(folder / "target.npy", mirror.links.target)
    np.save(folder / "nofollow.npy", np.packbits(mirror.is_nofollow))
    if html is not None:
        shutil.move(html, folder / HTML)
    paths = sorted(folder.iterdir())
    for path in paths:
        sync(path)
    sync(folder)
    return _digest(paths)


def _is_copy(folder: Path, new_folder: Path) -> bool:
    """Return True if a folder holds the same files as another one."""
    if not folder.is_dir():
        return False
    files = {path.name for path in folder.iterdir() if path.is_file()}
    return files == {path.name for path in new_folder.iterdir()} and all(
        filecmp.cmp(folder / name, new_folder / name, shallow=False) for name in files
    )


def mirror_folder(settings: Settings) -> Path:
    """Return where the stored mirror of an installation is, or would be."""
    return settings.state / FOLDER


def identity(folder: Path) -> str | None:
    """Return an identity of the stored mirror, or None without one."""
    pointer = _pointer(folder)
    return str(pointer["folder"]) if pointer else None


def stored_folder(home: Path) -> Path:
    """Return the folder that holds the mirror of `home` now. Raises `NoMirror` without one."""
    return _folder(home, _pointer(home))


def is_whole(home: Path) -> bool:
    """Return True if the stored mirror of `home` is as it was written, or there is none."""
    pointer = _pointer(home)
    if not pointer:
        return True
    folder = _folder(home, pointer)
    return folder.is_dir() and _digest(sorted(folder.iterdir())) == folder.name


def load(home: Path) -> Mirror:
    """Return the mirror of a folder, `FOLDER` of a state; arrays are mapped, not read."""
    while True:
        pointer = _pointer(home)
        try:
            return _read(_folder(home, pointer), pointer["counts"])
        except (FileNotFoundError, NoMirror) as error:
            # Where another was stored meanwhile, the files of this one have gone, and no harm done.
            if _pointer(home) == pointer:
                raise error if isinstance(error, NoMirror) else NoMirror(_DAMAGED) from error
        except (EOFError, ValueError, pa.ArrowException) as error:
            raise NoMirror(_DAMAGED) from error


def _pointer(home: Path) -> dict[str, Any]:
    """Return the record that names the mirror's folder, empty without one.

    Raises `DamagedMirror`.
    """
    file = home / _CURRENT
    if not file.is_file():
        return {}
    try:
        pointer = unsealed(file.read_text("utf-8"))
        if isinstance(pointer["folder"], str) and isinstance(pointer["counts"], dict):
            return dict(pointer)
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedMirror(
        f"{file} does not say where the mirror is: make it again (temporal-assets evaluate"
        " mirror), or remove the file"
    )


def _folder(home: Path, pointer: dict[str, Any]) -> Path:
    if not pointer:
        raise NoMirror("there is no mirror yet")
    return home / Path(pointer["folder"]).name


def _read(folder: Path, counts: dict[str, int]) -> Mirror:
    """Return the mirror in a folder; its largest arrays stay on disk."""
    if not (folder / _SITES).is_file():
        raise NoMirror("the stored mirror is incomplete or of an earlier version: make it again")
    urls = (
        pq.read_table(folder / _URLS, memory_map=True, partitioning=None)
        .column("url")
        .combine_chunks()
    )
    target = np.load(folder / "target.npy", mmap_mode="r")
    graph = LinkGraph(np.load(folder / "first.npy"), target)
    bits = np.load(folder / "nofollow.npy", mmap_mode="r")
    nofollow = np.unpackbits(bits, count=len(target)).astype(np.bool_)
    sites = whole_table(folder / _SITES)
    begins = np.concatenate((sites.column("first").to_numpy(), [len(urls)]))
    names = tuple(sites.column("site").to_pylist())
    return Mirror(urls, names, begins, graph, nofollow, counts)


def _digest(paths: Sequence[Path]) -> str:
    hasher = blake3.blake3()
    for path in paths:
        if path.stat().st_size:
            hasher.update_mmap(path)
    return str(hasher.hexdigest(16))
