"""Settings of running: engines, schedules, retention and alerts."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from typing import ClassVar, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, field_validator

from temporal_assets.settings.section import Section, web_address, zone_name


class Engine(Section):
    """The engine that runs the transformations, and its limits."""

    name: Literal["duckdb", "spark"] = "duckdb"
    """`spark`: on the cluster of `[spark]` (docs/spark.md)."""

    memory_limit: str = "1500MB"
    """DuckDB spills to the state folder beyond it. It may exceed its limit by about a seventh
    (measured); with the readers' blocks this keeps a run under 3 GB. With more than some four
    million pages in a window, raise it, by a quarter of a gigabyte for each million: 10GB were
    enough for forty million (docs/performance.md)."""

    threads: int | None = Field(None, ge=1)
    """Threads of one statement, log files parsed at once (by processes of some 400 MB where there
    is much to read), and sites whose patterns are learned at once; all cores when unset."""

    @property
    def used_threads(self) -> int:
        """Threads of one statement, on this machine."""
        return self.threads or os.cpu_count() or 1

    @field_validator("memory_limit")
    @classmethod
    def _size(cls, value: str) -> str:
        if re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", value, re.IGNORECASE) is None:
            raise ValueError(f"{value!r} is no amount of memory; write `1500MB`, `4GiB` or `60%`")
        return value


class Spark(Section):
    """The cluster, where `engine.name` is `spark` (docs/spark.md)."""

    master: str = "local[*]"
    """`local[*]`, `spark://host:7077`, `yarn`, `k8s://https://host:port`, or `sc://host:15002` for
    a Spark Connect server, on which all below but `spark.sql.` options is its own business."""

    config: dict[str, str] = Field(default_factory=dict)
    """Any option of Spark, by its name. `"spark.executor.memory"` is 1g unless it is here: that of
    each Java process that works; Python workers take theirs beside it."""

    one_task_megabytes: ClassVar[int] = 256
    """A statement whose files are no larger together is one task: DuckDB runs it on an executor,
    which takes it less time than the cluster takes to plan and shuffle. 0 leaves all to Spark."""

    @property
    def one_task_bytes(self) -> float:
        """Bytes of files up to which a statement is one task.

        On one machine (`local[...]`) there is no limit: its cores are those of the one executor.
        """
        is_one_machine = self.master.startswith("local") and self.one_task_megabytes > 0
        return math.inf if is_one_machine else self.one_task_megabytes * 1_000_000

    @property
    def task_threads(self) -> int:
        """Threads of a task that is alone in its job: the cores of its executor."""
        local = re.fullmatch(r"local\[(\d+|\*)(,.*)?\]|local", self.master)
        if local is None:
            return int(self.config.get("spark.executor.cores", 1))
        return (os.cpu_count() or 1) if local[1] == "*" else int(local[1] or 1)

    @field_validator("master")
    @classmethod
    def _known_kind(cls, value: str) -> str:
        if re.match(r"local(\[.+\])?$|yarn$|(spark|sc|k8s)://.", value) is None:
            raise ValueError(
                "is no master; write `local[*]`, `spark://host:7077`, `yarn`, "
                "`k8s://https://host:port` or `sc://host:15002`"
            )
        return value


class Orchestration(Section):
    """Range of days, and the time at which they are built (docs/running-daily.md)."""

    first_day: dt.date | None = None
    """First daily partition. Unset: the earliest day found in the logs."""

    first_window: dt.date | None = None
    """First partition of window assets in the UI. Unset: the first day with a report."""

    timezone: str = "UTC"
    """Zone in which a day starts."""

    hour: int = Field(3, ge=0, le=23)
    """Hour of the daily schedule: logs of the day before have been rotated by then."""

    owner: str = "team:crawl"
    """Owner shown in the UI: `team:name` or an e-mail address."""

    docs: str | None = None
    """Address at which the pages of `docs/` are served: assets in the UI link to them. Unset: the
    UI names the file."""

    reports: str | None = None
    """Address at which `report/` is served: reports and policies in the UI link to the
    report of their day there. Unset: below `/report/` of `temporal-assets ui` (docs/report.md)."""

    @field_validator("docs", "reports")
    @classmethod
    def _served(cls, value: str | None) -> str | None:
        return web_address(value) if value else None

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        return zone_name(value)


class Retention(Section):
    """Days before the latest that results are kept; unset: for ever.

    Nothing is removed but by `temporal-assets doctor clean` (docs/running-daily.md).
    """

    requests_days: int | None = Field(None, ge=1)
    """Single requests: log lines that were read, `requests` and `rejects`. A log file that is later
    than this adds nothing to its day."""

    daily_days: int | None = Field(None, ge=1)
    """`page_views` and `transits`. At least what the latest window and its evaluation read: 97 days
    with the defaults."""

    windows_days: int | None = Field(None, ge=1)
    """Window assets, policies and pages of reports. At least what evaluation reads: 38 days with
    the defaults."""

    runs_days: int | None = Field(None, ge=1)
    """Dagster's records of runs, except of runs whose results are still published."""


_SMTP_PORTS: Final = {"none": 25, "starttls": 587, "tls": 465}
_SMTP_SCHEMES: Final = {"smtps": "tls", "smtp+starttls": "starttls", "smtp+none": "none"}
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class MailServer(NamedTuple):
    """A mail server, and the way to send mail through it."""

    host: str
    port: int
    security: str
    """`none`, `starttls` or `tls`."""
    user: str
    """Name to log in with; empty without one."""

    @classmethod
    def of(cls, address: str) -> MailServer:
        """Return the server of an address. Raises `ValueError` without the address in it."""
        message = "must be an address like smtp://user@mail.example.org:587, without a password"
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError(message) from None
        if not host or port == 0 or parts.password is not None or parts.path not in ("", "/"):
            raise ValueError(message)
        usual = "none" if host in _THIS_MACHINE else "starttls"
        security = {"smtp": usual, **_SMTP_SCHEMES}.get(parts.scheme)
        if security is None:
            raise ValueError(message)
        return cls(host, port or _SMTP_PORTS[security], security, unquote(parts.username or ""))

    @property
    def is_here(self) -> bool:
        """Return True if the server is this machine."""
        return self.host in _THIS_MACHINE


class Alerts(Section):
    """Recipients of messages about failed runs, failed checks and old data.

    Nothing is sent but by the sensor `alerts`, which is off until somebody switches it on. The
    password of the user in `smtp` is no setting (docs/running-daily.md).
    """

    webhook: SecretStr | None = None
    """URL that takes `{"text": ...}`. Who knows it can write there, so that it is treated as a
    secret; `TEMPORAL_ASSETS_ALERTS__WEBHOOK` keeps it out of files."""

    to: tuple[str, ...] = ()
    """Mail addresses."""

    sender: str = "temporal-assets@localhost"
    """Address that mail comes from."""

    smtp: str = "smtp://localhost"
    """Mail server, such as `smtp://user@mail.example.org:587`. `smtp` encrypts by STARTTLS, except
    to this machine, `smtps` by TLS; `smtp+starttls` always does, `smtp+none` never. Port unset: 25
    without encryption, 587, 465 for TLS."""

    warnings: bool = False
    """Also tell of checks that warn: drifts are expected now and then."""

    max_age_days: int = Field(2, ge=0)
    """Data is old when its latest day is longer ago. Yesterday is 1; before the nightly run has
    ended, the day before is the latest. 0: never."""

    ui: str = "http://127.0.0.1:3000"
    """Address at which people reach the web server: messages link to runs."""

    @field_validator("webhook")
    @classmethod
    def _url(cls, value: SecretStr | None) -> SecretStr | None:
        if value:
            web_address(value.get_secret_value())
        return value

    @field_validator("smtp")
    @classmethod
    def _smtp(cls, value: str) -> str:
        try:
            MailServer.of(value)
        except ValueError as error:
            raise ValueError(str(error)) from None  # the address may hold a password
        return value

    @field_validator("ui")
    @classmethod
    def _ui(cls, value: str) -> str:
        return web_address(value).rstrip("/")

    @field_validator("to", "sender")
    @classmethod
    def _addresses(cls, value: tuple[str, ...] | str) -> tuple[str, ...] | str:
        for address in (value,) if isinstance(value, str) else value:
            if re.fullmatch(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+", address, re.ASCII) is None:
                # Not which: somebody may have put the webhook here.
                raise ValueError("must be mail addresses like `crawl@example.org`")
        return value
