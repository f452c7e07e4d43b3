"""Trees, scores, prefixes and changes in SQL against `core` called by hand, and by hand."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.core.lists.dated_sections import dated_sections
from temporal_assets.core.lists.prefix_tree import score_sections
from temporal_assets.core.lists.site_scores import count, ranking, score
from temporal_assets.core.lists.whole_sections import whole_sections
from temporal_assets.core.numerics.proportions import lower_bound
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.engines.base import Engine
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import load_settings
from temporal_assets.windows.evaluation.seed_evaluation import SEED_EVALUATION
from temporal_assets.windows.evaluation.trials import trials
from temporal_assets.windows.evaluation.tuning import tune
from temporal_assets.windows.lists import prefix_trees, scored, sections
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES, rule_of
from temporal_assets.windows.lists.scored import scoring_of
from temporal_assets.windows.lists.site_changes import SITE_CHANGES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.report.evaluation_report import EVALUATION_REPORT
from temporal_assets.windows.report.report_rows import ReportRows
from tests.sites import ASSETS, FIRST, Labelled

A = "https://a.example"
NEWS = {f"{A}/news/{n}": [0, 0, 9, 1, 0, 0, 1, 1] for n in range(6)}
CARE = {f"{A}/care.php?id={n}": [1] * 8 for n in range(8)}
PAGES = NEWS | CARE | {f"{A}/": [20] * 8, "https://b.example/x": [2] * 8}


@pytest.fixture
def mixed(engine: Engine, tmp_path: Path) -> Labelled:
    """A site with a news folder and an evergreen program, and one with a page."""
    here = Labelled(engine, tmp_path)
    here.write_days(PAGES)
    here.write_labels(7, PAGES, set(NEWS), set(NEWS))
    here.make(7)
    return here


def test_the_tree_of_a_site(mixed: Labelled) -> None:
    rows = {row["prefix"]: row for row in mixed.rows("prefix_trees", 7)}
    assert list(rows) == ["a.example/", "a.example/care.php?", "a.example/news/", "b.example/"]
    root = rows["a.example/"].items()
    assert {name: value for name, value in root if "flow" not in name} == {
        "day": dt.date(2026, 3, 8),
        "site": "a.example",
        "prefix": "a.example/",
        "parent": None,
        "depth": 0,
        "is_program": False,
        "first_seen": FIRST,
        "own_pages": 1,
        "pages": 15,
        "temporal_pages": 6,
        "news_pages": 6,
        "curve_pages": 15,
        "aged_pages": 15,
        "views": 6 * 12 + 8 * 8 + 160,
        "temporal_views": 72,
        "recent_views": 6 * 2 + 8 * 3 + 60,
        "view_squares": 6 * 144.0 + 8 * 64 + 160**2,
        "clients": 20,
        # All of them were there on the first day.
        "own_old_pages": 1,
        "old_pages": 15,
        "old_temporal_pages": 6,
    }
    assert rows["a.example/care.php?"]["is_program"]
    # A view a day each: only the window tells that there are eight clients.
    assert rows["a.example/care.php?"]["clients"] == 8
    assert rows["a.example/news/"]["clients"] == 9


def test_the_mixed_site_contributes_its_news(mixed: Labelled) -> None:
    rows = {row["prefix"]: row for row in mixed.rows("section_scores", 7)}
    assert {name: row["is_whole"] for name, row in rows.items()} == {
        "a.example/": False,
        "a.example/care.php?": True,
        "a.example/news/": True,
        "b.example/": True,
    }
    news = rows["a.example/news/"]
    assert (news["rank"], news["is_selected"], news["score"]) == (1, True, 1.0)
    # All of six pages, whose views are worth six pages.
    assert news["bound"] == pytest.approx(float(lower_bound(1.0, 6, 0.95)))
    assert [row["rank"] for row in rows.values()] == [None, None, 1, None]
    (prefix,) = mixed.rows("news_prefixes", 7)
    assert (prefix["prefix"], prefix["pages"], prefix["news_pages"]) == ("a.example/news/", 6, 6)
    assert (prefix["threshold"], prefix["min_pages"], prefix["confidence"]) == (0.4, 3, 0.8)


def test_scores_of_sites_by_hand(mixed: Labelled) -> None:
    first, second = mixed.rows("site_scores", 7)
    assert (first["site"], first["rank"], first["hosts"]) == ("a.example", 1, 1)
    assert first["score_1"] == pytest.approx(6 / 15)
    assert first["score_2"] == pytest.approx(72 / 296)
    assert first["score"] == pytest.approx((3 * 6 / 15 + 2 * 72 / 296) / 5)
    assert (second["site"], second["rank"], second["score"]) == ("b.example", None, 0.0)
    assert (second["first_seen"], second["last_seen"]) == (FIRST, dt.date(2026, 3, 8))


def test_young_pages_count_as_what_they_probably_are(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path)
    known = {f"https://news.example/{n}": [5] * 8 for n in range(4)}
    young = {f"https://games.example/{n}": [0] * 6 + [4, 6] for n in range(5)}
    here.write_days(known | young)
    # Of the known pages one in four is temporal, and so may be a page nothing else is known of.
    chances = dict(zip(young, (0.9, 0.5, 0.125, None, None), strict=True))
    here.write_labels(7, known | young, {"https://news.example/0"}, set(), chances)
    here.make(7)
    rows = {row["site"]: row for row in here.rows("site_scores", 7)}
    games = rows["games.example"]
    assert (games["pages"], games["temporal_pages"], games["young_pages"]) == (5, 0, 5)
    assert games["young_temporal_pages"] == pytest.approx(0.9 + 0.5 + 0.125 + 0.25 + 0.25)
    scores = [games[name] for name in ("score_1", "score_2", "score")]
    assert scores == pytest.approx([2.025 / 5] * 3)
    # As sure as two pages of five can be.
    bound = float(lower_bound(2.025 / 5, 5, 0.95))
    assert (games["rank"], games["bound"]) == (1, pytest.approx(bound))
    assert rows["news.example"]["young_pages"] == 0
    window, paper = {"days": 8, "min_days": 1}, {"rule": "paper"}
    here.settings = load_settings(tmp_path, window=window, sites=paper)
    here.make(7, [SITE_SCORES])
    rows = {row["site"]: row for row in here.rows("site_scores", 7)}
    games = rows["games.example"]
    assert (games["young_pages"], games["score"], games["rank"]) == (0, 0.0, None)


def test_pages_too_young_to_be_news_do_not_split_a_folder(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path)
    first = {f"{A}/news/01/{n}": [9] * 8 for n in range(8)}
    second = {f"{A}/news/02/{n}": [0] * 6 + [9, 9] for n in range(8)}
    care = {f"{A}/care/{n}": [9] * 8 for n in range(16)}
    here.write_days(first | second | care)
    news, young = set(first), dict.fromkeys(second)
    here.write_labels(7, first | second | care, news, news, young)
    here.make(7)
    tree = {row["prefix"]: row for row in here.rows("prefix_trees", 7)}["a.example/news/"]
    assert [tree[name] for name in ("pages", "curve_pages", "aged_pages")] == [16, 8, 8]
    (prefix,) = here.rows("news_prefixes", 7)
    assert (prefix["prefix"], prefix["pages"], prefix["score"]) == ("a.example/news/", 8, 1.0)
    # Yet they are under it, and not with the rest of the site.
    (folders,) = ReportRows(here.job(EVALUATION_REPORT, 7, tmp_path)).folders()
    assert folders == {
        "site": "a.example",
        "pages": 32,
        "news_pages": 8,
        "prefixes": 1,
        "prefix_pages": 16,
        "prefix_news_pages": 8,
    }
    # The paper's rule takes the folder of yesterday, under which nothing will ever come up.
    here.settings = load_settings(
        tmp_path, window={"days": 8, "min_days": 1}, prefixes={"rule": "paper"}
    )
    here.make(7, [NEWS_PREFIXES])
    (prefix,) = here.rows("news_prefixes", 7)
    assert (prefix["prefix"], prefix["pages"]) == ("a.example/news/01/", 8)


def test_a_page_is_old_enough_by_the_days_that_are_there(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path, days=10)
    births = {f"{A}/{born}": born for born in (2, 3, 4, 6)}
    pages = {url: [0] * born + [9] * (10 - born) for url, born in births.items()}
    here.write_days(pages, missing=(7, 8))
    here.write_labels(9, pages, set(), set(), births=births)
    here.make(9)
    (tree,) = here.rows("prefix_trees", 9)
    # Six days are more than 1.91 times three, five and four are not; and two are more than 1.91
    # times the one that is there of the first three of the youngest.
    assert (tree["pages"], tree["aged_pages"]) == (4, 2)
    (trial,) = trials(here.job(SEED_EVALUATION, 9, tmp_path))
    known = trial.known.to_pydict()
    assert dict(zip(known["url"], known["has_news"], strict=True)) == {
        f"{A}/2": True,
        f"{A}/3": False,
        f"{A}/4": False,
        f"{A}/6": True,
    }


def test_lists_of_a_window_before_know_its_days(engine: Engine, tmp_path: Path) -> None:
    """Pages that were too young for the list that was published are so where it is judged."""
    evaluation = {"horizons": [1], "settle_days": 2}
    here = Labelled(engine, tmp_path, days=10, evaluation=evaluation)
    births = {f"{A}/{born}": born for born in (2, 3, 4, 6)}
    here.write_days(
        {url: [0] * born + [9] * (13 - born) for url, born in births.items()}, missing=(7, 8)
    )
    for last in (9, 12):
        pages = {url: [0] * born + [9] * (last + 1 - born) for url, born in births.items()}
        here.write_labels(last, pages, set(), set(), births=births)
    # Windows have become shorter since, and the days of that one are what they were.
    window = {"days": 8, "min_days": 1}
    here.settings = load_settings(tmp_path, window=window, evaluation=evaluation)
    _, trial = trials(here.job(SEED_EVALUATION, 12, tmp_path))
    assert trial.learned_until == here.day(9)
    assert trial.known["has_news"].to_pylist() == [True, False, False, True]


def test_tune_counts_the_days_of_the_window_it_is_given(engine: Engine, tmp_path: Path) -> None:
    """Today's settings do not tell which days those were."""
    here = Labelled(engine, tmp_path, days=10)
    births = {f"{A}/{n}/{born}": born for n in range(3) for born in (1, 3, 6, 7)}
    pages = {url: [0] * born + [9] * (10 - born) for url, born in births.items()}
    here.write_days(pages, missing=(2,))
    here.write_labels(9, pages, set(pages), set(), births=births)
    until = here.day(5)
    wanted = tune(here.store, here.engine, here.settings, here.day(9), until)
    for days in (6, 14):
        now = load_settings(
            tmp_path,
            window={"days": days, "min_days": 1},
            sites={"rule": "confident"},
            prefixes={"rule": "confident", "label": "news"},
        )
        assert tune(here.store, here.engine, now, here.day(9), until) == wanted


@pytest.mark.parametrize("scope", ["section", "site", "all", "settings"])
def test_born_pages_are_judged_by_the_thresholds_that_lists_were_made_with(
    engine: Engine, tmp_path: Path, scope: str
) -> None:
    """Nine of twelve views in three of six days: a share of 0.75, a concentration of 1.5.

    What the days that judge are labelled with is chosen on what is judged, and has no say.
    """
    here = Labelled(engine, tmp_path, days=10, evaluation={"horizons": [2], "settle_days": 4})
    strict = {f"{A}/news/old": {"q": 0.8, "p": 1.6, "thresholds": scope}}
    loose = {"https://c.example/old": {"q": 0.7, "p": 1.4, "thresholds": "all"}}
    known = strict | loose if scope in ("section", "site") else strict
    is_strict = {
        f"{A}/news/new": True,
        f"{A}/care/new": scope != "section",
        "https://b.example/new": scope in ("all", "settings"),
    }
    born = {url: [0] * 6 + [3, 3, 3, 1, 1, 1] for url in is_strict}
    here.write_days({url: [9] * 12 for url in known} | born)
    here.write_labels(5, {url: [9] * 12 for url in known}, set(), set(), thresholds=known)
    now = {url: {"n": 1.0, "q": 0.1, "m": 1, "p": 9.0, "thresholds": "all"} for url in born}
    births = dict.fromkeys(born, 6)
    here.write_labels(11, born, set(), set(), births=births, thresholds=now)
    _, trial = trials(here.job(SEED_EVALUATION, 11, tmp_path))
    judged = {row.pop("url"): row for row in trial.judged.to_pylist()}
    assert {url: row["is_temporal"] for url, row in judged.items()} == {
        url: not strictly for url, strictly in is_strict.items()
    }
    assert all(row["is_temporal"] == row["is_news"] for row in judged.values())


def test_the_report_names_the_thresholds_in_use(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path)
    here.write_days(PAGES)
    here.write_labels(7, {}, set(), set())
    reader = ReportRows(here.job(EVALUATION_REPORT, 7, tmp_path))
    assert reader.cuts() == {"q": "0.7", "m": "3", "p": "1.91"}
    used = {url: {"q": 0.55, "m": 2, "p": 1.5} for url in PAGES}
    here.write_labels(7, PAGES, set(NEWS), set(NEWS), thresholds=used)
    reader = ReportRows(here.job(EVALUATION_REPORT, 7, tmp_path))
    assert reader.cuts() == {"q": "0.55", "m": "2", "p": "1.5"}
    here.write_labels(7, PAGES, set(NEWS), set(NEWS), thresholds=dict.fromkeys(CARE, used[f"{A}/"]))
    reader = ReportRows(here.job(EVALUATION_REPORT, 7, tmp_path))
    assert reader.cuts() == {"q": "0.55 to 0.7", "m": "2 to 3", "p": "1.5 to 1.91"}


def test_domains_put_hosts_together(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scored, "FEWEST_PAGES", 1)
    here = Labelled(engine, tmp_path, sites={"by": "domain"})
    pages = {f"https://{host}.a.co.uk/": [5] * 8 for host in ("news", "www")}
    here.write_days(pages)
    here.write_labels(7, pages, {"https://news.a.co.uk/"}, set())
    here.make(7)
    (row,) = here.rows("site_scores", 7)
    assert (row["site"], row["hosts"], row["pages"], row["score"]) == ("a.co.uk", 2, 2, 0.5)


def test_clients_of_small_pages_are_counted_together(engine: Engine, tmp_path: Path) -> None:
    """Four clients on each page, two of them on both; on the third, three a day and many in all."""
    here = Labelled(engine, tmp_path)
    first, second, busy = (f"{A}/a/{n}" for n in "123")
    pages = {first: [4] + [0] * 7, second: [0, 4] + [0] * 6, f"{A}/b/": [0, 0, 1] + [0] * 5}
    here.write_days(pages, clients=7)
    here.write_labels(7, pages, set(), set())
    here.make(7)
    counted = {row["prefix"]: row["clients"] for row in here.rows("prefix_trees", 7)}
    # 0 to 3, 100 to 103 and 200, modulo 7.
    assert counted == {"a.example/": 6, "a.example/a/": 6, "a.example/b/": 1}

    here = Labelled(engine, tmp_path / "busy")
    pages = {first: [4] + [0] * 7, busy: [3] * 8}
    here.write_days(pages)
    here.write_labels(7, pages, set(), set())
    here.make(7)
    counted = {row["prefix"]: row["clients"] for row in here.rows("prefix_trees", 7)}
    assert counted == {"a.example/": 24, "a.example/a/": 24}


def test_names_that_few_clients_know_are_not_listed(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path)
    secret = {f"https://secret.example/plan/{n}": [4, 0, 0, 0, 0, 0, 0, 4] for n in range(9)}
    here.write_days(secret, clients=4)
    here.write_labels(7, secret, set(secret), set(secret))
    here.make(7)
    assert {row["clients"] for row in here.rows("prefix_trees", 7)} == {4}
    assert [row["rank"] for row in here.rows("site_scores", 7)] == [None]
    assert {row["rank"] for row in here.rows("section_scores", 7)} == {None}
    assert here.rows("news_prefixes", 7) == here.rows("site_changes", 7) == []


def test_a_site_comes_and_goes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "QUIET_DAYS", 2)
    monkeypatch.setattr(prefix_trees, "QUIET_DAYS", 2)
    monkeypatch.setattr(scored, "FEWEST_PAGES", 1)
    here = Labelled(engine, tmp_path, days=8)
    steady = {f"https://news.example/{n}": [9] * 12 for n in range(3)}
    event = {f"https://games.example/{n}": [0] * 3 + [9] * 4 + [0] * 5 for n in range(3)}
    pages = steady | event
    here.write_days(pages)
    actual: dict[int, dict[str, dict[str, object]]] = {}
    for last in range(2, 12):
        # What is new has no labels before its third day.
        temporal = set(steady) | (set(event) if last >= 5 else set())
        here.write_labels(last, pages, temporal, set())
        here.make(last)
        actual[last] = {row["site"]: row for row in here.rows("site_changes", last)}
    assert actual[2]["news.example"]["change"] == "listed"
    seen = actual[3]["games.example"]
    assert (seen["change"], seen["is_first_seen"]) == ("unlisted", True)
    assert seen["first_seen"] == here.day(3)
    assert "games.example" not in actual[4]
    assert (actual[5]["games.example"]["change"], actual[5]["games.example"]["rank"]) == (
        "entered",
        1,  # of equals the first by name
    )
    # Who enters above it does not make it fall.
    pushed = actual[5]["news.example"]
    assert (pushed["change"], pushed["rank"], pushed["earlier_rank"]) == ("steady", 2, 1)
    assert actual[6]["games.example"]["change"] == "steady"
    # Its last views are those of day 6: after two quiet days it is gone.
    assert actual[7]["games.example"]["change"] == "steady"
    left = actual[8]["games.example"]
    assert (left["change"], left["rank"], left["is_gone_quiet"]) == ("left", None, True)
    assert left["last_seen"] == here.day(6)
    assert actual[8]["news.example"]["change"] == "steady"
    assert set(actual[9]) == {"news.example"}


@pytest.mark.parametrize(
    ("views", "missing"),
    [
        # 100 views since day 4, 25 a day: of the window's days it would be 12.5, and 10 enough.
        ([0, 0, 0, 0, 40, 40, 10, 10], ()),
        # 46 views on six days, 7.7 a day: of all eight it would be 5.75, and 3 enough.
        ([10, 0, 0, 10, 10, 10, 3, 3], (1, 2)),
    ],
)
def test_usual_views_are_those_of_the_days_that_are_there_since_the_first(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    views: list[int],
    missing: tuple[int, ...],
) -> None:
    """A site, its only section and its prefix go quiet together."""
    monkeypatch.setattr(sections, "QUIET_DAYS", 2)
    monkeypatch.setattr(prefix_trees, "QUIET_DAYS", 2)
    monkeypatch.setattr(sections, "QUIET_SHARE", 0.5)
    monkeypatch.setattr(scored, "FEWEST_PAGES", 1)
    here = Labelled(engine, tmp_path)
    steady = {f"https://news.example/{n}": [9] * 8 for n in range(4)}
    over = {f"https://games.example/{n}": views for n in range(4)}
    here.write_days(steady | over, missing=missing)
    births = {url: views.index(max(views)) for url in over}
    here.write_labels(7, steady | over, set(steady | over), set(steady | over), births=births)
    here.make(7)
    for asset in ("site_scores", "section_scores"):
        actual = {row["site"]: row["is_quiet"] for row in here.rows(asset, 7)}
        assert actual == {"games.example": True, "news.example": False}
    assert [row["prefix"] for row in here.rows("news_prefixes", 7)] == ["news.example/"]


def test_rising_and_falling_are_among_those_that_stay(engine: Engine, tmp_path: Path) -> None:
    here = Labelled(engine, tmp_path)
    here.write_days({f"{A}/": [9] * 8})
    lists = {6: ["a", "b", "c", "d", "gone"], 7: ["new", "a", "c", "b", "d"]}
    for last, names in lists.items():
        here.publish(
            "site_scores",
            here.day(last),
            [
                {"site": name, "hosts": 1, "is_quiet": False, "is_selected": True, "rank": rank}
                | dict.fromkeys(("pages", "temporal_pages", "clients", "views"), 9)
                | {"temporal_views": 9, "first_seen": FIRST, "last_seen": here.day(last)}
                for rank, name in enumerate(names, 1)
            ],
        )
    here.make(7, [SITE_CHANGES])
    actual = {row["site"]: row["change"] for row in here.rows("site_changes", 7)}
    assert actual == {
        "new": "entered",
        "gone": "left",
        "a": "steady",
        "c": "rising",
        "b": "falling",
        "d": "steady",
    }


def test_a_list_is_compared_with_the_latest_of_its_own_kind(mixed: Labelled) -> None:
    mixed.write_labels(6, PAGES, set(NEWS), set(NEWS))
    mixed.make(6)
    mixed.make(7)
    (row,) = mixed.rows("site_changes", 7)
    assert (row["change"], row["has_earlier"], row["earlier_day"]) == ("steady", True, mixed.day(6))
    sites = mixed.settings.sites.model_copy(update={"alpha": 1.0})
    mixed.settings = mixed.settings.model_copy(update={"sites": sites})
    mixed.make(7)
    (row,) = mixed.rows("site_changes", 7)
    assert (row["change"], row["has_earlier"]) == ("listed", False)


@pytest.mark.parametrize("asset", [asset.name for asset in ASSETS])
def test_everything_promised_holds(mixed: Labelled, asset: str) -> None:
    inspector = Inspector(mixed.store, mixed.engine, mixed.settings)
    findings = inspector.inspect(contracts.table(asset), [mixed.day(7)])[mixed.day(7)]
    wrong = [
        finding for finding in findings if finding.status not in (Status.HELD, Status.NOT_JUDGED)
    ]
    assert wrong == []


def test_gates_see_what_is_wrong(mixed: Labelled) -> None:
    trees, prefixes = mixed.rows("prefix_trees", 7), mixed.rows("news_prefixes", 7)
    mixed.publish("prefix_trees", mixed.day(7), trees[1:])
    mixed.publish(
        "news_prefixes",
        mixed.day(7),
        [
            prefixes[0] | {"clients": 4, "bound": 0.4},
            prefixes[0] | {"prefix": "a.example/news/1/", "pages": 1, "news_pages": 1},
        ],
    )
    inspector = Inspector(mixed.store, mixed.engine, mixed.settings)
    broken = {
        name: {
            finding.expected.name
            for finding in inspector.inspect(contracts.table(name), [mixed.day(7)])[mixed.day(7)]
            if finding.status is Status.BROKEN
        }
        for name in ("prefix_trees", "news_prefixes", "site_scores")
    }
    assert broken == {
        "prefix_trees": {"roots_count_the_site"},
        "news_prefixes": {
            *("above_its_threshold", "known_to_enough_clients", "none_lies_under_another"),
            "prefixes_are_of_the_trees",
        },
        "site_scores": {"pages_are_those_of_the_trees"},
    }


path = st.lists(st.sampled_from(["a", "b", "é", "2026"]), max_size=3).map("/".join)
page = st.builds(
    lambda host, path, query: f"https://{host}/{path}{query}",
    st.sampled_from(["x.example", "y.example:81", "z.example"]),
    path,
    st.sampled_from(["", "?q=1", "?q=2", "/"]),
)


# So many days that no page is too young to be news: younger ones have a test of their own.
_DAYS = 6


@settings(max_examples=25)
@given(
    pages=st.dictionaries(
        page,
        st.tuples(
            st.lists(st.integers(0, 7), min_size=_DAYS, max_size=_DAYS),
            st.booleans(),
            st.booleans(),
        ),
        min_size=1,
        max_size=25,
    ),
    rule=st.sampled_from(["confident", "paper"]),
)
def test_sql_is_what_core_says(
    engine: Engine, pages: dict[str, tuple[list[int], bool, bool]], rule: str
) -> None:
    pages = {url: views for url, views in pages.items() if sum(views[0])}
    if not pages:
        return
    urls = sorted(pages)
    temporal = {url for url in urls if pages[url][1]}
    news = {url for url in urls if pages[url][2]}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "QUIET_SHARE", 0.0)
        patch.setattr(scored, "FEWEST_PAGES", 2)
        here = Labelled(
            engine,
            Path(folder),
            days=_DAYS,
            privacy={"min_clients": 1},
            sites={"rule": rule},
            prefixes={"rule": rule},
        )
        here.write_days({url: views[0] for url, views in pages.items()} | {f"{A}/": [1] * _DAYS})
        here.write_labels(
            _DAYS - 1, {url: views[0] for url, views in pages.items()}, temporal, news
        )
        here.make(_DAYS - 1)
        trees = section_trees(texts(urls))
        names = trees.names()
        is_temporal = np.array([url in temporal for url in urls])
        is_news = np.array([url in news for url in urls])
        views = np.array([sum(pages[url][0]) for url in urls])
        total = trees.total(np.ones(len(urls), np.int64))
        actual = {row["prefix"]: row for row in here.rows("prefix_trees", _DAYS - 1)}
        assert sorted(actual) == sorted(names)
        assert [actual[name]["pages"] for name in names] == total.tolist()
        assert [actual[name]["views"] for name in names] == trees.total(views).tolist()
        assert [actual[name]["news_pages"] for name in names] == trees.total(is_news).tolist()
        assert [actual[name]["parent"] for name in names] == [
            names[above] if above >= 0 else None for above in trees.parent
        ]
        scores = score_sections(
            trees.parent, total, trees.total(is_news), rule_of(here.settings), dated_sections(names)
        )
        chosen = sorted(names[n] for n in np.flatnonzero(scores.is_prefix))
        assert [row["prefix"] for row in here.rows("news_prefixes", _DAYS - 1)] == chosen
        _sections_are_those_of_core(here, names, trees.parent)
        _sites_are_those_of_core(here, urls, is_temporal, views)


def _sections_are_those_of_core(here: Labelled, names: list[str], parent: np.ndarray) -> None:
    rows = {row["prefix"]: row for row in here.rows("section_scores", _DAYS - 1)}
    of = [rows[name] for name in names]
    whole = whole_sections(
        parent,
        np.array([row["score"] for row in of]),
        np.array([row["bound"] for row in of]),
        np.array([row["pages"] >= scoring_of(here.settings).min_pages for row in of]),
    )
    assert [row["is_whole"] for row in of] == whole.tolist()


def _sites_are_those_of_core(
    here: Labelled, urls: list[str], is_temporal: np.ndarray, views: np.ndarray
) -> None:
    hosts = [url.split("/")[2].split(":")[0] for url in urls]
    names, of = np.unique(hosts, return_inverse=True)
    counts = count(of, is_temporal, views, len(names))
    scoring = scoring_of(here.settings)
    scores = score(counts, scoring)
    rows = {row["site"]: row for row in here.rows("site_scores", _DAYS - 1) if row["pages"]}
    assert sorted(rows) == names.tolist()
    for column in ("score_1", "score_2", "score", "bound"):
        assert [rows[name][column] for name in names] == pytest.approx(getattr(scores, column))
    order = ranking(counts, names.tolist(), scoring, among=counts.temporal_pages > 0)
    ranked = sorted((row for row in rows.values() if row["rank"]), key=lambda row: row["rank"])
    assert [row["site"] for row in ranked] == [names[n] for n in order]
