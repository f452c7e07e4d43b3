"""Seeded faults, their survival and a table of it.

    python -m tests.faults [--trials 1000] [--seed 2026] [--kinds kill,corrupt] [--results FILE]

Each trial has dice of its own, made from the seed, the kind and its number: `--only kill:17`
repeats one. With `--results`, trials are added to a file, and the table is that of all in it; so
kinds can be run one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.faults import buckets, servers, whole
from tests.faults.kinds import KINDS, Kind, Skipped, clean
from tests.faults.world import Lost, World

ALL: dict[str, tuple[Kind, int]] = KINDS | buckets.KINDS | whole.KINDS | servers.KINDS


def main() -> None:
    """Run the trials, print the table; exit with 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=sum(share for _, share in ALL.values()))
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--kinds", default=",".join(ALL), help="some of the kinds")
    parser.add_argument("--only", help="one trial, as KIND:NUMBER")
    parser.add_argument("--numbers", help="some trials of each kind, as FIRST-LAST")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to add to")
    parser.add_argument("--folder", type=Path, help="where to work, on a local disk")
    options = parser.parse_args()
    named = [options.only.split(":")[0]] if options.only else options.kinds.split(",")
    if unknown := sorted(set(named) - ALL.keys()):
        parser.error(f"no kind {', '.join(unknown)}: there are {', '.join(ALL)}")
    os.environ.pop("DAGSTER_HOME", None)
    with tempfile.TemporaryDirectory(prefix="faults-", dir=options.folder) as folder:
        world = World(Path(folder) / "world", options.seed)
        rows = []
        with world.closing:
            for kind, number in _wanted(options):
                rows.append(row := _try(world, options.seed, kind, number))
                if row["lost"]:
                    print(f"{kind}:{number} LOST {row['lost']}", file=sys.stderr, flush=True)
                if options.results:
                    with options.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    if options.results:
        rows = [json.loads(line) for line in options.results.read_text("utf-8").splitlines()]
    print(table(rows))
    if any(row["lost"] for row in rows):
        raise SystemExit(1)


def _wanted(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    if options.only:
        kind, number = options.only.split(":")
        yield kind, int(number)
        return
    chosen = options.kinds.split(",")
    if options.numbers:
        first, last = map(int, options.numbers.split("-"))
        yield from ((kind, n) for n in range(first, last + 1) for kind in chosen)
        return
    whole = sum(share for _, share in ALL.values())
    for kind in chosen:
        for number in range(max(1, round(ALL[kind][1] * options.trials / whole))):
            yield kind, number


def _try(world: World, seed: int, kind: str, number: int) -> dict[str, object]:
    dice, folder = random.Random(f"{seed} {kind} {number}"), world.trial()
    begun = time.monotonic()
    row: dict[str, object] = {"kind": kind, "number": number, "lost": "", "skipped": ""}
    try:
        outcome = ALL[kind][0](world, dice, folder)
        row |= {"struck": outcome.struck, "runs": outcome.runs, "words": outcome.words}
    except Skipped as why:
        row["skipped"] = str(why)
    except Lost as why:
        row["lost"] = str(why)
    except Exception:  # of the suite itself, most likely; the other trials go on
        row["lost"] = traceback.format_exc()[-1500:]
    clean(folder)
    return row | {"seconds": time.monotonic() - begun}


def table(rows: list[dict[str, object]]) -> str:
    """Markdown: by kind, how many trials there were, struck, survived, and what recovery took."""
    lines = [
        "| fault | trials | struck | survived | plain runs until as undisturbed | seconds |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for kind, (function, _) in ALL.items():
        own = [row for row in rows if row["kind"] == kind]
        if own:
            lines.append(_line((function.__doc__ or kind).split("\n")[0].rstrip("."), own))
    return "\n".join([*lines, _line("**all**", rows)])


def _line(name: str, rows: list[dict[str, object]]) -> str:
    tried = [row for row in rows if not row["skipped"]]
    survived = [row for row in tried if not row["lost"]]
    runs = sorted({int(str(row["runs"])) for row in survived})
    took = ", ".join(f"{n}: {sum(row['runs'] == n for row in survived)} times" for n in runs)
    struck = sum(bool(row.get("struck")) for row in tried)
    seconds = sum(float(str(row["seconds"])) for row in rows)
    return f"| {name} | {len(tried)} | {struck} | {len(survived)} | {took or '-'} | {seconds:.0f} |"


if __name__ == "__main__":
    main()
