"""Exported expressions mean the same in every engine that crawlers have, and hurt none of them.

Nutch, StormCrawler and Heritrix read them with java.util.regex, Browsertrix and Crawlee with
RegExp, Scrapy with `re`; what is written in Go, Rust or C++ has RE2 or its like. The engines
themselves are asked, where they are installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import re2

from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from temporal_assets.policy.exports.rules import deniable_paths, denied, rules
from tests.policies import URLS, document

JAVA = """
import java.nio.file.*; import java.util.*; import java.util.regex.*;
class Ask {
  public static void main(String[] given) throws Exception {
    var failed = new Throwable[1];
    // Half of what a thread of a crawler has.
    var asks = new Thread(null, () -> {
      try { ask(given); } catch (Throwable e) { failed[0] = e; }
    }, "asks", 512 * 1024);
    asks.start(); asks.join();
    if (failed[0] != null) { System.err.println(failed[0]); System.exit(1); }
  }
  static void ask(String[] given) throws Exception {
    var urls = Files.readAllLines(Path.of(given[1]));
    long slowest = 0;
    for (var expression : Files.readAllLines(Path.of(given[0]))) {
      var pattern = Pattern.compile(expression);
      var line = new StringBuilder();
      for (var url : urls) {
        var begun = System.nanoTime();
        line.append(pattern.matcher(url).find() ? '1' : '0');
        slowest = Math.max(slowest, System.nanoTime() - begun);
      }
      System.out.println(line);
    }
    System.out.println(slowest / 1e9);
  }
}
"""

JAVASCRIPT = """
const lines = file => require("fs").readFileSync(file, "utf8").trimEnd().split("\\n");
const urls = lines(process.argv[3]);
let slowest = 0n;
for (const expression of lines(process.argv[2])) {
  const pattern = new RegExp(expression);
  console.log(urls.map(url => {
    const begun = process.hrtime.bigint();
    const found = pattern.test(url);
    const took = process.hrtime.bigint() - begun;
    if (took > slowest) slowest = took;
    return found ? "1" : "0";
  }).join(""));
}
console.log(Number(slowest) / 1e9);
"""

Answers = tuple[list[str], float]
"""A line of 0 and 1 for each expression, and the seconds that the slowest URL took."""


def ask_program(name: str, code: str, expressions: list[str], urls: list[str]) -> Answers:
    """A program that is given the expressions and the URLs in files."""
    program, file, folder = name.split()[0], name.split()[1], Path(name.split()[2])
    for written, text in (
        (file, code),
        ("expressions", "\n".join(expressions) + "\n"),
        ("urls", "\n".join(urls) + "\n"),
    ):
        (folder / written).write_text(text, "utf-8")
    done = subprocess.run(
        [program, file, "expressions", "urls"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    *lines, slowest = done.stdout.split()
    return lines, float(slowest)


def ask_module(
    search: Callable[[str], Callable[[str], object]], expressions: list[str], urls: list[str]
) -> Answers:
    lines, slowest = [], 0.0
    for expression in expressions:
        actual, line = search(expression), ""
        for url in urls:
            begun = time.perf_counter()
            line += "01"[bool(actual(url))]
            slowest = max(slowest, time.perf_counter() - begun)
        lines.append(line)
    return lines, slowest


def has_java() -> bool:
    """A Java that compiles: a bare runtime does not."""
    java = shutil.which("java")
    if java is None:
        return False
    done = subprocess.run([java, "--list-modules"], capture_output=True, text=True)
    return "jdk.compiler" in done.stdout


@pytest.fixture(params=["java", "javascript", "python", "re2"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Answers]:
    """An engine."""
    if request.param == "python":
        return lambda *given: ask_module(lambda text: re.compile(text).search, *given)
    if request.param == "re2":
        return lambda *given: ask_module(lambda text: re2.compile(text).search, *given)
    if request.param == "java":
        if not has_java():
            pytest.skip("no Java that compiles is installed")
        return lambda *given: ask_program(f"java Ask.java {tmp_path}", JAVA, *given)
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return lambda *given: ask_program(f"node ask.js {tmp_path}", JAVASCRIPT, *given)


HOST = "https://board.example"


def board() -> list[str]:
    """A site whose patterns need all that expressions can say: fields in any order, that must not
    be there or there twice, values and shapes of siblings, extensions, segments without end."""
    urls = [f"{HOST}/", f"{HOST}/feed/", f"{HOST}/about.html"]
    for n in range(40):
        urls += [
            f"{HOST}/thread.php?id={n}",
            f"{HOST}/thread.php?id={n}&page={n % 7}",
            f"{HOST}/thread.php?id={n}&page={n % 7}&sort=new",
            f"{HOST}/thread.php?a={n}&b={n}&c={n}&d={n}",
            f"{HOST}/list.php?tag={n}&tag=x{n}",
            f"{HOST}/doc?doc=/{n}/x&lang=en",
            f"{HOST}/print?{n}",
            f"{HOST}/news/2025/0{n % 9 + 1}/story-{n}.html",
            f"{HOST}/news/sport/match-{n}.shtml",
            f"{HOST}/news/{'abcdefgh'[n % 8]}{n}/deep/er/v1.{n}",
            f"{HOST}/user/{n:08x}f/profile",
            f"{HOST}/user/{n}/profile",
        ]
    return urls


def expressions() -> list[str]:
    """All that policies of the tests export, and every node of the board's tree."""
    tree = pattern_tree(texts(board()), TreeOptions(min_urls=4))
    paths = {pattern_text(tree, node).expression() for node in range(len(tree))}
    for whole in (False, True):
        doc = document(whole=whole)
        paths |= {*(rule.expression for rule in rules(doc)), *denied(doc)}
        paths |= {path for _, path in deniable_paths(doc)}
    return sorted(paths)


LONG = 64 * 1024
"""Scrapy and Heritrix take URLs of 2,083 characters, Nutch 4,096 unless told otherwise; browsers
and others have hardly a limit."""


def hostile() -> Iterator[str]:
    """URLs that begin as known ones do and go on as nobody's."""
    pieces = [
        *("&", "=", "?", "/", ".", "-", "a", "7", "a.", "./", "a/", ".html", "%2F", "f", "0-"),
        *("id=1&", "page=x&", "tag=1&", "doc=&", "x=1&", "&&=", "a=1&b=1&c=1&", "id=&page=&sort=&"),
        *("print-", "2025/", "n", "ne", "news/", "next=", "12:", "//", "d=1&c=1&b=1&a=1&"),
    ]
    starts = [
        f"{HOST}/",
        *(f"{HOST}/{p}" for p in ("thread.php?", "thread.php?id=1&", "list.php?tag=1&", "doc?")),
        *(f"{HOST}/{p}" for p in ("print?", "news/", "news/2025/01/", "user/", "user/1/")),
        *("https://news.example/wiki/", "https://news.example/user/login?", "https://"),
    ]
    ends = ["", "&page=1", "\x7f", "/x.html"]
    for number, piece in enumerate(pieces):
        for place, start in enumerate(starts):
            length = LONG if (number + place) % 4 == 0 else LONG // 16
            yield start + piece * (length // len(piece)) + ends[(3 * number + place) % len(ends)]
    yield f"{HOST}/thread.php?" + "&" * 1500
    yield f"{HOST}/doc?" + "x=1&" * 1500 + "doc=1"


def test_expressions_mean_the_same(ask: Callable[..., Answers]) -> None:
    asked = [*URLS, *board(), *(url[:300] for url in hostile())]
    every = expressions()
    expected = ["".join("01"[bool(re.search(e, url))] for url in asked) for e in every]
    assert {"0", "1"} <= set("".join(expected))
    assert ask(every, asked)[0] == expected


def test_no_url_hurts(ask: Callable[..., Answers]) -> None:
    """`(?:(?!doc=)[^&]*&)*` ended Java's stack at 1,500 `&`."""
    _, slowest = ask(expressions(), list(hostile()))
    assert slowest < 2  # a thousand times what 64 KB take; what backtracks takes minutes


def unsafe(expression: str) -> str | None:
    """Return the part of an expression that RE2 refuses, or a group that repeats without end."""
    match = re.search(r"\(\?[^:]|\\[1-9]|\)(?:[*+]|\{[0-9]+,\})|[*+}?][+]", expression)
    return match[0] if match else None


@pytest.mark.parametrize("whole", [False, True])
def test_every_file_of_every_target_holds_safe_expressions(whole: bool) -> None:
    doc: Document = document(whole=whole)
    for target, files in ((target, make(doc)) for target, make in TARGETS.items()):
        for name, text in files.items():
            assert not re.search(r"\(\?[=!<]", text), (target, name)
            assert not re.search(r"\)(?:[*+]|\{[0-9]+,\\?\})", text), (target, name)
    assert [e for e in expressions() if unsafe(e)] == []
    assert unsafe(r"^(?:(?!doc=)[^&]*&)*$")
    assert unsafe(r"^(?:[^&]*&)*$")
