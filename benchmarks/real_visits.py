"""Real public data as visits: who opened which URL, when, coming from where.

Here: one reader for each folder of the data, all to the same columns, and what is done to visits
as a whole (stretch their time, move them, draw some clients). Not here: which of them make a set
that something is judged by (`real_sets`), and what is measured (`real_predictions`).

A visit has a `time` (UTC, microseconds), a `client` (text), a `url` and a `referrer` (or null).
"""

from __future__ import annotations

import csv
import datetime as dt
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.cli.shared.landing import land
from temporal_assets.days.daily import build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store

Int64s = NDArray[np.int64]
Times = NDArray[np.datetime64]

VISITS: Final = pa.schema(
    [
        ("time", pa.timestamp("us")),
        ("client", pa.string()),
        ("url", pa.string()),
        ("referrer", pa.string()),
    ]
)

_DAY: Final = np.timedelta64(86_400_000_000, "us")
_SEED: Final = 20_251_128

GLOBO: Final = "globo_clicks/clicks_2017-10-01_to_08.parquet"
GLOBO_DAYS: Final = 8
"""Days of the clicks; a thin tail behind them is left out."""

_MOST_READ: Final = "bbc_demand/most_read_2025-04-17_to_08-31.parquet"
_PROMOS: Final = "bbc_demand/front_page_promos_2025-04-17_to_08-31.parquet"
FRONT_PAGE: Final = "https://www.bbc.co.uk/news"
_RANKS: Final = 11
_PLACES: Final = 13

WIKI_DIVISOR: Final = 50
"""Views of Wikipedia that one view of ours stands for: the data has no day below 101 views."""

_LIFE_DAYS: Final = 5
_LIFE_VISITS: Final = 60


def visits_of(
    time: Times, client: Any, url: pa.Array | Sequence[str], referrer: Any = None
) -> pa.Table:
    """Return a table of visits in the order of their times."""
    columns = [
        pa.array(np.asarray(time).astype("datetime64[us]")),
        pa.array(client).cast(pa.string()),
        pa.array(url, pa.string()),
        pa.nulls(len(time), pa.string()) if referrer is None else pa.array(referrer, pa.string()),
    ]
    table = pa.Table.from_arrays(columns, schema=VISITS)
    return table.take(pa.array(np.argsort(columns[0].to_numpy(), kind="stable")))


def times_of(visits: pa.Table) -> Times:
    """Times of visits as NumPy's, to the microsecond."""
    return np.asarray(visits["time"].to_numpy(), "datetime64[us]")


def stretched(visits: pa.Table, hours: float, *, skip_hours: float = 0.0) -> pa.Table:
    """Make `hours` of the visits a day, from midnight of their first day on.

    Args:
        visits: In the order of time.
        hours: Real hours that make a day; the product's n = 3 days are three times as many.
        skip_hours: Real hours left out at the beginning, so that days are cut elsewhere.
    """
    time = times_of(visits)
    start = time[0] + np.timedelta64(round(skip_hours * 3600), "s")
    kept = time >= start
    passed = (time[kept] - start).astype(np.int64) * (24 / hours)
    moved = time[0].astype("datetime64[D]").astype("datetime64[us]") + passed.astype(
        np.int64
    ).astype("timedelta64[us]")
    return _retimed(visits.filter(pa.array(kept)), moved)


def _retimed(visits: pa.Table, time: Times) -> pa.Table:
    return visits.set_column(0, "time", pa.array(time.astype("datetime64[us]")))


def between(visits: pa.Table, first: dt.date, days: int) -> pa.Table:
    """Return the visits of some days."""
    time, start = times_of(visits), np.datetime64(first, "us")
    return visits.filter(pa.array((time >= start) & (time < start + days * _DAY)))


def moved_to(visits: pa.Table, day: dt.date) -> pa.Table:
    """Move visits by whole days, so that the first of them is on `day`."""
    time = times_of(visits)
    by = np.datetime64(day, "D") - time[0].astype("datetime64[D]")
    return _retimed(visits, time + by)


def some_clients(visits: pa.Table, share: float) -> pa.Table:
    """Keep all visits of a random share of the clients."""
    clients = visits["client"].combine_chunks().dictionary_encode()
    drawn = np.random.default_rng(_SEED).random(len(clients.dictionary)) < share
    return visits.filter(pa.array(drawn[clients.indices.to_numpy()]))


def together(parts: Mapping[str, pa.Table]) -> pa.Table:
    """Put visits of several sources into one log; clients of different sources differ."""
    renamed = [
        part.set_column(
            1, "client", pc.binary_join_element_wise(pa.scalar(name), part["client"], "-")
        )
        for name, part in parts.items()
    ]
    return pa.concat_tables(renamed).combine_chunks().sort_by("time")


def globo(data: Path) -> pa.Table:
    """Read the clicks on a news portal; the referrer is the article before it in the session."""
    clicks = pq.read_table(data / GLOBO)
    time = clicks["ts"].to_numpy().astype("datetime64[us]")
    kept = time < time.min() + GLOBO_DAYS * _DAY
    clicks = clicks.filter(pa.array(kept))
    urls = [_article_urls(clicks[name]) for name in ("article", "previous_article")]
    return visits_of(time[kept], clicks["client"].combine_chunks(), *urls)


def _article_urls(articles: pa.ChunkedArray) -> pa.Array:
    numbers = articles.combine_chunks().cast(pa.int64()).cast(pa.string())
    return pc.binary_join_element_wise("https://globo.example/a/", numbers, "")


def ranked(data: Path) -> pa.Table:
    """Read the hourly ten most read stories of the BBC as the rows of the file."""
    return pq.read_table(data / _MOST_READ)


def promos(data: Path) -> pa.Table:
    """Read the hourly promos on the BBC's front page: true arrivals and departures of its links."""
    return pq.read_table(data / _PROMOS)


def bbc_most_read(data: Path) -> pa.Table:
    """Weight each rank of an hour's ten most read stories as 11 - rank clicks of as many clients.

    A click came from the front page, which its client opened a second before, where the story was
    among the page's promos within an hour.
    """
    rows, shown = ranked(data), promos(data)
    hours = {
        (url, hour + ahead)
        for url, hour in zip(shown["url"].to_pylist(), _hours(shown), strict=True)
        for ahead in (-1, 0, 1)
    }
    from_front = [pair in hours for pair in zip(rows["url"].to_pylist(), _hours(rows), strict=True)]
    return _weighted(rows, _RANKS - rows["place"].to_numpy(), np.array(from_front))


def bbc_front_page(data: Path) -> pa.Table:
    """Weight each promo of an hour's front page at place p as 13 - p clicks from that page."""
    rows = promos(data)
    return _weighted(rows, _PLACES - rows["place"].to_numpy(), np.ones(len(rows), np.bool_))


def _hours(rows: pa.Table) -> list[int]:
    hours: list[int] = rows["seen"].to_numpy().astype("datetime64[h]").astype(np.int64).tolist()
    return hours


def _weighted(rows: pa.Table, clicks: Int64s, from_front: NDArray[np.bool_]) -> pa.Table:
    """Return a client's visit for each click, spread over the hour, and of the front page."""
    row = np.repeat(np.arange(len(rows)), clicks)
    within = np.random.default_rng(_SEED).integers(1, 3_600, len(row)).astype("timedelta64[s]")
    time = rows["seen"].to_numpy().astype("datetime64[us]")[row] + within
    client = np.arange(len(row))
    came = from_front[row]
    url = rows["url"].take(pa.array(row)).combine_chunks()
    front = pa.repeat(pa.scalar(FRONT_PAGE), len(row))
    referrer = pc.if_else(pa.array(came), front, pa.scalar(None, pa.string()))
    second = np.timedelta64(1, "s")
    opened = visits_of(time[came] - second, client[came], front.filter(pa.array(came)))
    return pa.concat_tables([opened, visits_of(time, client, url, referrer)]).sort_by("time")


def wikipedia(
    data: Path, trials: Sequence[int], first: dt.date, days: int, divisor: int = WIKI_DIVISOR
) -> pa.Table:
    """Read daily views of Wikipedia pages; one view of ours stands for `divisor` of them.

    The data has no days below 101 views: a page is "born" when it is first read more than that.
    Half of the views came along a link to the page, drawn by the weights of the link graph.
    """
    random = np.random.default_rng(_SEED)
    parts = [_wiki_trial(data, trial, first, days, divisor, random) for trial in trials]
    return pa.concat_tables(parts).sort_by("time")


def _wiki_trial(
    data: Path,
    trial: int,
    first: dt.date,
    days: int,
    divisor: int,
    random: np.random.Generator,
) -> pa.Table:
    folder = data / "wiki_pageviews_links" / f"trial_{trial}"
    dates, pages, series = wiki_series(folder)
    chosen = (dates >= np.datetime64(first)) & (dates < np.datetime64(first) + days)
    counts = random.poisson(series[:, chosen] / divisor)
    page, day = np.repeat(np.nonzero(counts), counts[counts > 0], axis=1)
    second = random.integers(0, 86_400, len(page)).astype("timedelta64[s]")
    titles = _wiki_titles(folder)
    urls = pa.array([_wiki_url(titles[number]) for number in pages])
    referrer = _wiki_referrers(folder, pages, titles, page, random)
    client = [f"{trial}-{n}" for n in range(len(page))]
    time = dates[chosen][day].astype("datetime64[us]") + second
    return visits_of(time, client, urls.take(pa.array(page)), referrer)


def wiki_series(folder: Path) -> tuple[Times, list[str], NDArray[np.float64]]:
    """Read the dates, pages and daily views (0 below 101) of one trial."""
    with (folder / "ts.csv").open(encoding="utf-8") as file:
        rows = csv.reader(file)
        dates = np.array(next(rows)[1:], "datetime64[D]")
        table = [(row[0], [float(cell or 0) for cell in row[1:]]) for row in rows]
    return dates, [name for name, _ in table], np.array([views for _, views in table])


def _wiki_titles(folder: Path) -> dict[str, str]:
    with (folder / "mapping.csv").open(encoding="utf-8") as file:
        return {row["id"]: row["title"] for row in csv.DictReader(file)}


def _wiki_url(title: str) -> str:
    return f"https://en.wikipedia.org/wiki/{quote(title)}"


def _wiki_referrers(
    folder: Path,
    pages: Sequence[str],
    titles: Mapping[str, str],
    page: Int64s,
    random: np.random.Generator,
) -> list[str | None]:
    sources: dict[str, list[tuple[str, float]]] = {}
    with (folder / "edges.csv").open(encoding="utf-8") as file:
        for edge in csv.DictReader(file):
            sources.setdefault(edge["dst"], []).append((edge["src"], float(edge["weight"])))
    chosen: list[str | None] = [None] * len(page)
    came = random.random(len(page)) < 0.5
    for number, name in enumerate(pages):
        rows = np.flatnonzero(came & (page == number))
        if name in sources and len(rows):
            weights = np.array([weight for _, weight in sources[name]])
            drawn = random.choice(len(weights), len(rows), p=weights / weights.sum())
            for row, source in zip(rows.tolist(), drawn.tolist(), strict=True):
                chosen[row] = _wiki_url(titles[sources[name][source][0]])
    return chosen


def arrivals(data: Path) -> pa.Table:
    """Read when each article URL of eleven news sites was first seen: `site`, `url`, `time`."""
    file = data / "top_news_arrivals" / "arrivals.csv.gz"
    rows = pa_csv.read_csv(file)
    time = rows["first_seen_utc"].cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    return pa.table({"site": rows["site"], "url": rows["url"], "time": time}).sort_by("time")


def arrivals_with_lives(data: Path, first: dt.date, days: int, share: float) -> pa.Table:
    """Give a share of the arrived URLs the life of a real article, drawn from `globo`.

    URLs and births are real; lives are borrowed, so that nothing is to be learned of one section
    against another. Nobody came from a link.
    """
    random = np.random.default_rng(_SEED)
    born = between(arrivals(data), first, days)
    born = born.filter(pa.array(random.random(len(born)) < share))
    lives = _lives(globo(data), random)
    drawn = random.integers(0, len(lives), len(born))
    lengths = np.array([len(life) for life in lives])[drawn]
    row = np.repeat(np.arange(len(born)), lengths)
    passed = np.concatenate([lives[life] for life in drawn])
    time = times_of(born)[row] + passed
    urls = born["url"].combine_chunks().take(pa.array(row))
    return between(visits_of(time, np.arange(len(row)), urls), first, days)


def _lives(clicks: pa.Table, random: np.random.Generator) -> list[NDArray[np.timedelta64]]:
    """Ages of an article's clicks in its first days, of those born where they can be seen."""
    time = times_of(clicks)
    article = clicks["url"].combine_chunks().dictionary_encode().indices.to_numpy()
    order = np.argsort(article, kind="stable")
    parts = np.split(time[order], np.flatnonzero(np.diff(article[order])) + 1)
    last = time[0] + (GLOBO_DAYS - _LIFE_DAYS) * _DAY
    lives = []
    for part in parts:
        ages = part - part[0]
        if time[0] + _DAY <= part[0] < last:
            ages = ages[ages < _LIFE_DAYS * _DAY]
            kept = random.choice(len(ages), min(len(ages), _LIFE_VISITS), replace=False)
            lives.append(ages[np.sort(kept)])
    return lives


def logged(files: Sequence[Path], host: str, log_format: str = "combined") -> pa.Table:
    """Read log files with the product: formats, cleaning and bots are its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            folder,
            sources=[
                {"path": str(file.resolve()), "format": log_format, "host": host} for file in files
            ],
        )
        store, days = landed(settings)
        parts = [store.read("requests", day) for day in days]
        names = ["ts", "client", "url", "referrer"]
        rows = pa.concat_tables([part.select(names) for part in parts]).combine_chunks()
    time = rows["ts"].cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us")).to_numpy()
    return visits_of(time, *(rows[name].combine_chunks() for name in names[1:]))


def landed(settings: Settings) -> tuple[Store, list[dt.date]]:
    """Read the sources of settings and publish `requests` of every day."""
    settings.state.mkdir(parents=True, exist_ok=True)
    land(settings)
    store, engine, inventory = (
        Store.open(settings),
        DuckDBEngine(settings),
        Inventory.load(settings),
    )
    for day in inventory.days():
        build_requests(store, engine, settings, day, inventory)
    return store, list(inventory.days())


def wikispeedia(data: Path) -> pa.Table:
    """Read paths of people who were given a goal: a step is a click, twenty seconds apart."""
    time: list[int] = []
    client: list[str] = []
    url: list[str] = []
    referrer: list[str | None] = []
    text = (data / "wikispeedia" / "paths_unfinished.tsv").read_text("utf-8")
    for line in text.splitlines():
        cells = line.split("\t")
        if line.startswith("#") or len(cells) < 4:
            continue
        stack: list[str] = []
        for step, name in enumerate(cells[3].split(";")):
            if name == "<":  # the back button: no click on a link
                stack = stack[:-1] or stack
                continue
            time.append(int(cells[1]) + 20 * step)
            client.append(cells[0])
            url.append(_game_url(name))
            referrer.append(_game_url(stack[-1]) if stack else None)
            stack.append(name)
    return visits_of(np.array(time, "datetime64[s]"), client, url, referrer)


def _game_url(name: str) -> str:
    return f"https://wikispeedia.example/wiki/{quote(unquote(name))}"
