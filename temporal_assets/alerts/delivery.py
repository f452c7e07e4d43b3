"""Delivery of messages to a webhook and by mail.

With the standard library: two requests of a few lines each need no package. No secret leaves this
module but to the server it is for: not in an error, not in a log. Not here: when to send.
"""

from __future__ import annotations

import json
import os
import smtplib
import ssl
import stat
import traceback
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from temporal_assets.alerts.messages import Message, chat, plain, subject
from temporal_assets.reports.text import shown
from temporal_assets.settings import Alerts, MailServer, Settings

PASSWORD_VARIABLE: Final = "TEMPORAL_ASSETS_SMTP_PASSWORD"  # noqa: S105 - a name, no password
PASSWORD_FILE: Final = "smtp-password"  # noqa: S105 - the same
"""Name of the file with the password, in the folder `secrets` of the state folder."""

_TIMEOUT_SECONDS: Final = 10.0
"""Seconds after which a server that does not answer counts as down: the tick of the sensor must end
in time."""

_ANSWER: Final = 200
"""Bytes of an error response that are shown: Slack says `no_service` or `invalid_payload`."""


class Undelivered(Exception):
    """Error: a message was not delivered; says why, without a secret."""


class Channel(Protocol):
    """A way to send messages."""

    @property
    def name(self) -> str:
        """Name of the channel in cursors and messages."""

    @property
    def where(self) -> str:
        """Receiver in words, without secrets."""

    def deliver(self, message: Message) -> str:
        """Send a message; return a remark, mostly empty. Raises `Undelivered`."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that takes `{"text": ...}`: Slack, Mattermost, Rocket.Chat, Google Chat."""

    url: str = field(repr=False)
    name: str = "webhook"

    @property
    def where(self) -> str:
        """Host of the webhook; its path is secret."""
        return f"the webhook at {urlsplit(self.url).hostname}"

    def deliver(self, message: Message) -> str:
        """Send the message as one POST.

        A redirection is an error: following it would turn the POST into a GET.
        """
        opener = urllib.request.build_opener(_NoRedirection)
        with _explained(self.where), opener.open(self._request(message), timeout=_TIMEOUT_SECONDS):
            return ""

    def _request(self, message: Message) -> urllib.request.Request:
        return urllib.request.Request(  # noqa: S310 - http or https, by the settings
            self.url,
            data=json.dumps({"text": chat(message)}).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "temporal-assets"},
            method="POST",
        )


@dataclass(frozen=True, slots=True)
class Mail:
    """Mail to one or more addresses by an SMTP server."""

    settings: Alerts
    secrets: Path
    name: str = "mail"

    @property
    def _server(self) -> MailServer:
        return MailServer.of(self.settings.smtp)

    @property
    def where(self) -> str:
        """The addresses and the server."""
        return f"{', '.join(self.settings.to)} by {self._server.host}"

    def deliver(self, message: Message) -> str:
        """Send one mail to all; return a remark on addresses that were refused."""
        with _explained(self.where), self._connected() as server:
            refused = server.send_message(self._letter(message))
        return f"refused: {', '.join(sorted(refused))}" if refused else ""

    def _letter(self, message: Message) -> EmailMessage:
        """Return a message as a mail."""
        letter = EmailMessage()
        letter["From"] = self.settings.sender
        letter["To"] = ", ".join(self.settings.to)
        letter["Subject"] = subject(message)
        letter["Date"] = formatdate()
        letter["Message-ID"] = make_msgid(domain=self.settings.sender.rpartition("@")[2])
        letter["Auto-Submitted"] = "auto-generated"  # no answers of people on holiday
        letter.set_content(plain(message))
        return letter

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """Yield a connection to the mail server, encrypted as the settings say, logged in."""
        host, port, security, user = self._server
        password = self._password() if user else ""
        trusted = ssl.create_default_context()
        if security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, port, timeout=_TIMEOUT_SECONDS, context=trusted
            )
        else:
            server = smtplib.SMTP(host, port, timeout=_TIMEOUT_SECONDS)
        with server:
            if security == "starttls":
                server.starttls(context=trusted)
            if user:
                server.login(user, password)
            yield server

    def _password(self) -> str:
        """Return the password, which never leaves unencrypted and only its owner may read."""
        if self._server.security == "none" and not self._server.is_here:
            raise Undelivered(f"{self.where}: no password is sent without encryption")
        file = self.secrets / PASSWORD_FILE
        if password := os.environ.get(PASSWORD_VARIABLE):
            return password
        try:
            if stat.S_IMODE(file.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                raise Undelivered(f"others can read {file}: chmod 600 it")
            return file.read_text("utf-8").strip()
        except FileNotFoundError:
            raise Undelivered(
                f"{self.where}: the user in alerts.smtp needs a password in"
                f" ${PASSWORD_VARIABLE} or in the file {file}"
            ) from None


def channels(settings: Settings) -> tuple[Channel, ...]:
    """Return the configured channels; none by default."""
    alerts = settings.alerts
    open_channels: list[Channel] = []
    if alerts.webhook:
        open_channels.append(Webhook(alerts.webhook.get_secret_value()))
    if alerts.to:
        open_channels.append(Mail(alerts, settings.state / "secrets"))
    return tuple(open_channels)


def kind_and_place(error: Exception) -> str:
    """Return type and place of an unexpected error, whose text may hold a secret."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirection: the response is then an error."""


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Convert errors of the body to `Undelivered`, without the originals: they may hold the URL."""
    try:
        yield
    except HTTPError as error:
        answer_text = _answer(error)
        reason = f"answered {error.code} {error.reason}{': ' if answer_text else ''}{answer_text}"
    except smtplib.SMTPResponseException as error:
        answer = error.smtp_error
        text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
        reason = f"answered {error.smtp_code} {text}"
    except smtplib.SMTPRecipientsRefused:
        reason = "every recipient was refused"
    except smtplib.SMTPException as error:
        reason = str(error) or type(error).__name__
    except URLError as error:
        reason = str(error.reason)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
    except (HTTPException, ValueError) as error:
        reason = type(error).__name__
    else:
        return
    raise Undelivered(f"{where}: {shown(reason)}") from None


def _answer(error: HTTPError) -> str:
    """Return the beginning of an error response; empty if it does not arrive."""
    try:
        with error:
            return error.read(_ANSWER).decode("utf-8", "replace").strip()
    except (OSError, HTTPException):
        return ""
