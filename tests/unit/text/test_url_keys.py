"""URLs cut into key-values: by hand, and without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_keys import ABSENT, MAX_QUERY_KEYS, UrlKeys, decompose
from temporal_assets.core.text.url_split import MAX_FIELDS


def key_values(url: str) -> dict[str, str]:
    return row(decompose(texts([url])), 0)


def row(keys: UrlKeys, url: int) -> dict[str, str]:
    return {
        keys.keys.label(key): keys.value(key, int(keys.codes[key, url])).decode()
        for key in range(len(keys.keys))
        if keys.codes[key, url] != ABSENT
    }


HOST = {"scheme": "https", "host[0]": "example", "host[1]": "h"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://h.example/", {"path[0]": ""}),
        ("https://h.example", {}),
        ("https://h.example/a", {"path[0]": "a"}),
        ("https://h.example/a/", {"path[0]": "a", "path[1]": ""}),
        ("https://h.example/a//b", {"path[0]": "a", "path[1]": "", "path[2]": "b"}),
        (
            "https://h.example/a.b/c.tar.gz",
            {"path[0]": "a.b", "path[1]": "c.tar", "extension": "gz"},
        ),
        ("https://h.example/v1.10", {"path[0]": "v1.10"}),
        ("https://h.example/.profile", {"path[0]": ".profile"}),
        ("https://h.example/x.abcdef", {"path[0]": "x.abcdef"}),
        ("https://h.example/x.", {"path[0]": "x."}),
        ("https://h.example/x.html/", {"path[0]": "x.html", "path[1]": ""}),
        ("https://h.example/%E4%B8%AD%2Fx", {"path[0]": "%E4%B8%AD%2Fx"}),
        (
            "https://h.example/?b=2&a=1&a=3",
            {"path[0]": "", "query[a]": "1", "query[a][1]": "3", "query[b]": "2"},
        ),
        ("https://h.example/?12345", {"path[0]": "", "query[]": "12345"}),
        ("https://h.example/?=1&x=", {"path[0]": "", "query[]": "=1", "query[x]": ""}),
        (
            "https://h.example/?a=1&&u=/p?q=2",
            {"path[0]": "", "query[a]": "1", "query[u]": "/p?q=2"},
        ),
        ("https://h.example?a=1", {"query[a]": "1"}),
    ],
)
def test_fields(url: str, expected: dict[str, str]) -> None:
    assert key_values(url) == HOST | expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "http://h.example:8443/",
            {"scheme": "http", "host[0]": "example", "host[1]": "h", "port": "8443"},
        ),
        ("https://localhost/", {"scheme": "https", "host[0]": "localhost"}),
        ("https://127.0.0.1/", {"scheme": "https", "host[0]": "127.0.0.1"}),
        (
            "https://[2001:db8::1]:81/",
            {"scheme": "https", "host[0]": "[2001:db8::1]", "port": "81"},
        ),
        (
            "https://a.b.c.d.e.f.g.h.i.j/",
            {"scheme": "https", "host[7]": "a.b.c"}
            | {f"host[{i}]": "jihgfed"[i] for i in range(7)},
        ),
    ],
)
def test_origins(url: str, expected: dict[str, str]) -> None:
    assert key_values(url) == expected | {"path[0]": ""}


def test_deep_paths_end_in_one_long_segment() -> None:
    values = key_values("https://h.example/" + "/".join(str(i) for i in range(30)) + ".html")
    assert values["path[22]"] == "22"
    assert values["path[23]"] == "23/24/25/26/27/28/29"
    assert values["extension"] == "html"


segments = st.lists(st.text("ab.-1%", max_size=4), min_size=1, max_size=5)
fields = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.text("x1=", max_size=3)), max_size=3
)


@given(segments, fields)
def test_nothing_is_lost(path: list[str], query: list[tuple[str, str]]) -> None:
    query.sort(key=lambda field: field[0])
    tail = "?" + "&".join(f"{k}={v}" for k, v in query) if query else ""
    url = "https://www.h.example/" + "/".join(path) + tail
    values = key_values(url)
    rebuilt = "/".join(values[f"path[{i}]"] for i in range(len(path)))
    if "extension" in values:
        rebuilt += "." + values["extension"]
    actual = [(k, v) for k, v in values.items() if k.startswith("query")]
    assert rebuilt == "/".join(path)
    assert [(k[6], v) for k, v in actual] == query
    assert len(values) == 4 + len(path) + ("extension" in values) + len(query)


def test_values_are_numbered_by_first_occurrence() -> None:
    keys = decompose(texts([f"https://h.example/{s}" for s in ("b", "a", "b", "")]))
    path = [keys.keys.label(k) for k in range(len(keys.keys))].index("path[0]")
    assert keys.codes[path].tolist() == [1, 2, 1, 3]
    assert [keys.value(path, code) for code in (1, 2, 3)] == [b"b", b"a", b""]


def test_equal_texts_under_different_keys_are_different_values() -> None:
    keys = decompose(texts(["https://h.example/a/a?a=a"]))
    assert keys.codes.max() == 1
    assert row(keys, 0) == HOST | {"path[0]": "a", "path[1]": "a", "query[a]": "a"}


def test_rare_query_keys_get_no_column() -> None:
    keys = decompose(
        texts([f"https://h.example/?id={i}" for i in range(3)] + ["https://h.example/?x=1"]), 2
    )
    assert [keys.keys.label(k) for k in range(len(keys.keys))][-1] == "query[id]"
    assert keys.ignored == 1


def test_only_the_most_frequent_query_keys_get_columns() -> None:
    urls = [
        f"https://h.example/{i}?k{j:03}=1"
        for j in range(MAX_QUERY_KEYS + 5)
        for i in range(2 + (j < 3))
    ]
    keys = decompose(texts(urls))
    names = [name.decode() for name in keys.keys.name if name]
    assert len(names) == MAX_QUERY_KEYS
    assert names[:4] == ["k000", "k001", "k002", "k003"]
    assert keys.ignored == 5


def test_thousands_of_values_and_names_survive_growing_tables() -> None:
    urls = [f"https://h.example/{i}?n{i % 1000}={i * 7}" for i in range(5000)]
    keys = decompose(texts(urls), 6)
    assert keys.ignored == 1000
    path = [keys.keys.label(k) for k in range(len(keys.keys))].index("path[0]")
    assert [keys.value(path, int(c)).decode() for c in keys.codes[path]] == [
        str(i) for i in range(5000)
    ]


def test_texts_of_any_language_come_back() -> None:
    strings = ["", "a", "ü日", "x\udcff"]
    packed = texts(strings)
    assert [packed[i] for i in range(3)] == strings[:3]
    assert len(packed) == 4
    assert packed.offsets.tolist() == [0, 0, 1, 6, 8]


def test_no_url_confuses_the_next() -> None:
    """Chains of names that one URL leaves behind end in the next: they once led in a circle."""
    urls = [
        "https://h.example/?" + "&".join(f"n{url}x{field}=v{field}" for field in range(MAX_FIELDS))
        for url in range(200)
    ]
    urls += ["https://h.example/?" + "&".join(["k=1", f"n{n}=2", "k=3"]) for n in range(50)]
    keys = decompose(texts(urls), min_urls=50)
    assert keys.ignored == 200 * MAX_FIELDS + 50
    for n in range(200, 250):
        assert row(keys, n) == HOST | {"path[0]": "", "query[k]": "1", "query[k][1]": "3"}


PIECES = ["https://h.example", "http://", "h.example:8", "/", "/a", "/ab", "/a.html", ".b", "x" * 9]
QUERIES = ["?", "?a=1", "&a=2", "&b=1", "&c", "&=", "?a=1&a=1&a=1&a=1&a=1", "//", "%C3%A9"]
pieces = st.lists(st.sampled_from([*PIECES, *QUERIES]), max_size=7).map("".join)


@given(st.lists(pieces, min_size=1, max_size=12), st.booleans())
def test_a_url_is_cut_the_same_whatever_stands_before_it(urls: list[str], in_order: bool) -> None:
    """Fields that the URL before has as well are not cut again."""
    given_urls = sorted(set(urls)) if in_order else urls
    together = decompose(texts(given_urls))
    for number, url in enumerate(given_urls):
        assert row(together, number) == row(decompose(texts([url])), 0)


def test_values_are_numbered_by_first_occurrence_and_counted() -> None:
    keys = decompose(texts([f"https://h.example/{name}" for name in ("b", "a", "b/c", "d", "a/")]))
    path = [keys.keys.label(key) for key in range(len(keys.keys))].index("path[0]")
    assert keys.codes[path].tolist() == [1, 2, 1, 3, 2]
    assert [keys.value(path, code) for code in (1, 2, 3)] == [b"b", b"a", b"d"]
    assert keys.count[keys.first[path] : keys.first[path + 1]].tolist() == [2, 2, 1]


def test_many_values_and_many_names_find_room() -> None:
    """More of both than there is room for at first, and each in a URL of its own."""
    count = 3_000
    urls = [f"https://h.example/?k{n}=v{n}&n={n}&m={n % 7}" for n in range(count)]
    keys = decompose(texts(urls))
    assert keys.ignored == count + 2 - MAX_QUERY_KEYS
    last = row(keys, count - 1)
    assert last["query[n]"] == str(count - 1)
    assert last["query[m]"] == str((count - 1) % 7)
    n = [keys.keys.label(key) for key in range(len(keys.keys))].index("query[n]")
    assert keys.codes[n].tolist() == list(range(1, count + 1))
