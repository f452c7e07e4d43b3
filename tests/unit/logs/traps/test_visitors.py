"""Traps of addresses: who is one visitor."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.log_traps import AGENT, Reader, line


@pytest.mark.parametrize("between", ["", " 0.002", " 1234 0.002 -"])
def test_x_forwarded_for_may_stand_behind_other_fields(read: Reader, between: str) -> None:
    """All visitors would be the proxy, and no page would have more than one view a day."""
    ends = (f'{between} "203.0.113.{n}" 0.1\n' for n in (8, 9))
    text = "".join(line(address="10.0.0.1").rstrip() + end for end in ends)
    assert len(set(read(text, address="forwarded").clients)) == 2
    assert len(set(read(text).clients)) == 1


def test_x_forwarded_for_lists(read: Reader) -> None:
    text = line().rstrip() + ' "198.51.100.2, 10.0.0.1"\n' + line().rstrip() + ' "-"\n'
    remote = read(text + line(address="198.51.100.2"))
    assert remote.clients[0] == remote.clients[1] != remote.clients[2]
    forwarded = read(text + line(address="198.51.100.2"), address="forwarded")
    assert forwarded.clients[0] == forwarded.clients[2] == remote.clients[2]
    # Where nothing was forwarded the remote address counts.
    assert forwarded.clients[1] == remote.clients[1]


def test_visitors_who_forward_no_address_stay_apart(read: Reader) -> None:
    hidden = ["_hidden", "for=_hidden", "unknown", "unknown, nobody", "-"]
    hosts = [f"host-{n}.example.net" for n in range(len(hidden))]
    text = "".join(
        f'{line(address=host).rstrip()} "{one}"\n' for host, one in zip(hosts, hidden, strict=True)
    )
    plain = "".join(line(address=host) for host in hosts)
    assert read(text, address="forwarded").clients == read(plain).clients
    assert len(set(read(plain).clients)) == len(hosts)


def test_a_hidden_first_entry_is_passed_over(read: Reader) -> None:
    fields = ["_hidden, 198.51.100.2", "for=unknown, for=198.51.100.2:80", "198.51.100.2, 10.0.0.1"]
    text = "".join(f'{line(address="10.9.9.9").rstrip()} "{field}"\n' for field in fields)
    (client,) = set(read(text, address="forwarded").clients)
    assert [client] == read(line(address="198.51.100.2")).clients


def test_words_before_json(read: Reader) -> None:
    record = {"time": 1714979289, "ip": "203.0.113.7", "url": "https://e.org/{a}", "status": 200}
    kept = read(f"2024-05-06T07:08:09Z stdout F {json.dumps(record)}\n" * 2)
    assert kept.urls == ["https://e.org/%7Ba%7D"] * 2 or kept.urls == ["https://e.org/{a}"] * 2
    assert not kept.reasons


def test_all_of_x_forwarded_for_before_a_line_is_its_first_address(read: Reader) -> None:
    chains = ("203.0.113.7, 10.0.0.1", "203.0.113.7,", "203.0.113.7, 10.0.0.2, 10.0.0.3")
    kept = read("".join(line(address=chain) for chain in chains))
    assert set(kept.clients) == set(read(line(address="203.0.113.7")).clients)


def test_a_comma_in_a_name_separates_no_addresses(read: Reader) -> None:
    kept = read("".join(line(address=name) for name in ("doe,jo", "doe,al", "17,1", "17,2")))
    assert len(set(kept.clients)) == 4


def test_a_colon_in_a_name_begins_no_port(read: Reader) -> None:
    names = ("anon:5f3a", "anon:77c1", "anon:17", "anon:18")
    assert len(set(read("".join(line(address=name) for name in names)).clients)) == 4
    table = "time,address,url\n" + "".join(f"1714979289,{name},/a\n" for name in names)
    assert len(set(read(table).clients)) == 4
    ported = ("host.example:443", "host.example:80", "203.0.113.7:1", "203.0.113.7:65535")
    assert len(set(read("".join(line(address=name) for name in ported)).clients)) == 2


def test_a_line_within_quotes(read: Reader) -> None:
    kept = read(f'"{line().rstrip()}"\n' * 2)
    assert kept.clients == read(line() * 2).clients
    assert kept.urls == ["https://www.example.com/a"] * 2
    named = read(f'"www.example.org {line().rstrip()}"\n' * 2)
    assert named.urls == ["https://www.example.org/a"] * 2


def aws(address: str) -> str:
    return (
        f"h2 2024-05-06T07:08:09.127531Z app/x/y {address} 10.0.0.1:80 0 0 0 200 200 1 2 "
        f'"GET https://e.org:443/a HTTP/2.0" "{AGENT}" ECDHE TLSv1.2 arn "Root" "e.org"\n'
    )


def classic(address: str) -> str:
    return (
        f"2024-05-06T07:08:09.127531Z elb {address} 10.0.0.1:80 0 0 0 200 200 0 57 "
        f'"GET https://e.org:443/a HTTP/1.1" "{AGENT}" ECDHE TLSv1.2\n'
    )


def proxied(address: str) -> str:
    return (
        f"May  6 07:08:09 lb haproxy[1]: {address} [06/May/2024:07:08:09.000] f b/s 0/0/0/1/1 200 5"
        ' - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"\n'
    )


@pytest.mark.parametrize("written", [aws, classic, proxied])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2a02:a33c:4538:1:bcf4:5264:e01c:f215:50718", "2a02:a33c:4538:1:bcf4:5264:e01c:f215:80"),
        ("2001:db8::1:50718", "2001:db8:0:0:0:0:0:1:1024"),
        ("[2001:db8::1]:50718", "2001:db8::1:1024"),
        ("::1:1024", "[::1]:1025"),
        ("::ffff:203.0.113.7:1024", "203.0.113.7:1025"),
    ],
)
def test_a_port_behind_an_address_without_brackets_is_no_part_of_it(
    read: Reader, written: Callable[[str], str], one: str, other: str
) -> None:
    """Each connection would be a visitor of its own."""
    kept = read(written(one) + written(other) + written("2001:db8::2:1024"))
    first, second, another = kept.clients
    assert first == second != another
