"""Data docs of Great Expectations that need no network.

Its own pages load styles, scripts and a picture from eleven hosts, and the address of the picture
holds an identity of the project. Here: the same pages with a style of our own and nothing else, and
a first page that lists suites and results without a script. Not here: suites and results
(`data_docs`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from temporal_assets.reports import html_page

_OUTSIDE: Final = re.compile(
    r"<script\b.*?</script>|<link\b[^>]*>|<img\b[^>]*>|<footer\b.*?</footer>|\son\w+=\"[^\"]*\"",
    re.DOTALL | re.IGNORECASE,
)
_HEAD: Final = """\
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1rem auto; padding: 0 1rem; }
h4 { font-size: 1.4rem; margin: 1rem 0; } h5 { font-size: 1.15rem; margin: 0; }
h6 { font-size: 1rem; margin: .8rem 0 0; }
.navbar { height: auto !important; }
a { color: light-dark(#1a5fa8, #84b9f0) !important; }
table { border-collapse: collapse; margin: .5rem 0 1rem; }
td, th { border-top: 1px solid #8886; padding: .3rem .7rem .3rem 0; text-align: left; }
ul, ol { padding-left: 1.2rem; }
.breadcrumb { list-style: none; padding: 0; display: flex; gap: .5rem; }
.sticky > .card:first-of-type, .navbar-brand { display: none; }
.alert { border-bottom: 2px solid #8886; margin-top: 1.5rem; }
.text-success { color: light-dark(#2c7f5c, #62c799); }
.text-danger { color: light-dark(#c4442c, #f08a73); }
.fa-check-circle::before { content: "\\2713"; } .fa-times::before { content: "\\2717"; }
</style>
</head>"""


def without_network(project: Path, site: Path) -> Path:
    """Rewrite the pages below `site` and write a first page; return its path."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        if _HEAD not in text:
            page.write_text(_OUTSIDE.sub("", text).replace("</head>", _HEAD, 1), "utf-8")
    first = site / "index.html"
    first.write_text(html_page.page("Checks by day and table", _first(project, site)), "utf-8")
    return first


def _first(project: Path, site: Path) -> Iterator[str]:
    """Yield the HTML of the first page: links to results and suites."""
    yield html_page.heading("Results")
    names = "<th class=text>day</th><th class=text>table</th><th>passed</th>"
    yield f"<table><thead><tr>{names}</tr></thead>"
    results = project / "gx" / "uncommitted" / "validations"
    for file in sorted(results.rglob("*.json"), key=_newest_first):
        result = json.loads(file.read_text("utf-8"))["statistics"]
        passed = f"{result['successful_expectations']} of {result['evaluated_expectations']}"
        page = Path("validations") / file.relative_to(results).with_suffix(".html")
        table, day = file.relative_to(results).parts[:2]
        name = f"<td class=text>{_link(page, table)}</td>"
        yield f"<tr><td>{escape(day)}</td>{name}<td>{passed}</td></tr>"
    yield "</table>"
    yield html_page.heading("Suites")
    for page in sorted((site / "expectations").glob("*.html")):
        yield f"<p>{_link(page.relative_to(site), page.stem)}</p>"


def _newest_first(file: Path) -> tuple[int, str]:
    """Return the sort key of a file: the newest day first, then by table."""
    table, day = file.parts[-4:-2]
    return -int(day.replace("-", "")) if day.replace("-", "").isdigit() else 0, table


def _link(page: Path, name: str) -> str:
    return f'<a href="{quote(page.as_posix())}">{escape(name)}</a>'
