"""The registrable domain of a host: the part that somebody registered.

Here: public suffixes (`co.uk`, `github.io`), from the list that is installed with the package
`publicsuffixlist`; nothing is fetched. Not here: what the site of a URL is (`canonical`).
"""

from __future__ import annotations

import ipaddress
from functools import cache
from typing import Any


@cache
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host: `example.co.uk` for `news.example.co.uk`.

    A host without one, such as an address, a public suffix or `localhost`, is its own. Suffixes
    under which anybody publishes (`github.io`) count as public: their sites are strangers.
    """
    if _is_address(host):
        return host
    return str(_suffixes().privatesuffix(host) or host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@cache
def _suffixes() -> Any:
    # A quarter of a second that only those pay who ask for domains.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
