"""The `log_format` of nginx and the `LogFormat` of Apache, converted to a layout.

In: the directive as it stands in the server's configuration. Out: a `Layout`: which variable is
which field, and how fields are delimited. Not here: dividing lines (`tokenize`), formats that have
names (`known_formats`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from temporal_assets.logs.fields.layouts import SKIP, Kind, Layout, Slot
from temporal_assets.logs.formats.columns import ColumnsError, require


class ServerFormatError(ValueError):
    """A log format cannot be read as fields; the message says why and what to do."""


_NGINX: Final = {
    "$remote_addr": Slot.ADDRESS,
    "$the_real_ip": Slot.ADDRESS,
    "$remote_addr:$remote_port": Slot.ADDRESS,
    "$proxy_protocol_addr": Slot.FORWARDED,
    "$http_x_forwarded_for": Slot.FORWARDED,
    "$proxy_add_x_forwarded_for": Slot.FORWARDED,
    "$http_x_real_ip": Slot.FORWARDED,
    "$http_true_client_ip": Slot.FORWARDED,
    "$http_cf_connecting_ip": Slot.FORWARDED,
    "$time_local": Slot.TIME,
    "$time_iso8601": Slot.TIME,
    "$msec": Slot.TIME,
    "$request": Slot.REQUEST,
    "$request_method $request_uri $server_protocol": Slot.REQUEST,
    "$request_method": Slot.METHOD,
    "$request_uri": Slot.TARGET,
    "$uri": Slot.TARGET,
    "$uri$is_args$args": Slot.TARGET,
    "$scheme://$host$request_uri": Slot.TARGET,
    "$scheme://$http_host$request_uri": Slot.TARGET,
    "$host": Slot.HOST,
    "$http_host": Slot.HOST,
    "$server_name": Slot.HOST,
    "$host:$server_port": Slot.HOST,
    "$http_host:$server_port": Slot.HOST,
    "$server_name:$server_port": Slot.HOST,
    "$scheme": Slot.SCHEME,
    "$status": Slot.STATUS,
    "$http_referer": Slot.REFERRER,
    "$http_user_agent": Slot.AGENT,
}
"""Variables of nginx that fill a whole field of its `log_format`."""

_APACHE: Final = {
    "%h": Slot.ADDRESS,
    "%a": Slot.ADDRESS,
    "%{c}a": Slot.ADDRESS,
    "%a:%{remote}p": Slot.ADDRESS,
    "%{x-forwarded-for}i": Slot.FORWARDED,
    "%{x-real-ip}i": Slot.FORWARDED,
    "%{true-client-ip}i": Slot.FORWARDED,
    "%{cf-connecting-ip}i": Slot.FORWARDED,
    "%t": Slot.TIME,
    "%{sec}t": Slot.TIME,
    "%{msec}t": Slot.TIME,
    "%{usec}t": Slot.TIME,
    "%r": Slot.REQUEST,
    "%m %U%q %H": Slot.REQUEST,
    "%m": Slot.METHOD,
    "%U": Slot.TARGET,
    "%U%q": Slot.TARGET,
    "%v": Slot.HOST,
    "%V": Slot.HOST,
    "%v:%p": Slot.HOST,
    "%V:%p": Slot.HOST,
    "%{host}i": Slot.HOST,
    "%{host}i:%p": Slot.HOST,
    "%s": Slot.STATUS,
    "%{referer}i": Slot.REFERRER,
    "%{user-agent}i": Slot.AGENT,
}
"""Variables of Apache that fill a whole field; header names in lower case, without conditions."""

_VARIABLES: Final = {"nginx": _NGINX, "apache": _APACHE}

_USERS: Final = ("$remote_user", "%u")
"""Variables for the user, which may hold spaces."""
_BLANK_WITHIN: Final = ("$time_local", "%t")
_IN_BRACKETS: Final = "%t"
"""Variable that Apache writes with brackets of its own."""

_NEEDED: Final = (Slot.TIME, Slot.ADDRESS, Slot.REQUEST, Slot.TARGET, Slot.STATUS)
"""Fields that lines must have; of what follows these, lines may have less."""

_FIELD: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|(?:%[^{%\s]*\{[^}]*\}|[^\s"\[\]])+')
"""Expression for a field of a directive: quoted, in brackets, or a word."""
_STRFTIME: Final = re.compile(r"%\{[^}]*%[^}]*\}t(?:[., ]?%\{[^}]*\}t)*")
"""Expression for a time in parts: `strftime` has no milliseconds, and Apache adds its own."""
_CLOCK: Final = re.compile(r"%[HIMSTRXcrs]|\{(?:begin:|end:)?(?:sec|msec|usec)")
"""Directives of `strftime` for the time of a day; a field without any is a date."""
_WITH_PORT: Final = (":$remote_port", ":%{remote}p")
_CONDITION: Final = re.compile(r"%[<>!0-9,]+(?=[{a-zA-Z])")
"""Expression for Apache's conditions on the status, which change no field."""
_HEADER: Final = re.compile(r"%\{[A-Za-z-]+\}i")
_BRACES: Final = re.compile(r"\$\{(\w+)\}")

_NGINX_LINE: Final = re.compile(
    r"\s*log_format\s+\S+\s+(?:escape=\w+\s+)?(?P<quote>[\"']?)(?P<format>.*?)(?P=quote)\s*;?\s*",
    re.DOTALL,
)
_APACHE_LINE: Final = re.compile(r'\s*LogFormat\s+"(?P<format>.*)"(?:\s+\S+)?\s*', re.DOTALL)
_SEAMS: Final = {quote: re.compile(rf"(?<!\\){quote}\s+{quote}") for quote in ("'", '"')}
"""Expressions for the gaps between the strings of a directive, which nginx joins, by their
quotes."""

_NICKNAME: Final = re.compile(r"[\w-]+")
"""Expression for the name of a format instead of the format."""

_INSTEAD: Final = "describe the lines with `regex:` instead (docs/log-formats.md)"


def layout_of(server: str, directive: str) -> Layout:
    """Return the layout of lines that a server writes with the given directive.

    `server` is nginx or apache. Raises `ServerFormatError`.
    """
    text = _unwrapped(directive).replace('\\"', '"').replace("\\t", "\t")
    if text.startswith("{"):
        raise ServerFormatError("these are JSON lines: use `jsonl` and `columns`")
    if _NICKNAME.fullmatch(text):
        raise ServerFormatError(
            f"`{text}` is the name of a format: give the format itself (or --format {text}, where"
            " it has that name in docs/log-formats.md)"
        )
    fields_found = list(_FIELD.finditer(text))
    fields = [field[0] for field in fields_found]
    if re.sub(r"\s", "", text) != re.sub(r"\s", "", "".join(fields)):
        raise ServerFormatError(f"quotes and brackets do not delimit fields: {_INSTEAD}")
    gaps = [text[a.end() : b.start()] for a, b in pairwise(fields_found)]
    slots = [_slot(server, field) for field in fields]
    if Slot.ADDRESS not in slots:
        # What a proxy says of the visitor is all there is.
        slots = [Slot.ADDRESS if slot is Slot.FORWARDED else slot for slot in slots]
    try:
        require([slot for slot in slots if slot is not None])
    except ColumnsError as error:
        what = str(error).removeprefix("columns: ")
        raise ServerFormatError(f"the log format says too little: {what}") from None
    # What follows the last field that is used may be anything.
    used = max(i for i, slot in enumerate(slots) if slot is not None) + 1
    if "" in gaps[: used - 1]:
        i = gaps.index("")
        raise ServerFormatError(f"nothing parts `{fields[i]}` and `{fields[i + 1]}`: {_INSTEAD}")
    kinds = [_kind(fields, i) for i in range(used)]
    needed = max(i for i, slot in enumerate(slots) if slot in _NEEDED) + 1
    form = Layout(
        kinds=tuple(int(kind) for kind in kinds),
        slots=tuple(SKIP if slot is None else int(slot) for slot in slots[:used]),
        required=needed,
        collapse=any(len(gap) > 1 for gap in gaps) and "\t" not in text,
        escaped=True,
        has_ports=any(field.endswith(_WITH_PORT) for field in map(_inside, fields)),
    )
    return replace(form, separator=b"\t") if "\t" in text else form


def _unwrapped(directive: str) -> str:
    """Return the format alone, also from whole lines of a configuration file."""
    nginx = _NGINX_LINE.fullmatch(directive)
    apache = _APACHE_LINE.fullmatch(directive)
    if nginx and nginx["quote"]:
        return _SEAMS[nginx["quote"]].sub("", nginx["format"])
    if nginx:
        return nginx["format"]
    return apache["format"].strip() if apache else directive.strip().strip("'")


def _slot(server: str, field: str) -> Slot | None:
    """Return the field of a part of the directive, or None if it is not needed."""
    content = _BRACES.sub(r"$\1", _inside(field))
    content = _HEADER.sub(lambda match: match[0].lower(), _CONDITION.sub("%", content))
    is_written = server == "apache" and _STRFTIME.fullmatch(content) is not None
    has_blank = content in _BLANK_WITHIN or (is_written and " " in content)
    if has_blank and field == content and content != _IN_BRACKETS:
        raise ServerFormatError(f"`{content}` has a blank and nothing around it: {_INSTEAD}")
    if is_written:
        return Slot.TIME if _CLOCK.search(content) else Slot.DATE
    return _VARIABLES[server].get(content)


def _inside(field: str) -> str:
    return field[1:-1] if field[0] in '"[' else field


def _kind(fields: list[str], i: int) -> Kind:
    field = fields[i]
    if field[0] == '"':
        return Kind.QUOTED
    if field[0] == "[" or field == _IN_BRACKETS:
        return Kind.BRACKETED
    before_brackets = i + 1 < len(fields) and _kind(fields, i + 1) is Kind.BRACKETED
    return Kind.USER if field in _USERS and before_brackets else Kind.WORD
