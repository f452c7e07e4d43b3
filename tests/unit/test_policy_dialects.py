"""Exported expressions mean in Java and JavaScript what they mean in Python.

Nutch, StormCrawler and Heritrix read them with java.util.regex, Browsertrix and Crawlee with
RegExp. The engines themselves are asked, where they are installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from temporal_assets.policy.exports.rules import denied, rules
from tests.policies import URLS, document

JAVA = """
import java.nio.file.*; import java.util.regex.*;
class Ask {
  public static void main(String[] given) throws Exception {
    var urls = Files.readAllLines(Path.of(given[1]));
    for (var expression : Files.readAllLines(Path.of(given[0]))) {
      var pattern = Pattern.compile(expression);
      var line = new StringBuilder();
      for (var url : urls) line.append(pattern.matcher(url).find() ? '1' : '0');
      System.out.println(line);
    }
  }
}
"""

JAVASCRIPT = """
const lines = file => require("fs").readFileSync(file, "utf8").trimEnd().split("\\n");
const urls = lines(process.argv[3]);
for (const expression of lines(process.argv[2])) {
  const pattern = new RegExp(expression);
  console.log(urls.map(url => pattern.test(url) ? "1" : "0").join(""));
}
"""

ENGINES = {"java": ("Ask.java", JAVA), "node": ("ask.js", JAVASCRIPT)}


@pytest.mark.parametrize("program", sorted(ENGINES))
def test_expressions_mean_the_same(program: str, tmp_path: Path) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    doc = document(whole=True)
    expressions = sorted({*(rule.expression for rule in rules(doc)), *denied(doc)})
    name, code = ENGINES[program]
    for file, text in (
        (name, code),
        ("expressions", "\n".join(expressions) + "\n"),
        ("urls", "\n".join(URLS) + "\n"),
    ):
        (tmp_path / file).write_text(text, "utf-8")
    done = subprocess.run(
        [found, name, "expressions", "urls"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    expected = ["".join("01"[bool(re.search(e, url))] for url in URLS) for e in expressions]
    assert done.stdout.split() == expected
    assert {"0", "1"} <= set("".join(expected))
