"""Inference of the fields of log lines from their values in a sample.

In: sample lines. Out: the `log_format` of nginx or Apache that would write such lines, and
sentences on doubtful fields. Servers are often configured to write a known format with a few more
fields. Their positions and meaning differ from server to server; values look the same everywhere.

Not here: dividing lines (`line_fields`), recognising values (`value_kinds`), what each column is
(`column_roles`), choosing between this and a format with a name (`detection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from temporal_assets.logs.detect.column_roles import ColumnRoles
from temporal_assets.logs.detect.line_fields import (
    Delimiter,
    SampleColumn,
    are_parted_by_tabs,
    common_shape,
    has_shape,
    outside_quotes,
    tokens,
)
from temporal_assets.logs.detect.value_kinds import NUMBER, PORT, fully
from temporal_assets.logs.fields.layouts import Slot

_LONGEST: Final = 8192
"""Length above which a sample line is ignored."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """A log format that was inferred from values."""

    directive: str
    """The format as `nginx:…` or `apache:…`, as it can be given for a source."""
    doubts: tuple[str, ...] = ()
    """Sentences on ambiguous fields."""


def infer(sample: bytes, host: str | None = None) -> Inferred | None:
    """Return the format that the values of some lines indicate; None if too little is known.

    With `host`, which a person has named, a field counts as the host only if it has that value.
    """
    lines = [line.rstrip(b"\r") for line in sample.split(b"\n") if line.strip()]
    lines = [line for line in lines if len(line) <= _LONGEST]
    separator = b"\t" if are_parted_by_tabs(lines) else b" "
    rows = [row for line in lines if (row := list(tokens(line, separator)))]
    shape = common_shape(rows, len(lines))
    if shape is None:
        return None
    alike = [row for row in rows if has_shape(row, shape)]
    columns = [
        SampleColumn(i, kind, tuple(row[i][1] for row in alike)) for i, kind in enumerate(shape)
    ]
    roles = ColumnRoles(columns, host.encode() if host else None)
    if not roles.are_enough():
        return None
    is_padded = separator == b" " and any(b"  " in outside_quotes(line) for line in lines)
    return Inferred(_directive(columns, roles, separator, is_padded), tuple(roles.doubts))


_NGINX: Final = {
    Slot.TIME: "$time_iso8601",
    Slot.ADDRESS: "$remote_addr",
    Slot.FORWARDED: "$http_x_forwarded_for",
    Slot.REQUEST: "$request",
    Slot.METHOD: "$request_method",
    Slot.TARGET: "$request_uri",
    Slot.HOST: "$host",
    Slot.SCHEME: "$scheme",
    Slot.STATUS: "$status",
    Slot.REFERRER: "$http_referer",
    Slot.AGENT: "$http_user_agent",
}
"""Variable of nginx for each field."""

_APACHE: Final = {
    Slot.DATE: "%{%Y-%m-%d}t",
    Slot.TIME: "%{%H:%M:%S}t",
    Slot.ADDRESS: "%a",
    Slot.FORWARDED: "%{X-Forwarded-For}i",
    Slot.REQUEST: "%r",
    Slot.METHOD: "%m",
    Slot.TARGET: "%U%q",
    Slot.HOST: "%V",
    Slot.STATUS: "%>s",
    Slot.REFERRER: "%{Referer}i",
    Slot.AGENT: "%{User-Agent}i",
}
"""Directive of Apache for each field."""


def _directive(
    columns: Sequence[SampleColumn], roles: ColumnRoles, separator: bytes, is_padded: bool
) -> str:
    """Return the inferred format as a directive of nginx or Apache, without any value."""
    is_dated = Slot.DATE in roles.of.values()
    server, names = ("apache", _APACHE) if is_dated else ("nginx", _NGINX)
    last = max(roles.of)
    parts = []
    for column in columns[: last + 1]:
        slot = roles.of.get(column.index)
        name = "-" if slot is None else _name(column, slot, names)
        before_brackets = (
            column.index < last and columns[column.index + 1].kind is Delimiter.BRACKETS
        )
        if slot is None and before_brackets and column.kind is Delimiter.WORD and column.index:
            name = "%u" if is_dated else "$remote_user"
        parts.append(column.kind.value.format(name))
    if separator == b"\t":
        return f"{server}:" + "\\t".join(parts)
    gap = "  " if is_padded else " "  # any run of blanks separates
    return f"{server}:" + gap.join((parts[0], " ".join(parts[1:])))


def _name(column: SampleColumn, slot: Slot, names: dict[Slot, str]) -> str:
    """Return the variable of the server for a field; for times there are several."""
    if slot is Slot.ADDRESS and _has_ports(column):
        return "$remote_addr:$remote_port" if names is _NGINX else "%a:%{remote}p"
    if slot is Slot.TIME and names is _NGINX:
        if column.is_mostly(fully(NUMBER)):
            return "$msec"
        if column.kind is not Delimiter.WORD:
            return "$time_local"
    return names.get(slot, "-")


def _has_ports(column: SampleColumn) -> bool:
    """Return True if a port follows every IPv4 address; with IPv6 alone that cannot be decided."""
    dotted = [value for value in column.filled if b"." in value]
    return bool(dotted) and all(map(fully(PORT), dotted))
