"""Fixtures that more than one folder of tests needs.

A test never sees the settings, the state or the Dagster home of the person who runs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.shared import own_copy

# No deadline: the first call of a compiled loop takes seconds. On a build machine the examples
# are the same every time, so that a failure is the change's fault.
settings.register_profile("here", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.register_profile("spark", deadline=None, derandomize=True, max_examples=5)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config: pytest.Config) -> None:
    """Every example on Spark takes a second."""
    if config.getoption("markexpr") == "spark":
        settings.load_profile("spark")


SHARED_DATA_VARIABLE = "TEMPORAL_ASSETS_SHARED_DATA"


@pytest.fixture(autouse=True, scope="session")
def _own_environment() -> Iterator[None]:
    """Defaults are defaults: no variable of the caller changes what a test sees."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name == "DAGSTER_HOME" or (
                name.startswith("TEMPORAL_ASSETS_") and name != SHARED_DATA_VARIABLE
            ):
                patch.delenv(name)
        patch.setenv("GX_ANALYTICS_ENABLED", "false")
        patch.setenv("DAGSTER_DISABLE_TELEMETRY", "yes")
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout: where pyproject.toml, README.md and sql/ lie."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared_data(repository: Path) -> Path:
    """Real public logs beside the checkout; a test that needs them skips where they are absent."""
    named = os.environ.get(SHARED_DATA_VARIABLE)
    folder = Path(named) if named else repository.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data in {folder}; set {SHARED_DATA_VARIABLE}")
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder that does not exist yet, as a new user has it."""
    return tmp_path / "temporal_state"


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project in which everything is made, judged and released: to be copied."""
    from tests.orchestration.conftest import make_whole

    return own_copy(tmp_path_factory, "whole", make_whole)[0]
