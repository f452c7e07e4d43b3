"""Hosts of web search engines: they link to everything, and no crawler may start there.

Here: the list and matching hosts with it. A host is on the list if its pages are results of a
search of the whole web; portals, aggregators of news and forums of the same companies are not,
because their pages are hubs like others. Not here: what is left out because of it (docs/hubs.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SEARCH_ENGINES: Final = (
    *("google.*", "images.google.*", "bing.com", "cn.bing.com", "search.yahoo.com"),
    *("*.search.yahoo.com", "search.yahoo.co.jp", "duckduckgo.com", "html.duckduckgo.com"),
    *("lite.duckduckgo.com", "baidu.com", "wap.baidu.com", "m5.baidu.com", "image.baidu.com"),
    *("yandex.*", "ya.ru", "sogou.com", "wap.sogou.com", "so.com", "so.toutiao.com", "sm.cn"),
    *("quark.sm.cn", "search.naver.com", "m.search.naver.com", "search.daum.net"),
    *("search.seznam.cz", "search.goo.ne.jp", "ecosia.org", "qwant.com", "lite.qwant.com"),
    *("startpage.com", "search.brave.com", "swisscows.com", "metager.org", "metager.de"),
    *("mojeek.com", "presearch.com", "kagi.com", "you.com", "yep.com", "ask.com"),
    *("search.aol.com", "dogpile.com", "webcrawler.com", "info.com", "excite.com", "lycos.com"),
    *("search.lycos.com", "altavista.com", "search.msn.com", "search.live.com", "alltheweb.com"),
    *("hotbot.com", "coccoc.com", "rambler.ru", "nova.rambler.ru", "go.mail.ru", "search.tut.by"),
    *("suche.t-online.de", "suche.web.de", "suche.gmx.net", "search.t-online.hu", "najdi.si"),
    *("searx.be", "searx.me"),
)
"""Hosts of search engines, also with `www.` or `m.` in front. A `*` at the end stands for a public
suffix of one or two labels, one at the beginning for a country."""


def search_engine_pattern(more: Iterable[str] = ()) -> re.Pattern[str]:
    """Return an expression for hosts (lower case, without port) of search engines and of `more`."""
    hosts = "|".join(map(_pattern, (*SEARCH_ENGINES, *more)))
    return re.compile(f"(?:www\\.|m\\.)?(?:{hosts})", re.ASCII)


def _pattern(host: str) -> str:
    label = "[a-z0-9-]+"
    text = re.escape(host.lower())
    if text.endswith("\\.\\*"):
        text = f"{text[:-2]}{label}(?:\\.{label})?"
    return text.replace("\\*", label)
