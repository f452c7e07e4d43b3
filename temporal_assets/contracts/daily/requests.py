"""Contract of `requests`: the page requests of a day after cleaning."""

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
from temporal_assets.contracts.table import Table, columns

_AUTHORITY: Final = "split_part(url, '/', 3)"
"""SQL: host and port of a canonical URL, which has neither credentials nor an empty path."""

_TELLING: Final = 500
"""Least number of a day's requests for checks of the clients' shares."""

REQUESTS: Final = Table(
    name="requests",
    version=1,
    description=(
        "Page requests by people: what cleaning left of the logs (methods, statuses, static"
        " resources, bots), with canonical URLs and pseudonymous clients. Repeated requests and"
        " reloads are kept; `page_views` and `transits` count them once."
    ),
    grain="one request",
    columns=columns("""
        day DATE: Day of the request in the configured time zone.
        ts TIMESTAMP: Time of the request, UTC.
        client BIGINT: Pseudonym of the visitor: keyed HMAC of the address.
        url VARCHAR: Canonical URL of the page that was opened.
        referrer VARCHAR NULL: Canonical URL of the page the visitor came from; NULL when none was
            sent or logged.
        site VARCHAR: Host of `url`.
        """),
    own_rules=(
        no_rows(
            "ts_within_day",
            "requests",
            "ts < $from OR ts >= $until",
            protects="A request counted in the wrong day shifts births and interest curves.",
            remedy=(
                "The time zone was changed after the day was built: materialise it again."
                " If it stays, report it with the rows shown here."
            ),
        ),
        no_rows(
            "url_is_canonical",
            "requests",
            "NOT (starts_with(url, 'http://') OR starts_with(url, 'https://'))"
            " OR contains(url, '#')",
            protects="Two spellings of one page are two pages, each with half of the views.",
            remedy="Canonicalisation is at fault: report it with the rows shown here.",
        ),
        no_rows(
            "site_is_host",
            "requests",
            f"NOT ({_AUTHORITY} = site OR starts_with({_AUTHORITY}, concat(site, ':')))",
            protects="Site scores would count pages under a foreign site.",
            remedy="Canonicalisation is at fault: report it with the rows shown here.",
        ),
        Rule(
            name="clients_are_many",
            measure=(
                f"(SELECT CASE WHEN sum(n) >= {_TELLING} THEN max(n) / CAST(sum(n) AS DOUBLE) END"  # noqa: S608 - names and numbers of the contract
                " FROM (SELECT count(*) AS n FROM requests GROUP BY client) AS clients)"
            ),
            severity=Severity.WARN,
            maximum=0.5,  # in real logs it is a few per cent, in small ones 15
            protects="Views are distinct clients: one proxy in front of all makes them one.",
            remedy=(
                "Most requests come from one address. If it is a proxy, set"
                ' `address = "forwarded"`; else see whether the address stands where the format'
                " says it does."
            ),
        ),
        Rule(
            name="clients_come_again",
            measure=(
                f"CASE WHEN count(*) >= {_TELLING}"
                " THEN count(DISTINCT client) / CAST(count(*) AS DOUBLE) END"
            ),
            severity=Severity.WARN,
            maximum=0.98,  # in real logs it is a third or less
            protects="Views are distinct clients: a reload, or a second page, is no new visitor.",
            remedy=(
                "Nearly every request comes from an address of its own. See whether the address"
                " stands where the format says, and not the number of a request or its time."
            ),
        ),
    ),
    drifts=(
        has_rows_as_usual("requests"),
        rows_drift("requests"),
        Drift(
            name="week_is_usual",
            measure="count(*)",
            weeks=1,
            largest_factor=1.5,
            protects="Far fewer requests in seven days than in the weeks before: a log is missing.",
            remedy="Compare the log files of the week with those of the weeks before.",
        ),
        Drift(
            name="four_weeks_are_usual",
            measure="count(*)",
            weeks=4,
            largest_factor=1.6,
            protects="Far fewer requests in four weeks than in those before: a log is missing.",
            remedy="Compare the log files of these weeks with those of the weeks before.",
        ),
        Drift(
            name="referrers_are_usual",
            measure="count(referrer) / nullif(CAST(count(*) AS DOUBLE), 0)",
            whole="count(*)",
            largest_difference=0.2,  # the share of visits with a referrer moves by a few per cent
            needs_referrers=True,
            protects="Transits, hubs and the behaviour graph are made of referrers.",
            remedy=(
                "Look for a changed log format, a new Referrer-Policy of the sites, or a proxy"
                " that strips the header."
            ),
        ),
        Drift(
            name="clients_are_usual",
            measure="count(DISTINCT client)",
            largest_factor=1.8,  # as for rows
            protects="Views are distinct clients: one proxy in front of all makes them one.",
            remedy=(
                'Look for a new proxy (set `address = "forwarded"`), a changed `privacy`'
                " setting, or bots that are not on the list."
            ),
        ),
    ),
)
