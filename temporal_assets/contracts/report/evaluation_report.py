"""Contract of `evaluation_report`: the sections of the report as JSON."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, Severity, no_rows
from temporal_assets.contracts.table import Table, columns

MOST_BYTES: Final = 2_000_000
"""Largest size of all sections in bytes: the page is twice as large and more, and has to stay below
5 MB."""

EVALUATION_REPORT: Final = Table(
    name="evaluation_report",
    version=1,
    description=(
        "The tables and figures of the three papers on the data of the window, and ours: what"
        " `temporal-assets report` shows. No URL is in it that fewer clients opened than"
        " `privacy.min_clients`."
    ),
    grain="one section of the report",
    columns=columns("""
        day DATE: Last day of the window.
        place BIGINT: Position of the section in the report; 0: what the data is.
        id VARCHAR: Short name: `tw-table-1`, `bb-figure-8`, `data`.
        source VARCHAR: Where a paper has it: `TW Table 1`; else empty.
        title VARCHAR: Heading.
        trial VARCHAR: What it is judged by: `in_sample`, `out_of_time`, `both`, or `no_judgement`
            of what only describes.
        is_available BOOLEAN: Whether the data was there to make it.
        says VARCHAR: What its numbers come to, or why it is not available.
        content VARCHAR: All of it as JSON (docs/report.md).
        """),
    key=("day", "id"),
    own_rules=(
        no_rows(
            "every_section_says_something",
            "evaluation_report",
            "says = '' OR title = ''",
            protects="A table without a sentence is left to be read as one likes.",
        ),
        Rule(
            name="data_comes_first",
            measure="sum(CASE WHEN place = 0 AND id = 'data' THEN 1 ELSE 0 END)",
            minimum=1,
            maximum=1,
            protects="Numbers without the data they are of mean nothing.",
        ),
        Rule(
            name="report_is_small",
            measure="coalesce(sum(length(content)), 0)",
            maximum=MOST_BYTES,
            severity=Severity.WARN,
            protects="The page is to be opened on a phone and passed on by mail.",
            remedy="Look for the longest sections, and report their titles.",
        ),
    ),
)
