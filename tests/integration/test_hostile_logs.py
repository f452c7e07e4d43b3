"""Logs by somebody who wants to break out of them: through every table, page, export and command.

Whoever can open a URL writes into the log: paths, queries, referrers, agents and, where the server
does not check it, hosts. docs/security.md says what they may try; here it is tried.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.ops import catalogue
from temporal_assets.policy.exports import TARGETS
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.released_policy import release_policy
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests import logs

FIRST = dt.date(2026, 3, 1)
DAYS = 6
LAST = FIRST + dt.timedelta(days=DAYS - 1)
CLIENTS = 6
"""More than the five that make a URL public: hostile URLs get as far as URLs can."""

PATHS = (
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc/passwd",
    "/'; DROP VIEW page_views; --",
    "/')) UNION SELECT client FROM requests --",
    "/<script>alert(1)</script>",
    "/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
    "/=cmd|' /C calc'!A0",
    "/@SUM(1+1)*cmd",
    "/\x1b]0;owned\x07\x1b[2J",
    "/%1b%5b31mred",
    "/{{7*7}}${7*7}#{7*7}",
    "/[click](javascript:alert(1))",
    "/$(touch pwned)`touch pwned`",
    "/%00/etc/passwd",
    "/" + "a" * 5_000,
    "/\u202etxt.exe",
    "/%0d%0aSet-Cookie:%20a=b",
    "/..\\..\\windows",
    "/?next=" + "(" * 300 + "a" * 300,
    "/?a=1&a=<b>&=&&&%zz",
    "/*.*(+)[^a]{1,9}\\d$",
)
HOSTS = (
    "evil.example",
    "../../outside",
    "a'b.example",
    "<b>x</b>.example",
    "xn--a.example",
    "=cmd.example",
    "-flag.example",
    "a" * 300,
    "user:secret@evil.example",
    "evil.example\\..\\..",
)


def lines(day: dt.date) -> Iterator[str]:
    """Every client opens every path, coming from the one before, on a host like the path."""
    noon = dt.datetime.combine(day, dt.time(12))
    for client in range(CLIENTS):
        for n, path in enumerate(PATHS):
            host = HOSTS[n % len(HOSTS)] if n % 2 else HOSTS[0]
            when = noon + dt.timedelta(minutes=n + 30 * client)
            agent = f"{logs.BROWSER} {PATHS[-n]}"
            referrer = f"https://evil.example{PATHS[n - 1]}"
            one = logs.line(when, path, f"192.0.2.{client + 1}", referrer, agent=agent)
            yield f"{host}:443 {one}"


class Attacked:
    """A state folder that has read such logs and made everything of them."""

    def __init__(self, root: Path) -> None:
        self.root, self.state = root, root / "state"
        folder = root / "logs"
        for n in range(DAYS):
            day = FIRST + dt.timedelta(days=n)
            logs.write(folder / f"access-{day}.log", list(lines(day)))
        self.state.mkdir()
        (self.state / "settings.toml").write_text(
            "[window]\ndays = 6\nmin_days = 2\nmin_views_per_day = 0.1\n"
            "[reading]\nmax_reject_share = 1.0\n"
            f'[[sources]]\npath = "{folder}"\nformat = "combined_vhost"\n'
        )
        settings = load_settings(self.state)
        self.store, engine = Store.open(settings), DuckDBEngine(settings)
        self.report = refresh(settings)
        inventory = Inventory.load(settings)
        for day in inventory.days():
            build_requests(self.store, engine, settings, day, inventory)
            for asset in DERIVED:
                build_derived(self.store, engine, asset, day)
        for window in WINDOW_ASSETS:
            actual = build(self.store, engine, settings, window, LAST)
            if window is CRAWL_POLICY:
                release_policy(self.store, settings, actual.manifest)
        catalogue.refresh(self.store)
        self.urls = sorted({row["url"] for row in self.store.read("page_views", LAST).to_pylist()})
        self.sites = sorted(
            {row["site"] for row in self.store.read("page_views", LAST).to_pylist()}
        )

    def call(self, *arguments: object) -> str:
        result = CliRunner().invoke(app, [*map(str, arguments), "--state", str(self.state)])
        assert result.exit_code in (0, 1, 2), (arguments, result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit), arguments
        return result.output


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    return Attacked(tmp_path_factory.mktemp("attacked"))


def test_the_logs_were_read(attacked: Attacked) -> None:
    assert attacked.report.failed == ()
    assert len(attacked.urls) > len(PATHS) / 2
    # Names that are no hosts make no sites.
    assert attacked.sites == ["evil.example"]


def test_files_lie_where_they_should_and_have_harmless_names(attacked: Attacked) -> None:
    names = {
        part
        for path in attacked.state.rglob("*")
        for part in path.relative_to(attacked.state).parts
    }
    assert {
        name for name in names if not re.fullmatch(r"\.?[A-Za-z0-9_=-][A-Za-z0-9._=-]*", name)
    } == set()
    assert sorted(path.name for path in attacked.root.iterdir()) == ["logs", "state"]
    assert list(Path.cwd().glob("pwned")) == []


def test_statements_in_urls_are_text(attacked: Attacked) -> None:
    actual = attacked.call("query", "SELECT count(*) AS n FROM page_views", "--json")
    assert json.loads(actual)[0]["n"] > 0
    for statement in (path for path in PATHS if "--" in path):
        attacked.call("show", "page", f"https://evil.example{statement}")
        attacked.call("show", "tree", f"evil.example{statement}")
        attacked.call("show", "patterns", f"evil.example{statement}")
    assert json.loads(attacked.call("query", "SELECT count(*) AS n FROM page_views", "--json"))


def test_terminals_get_no_controls(attacked: Attacked) -> None:
    outputs = [
        attacked.call(*command)
        for command in (
            ("status",),
            ("show", "labels"),
            ("show", "changes"),
            ("policy",),
            ("evaluate",),
            ("show", "patterns"),
            *(("show", "patterns", site, "--tree") for site in attacked.sites),
            *(("show", "tree", site) for site in attacked.sites),
            *(("show", "page", url) for url in attacked.urls),
            ("query", "SELECT * FROM page_views ORDER BY url"),
            ("query", "SELECT * FROM rejects ORDER BY sample"),
        )
    ]
    # Format characters turn text around (U+202E), the others drive the terminal.
    wrong = {
        character
        for text in outputs
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf") and character != "\n"
    }
    assert wrong == set()


class Markup(HTMLParser):
    """Everything a browser would act upon."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_address = name in ("href", "src", "action", "xlink:href")
            if name.startswith("on") or (
                is_address and not (value or "").startswith(("data:image", "#"))
            ):
                self.active.append(f"{tag} {name}={value}")
        if tag in ("iframe", "object", "embed", "form", "base", "img") and not attrs:
            self.active.append(tag)


def test_pages_show_it_and_do_not_run_it(attacked: Attacked, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    commands = [
        ("show", "labels"),
        *(("show", "tree", site) for site in attacked.sites),
        *(("show", "page", url) for url in attacked.urls if re.search("script|img|cmd|touch", url)),
    ]
    seen = 0
    for command in commands:
        page.unlink(missing_ok=True)
        attacked.call(*command, "--html", page)
        if page.exists():
            seen += 1
            text = page.read_text("utf-8")
            assert "<script>alert" not in text
            assert "<img src=x" not in text.lower()
            markup = Markup()
            markup.feed(text)
            assert markup.active == [], command
    assert seen > len(attacked.sites)


def test_the_report_shows_it_and_does_not_run_it(attacked: Attacked) -> None:
    text = (attacked.state / "report" / "evaluation.html").read_text("utf-8")
    assert text.count("<script>") == 1  # its own, by its digest
    assert "alert(1)" in text  # it has got as far as here
    markup = Markup()
    markup.feed(text)
    assert markup.active == []


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_exports_are_whole_and_hold_one_entry_a_line(
    attacked: Attacked, target: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    attacked.call("policy", "export", target, "--to", out)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert files
    for file in files:
        assert out in file.resolve().parents
        text = file.read_text("utf-8")
        assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in text), file
        if file.suffix == ".json":
            json.loads(text)
        elif file.suffix in (".yaml", ".yml"):
            yaml.safe_load(text)


def test_expressions_have_nothing_to_backtrack_over(attacked: Attacked) -> None:
    """No repetition stands in a repetition: that is what takes exponential time."""
    document = json.loads((attacked.state / "policy" / "latest" / "policy.json").read_text("utf-8"))
    expressions = [
        pattern["expression"] for pattern in document["patterns"] if pattern.get("expression")
    ]
    expressions += [
        row["expression"]
        for row in attacked.store.read("url_patterns", LAST).to_pylist()
        if row["expression"]
    ]
    assert expressions
    nested = re.compile(r"\((?:[^()\\]|\\.)*(?<!\\)[+*](?:[^()\\]|\\.)*\)[+*{]")
    # A part of a path begins with the slash that the repetition inside it excludes.
    assert [
        expression
        for expression in expressions
        if nested.search(expression.replace("(?:/[^/?]*)", ""))
    ] == []
