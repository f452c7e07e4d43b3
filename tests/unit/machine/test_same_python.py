"""Another process runs the package that this one runs, wherever it is started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import temporal_assets
from temporal_assets.machine import same_python


def test_the_working_folder_is_not_looked_into(tmp_path: Path) -> None:
    decoy = tmp_path / "temporal_assets"
    decoy.mkdir()
    for name in ("__init__.py", "__main__.py"):
        (decoy / name).write_text("raise SystemExit('another checkout')", "utf-8")
    done = subprocess.run(
        [*same_python.command("temporal_assets"), "--version"],
        cwd=tmp_path,
        env=same_python.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"temporal-assets {temporal_assets.__version__}\n", "")
