"""Canonical URLs: the documented rule, its invariants, and the compiled short cuts."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.logs.read.encode import from_values
from temporal_assets.logs.urls import url_rules
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.escapes import decode_escapes
from temporal_assets.logs.urls.plain_urls import (
    NOT_PLAIN,
    PLAIN_HTTP,
    PLAIN_HTTPS,
    plain_pages,
    plain_targets,
    plainly_spelled,
    tidied,
)
from temporal_assets.logs.urls.static_files import STATIC_EXTENSIONS, is_static, sure_pages
from temporal_assets.logs.urls.url_rules import SESSION_KEYS, UrlRules
from temporal_assets.settings import Cleaning

KEEP_SCHEME = UrlRules(scheme="keep")


def _documentation(repository: Path) -> str:
    return (repository / "docs" / "canonical-urls.md").read_text()


def _section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_the_examples_of_the_documentation(repository: Path) -> None:
    section = _section(_documentation(repository), "Examples")
    rows = re.findall(r"^\| `` ?(.+?) ?`` \| (?:`` ?(.+?) ?``|no page) \|", section, re.MULTILINE)
    assert len(rows) > 40
    assert section.count("\n| ``") == len(rows)
    wrong = [
        (url, canonical_url(url), page)
        for url, page in rows
        if canonical_url(url) != (page or None)
    ]
    assert wrong == []


def test_the_documentation_lists_every_dropped_key(repository: Path) -> None:
    section = _section(_documentation(repository), "Keys that are dropped")
    blocks = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    assert [frozenset(block.split()) for block in blocks] == [
        url_rules.SESSION_KEYS,
        url_rules.TRACKING_KEYS,
        url_rules.ADDRESS_KEYS,
        url_rules.PATH_PARAMETERS,
    ]


@pytest.mark.parametrize(
    ("url", "page"),
    [
        (b"https://h.example/caf\xe9", "https://h.example/caf%E9"),
        (b"https://h.example/caf\xc3\xa9", "https://h.example/caf%C3%A9"),
        (b"https://caf\xc3\xa9.example/", "https://xn--caf-dma.example/"),
        (b"https://caf\xe9.example/", None),
        (b"https://h.example/\x00a\x00", "https://h.example/%00a"),
        ("https://h.example/\ud800", "https://h.example/%ED%A0%80"),
        ("https://h.example/\udce9", "https://h.example/%E9"),
        (b"https://" + b"a" * 63 + b".example/", "https://" + "a" * 63 + ".example/"),
        (b"https://" + b"a" * 64 + b".example/", None),
        (b"https://" + b"a." * 130 + b"example/", None),
        (b"https://h.example:65536/", None),
        (b"https://h.example/x/..;sid=1/y", "https://h.example/y"),
    ],
)
def test_bytes_and_limits(url: bytes | str, page: str | None) -> None:
    assert canonical_url(url) == page


def test_the_scheme_can_be_chosen() -> None:
    for given_url, https, http, keep in [
        ("http://h.example/", "https://h.example/", "http://h.example/", "http://h.example/"),
        ("https://h.example/", "https://h.example/", "http://h.example/", "https://h.example/"),
        (
            "http://h.example:443/",
            "https://h.example/",
            "http://h.example:443/",
            "http://h.example:443/",
        ),
        (
            "https://h.example:80/",
            "https://h.example:80/",
            "http://h.example/",
            "https://h.example:80/",
        ),
    ]:
        assert canonical_url(given_url) == https
        assert canonical_url(given_url, UrlRules(scheme="http")) == http
        assert canonical_url(given_url, KEEP_SCHEME) == keep


def test_keys_can_be_dropped_and_kept() -> None:
    rules = UrlRules.from_settings(
        Cleaning(
            drop_query_keys=("print", "x_*", "a#b", "tag[]", "ü"),
            keep_query_keys=("utm_source", "gclid", "JSESSIONID", "mtm_k*"),
        )
    )

    def kept(query: str) -> str | None:
        url = canonical_url(f"https://h.example/p?{query}", rules)
        assert url is not None
        return urlsplit(url).query

    assert kept("PRINT=1&printer=2&x_=3&x_yz=4&x=5") == "printer=2&x=5"
    assert kept("a%23b=1&tag[]=2&tag%5b%5d=3&%C3%BC=4&%c3%bc=5") == ""
    assert (
        kept("utm_source=1&utm_medium=2&UTM_SOURCE=3&gclid=4")
        == "UTM_SOURCE=3&gclid=4&utm_source=1"
    )
    assert kept("mtm_kwd=1&mtm_campaign=2") == "mtm_kwd=1"
    assert canonical_url("https://h.example/p;jsessionid=1;sid=2", rules) == (
        "https://h.example/p;jsessionid=1"
    )


def test_a_key_is_not_a_regular_expression() -> None:
    rules = UrlRules(dropped_keys=frozenset((".", "a+")), kept_keys=frozenset(("(",)))
    page = canonical_url("https://h.example/?.=1&b=2&aa=3&a+=4", rules)
    assert page == "https://h.example/?aa=3&b=2"
    page = canonical_url("https://h.example/?utm_source=1&=2", UrlRules(dropped_keys=frozenset()))
    assert page == "https://h.example/?=2&utm_source=1"


_HOSTS = [
    "h.example", "H.EXAMPLE", "h.example.", "bücher.example", "xn--bcher-kva.example",
    "日本.example", "faß.example", "[2001:DB8::1]", "[::ffff:192.0.2.1]", "192.0.2.1", "0x7f.1",
    "1.2.3.4.", "a_b.c",
    "%68.example", "-a.example", "xn--a", "a..b", "", "h。example", "xn--zca.example", "1.2.3",
]  # fmt: skip
_PIECES = [
    "/", "//", "/./", "/../", "/.", "/..", "/.git/", "/..;sid=1/", "/%2e%2E/", "\\", "a", "B",
    "é", "~", ";sid=1", ";jsessionid=A;v=1",
    ";SID=", ";si;sid=1d=2", "%2F", "%2f", "%41", "%7e", "%", "%zz",
    "%%34%31", "?", "?&", "&", "&&", "=", "b=2", "a=1", "a=", "sid=1", "sid=x", "utm_source=1",
    "%75tm_medium=1", "ip=192.0.2.1", "+", " ", "\t", "\n", "#", "#x", "@", ":", "'", '"', "<", ">",
    "[", "]", "^", "|", "`", "{", "}", "\x00", "\x7f", "\ud800", "\u202e", "!$*(),",
]  # fmt: skip


def _urls() -> st.SearchStrategy[str]:
    """URLs made of everything that is awkward."""
    return st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["http://", "https://", "HTTP://", "https:", "ftp://", "//", "http:/"]),
            st.sampled_from(["", "", "user@", "u:p@", "u:p@s@", ":@"]),
            st.sampled_from(_HOSTS) | st.text(max_size=8),
            st.sampled_from(["", "", ":80", ":443", ":8080", ":", ":x", ":0", ":065535"]),
            st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=10).map("".join),
        ),
    )


_RULES = st.sampled_from(
    [
        UrlRules(),
        KEEP_SCHEME,
        UrlRules(scheme="http"),
        UrlRules(dropped_keys=frozenset(("a", "%", "é*"))),
        UrlRules(kept_keys=frozenset(("sid", "utm_*"))),
    ]
)


@given(url=_urls() | st.text() | st.binary(), rules=_RULES)
@example(url="https://h.example/%25zz", rules=UrlRules())
@example(url="http://h.example:443/", rules=UrlRules())
def test_canonical_urls_are_their_own_canonical_form(url: str | bytes, rules: UrlRules) -> None:
    page = canonical_url(url, rules)
    if page is not None:
        assert canonical_url(page, rules) == page


@given(url=_urls(), rules=_RULES)
def test_what_canonical_urls_never_hold(url: str, rules: UrlRules) -> None:
    page = canonical_url(url, rules)
    if page is None:
        return
    assert re.fullmatch(r"https?://[a-z0-9_.\-:\[\]]+/[!-~]*", page)
    assert not set(page) & set('#"<>\\^`{|} ')
    parts = urlsplit(page)
    assert parts.username is None
    assert parts.scheme == (rules.scheme if rules.scheme != "keep" else parts.scheme)
    assert parts.port != {"http": 80, "https": 443}[parts.scheme]
    assert not {".", ".."} & set(parts.path.split("/"))
    fields = parts.query.split("&") if parts.query else []
    keys = [field.partition("=")[0] for field in fields]
    assert keys == sorted(keys)
    assert "" not in fields
    assert "?" not in page or fields


@given(path=st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=8).map("".join))
def test_a_target_never_leaves_its_site(path: str) -> None:
    """`//other.example/`, `/\\other.example` and `/@other.example` are paths of the host."""
    page = canonical_url("https://h.example/" + path)
    assert page is not None
    assert site_of(page) == "h.example"


def test_order_and_spelling_of_a_query_do_not_matter() -> None:
    same = {
        canonical_url(f"{scheme}://{host}/%7Eann/x?{query}")
        for scheme in ("http", "https")
        for host in ("h.example", "H.Example:443", "u:p@h.example.")
        for query in ("b=%c3%a9&a=1", "a=1&b=é", "utm_source=x&a=1&&b=%C3%A9", "a=%31&b=é#top")
        if not (scheme == "http" and ":443" in host)
    }
    assert same == {"https://h.example/~ann/x?a=1&b=%C3%A9"}


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://h.example/a:b/", "h.example"),
        ("https://h.example:8080/", "h.example"),
        ("https://[2001:db8::1]/", "[2001:db8::1]"),
        ("https://[2001:db8::1]:8080/", "[2001:db8::1]"),
    ],
)
def test_the_site_is_the_host(url: str, site: str) -> None:
    assert site_of(url) == site


@pytest.mark.parametrize(
    "target",
    [
        b"/a.css", b"/a.CSS", b"/a.c%73s", b"/a.css?v=3", b"/a.tar.gz", b"/a.js;jsessionid=1",
        b"/favicon.ico", b"/robots.txt", b"/ROBOTS.TXT", b"/sitemap.xml", b"/sitemap-news-2.xml",
        b"/sitemap.xml.gz", b"/.well-known/acme-challenge/x", b"/.well-known", b"/blog/feed.rss",
        b"http://h.example/a.png", b"https://h.example/robots.txt?x",
    ],
)  # fmt: skip
def test_static_resources(target: bytes) -> None:
    assert is_static(target)


@pytest.mark.parametrize(
    "target",
    [
        b"/", b"/a", b"/a.html", b"/a.php?file=x.css", b"/css", b"/a.css/", b"/a.css/b",
        b"/doc.pdf", b"/map", b"/feeds/rss",
        b"/news.xml", b"/?x=.js", b"/a#x.png", b"http://h.example.css", b"/well-known", b"/robots",
        b"/robots.txt.html", b"", b"*", b"/\xff\xfe",
    ],
)  # fmt: skip
def test_pages(target: bytes) -> None:
    assert not is_static(target)


@pytest.mark.parametrize(
    ("logged", "sent"),
    [
        (b"/plain", b"/plain"),
        (b"/caf\\xc3\\xa9", b"/caf\xc3\xa9"),
        (b"/caf\\xC3\\xA9", b"/caf\xc3\xa9"),
        (b'\\"a\\\\b\\"', b'"a\\b"'),
        (b"\\t\\n\\r\\v\\b", b"\t\n\r\v\b"),
        (b"\\\\x41", b"\\x41"),
        (b"\\x4", b"\\x4"),
        (b"\\q", b"\\q"),
        (b"\\", b"\\"),
    ],
)
def test_escapes_of_servers(logged: bytes, sent: bytes) -> None:
    assert decode_escapes(logged) == sent


@given(raw=st.binary(max_size=50))
def test_escaping_as_nginx_does_is_undone(raw: bytes) -> None:
    escaped = b"".join(
        b"\\x%02X" % byte if byte < 32 or byte > 126 or byte in b'"\\' else bytes((byte,))
        for byte in raw
    )
    assert decode_escapes(escaped) == raw


def _told_by(loop: Callable[..., Any]) -> Callable[[list[bytes]], list[bool]]:
    """Return a function that asks a compiled loop of a list of values."""

    def told(values: list[bytes]) -> list[bool]:
        column = from_values(values)
        answers: list[bool] = loop(column.data, column.start, column.stop).tolist()
        return answers

    return told


_plain_targets = _told_by(plain_targets)
_plainly_spelled = _told_by(plainly_spelled)
_sure_pages = _told_by(sure_pages)
_plain_urls = _told_by(lambda *column: plain_pages(*column, UrlRules()))


def test_common_targets_are_plain() -> None:
    values = [b"/", b"/a/b.html", b"/a//b/", b"/...", b"/.git/x", b"/~ann/a-b_c",
              b"/a:b@c!$&'()*+,=d", b"/a?b", b"/?a=1&b=2", b"/a?q=x%20y", b"/a?b=/c?d"]  # fmt: skip
    assert all(_plain_targets(values))


def test_targets_that_are_not_plain() -> None:
    """Queries are unsorted or empty, with dropped fields, or with escapes that are not normal."""
    values = [b"", b"a", b"*", b"/%41", b"/a b", b"/a;b", b"/.", b"/..", b"/a/./b",
              b"/../a", b"/\xc3\xa9", b"/a#b", b"http://h/", b"/[", b"/a\\b", b"/\x00",
              b"/a?b&a", b"/a?", b"/a?&", b"/a?b&", b"/?utm_source=x", b"/?PHPSESSID=1",
              b"/a?b=%41", b"/a?b='", b"/a?b#c", b"/./?b", b"/a;b?c", b"?a=1"]  # fmt: skip
    assert not any(_plain_targets(values))


def test_targets_whose_fields_alone_may_change() -> None:
    tidy = {
        b"/a": b"/a", b"/a?b&a": b"/a?a&b", b"/a?": b"/a", b"/a?&": b"/a", b"/a?b&": b"/a?b",
        b"/?utm_source=x": b"/", b"/?b&PHPSESSID=1&a=%20": b"/?a=%20&b", b"/?sid=12": b"/?sid=12",
    }  # fmt: skip
    assert all(_plainly_spelled(list(tidy)))
    assert [tidied(target) for target in tidy] == list(tidy.values())


def test_targets_of_which_more_may_change() -> None:
    values = [b"", b"a?b", b"?b&a", b"/%41?b&a", b"/a;sid=x?b", b"/a?b=%41", b"/a?b='", b"/a?b#c",
              b"/./?b&a", b"/a?b&\xc3", b"/a?%", b"http://h/?b&a", b"/a?[", b"/a?b c"]  # fmt: skip
    assert not any(_plainly_spelled(values))


def test_pages_that_are_surely_pages() -> None:
    values = [b"/", b"/a/b.html", b"/a.css/", b"/a.php?x=b.css", b"/map", b"/a.", b"/v1.2/news",
              b"/a.png.html#x.png", b"/report.PDF", b"/rss;x=.rss",
              b"/M%C3%BCnchen%2e%c3"]  # fmt: skip
    assert all(_sure_pages(values))


def test_targets_that_may_be_resources() -> None:
    values = [b"", b"a", b"http://h/a", b"/a.css", b"/a.JPEG?1", b"/robots.txt", b"/a.xml",
              b"/.well-known/x", b"/a.%63ss", b"/%2Ewell-known", b"/a%2ecs%73", b"/a%", b"/%0a",
              b"/%zz", b"/a.webmanifest", b"/robots.txt\n"]  # fmt: skip
    assert not any(_sure_pages(values))


def test_missing_values_are_not_plain() -> None:
    data = np.frombuffer(b"https://h.example/", np.uint8)
    start, stop = np.array([-1], np.int64), np.array([-1], np.int64)
    assert plain_targets(data, start, stop).tolist() == [False]
    assert plainly_spelled(data, start, stop).tolist() == [False]
    assert sure_pages(data, start, stop).tolist() == [False]
    assert plain_pages(data, start, stop, UrlRules()).tolist() == [NOT_PLAIN]


def test_common_urls_are_plain() -> None:
    assert (
        _plain_urls([b"http://h.example/", b"http://www.a-b.example/x/y.html"]) == [PLAIN_HTTP] * 2
    )
    assert _plain_urls([b"https://h.example/", b"https://localhost/1"]) == [PLAIN_HTTPS] * 2
    longest = b".".join([b"a" * 63] * 3 + [b"a" * 61])
    assert len(longest) == 253
    assert _plain_urls([b"https://" + longest + b"/"]) == [PLAIN_HTTPS]


def test_urls_that_are_not_plain() -> None:
    values = [
        b"", b"-", b"http", b"http://", b"https:/", b"https://", b"http:///", b"http://h", b"ftp://h/",
        b"HTTP://h/", b"http://H/", b"http://h:80/", b"http://u@h/", b"http://h./", b"http://.h/",
        b"http://a..b/", b"http://-a/", b"http://a-/", b"http://1.2.3.4/", b"http://a.1/", b"http://0x7f/",
        b"http://xn--a/", b"http://h/?", b"http://h/..", b"http://a_b/", b"httpx://h/", b"http://[::1]/",
        b"https://" + b"a" * 64 + b"/", b"https://" + b"a." * 127 + b"example/",
    ]  # fmt: skip
    assert _plain_urls(values) == [NOT_PLAIN] * len(values)


_BYTES = st.lists(
    st.sampled_from([piece.encode("utf-8", "surrogatepass") for piece in _PIECES])
    | st.binary(max_size=2)
    | st.sampled_from([b"a", b"1", b"-", b".", b"..", b"x", b"n", b"/a", b"xn--", b"0x"]),
    max_size=8,
).map(b"".join)

_ORIGINS = ["https://h.example", "https://h.example:8080", "https://[2001:db8::1]", "https://a.b"]


_FIELDS = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b", b"utm_source", b"SID", b"sid", b"phpsessid", b""])
        | st.binary(max_size=2),
        st.sampled_from([b"", b"=", b"=1", b"=1=2", b"=%20", b"=%41", b"=/x?y"]),
    ).map(b"".join),
    max_size=5,
).map(b"&".join)


@given(
    targets=st.lists(
        st.tuples(_BYTES, st.sampled_from([b"", b"?", b"#"]), _FIELDS).map(
            lambda parts: b"/" + b"".join(parts)
        ),
        min_size=1,
        max_size=20,
    ),
    keys=st.sampled_from([frozenset(), frozenset({"*"}), frozenset({"b"}), SESSION_KEYS]),
)
def test_fields_of_plainly_spelled_targets_are_all_that_changes(
    targets: list[bytes], keys: frozenset[str]
) -> None:
    rules = UrlRules(dropped_keys=keys)
    for target, plain in zip(targets, _plainly_spelled(targets), strict=True):
        if plain:
            for origin in _ORIGINS:
                expected = canonical_url(origin.encode() + target, rules)
                assert f"{origin}{tidied(target, rules).decode()}" == expected


@given(targets=st.lists(_BYTES.map(lambda tail: b"/" + tail) | _BYTES, min_size=1, max_size=20))
def test_plain_targets_are_canonical(targets: list[bytes]) -> None:
    for target, plain in zip(targets, _plain_targets(targets), strict=True):
        if plain:
            for origin in _ORIGINS:
                url = origin + target.decode("ascii")
                assert canonical_url(url) == url


_FILES = st.lists(
    st.sampled_from([*sorted(STATIC_EXTENSIONS), b"robots", b"sitemap", b"txt", b"xml", b"html"])
    | st.sampled_from([b".", b"/", b"?", b";", b"#", b"%", b"63", b"\n", b"/.well-known", b"A"])
    | st.sampled_from([b"%2e", b"%2F", b"%2E", b"%63ss", b"%C3%bc", b"%3F", b"%0A", b"%6A%70g"]),
    max_size=8,
).map(b"".join)


@given(targets=st.lists(_FILES.map(lambda tail: b"/" + tail) | _FILES, min_size=1, max_size=20))
def test_sure_pages_are_no_resources(targets: list[bytes]) -> None:
    for target, sure in zip(targets, _sure_pages(targets), strict=True):
        assert not (sure and is_static(target)), target


_HOST = st.from_regex(rb"[a-z0-9.-]{0,12}", fullmatch=True) | _BYTES


@given(
    values=st.lists(
        st.builds(
            lambda scheme, host, tail: scheme + host + b"/" + tail,
            st.sampled_from([b"http://", b"https://", b"https:/", b"HTTP://"]),
            _HOST,
            _BYTES,
        ),
        min_size=1,
        max_size=20,
    )
)
def test_plain_urls_are_canonical_under_their_scheme(values: list[bytes]) -> None:
    for value, kind in zip(values, _plain_urls(values), strict=True):
        if kind == NOT_PLAIN:
            continue
        text = value.decode("ascii")
        assert text.startswith("http://" if kind == PLAIN_HTTP else "https://")
        assert canonical_url(text, KEEP_SCHEME) == text
        assert canonical_url(text) == "https://" + text.split("://", 1)[1]


def test_most_of_a_real_log_is_plain(shared_data: Path) -> None:
    """The short cut must also be taken, and agree with the rule on every line."""
    lines = (shared_data / "elastic_logs" / "apache_logs").read_bytes().splitlines()
    targets = [line.split(b'"')[1].split(b" ")[1] for line in lines]
    plain = _plain_targets(targets)
    assert sum(plain) > 0.8 * len(targets)
    for target, is_plain in zip(targets, plain, strict=True):
        page = canonical_url(b"https://h.example" + target)
        assert page is not None
        assert not is_plain or page == f"https://h.example{target.decode()}"


def test_rules_travel_to_other_processes() -> None:
    rules = UrlRules("keep", frozenset({"a", "b*"}), frozenset({"bc"}))
    assert rules.drops("bd", "1")
    there = pickle.loads(pickle.dumps(rules))  # noqa: S301 - our own
    assert there == rules
    assert [there.drops(key, "1") for key in ("a", "bd", "bc", "c")] == [True, True, False, False]
