"""User agents that belong to programs rather than people.

Here: what an agent says about itself. Not here: clients that are recognised by their behaviour
(`sql/days/behavioural_bots.sql`).

The names of robots come from the package crawler-user-agents, which is maintained; updating it
updates the rule. General words, tools and libraries that it lacks are added below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Final

from crawleruseragents import CRAWLER_USER_AGENTS_DATA

_WORDS: Final = re.compile(
    rb"(?<!cu)bots?(?![a-z])"  # but CUBOT makes telephones
    rb"|crawl|spider|slurp|scrap(?:er|ing|y)|harvest|fetcher|archiver|indexer|validator"
    rb"|link.?check|site.?check|preview|monitor(?:ing|/)|uptime|nagios|healthcheck|health check"
    rb"|headless|phantomjs|selenium|webdriver|httrack|sqlmap|nmap|httpclient|http-client"
    rb"|http_request|libwww(?!-fm)|libcurl|winhttp|webkit2png|feed(?:parser|reader|burner|demon)"
    rb"|\+https?://"  # where to complain; the URLs in browsers' agents have no plus
)
"""Words, in lower case, that no browser has in its agent. (Lynx is built on libwww-FM.)"""

_LIBRARIES: Final = re.compile(
    rb"java[/\d]|python|curl|wget|perl|lwp|php|ruby|go |go-|okhttp|node|axios|got |got/|undici"
    rb"|deno/|bun/|apache-|jakarta|dart|rust|reqwest|guzzle|faraday|snoopy|lua|erlang|hackney"
    rb"|powershell|elb-health|kube-probe|pycurl|aria2|axel|w3c_|rss|feed|masscan|nessus|nikto"
    rb"|git/|fetch |fasthttp|grequests|reactornetty|tornado"
    rb"|(?!mozilla|opera).*https?://"  # neither a browser's beginning nor a browser's content
    rb"|mozilla/\d\.\d(?: \(compatible;?\))?$"
)
"""Beginnings of agents, in lower case: libraries and tools name themselves first. A browser says
more than `Mozilla/5.0`."""

_NO_AGENT: Final = (b"", b"-")
"""Values that servers log where a request names no agent."""

_alone: Final = Lock()
"""Lock of the expression's compilation, which one thread does for all."""

_PATTERN_PART: Final = re.compile(r"(?:\\.|\[[^\]]*\]|[^\\(])[*+?]?|\(.*", re.DOTALL)
"""A step of a pattern: a character or class with its quantifier, or all from a group on."""

_INERT: Final = re.compile(r"\\.|\[[^\]]*\]|\([^()]*\)", re.DOTALL)
"""Parts that can hide `|` and `{` that do not act on the whole pattern."""


def is_bot(agent: bytes) -> bool:
    """Return True if an agent is a program's.

    A missing agent (`-` or empty) is a program's: every browser sends one. Formats that do not log
    agents at all are not passed here.
    """
    if agent in _NO_AGENT:
        return True
    if b" " not in agent:  # IIS writes `+` for blanks, CloudFront `%20`
        agent = agent.replace(b"+", b" ").replace(b"%20", b" ")
    lower = agent.lower()
    return bool(_LIBRARIES.match(lower) or _WORDS.search(lower) or _robots().search(agent))


def _robots() -> re.Pattern[bytes]:
    """Return an expression for all robots of the package, compiled at the first call.

    Compiling takes as long as a hundred thousand lines; if several threads need it, one compiles.
    """
    with _alone:
        return _compiled()


@cache
def _compiled() -> re.Pattern[bytes]:
    """Return the compiled expression, cached per process, which may read many logs."""
    patterns = [entry["pattern"] for entry in CRAWLER_USER_AGENTS_DATA]
    return re.compile(combined(patterns).encode())


def combined(patterns: Iterable[str]) -> str:
    """Return an expression for any of the patterns, with common beginnings written once.

    Python's matcher tries alternatives one by one. Thousands of them cost a third of a
    millisecond per agent; as a tree most are ruled out together, thirty times as fast.
    """
    return _tree({tuple(_parts(pattern)) for pattern in patterns})


def _parts(pattern: str) -> list[str]:
    visible = _INERT.sub("", pattern)
    if "|" in visible or "{" in visible or "(" in visible:
        return [f"(?:{pattern})"]
    return _PATTERN_PART.findall(pattern)


def _tree(sequences: set[tuple[str, ...]]) -> str:
    if () in sequences:  # one pattern ends here: whatever may follow is matched already
        return ""
    branches: dict[str, set[tuple[str, ...]]] = {}
    for first, *rest in sequences:
        branches.setdefault(first, set()).add(tuple(rest))
    return f"(?:{'|'.join(first + _tree(rest) for first, rest in sorted(branches.items()))})"
