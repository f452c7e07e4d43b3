"""Precedence of a news prefix or a pattern where both know a URL.

Run `python -m benchmarks.policy_precedence` (four minutes; `--seeds 1` one).

A policy is learned from the true views and transits of the first 45 days of a demo corpus, by a
window of 40 days, and asked about the pages that were born after them. What the demo's truth calls
temporal should be fetched now. The ways to decide differ only where a prefix and a pattern match.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.demo_policy import learn
from temporal_assets.demo import DemoOptions
from temporal_assets.policy import Policy

LEARNED: Final = 45
"""Days of the corpus that are known when the policy is made."""

WINDOW: Final = 40

Flags = np.ndarray[Any, np.dtype[np.bool_]]


def learned(seed: int, root: Path) -> tuple[Policy, pa.Table]:
    """The policy of the day, and the pages that were born after it."""
    state = learn(DemoOptions(seed=seed, mirror=False), root, LEARNED, WINDOW)
    pages = pq.read_table(state.made.truth["pages"])
    born = pc.and_(pc.greater(pages["birth"], LEARNED), pc.not_equal(pages["kind"], "hub"))
    return state.policy, pages.filter(born)


def ways(policy: Policy, urls: list[str]) -> dict[str, Flags]:
    """Return whether each URL is fetched now, by each way to decide."""
    matches = policy.match_many(urls)
    patterns = policy.document["patterns"]
    # The last entry stands for URLs of no pattern, whose place is -1.
    now = np.array([*(entry["decision"] == "now" for entry in patterns), False])[matches.pattern]
    is_urgent = np.array([*(entry["urgency"] is not None for entry in patterns), False])[
        matches.pattern
    ]
    sure = np.array([*(entry["overrules"] for entry in patterns), False])[matches.pattern]
    under = matches.prefix >= 0
    return {
        "always the prefix": under | now,
        "always the pattern": np.where(is_urgent, now, under),
        "the pattern where sure": np.where(sure, now, under | now),
    }


def main() -> None:
    """Learn, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    counts: dict[str, list[int]] = {}
    for seed in range(1, parser.parse_args().seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            policy, pages = learned(seed, Path(folder))
        truth = pages["is_temporal"].to_numpy()
        for way, now in ways(policy, pages["url"].to_pylist()).items():
            right, all_now, wanted = counts.setdefault(way, [0, 0, 0])
            counts[way] = [right + int((now & truth).sum()), all_now + int(now.sum()),
                           wanted + int(truth.sum())]  # fmt: skip
    print(f"{'who decides':24} {'now':>6} {'precision':>9} {'recall':>7} {'F':>6}")
    for way, (right, all_now, wanted) in counts.items():
        precision, recall = right / all_now, right / wanted
        f = 2 * precision * recall / (precision + recall)
        print(f"{way:24} {all_now:6} {precision:9.3f} {recall:7.3f} {f:6.3f}")


if __name__ == "__main__":
    main()
