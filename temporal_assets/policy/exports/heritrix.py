"""Heritrix 3: seeds, SURT prefixes for the scope, expressions to reject, precedence, action files.

SURT prefixes count http as https. A prefix that ends in `,)/` holds one host, one that ends in `,`
the hosts below as well; folders end in `/`, or those with longer names would be held too. In a
file a prefix stands behind `+`: Heritrix takes other lines for plain URLs, and converts them. All
is lower-cased, as Heritrix does with the URLs that it compares; prefixes in its XML are taken as
they are.
"""

from __future__ import annotations

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports.rules import by_rank, denied


def files(document: Document) -> dict[str, str]:
    """Name -> content."""
    hubs = by_rank(document)
    return {
        "seeds.txt": "".join(f"{hub['url']}\n" for hub in hubs),
        "surts.txt": "".join(f"+{surt}\n" for surt in _scope(document)),
        "news-surts.txt": "".join(f"+{surt}\n" for surt in _news(document)),
        "reject-regex.txt": "".join(f"{_whole(e)}\n" for e in denied(document)),
        "precedence.txt": "".join(f"{hub['url']} {hub['tier']}\n" for hub in hubs),
        "action/hubs.force": "".join(f"F+ {hub['url']}\n" for hub in hubs),
    }


def surt(host_and_path: str, *, includes_subdomains: bool = False) -> str:
    """`news.example/china/` as `http://(example,news,)/china/`."""
    authority, slash, path = host_and_path.partition("/")
    host, colon, port = authority.rpartition(":") if _has_port(authority) else (authority, "", "")
    # Heritrix leaves these as they are; one in brackets is to it a host of one label.
    is_dotted = host.rpartition(".")[2].isdigit()
    turned = host if is_dotted else ",".join(reversed(host.split("."))) + ","
    # Addresses have no hosts below: 192.0.2.70 is not of 192.0.2.7.
    if includes_subdomains and not slash and not is_dotted and not host.startswith("["):
        return f"http://({turned}".lower()
    return f"http://({turned}{colon}{port})/{path}".lower()


def _has_port(authority: str) -> bool:
    return authority.rpartition(":")[2].isdigit()


def _scope(document: Document) -> list[str]:
    below = document["includes_subdomains"]
    return [surt(entry["site"], includes_subdomains=below) for entry in document["sites"]]


def _news(document: Document) -> list[str]:
    """Prefixes alone: for a crawl of news, and for sheets with settings of their own."""
    return [surt(entry["prefix"]) for entry in document["prefixes"]]


def _whole(expression: str) -> str:
    """An expression that is searched, as one that the whole URL must match."""
    return expression if expression.endswith("$") else f"{expression}.*"
