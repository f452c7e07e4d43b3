"""The parsers, each with inputs to begin from and what must hold of its answer.

A target takes dice and returns how many inputs it has read. Errors that a parser announces are
answers; any other ends the run with the dice that led there.
"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import zstandard

from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_keys import decompose
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.crawl.mirror.html_links import html_links
from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.crawl.mirror.warc import read_warc
from temporal_assets.crawl.mirror.wat import read_wat
from temporal_assets.landing.landed_files import LandedFile
from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.detect import sample
from temporal_assets.logs.detect.dated_files import UnknownFormatError
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.directives import header_of
from temporal_assets.logs.formats.format import Format, Syntax, regex_format
from temporal_assets.logs.formats.parsing import advance, parse
from temporal_assets.logs.formats.patterns import PatternError
from temporal_assets.logs.privacy.pseudonyms import KeyRing, first_forwarded, packed_address
from temporal_assets.logs.privacy.redact import SAMPLE_CHARACTERS, redact
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.logs.tables.annotations import read_annotations
from temporal_assets.logs.tables.site_lists import read_site_list
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.escapes import decode_escapes
from temporal_assets.logs.urls.url_rules import DEFAULT
from temporal_assets.policy.document import PolicyError, as_text
from temporal_assets.policy.matcher import Policy
from temporal_assets.settings import LogSource, Settings, SettingsError, load_settings
from temporal_assets.storage.manifest import Manifest, ManifestError
from tests import policies
from tests.fuzz import mutate
from tests.unit.logs.formats.test_formats import examples

Dice = np.random.Generator
Target = Callable[[Dice], int]

_LINES: Final = 100_000
"""Lines of a block: as many inputs."""

_CLEANED: Final = 5_000
"""Lines of a block that is cleaned as well: each is a URL, an agent, a sample of its own."""

_FEW: Final = 200
"""Small texts of one call."""


@cache
def _room() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="fuzz-")


def _folder() -> Path:
    """Removed when the process ends."""
    return Path(_room().name)


@cache
def _cleaner(name: str) -> Cleaner:
    settings = Settings(state=_folder() / "state")
    source = LogSource(path="x", host="example.com", timezone="Europe/Berlin")
    keys = KeyRing(_folder() / "secrets", 30)
    return Cleaner(source, settings, keys, is_bot, dt.datetime(2026, 6, 1, tzinfo=dt.UTC))


def _format(name: str, seeds: Sequence[bytes], fmt: Format, options: dict[str, Any]) -> Target:
    source = LogSource.model_validate(
        {"path": "x", "host": "example.com", "timezone": "Europe/Berlin", **options}
    )
    reading = Settings(state=_folder() / "state").reading
    head = b"".join(line for line in seeds if line.startswith(b"#"))
    if fmt.syntax is Syntax.TABLE:
        head = seeds[0]

    def read(data: bytes, *, clean: bool) -> int:
        whole = Block(np.frombuffer(head + data, np.uint8), 1, last=True)
        lines = (head + data).count(b"\n") + (not data.endswith(b"\n"))
        try:
            records = parse(whole, fmt, source, reading, None)
        except ColumnsError:
            return lines  # the header that names the columns was hit
        advance(whole, fmt, None, source)
        assert len(records) <= lines
        if clean:
            cleaned = _cleaner(name).clean(records)
            assert sum(cleaned.tally.read.values()) == len(records)
        return lines

    def target(dice: Dice) -> int:
        done = read(mutate.block(seeds, _LINES, dice).tobytes(), clean=False)
        return done + read(mutate.block(seeds, _CLEANED, dice).tobytes(), clean=True)

    return target


def _formats() -> dict[str, Target]:
    actual = {}
    for name, text, options in examples():
        seeds = [line + b"\n" for line in text.split(b"\n") if line]
        chosen = {key: value for key, value in options.items() if key not in ("path", "format")}
        stated = LogSource.model_validate({"path": "x", "format": name, **options})
        key = f"log format {name}"
        if key in actual:
            key += f" {len(actual)}"
        actual[key] = _format(name, seeds, resolve(stated, b""), chosen)
    return actual


@cache
def _all_lines() -> tuple[bytes, ...]:
    return tuple(line + b"\n" for _, text, _ in examples() for line in text.split(b"\n") if line)


def detection(dice: Dice) -> int:
    """Detect the format of a mutated head: it has one, or a sentence says why not."""
    seeds = _all_lines()
    for _ in range(_FEW // 4):
        head = mutate.block(seeds[int(dice.integers(0, len(seeds))) :][:1], 30, dice).tobytes()
        with suppress(UnknownFormatError, ColumnsError, PatternError):
            resolve(LogSource(path="x"), head)
        header_of(head)
        sample.shape(head[:500])
    return _FEW // 4


def samples(dice: Dice) -> int:
    """Redaction: printable, bounded, and without the address that is known."""
    for line in mutate.block(_all_lines(), 2_000, dice).tobytes().split(b"\n"):
        actual = redact(line, [b"192.0.2.77"])
        assert len(actual) <= SAMPLE_CHARACTERS
        assert actual.isprintable()
        assert "192.0.2.77" not in actual
    return 2_000


def archives(dice: Dice) -> int:
    """Packed files, damaged anywhere."""
    text = b"".join(_all_lines()[:20]) * 20
    packed = (
        gzip.compress(text), bz2.compress(text), lzma.compress(text),
        zstandard.ZstdCompressor(write_checksum=True).compress(text), text,
    )  # fmt: skip
    path = _folder() / "packed"
    reading = Settings(state=_folder() / "state").reading
    for n in range(_FEW):
        path.write_bytes(mutate.text(packed[n % len(packed)], dice))
        with open_stream(path, reading) as stream:
            for block in stream:
                assert len(block.data)
    return _FEW


def addresses(dice: Dice) -> int:
    """Addresses and chains of proxies."""
    seeds = (
        b"192.0.2.1", b"[2001:db8::1%eth0]:443", b"::ffff:192.0.2.1",
        b"unknown, 10.0.0.1, 192.0.2.9",
        b'for="[2001:db8::1]";proto=https, for=192.0.2.3', b"192.0.2.1:99999",
    )  # fmt: skip
    for n in range(20 * _FEW):
        value = mutate.text(seeds[n % len(seeds)], dice)
        packed = packed_address(value)
        assert packed is None or len(packed) in (4, 16)
        first_forwarded(value)
    return 20 * _FEW


_URLS: Final = (
    b"https://www.example.com/news/2026/03/01/a-story-1234.html?id=7&utm_source=x&q=%C3%A9#top",
    b"http://user:pass@EXAMPLE.com:80/../a/./b//c;jsessionid=1?b=2&a=1&a=&=3",
    b"https://[2001:db8::1]:8443/%7Euser/%2e%2e/x?y=%2526&z=+%20",
    b"http://xn--mnchen-3ya.de/%E6%97%A5%E6%9C%AC?%00=1",
    b"//host/path", b"/path/only?x", b"ftp://x/", b"http://1.2.3.4.5/", b"http://0x7f.1/",
)  # fmt: skip


def urls(dice: Dice) -> int:
    """Canonical URLs are ASCII and their own canonical form."""
    for n in range(10 * _FEW):
        raw = decode_escapes(mutate.text(_URLS[n % len(_URLS)], dice))
        url = canonical_url(raw)
        if url is not None:
            assert url.isascii(), raw
            assert canonical_url(url) == url, raw
            assert site_of(url)
    return 10 * _FEW


def split(dice: Dice) -> int:
    """URLs into keys and values, and into sections, many at once."""
    seeds = [url + b"\n" for url in _URLS]
    data = mutate.block(seeds, _LINES, dice).tobytes()
    many = texts([one.decode("latin-1") for one in data.split(b"\n")])
    decompose(many)
    return len(many)


def sections(dice: Dice) -> int:
    """Sections of canonical URLs, many at once."""
    alphabet = list("/?&=.:-_%a1")
    actual = []
    for _ in range(2_000):
        path = "".join(dice.choice(alphabet, int(dice.integers(0, 30))))
        actual.append(f"https://h{int(dice.integers(0, 9))}.example/{path}")
    section_trees(texts(actual))
    return len(actual)


_ANNOTATED: Final = (
    b"url,label\nhttps://a.example/x,temporal\nhttps://a.example/y,perpetual\n",
    b"https://a.example/x\t1\nhttps://a.example/y\t0\n",
    b'"https://a.example/x";"yes"\r\n# a comment\r\n',
)
_SITES: Final = (b"# list\na.example\nhttps://b.example/news\n//c.example/\n1,d.example\n",)


def lists(dice: Dice) -> int:
    """Annotated pages and baseline lists."""
    for n in range(_FEW):
        content = mutate.text(_ANNOTATED[n % len(_ANNOTATED)] * 5, dice)
        for page in read_annotations(content, DEFAULT).pages:
            assert page.url.isascii()
        assert all(map(str.isascii, read_site_list(mutate.text(_SITES[0] * 5, dice)).urls))
    return 2 * _FEW


_HTML: Final = (
    b"<!doctype html><base href='/x/'><a href='a?b=1&amp;c=2' rel=nofollow>t</a>"
    b"<script>'<a href=q>'</script><area href=//h/x><meta http-equiv=refresh content='0;url=/r'>"
    b"<a href=javascript:x>"
)
_HTTP: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + _HTML
_WARC: Final = b"".join(
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/%d\r\n"
    b"WARC-Date: 2026-03-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:%032d>\r\n"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
    % (n, n, len(_HTTP), _HTTP)
    for n in range(3)
)


def pages(dice: Dice) -> int:
    """Links of HTML."""
    for _ in range(_FEW):
        for link in html_links("https://a.example/p", mutate.text(_HTML, dice)):
            assert link is not None
    return _FEW


def warcs(dice: Dice) -> int:
    """WARC and WAT files, plain and packed."""
    path = _folder() / "pages.warc"
    for n in range(_FEW):
        content = mutate.text(gzip.compress(_WARC) if n % 3 == 0 else _WARC, dice)
        path.write_bytes(content)
        builder = MirrorBuilder(DEFAULT)
        (read_wat if n % 5 == 0 else read_warc)(path, builder)
    return _FEW


@cache
def _policy() -> bytes:
    return as_text(policies.document(whole=True)).encode()


def policy(dice: Dice) -> int:
    """Policy documents, and URLs against those that are read."""
    path = _folder() / "policy.json"
    for _ in range(_FEW // 4):
        path.write_bytes(mutate.text(_policy(), dice))
        with suppress(PolicyError):
            document = Policy.load(path)
            document.match_many([url.decode("latin-1") for url in _URLS])
    return _FEW // 4


def matching(dice: Dice) -> int:
    """Many URLs against a policy."""
    loaded = Policy(json.loads(_policy()))
    data = mutate.block([url + b"\n" for url in _URLS], 10_000, dice).tobytes()
    loaded.match_many([one.decode("latin-1") for one in data.split(b"\n")])
    return 10_000


_TOML: Final = (
    b'[window]\ndays = 60\nmin_views_per_day = 1.0\n[[sources]]\npath = "/x/*.log"\n'
    b'format = "auto"\ntimezone = "Europe/Berlin"\n[labels]\nq = 0.7\n'
    b'[privacy]\nclient = "address"\n[engine]\n'
    b'memory_limit = "4GB"\n[orchestration]\n'
    b'timezone = "UTC"\nowner = "team:data"\n'
)


def settings_file(dice: Dice) -> int:
    """settings.toml: settings, or a sentence."""
    state = _folder() / "toml"
    state.mkdir(exist_ok=True)
    for _ in range(_FEW // 2):
        (state / "settings.toml").write_bytes(mutate.text(_TOML, dice))
        with suppress(SettingsError):
            load_settings(state)
    return _FEW // 2


_PATTERNS: Final = (
    rb'(?P<address>\S+) \[(?P<time>[^\]]+)\] "GET (?P<target>\S+)[^"]*" (?P<status>\d+)',
    rb"(?P<time>\d+) (?P<host>\S+) (?P<address>\S+) (?P<target>.*)",
)


def expressions(dice: Dice) -> int:
    """`regex:` formats: compiled and used, or a sentence."""
    reading = Settings(state=_folder() / "state").reading
    lines = np.frombuffer(b"".join(_all_lines()[:5]), np.uint8)
    for n in range(_FEW):
        pattern = mutate.text(_PATTERNS[n % 2], dice).decode("latin-1")
        with suppress(PatternError, ColumnsError):
            parse(Block(lines, 1, last=True), regex_format(pattern), LogSource(path="x"), reading)
    return _FEW


_MANIFEST: Final = json.dumps(
    {
        "asset": "page_views", "day": "2026-03-01", "schema_version": 1, "settings_digest": "x",
        "files": [{"name": "part-0123456789abcdef.parquet", "rows": 1, "bytes": 2, "digest": "0"}],
        "inputs": [{"name": "requests", "digest": "y"}], "extra": {},
    }
).encode()  # fmt: skip
_RECORD: Final = json.dumps(
    {
        "id": "a-b", "serial": 1, "digest": "a", "options": "b", "size": 1, "head": "c", "lines": 1,
        "format": "combined", "likely_format": None, "has_referrers": True, "supersedes": [],
        "sightings": [{"path": "/x", "size": 1, "mtime_ns": 1}], "problem": None, "error": None,
        "days": {"2026-03-01": {"lines": 1, "rows": 1, "segments": ["2026-03-01-0.parquet"],
                                "first": 1, "last": 2, "losses": [], "digests": ["d"]}},
    }
).encode()  # fmt: skip


def manifests(dice: Dice) -> int:
    """Manifests of partitions and records of log files."""
    for _ in range(5 * _FEW):
        with suppress(ManifestError):
            actual = Manifest.from_json(mutate.text(_MANIFEST, dice))
            assert all("/" not in file.name for file in actual.files)
        with suppress(ValueError):
            record = LandedFile.from_json(mutate.text(_RECORD, dice).decode("utf-8"))
            assert all("/" not in name for day in record.days.values() for name in day.segments)
    return 10 * _FEW


TARGETS: Final[dict[str, Target]] = {
    **_formats(),
    "detection of formats": detection,
    "samples of rejected lines": samples,
    "packed files": archives,
    "addresses": addresses,
    "canonical URLs": urls,
    "keys of URLs": split,
    "sections of URLs": sections,
    "annotated and baseline lists": lists,
    "links of HTML": pages,
    "WARC and WAT": warcs,
    "policy documents": policy,
    "URLs against a policy": matching,
    "settings.toml": settings_file,
    "regular expressions": expressions,
    "manifests and records": manifests,
}
