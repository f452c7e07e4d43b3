"""Heritrix 3: seeds, SURT prefixes for the scope, expressions to reject, precedence, action files.

SURT prefixes count http as https. A prefix that ends in `,)/` holds one host, one that ends in `,`
the hosts below as well; folders end in `/`, or those with longer names would be held too. In a
file a prefix stands behind `+`: Heritrix takes other lines for plain URLs, and converts them. All
is lower-cased, as Heritrix does with the URLs that it compares; prefixes in its XML are taken as
they are.
"""

from __future__ import annotations

from typing import Final

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports.rules import by_rank, denied


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    hubs = by_rank(document)
    watched = [hub["url"] for hub in hubs] + [row["url"] for row in document["sources"]]
    return {
        "seeds.txt": "".join(f"{url}\n" for url in watched),
        "surts.txt": "".join(f"+{surt}\n" for surt in _scope(document)),
        "news-surts.txt": "".join(f"+{surt}\n" for surt in _news(document)),
        "reject-regex.txt": "".join(f"{_whole(e)}\n" for e in denied(document)),
        "precedence.txt": "".join(f"{hub['url']} {hub['tier']}\n" for hub in hubs),
        "action/hubs.force": "".join(f"F+ {url}\n" for url in watched),
        "scope-pages.xml": _beans(document, archive=False),
        "scope-archive.xml": _beans(document, archive=True),
    }


def _beans(document: Document, *, archive: bool) -> str:
    """Return the XML of a job's scope, for pages alone or for a complete archive.

    The last rule that applies decides. An archive takes what pages are made of (embeds, redirects)
    up to five hops off the list. Guards against traps stand in both, before the rule for what must
    be fetched first: Heritrix needs `dns:` and robots.txt whatever they say. The last rule rejects
    schemes that Heritrix cannot fetch, as embedded `data:` and `javascript:` are.
    """
    rejected = "".join(f"<value><![CDATA[{_whole(e)}]]></value>\n" for e in denied(document))
    rules = [_bean("RejectDecideRule"), _SURTS]
    rules.append(
        _bean("MatchesListRegexDecideRule", f'<property name="regexList"><list>\n{rejected}'
              "</list></property>", decision="REJECT")
    )  # fmt: skip
    rules.append(_bean("TooManyHopsDecideRule", maxHops="20"))
    if archive:  # after what is rejected: a picture is no page, and part of one
        rules.append(_bean("TransclusionDecideRule", maxTransHops="5", maxSpeculativeHops="1"))
    rules += [
        _bean("PathologicalPathDecideRule", maxRepetitions="3"),
        _bean("TooManyPathSegmentsDecideRule", maxPathDepth="20"),
        _bean("PrerequisiteAcceptDecideRule"),
        _bean("SchemeNotInSetDecideRule"),
    ]
    return (
        "<!-- For `rules` of the bean `scope` in crawler-beans.cxml. -->\n"
        f'<list xmlns="http://www.springframework.org/schema/beans">\n{"".join(rules)}</list>\n'
    )


_PACKAGE: Final = "org.archive.modules.deciderules"

_SURTS: Final = (
    f'<bean class="{_PACKAGE}.surt.SurtPrefixedDecideRule">\n'
    '<property name="surtsSource"><bean class="org.archive.spring.ConfigFile">'
    '<property name="path" value="surts.txt"/></bean></property>\n</bean>\n'
)


def _bean(name: str, inside: str = "", **properties: str) -> str:
    own = "".join(f'<property name="{key}" value="{v}"/>\n' for key, v in properties.items())
    return f'<bean class="{_PACKAGE}.{name}">\n{own}{inside}\n</bean>\n'


def surt(host_and_path: str, *, includes_subdomains: bool = False) -> str:
    """Return `news.example/china/` as `http://(example,news,)/china/`."""
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
    """Return the news prefixes alone, for a crawl of news and for sheets with own settings."""
    return [surt(entry["prefix"]) for entry in document["prefixes"]]


def _whole(expression: str) -> str:
    """Convert an expression for searching into one that must match the whole URL."""
    return expression if expression.endswith("$") else f"{expression}.*"
