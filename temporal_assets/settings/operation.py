"""Settings of running: engines, schedules, retention and alerts."""

from __future__ import annotations

import datetime as dt
import os
import re
from typing import Literal

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

    one_task_megabytes: int = Field(256, ge=0)
    """A statement whose files are no larger together is one task: DuckDB runs it on an executor,
    which takes it less time than the cluster takes to plan and shuffle. 0 leaves all to Spark."""

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
    """Days that there are, and when they are made (docs/running-daily.md)."""

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
    """Dagster's records of runs, but for those that made what is there now."""


class Alerts(Section):
    """People and programs that are told of failed runs, failed checks and old data.

    Nothing is sent but by the sensor `alerts`, which is off until somebody switches it on. The
    password of `smtp_user` is no setting (docs/running-daily.md).
    """

    webhook: SecretStr | None = None
    """URL that takes `{"text": ...}`. Who knows it can write there, so that it is treated as a
    secret; `TEMPORAL_ASSETS_ALERTS__WEBHOOK` keeps it out of files."""

    to: tuple[str, ...] = ()
    """Mail addresses."""

    sender: str = "temporal-assets@localhost"
    """Address that mail comes from."""

    smtp_host: str = "localhost"
    """Mail server."""

    smtp_port: int | None = Field(None, ge=1, le=65535)
    """Port of the mail server. Unset: 25, 587 or 465, for `none`, `starttls` or `tls`."""

    smtp_security: Literal["none", "starttls", "tls"] | None = None
    """Encryption of mail on its way to the server. Unset: `none` to this machine, `starttls` to any
    other."""

    smtp_user: str | None = None
    """Log in to the mail server with this name. Unset: without a name."""

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
