"""Dagster's home: the folder with `dagster.yaml` and, unless that says otherwise, its databases.

In: the settings, and `$DAGSTER_HOME`. Out: the folder, made if it is missing, and an open Dagster
instance. Not here: what is in the databases (`run_history`).
"""

from __future__ import annotations

import json
import os
import re
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path
from typing import Final

import dagster as dg
from filelock import FileLock

from temporal_assets.defs.runs import event_log
from temporal_assets.logs.read.paths import STATE_MARK
from temporal_assets.machine.durable import replace_text
from temporal_assets.settings import Settings, SettingsError

CONFIG: Final = "dagster.yaml"
"""Name of the file with the settings of a Dagster instance."""


def prepare_home(settings: Settings) -> Path:
    """Return the folder to use as DAGSTER_HOME, making it with its `dagster.yaml` if missing.

    An existing `dagster.yaml` is left alone: it is the operator's to change. But where it names the
    folder of a state that has been moved or copied since, it would write there.
    """
    settings.make_state()
    home = settings.state / "dagster"
    home.mkdir(exist_ok=True)
    config = home / CONFIG
    with FileLock(home / "prepare.lock"):
        if not config.exists():
            # Dagster keeps everything in its home. The file at the top of the project, which has
            # none, names the default state folder beside it.
            replace_text(config, PLACES.sub("", template().read_text("utf-8")))
        elif _is_elsewhere(text := config.read_text("utf-8"), home):
            replace_text(config, PLACES.sub("", text))
        if not (home / "history").exists() and event_log.is_in_sqlite(home):
            # Two processes that make Dagster's databases at the same time spoil them.
            make_history(home)
    return home


def make_history(home: Path) -> None:
    """Create Dagster's databases.

    Dagster does so when it opens a home without any.
    """
    dg.DagsterInstance.from_config(str(home)).dispose()


def instance_of(settings: Settings) -> AbstractContextManager[dg.DagsterInstance]:
    """Open the Dagster instance of $DAGSTER_HOME if that is set, else of the state folder."""
    return event_log.instance_of(dagster_home(settings))


def dagster_home(settings: Settings) -> Path:
    """Return $DAGSTER_HOME if it names a folder, else that of the state folder, which is made."""
    named = os.environ.get("DAGSTER_HOME")
    # The image and systemd's units name the state folder's own, which nobody else makes.
    if not named or Path(named).expanduser().resolve() == (settings.state / "dagster").resolve():
        return prepare_home(settings)
    home = Path(named).expanduser()
    if not home.is_absolute() or not home.is_dir():
        raise SettingsError(f"$DAGSTER_HOME is not the absolute path of a folder: {named}")
    return home


def template() -> Path:
    """Return the path of the `dagster.yaml` that a new home begins with."""
    installed = Path(str(files("temporal_assets") / f"_{CONFIG}"))
    return installed if installed.is_file() else Path(__file__).parents[2] / CONFIG


PLACES: Final = re.compile(
    r"""(?:# Runs, events, .*
)?storage:
  sqlite:
    base_dir: (?P<home>".*")
local_artifact_storage:
  module: .*
  class: .*
  config:
    base_dir: (?P=home)
compute_logs:
  module: .*
  class: .*
  config:
    base_dir: ".*"
""",
)
"""Expression for a `dagster.yaml` as we write it, with the folders it names."""


def _is_elsewhere(config: str, home: Path) -> bool:
    """Return True if a `dagster.yaml` names the home of another state folder, moved or copied."""
    home_setting = PLACES.search(config)
    if home_setting is None:
        return False
    try:
        named = Path(json.loads(home_setting["home"]))  # YAML's quotes have JSON's escapes
    except ValueError:
        return False  # written by hand
    is_ours = named.name == home.name and named != home
    return is_ours and (not named.exists() or (named.parent / STATE_MARK).is_file())
