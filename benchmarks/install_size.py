"""Disk that the installation takes, by direct dependency: `python -m benchmarks.install_size`.

It prints the tables of docs/installation.md from what is installed beside this Python: run it in an
environment with the extras that it is to say something of. What only one direct dependency brings
is counted with that one; what several bring stands in a row of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY: Final = Path(__file__).parents[1]

MIB: Final = 1 << 20

_SHOWN_MIB: Final = 1.0
"""Rows of less are summed up in the last one."""

Extras = frozenset[str]


def requirements() -> tuple[list[Requirement], dict[str, list[Requirement]]]:
    """Return what is declared: always, and by extra."""
    text = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    return list(map(Requirement, project["dependencies"])), {
        name: list(map(Requirement, lines)) for name, lines in extras.items()
    }


def closure(wanted: Iterable[Requirement]) -> set[str]:
    """Return the names of the distributions that requirements bring, those that are installed."""
    extras_of: dict[str, set[str]] = {}
    left = [(requirement, frozenset(requirement.extras)) for requirement in wanted]
    while left:
        requirement, extras = left.pop()
        name = canonicalize_name(requirement.name)
        new = extras - extras_of.get(name, set()) if name in extras_of else extras
        if name in extras_of and not new:
            continue
        extras_of.setdefault(name, set()).update(extras)
        if (package := installed(name)) is None:
            del extras_of[name]
            continue
        for line in package.requires or ():
            needed = Requirement(line)
            if applies(needed, extras):
                left.append((needed, frozenset(needed.extras)))
    return set(extras_of)


def applies(requirement: Requirement, extras: Extras) -> bool:
    """Return whether a requirement is one on this machine, with some extras of its package."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in (extras or {""}))


def installed(name: str) -> Distribution | None:
    """Return a distribution; None where it is not there, as on other systems."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def size(name: str) -> int:
    """Return the bytes of a distribution's files, without what Python compiles from them."""
    package = installed(name)
    paths = (package.files or ()) if package else ()
    places = (Path(str(path.locate())) for path in paths if path.suffix != ".pyc")
    return sum(place.stat().st_size for place in places if place.is_file())


def alone(wanted: list[Requirement]) -> Mapping[str, set[str]]:
    """Return what each direct dependency brings that no other one brings."""
    brought = {
        canonicalize_name(requirement.name): closure([requirement]) for requirement in wanted
    }
    return {
        name: names - set().union(*(more for other, more in brought.items() if other != name))
        | {name}
        for name, names in brought.items()
    }


def table(wanted: list[Requirement]) -> Iterable[str]:
    """Yield the rows of a table of what is always there, the largest first."""
    everything, rows = closure(wanted), alone(wanted)
    shared = everything - set().union(*rows.values())
    costs = {name: (sum(map(size, names)), len(names)) for name, names in rows.items()}
    yield "| always | MB | distributions |"
    yield "|---|---:|---:|"
    small = {name: cost for name, cost in costs.items() if cost[0] < _SHOWN_MIB * MIB}
    for name, (taken, count) in sorted(costs.items(), key=lambda row: -row[1][0]):
        if name not in small:
            yield f"| `{name}` | {taken / MIB:,.0f} | {count} |"
    if small:
        names = ", ".join(f"`{name}`" for name in sorted(small))
        taken, count = (sum(cost[n] for cost in small.values()) for n in (0, 1))
        yield f"| {names} | {taken / MIB:,.0f} | {count} |"
    if shared:
        taken = sum(map(size, shared))
        yield f"| brought by several of them | {taken / MIB:,.0f} | {len(shared)} |"
    taken = sum(map(size, everything))
    yield f"| **all** | **{taken / MIB:,.0f}** | **{len(everything)}** |"


def main() -> None:
    """Print a table of what is always there, and one of what each extra adds."""
    always, extras = requirements()
    print("\n".join(table(always)))
    there = closure(always)
    print("\n| extra | MB | distributions |\n|---|---:|---:|")
    for name, wanted in extras.items():
        more = closure(wanted) - there
        print(f"| `{name}` | {sum(map(size, more)) / MIB:,.0f} | {len(more)} |")


if __name__ == "__main__":
    main()
