"""A policy file that was changed in any way is a policy still, or is refused with a reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.policy import Policy, PolicyError
from temporal_assets.policy.damage import LAST_TIER
from temporal_assets.policy.difference import changes
from temporal_assets.policy.document import TIERS, as_text
from temporal_assets.policy.exports import TARGETS
from tests.policies import URLS, document

WHOLE = document(whole=True)
FOUND: Any = json.loads(as_text(WHOLE))
ASKED = URLS[::7]


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field; of a list the first and the last entry."""
    keys = list(value) if isinstance(value, dict) else []
    if isinstance(value, list) and value:
        keys = sorted({0, len(value) - 1})
    for key in keys:
        yield (*above, key)
        yield from paths(value[key], (*above, key))


PATHS = list(paths(FOUND))
VALUES: list[Any] = [
    None, True, -1, 0, 1, 99, 1.5, 10**30, float("nan"), float("inf"), "", "x", "a b\n", "\ud800",
    "https://news.example/", [], [1], ["x"], {}, {"a": 1}, [[]],
]  # fmt: skip
DROP = object()


def changed(path: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(FOUND)
    at = copied
    for key in path[:-1]:
        at = at[key]
    if value is DROP:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return copied


def use(file: Path) -> None:
    """All that is done with a policy."""
    policy = Policy.load(file)
    assert len(list(policy.matches(ASKED))) == len(ASKED)
    for files in TARGETS.values():
        for text in files(policy.document).values():
            text.encode()
    changes(WHOLE, policy.document)
    changes(policy.document, WHOLE)


def used_or_refused(file: Path) -> None:
    try:
        use(file)
        return
    except PolicyError as error:
        text = str(error)
    assert text.startswith(str(file))
    assert "\n" not in text
    assert len(text) < len(str(file)) + 300


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PATHS), st.sampled_from([*VALUES, DROP]))
@example(("prefixes", 2, "prefix"), "x")  # a host without a path
def test_one_field_of_another_kind(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], value: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "policy.json"
    file.write_text(json.dumps(changed(path, value)), "utf-8")
    used_or_refused(file)


TEXT = as_text(WHOLE).encode()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(TEXT) - 1), st.integers(0, 255), st.booleans())
def test_a_byte_that_is_wrong_or_the_last(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, is_last: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "policy.json"
    file.write_bytes(TEXT[:place] + bytes([byte]) + (b"" if is_last else TEXT[place + 1 :]))
    used_or_refused(file)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("window",), [], "its `window` is [], which is not an object"),
        (("window", "days"), "60", "its `window.days` is '60', which is not a whole number from 1"),
        (("day",), "yesterday", "its `day` is 'yesterday', which is not a day like 2025-05-01"),
        (("patterns", 0, "tier"), 99, "its `patterns[0].tier` is 99, which is not a whole number"),
        (("hubs", 1, "interval_seconds"), 0, "its `hubs[1].interval_seconds` is 0, which is not"),
        (("hubs", 0, "url"), "news.example/", "its `hubs[0].url` is 'news.example/', which is not"),
        (("hubs", 0, "site"), "other.example", "which is not one of the policy's `sites`"),
        (("sites", 0, "tier"), True, "its `sites[0].tier` is True"),
        (("sites", 0, "tier"), DROP, "it lacks `sites[0].tier`"),
        (("prefixes",), {}, "its `prefixes` is {}, which is not a list"),
        (("prefixes", 0), 1, "its `prefixes[0]` is 1, which is not an object"),
        (("urls", "scheme"), ["keep"], "its `urls.scheme` is ['keep'], which is not one of https"),
        (("trees", 0, "parent", 1), 1, "its `trees[0].parent` is no tree"),  # its own child
        (("trees", 0, "tests"), [], "its `trees[0].tests` has 0 values, not"),
        (("trees", 0, "keys", 0), ["path", 99, ""], "its `trees[0].keys[0]` is no key of a URL"),
        (("trees", 0, "pattern", 0), 9999, "its `trees[0].pattern[0]` is 9999"),
    ],
)
def test_the_field_is_named(tmp_path: Path, path: tuple[Any, ...], value: Any, says: str) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(changed(path, value)), "utf-8")
    with pytest.raises(PolicyError) as raised:
        Policy.load(file)
    assert f"{file} is damaged: " in str(raised.value)
    assert says in str(raised.value)
    for command in (
        ["policy"],
        ["policy", "match", "https://x.example/"],
        ["policy", "export", "nutch", "--to", "out"],
    ):
        result = CliRunner().invoke(app, [*command, "--policy", str(file)])
        assert result.exit_code == 1
        assert says in " ".join(result.stderr.split())
        assert result.stderr.count("\n") == 1


def test_tiers_are_those_of_documents() -> None:
    assert LAST_TIER == TIERS
