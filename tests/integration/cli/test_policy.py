"""`policy`, `export` and `crawl`, of a policy in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.policies import document


def test_an_export_tells_its_files_as_json(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(json.dumps(document()), "utf-8")
    out = tmp_path / "out"
    result = call(
        "policy", "export", "scrapy", "--policy", tmp_path / "policy.json", "--to", out, "--json"
    )
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert (content["target"], content["folder"], content["removed"]) == ("scrapy", str(out), [])
    sizes = {one["file"]: one["bytes"] for one in content["written"]}
    assert sizes == {str(path): path.stat().st_size for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        ("policy",),
        ("policy", "export", "nutch", "--to", "out"),
        ("crawl", "--to", "out", "--contact", "a@b"),
    ],
)
def test_a_damaged_policy_is_said_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    hubs = [hub | {"url": "no-scheme"} for hub in document()["hubs"]]
    Path("policy.json").write_text(json.dumps(document() | {"hubs": hubs}), "utf-8")
    result = call(*command, "--policy", "policy.json")
    assert result.exit_code == 1
    assert "policy.json is damaged" in result.stderr
    assert not Path("out").exists()


def test_what_a_policy_holds_has_names_in_json(tmp_path: Path) -> None:
    Path(tmp_path / "policy.json").write_text(json.dumps(document()), "utf-8")
    result = call("policy", "--policy", tmp_path / "policy.json", "--json")
    first = json.loads(result.stdout)["lists"][0]
    assert list(first) == ["list", "entries", "now", "later", "skip"]
    assert (first["list"], first["entries"]) == ("sites", len(document()["sites"]))


@pytest.mark.parametrize("contact", ["nobody", "us at example.org", "ftp://example.org/", "a@b c"])
def test_a_crawl_says_where_it_can_be_reached(tmp_path: Path, contact: str) -> None:
    result = call("crawl", "--to", tmp_path, "--contact", contact, "--policy", tmp_path / "none")
    assert result.exit_code == 2
    assert "give an address of the web or of mail" in result.stderr
    result = call(
        "crawl", "--to", tmp_path, "--contact", "http://a.b/", "--policy", tmp_path / "none"
    )
    assert (result.exit_code, "none\n" in result.stderr) == (2, True)


def test_a_policy_of_another_day_is_shown_or_said_how_to_make(
    all_built: tuple[Path, dict[str, Any]],
) -> None:
    state, built = all_built
    days = {row["day"] for row in built["built"] if row["asset"] == "crawl_policy"}
    (latest,) = days
    shown = call("policy", "--day", latest, "--json", "--state", state)
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["day"] == latest
    newest = json.loads(call("policy", "--json", "--state", state).stdout)
    assert json.loads(shown.stdout) == newest
    missing = call("policy", "--day", "2026-01-02", "--state", state)
    assert missing.exit_code == 1
    message = " ".join(missing.stderr.split())
    assert f"there is no policy of 2026-01-02; there are policies of {latest}" in message
    assert "materialize crawl_policy --day 2026-01-02" in message
    named = call("policy", "--day", latest, "--policy", state / "policy", "--state", state)
    assert named.exit_code == 2
    assert "--policy and --day exclude each other" in named.stderr


def test_an_earlier_day_has_the_policy_that_was_made_for_it(built_windows: Path) -> None:
    state, day = built_windows, "2026-01-03"
    actual = call("materialize", "crawl_policy", "--day", day, "--state", state)
    assert actual.exit_code == 0, actual.output
    earlier = json.loads(call("policy", "--day", day, "--json", "--state", state).stdout)
    latest = json.loads(call("policy", "--json", "--state", state).stdout)
    assert (earlier["day"], latest["day"]) == (day, "2026-01-04")
