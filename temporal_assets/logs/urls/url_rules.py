"""Rules that users may choose for canonical URLs: the scheme, and which query keys are dropped.

In: the settings of cleaning. Out: `UrlRules`, with the lists of session, tracking and address keys.
Not here: applying the rules (`canonical`). The lists are explained in docs/canonical-urls.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import can_ada
import numpy as np
from numpy.typing import NDArray

from temporal_assets.logs.urls.escapes import normalise

if TYPE_CHECKING:
    from temporal_assets.settings import Cleaning

Scheme = Literal["https", "http", "keep"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SESSION_KEYS: Final = _names(
    "phpsessid phpsessionid jsessionid aspsessionid* asp.net_sessionid sid session_id sessionid "
    "cfid cftoken oscsid zenid xtcsid"
)
"""Query keys that name one visit, not one page. A trailing `*` stands for any continuation of the
name."""

TRACKING_KEYS: Final = _names(
    "utm_* mtm_* pk_campaign pk_kwd pk_source pk_medium pk_content pk_cid piwik_campaign piwik_kwd "
    "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl "
    "fbclid fb_action_ids fb_action_types fb_source fb_ref igshid igsh "
    "msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik ref_src ref_url "
    "mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking "
    "vero_id oly_anon_id oly_enc_id"
)
"""Query keys that say how a visitor came (campaigns, advertisements, newsletters)."""

ADDRESS_KEYS: Final = _names("ip ipaddr ip_address client_ip clientip remote_addr user_ip")
"""Query keys that hold the visitor's address, which must not be stored (docs/privacy.md)."""

PATH_PARAMETERS: Final = frozenset(("jsessionid", "sid", "phpsessid"))
"""Session keys that servers also write into the path, as `/page;jsessionid=1`."""

_NUMBERED_KEY: Final = "sid"
_RECORD_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:(?:[/.-]|%2F)[0-9]{1,12})*", re.ASCII)
"""`sid` is a session to forums but the number of a story to PHP-Nuke (`sid=1234`) and Slashdot
(`sid=03/04/05/1234`); dropping it there would make one page of all their news. Tokens of
sessions have letters in them."""


def _any_key(keys: frozenset[str]) -> str:
    """Return an expression for key names; `(?!)`, which matches nothing, if there are none."""
    return f"(?:{'|'.join(map(_key_pattern, sorted(keys))) or '(?!)'})"


def _key_pattern(key: str) -> str:
    return re.escape(_key_text(key)) + (".*" if key.endswith("*") else "")


def _key_text(key: str) -> str:
    """Return a key without its asterisk, as the WHATWG parser and `normalise` leave it."""
    query = can_ada.parse(f"https://host/?{key.removesuffix('*').replace('#', '%23')}").search
    return normalise(query.removeprefix("?"))


TABLE_SIZE: Final = 1 << 14
"""Size of the hash table of the names of dropped keys, a Bloom filter with one hash. With a hundred
names, one in 150 others is a false positive."""

_KEYS_REMEMBERED: Final = 1024
"""Names of query keys that are remembered: a site has some dozens, and a log repeats them."""

NAME: Final = 1
"""Bit in the table for the hash of a whole name."""
BEGINNING: Final = 2
"""Bit in the table for the hash of the beginning of a name, of a key with a `*`."""

FNV_BASIS: Final = np.uint64(0xCBF29CE484222325)
FNV_PRIME: Final = np.uint64(0x100000001B3)
"""Constants of the FNV-1a hash, which loops compute in the same way (`plain_urls`)."""


def _suspects(keys: frozenset[str]) -> NDArray[np.uint8]:
    """Return the hash table of key names and of the beginnings of names with a `*`."""
    table = np.zeros(TABLE_SIZE, np.uint8)
    for key in keys:
        state = int(FNV_BASIS)
        for byte in _key_text(key).lower().encode():
            state = (state ^ byte) * int(FNV_PRIME) & (1 << 64) - 1
        table[state & (TABLE_SIZE - 1)] |= BEGINNING if key.endswith("*") else NAME
    return table


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Rules of canonical URLs that users may choose."""

    scheme: Scheme = "https"
    """The scheme all pages are stored under."""
    dropped_keys: frozenset[str] = SESSION_KEYS | TRACKING_KEYS | ADDRESS_KEYS
    """Query keys, any case. A trailing `*` stands for any continuation of the name."""
    kept_keys: frozenset[str] = frozenset()
    """Exceptions to `dropped_keys`, written in the same way."""

    _dropped: Callable[[str], re.Match[str] | None] = field(init=False, repr=False, compare=False)
    _parameters: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _suspects: NDArray[np.uint8] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        exceptions = _any_key(self.kept_keys)
        dropped = f"(?!{exceptions}\\Z){_any_key(self.dropped_keys)}"
        exception = re.compile(exceptions, re.IGNORECASE | re.ASCII)
        parameters = sorted(key for key in PATH_PARAMETERS if not exception.fullmatch(key))
        is_dropped = re.compile(dropped, re.IGNORECASE | re.ASCII).fullmatch
        object.__setattr__(self, "_dropped", lru_cache(_KEYS_REMEMBERED)(is_dropped))
        object.__setattr__(
            self,
            "_parameters",
            re.compile(f";(?:{'|'.join(parameters) or '(?!)'})=[^;/]*", re.IGNORECASE | re.ASCII),
        )
        object.__setattr__(self, "_suspects", _suspects(self.dropped_keys))

    def __reduce__(self) -> tuple[type[UrlRules], tuple[Scheme, frozenset[str], frozenset[str]]]:
        """Return what was chosen.

        What was remembered of keys does not travel to other processes.
        """
        return UrlRules, (self.scheme, self.dropped_keys, self.kept_keys)

    @classmethod
    def from_settings(cls, cleaning: Cleaning) -> UrlRules:
        """Return the built-in list with the user's additions and exceptions."""
        return cls(
            scheme=cleaning.scheme,
            dropped_keys=SESSION_KEYS
            | TRACKING_KEYS
            | ADDRESS_KEYS
            | frozenset(cleaning.drop_query_keys),
            kept_keys=frozenset(cleaning.keep_query_keys),
        )

    def drops(self, key: str, value: str) -> bool:
        """Return True if a query field (in canonical escapes) does not belong to the page."""
        if self._dropped(key) is None:
            return False
        return key.lower() != _NUMBERED_KEY or _RECORD_NUMBER.fullmatch(value) is None

    def without_parameters(self, path: str) -> str:
        """Return the path without session parameters."""
        return self._parameters.sub("", path)


DEFAULT: Final = UrlRules()
"""Rules without any setting of a user."""
