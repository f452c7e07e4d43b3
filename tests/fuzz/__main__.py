"""Mutated inputs for every parser, counted.

    python -m tests.fuzz [--inputs 10000000] [--seed 2026] [--targets NAME,...] [--seconds 900]

Every target gets rounds in turn until the inputs are read. Round n of a target has dice of its
own, from the seed, its name and n: what a failure prints repeats it (`--round`). A round that takes
longer than two minutes is a failure.
"""

from __future__ import annotations

import argparse
import faulthandler
import time
import traceback
import warnings
import zlib

import numpy as np

from tests.fuzz.targets import TARGETS

_ROUND_SECONDS = 120


def main() -> None:
    """Run until the inputs are read or the time is over; exit with 1 where a parser failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--targets", default=",".join(TARGETS), help="beginnings of names")
    parser.add_argument("--round", type=int, help="only this round, to repeat a failure")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # of expressions that somebody mistyped
    chosen = [name for name in TARGETS if name.startswith(tuple(options.targets.split(",")))]
    inputs, seconds = dict.fromkeys(chosen, 0), dict.fromkeys(chosen, 0.0)
    failed: list[str] = []
    begun, number = time.monotonic(), options.round or 0
    while sum(inputs.values()) < options.inputs and time.monotonic() - begun < options.seconds:
        for name in chosen:
            if name in failed:
                continue
            faulthandler.dump_traceback_later(_ROUND_SECONDS, exit=True)
            started = time.monotonic()
            dice = np.random.default_rng([options.seed, zlib.crc32(name.encode()), number])
            try:
                inputs[name] += TARGETS[name](dice)
            except Exception:
                failed.append(name)
                print(f"{name}: round {number} of seed {options.seed}\n{traceback.format_exc()}")
            seconds[name] += time.monotonic() - started
            faulthandler.cancel_dump_traceback_later()
        number += 1
        if options.round is not None or len(failed) == len(chosen):
            break
    print("| parser | inputs | seconds | failures |\n|---|---:|---:|---:|")
    for name in chosen:
        print(f"| {name} | {inputs[name]:,} | {seconds[name]:.0f} | {int(name in failed)} |")
    whole = sum(inputs.values())
    print(f"| **all** | {whole:,} | {sum(seconds.values()):.0f} | {len(failed)} |")
    print(f"\nseed {options.seed}, rounds {options.round or 0} to {number - 1}")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
