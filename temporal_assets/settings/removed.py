"""Settings of earlier releases that were removed, and what replaces them.

Here: their names. Not here: the reasons, which are beside the constants in the code that uses
them.
"""

from __future__ import annotations

from typing import Final

_FIXED: Final = {
    "reading.sample_lines": "3",
    "reading.earliest": "1993-01-01",
    "reading.future_hours": "24",
    "reading.max_expansion": "1000",
    "reading.block_mib": "16",
    "reading.max_line_bytes": "65536",
    "cleaning.bot_pages_per_minute": "60",
    "cleaning.bot_pages_without_referrer": "100",
    "cleaning.methods": "GET",
    "cleaning.statuses": "200, 206 and 304",
    "curves.base": "false",
    "calibration.hit_weight": "1",
    "calibration.min_pages": "50",
    "calibration.n": "1, 2, 3, 4, 5, 7, 10 and 14 days",
    "calibration.q": "0.05 to 0.95 in steps of 0.05",
    "calibration.m": "1, 2, 3, 4, 5, 7, 10 and 14 days",
    "calibration.p": "1 to 15 in steps of 0.2",
    "early.complete_days": "7",
    "patterns.cut": "transit",
    "patterns.min_share": "0.0001",
    "patterns.min_urls": "10",
    "patterns.most_urls": "3000000",
    "patterns.transit_threshold": "0.8",
    "patterns.visit_weight": "1",
    "patterns.site_memory_mib": "4096",
    "patterns.site_seconds": "120",
    "sites.confidence": "0.95",
    "sites.min_pages": "5",
    "sites.young": "expect",
    "sites.quiet_days": "3",
    "sites.quiet_share": "0.05",
    "privacy.views_per_client": "10",
    "prefixes.confidence": "0.8",
    "prefixes.min_pages": "3",
    "prefixes.quiet": "drop",
    "hubs.search_engines": "drop",
    "hubs.shortest_minutes": "10",
    "hubs.external": "drop",
    "policy.confidence": "0.95",
    "policy.skip_share": "0.01",
    "policy.most_rules": "1000000",
    "evaluation.most_pages": "2000000",
    "simulation.learn_share": "0.5",
    "simulation.most_pages": "5000000",
    "simulation.most_sites": "20",
    "spark.local_megabytes": "256",
    "spark.one_task_megabytes": "256",
    "orchestration.days_per_run": "30",
    "orchestration.retry_seconds": "10, 60 and 300",
}
"""Constant value by dotted name, for settings that became constants."""

_MOVED: Final = {
    "spark.packages": '"spark.jars.packages"',
    "spark.python": '"spark.pyspark.python"',
    "spark.driver_memory": '"spark.driver.memory"',
    "spark.executor_memory": '"spark.executor.memory"',
}
"""Option of `[spark.config]` by dotted name, for settings that moved there."""


_MAIL: Final = 'write `alerts.smtp = "smtp://user@host:port"`'

_FOLDED: Final = {
    "alerts.smtp_host": _MAIL,
    "alerts.smtp_port": _MAIL,
    "alerts.smtp_security": f"{_MAIL}, with `smtps`, `smtp+starttls` or `smtp+none`",
    "alerts.smtp_user": _MAIL,
    "sites.beta": "write 5 · alpha / (alpha + beta) as `sites.alpha`, and no beta",
    "sites.page_share_weight": "write 5 · w · alpha / (w · alpha + beta) as `sites.alpha`",
    "sources.scheme": 'write `cleaning.scheme = "http"` if no page is reached over https',
    "privacy.mask_ipv6_bits": "it follows from `privacy.mask_ipv4_bits`; remove it",
    "simulation.mirror": "it is the one that `temporal-assets evaluate mirror` stores; remove it",
    "hubs.half_life_days": "it is learned in every window; remove it",
    "policy.urgent_share": "it follows from the flow of the window; remove it",
    "patterns.processes": "`engine.threads` sites are learned at once",
    "reading.workers": "`engine.threads` files are read at once",
}
"""Advice by dotted name, for settings that another one includes."""


def instead_of(name: str) -> str | None:
    """Return advice on a removed setting or section, or None for any other name."""
    if name in _FIXED:
        return f"this is no setting any more: it is fixed at {_FIXED[name]}; remove it"
    if name in _MOVED:
        return f"this is no setting any more: write {_MOVED[name]} in [spark.config]"
    if name in _FOLDED:
        return f"this is no setting any more: {_FOLDED[name]}"
    fixed = [
        f"{old_name} is fixed at {_FIXED[old_name]}"
        for old_name in _FIXED
        if old_name.startswith(f"{name}.")
    ]
    folded = [
        f"{old_name}: {_FOLDED[old_name]}"
        for old_name in _FOLDED
        if old_name.startswith(f"{name}.")
    ]
    if fixed or folded:
        return f"this section is gone; remove it: {'; '.join([*fixed, *folded])}"
    return None
