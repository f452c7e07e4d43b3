"""The parts of Dagster that tests use though it does not export them.

They are imported here alone, so that an upgrade of Dagster breaks one file.

Most of them have no public counterpart: a daemon's turn within the process of a test, a workspace
without a server, the configuration of an instance.
"""

from __future__ import annotations

from dagster._config import validate_config
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.events import DagsterEvent, EngineEventData
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.execution.plan import active
from dagster._core.instance.config import dagster_instance_config_schema
from dagster._core.instance.ref import InstanceRef
from dagster._core.loader import LoadingContextForTest
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.test_utils import in_process_test_workspace
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget
from dagster._daemon.backfill import execute_backfill_iteration
from dagster._utils.error import serializable_error_info_from_exc_info

__all__ = [
    "BulkActionStatus",
    "CachingStaleStatusResolver",
    "DagsterEvent",
    "EngineEventData",
    "InstanceRef",
    "JobPythonOrigin",
    "LoadableTargetOrigin",
    "LoadingContextForTest",
    "ModuleCodePointer",
    "ModuleTarget",
    "PartitionBackfill",
    "ReconstructableRepository",
    "RepositoryPythonOrigin",
    "SqliteEventLogStorage",
    "StaleStatus",
    "WorkspaceProcessContext",
    "active",
    "dagster_instance_config_schema",
    "execute_backfill_iteration",
    "in_process_test_workspace",
    "serializable_error_info_from_exc_info",
    "validate_config",
]
