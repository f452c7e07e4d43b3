"""Opening a session on a Spark cluster, or one sentence that says why there is none.

Here: what has to be true before any work starts (a Java, a version of Spark, a cluster that
answers, executors that see the files and have this package), the configuration a session starts
with, and sentences for Spark's own errors. Not here: what runs in the session (`spark`).

`[spark]` of the settings says where: `local[*]` runs in this machine's memory, `spark://host:7077`,
`yarn` and `k8s://...` make this process the driver, and `sc://host:15002` leaves the driver to a
Spark Connect server.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import temporal_assets
from temporal_assets.engines.base import EngineError
from temporal_assets.engines.spark.spark_tasks import can_see
from temporal_assets.settings import Settings, Spark

log = logging.getLogger(__name__)

OLDEST_JAVA: Final = 17
"""Spark 4 runs on Java 17 and later."""

SPARK_MAJOR: Final = 4

_ANSWER_SECONDS: Final = 5.0
"""Seconds in which a cluster must accept a connection; Spark would try for minutes."""

_END_SECONDS: Final = 20.0
"""Seconds for a cancelled session to end in; a run that does not go away is worse than one left
behind."""

_ROOM_SECONDS: Final = 60.0
"""Seconds without a free executor after which a message says what is waited for."""

_NO_ROOM: Final = (
    "no executor has taken a first task yet: the cluster is busy, or no worker has as much memory "
    'as "spark.executor.memory" of [spark.config] asks for; see the master\'s page'
)

_DEFAULTS: Final = {
    # Days are UTC, whatever the machines think.
    "spark.sql.session.timeZone": "UTC",
    # An overflow or a bad cast is an error, as it is in DuckDB, and never a NULL.
    "spark.sql.ansi.enabled": "true",
    # Rows on their way to a kernel; it gets them in batches of its own size.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # Partitions grow to a size worth a task, instead of there being as many as there are cores.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    # For the first rows of an order a task makes room for twice as many, however few there are.
    # Above this, 2 MB, it sorts what it has.
    "spark.sql.execution.topKSortFallbackThreshold": "100000",
}
"""Options that may be set in any session, also over Connect."""

_DRIVER_MEMORY: Final = "1g"
"""Memory of the Java process that plans; `spark.driver.memory` in [spark.config] is stronger."""

_EXECUTOR_MEMORY: Final = "1g"
"""Memory of each Java process that works; `spark.executor.memory` is stronger."""

_START: Final = {
    "spark.app.name": "temporal-assets",
    "spark.ui.showConsoleProgress": "false",
    # A task's files appear when the whole job is done, and not one by one.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "1",
}
"""Options that can only be set where this process starts the driver."""

_ON_THIS_MACHINE: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Options for a driver that serves nobody else: it listens only to this machine."""


def open_session(settings: Settings) -> Any:
    """Return a session for the settings. Raises `EngineError` with one sentence."""
    spark = settings.spark
    _require_pyspark()
    if not is_remote(settings):
        _require_java()
    _require_answer(spark.master)
    try:
        session = _connected(spark) if is_remote(settings) else _started(spark)
    except Exception as error:
        raise explained(error) or EngineError(
            f"Spark at {spark.master} did not start a session: {_first_line(error)}"
        ) from error
    for name, value in {**_DEFAULTS, **_session_options(spark)}.items():
        session.conf.set(name, value)
    where = "" if is_remote(settings) else f", UI {_ui(session)}"
    log.info("Spark %s at %s%s", session.version, spark.master, where)
    try:
        if not spark.master.startswith("local"):
            _require_shared(session, settings.state)
    except BaseException:
        abandon(session)
        raise
    return session


def abandon(session: Any, tag: str | None = None) -> None:
    """End a session from another thread, and first its jobs of a tag.

    Only another thread has another connection to Java: on this thread's, the next answer would be
    the one that a call still waits for.
    """

    def end() -> None:
        if tag is not None:
            session.interruptTag(tag)
        session.stop()

    thread = threading.Thread(target=end, name="end of a Spark session", daemon=True)
    thread.start()
    thread.join(_END_SECONDS)


def is_remote(settings: Settings) -> bool:
    """Return True if a Spark Connect server is the driver, and not this process."""
    return settings.spark.master.startswith("sc://")


def explained(error: BaseException) -> EngineError | None:
    """Return the sentence for an error of Spark that a person can solve, or None."""
    text = str(error)
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, text):
            return EngineError(sentence)
    return None


_SENTENCES: Final = (
    (
        r"NoAuthWithAWSException|NoAwsCredentials|Unable to load credentials|InvalidAccessKeyId"
        r"|Status Code: 403|AccessDenied",
        "the object store refuses Spark: give it credentials in [spark.config], for S3 "
        "spark.hadoop.fs.s3a.access.key and .secret.key or the role of the machine "
        "(docs/spark.md)",
    ),
    (
        r"No FileSystem for scheme|Class org\.apache\.hadoop\.fs\.\S+ not found",
        "Spark has no driver for this kind of storage: name its package in "
        '"spark.jars.packages" of [spark.config], for '
        "S3 org.apache.hadoop:hadoop-aws in the version of Spark's Hadoop (docs/spark.md)",
    ),
    (
        r"OutOfMemoryError|exit code 137|exit status: 137|exit code 52|Container killed .* memory",
        'an executor ran out of memory: raise "spark.executor.memory", or '
        '"spark.sql.shuffle.partitions", in [spark.config] so that each task has less to do',
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        "the executors run another Python than this process: name theirs in "
        '"spark.pyspark.python" of [spark.config], or '
        "send an environment along (docs/spark.md)",
    ),
    (
        r"ModuleNotFoundError: No module named '(temporal_assets|pyarrow|numba|numpy)",
        "the executors' Python lacks temporal-assets or what it needs: install it there or send "
        "an environment along (docs/spark.md)",
    ),
    (
        r"All masters are unresponsive|Application has been killed|Connection refused",
        "the Spark cluster does not answer: start it, or correct spark.master",
    ),
)


def _require_pyspark() -> None:
    """Raise `EngineError` unless a supported PySpark is installed."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        raise EngineError(
            'engine.name is "spark", but pyspark is not installed: '
            "pip install -c requirements.lock '.[spark]' in the checkout"
        ) from None
    if int(installed.split(".")[0]) != SPARK_MAJOR:
        raise EngineError(
            f"pyspark {installed} is installed, {SPARK_MAJOR}.x is needed: "
            "pip install -c requirements.lock '.[spark]' in the checkout"
        )


def _require_java() -> None:
    """Raise `EngineError` unless there is a Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {OLDEST_JAVA} or later"
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME ({home}) has none" if home else "none is on the PATH"
        raise EngineError(f"{wanted}, and {where}: install one (docs/spark.md)")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr)
    if match is None:
        raise EngineError(f"{wanted}, and {java} does not say its version")
    first, second = int(match[1]), int(match[2] or 0)
    major = second if first == 1 else first  # Java 8 calls itself 1.8
    if major < OLDEST_JAVA:
        raise EngineError(f"{wanted}, and {java} is Java {major}: install one, or set JAVA_HOME")


def _require_answer(master: str) -> None:
    """Raise an error unless the cluster's master accepts a connection."""
    if not master.startswith(("spark://", "sc://")):
        return
    # A standalone cluster may have several masters, of which one answers.
    places = master.split("://", 1)[1].split(";")[0].rstrip("/").split(",")
    default = 15002 if master.startswith("sc://") else 7077
    problem = "no address"
    for place in places:
        parts = urlsplit(f"//{place}")
        try:
            address = (parts.hostname or "", parts.port or default)
            with socket.create_connection(address, timeout=_ANSWER_SECONDS):
                return
        except (OSError, ValueError) as error:
            problem = str(error)
    raise EngineError(
        f"no Spark cluster answers at {master} ({problem}): start it, or correct spark.master"
    )


def _require_shared(session: Any, state: Path) -> None:
    """Check that an executor sees a file written now, before hours of work go to another folder."""
    probe = state.absolute() / "tmp" / f"seen-by-executors-{uuid4().hex}"
    probe.parent.mkdir(parents=True, exist_ok=True)
    probe.touch()
    waiting = threading.Timer(_ROOM_SECONDS, log.warning, [_NO_ROOM])
    waiting.daemon = True
    waiting.start()
    try:
        looked = session.range(1).mapInArrow(partial(can_see, str(probe)), "can_see BOOLEAN")
        ((can,),) = looked.collect()
    except Exception as error:
        raise explained(error) or EngineError(
            f"no executor of {session.conf.get('spark.app.name')} did a first small task: "
            f"{_first_line(error)}"
        ) from error
    finally:
        waiting.cancel()
        probe.unlink(missing_ok=True)
    if not can:
        raise EngineError(
            f"the executors do not see the state folder {state.absolute()}: it must lie on a file "
            "system that this machine and all executors share (docs/spark.md)"
        )


def _connected(spark: Spark) -> Any:
    from pyspark.sql import SparkSession

    session = _sessions.get(spark.master)
    if session is None or session.is_stopped:
        session = _sessions[spark.master] = SparkSession.builder.remote(spark.master).create()
    return session


_sessions: Final[dict[str, Any]] = {}
"""Session of this process on each server: engines share it, as they do a driver of this process."""


def _started(spark: Spark) -> Any:
    """Return a new session with the options of the settings."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(spark.master)
    for name, value in _start_options(spark).items():
        builder = builder.config(name, value)
    is_local = spark.master.startswith("local")
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # the UI's address, too
    # Of the environment alone is it known to workers of every kind of cluster.
    os.environ["PYSPARK_PYTHON"] = spark.config.get("spark.pyspark.python", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with _own_interrupts():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


class _own_interrupts:  # noqa: N801 - reads as what it does
    """Keep the handlers of Ctrl-C, which Spark would replace."""

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        self._before = signal.getsignal(signal.SIGINT) if self._is_main else None

    def __exit__(self, *_: object) -> None:
        if self._is_main and self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _start_options(spark: Spark) -> dict[str, str]:
    """Return the configuration that a session starts with."""
    options = dict(_START)
    if spark.master.startswith("local"):
        options |= _ON_THIS_MACHINE
    options["spark.driver.memory"] = _DRIVER_MEMORY
    options["spark.executor.memory"] = _EXECUTOR_MEMORY
    # A checkout is on the path of this process alone; an installed package is found anyway.
    options["spark.executorEnv.PYTHONPATH"] = str(Path(temporal_assets.__file__).parents[1])
    return options | spark.config


def _session_options(spark: Spark) -> dict[str, str]:
    """Return the user's options that may change in a running session."""
    return {name: value for name, value in spark.config.items() if name.startswith("spark.sql.")}


def _ui(session: Any) -> str:
    return session.sparkContext.uiWebUrl or "off"


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
