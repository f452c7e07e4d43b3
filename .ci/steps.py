"""The steps of `.ci/run`, in their order, each runnable by its name.

Steps work on copies of the checkout in a temporary folder, which is removed at the end. The
README's two commands come first: their environments serve the steps after them. A step that is run
alone makes the environment it needs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

REPOSITORY = Path(__file__).resolve().parents[1]
BEGAN = time.monotonic()
LATE_LOOPS = 20
"""Loops that a demo may compile beside those of its installation: some seconds."""

Step = Callable[["Run"], object]
S = TypeVar("S", bound=Step)
STEPS: dict[str, tuple[str, Step]] = {}


def step(name: str, title: str) -> Callable[[S], S]:
    """Register a function as a step, in the order of this file."""

    def register(function: S) -> S:
        STEPS[name] = (title, function)
        return function

    return register


class StepFailed(Exception):
    """A command of a step failed; its output has been shown."""


@dataclass
class Run:
    """A run of some steps: where they work, and what one leaves for the next."""

    work: Path
    environment: dict[str, str]
    begun: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """Commands that wait for downloads most of the time, and run beside the steps after them."""

    def command(self, command: str, cwd: Path | None = None) -> None:
        """Run a shell command. Raises `StepFailed` if it fails."""
        done = subprocess.run(  # noqa: S602 - the README's commands are for a shell
            command,
            shell=True,
            executable="/bin/bash",
            cwd=cwd or self.second,
            env=self.environment,
        )
        if done.returncode:
            raise StepFailed(f"exit code {done.returncode}: {command}")

    def begin(self, name: str, command: str, cwd: Path) -> None:
        """Begin a shell command, whose output is kept for `finish`."""
        with (self.work / f"{name}.txt").open("wb") as output:
            self.begun[name] = subprocess.Popen(  # noqa: S602
                command,
                shell=True,
                executable="/bin/bash",
                cwd=cwd,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def finish(self, name: str) -> None:
        """Wait for a command that was begun and show its output. Raises `StepFailed`."""
        code = self.begun[name].wait()
        del self.begun[name]
        print((self.work / f"{name}.txt").read_text("utf-8", errors="replace"))
        if code:
            raise StepFailed(f"exit code {code}: {name}")

    @property
    def first(self) -> Path:
        """The checkout in which the README's first command runs."""
        return self._copy("first")

    @property
    def second(self) -> Path:
        """The checkout in which the README's second command runs, and most steps after it."""
        return self._copy("second")

    def _copy(self, name: str) -> Path:
        """Copy what is in the repository, with changes that are not committed yet."""
        folder = self.work / name
        if not folder.exists():
            listed = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=REPOSITORY,
                capture_output=True,
                check=True,
            ).stdout
            for path in filter(None, listed.decode().split("\0")):
                if (REPOSITORY / path).exists():
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(REPOSITORY / path, folder / path, follow_symlinks=False)
        return folder

    def install(self, checkout: Path, command: str) -> None:
        """Run the part of a README's command that makes an environment, unless it has been run."""
        if not (checkout / ".venv").exists():
            self.command(command.rpartition(" && ")[0], checkout)


def readme_commands() -> list[str]:
    """Return the README's two commands, which stand on a line of their own."""
    lines = (REPOSITORY / "README.md").read_text("utf-8").splitlines()
    commands = [line for line in lines if line.startswith("python3 -m venv ")]
    if len(commands) != 2:
        raise StepFailed(f"README.md should have two commands, it has {len(commands)}")
    return commands


def develop(run: Run) -> None:
    """Make the environment of the README's second command."""
    run.install(run.second, readme_commands()[1])


def install_extras(run: Run, *extras: str) -> None:
    """Bring what extras need. Installing the package with them would compile its loops again."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [need for extra in extras for need in project["optional-dependencies"][extra]]
    run.command(f".venv/bin/pip install -q -c requirements.lock {shlex.join(wanted)}")


@step("demo", "README's first command: the demo")
def demo(run: Run) -> None:
    """Begin it: it waits for downloads and for one core at a time, and runs beside the tests."""
    run.begin("demo", readme_commands()[0], run.first)


@step("tools", "Programs that tests need: nginx, Java, Node.js, Chromium")
def tools(run: Run) -> None:
    """Bring them as Debian packages, where that can be done; tests skip visibly without them."""
    packages = {
        "nginx": "nginx",
        "javac": "openjdk-17-jdk-headless",
        "node": "nodejs",
        "chromium": "chromium",
    }
    paths = run.environment["PATH"] + os.pathsep + "/usr/sbin"
    missing = {
        name: package for name, package in packages.items() if not shutil.which(name, path=paths)
    }
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"only root can bring {', '.join(missing)}: tests say what they skip")
        return
    subprocess.run(["apt-get", "-qq", "update"], timeout=120)
    for name, package in missing.items():
        # nginx alone is unpacked and not installed: its package would begin a server.
        if name == "nginx":
            folder = run.work / "nginx"
            folder.mkdir()
            unpack = "apt-get -qq download nginx && dpkg-deb -x nginx_*.deb ."
            done = subprocess.run(unpack, shell=True, cwd=folder, capture_output=True)  # noqa: S602
            run.environment["PATH"] += os.pathsep + str(folder / "usr/sbin")
        else:
            done = subprocess.run(
                ["apt-get", "-qq", "install", "-y", "--no-install-recommends", package],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                timeout=300,
            )
        print(f"{package}: {'installed' if done.returncode == 0 else 'cannot be had: tests skip'}")


@step("tests", "README's second command: the tests")
def tests(run: Run) -> None:
    """Run the tests as a reader of the README does."""
    run.command(readme_commands()[1])


@step("crawlers", "pywb, Crawlee, crawl4ai and Browsertrix read what we write")
def crawlers(run: Run) -> None:
    """Begin to install them in environments of their own, and to crawl by the exports."""
    develop(run)
    run.begin("crawlers", ".venv/bin/python -m tests.loading", run.second)


@step("lint", "ruff")
def lint(run: Run) -> None:
    """Check style and format."""
    develop(run)
    run.command(".venv/bin/ruff check . && .venv/bin/ruff format --check .")


@step("types", "mypy")
def types(run: Run) -> None:
    """Begin to check types, in the time that slow tests spend waiting."""
    develop(run)
    run.begin("types", "nice .venv/bin/mypy", run.second)


@step("site", "The documentation as a site, with every link and anchor checked")
def site(run: Run) -> None:
    """Begin to build it, likewise; a link that leads nowhere fails."""
    develop(run)
    build = "nice .venv/bin/mkdocs build --strict --quiet --site-dir ../site"
    run.begin("site", build, run.second)


@step("slow-tests", "The slow tests: servers, kills, crawls and whole demos")
def slow_tests(run: Run) -> None:
    """Run what the README's second command leaves out because a test of it takes long."""
    develop(run)
    run.command(".venv/bin/pytest -q -m slow")


@step("demo-output", "What README's first command said")
def demo_output(run: Run) -> None:
    """Wait for the demo, show what it said, and see that it had next to nothing to compile."""
    if "demo" not in run.begun:
        demo(run)
    run.finish("demo")
    [package] = run.first.glob(".venv/lib/python*/site-packages/temporal_assets")
    [record] = package.parent.glob("temporal_assets-*.dist-info/RECORD")
    brought = record.read_text("utf-8")
    later = [
        str(path.relative_to(package))
        for path in sorted(package.rglob("*.nbc"))
        if path.relative_to(package.parent).as_posix() not in brought
    ]
    print(f"{brought.count('.nbc')} loops were installed compiled, {len(later)} were not: {later}")
    if len(later) > LATE_LOOPS:
        raise StepFailed("record which loops a demo calls (docs/testing.md#compiled-loops)")


@step("crawlers-output", "What crawlers said of our exports")
def crawlers_output(run: Run) -> None:
    """Wait for the crawlers and show what they said."""
    if "crawlers" not in run.begun:
        crawlers(run)
    run.finish("crawlers")


@step("checks-output", "What mypy and MkDocs said")
def checks_output(run: Run) -> None:
    """Wait for what was begun beside the slow tests."""
    for name in ("types", "site"):
        if name in run.begun:
            run.finish(name)


@step("browser", "Dagster's UI in a real browser")
def browser(run: Run) -> None:
    """Begin to click through the UI in Chromium: it waits for runs, beside the steps after it."""
    develop(run)
    run.begin("browser", ".venv/bin/pytest -q -m browser -n 0 tests/browser", run.second)


@step("definitions", "Dagster loads the definitions, both ways")
def definitions(run: Run) -> None:
    """Validate the code location."""
    develop(run)
    run.command(".venv/bin/dagster definitions validate && .venv/bin/dg check defs")


@step("supply-chain", "Hashes of what the image installs, and a bill of materials")
def supply_chain(run: Run) -> None:
    """Compare hashes, and write a CycloneDX file of the demo's environment."""
    run.install(run.first, readme_commands()[0])
    pip = f"{run.first}/.venv/bin/pip"
    run.command(
        f"{pip} install -q --dry-run --ignore-installed --no-deps --require-hashes"
        " -r requirements-hashed.lock"
    )
    run.command(f"python3 -m venv {run.work}/tools")
    run.command(f"{run.work}/tools/bin/pip install -q 'cyclonedx-bom>=7.5,<8'")
    bill = run.work / "sbom.json"
    run.command(
        f"{run.work}/tools/bin/cyclonedx-py environment {run.first}/.venv/bin/python -o {bill}"
    )
    made = json.loads(bill.read_text("utf-8"))
    print(f"CycloneDX {made['specVersion']}: {len(made['components'])} components")
    if len(made["components"]) <= 50:
        raise StepFailed("the bill of materials is not complete")


@step("wheel", "The wheel works without the checkout")
def wheel(run: Run) -> None:
    """Use what pip built and installed for the demo, in another folder."""
    run.install(run.first, readme_commands()[0])
    elsewhere = run.work / "elsewhere"
    elsewhere.mkdir()
    program = run.first / ".venv/bin/temporal-assets"
    for words in ("demo --days 3 --requests 20000", "status", "doctor"):
        run.command(f"{program} {words}", elsewhere)


@step("postgres", "PostgreSQL: Dagster's history in a real server, and the files for Kubernetes")
def postgres(run: Run) -> None:
    """Follow docs/postgres.md with the server of Debian's package; check docs/kubernetes.md."""
    develop(run)
    install_extras(run, "postgres", "kubernetes")
    install_postgres()
    tests = "tests/integration/test_postgres.py tests/integration/test_kubernetes.py"
    run.command(f".venv/bin/pytest -q -m 'postgres or not slow' -n 0 {tests}")


def install_postgres() -> None:
    """Bring the server as a Debian package, where that can be done; its tests skip without it."""
    if any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("only root can bring PostgreSQL: its tests say that they skip")
        return
    subprocess.run(["apt-get", "-qq", "update"], timeout=120)
    # By the run level the package begins no server of its own, which nobody needs here.
    done = subprocess.run(
        ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "postgresql"],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
        capture_output=True,
        timeout=300,
    )
    print(f"postgresql: {'installed' if done.returncode == 0 else 'cannot be had: tests skip'}")


@step("browser-output", "What the tests in the browser said")
def browser_output(run: Run) -> None:
    """Wait for them."""
    if "browser" not in run.begun:
        browser(run)
    run.finish("browser")


@step("spark", "Spark: every asset on a real cluster, artifact by artifact what DuckDB makes")
def spark(run: Run) -> None:
    """Compare both engines."""
    develop(run)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, env=run.environment)
    if not re.search(r'version "(1[7-9]|[2-9]\d)', java.stderr):
        print("SKIPPED: there is no Java 17 or later")
        return
    install_extras(run, "spark")
    run.command(".venv/bin/python -m tests.spark_proof")
    run.command(
        ".venv/bin/pytest -q -m spark -n 0 tests/integration/test_spark_session.py -k application"
    )


def environment(work: Path) -> dict[str, str]:
    """Return the environment of all commands: no settings of whoever runs this, no telemetry."""
    mine = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DAGSTER_HOME", "TEMPORAL_ASSETS_STATE", "VIRTUAL_ENV", "PYTHONPATH")
    }
    programs = work / "bin"
    programs.mkdir()
    # A script, not a link: a venv made through a link would take the link's folder for its home.
    python = programs / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    mine |= {
        "PATH": f"{programs}{os.pathsep}{mine['PATH']}",
        "CI": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        # A test that hangs ends its process, which says where every thread was.
        "PYTEST_ADDOPTS": "-o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true"
        " --max-worker-restart=0",
    }
    data = REPOSITORY.parent / "shared" / "data"
    if data.is_dir():
        mine.setdefault("TEMPORAL_ASSETS_SHARED_DATA", str(data))
    return mine


def in_memory() -> Path | None:
    """Return a folder in memory if there is much: tests flush databases thousands of times."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 8 << 30:
        return Path(tempfile.mkdtemp(prefix="temporal-assets-ci.", dir=memory))
    return None


def run_steps(names: list[str]) -> None:
    """Run steps in their order; the first failure ends the run."""
    work = Path(tempfile.mkdtemp(prefix="temporal-assets-ci."))
    memory = in_memory()
    run = Run(work, environment(work))
    if memory:
        run.environment["PYTEST_DEBUG_TEMPROOT"] = str(memory)
    try:
        for name, (title, function) in STEPS.items():
            if name in names:
                print(f"\n=== [{time.monotonic() - BEGAN:4.0f} s] {name}: {title}", flush=True)
                function(run)
        for name in list(run.begun):
            run.finish(name)
        print(f"\n=== [{time.monotonic() - BEGAN:4.0f} s] All is well")
    finally:
        for begun in run.begun.values():
            if begun.poll() is None:
                os.killpg(begun.pid, signal.SIGTERM)
                begun.wait()
        for folder in filter(None, (work, memory)):
            shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the steps that are named, or all."""
    parser = argparse.ArgumentParser(prog=".ci/run", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help="names of steps; default: all")
    parser.add_argument("--list", action="store_true", help="show the steps")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{name:17}{title}" for name, (title, _) in STEPS.items()))
        return
    if unknown := sorted(set(given.steps) - STEPS.keys()):
        parser.error(f"no such step: {', '.join(unknown)}; --list shows them")
    try:
        run_steps(given.steps or list(STEPS))
    except StepFailed as failed:
        sys.exit(f"FAILED: {failed}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
