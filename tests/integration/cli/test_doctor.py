"""`doctor`: a healthy state folder, and what is found broken."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import fsspec
import pytest

from temporal_assets.alerts.delivery import Webhook
from temporal_assets.cli.doctor import check as doctor
from temporal_assets.cli.doctor.findings import BROKEN, WARNING
from temporal_assets.policy import bundle
from tests.command_line import call
from tests.mail_server import MailServer, WebServer, serving
from tests.policies import document


def test_the_doctor_finds_a_healthy_state_healthy(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("doctor", "--json", "--state", state)
    findings = {one["check"]: one["status"] for one in json.loads(result.stdout)}
    # How full the disk of this machine is, is not for a test to say.
    findings.pop("disk")
    assert findings == dict.fromkeys(
        [
            "python",
            "packages",
            "sql files",
            "settings",
            "state folder",
            "keys",
            "engine",
            "logs",
            "log records",
            "published files",
            "unfinished work",
            "policy",
            "schema versions",
            "dagster home",
            "alerts",
        ],
        "ok",
    )


def test_the_doctor_says_how_closely_it_has_looked(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def published(*options: str) -> tuple[str, str]:
        content = json.loads(call("doctor", "--json", "--state", state, *options).stdout)
        return next(
            (one["status"], one["detail"]) for one in content if one["check"] == "published files"
        )

    state, _ = built
    sizes = "all there, of the size that was published"
    assert published() == ("ok", f"{sizes} (--contents reads them)")
    assert published("--contents") == ("ok", sizes)
    bucket = fsspec.filesystem("memory")
    tables = state / "tables"
    for path in tables.rglob("*.*"):
        name = path.relative_to(tables).as_posix()
        bucket.pipe_file(f"/looked-at/tables/{name}", path.read_bytes())
    monkeypatch.setenv("TEMPORAL_ASSETS_STORAGE", "memory://looked-at/tables")
    unread = f"{sizes}; an object store has digests of its own, so that nothing is read"
    assert published("--contents") == published() == ("ok", unread)
    file = next(path for path in bucket.find("/looked-at/tables") if path.endswith(".parquet"))
    bucket.pipe_file(file, b"less")
    status, detail = published("--contents")
    assert status == "broken"
    assert Path(file).name in detail


def test_a_weight_of_an_earlier_release_is_doubted_until_a_list_is_made_with_it(
    built_windows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def schemas() -> tuple[str, str]:
        content = json.loads(call("doctor", "--json", "--state", built_windows).stdout)
        return next(
            (one["status"], one["detail"]) for one in content if one["check"] == "schema versions"
        )

    assert schemas() == ("ok", "all of this release")
    monkeypatch.setenv("TEMPORAL_ASSETS_SITES__ALPHA", "4")
    status, detail = schemas()
    assert status == "warning"
    assert "sites.alpha = 4 is out of 5" in detail
    assert "write 3.333 (docs/upgrade.md)" in detail
    made = call("materialize", "site_scores", "--state", built_windows)
    assert made.exit_code == 0, made.output
    assert detail in " ".join(made.stderr.split())
    assert schemas() == ("ok", "all of this release")


def test_the_doctor_sends_a_test_message_when_asked(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def alerts(*options: str) -> tuple[str, str]:
        content = json.loads(call("doctor", "--json", "--state", state, *options).stdout)
        return next((one["status"], one["detail"]) for one in content if one["check"] == "alerts")

    state, _ = built
    nobody = "nobody to tell: alerts.webhook and alerts.to are not set"
    assert alerts() == ("ok", nobody)
    assert alerts("--alert") == ("broken", nobody)
    server = WebServer()
    monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__WEBHOOK", server.url)
    with serving(server):
        assert alerts() == ("ok", "the webhook at 127.0.0.1 (--alert sends a test)")
        assert server.texts == []
        assert alerts("--alert") == ("ok", "sent to the webhook at 127.0.0.1")
        assert "this is a test" in server.texts[0]
        server.answers = [(404, "no_service")]
        status, detail = alerts("--alert")
    assert status == "broken"
    assert detail.startswith("not sent to the webhook at 127.0.0.1: answered 404 ")
    assert "SECRET" not in detail


def test_the_doctor_tries_other_channels_after_an_error_that_nobody_thought_of(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbles(*_: Any) -> str:
        raise RuntimeError("https://a.example/SECRET")

    state, _ = built
    server = MailServer()
    monkeypatch.setattr(Webhook, "deliver", stumbles)
    with serving(server):
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__WEBHOOK", "https://a.example/SECRET")
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__TO", '["ops@example.org"]')
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__SMTP", f"smtp://localhost:{server.port}")
        content = json.loads(call("doctor", "--json", "--alert", "--state", state).stdout)
    (message,) = (one for one in content if one["check"] == "alerts")
    poor, good = message["detail"].splitlines()
    assert message["status"] == "broken"
    assert poor.startswith("not sent to the webhook at a.example: RuntimeError at test_doctor.py:")
    assert good.startswith("sent to ")
    assert len(server.mails) == 1
    assert "SECRET" not in message["detail"]


def test_the_doctor_finds_what_is_broken(state: Path) -> None:
    (state / "secrets").mkdir(parents=True)
    key = state / "secrets" / "client-0.key"
    key.write_text("secret")
    key.chmod(0o644)
    (state / "settings.toml").write_text('[[sources]]\npath = "/no/such/logs"\n')
    result = call("doctor", "--json", "--state", state)
    findings = {one["check"]: one for one in json.loads(result.stdout)}
    assert result.exit_code == 1
    assert findings["keys"]["status"] == BROKEN
    assert "client-0.key" in findings["keys"]["detail"]
    assert "secret " not in findings["keys"]["detail"]
    assert findings["settings"]["status"] == WARNING
    assert "/no/such/logs" in findings["settings"]["detail"]


def test_the_doctor_finds_a_damaged_policy(state: Path) -> None:
    published = bundle.publish(document(), state / "policy", state / "tmp").folder
    bundle.release(state / "policy", published.name)
    file = published / "policy.json"
    text = file.read_bytes()
    for damaged in (text.replace(b'"rank":1', b'"rank":3', 1), text[:100], None):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        result = call("doctor", "--json", "--state", state)
        (actual,) = (one for one in json.loads(result.stdout) if one["check"] == "policy")
        assert result.exit_code == 1
        assert actual["status"] == BROKEN
        assert str(published) in actual["detail"]
        assert "materialize crawl_policy --day 2025-05-01" in actual["detail"]


def test_the_doctor_finds_sources_that_cannot_be_read(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_text(
        '[[sources]]\npath = "/no/such/logs"\nformat = "combind"\n'
    )
    result = call("doctor", "--json", "--state", state)
    (actual,) = (one for one in json.loads(result.stdout) if one["check"] == "settings")
    assert result.exit_code == 1
    assert actual["status"] == BROKEN
    assert actual["detail"].startswith("source /no/such/logs: format 'combind' is not known")


def test_the_doctor_says_what_to_do_about_rights(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(state / "secrets"))

    monkeypatch.setattr(doctor, "check_keys", denied)
    result = call("doctor", "--json", "--state", state)
    (actual,) = (one for one in json.loads(result.stdout) if one["check"] == "keys")
    assert actual["status"] == BROKEN
    assert actual["detail"].startswith(
        f"{state / 'secrets'}: permission denied. Run the command as"
    )


def test_the_doctor_creates_nothing(state: Path) -> None:
    call("doctor", "--state", state)
    assert not state.exists()
