"""The sets of real data that decisions are judged by, and the windows of the product on each.

    from benchmarks.real_sets import SETS
    with SETS["globo_6h"].built(data) as built:
        built.make(["hub_seeds"], built.decisions[0])

Each set says what it can and cannot show, and whether parameters may be chosen on it ("chosen on")
or results are reported on it ("reported on"); the two never share days or pages, but for `globo`,
where they share clicks: see its description. A set is used in two ways:

* as the product sees it: `built` gives a state folder in which the visits have been landed, read
  and counted by the product's own functions, and `make` publishes window assets of a day;
* as plain arrays: `visits`, `daily` (views of each page by day, births) and `edges`.

Not here: how each folder of the data is read (`real_visits`), what is measured
(`real_predictions`).
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import real_visits
from benchmarks.real_visits import landed, moved_to, stretched, times_of, together
from temporal_assets.days.daily import build_derived
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.registry import WINDOW_ASSETS

Role = Literal["chosen on", "reported on"]

DATA: Final = Path("../shared/data")

_EPOCH: Final = dt.date(2024, 1, 1)
_SITE: Final = "www.semicomplete.com"


@dataclass(frozen=True, slots=True)
class Daily:
    """Views (distinct clients) of each page on each day."""

    urls: NDArray[np.str_]
    first: dt.date
    views: NDArray[np.int64]
    """pages x days; days without data are 0, see `observed`."""
    observed: NDArray[np.bool_]
    """True for days with data."""

    @property
    def births(self) -> NDArray[np.int64]:
        """First day with views of each page, from 0."""
        return np.asarray((self.views > 0).argmax(axis=1))


@dataclass(frozen=True, slots=True)
class Edges:
    """Clicks from page to page: distinct clients by day."""

    referrer: NDArray[np.str_]
    target: NDArray[np.str_]
    day: NDArray[np.int64]
    """Number of days since the first day of the visits, from 0."""
    clients: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Built:
    """A state folder in which every day of a set has been made by the product."""

    name: str
    settings: Settings
    store: Store
    engine: DuckDBEngine
    days: tuple[dt.date, ...]
    decisions: tuple[dt.date, ...]
    """Days on which something is decided: there is a window before and life enough after."""

    def make(
        self,
        names: Iterable[str],
        day: dt.date,
        made: Collection[tuple[str, dt.date]] = (),
        **changed: Any,
    ) -> list[str]:
        """Publish window assets of a day and what they are made from.

        Args:
            names: Of the assets.
            day: Last day of the window.
            made: Assets and days that are there, and are not made again.
            changed: Sections of settings that differ from those of the set.

        Returns:
            Names of the assets that were made.
        """
        settings = self.settings.model_copy(update=changed)
        wanted = beneath([asset for asset in WINDOW_ASSETS if asset.name in set(names)])
        new = [one for one in WINDOW_ASSETS if one.name in wanted and (one.name, day) not in made]
        for asset in new:
            build(self.store, self.engine, settings, asset, day)
        return [asset.name for asset in new]


@dataclass(frozen=True)
class RealSet:
    """Real visits, and the windows that decisions on them are made in."""

    name: str
    role: Role
    description: str
    shows: str
    cannot_show: str
    read: Callable[[Path], pa.Table]
    window: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `window`: its length in days."""
    horizon: int = 7
    """Days of births after a decision that it is judged by."""
    settle: int = 7
    """Days for which the youngest of them are observed."""
    step: int = 7
    """Days between two decisions."""
    most: int = 4
    """Decisions, evenly chosen, that are judged by more than hubs: more where a set is small."""
    first_decision: int | None = None
    """Days before the first decision; the length of the window where it is not given."""
    listed: tuple[str, ...] = ()
    """A list that an editor of the sites would make today."""
    promos: Callable[[Path], pa.Table] | None = None
    """True arrivals and departures of links on a hub, where they are known."""
    noise: Callable[[pa.Table], pa.Table] | None = None
    """Visits that the product sees and nobody made: neither baselines nor the truth know them."""

    def visits(self, data: Path = DATA) -> pa.Table:
        """Return all visits with the columns of `real_visits.VISITS`."""
        return self.read(data)

    def daily(self, data: Path = DATA) -> Daily:
        """Return the views of each page by day."""
        return daily_of(self.visits(data))

    def edges(self, data: Path = DATA) -> Edges:
        """Return the clicks from page to page."""
        return edges_of(self.visits(data))

    @contextmanager
    def built(self, data: Path = DATA, keep: Path | None = None, **changed: Any) -> Iterator[Built]:
        """Make a state folder of the set.

        Args:
            data: The folder of all data.
            keep: Where state folders stay, so that the daily tables are made once; without it
                the folder goes away in the end.
            changed: Sections of settings that differ from those of the set.
        """
        if keep is not None:
            yield self.build(data, keep.resolve() / self.name, **changed)
            return
        with tempfile.TemporaryDirectory() as folder:
            yield self.build(data, Path(folder), **changed)

    def build(self, data: Path, folder: Path, **changed: Any) -> Built:
        """Make a state folder of the set in `folder`, or take the one that is there."""
        file, done = folder / "visits.parquet", folder / "done"
        settings = self._settings(folder, file, changed)
        if done.exists():
            store = Store.open(settings)
            days = tuple(store.days("page_views"))
        else:
            store, days = self._make_days(data, file, settings)
            done.touch()
        first = self.first_decision or settings.window.days
        last = len(days) - self.horizon - self.settle
        decisions = days[first - 1 : last : self.step]
        return Built(self.name, settings, store, DuckDBEngine(settings), days, decisions)

    def _make_days(
        self, data: Path, file: Path, settings: Settings
    ) -> tuple[Store, tuple[dt.date, ...]]:
        """Write the visits, read them with the product and publish all daily tables."""
        visits = self.visits(data) if self.noise is None else self.noise(self.visits(data))
        rows = visits.rename_columns(["time", "address", "url", "referrer"])
        time = rows["time"].cast(pa.timestamp("us", "UTC"))
        pq.write_table(rows.set_column(0, "time", time), file)
        store, days = landed(settings)
        engine = DuckDBEngine(settings)
        for day in days:
            for asset in ("page_views", "transits"):
                build_derived(store, engine, asset, day)
        return store, tuple(days)

    def _settings(self, folder: Path, file: Path, changed: Mapping[str, Any]) -> Settings:
        folder.mkdir(parents=True, exist_ok=True)
        given: dict[str, Any] = {
            "sources": [{"path": str(file), "format": "parquet"}],
            "window": dict(self.window),
            "evaluation": {"horizons": (self.horizon,), "settle_days": self.settle},
        }
        if self.listed:
            listed = folder / "list.txt"
            listed.write_text("".join(f"{url}\n" for url in self.listed), "utf-8")
            given["baseline"] = {"path": str(listed)}
        return load_settings(folder / "state", **(given | dict(changed)))


def beneath(assets: Iterable[WindowAsset]) -> set[str]:
    """Names of window assets and of all they are made from."""
    return set().union(*({asset.name} | beneath(asset.tables) for asset in assets))


def daily_of(visits: pa.Table) -> Daily:
    """Count distinct clients of each page and day."""
    day = times_of(visits).astype("datetime64[D]")
    url, client = (visits[name].combine_chunks().dictionary_encode() for name in ("url", "client"))
    number = (day - day[0]).astype(np.int64)
    rows = np.unique(
        np.column_stack([url.indices.to_numpy(), number, client.indices.to_numpy()]), axis=0
    )
    views = np.zeros((len(url.dictionary), int(number[-1]) + 1), np.int64)
    np.add.at(views, (rows[:, 0], rows[:, 1]), 1)
    urls = np.array(url.dictionary.to_pylist(), np.str_)
    return Daily(urls, day[0].astype(dt.date), views, views.sum(axis=0) > 0)


def edges_of(visits: pa.Table) -> Edges:
    """Count distinct clients of each link and day, without those from nowhere."""
    day = times_of(visits).astype("datetime64[D]")
    rows = pa.table(
        {
            "referrer": visits["referrer"],
            "target": visits["url"],
            "day": (day - day[0]).astype(np.int64),
            "client": visits["client"],
        }
    )
    rows = rows.filter(pc.and_(pc.is_valid(rows["referrer"]), pc.not_equal(*_ends(rows))))
    found = rows.group_by(["referrer", "target", "day"]).aggregate([("client", "count_distinct")])
    return Edges(
        np.array(found["referrer"].to_pylist(), np.str_),
        np.array(found["target"].to_pylist(), np.str_),
        found["day"].to_numpy(),
        found["client_count_distinct"].to_numpy(),
    )


def _ends(rows: pa.Table) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    return rows["referrer"], rows["target"]


def _globo(hours: float, skip_hours: float, role: Role) -> RealSet:
    """Clicks on a news portal, `hours` of which are a day."""
    days = round(24 / hours * real_visits.GLOBO_DAYS)
    ahead = max(days // 8, 3)

    def read(data: Path) -> pa.Table:
        return stretched(real_visits.globo(data), hours, skip_hours=skip_hours)

    return RealSet(
        f"globo_{hours:g}h" + (f"_from_{skip_hours:g}h" if skip_hours else ""),
        role,
        f"1.5 million clicks on a news portal in eight days; {hours:g} hours stand for a day, from"
        f" hour {skip_hours:g} on. Sets of other lengths and beginnings have the same clicks in"
        " other days: a parameter chosen on one is not independent of another, but n and m are"
        " other hours, and what is judged is always later than what is learned from.",
        "hubs, early labels, labels of short lives",
        "sites, sections, prefixes (articles are numbers of one folder); front pages (no click"
        " names one); half-lives in real hours",
        read,
        {"days": days * 9 // 16, "min_days": 5},
        horizon=ahead,
        step=max(days // 24, 1),
        first_decision=days * 5 // 16,
    )


def _bbc(name: str, read: Callable[[Path], pa.Table], role: Role) -> RealSet:
    """The BBC's front page or most read stories, in real days."""
    first, days = _BBC_DAYS[role]
    is_reported = role == "reported on"
    return RealSet(
        f"bbc_{name}_{_SEASON[role]}",
        role,
        _BBC_CLICKS[name],
        "half-lives, revisit intervals (true arrivals and departures of links), days that are"
        " missing (spring)",
        "untemporal pages (nearly all is over within three days: see the sets of 3 hours), counts"
        " (ranks are none: a story leaves the ten while people still read it), more hubs than one,"
        " sites, sections (nearly all are /news/articles/)",
        lambda data: real_visits.between(read(data), first, days),
        {"days": 30 if is_reported else 12, "min_days": 7},
        horizon=7 if is_reported else 4,
        settle=7 if is_reported else 4,
        step=7 if is_reported else 2,
        promos=real_visits.promos if name == "most_read" else None,
    )


def _bbc_stretched(role: Role) -> RealSet:
    """The BBC's most read stories, three hours of which are a day."""
    first, days = _BBC_STRETCHED[role]
    return RealSet(
        f"bbc_most_read_3h_{_SEASON[role]}",
        role,
        _BBC_CLICKS["most_read"] + " Three hours stand for a day.",
        "labels and early labels of lives that are short or long",
        "counts, more hubs than one, sites, sections, half-lives in real hours",
        lambda data: stretched(
            real_visits.between(real_visits.bbc_most_read(data), first, days), 3
        ),
        {"days": 40, "min_days": 7},
        step=7 if role == "reported on" else 4,
        most=16,
    )


_BBC_CLICKS: Final = {
    "most_read": "Hourly ten most read stories of the BBC: a rank is 11 - rank clicks of clients of"
    " their own, from the front page where the story was shown there.",
    "front_page": "Hourly promos of the BBC's front page: one at place p is 13 - p clicks from that"
    " page.",
}
_SEASON: Final[Mapping[Role, str]] = {"chosen on": "spring", "reported on": "summer"}
_BBC_DAYS: Final[Mapping[Role, tuple[dt.date, int]]] = {
    "chosen on": (dt.date(2025, 4, 17), 34),
    "reported on": (dt.date(2025, 6, 5), 88),
}
_BBC_STRETCHED: Final[Mapping[Role, tuple[dt.date, int]]] = {
    "chosen on": (dt.date(2025, 4, 18), 12),
    "reported on": (dt.date(2025, 8, 1), 20),
}

_WIKI_DAYS: Final[Mapping[Role, tuple[Sequence[int], dt.date, int]]] = {
    "chosen on": ((0, 1, 2, 3, 4), dt.date(2019, 1, 1), 116),
    "reported on": ((5, 6), dt.date(2018, 4, 1), 116),
}


def _wiki(role: Role) -> RealSet:
    trials, first, days = _WIKI_DAYS[role]
    return RealSet(
        f"wiki_{'late' if role == 'reported on' else 'early'}",
        role,
        f"Daily views of Wikipedia pages (trials {', '.join(map(str, trials))}), one view of ours"
        f" for {real_visits.WIKI_DIVISOR}; half of them along links drawn by the link graph.",
        "untemporal pages and bursts, weekday noise, windows of the default length, a missing day"
        " (reported on)",
        "births (a page begins when more than 100 people read it on a day), times within a day,"
        " sections, real clicks",
        lambda data: real_visits.wikipedia(data, trials, first, days),
    )


def _arrivals(role: Role) -> RealSet:
    first = dt.date(2022, 7, 19) if role == "chosen on" else dt.date(2022, 12, 1)
    return RealSet(
        f"arrivals_{'summer' if role == 'chosen on' else 'winter'}",
        role,
        "URLs of eleven US news sites on the day when they were first seen (one in four); each has"
        " the life of an article drawn from the portal's clicks, 60 visits at most.",
        "arrival rates by site and folder, prefixes and patterns on real news URLs",
        "differences of interest between sections (lives are borrowed at random), hubs (no"
        " referrers), untemporal sites (all are news)",
        lambda data: real_visits.arrivals_with_lives(data, first, 60, 0.25),
        {"days": 20, "min_days": 7},
        horizon=5,
        settle=7,
        step=5,
        most=8,
    )


def _elastic(data: Path) -> pa.Table:
    return stretched(real_visits.logged([data / "elastic_logs" / "apache_logs"], _SITE), 2)


def _secrepo(data: Path) -> pa.Table:
    # The same lines are in more than one file of 2021.
    file = data / "secrepo_logs" / "access-2018-12-15.log"
    return stretched(real_visits.logged([file], "www.secrepo.com"), 1)


def _mix(role: Role) -> Callable[[Path], pa.Table]:
    """Read several sets as one log of 48 days from one day on, each under its own hosts."""

    def read(data: Path) -> pa.Table:
        is_reported = role == "reported on"
        trials, first, _ = _WIKI_DAYS[role]
        arrived = dt.date(2023, 1, 5) if is_reported else dt.date(2022, 10, 10)
        bbc = dt.date(2025, 7, 1) if is_reported else dt.date(2025, 4, 17)
        clicks = real_visits.some_clients(real_visits.globo(data), 0.25)
        parts = {
            "globo": stretched(clicks, 4, skip_hours=0 if is_reported else 2),
            "bbc": real_visits.between(real_visits.bbc_most_read(data), bbc, _MIX_DAYS),
            "wiki": real_visits.wikipedia(data, trials, first, _MIX_DAYS, 100),
            "arrivals": real_visits.arrivals_with_lives(data, arrived, _MIX_DAYS, 0.2),
            "log": _elastic(data) if is_reported else _secrepo(data),
            "game": _half_of_the_game(data, later=is_reported),
        }
        return together({name: moved_to(part, _EPOCH) for name, part in parts.items()})

    return read


def _half_of_the_game(data: Path, *, later: bool) -> pa.Table:
    """Half of the players' paths, 263 hours a day: articles that people meet by and by."""
    paths = real_visits.wikispeedia(data)
    time = times_of(paths)
    second = time >= time[0] + (time[-1] - time[0]) // 2
    return stretched(paths.filter(pa.array(second == later)), _GAME_HOURS)


_MIX_DAYS: Final = 48
_GAME_HOURS: Final = 263


def _mixed(role: Role) -> RealSet:
    return RealSet(
        "mix_b" if role == "reported on" else "mix_a",
        role,
        "Several sets as one log of 48 days: a quarter of the portal's clients (4 hours a day),"
        " the BBC's most read, Wikipedia (one view for 100), arrivals at eleven US news sites with"
        " borrowed lives (one in five), half of the paths of `wikispeedia`, and the log of a small"
        " web site.",
        "sites, sections, prefixes, patterns and what the policy says about pages born later: some"
        " sites are news, some are not",
        "links between sites; how large the sites are to each other",
        _mix(role),
        {"days": 24, "min_days": 7},
        step=5,
        listed=(
            "https://globo.example/",
            "https://www.bbc.co.uk/news/",
            "https://www.nytimes.com/",
            "https://www.washingtonpost.com/",
            "https://www.cnn.com/",
            "https://www.npr.org/",
            "https://abcnews.go.com/",
            "https://www.cbsnews.com/news/",
            "https://www.semicomplete.com/blog/",
        ),
    )


_ALL: Final = (
    _globo(8, 0, "chosen on"),
    _globo(4, 2, "chosen on"),
    _globo(6, 0, "reported on"),
    _globo(6, 3, "reported on"),
    _bbc("most_read", real_visits.bbc_most_read, "chosen on"),
    _bbc("most_read", real_visits.bbc_most_read, "reported on"),
    _bbc("front_page", real_visits.bbc_front_page, "chosen on"),
    _bbc("front_page", real_visits.bbc_front_page, "reported on"),
    _bbc_stretched("chosen on"),
    _bbc_stretched("reported on"),
    _wiki("chosen on"),
    _wiki("reported on"),
    _arrivals("chosen on"),
    _arrivals("reported on"),
    _mixed("chosen on"),
    _mixed("reported on"),
    RealSet(
        "secrepo",
        "chosen on",
        "Log of a security data site, one day of which is 24 (one hour a day).",
        "a log without news: what is said where there is next to nothing to learn",
        "news, front pages with new pages",
        _secrepo,
        {"days": 12, "min_days": 5, "min_views_per_day": 0.25},
        horizon=3,
        settle=4,
        step=2,
    ),
    RealSet(
        "elastic",
        "reported on",
        "Log of a personal web site, four days of which are 48 (two hours a day).",
        "a small site with sections and many evergreen pages",
        "news (next to none), pages with many views",
        _elastic,
        {"days": 20, "min_days": 7, "min_views_per_day": 0.25},
        horizon=6,
        settle=7,
        step=3,
        most=8,
        listed=(
            "https://www.semicomplete.com/blog/",
            "https://www.semicomplete.com/presentations/",
        ),
    ),
    RealSet(
        "wikispeedia",
        "reported on",
        "Paths of players through 4,604 articles in three years; a week is a day.",
        "transits among pages none of which is temporal: false alarms",
        "news, births (an article begins when a player first opens it), readers without a goal",
        lambda data: stretched(real_visits.wikispeedia(data), 168),
        {"min_views_per_day": 0.25},
        step=10,
        most=8,
    ),
)

SETS: Final[Mapping[str, RealSet]] = {one.name: one for one in _ALL}
