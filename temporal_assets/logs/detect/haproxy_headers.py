"""Recognition of the host, the referrer and the agent among headers that HAProxy captured.

In: sample lines of HAProxy with captured headers, `{www.example.com|https://…}`. Out: a pattern
with named groups that reads them. HAProxy does not log which headers it captures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from temporal_assets.logs.detect.value_kinds import is_agent, is_host, is_url

_HAPROXY: Final = re.compile(
    rb"(?:.* )?\S+:\d+ \[[^\]]+\] \S+ \S+ \S+ -?\d+ \S+ \S+ \S+ \S+ \S+ \S+"
    rb" \{(.*?)\}(?: \{.*?\})? \"[^\"]*\"?"
)
"""Expression for a line of HAProxy with captured headers, separated by bars."""

_HAPROXY_BEFORE: Final = (
    r"(?:.* )?(?P<address>\S+):\d+ \[(?P<time>[^\]]+)\] \S+ \S+ \S+ (?P<status>-?\d+)"
    r" \S+ \S+ \S+ \S+ \S+ \S+"
)
"""Beginning of the pattern: what HAProxy logs before the captured headers."""


def captured(lines: bytes, host: str) -> str | None:
    """Return a pattern for HAProxy lines with captured headers, `{host|referrer|agent}`.

    None if neither a host was captured, nor referrers for a known `host`: nothing else is worth a
    pattern, which Python matches slowly.
    """
    matches = [match for line in lines.splitlines() if (match := _HAPROXY.match(line))]
    rows = [match[1].split(b"|") for match in matches]
    sizes = Counter(map(len, rows))
    if not rows or sizes.most_common(1)[0][1] < len(rows):
        return None  # a bar within a header moves those behind it
    slots = [_slot_of(column) for column in zip(*rows, strict=True)]
    if slots.count("host") != 1 and not (host and slots.count("referrer") == 1):
        return None
    groups = [
        "[^|]*?" if slot is None or slots.count(slot) > 1 else f"(?P<{slot}>[^|]*?)"
        for slot in slots
    ]
    headers = r"\|".join(groups)
    return rf'{_HAPROXY_BEFORE} \{{{headers}\}}(?: \{{.*?\}})? "(?P<request>[^"]*)'


def _slot_of(values: Sequence[bytes]) -> str | None:
    """Return the field that all values of a captured header are, or None."""
    filled = [value for value in values if value not in (b"", b"-")]
    looks = (("host", is_host), ("referrer", is_url), ("agent", is_agent))
    return next((name for name, is_one in looks if filled and all(map(is_one, filled))), None)
