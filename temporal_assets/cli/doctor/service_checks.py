"""Checks of what the installation talks to: Dagster's databases, and the channels of alerts.

Each returns a status and a sentence. Not here: the machine (`machine_checks`), files
(`data_checks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporal_assets.cli.doctor.findings import BROKEN, OK, WARNING

if TYPE_CHECKING:
    from temporal_assets.settings import Settings


def check_dagster_home(settings: Settings) -> tuple[str, str]:
    """Check that the tables of Dagster's history fit the installed release of Dagster."""
    if not settings.state.is_dir():
        return OK, "made with the state folder"
    from temporal_assets.operate.run_history import history

    place = history(settings)
    detail = f"{place.home}, with its history in {place.database}"
    if place.is_current:
        return OK, detail
    return WARNING, (
        f"{detail}: its tables are of another release of Dagster. End the daemon and the web"
        f" server, and call DAGSTER_HOME={place.home} dagster instance migrate"
    )


def check_alerts(settings: Settings, send: bool) -> tuple[str, str]:
    """Check that alerts have a channel; with `send`, send a test message."""
    from temporal_assets.alerts import messages
    from temporal_assets.alerts.delivery import Undelivered, channels, kind_and_place

    reachable = channels(settings)
    if not reachable:
        detail = "nobody to tell: alerts.webhook and alerts.to are not set"
        return (BROKEN if send else OK), detail
    if not send:
        return (
            OK,
            f"{', '.join(channel.where for channel in reachable)} (--alert sends a test)",
        )
    status, details = OK, []
    for channel in reachable:
        try:
            note = channel.deliver(messages.of_test())
            details.append(f"sent to {channel.where}{'; ' if note else ''}{note}")
        except Undelivered as error:
            status = BROKEN
            details.append(f"not sent to {error}")
        except Exception as error:  # the others are tried as well
            status = BROKEN
            details.append(f"not sent to {channel.where}: {kind_and_place(error)}")
    return status, "\n".join(details)
