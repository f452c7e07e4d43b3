"""The last judgements of all that is published, read without building anything.

Not here: judging (`quality.evaluate`), Dagster's checks (`defs.checks`).
"""

from __future__ import annotations

from temporal_assets import contracts
from temporal_assets.defs.checks import log_file_judgement, logs_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.quality import verdicts
from temporal_assets.quality.log_files import evaluate_logs
from temporal_assets.quality.verdicts import Judgement
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store


def last_checks(
    settings: Settings, inventory: Inventory | None = None, store: Store | None = None
) -> tuple[Judgement, ...]:
    """Return the last judgements of all published partitions and of the log files.

    Pass an inventory that was read before: reading thousands of files takes a second.
    """
    store = store or Store.open(settings)
    judgements = [
        log_file_judgement(facts) for facts in evaluate_logs(logs_of(settings, None, inventory))
    ]
    for table in contracts.TABLES:
        for day in store.days(table.name):
            manifest = store.intact(table.name, day)
            if manifest:
                judgements += verdicts.read(settings.state, manifest)
    return tuple(judgements)
