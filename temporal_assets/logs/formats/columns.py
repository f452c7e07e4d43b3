"""The mapping from our field names to the columns, JSON paths or groups of a user's log.

In: the `columns` of a source's settings, and the columns that a log has. Out: the column of each
field, or an error that says which columns exist and which options to try; usual names of columns
need no settings. Not here: reading the columns (`tables`, `structured`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from temporal_assets.logs.fields.layouts import COLUMN_NAMES, COUNTS, Slot

_NAME: Final = re.compile(r"(?!.*://)@?[^\W\d][\w .:()\[\]/@-]{0,63}")
"""Expression for names that a column may have, unlike values (addresses, times, URLs)."""

_KNOWN: Final[Mapping[Slot, str]] = {
    Slot.TIME: "time timestamp ts datetime eventtime eventtimestamp visittime accesstime servertime"
    " starttime clicktimestamp clicktime timeiso8601 timelocal timemicros edgestarttimestamp"
    " collectortstamp timeunixnano date",
    # Of several the first tells most: addresses are shared, a `cookie` may be all of the header,
    # and users are only those who are known.
    Slot.ADDRESS: "address visitor visitorid clientid anonymousid userpseudoid domainuserid"
    " cookieid deviceid client clientip cip remoteaddr remoteip clientaddress remotehost requestip"
    " ip ipaddress sourceip cookie user userid uid",
    Slot.TARGET: "url target urlfull pageurl pagelocation requesturl requesturi clientrequesturi"
    " uri fullurl csuristem csuri requestpath urlpath pagepath path page",
    Slot.QUERY: "query querystring urlquery csuriquery",
    Slot.REQUEST: "request",
    Slot.REFERRER: "referrer referer httpreferrer httpreferer requestreferer clientrequestreferer"
    " csreferer pagereferrer httprequestheaderreferer referrerurl refererurl refurl ref"
    " previousurl",
    # Beside the name the visitor asked for, CloudFront's `host` is the distribution's own.
    Slot.HOST: "xhostheader hostheader host httphost requesthost clientrequesthost serveraddress"
    " cshost vhost domain",
    Slot.SCHEME: "scheme requestscheme urlscheme clientrequestscheme",
    Slot.STATUS: "status statuscode httpresponsestatuscode httpstatus httpstatuscode responsecode"
    " responsestatus edgeresponsestatus scstatus",
    Slot.METHOD: "method httpmethod httprequestmethod requestmethod clientrequestmethod csmethod",
    Slot.AGENT: "agent useragent useragentoriginal httpuseragent requestuseragent"
    " clientrequestuseragent csuseragent",
    Slot.FORWARDED: "forwarded xforwardedfor httpxforwardedfor",
}
"""Usual names of our fields in tables, in lower case and without punctuation; the first that exists
is taken. Machines have a `hostname` and requests a `request_time`: these are something else."""

_COUNTED: Final[Mapping[Slot, str]] = {
    # Visitors of a page and day are what a view is; a page may be opened often by one of them.
    Slot.VISITORS: "visitors uniquevisitors uniqvisitors nbuniqvisitors activeusers totalusers"
    " users",
    Slot.VIEWS: "uniquepageviews nbvisits views pageviews screenpageviews nbhits hits requests"
    " edgerequests alledgehits edgehits edgehitssum totalviews viewcount visits sessions"
    " impressions count clicks n",
    Slot.TRANSITS: "transits transitions",
    Slot.TIME: "day datehour hour visitdate reportdate",
    Slot.TARGET: "metadataurl pagepathandscreenclass pagepathplusquerystring pathname pageurls"
    " fullpageurl hostnameurl label",
    Slot.HOST: "hostname",
}
"""Further names in tables without clients, for numbers of views and what they count."""

_SHOWN_FIELDS: Final = (Slot.TIME, Slot.ADDRESS, Slot.TARGET, Slot.REFERRER, *sorted(COUNTS))

_PART: Final = re.compile(r"\{([^{}]+)\}")
"""Expression for a column in a template, in braces."""
_JOINED: Final = (Slot.TARGET, Slot.REFERRER, Slot.HOST, Slot.AGENT)
"""Fields that may be joined from several columns."""

_OWN_TIME: Final = "time"
"""Name of a column of times of day: only beside it is `date` a part of the time."""


class ColumnsError(ValueError):
    """Error: the column mapping does not fit; the message says which names would."""


def parts_of(name: str) -> tuple[str, ...]:
    """Return the columns that a template joins; none if the text is the name of one column."""
    return tuple(_PART.findall(name))


def pieces_of(template: str) -> list[tuple[bool, str]]:
    """Return the pieces of a template in order, as (is a column, name or text)."""
    pieces = _PART.split(template)
    return [(bool(i % 2), piece) for i, piece in enumerate(pieces) if piece]


def templates(columns: Mapping[str, str]) -> dict[Slot, str]:
    """Return the fields that are joined from several columns, with their templates."""
    return {COLUMN_NAMES[field]: name for field, name in columns.items() if parts_of(name)}


def with_first_parts(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping with each template replaced by its first column."""
    return {field: next(iter(parts_of(name)), name) for field, name in columns.items()}


def _all_columns(columns: Mapping[str, str]) -> set[str]:
    return {part for name in columns.values() for part in parts_of(name) or (name,)}


def mapped(columns: Mapping[str, str], present: Iterable[str]) -> dict[str, str]:
    """Return the column of each field: as mapped, or else a column with a usual name."""
    named = {COLUMN_NAMES[field] for field in columns if field in COLUMN_NAMES}
    if not lacking(named):
        return dict(columns)
    free = set(present) - _all_columns(columns)
    # What is called just like a field of ours is meant, whatever else may be.
    names = {_plain(name): name for name in sorted(free, key=lambda n: (n in COLUMN_NAMES, n))}
    mapping = {
        slot.name.lower(): names[option]
        for slot, options in _KNOWN.items()
        if slot not in named and (option := next(filter(names.__contains__, options.split()), None))
    }
    if is_counted(named):
        mapping.pop("address", None)
    if Slot.ADDRESS not in {COLUMN_NAMES[field] for field in mapping} | named:
        mapping = {**mapping, **_counted(names, named | {COLUMN_NAMES[name] for name in mapping})}
    if "date" in names and _OWN_TIME in names and mapping.get("time") == names[_OWN_TIME]:
        mapping["date"] = names["date"]
    return {**mapping, **columns}


def _counted(names: Mapping[str, str], named: Collection[Slot]) -> dict[str, str]:
    """Return the columns of a table of counts, except for fields in `named`."""
    counted = {
        slot: names[option]
        for slot, options in _COUNTED.items()
        if slot not in named and (option := next(filter(names.__contains__, options.split()), None))
    }
    if not is_counted(counted.keys() | named):
        return {}
    return {slot.name.lower(): name for slot, name in counted.items()}


def suggested(values: Mapping[str, Sequence[str]]) -> str:
    """Return options for columns, inferred from their values; none if too little is certain.

    Wrong advice is worse than none: only unambiguous columns are suggested. A column of URLs that
    is always filled is the page, and one with gaps is where visitors came from.
    """
    rows = max(map(len, values.values()), default=0)
    present = {name: [v for v in column if v not in _NOTHING] for name, column in values.items()}
    alike = {
        field: [name for name, some in present.items() if some and all(map(look.match, some))]
        for field, look in _LOOKS.items()
    }
    full = [name for name in alike["target"] if len(present[name]) == rows]
    pages = [name for name in full if not any(_is_cut(present, name, other) for other in full)]
    if not alike["time"] or len(alike["address"]) != 1 or len(pages) != 1:
        return ""
    gaps = [name for name in alike["target"] if name not in full]
    suggestions = {"time": alike["time"][0], "address": alike["address"][0], "target": pages[0]}
    suggestions |= {"referrer": gaps[0]} if len(gaps) == 1 else {}
    rest = ["agent", "method", "status"]
    rest += ["host"] if present[pages[0]][0].startswith("/") else []
    suggestions |= {field: alike[field][0] for field in rest if len(alike[field]) == 1}
    return " ".join(
        f"--column {shlex.quote(f'{field}={name}')}" for field, name in suggestions.items()
    )


def suggested_by_names(
    columns: Mapping[str, str],
    present: Collection[str],
    values: Mapping[str, Sequence[str]],
    *,
    has_prefix: bool,
) -> str:
    """Return options for the fields that a table lacks; empty unless each fits one column.

    A field fits a column by its name, or else by its values. Pages are often named by an identifier
    (`itemid`), which needs the beginning of its URL, unless it is given (`has_prefix`).
    """
    recognised = mapped(columns, present)
    absent = lacking({COLUMN_NAMES[field] for field in recognised})
    free = [name for name in present if name and name not in _all_columns(recognised)]
    options = []
    for field, words in _SPOKEN.items():
        if not any(lack.startswith(field) for lack in absent):
            continue
        alike = [name for name in free if _speaks(name, words)]
        alike = alike or [name for name in free if _looks(values.get(name, ()), field)]
        is_page = field == "target" and not alike
        identifiers = [name for name in free if is_page and _speaks(name, _ITEMS)]
        if len(alike or identifiers) != 1:
            return ""
        (name,) = alike or identifiers
        options.append(f"--column {shlex.quote(f'{field}={name}')}")
        if identifiers and not has_prefix:
            kind = next(word for word in _ITEMS.split() if word in _plain(name))
            options.append(f"--url-prefix https://www.example.com/{kind}/")
    return " ".join(options)


def _looks(values: Sequence[str], field: str) -> bool:
    """Return True if a column has a value on every line, and all look like the field's."""
    return bool(values) and all(map(_LOOKS[field].match, values))


def _speaks(name: str, words: str) -> bool:
    """Return True if a column's name contains one of the words, and none of `_OTHERWISE`."""
    plain = _plain(name)
    named = any(word in plain for word in words.split())
    return named and not any(word in plain for word in _OTHERWISE.split())


_SPOKEN: Final = {
    "time": "time date stamp",
    "address": "user visitor client session cookie uuid device member reader customer anon"
    " besucher nutzer kunde visiteur utilisateur visitante usuario",
    "target": "url uri link",
}
"""Words in names of columns that indicate a field."""

_ITEMS: Final = "item article document news story post content product video page accession"
"""Words in names of columns that indicate an identifier of a page."""

_OTHERWISE: Final = (
    "read active dwell load response elapsed spent duration publi creat update ref image agent type"
    " name count previous"
)
"""Words in names of columns that indicate something else, such as how long a page was read."""


def _is_cut(present: Mapping[str, Sequence[str]], name: str, other: str) -> bool:
    """Return True if a column has only the beginning of another one: a path without query."""
    pairs = zip(present[name], present[other], strict=True)
    return present[name] != present[other] and all(whole.startswith(cut) for cut, whole in pairs)


_NOTHING: Final = ("", "-")
"""Values that stand for none."""

_LOOKS: Final = {
    "time": re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:|\d\d\.\d\d\.\d{4} \d\d:"
        r"|1\d{9}(\.\d+)?$|1\d{12}$|1\d{15}$|\d{1,2}/\d{1,2}/\d{4},? \d{1,2}:\d\d"
    ),
    "address": re.compile(r"(\d{1,3}\.){3}\d{1,3}$|[0-9a-f]{1,4}:[0-9a-f:]+$"),
    "target": re.compile(r"https?://|/"),
    "agent": re.compile(r"Mozilla/\d|Opera/\d|[A-Za-z][\w.-]*/\d|[A-Z][\w.-]*[ ;]"),
    "host": re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?$"),
    "method": re.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$"),
    "status": re.compile(r"[1-5]\d\d$"),
}
"""Expressions for values, by their field."""


def by_number(columns: Mapping[str, str]) -> bool:
    """Return True if columns are named by position, from 1: the first line is then a record."""
    return bool(columns) and all(name.isdecimal() for name in _all_columns(columns))


def numbers(count: int) -> tuple[str, ...]:
    """Return the names of `count` columns that are named by position."""
    return tuple(str(number + 1) for number in range(count))


def look_like_names(names: Collection[str]) -> bool:
    """Return True if all texts may be shown as names: values of a record must not be shown.

    The first may be empty: it often is the number of a row.
    """
    first, *others = names or ("",)
    named = [first, *others] if first else others
    return bool(named) and all(_NAME.fullmatch(name) for name in named)


def renamed_columns(columns: Mapping[str, str]) -> str:
    """Return `field=name, ...` of the columns used whose names differ from our fields'."""
    pairs = (
        f"{field}={name}"
        for field, name in columns.items()
        if COLUMN_NAMES[field] in _SHOWN_FIELDS and name not in COLUMN_NAMES
    )
    return ", ".join(pairs)


def check(columns: Mapping[str, str]) -> None:
    """Raise `ColumnsError` for unknown fields."""
    unknown = sorted(set(columns) - set(COLUMN_NAMES))
    if unknown:
        raise ColumnsError(
            f"columns: unknown field {', '.join(unknown)}; known are {', '.join(COLUMN_NAMES)}"
        )
    for slot, template in templates(columns).items():
        if slot not in _JOINED:
            allowed = ", ".join(joined_slot.name.lower() for joined_slot in _JOINED)
            raise ColumnsError(f"columns: {template} joins columns, which only {allowed} can be of")


def slots_of(
    columns: Mapping[str, str], present: Collection[str] | None, *, is_dated: bool = False
) -> dict[Slot, str]:
    """Return the column of each slot. Raises `ColumnsError` for unknown fields or columns.

    Columns are only checked if `present` is given; `is_dated` as for `require`.
    """
    check(columns)
    if present is not None:
        missing = sorted(_all_columns(columns) - set(present))
        if missing:
            raise ColumnsError(
                f"columns: the log has no {', '.join(missing)}; {_what_there_is(present)}"
            )
    slots = {COLUMN_NAMES[name]: column for name, column in columns.items()}
    hint = "" if present is None else f"; {_what_there_is(present)}"
    require(slots, hint, is_dated=is_dated)
    return slots


def require(slots: Collection[Slot], hint: str = "", *, is_dated: bool = False) -> None:
    """Raise unless time, address and target exist; `hint` describes what the log has.

    Counts need no address, and no time where the whole file `is_dated`.
    """
    absent = lacking(slots)
    if is_dated and is_counted(slots) and absent == ["time"]:
        return
    if absent:
        raise ColumnsError(f"columns: nothing is named for {', '.join(absent)}{hint}")


def lacking(slots: Collection[Slot]) -> list[str]:
    """Return the missing fields that a log needs, as people name them."""
    absent = [] if Slot.TIME in slots else ["time"]
    if Slot.ADDRESS not in slots and not is_counted(slots):
        absent.append("address")
    if Slot.TARGET not in slots and Slot.REQUEST not in slots:
        absent.append("target (or url, or request)")
    return absent


def is_counted(slots: Collection[Slot]) -> bool:
    """Return True if rows with these fields are counts, each of which stands for many requests."""
    return not COUNTS.isdisjoint(slots)


def with_dates_apart(slots: Mapping[Slot, str]) -> dict[Slot, str]:
    """Return the fields with the time of counts as a date, which usually has no time of day."""
    if not is_counted(slots) or Slot.TIME not in slots:
        return dict(slots)
    return {Slot.DATE if slot is Slot.TIME else slot: name for slot, name in slots.items()}


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _what_there_is(present: Collection[str]) -> str:
    """Return the columns that a table has in words, and what to do about it."""
    if present and set(present) == set(numbers(len(present))):
        return f"it has {len(present)}"
    if look_like_names(present):
        return f"it has {', '.join(filter(None, present))}; say which is meant: --column FIELD=NAME"
    return (
        "its first line does not look like column names: add a line that names them, or give their"
        " numbers (--column time=1 --column address=2 --column url=3)"
    )
