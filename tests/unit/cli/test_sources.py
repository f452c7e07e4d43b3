"""Adding a source to settings.toml changes nothing else in it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.cli.sources.sources import add_sources
from temporal_assets.settings import LogSource, load_settings


def sources_in(state: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = tomllib.loads((state / "settings.toml").read_text())["sources"]
    return listed


def add(state: Path, *sources: LogSource) -> tuple[LogSource, ...]:
    state.mkdir(exist_ok=True)
    return add_sources(load_settings(state), sources).sources


def test_the_first_source_makes_the_file(state: Path) -> None:
    assert add(state, LogSource(path="/logs", host="a.example")) == (
        LogSource(path="/logs", host="a.example"),
    )
    assert sources_in(state) == [{"path": "/logs", "host": "a.example"}]


def test_comments_and_other_settings_stay(state: Path) -> None:
    state.mkdir()
    before = (
        '# ours\n[cleaning]\nbots = "keep"  # we watch them\n\n'
        "# the archive\n[engine]\nthreads = 2\n"
    )
    (state / "settings.toml").write_text(before)
    add(state, LogSource(path="/logs"))
    add(state, LogSource(path="/more", format="squid"))
    after = (state / "settings.toml").read_text()
    assert after.startswith(before)
    assert [source["path"] for source in sources_in(state)] == ["/logs", "/more"]
    assert load_settings(state).cleaning.bots == "keep"


def test_the_same_path_again_replaces_its_options(state: Path) -> None:
    add(state, LogSource(path="/logs", host="a.example", timezone="Europe/Berlin"))
    add(state, LogSource(path="/other"))
    add(state, LogSource(path="/logs", host="b.example"))
    assert sources_in(state) == [{"path": "/logs", "host": "b.example"}, {"path": "/other"}]


def test_the_same_again_leaves_the_file_as_it_is(state: Path) -> None:
    add(state, LogSource(path="/logs", columns={"time": "ts"}))
    before = (state / "settings.toml").stat().st_ino
    add(state, LogSource(path="/logs", columns={"time": "ts"}))
    assert (state / "settings.toml").stat().st_ino == before


def test_a_file_goes_before_folders_which_would_list_it_too(state: Path, tmp_path: Path) -> None:
    log = tmp_path / "special.log"
    log.write_text("x\n")
    add(state, LogSource(path=str(tmp_path)))
    add(state, LogSource(path=str(log), host="a.example"))
    assert [source["path"] for source in sources_in(state)] == [str(log), str(tmp_path)]
    text = (state / "settings.toml").read_text()
    assert re.findall(r"(\n+)\[\[sources", text) == ["\n\n", "\n\n"], "one blank line before each"


def test_sources_written_inline_are_kept(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_text(
        'sources = [{ path = "/a", host = "a.example" }]\n[engine]\nthreads = 1\n'
    )
    add(state, LogSource(path="/b"))
    assert sources_in(state) == [{"path": "/a", "host": "a.example"}, {"path": "/b"}]
    assert load_settings(state).engine.threads == 1


# Fewer examples than usual: each writes to the disk and waits for it.
names = st.text(min_size=1, max_size=40).filter(lambda text: "\x00" not in text)


@settings(max_examples=30)
@given(
    st.lists(
        st.builds(
            LogSource,
            path=names.map(lambda name: str(Path("/nowhere") / name)),
            format=st.one_of(st.just("auto"), names.map(lambda name: f"regex:{re.escape(name)}")),
            host=st.none() | st.from_regex(r"[^\s/?#@:\[\]\x00]{1,20}", fullmatch=True),
            columns=st.dictionaries(names, names, max_size=3),
        ),
        max_size=5,
        unique_by=lambda source: source.path,
    )
)
def test_any_source_comes_back_as_it_was_given(
    tmp_path_factory: Any, sources: list[LogSource]
) -> None:
    state = tmp_path_factory.mktemp("state")
    for source in sources:
        add(state, source)
    assert load_settings(state).sources == tuple(sources)


def test_comments_among_inline_sources_stay(state: Path) -> None:
    text = (
        "# top\nsources = [\n  # the front\n"
        '  {path = "/logs/a", host = "a.example"}, # a # b\n  {path = "/logs/#b"},\n]\n'
        "# of labels\n[labels]\nq = 0.8  # why\n"
    )
    state.mkdir()
    (state / "settings.toml").write_text(text)
    add(state, LogSource(path="/logs/c"))
    after = (state / "settings.toml").read_text()
    for note in ("# top", "# the front", "# a # b", "# of labels", "q = 0.8  # why"):
        assert note in after
    assert [one["path"] for one in sources_in(state)] == ["/logs/a", "/logs/#b", "/logs/c"]
