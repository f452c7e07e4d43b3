"""Contract of `rejects`: numbers of log lines that are not requests, by reason."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, no_rows
from temporal_assets.contracts.table import Table, columns

_REJECTED: Final = "coalesce(sum(CASE WHEN kind = 'rejected' THEN lines ELSE 0 END), 0)"

REJECTS: Final = Table(
    name="rejects",
    version=1,
    description=(
        "Lines of the logs that are not in `requests`, counted by reason. `rejected` lines could"
        " not be read; `dropped` lines were read and are no page views by people."
    ),
    grain="one log file, kind and reason",
    columns=columns("""
        day DATE: Day of the lines, or of the nearest line with a time.
        file VARCHAR: Log file.
        kind VARCHAR: `rejected` or `dropped`.
        reason VARCHAR: Why the lines are not in `requests`.
        lines BIGINT: Number of lines.
        sample_line BIGINT NULL: Number of the first sampled line in the decompressed file, from 1.
        sample VARCHAR NULL: Up to three lines, redacted, each after its number.
        """),
    own_rules=(
        no_rows(
            "lines_counted",
            "rejects",
            "lines < 1 OR kind NOT IN ('rejected', 'dropped')",
            protects="Every line that was read is either a request or counted here.",
            remedy="The tally of the reader is at fault: report it with the rows shown here.",
        ),
        Rule(
            name="rejected_share",
            measure=(
                f"{_REJECTED} / nullif(CAST(coalesce(sum(lines), 0)"  # noqa: S608 - names and numbers of the contract
                " + (SELECT count(*) FROM requests) AS DOUBLE), 0)"
            ),
            minimum=0,
            maximum_parameter="max_reject_share",
            reads=("requests",),
            protects="A log read under the wrong format gives a day that is mostly missing.",
            remedy=(
                "See the samples in `rejects` and state the format of the source in"
                " settings.toml, or raise `reading.max_reject_share` if the lines are garbage."
            ),
        ),
    ),
)
