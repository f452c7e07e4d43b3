"""User agents of programs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from temporal_assets.logs.clean.agents import combined, is_bot

_COMBINED = re.compile(
    rb'^\S+ .*?\] "(?:[^"\\]|\\.)*" [0-9]+ \S+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"'
)


def _agents(file: Path) -> Counter[bytes]:
    """Agents of a combined log, by the lines that have them."""
    matches = (_COMBINED.match(line) for line in file.read_bytes().splitlines())
    return Counter(match[1] for match in matches if match)


@pytest.mark.parametrize(
    "agent",
    [
        b"",
        b"-",
        b"Mozilla/5.0",
        b"Mozilla/4.0 (compatible;)",
        b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        b"Mozilla/5.0+(compatible;+bingbot/2.0;++http://www.bing.com/bingbot.htm)",
        b"Mozilla/5.0%20(compatible;%20YandexBot/3.0;%20+http://yandex.com/bots)",
        b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        b"HeadlessChrome/91.0.4469.0 Safari/537.36",
        b"Mozilla/5.0 (Macintosh; U) Firefox/3.6 (FlipboardProxy/1.1; +http://flipboard.com/b)",
        b"curl/8.5.0",
        b"Wget/1.21.3",
        b"python-requests/2.32.3",
        b"Go-http-client/1.1",
        b"Java/1.6.0_24",
        b"Apache-HttpClient/4.5.3 (Java/11.0.11)",
        b"LWP::Simple/5.827 libwww-perl/5.833",
        b"UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/",
        b"Tiny Tiny RSS/1.11 (http://tt-rss.org/)",
        b"distilator/0.1 (http://people.freebsd.org/~ehaupt/distilator/)",
        b"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        b"Tornado-Async-Client",
        b"ia_archiver",
    ],
)
def test_programs(agent: bytes) -> None:
    assert is_bot(agent)


@pytest.mark.parametrize(
    "agent",
    [
        b"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        b"Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0",
        b"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
        b" Version/17.1 Safari/605.1.15",
        b"Mozilla/5.0+(Windows+NT+10.0;+rv:121.0)+Gecko/20100101+Firefox/121.0",
        b"Mozilla/5.0%20(X11;%20Linux%20x86_64;%20rv:121.0)%20Gecko/20100101%20Firefox/121.0",
        b"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)",
        b"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.1; TencentTraveler ; EmbeddedWB 14.52 "
        b"from: http://www.bsalsa.com/ EmbeddedWB 14.52)",
        b"Mozilla/5.0 (Linux; Android 5.1; CUBOT NOTE S) AppleWebKit/537.36 (KHTML, like Gecko) "
        b"Chrome/66.0.3359.158 Mobile Safari/537.36",
        b"Opera/9.80 (iPhone; Opera Mini/7.0.3/34.1244; U; de) Presto/2.8.119 Version/11.10",
        b"Lynx/2.8.7rel.2 libwww-FM/2.14 SSL-MM/1.4.1 OpenSSL/1.0.1f",
        b"Midori/0.2 (X11; Linux; U; fr-fr) WebKit/531.2+",
        b"Dalvik/2.1.0 (Linux; U; Android 8.0.0; PRA-LA1 Build/HONORPRA-LA1)",
    ],
)
def test_browsers(agent: bytes) -> None:
    assert not is_bot(agent)


def test_every_robot_the_package_knows() -> None:
    known = [name.encode() for entry in CRAWLER_USER_AGENTS_DATA for name in entry["instances"]]
    assert len(known) > 1000
    assert [agent for agent in known if not is_bot(agent)] == []


def test_the_combined_pattern_finds_what_the_patterns_find_one_by_one() -> None:
    patterns = ["ab", "ab+c", r"^x\.y", "x[(|]z", "a(b|c)d", "p|q", "(?<!k)m", "n{2}", "ab"]
    texts = ["ab", "abbc", "a b", "x.y", "zx.y", "x|z", "acd", "add", "q", "km", "m", "n", "nn", ""]
    one_by_one = [any(re.search(pattern, text) for pattern in patterns) for text in texts]
    whole = re.compile(combined(patterns))
    assert [whole.search(text) is not None for text in texts] == one_by_one
    assert one_by_one == [
        True, True, False, True, False, True, True, False, True, False, True, False, True, False,
    ]  # fmt: skip


def test_a_real_log_of_2015(shared_data: Path) -> None:
    agents = _agents(shared_data / "elastic_logs" / "apache_logs")
    assert agents.total() == 9_999  # one of the 10,000 lines is cut off within its agent
    named = {agent for agent in agents if re.search(rb"(?i)bot|crawl|spider", agent)}
    assert sum(agents[agent] for agent in named) == 1_290
    assert [agent for agent in named if not is_bot(agent)] == []
    # The others are readers of feeds (about 1,000 lines), lines without an agent (190) and
    # tools, checked by hand; the package's list grows.
    assert 2_600 <= sum(n for agent, n in agents.items() if is_bot(agent)) <= 2_800


def test_a_real_log_that_is_mostly_robots(shared_data: Path) -> None:
    agents = _agents(shared_data / "secrepo_logs" / "2021_all.log")
    assert agents.total() == 5_854
    bots = sum(n for agent, n in agents.items() if is_bot(agent))
    assert 0.72 < bots / agents.total() < 0.8
