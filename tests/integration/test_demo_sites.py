"""Sites, sections and prefixes of the demo corpus, the event that comes and goes, the commands.

The days are the true views and transits of the corpus: that logs lead to exactly these is the
business of `test_demo_truth`.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from temporal_assets.cli.app import app
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.window_metadata import details
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_changes import SITE_CHANGES
from tests.transits import true_days

pytestmark = pytest.mark.slow

ONE = dt.timedelta(days=1)
EVENT = "games.granite.example"
NAMES = ("prefix_trees", "site_scores", "section_scores", "news_prefixes", "site_changes")


class Demo:
    """The corpus with windows around the event's first and last day, and the last of all."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self.state, corpus = true_days(factory)
        self.settings = load_settings(self.state)
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)
        sites = {row["site"]: row for row in pq.read_table(corpus.truth["sites"]).to_pylist()}
        self.opens, self.closes = sites[EVENT]["opens"], sites[EVENT]["closes"]
        self.day = corpus.days[-1]
        self.days = (
            *(self.opens + n * ONE for n in (-1, 0, 2, 7)),
            *(self.closes + n * ONE for n in (2, 3)),
            self.day,
        )
        for day in self.days:
            for asset in _with_all_beneath((SECTION_SCORES, NEWS_PREFIXES, SITE_CHANGES)):
                build(self.store, self.engine, self.settings, asset, day)
        self.pages = {
            page["url"]: page for page in pq.read_table(corpus.truth["pages"]).to_pylist()
        }
        self.sections = pq.read_table(corpus.truth["sections"]).to_pylist()

    def rows(self, asset: str, day: dt.date | None = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.store.read(asset, day or self.day).to_pylist()
        return rows

    def living(self, prefixes: list[str]) -> list[dict[str, Any]]:
        """Pages under prefixes; what is over has no prefixes any more."""
        return [
            page
            for page in self.pages.values()
            if page["site"] != EVENT and page["kind"] != "hub" and _begins(page["url"], prefixes)
        ]

    def news_share(self, prefixes: list[str]) -> float:
        """Return the share of news among the pages under prefixes."""
        actual = self.living(prefixes)
        return sum(bool(page["is_news"]) for page in actual) / len(actual)

    def event(self, day: dt.date) -> dict[str, Any] | None:
        return next((row for row in self.rows("site_changes", day) if row["site"] == EVENT), None)

    def run(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, [*map(str, arguments), "--state", str(self.state)])


def _begins(url: str, prefixes: list[str]) -> bool:
    return url.split("://")[1].startswith(tuple(prefixes))


def _with_all_beneath(assets: Iterable[WindowAsset]) -> list[WindowAsset]:
    actual: dict[str, WindowAsset] = {}
    for asset in assets:
        actual |= {one.name: one for one in _with_all_beneath(asset.tables)}
        actual[asset.name] = asset
    return list(actual.values())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return Demo(tmp_path_factory)


def test_the_event_site_appears_when_it_opens(demo: Demo) -> None:
    assert demo.event(demo.opens - ONE) is None
    seen = demo.event(demo.opens)
    assert seen is not None
    assert (seen["is_first_seen"], seen["first_seen"]) == (True, demo.opens)
    # No page has a label yet: all its pages are young, and some will turn out temporal.
    (scored,) = _event_score(demo, demo.opens + 2 * ONE)
    assert scored["young_pages"] == scored["pages"] >= 5
    assert 0 < scored["young_temporal_pages"] < scored["pages"]
    assert scored["score_1"] == pytest.approx(scored["young_temporal_pages"] / scored["pages"])
    # A week after it opened it has pages that are known, and all of them were born in the window.
    listed = demo.event(demo.opens + 7 * ONE)
    assert listed is not None
    assert listed["change"] in {"entered", "rising", "steady"}
    others = [row["rank"] for row in demo.rows("site_scores", listed["day"]) if row["rank"]]
    assert listed["rank"] <= len(others) / 2


def _event_score(demo: Demo, day: dt.date) -> list[dict[str, Any]]:
    return [row for row in demo.rows("site_scores", day) if row["site"] == EVENT]


def test_the_event_site_leaves_when_it_is_over(demo: Demo) -> None:
    before = demo.event(demo.closes + 2 * ONE)
    assert before is not None
    assert before["rank"] <= 2
    left = demo.event(demo.closes + 3 * ONE)
    assert left is not None
    assert (left["change"], left["is_gone_quiet"], left["rank"]) == ("left", True, None)
    assert left["last_seen"] == demo.closes
    # By its pages it would still be among the first.
    (scored,) = (row for row in demo.rows("site_scores") if row["site"] == EVENT)
    assert (scored["rank"], scored["is_quiet"]) == (None, True)
    best = max(row["flow_score"] for row in demo.rows("site_scores") if row["rank"])
    assert scored["flow_score"] > best / 2


def test_the_prefixes_of_the_event_leave_with_it(demo: Demo) -> None:
    before, after = (
        {row["site"] for row in demo.rows("news_prefixes", demo.closes + n * ONE)} for n in (2, 3)
    )
    assert EVENT in before - after
    # A prefix that a handful of pages speak for may come and go on any day.
    assert len(before ^ after) <= 2 < len(before & after)


def test_portals_lead_the_list(demo: Demo) -> None:
    ranked = [row["site"] for row in demo.rows("site_scores") if row["rank"]]
    assert {site.split(".")[0] for site in ranked[:2]} == {"news"}


def test_the_sections_that_are_selected_hold_the_news(demo: Demo) -> None:
    best = [row["prefix"] for row in demo.rows("section_scores") if row["is_selected"]]
    lasting = {
        f"{section['site']}{section['prefix']}"
        for section in demo.sections
        if not section["is_news"]
    }
    assert lasting.isdisjoint(best)
    everything = demo.news_share([""])
    assert all(demo.news_share([name]) > everything for name in best), best
    assert demo.news_share(best) > 2 * everything
    assert any(name.startswith(("cars.", "homes.")) for name in best)


def test_most_pages_under_news_prefixes_are_news(demo: Demo) -> None:
    prefixes = [row["prefix"] for row in demo.rows("news_prefixes")]
    assert prefixes == sorted(prefixes)
    actual = demo.living(prefixes)
    news = [page for page in actual if page["is_news"]]
    everything = demo.living([""])
    of_all = [page for page in everything if page["is_news"]]
    # Labels of some 700 reliable pages find the sections of all 6,000; beside the simplest list,
    # that of every page.
    assert len(news) / len(actual) > 0.7 > 2 * len(of_all) / len(everything)
    assert len(news) / len(of_all) > 0.8


def test_the_report_on_changes(demo: Demo) -> None:
    opened = demo.run("show", "changes", "--day", demo.opens)
    assert opened.exit_code == 0, opened.stderr
    heading = opened.stdout.splitlines()[0]
    assert heading.startswith(f"{demo.opens}, compared with {demo.opens - ONE}: ")
    assert "First seen: 1 site" in opened.stdout
    over = demo.run("show", "changes", "--day", demo.closes + 3 * ONE).stdout
    assert over.index("Left the list: ") < over.index("Gone quiet: 1 site")
    assert over.count(EVENT) == 2
    as_json = json.loads(demo.run("show", "changes", "--json").stdout)
    assert len(as_json) == len(demo.rows("site_changes"))
    absent = demo.run("show", "changes", "--day", "2020-01-01")
    assert (absent.exit_code, "has no window of 2020-01-01" in absent.stderr) == (1, True)


def test_metadata_counts_and_names_only_what_many_know(demo: Demo) -> None:
    installation = Installation.of(demo.settings)
    message = {name: details(installation, name, demo.day, plots=True) for name in NAMES}
    assert message["site_scores"]["sites"] == 15
    assert message["site_scores"]["quiet_sites"] == 1
    assert 0 < message["site_scores"]["precision_in_sample_share"] < 1
    assert message["news_prefixes"]["prefixes"] == len(demo.rows("news_prefixes"))
    numbers = {"prefixes_with_temporal_pages"}
    assert message["prefix_trees"].keys() == {*numbers, "sample", "picture"}
    samples = {name: message[name].pop("sample", None) for name in NAMES}
    assert ".example" not in str(message)
    for sample in filter(None, samples.values()):
        named = [row.data for row in sample.records]
        assert named
        assert all(row.get("clients", 5) >= 5 for row in named)
    left = details(installation, "site_changes", demo.closes + 3 * ONE, plots=False)
    assert (left["gone_quiet"], left["entered"]) == (1, 0)
    assert left["left"] >= 1


class Checker(HTMLParser):
    """Every element that is opened is closed, and none of them can run or load anything."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_tree_of_a_site(demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "tree.html"
    shown = demo.run("show", "tree", "https://News.Juniper.example/", "--depth", 1, "--html", file)
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[1].split()[0] == "news.juniper.example/"
    assert any(line.startswith("├─ china/") for line in lines)
    assert any("sections beneath" in line for line in lines)
    checker = Checker(file.read_text("utf-8"))
    assert checker.open == []
    assert {"details", "summary"} <= checker.seen
    assert checker.seen.isdisjoint({"script", "a", "img", "iframe", "link"})
    several = demo.run("show", "tree", "harbour.example", "--json")
    assert {row["site"] for row in json.loads(several.stdout)} == {"wiki.harbour.example"}
    absent = demo.run("show", "tree", "news.junipr.example")
    assert absent.exit_code == 1
    assert "with a name like it: news.juniper.example" in absent.stderr
    assert "with a name like it" not in demo.run("show", "tree", "quite.another.org").stderr


def test_tuning_refuses_the_reported_window(demo: Demo) -> None:
    refused = demo.run("try", "rules", "--day", demo.day)
    assert refused.exit_code == 1
    assert f"up to {demo.day} is the one that is reported" in refused.stderr


def test_tuning_on_an_earlier_window(demo: Demo) -> None:
    day = demo.closes + 3 * ONE
    shown = demo.run("try", "rules")
    assert shown.exit_code == 0, shown.stderr
    assert f"Window up to {day}: learned from " in shown.stdout
    assert "in use" in shown.stdout
    content = json.loads(demo.run("try", "rules", "--json").stdout)
    assert content["best_sites"]["f"] == max(site["f"] for site in content["sites"])
    assert content["best_prefixes"]["outcome"]["temporal"] > 0
    in_use = content["prefixes"][0]
    assert (in_use["kind"], content["sites"][0]["scoring"], content["sites"][0]["top_k"]) == (
        "flow",
        None,
        100,
    )
    assert 0 < in_use["rule"]["threshold"] <= 0.5
    assert 0 < content["born_pages"] < content["learned_pages"]
    assert content["learned_pages"] + content["judged_pages"] <= len(demo.rows("page_labels", day))
    late = demo.run("try", "rules", "--learn-until", day)
    assert (late.exit_code, "--learn-until must be before" in late.stderr) == (2, True)
    nothing = demo.run("try", "rules", "--learn-until", "2020-01-01")
    assert (nothing.exit_code, "no page of the window" in nothing.stderr) == (1, True)
