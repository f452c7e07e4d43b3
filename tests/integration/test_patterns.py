"""Patterns of a site known in every detail, from transits to ranks and commands.

The site has a front page, 30 news pages a day's walk from it, 30 threads that lead to each other,
and a private folder that two people use. A second site logs no referrers. People come to a third
from frames that nobody opens by themselves.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.crawl.mirror.traffic import mirror_of, traffic_of
from temporal_assets.days.transits import transit_inputs
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.window_metadata import details
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.labels.early_labels import EARLY_LABELS
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.patterns import url_patterns
from temporal_assets.windows.patterns.behaviour_graph import BEHAVIOUR_GRAPH
from temporal_assets.windows.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.windows.patterns.stored_patterns import read_patterns
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS, site_limits
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC
from tests.tables import write_table
from tests.transits import publish_transits

FIRST = dt.date(2026, 3, 1)
DAYS = 8
NEWS, THREADS = 5, 30
HOST = "https://portal.example"
FRAMED = "https://framed.example"
OWN = (PAGE_TRAFFIC, URL_PATTERNS, BEHAVIOUR_GRAPH, PATTERN_RANKS)
FLOW = (EARLY_LABELS, PAGE_FLOW, PAGE_TRAFFIC, PREFIX_TREES)

Transit = tuple[str | None, str, int]


def transits(day: int) -> Iterator[Transit]:
    """Five news pages are born a day; ten clients read each, coming from the front page."""
    for client in range(10):
        yield None, f"{HOST}/", client
        for n in range(NEWS):
            yield f"{HOST}/", f"{HOST}/news/2026/03/{day + 1:02}/story-{10 * day + n}x.html", client
    for n in range(THREADS):
        yield f"{HOST}/thread?id={(n + 1) % THREADS}", f"{HOST}/thread?id={n}", day % 6
    for n in range(12):
        yield None, f"{HOST}/anna-secret/letter-{n}x", day % 2
        yield None, f"https://mute.example/page/{n}", day % 6
        yield f"{FRAMED}/frame/{day}-{n}", f"{FRAMED}/page/{n}", day % 6


class Portal:
    """A store with the days of the site and its windows."""

    def __init__(self, root: Path, **patterns: Any) -> None:
        window = {"days": DAYS, "min_days": 1, "min_views_per_day": 0.2}
        self.settings = load_settings(root, window=window, patterns=patterns)
        self.root = root
        (root / "settings.toml").parent.mkdir(parents=True, exist_ok=True)
        (root / "settings.toml").write_text("[window]\ndays = 8\nmin_days = 1\n", "utf-8")
        self.store, self.engine = Store.open(self.settings), DuckDBEngine(self.settings)
        self.day = FIRST + dt.timedelta(days=DAYS - 1)
        for n in range(DAYS):
            self._publish(FIRST + dt.timedelta(days=n), sorted(set(transits(n)), key=str))
        for asset in (PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES):
            build(self.store, self.engine, self.settings, asset, self.day)
        for asset in PAGE_LABELS.tables:
            if asset not in (PAGE_HISTORIES, INTEREST_CURVES):
                build(self.store, self.engine, self.settings, asset, self.day)
        for asset in (PAGE_LABELS, *FLOW, *OWN[1:]):
            build(self.store, self.engine, self.settings, asset, self.day)

    def _publish(self, day: dt.date, rows: list[Transit]) -> None:
        clients: dict[str, set[int]] = {}
        for _, target, client in rows:
            clients.setdefault(target, set()).add(client)
        views = [
            {"day": day, "site": url.split("/")[2], "url": url, "views": len(found)}
            for url, found in sorted(clients.items())
        ]
        went = [
            {"referrer": referrer, "target": target, "client": client}
            for referrer, target, client in rows
        ]
        publish_transits(self.store, day, went, extra={"has_referrers": True})
        table = pa.Table.from_pylist(views, contracts.PAGE_VIEWS.arrow_schema)
        with self.store.scratch() as scratch:
            path = scratch / "rows.parquet"
            write_table(table, path)
            self.store.publish("page_views", day, [path], inputs=[], settings_digest="")

    def rows(self, asset: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.store.read(asset, self.day).to_pylist()
        return found

    def ranks(self, site: str) -> dict[str, dict[str, Any]]:
        return {row["template"]: row for row in self.rows("pattern_ranks") if row["site"] == site}

    def say(self, *arguments: object, given: str | bytes | None = None) -> Result:
        words = ["show", "patterns", *map(str, arguments), "--state", str(self.root)]
        return CliRunner().invoke(app, words, input=given)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Portal:
    return Portal(tmp_path_factory.mktemp("portal"))


STORY = "/news/{year}/{month}/{day}/{slug}.html"
THREAD = "/thread?id={digits}"


def test_patterns_are_valuable_urgent_and_productive(portal: Portal) -> None:
    ranks = portal.ranks("portal.example")
    story, thread = ranks[STORY], ranks[THREAD]
    assert (story["volume"], story["visits"]) == (DAYS * NEWS, DAYS * NEWS * 10)
    # Each of the 30 links was followed by six clients.
    assert (thread["volume"], thread["visits"], thread["referrals"]) == (THREADS, 180, 180)
    assert (story["temporal_share"], story["new_pages_per_day"]) == (1.0, float(NEWS))
    assert (thread["temporal_share"], thread["new_pages_per_day"]) == (0.0, 0.0)
    # The threads were there before; of the stories those count of which something is known.
    assert thread["flow_pages"] == 0
    assert 4 * NEWS >= story["flow_pages"] >= story["flow_temporal_pages"]
    # What is known of a pattern moves it away from its site. No thread was born: the flow of their
    # site is news alone, and thirty old pages say little against it.
    (site,) = (
        row["flow_score"]
        for row in portal.rows("prefix_trees")
        if (row["site"], row["depth"]) == ("portal.example", 0)
    )
    assert story["flow_score"] > site > thread["flow_score"]
    assert story["rank_visits"] == 1
    assert [row["rank_referrals"] for row in (ranks["/"], thread)] == [1, 2]
    assert (story["rank_fetch"], ranks["/"]["rank_discovery"]) == (1, 1)
    # The front page and its stories, the threads: two parts; nobody links the letters.
    assert {row["components"] for row in ranks.values()} == {2}


def test_the_graph_is_what_people_did(portal: Portal) -> None:
    ranks = portal.ranks("portal.example")
    edges = {
        (row["source"], row["target"]): (row["transits"], row["out_share"], row["in_share"])
        for row in portal.rows("behaviour_graph")
    }
    front, story, thread = (ranks[name]["pattern"] for name in ("/", STORY, THREAD))
    assert edges == {(front, story): (400, 1.0, 1.0), (thread, thread): (180, 1.0, 1.0)}


def test_what_two_people_know_has_no_name(portal: Portal) -> None:
    (secret,) = (row for row in portal.rows("pattern_ranks") if row["volume"] == 12 and
                 row["site"] == "portal.example")  # fmt: skip
    assert not secret["is_public"]
    assert "anna" not in json.dumps(portal.rows("url_patterns"), default=str)


def test_a_page_known_as_a_referrer_alone_is_a_page_nowhere(portal: Portal) -> None:
    days = [FIRST + dt.timedelta(days=n) for n in range(DAYS)]
    inputs = transit_inputs(portal.store, [portal.store.require("transits", day) for day in days])
    named = [url for file in inputs["urls"] for url in pq.read_table(file)["url"].to_pylist()]
    assert sum("/frame/" in url for url in named) == 12 * DAYS
    pages = [row for row in portal.rows("page_traffic") if row["site"] == "framed.example"]
    assert [(row["visits"], row["referred"], row["links"]) for row in pages] == [(8, 8, [])] * 12
    volumes = [row["volume"] for row in portal.ranks("framed.example").values()]
    assert sum(volumes) == len(pages)
    for asset in ("url_patterns", "pattern_ranks", "behaviour_graph"):
        assert "frame/" not in json.dumps(portal.rows(asset), default=str)
    # What crawls are simulated on, what quality is judged by, and what is shown.
    with portal.store.scratch() as scratch:
        traffic = traffic_of(portal.engine, inputs, scratch, ["framed.example"])
    assert traffic.pages["url"].to_pylist() == mirror_of(traffic).urls.to_pylist()
    assert traffic.pages["url"].to_pylist() == [row["url"] for row in pages]
    judged = json.loads(portal.say("framed.example", "--quality", "--periods", 2, "--json").stdout)
    assert judged["methods"]["single URLs"]["later"] == [{"urls": 1.0, "visits": 1.0}]
    shown = json.loads(portal.say("framed.example", "--node", 0, "--json").stdout)
    assert [len(shown["pages"]), shown["came_from"], shown["went_to"]] == [12, [], []]


def test_a_site_without_referrers_says_so(portal: Portal) -> None:
    rows = list(portal.ranks("mute.example").values())
    (row,) = rows
    unknown = ("authority", "hub", "fetch_score", "rank_fetch", "rank_discovery", "rank_referrals")
    assert row["missing_ranks"] == "no_referrers"
    assert [row[name] for name in unknown] == [None] * len(unknown)
    assert (row["rank_visits"], row["visits"]) == (1, 72)


@pytest.mark.parametrize("asset", [one.name for one in OWN])
def test_everything_promised_holds(portal: Portal, asset: str) -> None:
    inspector = Inspector(portal.store, portal.engine, portal.settings)
    found = inspector.inspect(contracts.table(asset), [portal.day])[portal.day]
    assert [one for one in found if one.status not in (Status.HELD, Status.NOT_JUDGED)] == []


def test_a_broken_partition_is_found(portal: Portal) -> None:
    """A page that is in two patterns, or in none."""
    table = portal.store.read("url_patterns", portal.day)
    wrong = table.slice(0, len(table) - 1)  # the last node is a leaf
    manifest = portal.store.require("url_patterns", portal.day)
    copy = Store(portal.root / "copy", portal.root)
    for name in ("url_patterns", "page_traffic"):
        rows = wrong if name == "url_patterns" else portal.store.read(name, portal.day)
        with copy.scratch() as scratch:
            pq.write_table(rows, scratch / "rows.parquet")
            copy.publish(name, portal.day, [scratch / "rows.parquet"], inputs=[],
                         settings_digest="", extra=manifest.extra)  # fmt: skip
    found = Inspector(copy, portal.engine, portal.settings).inspect(
        contracts.URL_PATTERNS, [portal.day]
    )[portal.day]
    broken = {one.expected.name for one in found if one.status is Status.BROKEN}
    assert "patterns_divide_the_pages" in broken


def test_published_rules_match_as_the_tree_did(portal: Portal) -> None:
    found = read_patterns(portal.store, portal.engine, portal.day, "portal.example")
    assert found is not None
    pages = [row["url"] for row in portal.rows("page_traffic") if row["site"] == "portal.example"]
    counts = dict.fromkeys((row["pattern"] for row in found.ranks.values()), 0)
    for node in found.nodes_of(pages):
        assert node is not None
        pattern = found.pattern_of(node)
        assert pattern is not None
        counts[pattern] += 1
    assert counts == {pattern: row["volume"] for pattern, row in found.ranks.items()}


def test_sites_that_take_too_long_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(site_limits(load_settings(tmp_path)), seconds=0.001, isolated_rows=0)
    monkeypatch.setattr(url_patterns, "site_limits", lambda _: limits)
    late = Portal(tmp_path / "late")
    rows = late.rows("url_patterns")
    assert {row["status"] for row in rows} == {"timed_out"}
    assert {(row["template"], row["is_public"]) for row in rows} == {("/{**}", False)}
    assert [row["missing_ranks"] for row in late.rows("pattern_ranks")] == [
        "no_transits",
        "no_referrers",
        "no_transits",
    ]
    inspector = Inspector(late.store, late.engine, late.settings)
    found = inspector.inspect(contracts.URL_PATTERNS, [late.day])[late.day]
    broken = [one.expected.name for one in found if one.status is Status.BROKEN]
    assert broken == ["sites_are_learned"]
    shown = late.say("portal.example")
    assert shown.exit_code == 0
    assert (
        "this site was not learned (timed_out): it takes longer than 0.001 seconds" in shown.stderr
    )


def test_metadata_shows_no_name_that_few_know(portal: Portal) -> None:
    installation = Installation(portal.settings, portal.store, portal.engine)
    said = {asset.name: details(installation, asset.name, portal.day, plots=True) for asset in OWN}
    assert "anna" not in str(said)
    assert said["url_patterns"]["sites"] == 3
    assert "most_visited_site" in said["pattern_ranks"]  # the graph as a picture
    assert "most_visited_site" not in details(
        installation, "pattern_ranks", portal.day, plots=False
    )


def test_sites_are_listed_with_their_trees(portal: Portal) -> None:
    rows = json.loads(portal.say("--json").stdout)
    assert [(row["site"], row["pages"], row["has_referrers"]) for row in rows] == [
        ("portal.example", 83, True),
        ("framed.example", 12, True),
        ("mute.example", 12, False),
    ]
    assert "learned, no referrers" in portal.say().stdout


def test_a_site_is_shown(portal: Portal) -> None:
    shown = portal.say("portal.example")
    assert shown.exit_code == 0, shown.output
    for text in ("syntax", "visits", "links", STORY, THREAD, "83 pages"):
        assert text in shown.stdout
    assert "falls into 2 parts" in shown.stderr
    assert "no referrers are logged" in portal.say("https://mute.example/").stderr
    report = json.loads(portal.say("portal.example", "--json").stdout)
    assert [tree["tree"] for tree in report["trees"]] == ["syntax", "visits", "links"]
    assert sum(row["volume"] for row in report["patterns"]) == 83
    assert "leaf of" in portal.say("portal.example", "--tree").stdout


def test_a_node_can_be_looked_into(portal: Portal) -> None:
    ranks = portal.ranks("portal.example")
    story, front = ranks[STORY]["pattern"], ranks["/"]["pattern"]
    content = json.loads(portal.say("portal.example", "--node", story, "--json").stdout)
    assert len(content["pages"]) == content["volume"] == DAYS * NEWS
    assert content["came_from"] == [{"pattern": front, "transits": 400}]
    assert content["went_to"] == []
    whole = json.loads(portal.say("portal.example", "--node", 0, "--json").stdout)
    assert (len(whole["pages"]), sum(one["transits"] for one in whole["went_to"])) == (83, 580)
    shown = portal.say("portal.example", "--node", story, "--limit", 2)
    assert "a pattern, and a leaf of the whole tree" in shown.stdout
    assert "divided into" in portal.say("portal.example", "--node", 0).stdout
    missing = portal.say("portal.example", "--node", 999)
    assert (missing.exit_code, "has the nodes 0 to" in missing.stderr) == (2, True)


def test_urls_find_their_patterns(portal: Portal) -> None:
    ranks = portal.ranks("portal.example")
    unseen = "http://PORTAL.example/news/2031/12/24/a-new-one.html#top"
    urls = [unseen, f"{HOST}/thread?id=77", "nonsense", f"{HOST}/news/x/y/z/a/b/c"]
    given = "\n".join(urls) + "\n\n"
    result = portal.say("portal.example", "--match", "-", "--json", given=given)
    content = json.loads(result.stdout)
    assert [row["url"] for row in content] == urls
    assert [row["pattern"] for row in content] == [
        ranks[STORY]["pattern"], ranks[THREAD]["pattern"], None, None,
    ]  # fmt: skip
    assert content[2]["reason"] == "no URL of a page"
    assert STORY in portal.say("portal.example", "--match", unseen).stdout


def test_the_graph_is_drawn(portal: Portal, tmp_path: Path) -> None:
    png, svg = tmp_path / "graph.png", tmp_path / "graph.svg"
    assert portal.say("portal.example", "--graph", png).exit_code == 0
    assert png.read_bytes().startswith(b"\x89PNG\r\n")
    assert portal.say("portal.example", "--graph", svg).exit_code == 0
    assert "anna" not in svg.read_text("utf-8")
    assert portal.say("portal.example", "--graph", tmp_path / "graph.txt").exit_code == 2


def test_quality_is_measured_out_of_time(portal: Portal, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror.parquet"
    pages = [f"{HOST}/news/2026/04/01/later-{n}x.html" for n in range(6)]
    pages += [f"{HOST}/thread?id={n}" for n in range(100, 106)]
    bodies = ["<html><article><h1>a</h1></article></html>"] * 6 + ["<table><tr><td>x</table>"] * 6
    pq.write_table(pa.table({"url": pages, "html": bodies}), mirror)
    result = portal.say("--quality", "--periods", 2, "--mirror", mirror, "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["learned"] == ["2026-03-01", "2026-03-04"]
    assert content["periods"] == [["2026-03-05", "2026-03-08"]]
    patterns, urls = content["methods"]["cut by links"], content["methods"]["single URLs"]
    # Of later pages, the 20 new stories were not known.
    assert patterns["later"] == [{"urls": 1.0, "visits": 1.0}]
    assert urls["later"][0]["urls"] == pytest.approx(67 / 87)
    assert (patterns["mirror_coverage"], urls["mirror_coverage"]) == (1.0, 0.0)
    assert patterns["layout"]["within"] == pytest.approx(1.0)
    assert patterns["layout"]["random"] < 0.9
    assert "single URLs" in portal.say("--quality", "--periods", 2).stdout


def test_urls_that_are_no_text_are_no_urls(portal: Portal) -> None:
    given = b"\xff\n" + f"{HOST}/thread?id=77\n".encode()
    result = portal.say("portal.example", "--match", "-", "--json", given=given)
    assert result.exit_code == 0, result.output
    assert [row["url"] for row in json.loads(result.stdout)] == ["\ufffd", f"{HOST}/thread?id=77"]
    assert portal.say("portal.example", "--match", "\udcff").exit_code == 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (None, "mirror.parquet: "),
        ({"address": ["x"]}, "mirror.parquet: a mirror is Parquet with url and html: no url"),
        ({"url": [["x"]]}, "mirror.parquet: Unsupported cast"),
    ],
)
def test_what_is_no_mirror_is_named(
    portal: Portal, tmp_path: Path, columns: dict[str, Any] | None, said: str
) -> None:
    mirror = tmp_path / "mirror.parquet"
    mirror.write_bytes(b"no Parquet")
    if columns is not None:
        pq.write_table(pa.table(columns), mirror)
    result = portal.say("--quality", "--periods", 2, "--mirror", mirror)
    assert result.exit_code == 1, result.output
    assert said in result.stderr


def test_a_mirror_may_lack_html(portal: Portal, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror.parquet"
    urls = [f"{HOST}/thread?id={n}" for n in range(100, 106)]
    for columns in ({"url": urls}, {"url": urls, "html": pa.array([None, b"<p>"] * 3)}):
        pq.write_table(pa.table(columns), mirror)
        result = portal.say("--quality", "--periods", 2, "--mirror", mirror, "--json")
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.example"], "there is no site 'nowhere.example'"),
        (["--node", "1"], "name the site"),
        (["portal.example", "--node", "1", "--match", "x"], "exclude each other"),
        (["portal.example", "--mirror", "x"], "only with --quality"),
        (["--quality", "--mirror", "no-such-file"], "there is no file"),
        (["--quality", "--periods", "9"], "8 days cannot be divided into 9 periods"),
        (["nowhere.example", "--quality"], "no page of nowhere.example"),
    ],
)
def test_wrong_calls_are_told(portal: Portal, arguments: list[str], said: str) -> None:
    result = portal.say(*arguments)
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_real_log_patterns_outlive_urls(shared_data: Path, tmp_path: Path) -> None:
    """BB Figure 6 on four days of a real log."""
    state = tmp_path / "real"
    runner = CliRunner()
    path = next((shared_data / "elastic_logs").glob("apache_logs*"))
    for arguments in (
        ["ingest", str(path), "--host", "www.semicomplete.com", "--state", str(state)],
        ["materialize", "requests", "page_views", "transits", "--state", str(state)],
    ):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 0, result.output
    said = json.loads(
        runner.invoke(
            app,
            ["show", "patterns", "--quality", "--periods", "2", "--json", "--state", str(state)],
        ).stdout
    )["methods"]
    (syntax,), (transit,), (urls,) = (
        said[name]["later"] for name in ("by syntax", "cut by links", "single URLs")
    )
    assert transit["urls"] >= syntax["urls"] > 0.9
    assert urls["urls"] < 0.5
    assert transit["visits"] >= syntax["visits"] > urls["visits"]
