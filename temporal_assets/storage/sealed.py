"""JSON records with a digest of their own fields, so that damage is noticed.

A flipped bit mostly leaves valid JSON: another day, another digest, an unknown key. The digest then
no longer matches, and the record counts as damaged. Records of older versions have no digest, and
are believed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

_SEAL: Final = "record_digest"


def digest_of(value: Any) -> str:
    """Return a short stable digest of any JSON value."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sealed(fields: Mapping[str, Any]) -> str:
    """Return the text of a record with its digest. Raises `ValueError` for a field of that name."""
    if _SEAL in fields:
        raise ValueError(f"a record has no field {_SEAL!r} of its own")
    # As they will be read: keys of objects become texts, and are then sorted as such.
    plain = json.loads(json.dumps(fields))
    return json.dumps(plain | {_SEAL: digest_of(plain)}, indent=1, sort_keys=True)


def is_as_written(text: str | bytes) -> bool:
    """Return True if a text is, to the last byte, what `sealed` returned; True without a digest."""
    content = text.encode() if isinstance(text, str) else text
    try:
        fields = json.loads(content)
        if _SEAL not in fields:
            return not any(map(_is_damaged_seal, fields))
        return sealed(unsealed(content)).encode() == content
    except (ValueError, TypeError, RecursionError):
        return False


def _is_damaged_seal(name: str) -> bool:
    different = sum(a != b for a, b in zip(name, _SEAL, strict=False))
    return len(name) == len(_SEAL) and different == 1


def unsealed(text: str | bytes) -> dict[str, Any]:
    """Return the fields of a record. Raises `ValueError` if its digest does not match."""
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError("it is no record")
    if _SEAL in fields and fields.pop(_SEAL) != digest_of(fields):
        raise ValueError("it is not what was written")
    return fields
