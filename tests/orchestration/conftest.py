"""A project over a folder of small logs, with a Dagster of its own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

import dagster as dg
import pytest

from temporal_assets.build import build_defs
from temporal_assets.defs.installation import Installation
from temporal_assets.landing.inventory import Inventory
from temporal_assets.operate.home import prepare_home
from temporal_assets.operate.materializing import materialize
from temporal_assets.operate.outcome import Outcome
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.registry import WINDOW_NAMES
from tests import logs
from tests.shared import histories_are_copied

__all__ = ["histories_are_copied"]

FIRST = dt.date(2026, 3, 1)
DAYS = 4
"""Days of `whole`."""


class Project:
    """A state folder and the logs it reads."""

    def __init__(self, root: Path, instance: dg.DagsterInstance | None = None) -> None:
        self.root = root
        self.logs = root / "logs"
        self.logs.mkdir(exist_ok=True)
        self.settings = self.with_settings()
        self._instance = instance

    def with_settings(self, log_format: str = "auto", **changes: object) -> Settings:
        return load_settings(
            self.root / "state",
            sources=[{"path": str(self.logs), "host": "example.com", "format": log_format}],
            **changes,
        )

    @property
    def instance(self) -> dg.DagsterInstance:
        assert self._instance is not None
        return self._instance

    @property
    def store(self) -> Store:
        return Store.open(self.settings)

    @property
    def inventory(self) -> Inventory:
        return Inventory.load(self.settings)

    @property
    def installation(self) -> Installation:
        return Installation.of(self.settings)

    def defs(self) -> dg.Definitions:
        return build_defs(self.settings)

    def materialize(self, days: Sequence[dt.date], assets: Sequence[str] = ()) -> Outcome:
        return materialize(self.settings, days, assets)

    def run(
        self, job: str, tags: dict[str, str] | None = None, partition: dt.date | None = None
    ) -> dg.ExecuteInProcessResult:
        """A run as the daemon would have it executed."""
        return (
            self.defs()
            .resolve_job_def(job)
            .execute_in_process(
                instance=self.instance,
                tags=tags,
                partition_key=partition.isoformat() if partition else None,
                raise_on_error=False,
            )
        )

    def run_well(
        self, job: str, tags: dict[str, str] | None = None, partition: dt.date | None = None
    ) -> dg.ExecuteInProcessResult:
        """A run that must succeed; if it does not, the test says why."""
        result = self.run(job, tags, partition)
        errors = [
            event.step_failure_data.error.to_string()
            for event in result.all_events
            if event.is_step_failure and event.step_failure_data.error
        ]
        assert result.success, "\n".join(errors) or [event.message for event in result.all_events]
        return result


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Project without logs, in which nothing was read or made."""
    return Project(tmp_path)


_UNCAPTURED = """
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
"""Dagster begins four processes for every run whose output it captures."""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Project]:
    """The same with a Dagster instance open, as the daemon has it."""
    home = prepare_home(Project(tmp_path).settings)
    with (home / "dagster.yaml").open("a", encoding="utf-8") as config:
        config.write(_UNCAPTURED)
    # An instance that is not closed prints tracebacks after pytest has finished.
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield Project(tmp_path, instance)


@pytest.fixture
def three_days(project: Project) -> list[dt.date]:
    """Days whose logs are there: three clients, two requests each."""
    return logs.write_days(project.logs, dt.date(2026, 3, 1), 3)


def make_whole(root: Path) -> None:
    """Make a project in which everything is made, judged and released."""
    days = logs.write_days(root / "logs", FIRST, DAYS)
    settings = settings_of(root)
    daily = ("log_files", "requests", "page_views", "transits")
    assert materialize(settings, days, daily, None, WINDOW_NAMES).ok


def settings_of(root: Path) -> Settings:
    state = root / "state"
    state.mkdir(exist_ok=True)
    source = f'[[sources]]\npath = "{root / "logs"}"\nhost = "example.com"\n'
    (state / "settings.toml").write_text(f"[window]\ndays = 4\nmin_days = 3\n{source}", "utf-8")
    return load_settings(state)
