"""Provisional policies of pages without labels, marked wherever they are shown."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.core.lists.provisional import URGENT_SHARE
from temporal_assets.core.patterns.pattern_rules import rules_of
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.policy.assemble import Choices, assemble
from temporal_assets.policy.document import Document, as_text, checked, is_empty, read
from temporal_assets.policy.exports import PROVISIONAL_FILE, export
from temporal_assets.windows.policy.policy_notes import _of_decisions
from temporal_assets.windows.policy.provisional_lists import _ROWS, judge_sites
from tests.policies import NEWS, PROVENANCE, SHOP, document, tables

DAYS = 4


def provisional(share: float) -> Document:
    """The policy of `tables` where the pages of NEWS have no labels yet."""
    early = dataclasses.replace(tables(), provisional={NEWS: share})
    return assemble(early, PROVENANCE, Choices(min_clients=5))


def test_entries_of_a_site_without_labels_say_so() -> None:
    actual = provisional(0.9)
    assert actual["provisional"]
    for name in ("sites", "hubs", "prefixes", "patterns"):
        entries: list[Any] = actual[name]  # type: ignore[literal-required]
        assert {entry["provisional"] for entry in entries if entry["site"] == NEWS} == {True}
        assert not any(entry["provisional"] for entry in entries if entry["site"] != NEWS)
    assert not document()["provisional"]


def test_fetching_everything_rests_on_little_while_a_policy_is_provisional() -> None:
    policy = provisional(0.9)
    policy["patterns"] = [entry for entry in policy["patterns"] if entry["decision"] == "now"]
    (early,) = _of_decisions([], policy)
    policy["provisional"] = False
    (late,) = _of_decisions([], policy)
    assert "every pattern's pages are expected to be" in early
    assert "every pattern has enough new pages" in late


def intervals(share: float, **changed: pa.Table) -> list[int]:
    """The intervals of the hubs of NEWS, ascending."""
    early = dataclasses.replace(tables(), provisional={NEWS: share}, **changed)
    hubs = assemble(early, PROVENANCE, Choices(min_clients=5))["hubs"]
    return sorted(hub["interval_seconds"] for hub in hubs if hub["site"] == NEWS)


def test_hubs_of_a_site_whose_pages_last_are_visited_once_a_day() -> None:
    nothing = tables().prefixes.slice(0, 0)
    assert intervals(URGENT_SHARE, prefixes=nothing)[0] == 24 * 3600
    assert intervals(0.9, prefixes=nothing)[-1] < 3600
    # A section with news is enough for visits by what they bring.
    assert intervals(URGENT_SHARE)[-1] < 3600


def test_a_policy_of_before_the_fields_is_read() -> None:
    old = json.loads(as_text(document()))
    for name in ("provisional", "notes"):
        del old[name]
    for name in ("sites", "hubs", "prefixes", "patterns"):
        for entry in old[name]:
            del entry["provisional"]
    assert checked(old, "old") == checked(json.loads(as_text(document())), "new")


def test_an_export_says_that_it_is_provisional_and_no_longer(tmp_path: Path) -> None:
    actual = provisional(0.9) | {"notes": ["2 days are there"]}
    export(actual, "plain-text", tmp_path / "out")  # type: ignore[arg-type]
    text = (tmp_path / "out" / PROVISIONAL_FILE).read_text("utf-8")
    assert NEWS in text
    assert SHOP not in text
    assert "2 days are there" in text
    exported = export(document(), "plain-text", tmp_path / "out")
    assert exported.removed == (tmp_path / "out" / PROVISIONAL_FILE,)


def written(folder: Path, **changed: Any) -> Path:
    file = folder / "policy.json"
    file.write_text(json.dumps(document() | changed), "utf-8")
    return file


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_json_has_the_lists_and_why_they_are_so(tmp_path: Path) -> None:
    file = written(tmp_path, notes=["All is `later`."])
    report = json.loads(call("policy", "--policy", file, "--json").stdout)
    whole = read(file)
    assert report["hubs"] == whole["hubs"]
    assert report["patterns"] == whole["patterns"]
    assert report["notes"] == ["All is `later`."]
    assert [row["hub"] for row in report["watch"]["hubs"]] == [hub["url"] for hub in whole["hubs"]]
    shown = call("policy", "--policy", file)
    assert "Sites to watch" in shown.stdout
    assert "20 minutes" in shown.stdout
    assert "All is `later`." in shown.stderr


def test_a_policy_of_nothing_is_exported_with_a_warning(tmp_path: Path) -> None:
    file = written(
        tmp_path, sites=[], hubs=[], prefixes=[], patterns=[], trees=[], notes=["Too few days."]
    )
    assert is_empty(read(file))
    result = call("policy", "export", "scrapy", "--to", tmp_path / "out", "--policy", file)
    assert result.exit_code == 0
    assert "names nothing to fetch" in result.stderr
    assert "Too few days." in result.stderr


def test_a_crawl_without_a_hub_says_so_and_ends(tmp_path: Path) -> None:
    file = written(tmp_path, hubs=[], notes=["There is no hub: nobody was led to new pages."])
    result = call(
        "crawl", "--to", tmp_path / "out", "--contact", "https://a.example/", "--policy", file
    )
    assert result.exit_code == 1
    assert "names no hub, feed or sitemap" in " ".join(result.stderr.split())
    assert "nobody was led to new pages" in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def rows(site: str, views: np.ndarray, folder: str) -> list[dict[str, Any]]:
    """Rows of `provisional_rows` of a site whose pages lie in one folder."""
    urls = [f"https://{site}/{folder}/page-{n}.html" for n in range(len(views))]
    tree = pattern_tree(texts(urls), TreeOptions(min_urls=5))
    leaves = tree.hierarchy.is_leaf
    nodes = [
        {
            "site": site,
            "pattern": node,
            "parent": int(tree.hierarchy.parent[node]),
            "rule": rule,
            "template": f"/{node}",
            "is_pattern": bool(leaves[node]),
            "clients": 0,
        }
        for node, rule in enumerate(rules_of(tree))
    ]
    pages = [
        {"site": site, "url": url, "clients": 9, "views": of_page}
        for url, of_page in zip(urls, views.tolist(), strict=True)
    ]
    return nodes + pages


def news(days: int) -> np.ndarray:
    """Pages born one a day and more, nearly all of whose views come at once."""
    views = np.zeros((40, days), np.int64)
    for n in range(len(views)):
        views[n, n % days] = 20
        views[n, min(n % days + 1, days - 1)] += 3
    return views


def judged(days: int) -> list[dict[str, Any]]:
    lasting = rows("a.example", np.full((40, days), 6), "docs")
    fading = rows("b.example", news(days), "news")
    given = pa.Table.from_pylist(lasting + fading, _ROWS.arrow_schema)
    return judge_sites(given, dt.date(2026, 1, 4), list(range(days))).to_pylist()


def test_a_few_days_tell_a_site_of_news_from_one_that_lasts() -> None:
    actual = judged(DAYS)
    sites = {row["name"]: row for row in actual if row["kind"] == "site"}
    assert sites["a.example"]["share"] < 0.1
    assert not sites["a.example"]["is_listed"]
    assert sites["b.example"]["share"] > 0.8
    assert sites["b.example"]["new_per_day"] == pytest.approx(10, rel=0.1)
    listed = {row["name"] for row in actual if row["kind"] == "section" and row["is_listed"]}
    assert listed == {"b.example/"}
    patterns = [row for row in actual if row["kind"] == "pattern"]
    assert {row["site"] for row in patterns if row["is_listed"]} == {"b.example"}
    assert sum(row["pages"] for row in patterns) == 80


def test_one_day_says_nothing_and_takes_everything() -> None:
    actual = judged(1)
    assert {round(row["share"], 3) for row in actual if row["kind"] == "site"} == {0.5}
    assert all(row["is_listed"] for row in actual if row["kind"] in ("site", "pattern"))
    assert {row["new_per_day"] for row in actual} == {None}


def test_a_site_without_pages_that_say_anything_has_rows_of_its_patterns() -> None:
    site = rows("a.example", np.full((9, DAYS), 1), "docs")
    nodes = [row for row in site if "url" not in row]
    given = pa.Table.from_pylist(nodes, _ROWS.arrow_schema)
    actual = judge_sites(given, dt.date(2026, 1, 4), list(range(DAYS))).to_pylist()
    assert [(row["kind"], row["pages"], row["share"]) for row in actual[:1]] == [("site", 0, 0.5)]
    assert {row["kind"] for row in actual[1:]} == {"pattern"}
