"""The files of deploy/kubernetes, as Dagster's chart and `dagster-k8s` read them. No cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import dagster as dg
import pytest
import yaml

pytest.importorskip("dagster_k8s", reason="the extra `kubernetes` brings it")
pytest.importorskip("dagster_postgres", reason="the extra `postgres` brings it")

CLAIMS = {"temporal-assets-state": False, "temporal-assets-logs": True}
"""Names of the claims, and if they are mounted read-only."""

KEYS: Mapping[str, set[str]] = {
    "": {
        "additionalInstanceConfig",
        "computeLogManager",
        "dagster-user-deployments",
        "dagsterDaemon",
        "dagsterWebserver",
        "generatePostgresqlPasswordSecret",
        "global",
        "ingress",
        "postgresql",
        "pythonLogs",
        "retention",
        "runLauncher",
        "telemetry",
    },
    "global": {"postgresqlSecretName", "dagsterHome", "serviceAccountName"},
    "postgresql": {
        "enabled",
        "image",
        "postgresqlDatabase",
        "postgresqlHost",
        "postgresqlParams",
        "postgresqlUsername",
        "service",
    },
    "dagster-user-deployments": {"deployments", "enableSubchart", "enabled", "imagePullSecrets"},
    "deployment": {
        "codeServerArgs",
        "env",
        "envSecrets",
        "image",
        "includeConfigInLaunchedRuns",
        "name",
        "podSecurityContext",
        "port",
        "readinessProbe",
        "resources",
        "securityContext",
        "volumeMounts",
        "volumes",
    },
    "runLauncher": {"config", "type"},
    "k8sRunLauncher": {
        "envVars",
        "imagePullPolicy",
        "loadInclusterConfig",
        "resources",
        "runK8sConfig",
        "securityContext",
        "volumeMounts",
        "volumes",
    },
    "runK8sConfig": {"containerConfig", "jobMetadata", "jobSpecConfig", "podSpecConfig"},
    "dagsterDaemon": {"enabled", "runCoordinator", "runMonitoring"},
    "dagsterWebserver": {"enableReadOnly", "service"},
    "retention": {"enabled", "schedule", "sensor"},
}
"""Keys that the schema of the chart (1.13) has, of those that a values file of ours may use."""


@pytest.fixture(scope="module")
def values(repository: Path) -> dict[str, Any]:
    text = (repository / "deploy" / "kubernetes" / "values.yaml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


@pytest.fixture
def deployment(values: dict[str, Any]) -> dict[str, Any]:
    (one,) = values["dagster-user-deployments"]["deployments"]
    return dict(one)


def test_the_chart_knows_every_key(values: dict[str, Any], deployment: dict[str, Any]) -> None:
    launcher = values["runLauncher"]["config"]["k8sRunLauncher"]
    parts = {
        "": values,
        "deployment": deployment,
        "k8sRunLauncher": launcher,
        "runK8sConfig": launcher["runK8sConfig"],
        **{name: values[name] for name in KEYS.keys() & values.keys()},
    }
    for name, keys in KEYS.items():
        assert set(parts[name]) <= keys, name


def test_the_chart_is_of_our_release_of_dagster(repository: Path) -> None:
    lock = (repository / "requirements.lock").read_text("utf-8")
    (version,) = re.findall(r"^dagster==(\S+)", lock, re.MULTILINE)
    for name in ("docs/kubernetes.md", "deploy/kubernetes/values.yaml"):
        text = (repository / name).read_text("utf-8")
        assert set(re.findall(r"--version (\S+)", text)) == {version}


def test_the_chart_is_told_that_there_is_a_probe(deployment: dict[str, Any]) -> None:
    """Helm refuses a probe without this key; the chart itself sets the password of PostgreSQL."""
    assert deployment["readinessProbe"]["enabled"] is True
    assert "DAGSTER_PG_PASSWORD" not in {one["name"] for one in deployment["env"]}


def test_nobodys_password_lies_in_a_file(values: dict[str, Any]) -> None:
    assert "postgresqlPassword" not in values["postgresql"]
    assert values["generatePostgresqlPasswordSecret"] is False


def test_volumes_are_claimed_and_mounted(repository: Path, deployment: dict[str, Any]) -> None:
    text = (repository / "deploy" / "kubernetes" / "volumes.yaml").read_text("utf-8")
    claims = {one["metadata"]["name"]: one["spec"] for one in yaml.safe_load_all(text)}
    assert set(claims) == set(CLAIMS)
    assert all(spec["accessModes"] == ["ReadWriteMany"] for spec in claims.values())
    named = {
        volume["persistentVolumeClaim"]["claimName"]: volume["name"]
        for volume in deployment["volumes"]
        if "persistentVolumeClaim" in volume
    }
    mounts = {mount["name"]: mount.get("readOnly", False) for mount in deployment["volumeMounts"]}
    assert {claim: mounts[name] for claim, name in named.items()} == CLAIMS


def test_the_image_is_of_the_user_of_the_pods(
    repository: Path, values: dict[str, Any], deployment: dict[str, Any]
) -> None:
    docker = (repository / "deploy" / "Dockerfile").read_text("utf-8")
    run = values["runLauncher"]["config"]["k8sRunLauncher"]["runK8sConfig"]["podSpecConfig"]
    (user,) = re.findall(r"--uid (\d+)", docker)
    for context in (deployment["podSecurityContext"], run["securityContext"]):
        assert set(context.values()) == {int(user)}
    # Where the chart mounts its configuration, that user may write.
    for mount in deployment["volumeMounts"]:
        if mount["mountPath"].startswith("/opt/dagster/"):
            assert f" {Path(mount['mountPath']).parent}" in docker
    assert " /opt/dagster/dagster_home " in docker
    hashed = (repository / "requirements-hashed.lock").read_text("utf-8")
    assert {"dagster-k8s", "dagster-postgres", "psycopg2-binary"} <= set(
        re.findall(r"^([a-z0-9-]+)==", hashed, re.MULTILINE)
    )


def _instance_config(values: dict[str, Any]) -> dict[str, Any]:
    """`dagster.yaml` as the chart's templates make it of the values."""
    stored = {
        "postgres_db": {
            "hostname": values["postgresql"]["postgresqlHost"],
            "port": values["postgresql"]["service"]["port"],
            "username": values["postgresql"]["postgresqlUsername"],
            "db_name": values["postgresql"]["postgresqlDatabase"],
            "password": {"env": "DAGSTER_PG_PASSWORD"},
            "params": {},
        }
    }
    launcher = values["runLauncher"]["config"]["k8sRunLauncher"]
    run = launcher["runK8sConfig"]
    monitoring = values["dagsterDaemon"]["runMonitoring"]
    kept = {
        f"{kind}_storage": {
            "module": f"dagster_postgres.{module}",
            "class": f"Postgres{name}Storage",
            "config": stored,
        }
        for kind, module, name in (
            ("run", "run_storage", "Run"),
            ("event_log", "event_log", "EventLog"),
            ("schedule", "schedule_storage", "Schedule"),
        )
    }
    return {
        **kept,
        "scheduler": {"module": "dagster._core.scheduler", "class": "DagsterDaemonScheduler"},
        "run_launcher": {
            "module": "dagster_k8s",
            "class": values["runLauncher"]["type"],
            "config": {
                "load_incluster_config": launcher["loadInclusterConfig"],
                "image_pull_policy": launcher["imagePullPolicy"],
                "job_namespace": "default",
                "service_account_name": "dagster",
                "dagster_home": "/opt/dagster/dagster_home",
                "instance_config_map": "dagster-instance",
                "postgres_password_secret": values["global"]["postgresqlSecretName"],
                "env_vars": launcher["envVars"],
                "volumes": launcher["volumes"],
                "volume_mounts": launcher["volumeMounts"],
                "resources": launcher["resources"],
                "security_context": launcher["securityContext"],
                "run_k8s_config": {
                    "pod_spec_config": run["podSpecConfig"],
                    "job_spec_config": run["jobSpecConfig"],
                },
            },
        },
        "compute_logs": {
            "module": "dagster._core.storage.noop_compute_log_manager",
            "class": values["computeLogManager"]["type"],
        },
        "python_logs": {"python_log_level": values["pythonLogs"]["pythonLogLevel"]},
        "run_monitoring": {
            "enabled": monitoring["enabled"],
            "start_timeout_seconds": monitoring["startTimeoutSeconds"],
            "cancel_timeout_seconds": monitoring["cancelTimeoutSeconds"],
            "max_resume_run_attempts": monitoring["maxResumeRunAttempts"],
            "poll_interval_seconds": monitoring["pollIntervalSeconds"],
            "free_slots_after_run_end_seconds": monitoring["freeSlotsAfterRunEndSeconds"],
        },
        "telemetry": values["telemetry"],
        "retention": {
            name: {"purge_after_days": values["retention"][name]["purgeAfterDays"]}
            for name in ("schedule", "sensor")
        },
        **values["additionalInstanceConfig"],
    }


def test_helm_renders_what_kubernetes_takes(
    repository: Path, tmp_path: Path, values: dict[str, Any]
) -> None:
    """Schema, templates and manifests, offline (docs/kubernetes.md says how to run it)."""
    helm = pytest.importorskip("helm_python", reason="pip install helm-python-sdk")
    kubernetes = pytest.importorskip("kubernetes_validate", reason="it is on PyPI")
    folder = os.environ.get("DAGSTER_CHART")
    if not folder:
        pytest.skip("name the folder of Dagster's chart in DAGSTER_CHART")
    chart = shutil.copytree(folder, tmp_path / "dagster")
    for schema in chart.rglob("values.schema.json"):
        # Types of Kubernetes that it would fetch; the manifests are compared with them below.
        text = re.sub(r'"\$ref": *"https://[^"]*"', '"description": ""', schema.read_text("utf-8"))
        schema.write_text(text, "utf-8")
    with helm.Chart.load(chart) as loaded:
        rendered = loaded.render(values=values, name="dagster")
    manifests = [
        manifest
        for name, text in rendered.items()
        if name.endswith(".yaml")
        for manifest in yaml.safe_load_all(text)
        if manifest
    ]
    for manifest in manifests:
        kubernetes.validate(manifest, "1.34", strict=True)
    configs = [one["data"] for one in manifests if one["metadata"]["name"] == "dagster-instance"]
    config = yaml.safe_load(configs[0]["dagster.yaml"])
    for name, wanted in _instance_config(values).items():
        found = config[name]
        if name == "retention":  # the chart adds defaults of its own
            found = {kind: config[name][kind] for kind in wanted}
            for kept in (found, wanted):
                kept["sensor"]["purge_after_days"].pop("started", None)
        assert found == wanted, name


@pytest.fixture
def launcher(values: dict[str, Any], tmp_path: Path) -> Iterator[Any]:
    """The run launcher, with a cluster that notes what it is asked for."""
    from dagster_k8s import K8sRunLauncher

    from tests.dagster_internals import InstanceRef

    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(_instance_config(values)), "utf-8")
    data = InstanceRef.from_dir(str(tmp_path)).run_launcher_data
    assert data is not None
    with mock.patch("kubernetes.config.load_incluster_config"):
        launcher = data.rehydrate(as_type=K8sRunLauncher)
    launcher._api_client.batch_api = mock.MagicMock()
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        yield launcher


def test_dagster_makes_the_job_of_a_run(launcher: Any, deployment: dict[str, Any]) -> None:
    from kubernetes.client import ApiClient

    from tests.dagster_internals import JobPythonOrigin, ModuleCodePointer, RepositoryPythonOrigin

    image = f"{deployment['image']['repository']}:{deployment['image']['tag']}"
    origin = RepositoryPythonOrigin(
        sys.executable,
        ModuleCodePointer("temporal_assets.definitions", "defs"),
        image,
        ["dagster"],
        {},  # as without `includeConfigInLaunchedRuns`
    )
    assert deployment["includeConfigInLaunchedRuns"] == {"enabled": False}
    run = dg.DagsterRun(
        job_name="daily", run_id="0" * 8, job_code_origin=JobPythonOrigin("daily", origin)
    )
    launcher._instance.add_run(run)
    args = ["dagster", "api", "execute_run", "{}"]
    launcher._launch_k8s_job_with_args("dagster-run-0", args, run)
    (asked,) = launcher._api_client.batch_api.create_namespaced_job.call_args_list
    manifest = ApiClient().sanitize_for_serialization(asked.kwargs["body"])
    json.dumps(manifest)
    pod = manifest["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == image
    # The image's entry point begins a run without looking at the whole state first.
    assert "command" not in container
    assert container["args"] == args
    assert container["resources"]["limits"] == {"memory": "8Gi"}
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"] == 10001
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert len(mounts) == len(container["volumeMounts"]) == 2
    assert mounts["/logs"]["readOnly"] is True
    assert {volume["name"] for volume in pod["volumes"]} == {"state", "logs"}
    variables = {one["name"]: one for one in container["env"]}
    assert variables["TEMPORAL_ASSETS_STATE"]["value"] == "/state"
    reference = variables["DAGSTER_PG_PASSWORD"]["valueFrom"]["secretKeyRef"]
    assert reference == {"name": "dagster-postgresql-secret", "key": "postgresql-password"}
    assert manifest["spec"]["ttlSecondsAfterFinished"] == 86400


def test_definitions_with_a_pod_for_each_step_load(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code location of the page."""
    page = (repository / "docs" / "kubernetes.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(tmp_path / "state"))
    actual: dict[str, Any] = {}
    exec(block, actual)  # noqa: S102 - a page of ours
    for job in ("daily", "nightly", "windows"):
        assert actual["defs"].resolve_job_def(job).executor_def.name == "k8s"
    dg.Definitions.validate_loadable(actual["defs"])
