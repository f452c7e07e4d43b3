"""Evaluation of crawls from a mirror and traffic, on a site small enough to know the answer."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from temporal_assets.core.crawls.crawl_policies import BASELINES
from temporal_assets.crawl.evaluation import Politeness, evaluate, evaluate_together
from temporal_assets.crawl.evaluation_results import Evaluation
from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.crawl.mirror.sources import read_sources
from temporal_assets.crawl.mirror.traffic import Learning, Traffic, add_transits, clicks_of
from temporal_assets.logs.urls.canonical import SITE, site_of
from temporal_assets.logs.urls.url_rules import DEFAULT

HOME = "https://a.example/"
OLD = [f"https://a.example/old/page-{i}.html" for i in range(400)]
NEWS = [f"https://a.example/news/story-{i}.html" for i in range(100)]


def table(urls, name="url", **columns):
    return pa.table({"site": ["a.example"] * len(urls), name: list(urls), **columns})


@pytest.fixture(scope="module")
def mirror():
    """The home page links 400 old pages, then 100 news; nothing else links."""
    builder = MirrorBuilder()
    builder.page(HOME, [(url, False) for url in (*OLD, *NEWS)])
    for url in (*OLD, *NEWS):
        builder.page(url, ())
    builder.page("https://small.example/", ())
    return builder.build()


@pytest.fixture(scope="module")
def learned():
    """Half of the pages are in the log: ten visits a news page, one an old page.

    Both come from different pages: by the transit cut alike ones would be one pattern."""
    visits = [(HOME, 100), *((url, 1) for url in OLD[:200]), *((url, 10) for url in NEWS[:50])]
    urls, counts = zip(*visits, strict=True)
    referrals = [500, 200, *[0] * 249]
    pages = table(urls, visits=counts, referrals=referrals)
    transits = table(
        urls[1:], "target", referrer=[*[OLD[0]] * 200, *[HOME] * 50], clients=counts[1:]
    )
    return Learning(Traffic(pages, transits))


def test_orders_differ_as_the_site_says(mirror, learned):
    later = table([*NEWS, "https://a.example/unknown"], visits=[1] * 100 + [100])
    result = evaluate(mirror, learned, later)
    assert set(result.skipped) == {"small.example"}
    (site,) = result.sites
    assert (site.start, site.pages, site.reachable) == (HOME, 501, 501)
    assert (site.traffic, site.visited, site.in_mirror, site.covered) == (100.0, 100, 0.5, 1.0)
    ahead = {
        name: result.sites_ahead("fetch", name, "breadth_first") for name in ("volume", "combined")
    }
    assert ahead == {"volume": 0, "combined": 1}
    needed = {name: curve.pages_for(0.8) for name, curve in result.mean("fetch").items()}
    # The home page and 80 news, however they are found; breadth first takes the old pages before.
    for name in ("oracle", "average_visit", "combined"):
        assert needed[name] == pytest.approx(81 / 501, abs=0.003)
    assert needed["breadth_first"] == pytest.approx(481 / 501)
    assert needed["volume"] == pytest.approx(481 / 501)
    seen = result.mean("discovery")
    assert all(curve.pages_for(0.9) < 0.003 for curve in seen.values())  # all is on the home page


def test_a_site_teaches_its_own_weights(mirror, learned):
    """Pages read in the first part are over in the second, and new pages of the news are read."""
    first, second = NEWS[:30], NEWS[30:60]

    def visited(news):
        urls = [HOME, *OLD[:100], *news]
        visits = [50, *[1] * 100, *[10] * len(news)]
        none = [0] * len(urls)
        return Traffic(
            table(urls, visits=visits, referrals=none), learned.whole.transits.slice(0, 0)
        )

    parts = Learning(visited([*first, *second]), visited(first), visited(second))
    later = table([HOME, *NEWS[60:]], visits=[50] + [10] * 40)
    with_past, without = (
        evaluate(mirror, one, later).mean("fetch")["combined"].at(0.1)
        for one in (parts, Learning(parts.whole))
    )
    assert with_past > without + 0.2


def test_a_gain_over_the_best_simple_order_has_an_interval_over_sites(mirror, learned):
    later = table(NEWS, visits=[1] * 100)
    result = evaluate(mirror, learned, later)
    at = np.array([0.1, 0.5])
    best = result.best_baseline("fetch", at)
    assert set(best) <= set(BASELINES)
    gain = result.gain("fetch", "combined", best, at)
    assert (gain.low, gain.high) == (None, None)
    twice = Evaluation((*result.sites, *result.sites), {})
    same = twice.gain("fetch", "combined", best, at)
    assert same.low == pytest.approx(gain.mean)
    assert same.high == pytest.approx(gain.mean)


def test_only_the_sites_asked_for(mirror, learned):
    later = table(NEWS, visits=[1] * 100)
    assert evaluate(mirror, learned, later, only=["small.example"]).sites == ()


def test_a_mirror_of_what_users_did(learned):
    builder = MirrorBuilder()
    add_transits(learned.whole, builder)
    mirror = builder.build()
    assert (len(mirror), mirror.links.links) == (251, 250)


def test_clicks(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text(
        "url,clicks\nhttp://a.example/x,3\nhttps://a.example/x,4\nnone,1\n/x\nhttp://a.example/y,-1\n"
        "http://a.example/z,99999999999999999999\n"
    )
    table, bad = clicks_of(path, DEFAULT)
    assert table.to_pylist() == [{"site": "a.example", "url": "https://a.example/x", "visits": 7}]
    assert bad == 4


def test_clicks_that_are_no_csv_are_named(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("url,clicks\nhttp://a.example/x,3\n" + "x" * 200_000 + ",4\n")
    with pytest.raises(ValueError, match=r"^line 3: field larger than field limit"):
        clicks_of(path, DEFAULT)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    from temporal_assets.demo import DemoOptions, generate

    folder = tmp_path_factory.mktemp("corpus")
    options = DemoOptions(days=6, sites=3, pages=300, requests=3_000, clients=600)
    generate(options, folder)
    return folder / "mirror"


def test_links_read_from_the_html_of_the_demo_are_the_links_it_says(corpus):
    actual = []
    for name in ("pages", "links"):
        builder = MirrorBuilder()
        read_sources([corpus / f"{name}.parquet"], builder)
        actual.append(builder.build())
    by_html, by_list = actual
    assert by_html.urls.equals(by_list.urls)
    assert by_html.links.first.tolist() == by_list.links.first.tolist()
    for page in range(len(by_html)):
        assert set(by_html.links.of(page)) == set(by_list.links.of(page))


def test_sites_for_engines_are_those_of_python():
    urls = [
        "https://a.example/x:y",
        "http://a.example:8080/",
        "https://[::1]:80/",
        "https://[::1]/",
    ]
    assert [re.match(SITE, url)[1] for url in urls] == [site_of(url) for url in urls]


def test_hosts_take_turns_in_a_crawl_of_all_sites():
    """Two home pages with 30 pages each; all traffic is that of the second site."""
    builder = MirrorBuilder()
    pages = {site: [f"https://{site}.example/p/{i}.html" for i in range(30)] for site in "ab"}
    for site, urls in pages.items():
        builder.page(f"https://{site}.example/", [(url, False) for url in urls])
        for url in urls:
            builder.page(url, ())
    site = ["a.example", "b.example"]
    log = pa.table({"site": site, "url": [f"https://{one}/" for one in site], "visits": [1, 1]})
    learned = Learning(
        Traffic(
            log.append_column("referrals", pa.array([1, 1])),
            pa.table({"site": [""], "referrer": [""], "target": [""], "clients": [0]}).slice(0, 0),
        )
    )
    scored = pa.table({"site": ["b.example"] * 30, "url": pages["b"], "visits": [1] * 30})
    needed = {}
    for limit in (None, Politeness(pages=1, fetches=2)):
        result = evaluate_together(builder.build(), learned, scored, limit)
        (whole,) = result.sites
        assert (whole.pages, whole.reachable, whole.visited, whole.in_mirror) == (62, 62, 30, 1.0)
        needed[limit] = result.mean("fetch")["breadth_first"].pages_for(0.8)
    impolite, polite = needed.values()
    assert impolite == pytest.approx((2 + 30 + 24) / 62, abs=2e-3)
    assert polite == pytest.approx((2 + 2 * 24) / 62, abs=2e-2)
    nothing = evaluate_together(builder.build(), learned, scored.slice(0, 0))
    assert nothing.sites == ()
