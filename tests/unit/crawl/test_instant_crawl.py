"""The parts of the instant crawler, each alone."""

from __future__ import annotations

import datetime as dt
import json
import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")

from scrapy.http import Response
from scrapy.utils.test import get_crawler

from temporal_assets.core.crawls import exploration, visit_rates
from temporal_assets.crawl.instant.archive import INDEX, Archive, Page, payload_digest
from temporal_assets.crawl.instant.explore import Candidate, Explorer, arm_of, is_recent
from temporal_assets.crawl.instant.host_locks import HostLocks
from temporal_assets.crawl.instant.host_queues import HostQueues
from temporal_assets.crawl.instant.hosts import wait_after
from temporal_assets.crawl.instant.manners import RobotsRules, retry_after
from temporal_assets.crawl.instant.memory import DONE, IN_FLIGHT, Host, Memory, NewerMemory, Row
from temporal_assets.crawl.instant.watch import MOST_OF_HOST, Known, Watch

NOW = 1_000_000.0


def test_one_request_of_a_host_at_a_time_the_best_of_all_first() -> None:
    queues = HostQueues()
    for host, tier, number in (("a", 5, 1), ("a", 2, 2), ("b", 3, 3), ("b", 3, 4)):
        queues.push(host, (tier, number))
    assert queues.pop(0) == ("a", 2)
    assert queues.pop(0) == ("b", 3)
    assert queues.pop(0) is None  # both are busy
    queues.release("b", 10)
    assert queues.pop(9) is None
    queues.push("b", (1, 5))
    assert queues.pop(10) == ("b", 5)
    queues.release("a", 0)
    assert queues.pop(10) == ("a", 1)
    assert len(queues) == 1


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("push"), st.sampled_from("abc"), st.integers(1, 3)),
            st.tuples(st.just("pop"), st.just(""), st.integers(0, 5)),
            st.tuples(st.just("release"), st.sampled_from("abc"), st.integers(0, 5)),
        ),
        max_size=60,
    )
)
def test_queues_are_those_of_a_slow_model(steps: list[tuple[str, str, int]]) -> None:
    queues, now = HostQueues(), 0.0
    waiting: dict[str, list[tuple[int, int]]] = {}
    busy: set[str] = set()
    ready: dict[str, float] = {}
    for number, (what, host, value) in enumerate(steps):
        if what == "push":
            queues.push(host, (value, number))
            waiting.setdefault(host, []).append((value, number))
        elif what == "release" and host in busy:
            queues.release(host, now + value)
            busy.discard(host)
            ready[host] = now + value
        elif what == "pop":
            now += value
            able = [
                (min(rows), name)
                for name, rows in waiting.items()
                if rows and name not in busy and ready.get(name, 0) <= now
            ]
            taken = queues.pop(now)
            if not able:
                assert taken is None
                continue
            best, name = min(able)
            assert taken == (name, best[1])
            waiting[name].remove(best)
            busy.add(name)


def _hold(file: Path, host: str, answer: object) -> None:
    answer.put(HostLocks(file).take(host))  # type: ignore[attr-defined]


def test_a_host_is_held_by_one_crawl_until_its_process_ends(tmp_path: Path) -> None:
    locks = HostLocks(tmp_path / "hosts.lock")
    assert locks.take("a.example")
    assert locks.take("a.example")
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    for host, is_free in (("a.example", False), ("b.example", True)):
        other = context.Process(target=_hold, args=(tmp_path / "hosts.lock", host, answer))
        other.start()
        assert answer.get(timeout=60) is is_free
        other.join()
    assert locks.take("b.example")  # its holder is gone


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("99999999999999999999", 86_400),
        ("Mon, 12 Jan 1970 13:47:40 GMT", 60),
        ("Mon, 12 Jan 1970 13:40:00 GMT", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after(said: str, seconds: float | None) -> None:
    response = Response("http://a.example/", headers={"Retry-After": said} if said else None)
    assert retry_after(response, NOW) == seconds


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("2", 2), ("1e308", 3600), ("inf", 0), ("nan", 0), ("-5", 0), ("x" * 99_999, 0)],
)
def test_a_hostile_robots_txt_is_bounded(said: str, seconds: float) -> None:
    rules = "".join(f"Disallow: /{'*a' * 50}{n}*b\n" for n in range(900))
    text = f"User-agent: *\nCrawl-delay: {said}\n{rules}"
    crawler = get_crawler(settings_dict={"ROBOTSTXT_USER_AGENT": "temporal-assets"})
    robots = RobotsRules(crawler)
    host = Host("a.example", robots=text.encode(), robots_time=NOW)
    begun = time.process_time()
    assert robots.crawl_delay(host) == seconds
    parsed = robots._rules(host)
    assert parsed is not None
    assert parsed.can_fetch(f"https://a.example/{'a' * 2000}", "temporal-assets")
    assert time.process_time() - begun < 10


def test_waits_double_up_to_an_hour() -> None:
    assert [wait_after(n, 10) for n in (0, 1, 2, 30)] == [10, 20, 40, 3600]


def row(page: str, tier: int = 5) -> Row:
    return Row(0, page, page, "a.example", tier, "prefix", None, "page")


def test_what_was_in_flight_is_queued_again(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    numbers = [memory.add(row(f"https://a.example/{n}")) for n in range(3)]
    assert memory.add(row("https://a.example/0")) is None
    memory.change(numbers[0] or 0, state=DONE)
    memory.change(numbers[1] or 0, state=IN_FLIGHT)
    memory.close()
    again = Memory(tmp_path)
    assert [number for _, _, number, _ in again.unfinished()] == numbers[1:]
    assert again.again(row("https://a.example/0")) == numbers[0]
    assert again.again(row("https://a.example/1")) is None


def test_a_transaction_is_whole_or_nothing(tmp_path: Path) -> None:
    memory = Memory(tmp_path)

    def broken() -> None:
        with memory.transaction():
            memory.add(row("https://a.example/"))
            with memory.transaction():
                memory.note("x", 1)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        broken()
    assert not memory.knows("https://a.example/")
    assert memory.fact("x") is None


def test_a_link_is_credited_once(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    assert memory.new_links(["p", "q", "p"], "hub", NOW) == ["p", "q"]
    assert memory.new_links(["q", "r"], "feed", NOW) == ["r"]


def test_a_memory_of_another_version_is_refused(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.note("version", 99)
    memory.close()
    with pytest.raises(NewerMemory, match="version 99"):
        Memory(tmp_path)


def page(n: int, **values: object) -> Page:
    time = dt.datetime(2026, 11, 28, 9, n, tzinfo=dt.UTC)
    given: dict[str, object] = {"asked_with": [("User-Agent", "us")], **values}
    headers = [("Content-Type", "text/html"), ("Content-Encoding", "gzip")]
    return Page(f"https://a.example/{n}?q=1", 200, headers, b"<p>%d" % n, time, **given)  # type: ignore[arg-type]


def test_an_archive_is_cut_to_what_was_finished(tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    with Archive(tmp_path, "us/1 (+https://us.example)") as archive:
        archive.add(page(1))
        lengths = dict(archive.lengths)
        archive.add(page(2))  # and then the crawl is killed
    with (tmp_path / INDEX).open("ab") as file:
        file.write(b'{"url": "half a li')
    with Archive(tmp_path, "us/1", lengths) as archive:
        archive.add(page(2))
        archive.note(Page("https://a.example/3", None, (), b"", dt.datetime.now(dt.UTC)), error="x")
    lines = [json.loads(line) for line in (tmp_path / INDEX).read_text().splitlines()]
    assert [line["url"][-5:] for line in lines] == ["1?q=1", "2?q=1", "ple/3"]
    kinds, targets = [], []
    for name in sorted(tmp_path.glob("*.warc.gz")):
        with name.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                kinds.append(record.rec_type)
                targets.append(record.rec_headers.get_header("WARC-Target-URI"))
    assert kinds == ["warcinfo", "request", "response"] * 2
    assert targets[1:3] == ["https://a.example/1?q=1"] * 2


def test_what_has_not_changed_is_a_revisit_and_files_are_rotated(tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    digest = payload_digest(b"<p>1")
    refers = ("2026-11-28T08:00:00+00:00", digest)
    with Archive(tmp_path, most_bytes=600) as archive:
        archive.add(page(1))
        archive.add(page(1, refers_to=refers))
    assert len(list(tmp_path.glob("*.warc.gz"))) == 2
    with (tmp_path / "pages-00002.warc.gz").open("rb") as file:
        last = next(r for r in ArchiveIterator(file) if r.rec_type == "revisit").rec_headers
    assert last.get_header("WARC-Profile").endswith("identical-payload-digest")
    assert last.get_header("WARC-Refers-To-Date") == "2026-11-28T08:00:00Z"
    assert last.get_header("WARC-Payload-Digest") == digest


def test_a_full_disk_leaves_no_half_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path)
    archive.add(page(1))
    lengths = dict(archive.lengths)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "note", full)
    with pytest.raises(OSError, match="No space"):
        archive.add(page(2))
    archive.close()
    for name, length in lengths.items():
        assert (tmp_path / name).stat().st_size == length


def test_intervals_follow_the_yield() -> None:
    busy, quiet = visit_rates.interval(50, 10), visit_rates.interval(0, 48)
    assert busy == pytest.approx(3600 * 10.5 / 51 / 1.5)
    assert quiet == visit_rates.LONGEST
    assert visit_rates.interval(1e6, 1) == visit_rates.SHORTEST


def test_sources_of_the_policy_keep_its_interval_and_others_earn_theirs(tmp_path: Path) -> None:
    watch = Watch(Memory(tmp_path))
    watch.use([Known("https://a.example/", "hub", 1, 900)])
    watch.add("https://a.example/f", "feed", "link", "https://a.example/", "a.example", NOW)
    hub, feed = watch.due(NOW)
    for source in (hub, feed):
        watch.read(source, 7, NOW)
        assert source.found == 0  # what a first visit shows may be old
        watch.read(source, 0, NOW + 36_000)
    # Ten hours of two pages in three visits promised 26.7 pages, and none came.
    longer = visit_rates.stretch(40 / 1.5, 0.0)
    assert hub.due == pytest.approx(NOW + 36_000 + 900 * longer)
    assert feed.seconds == visit_rates.interval(0, 10)
    # What was found stays known.
    assert Watch(Memory(tmp_path)).get(feed.url) == feed
    watch.use([Known("https://a.example/", "hub", 1, 300)])
    assert hub.due == pytest.approx(NOW + 36_000 + 900 * longer - 600)


def test_hubs_that_bring_less_than_was_promised_are_visited_less(tmp_path: Path) -> None:
    watch = Watch(Memory(tmp_path))
    known = [Known(f"https://{host}.example/", "hub", 1, 900, 24.0) for host in "ab"]
    watch.use(known)
    good, vain = watch
    for hour in range(11):
        now = NOW + 3600.0 * hour
        watch.read(good, 1, now)
        watch.read(vain, 0, now)
    assert good.due == now + 900  # never more often than the policy says
    assert vain.due == pytest.approx(now + 900 * 11**0.5)
    assert visit_rates.stretch(1e9, 0.0) == visit_rates.MOST_STRETCH
    assert visit_rates.stretch(0.0, 5.0) == 1.0
    watch.forget_versions()  # a new policy has come: it is judged anew
    watch.read(vain, 0, now + 60)
    assert vain.due == pytest.approx(now + 60 + 900, abs=10)


def test_days_are_what_rates_were_made_of() -> None:
    rate = 24 * visit_rates.pages_an_hour(7, 50)
    assert visit_rates.days_watched(7, rate) == pytest.approx(50 / 24)


def test_feeds_are_asked_about_sections_that_nobody_knows(tmp_path: Path) -> None:
    watch = Watch(Memory(tmp_path))
    watch.add("https://a.example/rss", "feed", "link", "https://a.example/", "a.example", 0.0)
    watch.add("https://feeds.example/b", "feed", "link", "https://b.example/", "feeds.example", 0.0)
    watch.add("https://a.example/map", "sitemap", "robots", "https://a.example/", "a.example", 0.0)
    for source in watch:
        watch.read(source, 0, 1000.0)
        source.due = 90_000.0
    a, b, sitemap = watch
    watch.ask_feeds({"a.example"}, 1010.0)
    # No more often than the shortest interval, and only those of the host.
    assert (a.due, b.due, sitemap.due) == (1000.0 + visit_rates.SHORTEST, 90_000.0, 90_000.0)
    watch.ask_feeds({"b.example"}, 5000.0)
    assert (a.due, b.due) == (1000.0 + visit_rates.SHORTEST, 5000.0)


@pytest.mark.parametrize(("status", "visits"), [(410, 1), (404, 3)])
def test_what_is_gone_is_retired(tmp_path: Path, status: int, visits: int) -> None:
    watch = Watch(Memory(tmp_path))
    watch.use([Known("https://a.example/", "hub", 1, 900)])
    (hub,) = watch
    for number in range(visits):
        assert hub.retired is None
        watch.failed(hub, status, NOW + number)
    assert hub.retired is not None
    assert hub.due > NOW + 20 * 86_400
    watch.read(hub, 0, NOW)  # it is there again
    assert hub.retired is None


def test_failures_put_visits_off_ever_longer(tmp_path: Path) -> None:
    watch = Watch(Memory(tmp_path))
    watch.use([Known("https://a.example/", "hub", 1, 900)])
    (hub,) = watch
    waits = []
    for _ in range(12):
        watch.failed(hub, 500, NOW)
        waits.append(hub.due - NOW)
    assert waits[:3] == [1800, 3600, 7200]
    assert waits[-1] == 86_400


def test_a_host_has_no_more_sources_than_some(tmp_path: Path) -> None:
    watch = Watch(Memory(tmp_path))
    taken = [
        watch.add(f"https://a.example/{n}.xml", "sitemap", "sitemap", "x", "a.example", NOW)
        for n in range(3 * MOST_OF_HOST)
    ]
    assert sum(taken) == MOST_OF_HOST


def test_thompson_sampling_finds_the_arm_that_pays() -> None:
    random = np.random.default_rng(1)
    shares, answer = (0.1, 0.8, 0.2), [(0.0, 0.0)] * 3
    tried = [0, 0, 0]
    for _ in range(300):
        arm = exploration.choose(*zip(*answer, strict=True), random)  # type: ignore[arg-type]
        tried[arm] += 1
        answer[arm] = exploration.learned(*answer[arm], paid=bool(random.random() < shares[arm]))
    assert tried[1] > 200
    assert min(tried) > 0
    wins, losses = answer[1]
    assert wins / (wins + losses) == pytest.approx(0.8, abs=0.15)


def test_exploration_keeps_to_its_share_and_remembers_what_paid(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    explorer = Explorer(memory, 0.05, seed=1)
    for n in range(40):
        url = f"https://a.example/new/{n}"
        explorer.offer(Candidate(url, url, "section:a.example/new", "hub", n % 2 == 0))
    taken = []
    for _ in range(190):
        explorer.spent(exploring=False)
        while (candidate := explorer.take()) is not None:
            taken.append(candidate)
            explorer.learned(candidate.arm, paid=True)
    assert len(taken) == 10  # of 200
    assert [choice.url[-2:] for choice in taken[:2]] == ["38", "36"]  # new ones, the last first
    assert Explorer(memory, 0.05)._arms["section:a.example/new"][0] > 8


def test_new_pages_of_any_arm_are_explored_before_old_ones(tmp_path: Path) -> None:
    explorer = Explorer(Memory(tmp_path), 0.5, seed=1)
    explorer.learned("section:a.example/paid", paid=True)
    offered = [("old-1", "paid", False), ("new", "other", True), ("old-2", "paid", False)]
    for page, section, is_new in (*offered, ("new", "other", False)):  # shown again later
        url = f"https://a.example/{section}/{page}"
        explorer.offer(Candidate(url, url, f"section:a.example/{section}", "hub", is_new))
    explorer.spent(exploring=False)
    candidate = explorer.take()
    assert candidate is not None
    assert candidate.url.endswith("new")


def test_without_a_share_nothing_is_explored(tmp_path: Path) -> None:
    explorer = Explorer(Memory(tmp_path), 0.0)
    explorer.offer(Candidate("u", "p", "host:a", "hub", True))
    explorer.spent(exploring=False)
    assert explorer.take() is None


def test_arms() -> None:
    url = "https://a.example/sport/x?y=/z"
    assert arm_of("unknown_site", None, url, None) == "host:a.example"
    assert arm_of("site", "a.example", url, None) == "section:a.example/sport"
    assert arm_of("site", "a.example", "https://a.example/x", None) == "section:a.example/"
    assert arm_of("pattern", "a.example", url, "/s/*") == "pattern:a.example//s/*"


def test_pages_that_say_when_they_were_published() -> None:
    day = dt.datetime(2026, 11, 28, 9, tzinfo=dt.UTC).timestamp()
    new = b'<meta property="article:published_time" content="2026-11-27T09:00:00Z">'
    old = b'<script>{"datePublished": "2020-01-01"}</script>'
    assert is_recent(new, day)
    assert is_recent(old, day) is False
    assert is_recent(b"<p>2026-11-28", day) is None
