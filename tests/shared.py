"""Folders that many tests look at: made once a run, whatever the number of its processes.

Here: who makes them, and who waits. Not here: what is in them (the `conftest.py` beside the tests).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

Make = Callable[[Path], Any]
"""Fills a folder that is empty, and returns what is to be known of it, as JSON can hold it."""


def made_once(factory: pytest.TempPathFactory, name: str, make: Make) -> tuple[Path, Any]:
    """Return a folder and what its maker said of it. The first process makes it, others wait.

    Nobody writes into it: another process may be copying it.
    """
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, message = root / f"once-{name}", root / f"once-{name}.json"
    with FileLock(root / f"once-{name}.lock"):
        if not message.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            message.write_text(json.dumps(make(folder)), "utf-8")
    return folder, json.loads(message.read_text("utf-8"))


def own_copy(factory: pytest.TempPathFactory, name: str, make: Make) -> tuple[Path, Any]:
    """Return this process's copy of a folder that is made once, and what its maker said of it.

    For state folders that commands look at: these make locks and logs. Tests that change more
    copy it once more.
    """
    folder, message = made_once(factory, name, make)
    return shutil.copytree(folder, factory.mktemp(name) / name, symlinks=True), message


@pytest.fixture(autouse=True, scope="session")
def histories_are_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copy Dagster's empty databases to where a home begins.

    Dagster takes a third of a second to make them, and a few hundred tests have a home.
    """

    def copy(home: Path) -> None:
        for part in made_once(tmp_path_factory, "history", _make_history)[0].iterdir():
            if part.is_dir():
                shutil.copytree(part, home / part.name, dirs_exist_ok=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("temporal_assets.operate.home.make_history", copy)
        yield


def _make_history(folder: Path) -> None:
    import dagster as dg

    from temporal_assets.operate import home

    config = home.PLACES.sub("", home.template().read_text("utf-8"))
    (folder / "dagster.yaml").write_text(config, "utf-8")
    dg.DagsterInstance.from_config(str(folder)).dispose()
