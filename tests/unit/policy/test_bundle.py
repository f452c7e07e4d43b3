"""Assembling, publishing and comparing policies."""

from __future__ import annotations

import copy
import random
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.policy import Policy, PolicyError
from temporal_assets.policy.assemble import Choices, assemble, on_ladder, tiers_of
from temporal_assets.policy.bundle import LATEST, faults, is_whole, publish, release, unreleased_of
from temporal_assets.policy.difference import Change, changes
from temporal_assets.policy.document import Document, as_text
from tests.policies import PROVENANCE, document, document_of_schemes, tables


@pytest.fixture(scope="module")
def doc() -> Document:
    return document()


def test_tiers_by_hand() -> None:
    assert tiers_of([0.1, 0.9, 0.5, 0.7], 1, 4) == [4, 1, 3, 2]
    assert tiers_of([5, 5, 5, 5], 1, 4) == [1, 1, 1, 1]
    assert tiers_of([3, 2, 2, 1, 0, 0], 5, 7) == [5, 5, 5, 6, 7, 7]
    assert tiers_of([], 1, 4) == []
    assert tiers_of([7], 1, 4) == [1]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(1, 8), st.integers(0, 8))
def test_tiers_follow_values(values: list[float], first: int, more: int) -> None:
    tiers = tiers_of(values, first, first + more)
    assert min(tiers) == first
    assert max(tiers) <= first + more
    for a, tier_a in zip(values, tiers, strict=True):
        for b, tier_b in zip(values, tiers, strict=True):
            assert a <= b or tier_a <= tier_b


def test_intervals_are_those_of_the_ladder() -> None:
    assert [on_ladder(s) for s in (1, 300, 301, 3599, 3600, 90_000, 604_800, 604_801)] == [
        300, 300, 600, 3600, 3600, 172_800, 604_800, 1_209_600,
    ]  # fmt: skip


@given(seconds=st.integers(1, 10**7))
def test_no_hub_is_visited_more_often_than_wanted(seconds: int) -> None:
    assert on_ladder(seconds) >= seconds
    assert on_ladder(on_ladder(seconds)) == on_ladder(seconds)


def test_the_document_by_hand(doc: Document) -> None:
    assert [(s["site"], s["rank"], s["tier"]) for s in doc["sites"]] == [
        ("news.example", 1, 13),
        ("board.example", 2, 14),
        ("shop.example", None, 15),
    ]
    assert [(h["rank"], h["tier"], h["interval_seconds"]) for h in doc["hubs"]] == [
        (1, 1, 1200),
        (2, 2, 300),
        (3, 3, 86_400),
        (4, 4, 300),
    ]
    assert [(p["prefix"], p["tier"]) for p in doc["prefixes"]] == [
        ("board.example/t.php?", 7),
        ("news.example/politics/", 5),
    ]
    decisions = {p["template"].partition("=")[0]: p["decision"] for p in doc["patterns"]}
    assert decisions["/user/login?next"] == "skip"
    assert decisions["/archive/item?id"] == "later"


def test_equal_tables_give_equal_bytes(doc: Document) -> None:
    assert as_text(assemble(tables(), PROVENANCE, Choices())) == as_text(doc)


def test_fewer_clients_than_chosen_publish_nothing() -> None:
    empty = assemble(tables(), PROVENANCE, Choices(min_clients=1000))
    assert [empty[name] for name in ("sites", "hubs", "prefixes", "patterns", "trees")] == [[]] * 5
    assert Policy(empty).match("https://news.example/").reason == "unknown_site"


def test_a_table_without_its_columns_is_named() -> None:
    broken = tables()
    with pytest.raises(ValueError, match="lacks clients"):
        assemble(
            type(broken)(broken.sites.drop(["clients"]), *[None] * 3),  # type: ignore[list-item]
            PROVENANCE,
        )


def test_publishing(doc: Document, tmp_path: Path) -> None:
    root, scratch = tmp_path / "policy", tmp_path / "tmp"
    first = publish(doc, root, scratch)
    assert not (root / LATEST).exists()  # nobody has judged it
    assert unreleased_of(root) == "2025-05-01"
    assert release(root, first.folder.name)
    assert unreleased_of(root) is None
    assert sorted(path.name for path in (root / LATEST).iterdir()) == [
        "SHA256SUMS", "hubs.parquet", "patterns.parquet", "policy.json", "prefixes.parquet",
        "schema.json", "sites.parquet", "sources.parquet",
    ]  # fmt: skip
    assert pq.read_table(root / LATEST / "hubs.parquet").num_rows == 4
    assert Policy.load(root / LATEST).match("https://news.example/").reason == "hub"
    again = publish(doc, root, scratch)
    assert (again.folder, again.bytes) == (first.folder, len(as_text(doc)))

    other = copy.deepcopy(doc)
    other["hubs"].pop()
    second = publish(other, root, scratch)
    assert (root / LATEST).resolve() == first.folder
    assert release(root, second.folder.name)
    assert (root / LATEST).resolve() == second.folder
    assert first.folder.is_dir()  # a crawler may be reading it
    other["hubs"].pop()
    third = publish(other, root, scratch)
    assert not first.folder.exists()
    assert second.folder.is_dir()
    assert release(root, third.folder.name)
    with pytest.raises(PolicyError, match=r"make it again .* --day 2025-05-01"):
        release(root, first.folder.name)
    assert (root / LATEST).resolve() == third.folder

    older = copy.deepcopy(doc)
    older["day"] = "2025-04-30"
    assert not release(root, publish(older, root, scratch).folder.name)
    assert (root / LATEST).resolve() == third.folder
    later = copy.deepcopy(doc)
    later["day"] = "2025-05-02"
    publish(later, root, scratch)
    assert unreleased_of(root) == "2025-05-02"
    assert (root / LATEST).resolve() == third.folder


def test_publishing_through_a_link_keeps_what_crawlers_load(doc: Document, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "disk", target_is_directory=True)
    root, scratch = tmp_path / "state" / "policy", tmp_path / "state" / "tmp"
    loaded = publish(doc, root, scratch)
    assert release(root, loaded.folder.name)
    other = copy.deepcopy(doc)
    other["hubs"].pop()
    publish(other, root, scratch)
    assert (root / LATEST / "policy.json").read_text("utf-8") == as_text(doc)


def test_a_policy_of_which_half_was_removed_is_published_again(
    doc: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "policy"
    first = publish(doc, root, tmp_path / "1")
    other = copy.deepcopy(doc)
    other["hubs"].pop()

    def killed(folder: Path, **_: object) -> None:
        (folder / "policy.json").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(other, root, tmp_path / "2")
    monkeypatch.undo()
    assert publish(doc, root, tmp_path / "3") == first
    assert release(root, first.folder.name)


@pytest.mark.parametrize("name", ["policy.json", "hubs.parquet", "schema.json"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
def test_a_damaged_policy_is_mended_by_publishing_it_again(
    doc: Document, tmp_path: Path, name: str, damage: str
) -> None:
    root = tmp_path / "policy"
    folder = publish(doc, root, tmp_path / "1").folder
    assert release(root, folder.name)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    file = folder / name
    if damage == "gone":
        file.unlink()
    else:
        middle = len(before[name]) // 2
        rest = bytes([before[name][middle] ^ 1]) + before[name][middle + 1 :]
        file.write_bytes(before[name][:middle] + (rest if damage == "flipped" else b""))
    assert faults(folder) == [file]
    assert not is_whole(folder)
    assert publish(doc, root, tmp_path / "2").folder == folder
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert is_whole(folder)
    assert not list((tmp_path / "2").iterdir())


def test_what_is_whole_stays_the_same_files(doc: Document, tmp_path: Path) -> None:
    folder = publish(doc, tmp_path / "policy", tmp_path / "1").folder
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    publish(doc, tmp_path / "policy", tmp_path / "2")
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == before


def test_differences_by_hand(doc: Document) -> None:
    after = copy.deepcopy(doc)
    gone = after["hubs"].pop(0)
    after["hubs"][0]["interval_seconds"] = 600
    after["hubs"][0]["temporal_pages"] += 1  # not what a crawler acts upon
    after["prefixes"].append({**after["prefixes"][0], "prefix": "new.example/a/"})
    assert changes(doc, doc) == []
    assert changes(doc, after) == [
        Change("hubs", gone["url"], "removed", {"tier": 1, "interval_seconds": 1200}, {}),
        Change(
            "hubs",
            "https://news.example/politics/",
            "changed",
            {"interval_seconds": 300},
            {"interval_seconds": 600},
        ),
        Change("prefixes", "new.example/a/", "added", {}, {"tier": 7}),
    ]


def test_patterns_that_are_shown_alike_are_compared_apart() -> None:
    """Patterns of one kind of pages under http and https have one template."""
    both = document_of_schemes({kind: ["http", "https"] for kind in ("politics", "archive")}, [])
    names = [f"{row['site']}{row['template']}" for row in both["patterns"]]
    assert len(set(names)) < len(names)
    assert changes(both, both) == []
    for place, name in enumerate(names):
        after = copy.deepcopy(both)
        row = after["patterns"][place]
        before = row["tier"]
        row["tier"] = before + 1
        moved = Change("patterns", name, "changed", {"tier": before}, {"tier": before + 1})
        assert changes(both, after) == [moved]
        # The same where the expression has moved as well, but for what it begins with.
        row["expression"] = row["expression"].removesuffix("$") + "(?:x)?$"
        assert changes(both, after) == [moved]
        del after["patterns"][place]
        watched = {"tier": before, "decision": row["decision"]}
        assert changes(both, after) == [Change("patterns", name, "removed", watched, {})]
        assert changes(after, both) == [Change("patterns", name, "added", {}, watched)]


@pytest.mark.parametrize("is_copied", [False, True])
def test_no_flipped_bit_of_a_policy_decides_anything(
    doc: Document, tmp_path: Path, is_copied: bool
) -> None:
    """Its folder is named after it; of a copy elsewhere the sums beside it tell."""
    folder = publish(doc, tmp_path / "policy", tmp_path / "1").folder
    if is_copied:
        folder = shutil.copytree(folder, tmp_path / "crawler")
    file, dice = folder / "policy.json", random.Random(48)
    text = file.read_bytes()
    for _ in range(200):
        at, bit = dice.randrange(len(text)), dice.randrange(8)
        file.write_bytes(text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :])
        with pytest.raises(PolicyError, match="is not what was published"):
            Policy.load(folder)
    file.write_bytes(text)
    Policy.load(folder)
    (folder / "SHA256SUMS").unlink()  # as releases before wrote none
    Policy.load(folder)
