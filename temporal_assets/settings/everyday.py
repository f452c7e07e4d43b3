"""The list of everyday settings, for docs/settings.md and a new `settings.toml`.

Here: their names and a line about each. Not here: what they mean in full, which is below each
field. All other settings are for experts (docs/settings-expert.md).
"""

from __future__ import annotations

from typing import Final

EVERYDAY: Final = {
    "sources.path": "File, folder or pattern of log files",
    "sources.format": "Format of the log, detected by default",
    "sources.host": "Host of the site, where lines do not name it",
    "sources.timezone": "Time zone of times without an offset",
    "sources.columns": "Columns of the log that hold time, client, URL and referrer",
    "cleaning.static_resources": '"keep": images, scripts and style sheets are pages, too',
    "cleaning.bots": '"keep": requests of programs count like those of people',
    "cleaning.drop_query_keys": "Query keys that do not tell pages apart, such as session ids",
    "privacy.min_clients": "A URL that fewer clients opened is never named",
    "privacy.rotation_days": "Days after which clients get new pseudonyms; 0: never",
    "window.days": "Days that labels, lists and the policy look back",
    "window.min_days": "Days with logs that labels need; lists are provisional until then",
    "hubs.visits_per_day": "Visits of all hubs a day together; default: as many as are worth it",
    "sites.by": '"domain": www.example.com and shop.example.com are one site',
    "sites.top_k": "Sites in the list to watch",
    "baseline.path": "The list of sites or seeds in use today, to compare with",
    "crawls.results": "Archives and tables of crawls, to learn from what they found",
    "calibration.annotated": "Pages that people labelled, to choose thresholds by",
    "engine.memory_limit": "Memory of the database; it spills to disk beyond",
    "orchestration.timezone": "Time zone in which a day begins",
    "orchestration.hour": "Hour of the daily run",
    "retention.requests_days": "Days that single requests are kept; default: for ever",
    "alerts.webhook": "URL that is told of failed runs and checks",
    "alerts.to": "Mail addresses that are told of failed runs and checks",
}
"""A line about each setting by dotted name, in the order of a new `settings.toml`."""
