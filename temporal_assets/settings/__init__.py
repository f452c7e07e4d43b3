"""Every threshold and path, typed, with its default and the reason for it.

One module for each group of sections; `loading` puts them together and reads them. Here: values
that a user may want to change. Not here: derived paths of artifacts (`storage`), algorithms
(`core`), column names (`contracts`).
"""

from temporal_assets.settings.labels import Calibration, Curves, Labels, Window
from temporal_assets.settings.lists import Hubs, Patterns, Prefixes, Sites
from temporal_assets.settings.loading import (
    DEFAULT_STATE,
    SETTINGS_FILE,
    STATE_VARIABLE,
    Settings,
    SettingsError,
    load_settings,
    state_folder,
)
from temporal_assets.settings.operation import (
    Alerts,
    Engine,
    MailServer,
    Orchestration,
    Retention,
    Spark,
)
from temporal_assets.settings.policy import Baseline, Crawls, Evaluation
from temporal_assets.settings.reading import (
    DEFAULT_SCHEME,
    REJECT_SAMPLES,
    ROBOT_PAGES_PER_MINUTE,
    ROBOT_PAGES_WITHOUT_REFERRER,
    SHOWN_STATUSES,
    VIEWS_PER_CLIENT,
    Cleaning,
    Privacy,
    Reading,
)
from temporal_assets.settings.sources import LogSource

__all__ = [
    "DEFAULT_SCHEME",
    "DEFAULT_STATE",
    "REJECT_SAMPLES",
    "ROBOT_PAGES_PER_MINUTE",
    "ROBOT_PAGES_WITHOUT_REFERRER",
    "SETTINGS_FILE",
    "SHOWN_STATUSES",
    "STATE_VARIABLE",
    "VIEWS_PER_CLIENT",
    "Alerts",
    "Baseline",
    "Calibration",
    "Cleaning",
    "Crawls",
    "Curves",
    "Engine",
    "Evaluation",
    "Hubs",
    "Labels",
    "LogSource",
    "MailServer",
    "Orchestration",
    "Patterns",
    "Prefixes",
    "Privacy",
    "Reading",
    "Retention",
    "Settings",
    "SettingsError",
    "Sites",
    "Spark",
    "Window",
    "load_settings",
    "state_folder",
]
