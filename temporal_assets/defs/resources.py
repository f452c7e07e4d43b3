"""Dagster resources: settings, store and engine, each of which can be replaced, and the catalogue.

    installation = InstallationResource(settings, store, engine)

Assets of this package ask for `installation`; other assets may ask for any of them. Not here:
settings themselves (`temporal_assets.settings`), the engines (`temporal_assets.engines`).
"""

# No `from __future__ import annotations`: Dagster looks at the annotations of resources.

import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
from dagster_duckdb import DuckDBResource
from pydantic import Field

from temporal_assets.defs.installation import INSTALLATION, Installation
from temporal_assets.defs.runs import lifelines
from temporal_assets.engines.base import Engine
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.ops.catalogue import CATALOGUE
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store

# Dagster 1.13 reads its own deprecated property wherever a resource is nested in another
# (`InitResourceContext.replace_config`); nobody but Dagster can act on the warning.
warnings.filterwarnings(
    "ignore", message=r".*InitResourceContext\.dagster_run", category=DeprecationWarning
)


class SettingsResource(dg.ConfigurableResource[Settings]):
    """Settings of a state folder; some may be overridden."""

    state: str | None = Field(
        default=None,
        description="The state folder; where none is named, that of $TEMPORAL_ASSETS_STATE.",
    )
    overrides: dict[str, Any] = Field(
        default={},
        description=(
            "Sections of settings that are stronger than settings.toml, like"
            ' {"engine": {"threads": 4}}. The UI shows them: secrets belong into the environment.'
        ),
    )

    def create_resource(self, context: dg.InitResourceContext) -> Settings:  # noqa: ARG002
        """Read settings.toml and the environment."""
        return self.load()

    def load(self) -> Settings:
        """Return the settings, also outside of a run: the definitions depend on them."""
        state = self.state.get_value() if isinstance(self.state, dg.EnvVar) else self.state
        return load_settings(state, **self.overrides)


class StoreResource(dg.ConfigurableResource[Store]):
    """Published partitions, at the place in the settings."""

    settings: dg.ResourceDependency[Settings]

    def create_resource(self, context: dg.InitResourceContext) -> Store:  # noqa: ARG002
        """Return the store; a partition is read when it is asked for."""
        return Store.open(self.settings)


class EngineResource(dg.ConfigurableResource[Engine]):
    """Engine of the settings: DuckDB or Spark."""

    settings: dg.ResourceDependency[Settings]

    def create_resource(self, context: dg.InitResourceContext) -> Engine:  # noqa: ARG002
        """Return the engine; making it starts nothing."""
        return engine_of(self.settings)


class InstallationResource(dg.ConfigurableResource[Installation]):
    """Settings, store and engine together; its lock shows that the process of a run is alive."""

    settings: dg.ResourceDependency[Settings]
    store: dg.ResourceDependency[Store]
    engine: dg.ResourceDependency[Engine]

    def create_resource(self, context: dg.InitResourceContext) -> Installation:  # noqa: ARG002
        """Return the installation."""
        return Installation(self.settings, self.store, self.engine)

    @contextmanager
    def yield_for_execution(
        self, context: dg.InitResourceContext
    ) -> Generator[Installation, None, None]:
        """Hold the lock of the run for as long as its steps are executed in this process."""
        if context.run is None:  # a sensor, or somebody's program
            yield self.create_resource(context)
            return
        with lifelines.of_steps(self.settings.state, context.run.run_id):
            yield self.create_resource(context)


def resources_of(settings: Settings, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return all resources; those that are `given` replace ours, also within others."""
    chosen = own["settings"]
    resources = {
        "store": StoreResource(settings=chosen),
        "engine": EngineResource(settings=chosen),
        "catalogue": catalogue_resource(settings),
        **own,
    }
    if INSTALLATION not in resources:
        parts = {name: resources[name] for name in ("settings", "store", "engine")}
        resources[INSTALLATION] = InstallationResource(**parts)
    return resources


def catalogue_resource(settings: Settings) -> DuckDBResource:
    """Return `catalogue.duckdb` as a read-only resource: it is rebuilt after every publish."""
    return DuckDBResource(
        database=str(settings.state / CATALOGUE), connection_config={"access_mode": "READ_ONLY"}
    )
