"""A report with every kind of block, for tests of its data, its page and a browser."""

from __future__ import annotations

import datetime as dt

from temporal_assets.reports.document import (
    Axis,
    Branch,
    Chart,
    Column,
    Figure,
    Figures,
    Forest,
    Graph,
    HeatMap,
    Interval,
    Node,
    Report,
    Section,
    Series,
    Table,
    Threshold,
    Tree,
    unavailable,
)

EVIL = "https://a.example/<script>document.title='harm'</script>\"' onload=alert(1) x=\u202e"
"""URL that a stranger may have requested from a server."""


def report(name: str = EVIL, rows: int = 2) -> Report:
    """`name` stands wherever a text from a log may stand."""
    leaf = Branch("x", "x", 1, 1, 0, False, (), 2)
    lines = (
        Series(name, "line", 0, (0.0, 1.0), (0.25, 0.75)),
        Series("bars", "bars", 1, (0.0, 1.0), (0.5, 1.0)),
    )
    cells = Axis(name, ticks=(name,)), Axis("q", ticks=("1", "2"))
    share = Axis(name, "share", 0.0, 1.0)
    columns = (Column(name), Column("pages", "count"))
    body = tuple((f"{name}{k}", 1_000 + k) for k in range(rows - 1))
    blocks = (
        Table(f"of {name}", columns, (*body, ("b", None)), 1),
        Chart(
            name, name, Axis(name, ticks=(name, "b")), share, lines, True, (Threshold(0.5, name),)
        ),
        Forest(name, name, share, (Interval(name, 0.5, 0.25, 0.75, 1),)),
        Figures(name, (Figure(name, name, name, "good"),)),
        HeatMap(name, name, *cells, ((1.0, 2.0),), ((0, 1, name),)),
        Graph(name, name, (Node(name, 5.0, 0.9), Node("b", 1.0, None)), ((0, 1, 3.0),)),
        Tree(name, (Branch(name, name, 3, 2, 1, True, (leaf,), 0),)),
    )
    says = (f"Said of {name}.",)
    section = Section("one", "Part", "TW Table 1", name, "in_sample", says, blocks, name)
    off = unavailable("two", "Part", "BB Table 4", name, f"no {name}", "run `this`")
    return Report(dt.date(2026, 1, 31), f"Report {name}", ((name, name),), (section, off))
