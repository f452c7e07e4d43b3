"""State folders that tests of several commands look at, each made once a process."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import LOG, call, line


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of ten lines as a file."""
    path: Path = tmp_path_factory.mktemp("logs") / "access.log"
    path.write_text("".join(f"{text}\n" for text in LOG))
    return path


@pytest.fixture(scope="session")
def ingested(log: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A state folder that has read the log and built nothing, and what `ingest` said."""
    state: Path = tmp_path_factory.mktemp("state") / "temporal_state"
    result = call("ingest", log, "--host", "a.example", "--json", "--state", state)
    assert result.exit_code == 0
    return state, json.loads(result.stdout)


@pytest.fixture(scope="session")
def built(ingested: tuple[Path, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The state folder of the log with all that can be made of it; tests leave it as it is."""
    state = shutil.copytree(ingested[0], tmp_path_factory.mktemp("built") / "temporal_state")
    result = call("materialize", "--json", "--state", state)
    assert result.exit_code == 0, result.output
    return state, json.loads(result.stdout)


@pytest.fixture(scope="session")
def four_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder of four days read, whose windows have three days; nothing is built."""
    folder: Path = tmp_path_factory.mktemp("four_days")
    state = folder / "temporal_state"
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
    return state


@pytest.fixture
def windows(four_days: Path, state: Path) -> Path:
    """A copy of the four days that were read, for a test that builds something."""
    return shutil.copytree(four_days, state)


@pytest.fixture(scope="session")
def all_built(
    four_days: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """The four days with all that can be made of them, and what `materialize` said."""
    state = shutil.copytree(four_days, tmp_path_factory.mktemp("all_built") / "temporal_state")
    result = call("materialize", "--json", "--state", state)
    assert result.exit_code == 0, result.output
    return state, json.loads(result.stdout)


@pytest.fixture
def built_windows(all_built: tuple[Path, dict[str, Any]], state: Path) -> Path:
    """A copy of the four days with all that was made of them."""
    return shutil.copytree(all_built[0], state)
