"""Spark sessions, tasks and progress without Spark."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from temporal_assets.engines.base import EngineError
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.engines.result_bytes import result_of
from temporal_assets.engines.spark import spark_session
from temporal_assets.engines.spark.spark_progress import Progress, reported
from temporal_assets.engines.spark.spark_session import explained, open_session
from temporal_assets.engines.spark.spark_tasks import can_see, outcomes
from temporal_assets.settings import Settings, SettingsError, load_settings


def settings(state: Path, **spark: Any) -> Settings:
    return load_settings(state, engine={"name": "spark"}, spark=spark)


def refusal(wanted: Settings) -> str:
    with pytest.raises(EngineError) as caught:
        open_session(wanted)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.fixture
def spark_4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "version", lambda _: "4.3.0")


def java(folder: Path, says: str) -> Path:
    """A JAVA_HOME that says its version as Java does."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return folder


def test_choosing_spark_starts_nothing(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert engine_of(settings(state)).name == "spark"
    assert engine_of(load_settings(state)).name == "duckdb"


def test_without_pyspark(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(spark_session, "version", absent)
    assert "pip install -c requirements.lock '.[spark]'" in refusal(settings(state))


def test_with_another_spark(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "version", lambda _: "3.5.4")
    assert "pyspark 3.5.4 is installed, 4.x is needed" in refusal(settings(state))


@pytest.mark.usefixtures("spark_4")
def test_without_java(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Java 17 or later, and none is on the PATH" in refusal(settings(state))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert f"JAVA_HOME ({tmp_path}/nowhere) has none" in refusal(settings(state))


@pytest.mark.usefixtures("spark_4")
@pytest.mark.parametrize(
    ("says", "major"),
    [('openjdk version "11.0.2" 2019-01-15', 11), ('java version "1.8.0_292"', 8)],
)
def test_with_an_old_java(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, major: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "jdk", says)))
    assert f"is Java {major}: install one" in refusal(settings(state))


@pytest.mark.usefixtures("spark_4")
@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_cluster_that_is_not_there(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "jdk", 'openjdk version "17.0.1"')))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        place = f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        assert f"no Spark cluster answers at {place}" in refusal(settings(state, master=place))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("o.a.h.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials", "credentials"),
        ("UnsupportedFileSystemException: No FileSystem for scheme s3a", "spark.jars.packages"),
        ("ExecutorLostFailure (exit code 137)", 'raise "spark.executor.memory"'),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has 3.9", "spark.pyspark.python"),
        ("ModuleNotFoundError: No module named 'temporal_assets'", "executors' Python lacks"),
    ],
)
def test_errors_of_spark_have_words(error: str, says: str) -> None:
    message = explained(RuntimeError(f"Job aborted.\n{error}\n\tat java.lang.Thread"))
    assert says in str(message)


def test_other_errors_are_not_explained_away() -> None:
    assert explained(RuntimeError("[DIVIDE_BY_ZERO]")) is None


@pytest.mark.parametrize(
    ("spark", "says"),
    [
        ({"master": "127.0.0.1:7077"}, "is no master"),
        ({"config": {"spark.hadoop.fs.s3a.secret.key": ["hush"]}}, "spark.config"),
    ],
)
def test_wrong_settings(state: Path, spark: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        settings(state, **spark)
    assert "hush" not in str(caught.value)


class FewExecutors:
    """A session whose executors answer, or fail, as they are told to."""

    def __init__(self, answer: bool | Exception) -> None:
        self.answer = answer
        self.conf = {"spark.app.name": "temporal-assets"}

    def range(self, _: int) -> FewExecutors:
        return self

    def mapInArrow(self, task: Any, columns: str) -> FewExecutors:  # noqa: N802 - Spark's name
        assert columns == "can_see BOOLEAN"
        assert Path(task.args[0]).exists()
        return self

    def collect(self) -> list[tuple[bool]]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return [(self.answer,)]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (False, r"the executors do not see the state folder /.*temporal_state: it must lie on"),
        (RuntimeError("No module named 'numba'; ModuleNotFoundError"), "did a first small task"),
        (RuntimeError("ModuleNotFoundError: No module named 'numba'"), "executors' Python lacks"),
    ],
)
def test_executors_that_cannot_work(state: Path, answer: bool | Exception, says: str) -> None:
    with pytest.raises(EngineError, match=says):
        spark_session._require_shared(FewExecutors(answer), state)
    assert list((state / "tmp").iterdir()) == []


def test_executors_that_see_the_state(state: Path) -> None:
    spark_session._require_shared(FewExecutors(True), state)


def test_a_cluster_without_room_is_told_of(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Busy(FewExecutors):
        def collect(self) -> list[tuple[bool]]:
            while not caplog.records:
                time.sleep(0.001)
            return super().collect()

    monkeypatch.setattr(spark_session, "_ROOM_SECONDS", 0.0)
    spark_session._require_shared(Busy(True), state)
    assert "no executor has taken a first task yet" in caplog.text


def test_what_an_executor_sees(tmp_path: Path) -> None:
    here = pa.RecordBatch.from_pydict({"id": [0]})
    (seen,) = can_see(str(tmp_path), iter([here]))
    (unseen,) = can_see(str(tmp_path / "nowhere"), iter([here]))
    assert (seen.to_pydict(), unseen.to_pydict()) == ({"can_see": [True]}, {"can_see": [False]})


def one_by(number: int) -> float:
    return 1 / number


def places(*found: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": pa.array(found, pa.int64())})


def test_results_keep_their_places() -> None:
    first, second = outcomes(one_by, [4, 2, 0], iter([places(2), places(1, 0)]))
    assert [first.schema.names, first["place"].to_pylist()] == [["place", "outcome"], [2]]
    assert second["place"].to_pylist() == [1, 0]
    assert [result_of(row) for row in second["outcome"].to_pylist()] == [0.5, 0.25]


def test_an_error_of_one_item_is_raised_where_its_result_is_wanted() -> None:
    (batch,) = outcomes(one_by, [0, 1], iter([places(0, 1)]))
    failed, fine = batch["outcome"].to_pylist()
    assert result_of(fine) == 1
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        result_of(failed)


def test_stages_and_tasks_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    progress = Progress("page_totals.sql", seconds=0)
    progress.update([])
    assert caplog.messages == []
    progress.update([(4, 1, 8)])
    progress.update([(4, 8, 8), (5, 2, 1000)])
    assert caplog.messages == [
        "page_totals.sql: 0 of 1 stages begun are done, 1 of their 8 tasks",
        "page_totals.sql: 1 of 2 stages begun are done, 10 of their 1,008 tasks",
    ]


def test_lines_come_calmly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    progress = Progress("page_totals.sql", seconds=3600)
    for done in range(8):
        progress.update([(4, done, 8)])
    assert caplog.messages == []


def test_a_connect_server_tells_while_work_runs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    handlers: list[Callable[..., None]] = []
    session = SimpleNamespace(
        registerProgressHandler=handlers.append, removeProgressHandler=handlers.remove
    )
    stage: Any = SimpleNamespace(stage_id=1, num_tasks=2, num_completed_tasks=1)
    with reported(session, "transits.sql", is_remote=True):
        (hear,) = handlers
        hear([stage], inflight_tasks=1, operation_id="x", done=False)
        hear(None, inflight_tasks=0, operation_id="x", done=True)
    assert handlers == []
    (line,) = caplog.messages
    assert line.startswith("transits.sql: done in ")
