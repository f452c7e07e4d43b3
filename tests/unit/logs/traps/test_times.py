"""Traps of times and their zones."""

from __future__ import annotations

import json

from tests.log_traps import Reader, line


def test_offsets_of_time_zones(read: Reader) -> None:
    kept = read(line(time="06/May/2024:00:30:00 +0530") + line(time="05/May/2024:20:00:00 -0700"))
    assert kept.times == ["2024-05-05 19:00:00", "2024-05-06 03:00:00"]


def haproxy(clock: str) -> str:
    return (
        f"Oct 27 00:00:00 lb haproxy[1]: 203.0.113.7:5 [{clock}.000] f b/s 0/0/0/1/1 200 5 - - "
        f'---- 1/1/0/0/0 0/0 "GET /a HTTP/1.1"\n'
    )


def test_daylight_saving_ends(read: Reader) -> None:
    clocks = ["01:59:00", "02:50:00", "02:10:00", "03:00:00"]
    kept = read(
        "".join(haproxy(f"27/Oct/2024:{clock}") for clock in clocks), timezone="Europe/Berlin"
    )
    assert [time[11:] for time in kept.times] == ["23:59:00", "00:50:00", "01:10:00", "02:00:00"]


def test_daylight_saving_begins(read: Reader) -> None:
    clocks = ["01:59:00", "02:30:00", "03:30:00"]
    kept = read(
        "".join(haproxy(f"31/Mar/2024:{clock}") for clock in clocks), timezone="Europe/Berlin"
    )
    assert [time[11:] for time in kept.times] == ["00:59:00", "01:30:00", "01:30:00"]


def test_future_and_ancient_times_are_rejected(read: Reader) -> None:
    kept = read(
        line(time="06/May/2035:07:08:09 +0000") + line(time="06/May/1992:07:08:09 +0000") + line()
    )
    assert kept.reasons == {"future": 1, "ancient": 1}
    assert len(kept.urls) == 1


def test_w3c_times_are_utc_whatever_the_zone_of_the_settings(read: Reader) -> None:
    text = "#Fields: date time c-ip cs-uri-stem\n2024-05-06 07:08:09 203.0.113.7 /a\n"
    assert read(text, timezone="Asia/Tokyo").times == ["2024-05-06 07:08:09"]


def test_squid_and_caddy_write_seconds_since_1970(read: Reader) -> None:
    squid = "1714979289.461    138 203.0.113.7 TCP_MISS/200 5 GET http://e.org/a - DIRECT/- text\n"
    assert read(squid).times == ["2024-05-06 07:08:09"]
    request = {"client_ip": "203.0.113.7", "method": "GET", "host": "e.org", "uri": "/a"}
    caddy = json.dumps({"ts": 1714979289.5, "request": request, "status": 200}) + "\n"
    assert read(caddy).times == ["2024-05-06 07:08:09"]
