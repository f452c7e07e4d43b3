"""State folders that tests of several commands look at, each made once a run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import LOG, call, line
from tests.shared import made_once, own_copy

STATE = "temporal_state"
"""The state folder in the folder of a fixture."""


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of ten lines as a file."""

    def make(folder: Path) -> None:
        (folder / "access.log").write_text("".join(f"{text}\n" for text in LOG))

    return made_once(tmp_path_factory, "log", make)[0] / "access.log"


@pytest.fixture(scope="session")
def ingested(log: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A state folder that has read the log and built nothing, and what `ingest` said."""

    def make(folder: Path) -> Any:
        arguments = (log, "--host", "a.example", "--json", "--state", folder / STATE)
        result = call("ingest", *arguments)
        assert result.exit_code == 0
        return json.loads(result.stdout)

    folder, message = own_copy(tmp_path_factory, "ingested", make)
    return folder / STATE, message


@pytest.fixture(scope="session")
def built(ingested: tuple[Path, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The state folder of the log with all that can be made of it; tests leave it as it is."""
    return _built_of(ingested[0], "built", tmp_path_factory)


def _built_of(
    read: Path, name: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """Return a copy of a state folder with all that can be made of it, and what was said."""

    def make(folder: Path) -> Any:
        state = shutil.copytree(read, folder / STATE)
        result = call("materialize", "--json", "--state", state)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    folder, message = own_copy(tmp_path_factory, name, make)
    return folder / STATE, message


@pytest.fixture(scope="session")
def four_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder of four days read, whose windows have three days; nothing is built."""
    return own_copy(tmp_path_factory, "four_days", _four_days)[0] / STATE


def _four_days(folder: Path) -> None:
    state = folder / STATE
    state.mkdir()
    (state / "settings.toml").write_text(
        "[window]\ndays = 3\nmin_days = 2\nmin_views_per_day = 0.5\n"
    )
    log = folder / "four.log"
    log.write_text(
        "".join(
            line("192.0.2.1", f"{day:02} 10:00:00", f"GET /{page}") + "\n"
            for day in range(1, 5)
            for page in ("", f"news/{day // 3}")
        )
    )
    assert call("ingest", log, "--host", "a.example", "--state", state).exit_code == 0


@pytest.fixture
def windows(four_days: Path, state: Path) -> Path:
    """A copy of the four days that were read, for a test that builds something."""
    return shutil.copytree(four_days, state)


@pytest.fixture(scope="session")
def all_built(
    four_days: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """The four days with all that can be made of them, and what `materialize` said."""
    return _built_of(four_days, "all_built", tmp_path_factory)


@pytest.fixture
def built_windows(all_built: tuple[Path, dict[str, Any]], state: Path) -> Path:
    """A copy of the four days with all that was made of them."""
    return shutil.copytree(all_built[0], state)
