"""The sensor `alerts`: messages about failed runs, failed checks and old data.

The sensor is off until somebody switches it on, and sends nothing without a channel in the
settings. Every channel has its own place in the cursor: a channel that fails does not hold up the
others, and nothing is sent twice to it. A message counts as sent when the channel has accepted it.
Not here: the text and the sending (`temporal_assets.alerts`), Dagster's records (`finished_runs`).
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final

import dagster as dg

from temporal_assets.alerts import messages
from temporal_assets.alerts.delivery import Channel, Undelivered, channels, kind_and_place
from temporal_assets.alerts.messages import Message
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.partitions import today
from temporal_assets.defs.runs.finished_runs import finished_after, report_of

_INTERVAL_SECONDS: Final = 60

_OVERLAP_SECONDS: Final = 600.0
"""Seconds before the end of the latest handled run from which on runs are looked for again: their
end may have been recorded late. The cursor knows which were handled."""

_MOST_RUNS: Final = 100
"""Most runs that one tick handles for a channel; the next tick goes on."""

_PATIENCE_SECONDS: Final = 20.0
"""Time in a tick after which no message is begun: Dagster ends a tick after a minute, and would
forget what was sent."""


@dataclass(slots=True)
class ChannelCursor:
    """The point up to which a channel has been informed; the cursor stores its fields by name."""

    since: float
    """POSIX time: runs that ended before were handled, or are older than the alerts themselves."""
    known: dict[str, float] = field(default_factory=dict)
    """End of each run that ended after `since` and was handled, by id."""
    said: str = ""
    """Day on which the last message on old data was sent."""

    def note(self, run_id: str, end: float) -> None:
        """Note that a run was handled."""
        self.known[run_id] = end
        self.since = max(self.since, end - _OVERLAP_SECONDS)
        self.known = {run: over for run, over in self.known.items() if over > self.since}


@dataclass(frozen=True, slots=True)
class Delivery:
    """Result of one tick of the sensor."""

    places: Mapping[str, ChannelCursor]
    messages: int
    has_changed: bool
    """True if the cursor has changed."""
    troubles: Sequence[str]
    """Channels that failed, and recipients that were refused."""


def alerts_sensor() -> dg.SensorDefinition:
    """Return the sensor, which is off until somebody switches it on."""

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=_INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description=(
            "Tells people of runs that failed, of checks that did not pass and of old data: by the"
            " webhook and the mail addresses of the section `alerts` of the settings."
        ),
    )
    def alerts(
        context: dg.SensorEvaluationContext, installation: dg.ResourceParam[Installation]
    ) -> dg.SensorResult:
        reachable = channels(installation.settings)
        if not reachable:
            return dg.SensorResult(
                skip_reason="Nobody to tell: set alerts.webhook or alerts.to in settings.toml."
            )
        now = dt.datetime.now(dt.UTC)
        delivery = tell(context.instance, installation, reachable, context.cursor, now)
        troubles = "; ".join(delivery.troubles)
        # A tick that fails forgets its cursor. One that has sent something fails the next time.
        if troubles and not delivery.has_changed:
            raise Undelivered(troubles)
        cursor = json.dumps({name: asdict(place) for name, place in delivery.places.items()})
        reason = f"Messages sent: {delivery.messages}" if delivery.messages else "Nothing to tell"
        return dg.SensorResult(
            skip_reason=f"{reason}; not delivered: {troubles}" if troubles else f"{reason}.",
            cursor=cursor,
        )

    return alerts


def tell(
    instance: dg.DagsterInstance,
    installation: Installation,
    reachable: Iterable[Channel],
    cursor: str | None,
    now: dt.datetime,
) -> Delivery:
    """Send to every channel what is new to it; a channel that is new itself begins now."""
    before = {name: ChannelCursor(**place) for name, place in json.loads(cursor or "{}").items()}
    stop = time.monotonic() + _PATIENCE_SECONDS
    places: dict[str, ChannelCursor] = {}
    troubles: list[str] = []
    sent, has_changed = 0, False
    for channel in reachable:
        is_new = channel.name not in before
        place = places[channel.name] = before.get(channel.name) or ChannelCursor(now.timestamp())
        has_changed |= is_new
        try:
            for end, run_id, message in _news(instance, installation, place, now):
                if message and time.monotonic() > stop:
                    break
                if message:
                    note = channel.deliver(message)
                    sent += 1
                    troubles += [note] if note else []
                if run_id:
                    place.note(run_id, end)
                else:
                    place.said = _today(installation, now)
                has_changed = True
        except Undelivered as error:
            troubles.append(str(error))
        except Exception as error:  # the others get their messages, and these are remembered
            troubles.append(f"{channel.name}: {kind_and_place(error)}")
    return Delivery(places, sent, has_changed, troubles)


def _news(
    instance: dg.DagsterInstance, installation: Installation, place: ChannelCursor, now: dt.datetime
) -> Iterator[tuple[float, str, Message | None]]:
    """Yield (end, run, message) of the runs a channel does not know, and then of old data."""
    alerts = installation.settings.alerts
    say = partial(messages.of_run, ui=alerts.ui, warnings=alerts.warnings)
    ended = finished_after(instance, place.since)
    unknown = [(end, run_id) for end, run_id in ended if run_id not in place.known]
    for end, run_id in unknown[:_MOST_RUNS]:
        report = report_of(instance, run_id)
        yield end, run_id, say(report) if report else None
    if place.said != _today(installation, now):
        message = old_data(installation, now)
        if message:
            yield 0.0, "", message


def old_data(installation: Installation, now: dt.datetime) -> Message | None:
    """Return the message if the latest day of `page_views` is too long ago, or None."""
    limit = installation.settings.alerts.max_age_days
    days = installation.store.days("page_views")
    current = today(installation.settings, now)
    if not limit or not days or (current - days[-1]).days <= limit:
        return None
    return messages.of_old_data(days[-1], current, limit)


def _today(installation: Installation, now: dt.datetime) -> str:
    return today(installation.settings, now).isoformat()
