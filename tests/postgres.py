"""A PostgreSQL server of a test: started from the programs of Debian's package, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.serving import free_port

_INIT = ("--no-sync", "-U", "postgres", "-A", "scram-sha-256")

_PASSWORD = "super"  # noqa: S105 - of a server that lives for a test

PATIENCE = 60
"""Seconds for a server to come up or down: build machines are busy."""


def programs() -> Path | None:
    """Return the folder of the newest server's programs; None where there is none."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    actual = sorted((path for path in folders if (path / "initdb").exists()), key=_version)
    on_path = shutil.which("initdb")
    return actual[-1] if actual else Path(on_path).resolve().parent if on_path else None


def _version(folder: Path) -> float:
    return float(folder.parent.name)


@dataclass
class Server:
    """A server on this machine, whose superuser is `postgres` with the password `super`."""

    port: int
    process: subprocess.Popen[bytes]

    def connect(self, database: str = "postgres", user: str = "postgres") -> Any:
        """Return a connection of psycopg2 that commits every statement."""
        import psycopg2

        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user=user, password=_PASSWORD, dbname=database
        )
        connection.autocommit = True
        return connection

    def ask(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Execute a statement; return its rows, if it has any."""
        connection = self.connect(database)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def stop(self) -> None:
        """End it as an operator does who does not wait for clients."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=PATIENCE)


@contextmanager
def running(programs: Path) -> Iterator[Server]:
    """Start a server on a free port of the loopback interface."""
    import psycopg2

    folder = Path(tempfile.mkdtemp(prefix="temporal-assets-postgres."))
    options = _as_somebody(folder)
    password = folder / "password"
    password.write_text(_PASSWORD)
    password.chmod(0o644)
    data, port = folder / "data", free_port()
    try:
        result = subprocess.run(
            [programs / "initdb", "-D", data, *_INIT, f"--pwfile={password}"],
            capture_output=True,
            text=True,
            **options,
        )
        assert result.returncode == 0, result.stderr
        settings = ("listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "fsync=off")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-p", str(port)]
                + [word for setting in settings for word in ("-c", setting)],
                stdout=log,
                stderr=log,
                **options,
            )
        server = Server(port, process)
        try:
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    server.ask("SELECT 1")
                    break
                except psycopg2.OperationalError:
                    assert process.poll() is None, (folder / "log").read_text()
                    assert time.monotonic() < end, (folder / "log").read_text()
                    time.sleep(0.2)
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_somebody(folder: Path) -> dict[str, Any]:
    """Give the folder to another user where this one is root, as whom PostgreSQL does not run."""
    if os.geteuid() != 0:
        return {"cwd": folder}
    names = {user.pw_name for user in pwd.getpwall()}
    somebody = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    return {"cwd": folder, "user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}
