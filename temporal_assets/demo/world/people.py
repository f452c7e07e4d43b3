"""Senders of requests: addresses and user agents of readers, robots and scripts.

What belongs here: tables of clients. What does not: what they request (`visits`).

Client numbers: readers first, then declared robots, then scripts that pretend to be browsers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.demo.world.ragged import Ragged, compose, integers, join, pack, stack

_IPV6_IN: Final = 8
"""Number of readers of whom one comes by IPv6."""

_BENCHMARK_ADDRESSES: Final = 1 << 17
"""Number of addresses in 198.18.0.0/15, reserved for benchmarks (RFC 2544); further readers come
from 10.0.0.0/8."""

ROBOTS: Final = 200
SCRIPTS: Final = 4_000
"""Addresses of robots and scripts, from the ranges reserved for documentation (RFC 5737)."""

READER_AGENTS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/133.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/132.0.0.0 Safari/537.36 Edg/132.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.3 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.3 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/133.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:135.0) Gecko/20100101 Firefox/135.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0",
    'Mozilla/5.0 (X11; "Custom" Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) '
    "Chrome/131.0.0.0 Safari/537.36",
)
"""User agents of readers. One holds quotes, which every format escapes in its own way."""

ROBOT_AGENTS: Final = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "python-requests/2.32.3",
    "curl/8.5.0",
)
"""User agents of robots, all in the public list crawler-user-agents."""

AGENTS: Final = (*READER_AGENTS, *ROBOT_AGENTS)

_AGENT_WEIGHTS: Final = (30, 10, 10, 18, 20, 4, 7, 1)
_AGENT_OF_PERCENT: Final = np.repeat(np.arange(len(READER_AGENTS)), _AGENT_WEIGHTS).astype(np.int16)

_HASH: Final = np.uint64(0x9E3779B97F4A7C15)
"""Multiplier (golden ratio) by which consecutive client numbers get unrelated agents."""


_AT_ONCE: Final = 1 << 20
"""Number of addresses composed at once; intermediate columns need ten times their memory."""


def addresses(clients: int) -> Ragged:
    """Return the address of every client number: readers, robots, scripts."""
    firsts = range(0, clients, _AT_ONCE)
    readers = [
        _readers(np.arange(first, min(first + _AT_ONCE, clients)), clients) for first in firsts
    ]
    robots = pack([b"192.0.2.%d" % (1 + i) for i in range(ROBOTS)])
    scripts = pack([_script_address(i) for i in range(SCRIPTS)])
    return join(*readers, robots, scripts)


def _readers(number: NDArray[np.int64], clients: int) -> Ragged:
    """Return addresses of the readers with the given numbers, of `clients` in all."""
    if clients <= _BENCHMARK_ADDRESSES:
        place = number * 40_503 % _BENCHMARK_ADDRESSES
        octets = [18 + (place >> 16), place >> 8 & 255, place & 255]
        first = b"198."
    else:
        place = number * 1_000_003 % (1 << 24)
        octets = [place >> 16, place >> 8 & 255, place & 255]
        first = b"10."
    decimal = stack(*(integers(octet) for octet in octets))
    by_four = compose(decimal[0].data, decimal, [first, b".", b".", b""])
    digits = pack([b"%x" % value for value in range(1 << 16)])
    parts = [digits.take(1 + number % 65_535), digits.take(1 + number // 65_535)]
    by_six = compose(digits.data, parts, [b"2001:db8::", b":", b""])
    both = join(by_four, by_six)
    order = np.arange(len(number))
    return both.take(np.where(number % _IPV6_IN == 3, order + len(number), order))


def _script_address(i: int) -> bytes:
    """Return the address of the i-th script.

    RFC 5737 leaves 512 more addresses; RFC 3849's IPv6 range gives the rest.
    """
    if i < 250:
        return b"198.51.100.%d" % (1 + i)
    if i < 500:
        return b"203.0.113.%d" % (1 + i - 250)
    return b"2001:db8:b07::%x" % i


def agents_of(client: NDArray[np.integer]) -> NDArray[np.int16]:
    """Return the row of each client's browser, always the same."""
    mixed = client.astype(np.uint64) * _HASH >> np.uint64(40)
    return _AGENT_OF_PERCENT[(mixed % np.uint64(100)).astype(np.int64)]
