"""Decisions of a policy, against a slow reading of the same document."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.cli.policy.match import _as_shown_tsv
from temporal_assets.core.patterns.pattern_forest import NOWHERE, desk_for, plant, portable, walk
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.plain_urls import plain_pages
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.policy import Decision, NewerPolicy, Policy, PolicyError
from temporal_assets.policy.assemble import PATTERNS, assemble
from temporal_assets.policy.bundle import SCHEMA_FILE
from temporal_assets.policy.document import VERSION, as_text, checked
from tests.policies import (
    PRIVATE,
    PROVENANCE,
    URLS,
    document,
    document_of_schemes,
    hubs_of_schemes,
    portal_urls,
    schemes_of_pages,
    tables,
    urls_of_schemes,
)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(document())


def slow_match(doc: dict[str, Any], url: str) -> tuple[str, int, str]:
    """(decision, tier, reason) by reading the document line by line, with regular expressions."""
    rest = url.split("://")[1]
    path = rest.split("?")[0].split(";")[0]
    site = next((s for s in doc["sites"] if s["site"] == site_of(url)), None)
    if site is None:
        return "skip", 16, "unknown_site"
    extension = path.rsplit("/")[-1].rpartition(".")[2].lower()
    if "." in path.rsplit("/")[-1] and extension in doc["urls"]["static_extensions"]:
        return "skip", 16, "static"
    for hub in doc["hubs"]:
        if hub["url"] == url:
            return "now", hub["tier"], "hub"
    for pattern in doc["patterns"]:
        if pattern["overrules"] and re.match(pattern["expression"], url):
            return pattern["decision"], pattern["tier"], "pattern"
    prefixes = [p for p in doc["prefixes"] if rest.startswith(p["prefix"])]
    if prefixes:
        return "now", max(prefixes, key=lambda p: len(p["prefix"]))["tier"], "prefix"
    for pattern in doc["patterns"]:
        if re.match(pattern["expression"], url):
            return pattern["decision"], pattern["tier"], "pattern"
    return "later", site["tier"], "site"


def test_decisions_by_hand(policy: Policy) -> None:
    assert policy.match("http://NEWS.example:80/politics/?utm_source=x#top") == Decision(
        url="http://NEWS.example:80/politics/?utm_source=x#top",
        decision="now",
        tier=2,
        reason="hub",
        site="news.example",
        hub="https://news.example/politics/",
        prefix="news.example/politics/",
        pattern="/{word}/",
        interval_seconds=300,
    )
    unseen = policy.match("https://news.example/politics/2031/12/24/a-b-c.html")
    assert (unseen.decision, unseen.reason, unseen.prefix) == (
        "now",
        "prefix",
        "news.example/politics/",
    )
    # The same pages on a site without a known prefix: their pattern is urgent.
    urgent = policy.match("https://shop.example/politics/2031/12/24/a-b-c.html")
    assert (urgent.decision, urgent.reason) == ("now", "pattern")
    assert urgent.pattern == "/politics/{year}/{month}/{day}/{slug}.html"
    login = policy.match("https://shop.example/user/login?next=%2Fsecret")
    assert (login.decision, login.reason, login.tier) == ("skip", "pattern", 16)
    later = policy.match("https://shop.example/archive/item?id=99999")
    assert (later.decision, later.reason) == ("later", "pattern")
    assert policy.match("https://board.example/anything").reason == "site"
    assert policy.match("https://elsewhere.example/").reason == "unknown_site"
    assert policy.match("mailto:someone@example.com").reason == "no_page"
    assert policy.match("").reason == "no_page"


def test_what_is_surely_no_news_is_later_under_a_news_prefix() -> None:
    whole = Policy(document(whole=True))

    def message(path: str) -> tuple[str, str, str | None]:
        decision = whole.match(f"https://shop.example/{path}")
        return decision.decision, decision.reason, decision.prefix

    # Two of 40 archived pages are temporal, 36 of 40 under /politics/; of logins nothing is known.
    assert message("archive/item?id=99999") == ("later", "pattern", "shop.example/")
    assert message("politics/2031/12/24/a-b-c.html") == ("now", "prefix", "shop.example/")
    assert message("user/login?next=%2Fsecret") == ("now", "prefix", "shop.example/")
    assert message("never/seen/like/this") == ("now", "prefix", "shop.example/")


def test_few_pages_overrule_nothing() -> None:
    def overruling(labelled: int, temporal: float) -> bool:
        given = tables()
        rows = [
            row | {"urgency": temporal / labelled, "labelled": labelled}
            for row in given.patterns.to_pylist()
        ]
        patterns = pa.Table.from_pylist(rows, PATTERNS)
        actual = assemble(dataclasses.replace(given, patterns=patterns), PROVENANCE)
        (overruled,) = {pattern["overrules"] for pattern in actual["patterns"]}
        return overruled

    # Wilson's upper bound at 95 % of none in n is z^2 / (n + z^2) with z = 1.645.
    assert not overruling(2, 0)  # 0.575
    assert overruling(3, 0)  # 0.474
    assert not overruling(8, 2)  # 0.540
    assert overruling(9, 2)  # 0.496


@pytest.mark.parametrize("whole", [False, True])
def test_match_agrees_with_the_document(whole: bool) -> None:
    doc = document(whole=whole)
    policy = Policy(doc)
    for decision in policy.matches(URLS):
        actual = (decision.decision, decision.tier, decision.reason)
        assert actual == slow_match(dict(doc), decision.url), decision.url
    reasons = {decision.reason for decision in policy.matches(URLS)}
    assert reasons == {"hub", "prefix", "pattern", "site", "static", "unknown_site"}


def test_pages_that_differ_by_scheme_are_decided_apart() -> None:
    policy = Policy(
        document_of_schemes(
            {"login": ["http"], "archive": ["http", "https"]},
            [("http://shop.example/", 3), ("https://shop.example/", 1)],
        )
    )

    def message(url: str) -> tuple[str, int, str | None]:
        decision = policy.match(url)
        return decision.reason, decision.tier, decision.hub

    assert message("http://shop.example/") == ("hub", 3, "http://shop.example/")
    assert message("HTTPS://shop.example:443/#x") == ("hub", 1, "https://shop.example/")
    # Prefixes, like sites, are of both schemes; patterns of those their pages were seen under.
    assert policy.match("http://news.example/politics/x").reason == "prefix"
    assert policy.match("http://shop.example/user/login?next=%2F").pattern is not None
    assert policy.match("https://shop.example/user/login?next=%2F").pattern is None


def test_one_hub_under_both_schemes_is_the_first_where_schemes_make_no_pages() -> None:
    doc = document()
    doc["hubs"].append({**doc["hubs"][0], "url": "http://news.example/", "tier": 3})
    assert {Policy(doc).match(f"{s}://news.example/").tier for s in ("http", "https")} == {1}


@given(
    schemes_of_pages,
    hubs_of_schemes,
    st.lists(urls_of_schemes, min_size=1, max_size=30),
    st.booleans(),
)
def test_schemes_are_matched_as_the_document_says(
    schemes: dict[str, list[str]], hubs: list[tuple[str, int]], urls: list[str], whole: bool
) -> None:
    doc = document_of_schemes(schemes, hubs, whole=whole)
    for url, decision in zip(urls, Policy(doc).matches(urls), strict=True):
        actual = (decision.decision, decision.tier, decision.reason)
        assert actual == slow_match(dict(doc), url), url


pieces = st.sampled_from(
    [
        *("politics", "2025", "07", "31", "report-on-7.html", "", "a.b", "item?id=7", "archive"),
        *("user", "login?next=1", "x;y.jpg", "wiki", "Topic_3+(x)", "é", "%7e", ".css"),
        *("t.php?t=1", "?sid=x"),
    ]
)
hosts = st.sampled_from(["news.example", "shop.example", "board.example", "NEWS.example", "[::1]"])


@given(st.lists(st.tuples(st.sampled_from(["http", "https"]), hosts, st.lists(pieces, max_size=6))))
def test_raw_urls_are_decided_as_their_canonical_form(
    policy: Policy, raw: list[tuple[str, str, list[str]]]
) -> None:
    urls = [f"{scheme}://{host}/{'/'.join(parts)}" for scheme, host, parts in raw]
    doc = dict(document())
    for url, decision in zip(urls, policy.matches(urls), strict=True):
        page = canonical_url(url)
        expected = slow_match(doc, page) if page else ("skip", 16, "no_page")
        assert (decision.decision, decision.tier, decision.reason) == expected, url


anything = st.text(st.characters(exclude_categories=()), max_size=40)  # surrogates, too


@given(anything, st.binary(max_size=40))
def test_anything_may_be_asked(policy: Policy, text: str, data: bytes) -> None:
    doc = dict(document())
    urls = [text, data.decode("utf-8", "surrogateescape")]
    urls += [f"https://news.example/{text}", f"https://{text}.example/", f"{text}\ud800"]
    for url, decision in zip(urls, policy.matches(urls), strict=True):
        page = canonical_url(url)
        expected = slow_match(doc, page) if page else ("skip", 16, "no_page")
        assert (decision.decision, decision.tier, decision.reason) == expected
        assert policy.match(url) == decision


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://news.example/politics/\ud800", "prefix"),  # stands for no byte
        ("https://news.example/politics/x\udcff", "prefix"),  # a byte that is no UTF-8
        ("https://news\ud800.example/", "no_page"),
        ("\ud800", "no_page"),
        ("https://news\0.example/", "no_page"),
        ("https://news.example/politics/\0", "hub"),  # as blanks around it
        ("https://news.example/politics/\0x", "prefix"),
        (" https://news.example/\r\n", "hub"),
        ("/politics/", "no_page"),
        ("https://", "no_page"),
        ("https://news.example/politics/" + "a/" * 5_000_000, "prefix"),
        ("https://news.example/politics/" + "\u00e9" * 5_000_000, "prefix"),
        ("a" * 10_000_000, "no_page"),
    ],
    ids=range(13),
)
def test_odd_urls_by_hand(policy: Policy, url: str, reason: str) -> None:
    assert policy.match(url).reason == reason


names = st.sampled_from(["a", "b", "id", "utm_x", "UTM_y", "sid", "Sid", "q", "", "é", "ip"])
values = st.sampled_from(["1", "", "x=y", "%41", "%C3%A9", "'", "a b", "?", "12"])


@given(st.lists(st.tuples(names, st.sampled_from(["=", ""]), values), max_size=4))
def test_the_short_way_to_canonical_urls_is_right(fields: list[tuple[str, str, str]]) -> None:
    url = "https://h.example/p?" + "&".join("".join(field) for field in fields)
    for rules in (UrlRules(), UrlRules(dropped_keys=frozenset({"*"})), UrlRules(scheme="keep")):
        flat = texts([url])
        if plain_pages(flat.data, flat.offsets[:-1], flat.offsets[1:], rules)[0]:
            assert canonical_url(url, rules) == url
    plain = texts(["https://h.example/p?a=1&b=%C3%A9&b=0&idx=x=y&q", "http://h.example/p?id=7"])
    actual = plain_pages(plain.data, plain.offsets[:-1], plain.offsets[1:], UrlRules())
    assert np.all(actual > 0)  # else there would be no short way


def test_a_forest_decides_as_its_trees() -> None:
    sites = ["a.example", "b.example", "c.example"]
    trees = [pattern_tree(texts(portal_urls(s, 40)), TreeOptions(min_urls=n + 3))
             for n, s in enumerate(sites)]  # fmt: skip
    forest = plant([portable(tree) for tree in trees])
    desk = desk_for(forest)
    for number, (tree, site) in enumerate(zip(trees, sites, strict=True)):
        urls = portal_urls(site, 70) + URLS + [f"http://{site}/x", f"https://{site}:81/politics/"]
        flat = texts(urls)
        expected = compile_matcher(tree).match(flat).tolist()
        root = int(forest.root[number])
        for i, url in enumerate(urls):
            start, stop = int(flat.offsets[i]), int(flat.offsets[i + 1])
            node = walk(forest, number, flat.data, start, stop, desk)
            assert (node - root if node != NOWHERE else NOWHERE) == expected[i], url


def test_threads_share_a_policy(policy: Policy) -> None:
    expected = [asdict(decision) for decision in policy.matches(URLS)]
    actual: list[bool] = []

    def ask() -> None:
        same = (list(map(asdict, policy.matches(URLS))) == expected for _ in range(20))
        actual.extend(same)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [True] * 80


def test_a_domain_holds_its_hosts() -> None:
    doc = document() | {"includes_subdomains": True}
    policy = Policy(checked(doc, "it"))
    assert policy.match("https://www.news.example/x").site == "news.example"
    assert policy.match("https://evilnews.example/x").site is None
    assert policy.match("https://example/x").site is None


def test_nothing_private_is_in_a_policy() -> None:
    text = as_text(document())
    assert "few.example" not in text
    assert "/private/" not in text
    assert Policy(document()).match(PRIVATE).reason == "site"


def test_the_document_survives_its_text_and_keeps_its_schema(tmp_path: Path) -> None:
    doc = document()
    file = tmp_path / "policy.json"
    file.write_text(as_text(doc), "utf-8")
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(file.read_text("utf-8")), schema)
    loaded = Policy.load(tmp_path).document
    assert as_text(loaded) == as_text(doc)
    doc["hubs"][0]["tier"] = 99
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(as_text(doc)), schema)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (None, PolicyError, "materialize crawl_policy"),
        ("{", PolicyError, "is no JSON"),
        ("[]", PolicyError, "is no crawl policy"),
        ('{"format": "temporal-assets/crawl-policy", "version": 99}', NewerPolicy, "version 99"),
        ('{"format": "temporal-assets/crawl-policy", "version": "1"}', PolicyError, "no number"),
        ('{"format": "temporal-assets/crawl-policy", "version": 1}', PolicyError, "lacks"),
    ],
)
def test_a_policy_that_cannot_be_used_says_why(
    tmp_path: Path, text: str | None, error: type[PolicyError], says: str
) -> None:
    file = tmp_path / "policy.json"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(error, match=says) as raised:
        Policy.load(file)
    assert str(file) in str(raised.value)


def test_a_policy_of_the_version_before_means_what_it_meant(tmp_path: Path) -> None:
    """Its shapes keep their bits: dates were years, or had dashes between year, month and day."""
    doc: Any = document(whole=True) | {"version": VERSION - 1}
    (tmp_path / "policy.json").write_text(as_text(doc), "utf-8")
    old, new = Policy.load(tmp_path), Policy(document(whole=True))
    urls = [f"https://news.example/{year}/03/22/story-{year}.html" for year in range(1990, 2110)]
    assert list(old.matches(urls)) == list(new.matches(urls))


def test_a_policy_from_before_a_field_is_still_read(tmp_path: Path) -> None:
    doc: Any = document(whole=True)
    for pattern in doc["patterns"]:
        del pattern["overrules"]
    (tmp_path / "policy.json").write_text(as_text(doc), "utf-8")
    later = Policy.load(tmp_path).match("https://shop.example/archive/item?id=99999")
    assert (later.decision, later.reason) == ("now", "prefix")
    (tmp_path / "policy.json").write_text(as_text(doc | {"patterns": [1]}), "utf-8")
    with pytest.raises(PolicyError, match="damaged"):
        Policy.load(tmp_path)


@pytest.mark.parametrize("module", ["policy", "crawl.scrapy"])
def test_matching_needs_none_of_the_pipeline(repository: Path, module: str) -> None:
    import subprocess

    if module == "crawl.scrapy":
        pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
    code = (
        "import sys\n"
        "heavy = ('dagster', 'duckdb', 'pyarrow', 'pandas', 'pydantic', 'great_expectations',"
        " 'filelock')\n"
        "sys.modules.update(dict.fromkeys(heavy))  # importing them fails\n"
        f"import temporal_assets.{module}\n"
        "print(sorted(name for name in heavy if sys.modules[name] is not None))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_command_decides_on_whatever_bytes_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(as_text(document()))
    for piped in (b"\xff\n", None):
        argument = [] if piped else ["\udcff"]
        result = CliRunner().invoke(
            app, ["policy", "match", *argument, "--tsv", "--policy", str(path)], input=piped
        )
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines()[1].split("\t")[:2] == ["\ufffd", "skip"]


def test_a_list_may_begin_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(as_text(document()))
    piped = b"\xef\xbb\xbfhttps://news.example/\r\n\r\nhttps://news.example/\x1b[2Jx\ty\n"
    result = CliRunner().invoke(
        app, ["policy", "match", "--tsv", "--policy", str(path)], input=piped
    )
    rows = [line.split("\t")[:4] for line in result.stdout.splitlines()[1:]]
    assert rows == [
        ["https://news.example/", "now", "1", "hub"],
        ["https://news.example/\x1b[2Jx y", "later", "13", "site"],
    ]


def test_a_crawler_may_wait_for_each_decision(repository: Path, tmp_path: Path) -> None:
    """The pipe stays open. A line may come in parts, and the last one has no end."""
    import subprocess

    path = tmp_path / "policy.json"
    path.write_text(as_text(document()))
    words = ("policy", "match", "--tsv", "--policy", str(path))
    command = [sys.executable, "-m", "temporal_assets", *words]
    with subprocess.Popen(
        command, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as filter_:
        assert filter_.stdin is not None
        assert filter_.stdout is not None
        # Who waits in vain is let go: the assertion fails then, and not the whole suite.
        patience = threading.Timer(60, filter_.kill)
        patience.start()
        assert filter_.stdout.readline().startswith(b"url\t")
        for asked, answers in (
            (b"https://news.example/\n", [b"now"]),
            (b"https://news.example/politics/1\nhttps://news", [b"now"]),
            (b".example/other\r\n\nhttps://nowhere.example/\n", [b"later", b"skip"]),
        ):
            filter_.stdin.write(asked)
            filter_.stdin.flush()
            for answer in answers:
                assert filter_.stdout.readline().split(b"\t")[1:2] == [answer]
        filter_.stdin.write(b"https://news.example/end")
        filter_.stdin.close()
        assert filter_.stdout.read().split(b"\t")[:2] == [b"https://news.example/end", b"later"]
        patience.cancel()
    assert filter_.returncode == 0


def test_lines_are_those_of_the_input_however_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import BytesIO
    from types import SimpleNamespace

    from temporal_assets.cli.shared import standard_input

    text = b"\xef\xbb\xbfa\r\n\n\xc3\xa9\xff\n\xef\xbb\xbfb\rc\x0b\n" + b"long" * 9 + b"\nend"
    expected = ["a", "\u00e9\ufffd", "\ufeffb\rc\x0b", "long" * 9, "end"]
    for most in range(3, len(text) + 2):
        monkeypatch.setattr(standard_input, "_MOST_BYTES", most)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(text)))
        assert list(standard_input.lines()) == expected


def test_of_a_line_that_is_too_long_the_beginning_is_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from io import BytesIO
    from types import SimpleNamespace

    from temporal_assets.cli.shared import standard_input

    text = b"a\n" + b"x" * 100 + b"\nb\n" + b"y" * 50
    monkeypatch.setattr(standard_input, "_LONGEST_LINE", 20)
    for most in range(3, 19):
        monkeypatch.setattr(standard_input, "_MOST_BYTES", most)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(text)))
        assert list(standard_input.lines()) == ["a", "x" * 21, "b", "y" * 21]


def test_one_line_of_a_gigabyte_is_decided_in_little_memory(tmp_path: Path) -> None:
    code = (
        "import sys; from temporal_assets.cli.app import app\n"
        "try: app()\n"
        "finally:\n"
        "    status = open('/proc/self/status').read()\n"
        "    print(int(status.split('VmHWM:')[1].split()[0]) >> 10, file=sys.stderr)"
    )
    (tmp_path / "policy.json").write_text(as_text(document()))
    command = [sys.executable, "-c", code, "policy", "match", "--policy", str(tmp_path)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    for _ in range(300):
        process.stdin.write(b"x" * (1 << 20))
    output, peak = process.communicate(b"\nhttps://news.example/\n")
    first, second = (json.loads(line) for line in output.splitlines())
    assert (first["decision"], second["reason"]) == ("skip", "hub")
    assert int(peak.split()[-1]) < 450


def test_a_terminal_obeys_no_url(policy: Policy) -> None:
    row = _as_shown_tsv(policy.match("https://news.example/\x1b[2Jx\ty")).split("\t")
    assert row[:3] == ["https://news.example/\\x1b[2Jx y", "later", "13"]
    assert len(row) == 9


def test_a_dash_is_standard_input_as_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(as_text(document()))
    urls = "https://nowhere.example/1\nhttps://nowhere.example/2\n"
    outputs = [
        CliRunner()
        .invoke(app, ["policy", "match", *dash, "--policy", str(path)], input=urls)
        .stdout
        for dash in ([], ["-"])
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 2
