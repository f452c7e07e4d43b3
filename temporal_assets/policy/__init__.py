"""The crawl policy: what crawlers load, the matcher for URLs, and one exporter per crawler.

    from temporal_assets.policy import Policy
    policy = Policy.load("temporal_state/policy/latest")
    policy.match("https://news.example/politics/2025/06/01/new-budget.html").decision

Nothing here needs Dagster or DuckDB, and reading or matching needs no pyarrow either: a crawler's
machine has none of them.
"""

from __future__ import annotations

from temporal_assets.policy.document import NewerPolicy, PolicyError
from temporal_assets.policy.matcher import Decision, Decisions, Policy

__all__ = ["Decision", "Decisions", "NewerPolicy", "Policy", "PolicyError"]
