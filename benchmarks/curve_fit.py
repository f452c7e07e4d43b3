"""Interest curves: how fast, how much faster than scipy one page at a time, and how good.

Run `python -m benchmarks.curve_fit` from the repository (`--quick` for a minute's version). It
shows, for each method and all in one process:

* the time for the paper's 975,151 pages of 60 days (a population is drawn and repeated);
* pages per second against `scipy.optimize.curve_fit` with five starts;
* on what share of pages the objective is within 0.1 % of the best of a long search, and the label
  the same. The search runs from a hundred starts a page; on some pages scipy searches as well;
* how often the objective is evaluated for a page;
* time and peak memory of the asset `interest_curves`, for 100,000 and for all pages;
* coverage of the 95 % intervals, at which bound fits end and how sure labels are there, and
  labels of cut lives by every variant.
"""

from __future__ import annotations

import argparse
import datetime as dt
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.optimize import OptimizeWarning, curve_fit
from scipy.special import ndtr

from benchmarks import synthetic, truncation
from temporal_assets import contracts
from temporal_assets.core.curves import curves as fitter
from temporal_assets.core.curves.curves import Method, Options, fit
from temporal_assets.core.curves.descent import ROOM, copy, descend
from temporal_assets.core.curves.lognormal import bounds, density
from temporal_assets.core.curves.page_equations import LOG_SIGMA, MU, OFFSET, PARAMETERS, ROWS
from temporal_assets.core.curves.problem import Model, PageViews, Rival, Scratch
from temporal_assets.core.curves.starts import grid
from temporal_assets.core.curves.weekdays import weekday_factors
from temporal_assets.core.numerics.compiled import making
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.windows.labels.interest_curves import BATCH_PAGES, fit_batch
from tests.curve_witness import search as scipy_search

Floats = NDArray[np.float64]

_PAGES: Final = 975_151
_DAYS: Final = 60
_DRAWN: Final = 60_000
_STARTS: Final = 100
_SEED: Final = 20070111
_Q: Final = 0.7


def speed(views: NDArray[Any], pages: int, method: Method) -> tuple[float, float, float]:
    """Pages per second over `pages` pages in batches, and per second of one processor; evaluations.

    The second does not see what else the machine does meanwhile. The third is how often the
    objective was evaluated for a page, on average over those that were searched for.
    """
    batch = len(views)
    started, worked = time.perf_counter(), time.process_time()
    for first in range(0, pages, batch):
        curves = fit(views[: min(batch, pages - first)], Options(method=method))
    rates = pages / (time.perf_counter() - started), pages / (time.process_time() - worked)
    asked = curves.evaluations[curves.evaluations > 0]
    return *rates, float(asked.mean())


def scipy_speed(views: NDArray[Any]) -> float:
    """Pages per second of curve_fit with five starts, least squares on the dots."""
    warnings.simplefilter("ignore", OptimizeWarning)
    started = time.perf_counter()
    for row in views:
        birth = int(np.argmax(row > 0)) + 1
        low, high = bounds(_DAYS, born_inside=birth > 1)
        x = np.arange(birth, _DAYS + 1)
        box = ([0, birth - high[0], *low[1:]], [np.inf, birth - low[0], *high[1:]])
        for mu in (-1.0, 0.5, 1.5, 3.0, 4.5):
            start = [float(row.sum()), birth - 0.5, mu, 1.0]
            try:
                curve_fit(_curve, x, row[birth - 1 :], start, bounds=box)
            except RuntimeError:
                continue
    return len(views) / (time.perf_counter() - started)


def _curve(x: Floats, a: float, b: float, mu: float, sigma: float) -> Floats:
    return a * density(x - b, mu, sigma)


@making
def _long_search(
    likelihood: bool,
    y: Floats,
    weight: Floats,
    low: Floats,
    high: Floats,
    starts: Floats,
    shift: float,
    best: Floats,
) -> float:
    """The best objective of long descents from every start; its parameters into `best`."""
    room = np.zeros((ROOM, PARAMETERS))
    free = np.zeros((2, PARAMETERS), np.bool_)
    scratch = Scratch(np.empty((2, ROWS, len(y) + 32)), room, free)
    model, page = Model(likelihood, 3.0, low, high), PageViews(y, weight, shift, 0.0)
    nothing = np.zeros(PARAMETERS)
    nothing[MU] = math.inf
    rival = Rival(nothing, math.inf, 1.0)
    theta = np.zeros(PARAMETERS)
    lowest = math.inf
    for k in range(len(starts)):
        theta[0] = 0.0
        copy(starts[k], theta[1:])
        if not likelihood:
            theta[OFFSET] = math.log(theta[OFFSET])
        value, _, _ = descend(model, page, theta, rival, scratch, 1000, 1e-11)
        if value < lowest:
            lowest = value
            copy(theta, best)
    return lowest + shift


def quality(views: NDArray[Any], method: Method, by_scipy: int) -> tuple[float, float, float]:
    """Share of pages within 0.1 % of the long search's objective; with its label; worst scipy."""
    options = Options(method=method)
    curves = fit(views, options)
    rng = np.random.default_rng(_SEED)
    good, same, asked = 0, 0, 0
    behind = 0.0
    for page in np.flatnonzero(curves.evaluations > 0):
        row = views[page].astype(np.float64)
        birth = int(np.argmax(row > 0))
        y, inside = row[birth:], birth > 0
        cells = grid(_DAYS, mass=method == "likelihood", born_inside=inside).cells
        low, high = fitter._box(_DAYS, options, born_inside=inside)
        shift = fitter._of_constant(method == "likelihood", y, np.ones(len(y)))[1]
        starts = cells[rng.choice(len(cells), _STARTS)]
        theta = np.zeros(PARAMETERS)
        best = _long_search(
            method == "likelihood", y, np.ones(len(y)), low, high, starts, shift, theta
        )
        phi = float(ndtr((math.log(3) - theta[MU]) / math.exp(theta[LOG_SIGMA])))
        if asked < by_scipy:
            witness = scipy_search(row, method, starts=20, seed=int(page))
            behind = max(behind, curves.objective[page] / max(witness.objective, 1e-9) - 1)
            if witness.objective < best:
                best, phi = witness.objective, witness.accumulated(3)
        asked += 1
        good += bool(curves.objective[page] <= 1.001 * best + 1e-9 * float(y @ y))
        same += (curves.phi_n[page] > _Q) == (phi > _Q)
    return good / asked, same / asked, behind


def asset(pages: int) -> None:
    """Make `interest_curves` of so many pages in this process; print time and peak memory."""
    views = synthetic.draw(20_000, _DAYS, seed=_SEED).views.astype(np.int32)
    schema = contracts.PAGE_HISTORIES.arrow_schema
    with tempfile.TemporaryDirectory() as folder:
        histories, day = Path(folder) / "page_histories.parquet", dt.date(2026, 3, 1)
        with pq.ParquetWriter(histories, schema, compression="lz4") as writer:
            for first in range(0, pages, len(views)):
                part = views[: pages - first]
                columns = {
                    "day": [day] * len(part),
                    "site": ["a.example"] * len(part),
                    "url": [f"https://a.example/news/{first + k:08}" for k in range(len(part))],
                    "birth": [day] * len(part),
                    "total": part.sum(axis=1),
                    "views": list(part),
                    "is_born_before": [False] * len(part),
                }
                writer.write_table(pa.Table.from_pydict(columns, schema))
        engine = DuckDBEngine(load_settings(Path(folder) / "state"))
        observed = np.ones(_DAYS, np.bool_)
        work = partial(fit_batch, options=Options(), observed=observed, first_weekday=0)
        started = time.perf_counter()
        engine.apply(
            work, {"page_histories": [str(histories)]}, contracts.INTEREST_CURVES, Path(folder),
            BATCH_PAGES,
        )  # fmt: skip
        seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"asset interest_curves: {pages:,} pages read, fitted and written in {seconds:.1f} s; "
        f"peak memory {peak:,.0f} MB",
        flush=True,
    )


def at_bounds(pages: int, method: Method) -> None:
    """At which bound fits end, and how sure labels are there."""
    people = synthetic.draw(pages, _DAYS, seed=_SEED, base=0.0, weekend=1.0, day_noise=0.0)
    curves = fit(people.views, Options(method=method))
    asked = curves.converged & (people.birth >= 0)
    low, high = bounds(_DAYS, born_inside=True)
    age = curves.birth - curves.b
    parts = {
        "birth at the start of its day": age >= high[0] - 1e-6,
        "birth an hour before its end": age <= low[0] + 1e-6,
        "mu at ten windows": curves.mu >= high[1] - 1e-6,
        "mu at an hour": curves.mu <= low[1] + 1e-6,
        "sigma at 3 or 0.1": (curves.sigma >= high[2] - 1e-6) | (curves.sigma <= low[2] + 1e-6),
        "inside the box": curves.reason == fitter.Reason.CONVERGED,
    }
    truth = people.accumulated(3) > _Q
    for name, member in parts.items():
        here = member & asked
        right = ((curves.phi_n > _Q) == truth)[here]
        print(
            f"{method}, {name}: {here.sum() / asked.sum():.1%} of the pages born inside, "
            f"{right.mean() if len(right) else 1:.1%} of their labels true"
        )


def coverage(pages: int, *, noisy: bool, clean: bool) -> dict[Method, float]:
    """Share of true Phi(3) inside the interval, pages born inside the window."""
    noise = {} if noisy else {"weekend": 1.0, "day_noise": 0.0}
    people = synthetic.draw(pages, _DAYS, seed=_SEED, base=0.0, **noise)
    views: NDArray[Any] = people.views
    if clean:
        views = truncation.without_weekdays(views, weekday_factors(views.sum(axis=0), 0), 0)
    truth = people.accumulated(3)
    shares: dict[Method, float] = {}
    for method in truncation.METHODS:
        curves = fit(views, Options(method=method))
        asked = curves.converged & (people.birth >= 0)
        inside = (curves.phi_low <= truth) & (truth <= curves.phi_high)
        shares[method] = float(inside[asked].mean())
    return shares


def _table_of_cut_lives(pages: int) -> None:
    rows = truncation.compare(synthetic.draw(pages, _DAYS, seed=_SEED))
    parts = list(dict.fromkeys(row.part for row in rows))
    print("| answer | " + " | ".join(f"{part}: accuracy | F" for part in parts) + " |")
    print("|---" * (1 + 2 * len(parts)) + "|")
    for answer in dict.fromkeys(row.answer for row in rows):
        cells = [
            f"{row.outcome.accuracy:.3f} | {row.outcome.f_measure:.3f}"
            for row in rows
            if row.answer == answer
        ]
        print(f"| {answer} | " + " | ".join(cells) + " |")


def _timed(what: Callable[[], Any], text: str) -> None:
    started = time.perf_counter()
    what()
    print(f"{text}: {time.perf_counter() - started:.1f} s")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer pages, a minute")
    parser.add_argument("--asset", type=int, metavar="PAGES", help="only the asset, in here")
    arguments = parser.parse_args()
    if arguments.asset:
        asset(arguments.asset)
        return
    quick = arguments.quick
    views = synthetic.draw(15_000 if quick else _DRAWN, _DAYS, seed=_SEED).views
    print(f"{os.cpu_count()} cores; {len(views):,} pages drawn, {_DAYS} days")
    slow = scipy_speed(views[: 20 if quick else 100])
    print(f"scipy.optimize.curve_fit, five starts: {slow:.1f} pages/s")
    for method in truncation.METHODS:
        _timed(lambda m=method: fit(views[:8], Options(method=m)), f"{method}: load or compile")
        fast, worked, asked = speed(views, len(views) if quick else _PAGES, method)
        print(
            f"{method}: {fast:,.0f} pages/s; {_PAGES:,} pages in {_PAGES / fast:.1f} s; "
            f"{fast / slow:,.0f} times curve_fit; processor time {1e6 / worked:.1f} us a page, "
            f"{_PAGES / worked / 2:.1f} s on each of two cores; {asked:.1f} evaluations a page",
            flush=True,
        )
        good, same, behind = quality(views[: 400 if quick else 5000], method, 5 if quick else 30)
        print(
            f"{method}: {good:.2%} within 0.1 % of the long search, {same:.2%} with its label; "
            f"behind scipy's search by at most {behind:.4%}",
            flush=True,
        )
        at_bounds(3000 if quick else 20_000, method)
    for pages in (10_000, 50_000) if quick else (100_000, _PAGES):
        command = [sys.executable, "-m", "benchmarks.curve_fit", "--asset", str(pages)]
        # A process of its own has a peak of its own.
        subprocess.run(command, check=True)
    for noisy, clean, text in (
        (False, False, "views scattering by chance"),
        (True, False, "and by weekday and day"),
        (True, True, "the same, weekdays removed"),
    ):
        shares = coverage(3000 if quick else 20_000, noisy=noisy, clean=clean)
        print(f"coverage, {text}:", ", ".join(f"{m} {s:.1%}" for m, s in shares.items()))
    _table_of_cut_lives(3000 if quick else 30_000)


if __name__ == "__main__":
    main()
