"""The lines that `try rules` writes for `settings.toml`."""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path

from temporal_assets.cli.trial.rules import _advice
from temporal_assets.core.lists.list_tuning import PrefixTrial, SiteTrial
from temporal_assets.core.lists.prefix_tree import PrefixRule
from temporal_assets.core.lists.site_scores import Scoring
from temporal_assets.core.numerics.metrics import Outcome
from temporal_assets.settings import load_settings
from temporal_assets.windows.evaluation.tuning import Tuned

DAY = dt.date(2026, 3, 1)


def test_they_are_settings(tmp_path: Path) -> None:
    site = SiteTrial(Scoring(4.0, 1.0), 7, 0.5, 0.5, 0.5)
    rule = PrefixTrial("confident", PrefixRule(0.3), 2, Outcome(1, 1, 1, 1))
    others = (
        [SiteTrial(None, 5, 0.1, 0.1, 0.1)],
        [PrefixTrial("flow", PrefixRule(), 1, rule.outcome)],
    )
    text = _advice(Tuned(DAY, DAY, 1, 1, 1, others[0], [], others[1]), site, rule)
    settings = load_settings(tmp_path, **tomllib.loads(text.partition("\n")[2]))
    assert (settings.sites.rule, settings.sites.alpha, settings.sites.top_k) == (
        "confident",
        4.0,
        7,
    )
    assert (settings.prefixes.rule, settings.prefixes.threshold) == ("confident", 0.3)
