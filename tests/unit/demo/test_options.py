"""Sizes of a demo corpus: what is allowed and what is refused."""

from __future__ import annotations

import pytest

from temporal_assets.demo import PRESETS, DemoOptions
from temporal_assets.demo.files import make_groups, source_of
from temporal_assets.demo.world.sites import SiteKind, make_sites


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"days": 0}, "days must be at least 1"),
        ({"requests": 0}, "requests must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"sites": 3, "pages": 119}, "3 sites need at least 120 pages"),
        ({"clients": 20_000_000}, "clients must be at most 16,777,216"),
        ({"clients": 100, "requests": 300_001}, "would look like robots"),
    ],
)
def test_refuses_what_cannot_be_made(changes, message):
    with pytest.raises(ValueError, match=message):
        DemoOptions(**changes)


def test_limit_of_requests_per_client_is_inclusive():
    # 60 days x 100 clients x 50 lines.
    assert DemoOptions(clients=100, requests=300_000).requests == 300_000


def test_preset_with_a_change_keeps_the_rest():
    chosen = DemoOptions.preset("medium", seed=7)
    assert (chosen.seed, chosen.pages, chosen.days) == (7, 300_000, 60)


def test_unknown_preset_names_the_known_ones():
    with pytest.raises(ValueError, match="small, medium, paper"):
        DemoOptions.preset("huge")


@pytest.mark.parametrize("name", PRESETS)
def test_sites_share_out_the_pages(name):
    options = PRESETS[name]
    sites = make_sites(options)
    assert len(sites) == options.sites
    assert sum(site.pages for site in sites) == options.pages
    assert min(site.pages for site in sites) >= 20
    assert sum(site.traffic for site in sites) == pytest.approx(1.0)
    assert len({site.host for site in sites}) == options.sites


@pytest.mark.parametrize(("sites", "pages"), [(1, 40), (2_000, 80_000), (7, 280)])
def test_sites_of_the_smallest_corpora_have_pages(sites, pages):
    listed_sites = make_sites(DemoOptions(sites=sites, pages=pages))
    assert sum(site.pages for site in listed_sites) == pages
    assert min(site.pages for site in listed_sites) >= 20


def test_default_corpus_has_every_kind_of_site():
    assert {site.kind for site in make_sites(DemoOptions())} == set(SiteKind)


def test_event_site_appears_and_disappears_within_the_window():
    events = [site for site in make_sites(DemoOptions()) if site.kind is SiteKind.EVENT]
    assert events
    for site in events:
        assert 0 < site.opens < site.closes < 60
        assert site.closes - site.opens == 21  # 35 % of 60 days


def test_groups_hold_every_site_once(tmp_path):
    sites = make_sites(PRESETS["medium"])
    groups = make_groups(sites)
    assert sorted(site.index for group in groups for site in group.sites) == list(range(120))
    for group in groups:
        source = source_of(group, tmp_path)
        # Lines of `combined` do not name the site, so the source must.
        assert (source.host is not None) == (source.format == "combined")
        assert source.host is None or [source.host] == [site.host for site in group.sites]
    assert len({group.folder(tmp_path) for group in groups}) == len(groups)
