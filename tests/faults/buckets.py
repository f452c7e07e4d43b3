"""Faults of tables and logs in a bucket, and of a source of counts beside the logs.

The bucket is a server in a process of its own (`tests.object_store`), because the parent of forked
children has no threads. Each trial has a prefix of it. What is published is copied from there
before it is compared with an undisturbed run.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import fsspec

from tests import logs
from tests.faults import kinds
from tests.faults.kinds import Kind, Outcome, is_sentence
from tests.faults.world import DAYS, FIRST, Ended, World, at_once, in_child, work, write_logs
from tests.object_store import BUCKET, environment


class BucketWorld(World):
    """The logs and the undisturbed result of a world, with tables in a bucket."""

    def __init__(self, world: World) -> None:
        self.__dict__ = copy.copy(world.__dict__)
        self.faults = self.root / "bucket-faults.json"
        self.peace()
        command = [sys.executable, "-m", "tests.object_store", str(self.faults)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.closing.callback(server.wait)
        self.closing.callback(server.kill)
        assert server.stdout is not None
        os.environ.update(environment(server.stdout.readline().strip()))
        state = self.trial() / "state"
        self.settle(state, self.logs)
        began = time.monotonic()
        self.must(in_child(lambda: work(state)))
        self.usual = time.monotonic() - began
        self.is_as_calm(state)

    def peace(self) -> None:
        """Have the server answer as it should."""
        self.refuse()

    def refuse(self, share: float = 0, status: int = 503, lost: float = 0) -> None:
        """Have it refuse a share of the requests, and lose answers to some that are carried out."""
        text = json.dumps({"share": share, "status": status, "lost": lost})
        waiting = self.faults.with_suffix(".new")
        waiting.write_text(text, "utf-8")
        waiting.replace(self.faults)

    def refused(self, task: Callable[[], Ended], dice: random.Random) -> Ended:
        """Return how a task ends while the server refuses some requests, or all."""
        share = dice.choice((0.02, 0.1, 0.3, 1))
        self.refuse(share, dice.choice((403, 500, 503)), dice.choice((0, 0.05)))
        try:
            return task()
        finally:
            self.peace()

    def settle(self, state: Path, folder: Path, extra: str = "") -> None:
        super().settle(state, folder, extra)
        file = state / "settings.toml"
        file.write_text(f'storage = "{_prefix(state)}"\n{file.read_text("utf-8")}', "utf-8")

    def begin(self, state: Path, dice: random.Random) -> Path:
        if dice.random() < 0.4:
            self.settle(state, self.logs)
            return state
        shutil.copytree(self.calm_state, before := state.with_name("before"))
        self.age(before, dice)
        self.settle(state, self.logs)
        shutil.copytree(before / "landing", state / "landing")
        self.must(in_child(lambda: _copy(str(before / "tables"), _prefix(state))))
        return state

    def is_sound(self, state: Path) -> None:
        self._pull(state)
        super().is_sound(state)

    def is_as_calm(self, state: Path, assets: Collection[str] = ()) -> None:
        self._pull(state)
        super().is_as_calm(state, assets)

    def _pull(self, state: Path) -> None:
        """Copy what the bucket has to where the tables of a folder would be."""
        shutil.rmtree(state / "tables", ignore_errors=True)
        (state / "tables").mkdir()
        self.must(in_child(lambda: _copy(_prefix(state), str(state / "tables"))))


class BucketLogsWorld(World):
    """The logs of a world in its bucket, and tables in the folder."""

    def __init__(self, bucket: BucketWorld) -> None:
        self.__dict__ = copy.copy(bucket.__dict__)
        self.must(in_child(lambda: _copy(str(self.logs), f"s3://{BUCKET}/site")))
        state = self.root / "calm-from-bucket"
        self.settle(state, self.logs)
        began = time.monotonic()
        self.must(in_child(lambda: work(state)))
        self.usual = time.monotonic() - began
        self.is_as_calm(state)  # as from files
        self.calm_state = state

    def settle(self, state: Path, folder: Path, extra: str = "") -> None:
        super().settle(state, folder, extra)
        file = state / "settings.toml"
        file.write_text(file.read_text("utf-8").replace(str(folder), f"s3://{BUCKET}/site"))

    def begin(self, state: Path, dice: random.Random) -> Path:
        super().begin(state, dice)
        for record in sorted((state / "landing" / "files").glob("*.json")):
            if dice.random() < 0.5:  # an object that is to be read again
                record.unlink()
        return state


def _prefix(state: Path) -> str:
    return f"s3://{BUCKET}/{state.parent.name}/tables"


def _copy(source: str, target: str) -> None:
    begin, root = fsspec.url_to_fs(source)
    end, place = fsspec.url_to_fs(target)
    for path in begin.find(root):
        name = f"{place}{path.removeprefix(root)}"
        end.makedirs(name.rpartition("/")[0], exist_ok=True)
        end.pipe_file(name, begin.cat_file(path))


def _bucket(world: World) -> BucketWorld:
    made: BucketWorld = world.once("bucket", lambda: BucketWorld(world))
    return made


def bucket_kill(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Tables in a bucket: `kill -9` of the process that does the work, one to three times."""
    return kinds.kill(_bucket(world), dice, folder)


def bucket_race(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Tables in a bucket: two installations, which share no lock, publish the same days at once."""
    bucket = _bucket(world)
    state = bucket.begin(folder / "state", dice)
    shutil.copytree(state, other := folder / "other")
    moment = dice.choice((None, dice.uniform(0.2, 1) * bucket.usual))
    ours, theirs = at_once(
        lambda: in_child(lambda: work(state), kill_after=moment),
        lambda: in_child(lambda: work(other), prepare=kinds._late(bucket, dice)),
    )
    bucket.must(theirs)
    if ours.status != "killed":
        bucket.must(ours)
    bucket.is_sound(state)
    return Outcome(True, bucket.recovers(state), f"ours {ours.status}")


def bucket_refuses(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Tables in a bucket: the store refuses some requests, or all, and loses answers to others."""
    bucket = _bucket(world)
    state = bucket.begin(folder / "state", dice)
    ended = bucket.refused(lambda: in_child(lambda: work(state)), dice)
    is_sentence(ended, "s3://", BUCKET, "the store")
    bucket.is_sound(state)
    return Outcome(ended.status == "said", bucket.recovers(state), ended.text)


def bucket_logs(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Logs in a bucket: reading is killed, or refused by the store, or answers are lost."""
    bucket = _bucket(world)
    logs_there: World = world.once("bucket logs", lambda: BucketLogsWorld(bucket))
    if dice.random() < 0.5:
        return kinds.kill(logs_there, dice, folder)
    state = logs_there.begin(folder / "state", dice)
    ended = bucket.refused(lambda: in_child(lambda: work(state)), dice)
    is_sentence(ended, "s3://", BUCKET, "the store")
    logs_there.is_sound(state)
    return Outcome(ended.status == "said", logs_there.recovers(state), ended.text)


_DISTURBED: Final = (kinds.kill, kinds.together, kinds.corrupt, kinds.lie)


def counted(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Counts beside the logs: kills, two at once, damaged bytes and manifests that lie."""
    both: World = world.once(
        "counts", lambda: World(world.root / "counts" / "world", world.seed, write_logs_and_counts)
    )
    return dice.choice(_DISTURBED)(both, dice, folder)


def write_logs_and_counts(folder: Path) -> None:
    """Write the logs of a world, and views and transits by day and page of the same site."""
    write_logs(folder)
    site, dice = "https://example.com", random.Random(2)
    days = [FIRST.fromordinal(FIRST.toordinal() + n) for n in range(DAYS)]
    rows = [
        f"{day},{site}/news/{FIRST}/{page},{referrer},{dice.randrange(1, 900)}"
        for day in days
        for page in range(20)
        for referrer in ("", f"{site}/", f"{site}/news/{FIRST}/{page + 1}")
    ]
    logs.write(folder / "counts.csv", ["day,url,referrer,views", *rows])


KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "bucket_kill": (bucket_kill, 40),
    "bucket_race": (bucket_race, 30),
    "bucket_refuses": (bucket_refuses, 40),
    "bucket_logs": (bucket_logs, 60),
    "counted": (counted, 60),
}
