"""What holds for the exports to all crawlers."""

from __future__ import annotations

from pathlib import Path

import pytest

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS, export, nutch, sitemap
from tests.exported import (
    by_domain,
)
from tests.policies import (
    PRIVATE,
)


def test_a_host_is_never_visited_less_often_than_at_most(doc: Document) -> None:
    """`hubs.longest_hours` may be more than the month that Nutch takes for the longest interval."""
    month = 30 * 86_400
    hubs = [
        {**doc["hubs"][0], "url": f"https://{site}/", "site": site, "interval_seconds": seconds}
        for site, seconds in (("a.example", month), ("b.example", month + 1), ("c.example", 300))
    ]
    text = nutch.files({**doc, "hubs": hubs})["conf/adaptive-host-specific-intervals.txt"]
    assert text.splitlines() == [
        "a.example 2592000 2592000",
        "b.example 2592001 2592001",
        "c.example 300 2592000",
    ]


def emptied(doc: Document) -> Document:
    return {**doc, "sites": [], "hubs": [], "prefixes": [], "patterns": [], "trees": []}


def test_an_old_prefix_filter_of_nutch_does_not_keep_rejecting(
    doc: Document, tmp_path: Path
) -> None:
    old = tmp_path / "conf" / "prefix-urlfilter.txt"
    export(doc, "nutch", tmp_path)
    assert old.is_file()
    assert export(by_domain(doc), "nutch", tmp_path).removed == (old,)
    assert not old.exists()
    # Nutch brings a file of this name itself.
    old.write_text("# config file for urlfilter-prefix plugin\nhttp://\n")
    assert export(by_domain(doc), "nutch", tmp_path).removed == ()
    assert old.exists()


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_file_that_is_not_always_written_is_known(
    doc: Document, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And holds the mark, so that it goes when it is not written any more."""
    empty = emptied(doc)
    monkeypatch.setattr(sitemap, "MAX_URLS", 1)
    for other in (doc, by_domain(doc), empty, by_domain(empty)):
        names = {path.relative_to(tmp_path) for path in export(other, target, tmp_path).written}
        there = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
        assert there == names


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_nothing_private_is_exported(doc: Document, target: str, tmp_path: Path) -> None:
    written = export(doc, target, tmp_path).written
    text = "".join(path.read_text("utf-8") for path in written)
    assert "news.example" in text or "news" in text
    for secret in (PRIVATE, "/private/", "anna", "few.example"):
        assert secret not in text


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_an_empty_policy_has_an_export(doc: Document, target: str) -> None:
    assert TARGETS[target](emptied(doc))


def test_the_command_knows_all_targets() -> None:
    from temporal_assets.cli.policy.export import TARGET_NAMES

    assert TARGET_NAMES.split(", ") == sorted(TARGETS)
