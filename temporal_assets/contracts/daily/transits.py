"""Contract of `transits`: distinct steps (referrer, target, client) of a day."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    Drift,
    Rule,
    Severity,
    has_rows_as_usual,
    no_rows,
    rows_drift,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type, columns

TRANSITS: Final = Table(
    name="transits",
    version=2,
    description=(
        "Who came to a page from where: the distinct (referrer, target, client) of the day"
        " (BB 2). A page opened without a referrer is a transit from nowhere, because F_in counts"
        " it; a reload of a page is none. Rows are stored with numbers of the day's URLs, which lie"
        " beside them; views and `read` show the URLs."
    ),
    grain="one referrer, target, client and day",
    columns=(
        *columns("day DATE from requests.day: Day of the transit in the configured time zone."),
        ColumnSpec(
            "referrer",
            Type.VARCHAR,
            "Canonical URL of the page the client came from; NULL when it came from nowhere.",
            nullable=True,
            sources=("requests.referrer",),
            number=Type.INTEGER,
        ),
        ColumnSpec(
            "target",
            Type.VARCHAR,
            "Canonical URL of the page the client opened.",
            sources=("requests.url",),
            number=Type.INTEGER,
        ),
        *columns("client BIGINT from requests.client: Pseudonym of the visitor."),
    ),
    key=("day", "referrer", "target", "client"),
    own_rules=(
        no_rows(
            "no_self_referrals",
            "transits",
            "referrer = target",
            protects="A reload would make every page its own hub.",
        ),
        Rule(
            name="referrers_known",
            # Of so many visits, one in twenty by a link, none has a referrer once in half a year.
            measure="CASE WHEN count(*) >= 100 THEN count(referrer) END",
            severity=Severity.WARN,
            minimum=1,
            needs_referrers=True,
            protects="Hubs and the behaviour graph are made of transits with a referrer.",
            remedy=(
                "The format has a field for the referrer and it is always empty: look for a proxy"
                " that strips the header, or a Referrer-Policy of `no-referrer`."
            ),
        ),
    ),
    drifts=(
        has_rows_as_usual("transits"),
        rows_drift("transits"),
        Drift(
            name="referred_share_is_usual",
            measure="count(referrer) / nullif(CAST(count(*) AS DOUBLE), 0)",
            whole="count(*)",
            largest_difference=0.2,  # as for the referrers of `requests`
            needs_referrers=True,
            protects="Hubs and the behaviour graph are made of transits with a referrer.",
            remedy="See `referrers_are_usual` of `requests`.",
        ),
    ),
    is_read_often=True,
)
