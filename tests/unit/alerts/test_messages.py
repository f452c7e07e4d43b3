"""Alerts: what they say, and how they reach a webhook and a mail server."""

from __future__ import annotations

import datetime as dt
import email
import email.policy
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.alerts import messages
from temporal_assets.alerts.delivery import (
    PASSWORD_VARIABLE,
    Channel,
    Mail,
    Undelivered,
    Webhook,
    channels,
)
from temporal_assets.alerts.messages import FailedCheck, Fault, Line, Message, RunReport
from temporal_assets.settings import SETTINGS_FILE, SettingsError, load_settings
from temporal_assets.settings import MailServer as Server
from tests.mail_server import MailServer, WebServer, serving

DAY = dt.date(2026, 3, 1)
UI = "http://127.0.0.1:3000"
BROKEN = FailedCheck("requests", "site_is_host", True, "3, expected at most 0. Make it again.")
DRIFT = FailedCheck("page_views", "views_by_day", False, "9, expected at least 50.")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


def message_of(report: RunReport, warnings: bool = True) -> Message:
    actual = messages.of_run(report, UI, warnings=warnings)
    assert actual is not None
    return actual


def test_a_failed_run_is_told_in_plain_words() -> None:
    error = "2026-03-01: most are in access.log\nline 7: 'x'"
    report = RunReport("r1", "nightly", [DAY], True, [Fault("requests", error)], [DRIFT, BROKEN])
    message = message_of(report)
    assert messages.subject(message) == "[temporal_assets] nightly of 2026-03-01 failed"
    assert messages.plain(message) == (
        "Step requests failed:\n"
        "  | 2026-03-01: most are in access.log\n"
        "  | line 7: 'x'\n"
        "Check requests.site_is_host (BROKEN):\n"
        "  | 3, expected at most 0. Make it again.\n"
        "Check page_views.views_by_day (warning):\n"
        "  | 9, expected at least 50.\n"
        "Look at http://127.0.0.1:3000/runs/r1, or call: temporal-assets status\n"
    )


@pytest.mark.parametrize(
    ("checks", "days", "title"),
    [
        ([BROKEN], [DAY], "daily of 2026-03-01 succeeded with 1 broken check"),
        (
            [BROKEN, DRIFT, DRIFT],
            [DAY, DAY + dt.timedelta(days=1)],
            "daily of 2026-03-01 to 2026-03-02 succeeded with 1 broken check and 2 warnings",
        ),
        ([DRIFT], [], "daily succeeded with 1 warning"),
    ],
)
def test_checks_of_runs_that_succeeded(
    checks: list[FailedCheck], days: list[dt.date], title: str
) -> None:
    assert message_of(RunReport("r", "daily", days, False, [], checks)).title == title


def test_warnings_are_told_only_where_they_are_wanted() -> None:
    good = RunReport("r", "daily", [DAY], False)
    drifting = RunReport("r", "daily", [DAY], False, [], [DRIFT])
    assert messages.of_run(good, UI, warnings=True) is None
    assert messages.of_run(drifting, UI, warnings=False) is None
    both = message_of(RunReport("r", "daily", [DAY], False, [], [DRIFT, BROKEN]), warnings=False)
    assert "views_by_day" not in messages.plain(both)
    assert both.title.endswith("with 1 broken check")


def test_a_chat_cannot_be_misled_by_what_is_quoted() -> None:
    hostile = "<!channel> <http://evil|click> & ```\n@all \x1b[2J\u202e*bold*"
    message = message_of(RunReport("r", "nightly", [DAY], True, [Fault("x", hostile)]))
    assert messages.chat(message) == (
        "*[temporal_assets] nightly of 2026-03-01 failed*\n"
        "Step x failed:\n"
        "```\n"
        "&lt;!channel&gt; &lt;http://evil|click&gt; &amp; '''\n"
        "@all \\x1b[2J\\u202e*bold*\n"
        "```\n"
        "Look at http://127.0.0.1:3000/runs/r, or call: temporal-assets status"
    )


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_whatever_is_quoted_is_one_line_and_stays_in_its_block(
    errors: list[str], check: str
) -> None:
    faults = [Fault("step", error) for error in errors]
    checks = [FailedCheck("a", "c", True, check)]
    message = message_of(RunReport("r", "job", [], True, faults, checks))
    chat = messages.chat(message)
    assert not set(chat) & set("<>\x00\x1b\u202e\u2028\r")
    fences = [line for line in chat.splitlines() if "```" in line]
    assert set(fences) == {"```"}
    assert len(fences) % 2 == 0
    quoted = sum(line.quoted for line in message.lines)
    plain = messages.plain(message)
    assert sum(line.startswith("  | ") for line in plain.splitlines()) == quoted
    assert len(plain.splitlines()) == len(message.lines)


def test_a_long_message_is_cut_where_services_still_take_it() -> None:
    faults = [Fault(f"step{n}", "\n".join(["x" * 5000] * 50)) for n in range(9)]
    checks = [FailedCheck("a", f"c{n}", True, "y" * 5000) for n in range(40)]
    message = message_of(RunReport("r", "job", [], True, faults, checks))
    assert len(messages.chat(message)) < 7000
    plain = messages.plain(message)
    assert "and 47 more lines\n" in plain
    assert "and 7 more failed steps\n" in plain
    assert "and 36 more checks\n" in plain


@pytest.mark.parametrize(
    "character", ["x", "<", "&", "`", "\u200b", "\U000e0001", "日", "ab\u202e"]
)
def test_a_message_is_not_cut_by_a_service_whatever_it_quotes(character: str) -> None:
    text = character * 5000
    faults = [Fault(f"step{n}", "\n".join([text] * 3)) for n in range(2)]
    checks = [FailedCheck(text if n else "a", "c", True, text) for n in range(4)]
    message = message_of(RunReport("r", text, [], True, faults, checks))
    chat, plain = messages.chat(message), messages.plain(message)
    assert len(chat) <= 7000
    assert len(plain) <= 7000
    lines = chat.splitlines()
    assert lines[-1].startswith(f"Look at {UI}/runs/r")
    assert sum(line == "```" for line in lines) % 2 == 0
    assert "\\x…" not in chat
    assert not [line for line in lines if line.endswith(("&…", "&l…", "&lt…", "&am…", "\\u20…"))]


def test_a_message_that_is_too_long_ends_with_where_all_is() -> None:
    lines = [Line("y" * 500, quoted=True) for _ in range(40)]
    message = Message("t", (*lines, Line("Look there")))
    assert messages.chat(message).splitlines()[-4:] == ["y" * 500, "```", "…", "Look there"]
    assert messages.plain(message).endswith("y\n…\nLook there\n")


def test_old_data_is_told_with_its_age() -> None:
    message = messages.of_old_data(DAY, dt.date(2026, 3, 5), 2)
    assert message.title == "no new data since 2026-03-01"
    assert "is 2026-03-01, 4 days ago" in messages.plain(message)


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    with serving(server):
        yield server


@pytest.fixture
def post() -> Iterator[MailServer]:
    server = MailServer()
    with serving(server):
        yield server


def mail(state: Path, post: MailServer, server: str = "smtp://localhost") -> Channel:
    to = ("crawl@example.org", "ops@example.org")
    settings = load_settings(state, alerts={"to": to, "smtp": f"{server}:{post.port}"})
    (channel,) = channels(settings)
    return channel


def test_nobody_is_told_by_default(state: Path) -> None:
    assert channels(load_settings(state)) == ()


def test_a_webhook_gets_the_text_as_json(web: WebServer) -> None:
    message = messages.of_test()
    assert Webhook(web.url).deliver(message) == ""
    ((path, headers, body),) = web.requests
    assert path == "/services/SECRET"
    assert headers["Content-Type"] == "application/json"
    assert body == {"text": messages.chat(message)}


@pytest.mark.parametrize("status", [302, 404, 429, 500])
def test_a_webhook_that_refuses_is_named_without_its_secret(web: WebServer, status: int) -> None:
    web.answers = [(status, "no_service\x1b[2J")]
    web.headers = {"Location": f"{web.url}/elsewhere"}
    with pytest.raises(Undelivered) as caught:
        Webhook(web.url).deliver(messages.of_test())
    text = str(caught.value)
    assert text.startswith(f"the webhook at 127.0.0.1: answered {status} ")
    assert text.endswith(r"no_service\x1b[2J")
    assert "SECRET" not in text
    assert web.requests == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Length": "9"},  # more than arrives before the connection is closed
        {"Transfer-Encoding": "chunked"},  # and then no chunk
    ],
)
def test_a_refusal_that_ends_early_is_a_refusal(web: WebServer, headers: dict[str, str]) -> None:
    web.answers, web.headers = [(503, "busy")], headers
    with pytest.raises(Undelivered, match=r"^the webhook at 127\.0\.0\.1: answered 503 "):
        Webhook(web.url).deliver(messages.of_test())


def test_a_refusal_that_stalls_is_a_refusal(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("temporal_assets.alerts.delivery._TIMEOUT_SECONDS", 0.3)
    web.answers, web.headers, web.stalls = [(503, "")], {"Content-Length": "9"}, 1.0
    with pytest.raises(Undelivered, match=r"answered 503 Service Unavailable$"):
        Webhook(web.url).deliver(messages.of_test())


def test_a_server_that_is_not_there_is_undelivered(state: Path) -> None:
    closed = WebServer()
    closed.server_close()
    with pytest.raises(Undelivered, match=r"the webhook at 127\.0\.0\.1: .*refused"):
        Webhook(closed.url).deliver(messages.of_test())
    alerts = {"to": ["crawl@example.org"], "smtp": f"smtp://localhost:{closed.server_port}"}
    (mailing,) = channels(load_settings(state, alerts=alerts))
    with pytest.raises(Undelivered, match=r"crawl@example.org by localhost: .*refused"):
        mailing.deliver(messages.of_test())


def test_a_mail_reaches_everybody(state: Path, post: MailServer) -> None:
    report = RunReport(
        "r", "nächtlich\r\nBcc: all@example.org", [DAY], True, [Fault("s", ".\r\nü")]
    )
    assert mail(state, post).deliver(message_of(report)) == ""
    ((recipients, raw),) = post.mails
    assert recipients == ["crawl@example.org", "ops@example.org"]
    letter = email.message_from_bytes(raw, policy=email.policy.default)
    assert letter["To"] == "crawl@example.org, ops@example.org"
    assert letter["Bcc"] is None
    assert letter["From"] == "temporal-assets@localhost"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter["Subject"] == (
        r"[temporal_assets] nächtlich\r\nBcc: all@example.org of 2026-03-01 failed"
    )
    assert "  | .\n  | ü\n" in letter.get_content().replace("\r\n", "\n")
    assert post.logins == []


def test_who_is_refused_is_named_and_the_others_get_the_mail(state: Path, post: MailServer) -> None:
    post.refused = {"ops@example.org"}
    assert mail(state, post).deliver(messages.of_test()) == "refused: ops@example.org"
    post.refused |= {"crawl@example.org"}
    with pytest.raises(Undelivered, match="every recipient was refused"):
        mail(state, post).deliver(messages.of_test())


def test_the_password_is_of_the_environment_or_of_a_file_of_the_owner(
    state: Path, post: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = mail(state, post, "smtp://crawl@localhost")
    with pytest.raises(Undelivered, match=r"TEMPORAL_ASSETS_SMTP_PASSWORD or in the file .*smtp-"):
        channel.deliver(messages.of_test())
    file = state / "secrets" / "smtp-password"
    file.parent.mkdir(parents=True)
    file.write_text("right\n")
    file.chmod(0o644)
    with pytest.raises(Undelivered, match=r"others can read .*chmod 600"):
        channel.deliver(messages.of_test())
    file.chmod(0o600)
    channel.deliver(messages.of_test())
    monkeypatch.setenv(PASSWORD_VARIABLE, "hidden-and-wrong")
    with pytest.raises(Undelivered, match="answered 535 wrong") as caught:
        channel.deliver(messages.of_test())
    assert "hidden" not in str(caught.value)
    assert post.logins[0] == ("crawl", "right")
    assert len(post.mails) == 1


def test_a_mail_server_that_is_busy_or_cannot_encrypt(state: Path, post: MailServer) -> None:
    with pytest.raises(Undelivered, match="STARTTLS extension not supported"):
        mail(state, post, "smtp+starttls://localhost").deliver(messages.of_test())
    post.down = True
    with pytest.raises(Undelivered, match=r"answered 421 not now\\x1b\[31m"):
        mail(state, post).deliver(messages.of_test())
    assert post.mails == []


def test_no_password_goes_to_another_machine_in_the_clear(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, "right")
    alerts = {"to": ["a@example.org"], "smtp": "smtp+none://crawl@192.0.2.1"}
    settings = load_settings(state, alerts=alerts)
    (channel,) = channels(settings)
    assert isinstance(channel, Mail)
    with pytest.raises(Undelivered, match="no password is sent without encryption"):
        channel._password()


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("smtp://localhost", ("localhost", 25, "none", "")),
        ("smtp://mail.example.org", ("mail.example.org", 587, "starttls", "")),
        ("smtps://a%40b.example@mail.example.org", ("mail.example.org", 465, "tls", "a@b.example")),
        ("smtp+starttls://[::1]:2525", ("::1", 2525, "starttls", "")),
        ("smtp+none://mail.example.org", ("mail.example.org", 25, "none", "")),
    ],
)
def test_the_address_of_a_mail_server(address: str, server: tuple[object, ...]) -> None:
    assert Server.of(address) == server


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("webhook = 'ftp://SECRET'", "alerts.webhook: must be a URL that begins with http"),
        ("webhook = 'https:/SECRET'", "alerts.webhook: must be a URL"),
        ("webhook = 'https://a/SECRET\\n'", "alerts.webhook: must be a URL"),
        ("webhook = ['SECRET']", "alerts.webhook: "),
        ("smtp_password = 'SECRET'", "alerts.smtp_password: there is no such setting"),
        ('to = ["a@b\\nBcc: c@d"]', "must be mail addresses"),
        ("to = ['nobody']", "must be mail addresses"),
        ("ui = 'javascript:alert(1)'", "alerts.ui: must be a URL"),
        ("smtp = 'smtp://localhost:0'", "alerts.smtp: must be an address like smtp://"),
        ("smtp = 'smtp://crawl:SECRET@localhost'", "alerts.smtp: must be an address like smtp://"),
        ("smtp = 'SECRET'", "alerts.smtp: must be an address like smtp://"),
        ("smtp_host = 'mail.example.org'", "alerts.smtp_host: this is no setting any more"),
    ],
)
def test_a_wrong_setting_is_named_and_no_secret_repeated(state: Path, line: str, says: str) -> None:
    state.mkdir()
    written = line.replace("\\n'", '\\n"').replace("'https://a", '"https://a')
    (state / SETTINGS_FILE).write_text(f"[alerts]\n{written}\n", "utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(state)
    assert says in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert "SECRET" not in repr(caught.value.__cause__)
    assert "SECRET" not in str(caught.value.__cause__)


def test_the_webhook_is_in_no_dump_of_the_settings(state: Path) -> None:
    settings = load_settings(state, alerts={"webhook": "https://a.example/SECRET"})
    assert "SECRET" not in repr(settings)
    assert "SECRET" not in settings.model_dump_json()
    (channel,) = channels(settings)
    assert "SECRET" not in repr(channel)
    assert channel.where == "the webhook at a.example"
