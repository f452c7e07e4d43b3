"""Threats of docs/security.md that a look at the code, or at one small run, can rule out."""

from __future__ import annotations

import ast
import csv
import datetime as dt
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

import temporal_assets
from temporal_assets.build import build_defs
from temporal_assets.cli.app import app
from temporal_assets.cli.understand.query import _line
from temporal_assets.core.text.page_layout import tag_paths
from temporal_assets.crawl.mirror.html_links import html_links
from temporal_assets.days.daily import build_requests
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.detect import plausible, value_kinds
from temporal_assets.logs.privacy.redact import SAMPLE_CHARACTERS, redact
from temporal_assets.logs.tables.annotations import read_annotations
from temporal_assets.logs.tables.site_lists import read_site_list
from temporal_assets.logs.urls.canonical import canonical_url
from temporal_assets.logs.urls.url_rules import DEFAULT
from temporal_assets.reports.plots import as_markdown
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from tests import logs

PACKAGE = Path(temporal_assets.__file__).parent
DAY = dt.date(2026, 3, 1)

_UNPICKLES = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "cloudpickle"}
_PIPES = {"engines/group_process.py", "engines/result_bytes.py", "landing/reading_process.py"}
"""Talk to processes of their own through pipes that nobody else has, and to Spark's workers, which
run what we send them."""


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def _imports(tree: ast.Module) -> set[str]:
    actual = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            actual |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            actual.add(node.module.split(".")[0])
    return actual


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_no_file_is_unpickled() -> None:
    assert {name for name, tree in _sources() if _imports(tree) & _UNPICKLES} == _PIPES


def test_no_text_becomes_code_and_no_command_goes_through_a_shell() -> None:
    wrong = [
        f"{name}:{call.lineno} {function}"
        for name, tree in _sources()
        for function, call in _calls(tree)
        if function in ("eval", "exec", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load")
        or any(word.arg == "shell" for word in call.keywords)
        or any(
            word.arg == "allow_pickle" and ast.unparse(word.value) != "False"
            for word in call.keywords
        )
    ]
    assert wrong == []


WEBHOOK = "https://hooks.example/services/T00/B00/verysecret"


def test_secrets_show_in_no_settings_dump_and_no_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__WEBHOOK", WEBHOOK)
    settings = load_settings(tmp_path)
    assert settings.alerts.webhook == SecretStr(WEBHOOK)
    shown = f"{settings!r} {settings} {settings.model_dump_json()} {settings.model_dump()}"
    assert "verysecret" not in shown
    for asset in build_defs(settings).resolve_all_asset_specs():
        assert "verysecret" not in f"{asset.metadata} {asset.description} {asset.tags}"


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Settings]:
    """A small state folder made as `UMask=0077` of the unit makes it."""
    logs.write_days(tmp_path / "logs", DAY, 1)
    before = os.umask(0o077)
    try:
        state = tmp_path / "state"
        state.mkdir()
        (state / "settings.toml").write_text(
            f'[[sources]]\npath = "{tmp_path / "logs"}"\nhost = "example.com"\n'
        )
        settings = load_settings(state)
        refresh(settings)
        build_requests(
            Store.open(settings), DuckDBEngine(settings), settings, DAY, Inventory.load(settings)
        )
        yield settings
    finally:
        os.umask(before)


def test_nothing_is_opened_to_others_than_the_umask_allows(private: Settings) -> None:
    paths = [path for path in private.state.rglob("*") if path.is_file()]
    assert any(path.suffix == ".parquet" for path in paths)
    assert any(path.name == "manifest.json" for path in paths)
    open_to_others = [
        str(path)
        for path in private.state.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    ]
    assert open_to_others == []


def test_keys_are_in_no_other_file(private: Settings) -> None:
    (file,) = (private.state / "secrets").glob("clients*.key")
    key = file.read_bytes().split()[0]
    for path in private.state.rglob("*"):
        if path.is_file() and path.parent.name != "secrets":
            content = path.read_bytes()
            assert key not in content, path
            assert bytes.fromhex(key.decode()) not in content, path


@pytest.mark.parametrize(
    "value", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1+1", "＠SUM(1)"]
)
def test_no_cell_of_csv_is_a_formula(value: str) -> None:
    assert list(csv.reader([_line(["1=1", value])])) == [["1=1", f"'{value}"]]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_no_separator_of_any_spreadsheet_begins_a_formula(separator: str) -> None:
    """Cells end at semicolons in half of Europe, and URLs may hold them."""
    url = f"https://a.example/x{separator}=cmd|' /C calc'!A0"
    text = _line([url, 5])
    assert text.startswith('"https://a.example/x')
    for other in (";", "\t", "|", ","):
        cells = next(csv.reader([text], delimiter=other))
        assert [cell for cell in cells if cell.startswith("=")] == []


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07",
        "a | b\n| c",
    ],
)
def test_tables_in_the_ui_show_text_as_text(text: str) -> None:
    """Dagster shows records as text; what could end a cell or drive a terminal is escaped."""
    value = grid([{"url": text}], {"url": "string"})
    (record,) = value.records
    assert str(record.data["url"]).isprintable()


def test_markdown_in_the_ui_is_pictures_with_harmless_titles() -> None:
    """Dagster shows Markdown as HTML; whatever else comes from data is text or a table."""
    given = {
        f"{name}:{call.lineno}": ast.unparse(call.args[0])
        for name, tree in _sources()
        for function, call in _calls(tree)
        if function.endswith("MetadataValue.md")
    }
    assert len(given) > 3
    assert {
        place for place, text in given.items() if not text.startswith(("as_markdown(", "drawn("))
    } == set()
    text = as_markdown(b"png", "a](javascript:alert(1)) <img src=x onerror=alert(1)>\n# b")
    assert text.startswith(
        r"![a\](javascript:alert(1)) \<img src=x onerror=alert(1)\>\\n# b](data:"
    )


HOSTILE_NAMES = (
    "\x1b]0;owned\x07.log",
    "a\n5 of 5 checks passed.log",
    "<img src=x onerror=alert(1)>.log",
    "\u202egol.exe.log",
    "$(touch pwned)`touch pwned`.log",
    "'; DROP VIEW page_views; --.log",
    "a\udcff.log",  # a byte that is no UTF-8
)


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
def test_names_of_log_files_are_text(tmp_path: Path, name: str) -> None:
    """Names are chosen by whoever may write beside the logs."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / name).write_bytes(b"no log\n")
    state = tmp_path / "state"
    state.mkdir()
    (state / "settings.toml").write_text(
        f'[[sources]]\npath = "{tmp_path / "logs"}"\nhost = "example.com"\n'
    )
    refresh(load_settings(state))
    text = CliRunner().invoke(app, ["status", "--state", str(state)]).output
    assert {c for c in text if not c.isprintable()} == {"\n"}
    assert "no known format fits" in text
    assert not [line for line in text.splitlines() if line.startswith("5 of 5 checks passed.log")]
    report = CliRunner().invoke(app, ["status", "--json", "--state", str(state)])
    assert report.exit_code == 1  # the source gives nothing
    assert len(json.loads(report.stdout)["log_files"]["unreadable"]) == 1
    assert not (tmp_path / "pwned").exists()


HOSTILE = (
    "a" * 60_000,
    "((((" * 10_000,
    "a=" * 20_000,
    "1." * 20_000,
    "::" * 20_000,
    "%25" * 15_000,
    "\\" * 40_000,
    "a@" * 20_000,
    '"' + "\\x" * 15_000,
    "/.." * 15_000,
    ";jsessionid=" * 4_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:6] for text in HOSTILE])
def test_expressions_over_what_strangers_write_do_not_backtrack(text: str) -> None:
    """A quadratic expression would take minutes on such a text, an exponential one for ever."""
    sample = redact(text.encode(), [text[:20].encode()])
    assert len(sample) <= SAMPLE_CHARACTERS
    assert not plausible._DOTTED.fullmatch(text.encode())
    assert not value_kinds._HOST.fullmatch(text.encode())
    url = canonical_url(f"https://a.example/{text}?{text}")
    assert url is None or url.isascii()


PAGES = (
    "<div>" * 300_000,
    "<x-y>" * 300_000,
    "<ul><li>" * 200_000,
    "<!--" * 300_000,
    "<a " + " ".join(f"x{n}=y" for n in range(200_000)) + " href=z>",
    "<a " * 400_000,
    "<a b='" * 200_000,
    "<?" * 500_000,
    "<base href='" + "a/" * 500_000 + "'>" + "<a href=x>" * 20_000,
)


@pytest.mark.parametrize("page", PAGES, ids=[page[:8] for page in PAGES])
def test_pages_made_to_keep_a_parser_busy_do_not(page: str) -> None:
    """Each took minutes to days: parsers look through all open elements, or all attributes."""
    actual = list(html_links("https://a.example/", f"{page}<a href=end>".encode()))
    assert all(len(url) < 10_000 for url, _ in actual)
    tag_paths(page)


def test_links_of_a_page_nested_too_deep_are_read_all_the_same() -> None:
    page = "<div>" * 20_000 + "<a href='/one'>1</a><area href=/two><a rel=nofollow href=/three>"
    actual = list(html_links("https://a.example/", page.encode()))
    assert actual == [
        ("https://a.example/one", False),
        ("https://a.example/two", False),
        ("https://a.example/three", True),
    ]


@pytest.mark.parametrize("line", ["a." * 100_000 + "@", "a." * 100_000, "#" * 200_000])
def test_lists_made_to_keep_a_parser_busy_do_not(line: str) -> None:
    assert read_site_list(f"{line}\nnews.example\n".encode()).urls == ("https://news.example/",)
    read_annotations(f"url,label\n{line},1\n".encode(), DEFAULT)


def test_a_key_is_no_log(private: Settings) -> None:
    """Links beside the logs may lead to what the reader can read, and samples would show it."""
    (key,) = (private.state / "secrets").glob("clients*.key")
    folder = Path(private.sources[0].path)
    (folder / "link.log").symlink_to(key)
    report = refresh(private)
    assert [file.error for file in report.failed if "a key and no log" in (file.error or "")]
    test_keys_are_in_no_other_file(private)


def test_pinned_packages_are_exact() -> None:
    """`pip-audit -r requirements.lock` asks about the versions that are installed."""
    lock = PACKAGE.parent / "requirements.lock"
    if not lock.exists():
        pytest.skip("an installed wheel has no lock file beside it")
    names = [line for line in lock.read_text().splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(names) > 50
    assert [line for line in names if not re.match(r"[\w.\[\]-]+==[\w.!+]+", line)] == []


SQL = re.compile(
    r"\s*(SELECT|CREATE|COPY|SET|INSERT|DELETE|WITH|WHERE|FROM|ORDER BY|INNER JOIN)\b"
    r"|.*DISTINCT FROM"
)
SAFE_SQL = re.compile(r"# (noqa: S608 -|SQL:) \w+")
"""A line of SQL that is put together says so and why, or the line above does."""


def test_sql_that_is_put_together_says_why_that_is_safe(repository: Path) -> None:
    """Constants, numbers and literals are safe; whatever else is filled in has a reason."""
    silent = []
    for path in (repository / "temporal_assets").rglob("*.py"):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr) and SQL.match(words_of(node)):
                around = " ".join(lines[node.lineno - 2 : node.end_lineno])
                if not all(map(is_safe_in_sql, node.values)) and not SAFE_SQL.search(around):
                    silent.append(f"{path.relative_to(repository)}:{node.lineno}")
        silent += [f"{path}: {line}" for line in lines if re.search(r"# noqa: S608(?! - \w)", line)]
    assert silent == []


def words_of(node: ast.JoinedStr) -> str:
    return "".join(str(value.value) for value in node.values if isinstance(value, ast.Constant))


def is_safe_in_sql(part: ast.expr) -> bool:
    if not isinstance(part, ast.FormattedValue):
        return True
    value = part.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in {"literal", "int"}
    return isinstance(value, ast.Name) and value.id.isupper()
