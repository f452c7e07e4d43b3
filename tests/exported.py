"""Exports as their crawlers read them, and a policy to compare them with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from tests.policies import URLS

WITHOUT_PORTS = [url for url in URLS if ":8443" not in url]


Files = dict[str, str]


def both(urls: list[str]) -> list[str]:
    """Every URL under http as well."""
    return urls + [url.replace("https://", "http://", 1) for url in urls]


def wanted(policy: Policy, url: str) -> bool:
    return policy.match(url).decision != "skip"


def check(policy: Policy, urls: list[str], accepts: Callable[[str], bool]) -> None:
    wrong = [url for url in both(urls) if accepts(url) != wanted(policy, url)]
    assert wrong == []
    assert len({wanted(policy, url) for url in urls}) == 2  # both answers were asked for


def hubs_in_order(policy: Policy) -> list[str]:
    return sorted(
        (hub["url"] for hub in policy.document["hubs"]), key=lambda url: policy.match(url).tier
    )


def first_match(text: str, url: str) -> bool:
    """RegexURLFilterBase: `+` or `-` and an expression that is found; nothing found rejects."""
    for line in text.splitlines():
        if not line or line[0] in "# ":
            continue
        assert line[0] in "+-"
        if re.search(line[1:], url):
            return line[0] == "+"
    return False


def fast_filter(text: str, url: str) -> bool:
    """FastURLFilter: deny-only rules by host, on path and query; a line ends at `#`."""
    host, rules_of = "", dict[str, list[str]]()
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        if line.startswith("Host "):
            host = line.split()[1]
        elif line:
            kind, expression = line.split()[:2]
            assert kind == "DenyPathQuery"
            rules_of.setdefault(host, []).append(expression)
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return not any(re.search(e, path) for e in rules_of.get(parts.hostname or "", []))


def storm_fast_filter(text: str, url: str) -> bool:
    """FastURLFilter: scopes by host; the first rule found in path and query decides."""
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    for scope in json.loads(text):
        if scope["scope"] != f"host:{parts.hostname}":
            continue
        for pattern in scope["patterns"]:
            kind, expression = pattern.split(" ", 1)
            assert kind in ("AllowPathQuery", "DenyPathQuery")
            if re.search(expression, path):
                return kind == "AllowPathQuery"
    return True


def heritrix_surts(text: str) -> list[str]:
    """SurtPrefixSet.importFromMixed: `+` and a prefix; other lines are URLs.

    It lower-cases them; lists in XML it does not, and they are taken from the same file.
    """
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("+")] == []
    return [line.removeprefix("+") for line in lines]


def heritrix_scope(files: Files, url: str) -> bool:
    """REJECT all, ACCEPT by SURT prefix, REJECT by a list that the whole URL must match."""
    parts = urlsplit(url)
    host = ",".join(reversed((parts.hostname or "").split("."))) + ","
    port = f":{parts.port}" if parts.port else ""
    own = f"http://({host}{port}){parts.path}" + (f"?{parts.query}" if parts.query else "")
    accepted = any(own.lower().startswith(surt) for surt in heritrix_surts(files["surts.txt"]))
    return accepted and not any(
        re.fullmatch(line, url) for line in files["reject-regex.txt"].splitlines()
    )


def allow_and_deny(allow: list[str], deny: list[str], url: str) -> bool:
    return any(re.search(e, url) for e in allow) and not any(re.search(e, url) for e in deny)


def by_domain(doc: Document) -> Document:
    domains = doc.copy()
    domains["includes_subdomains"] = True
    return domains
