"""Traps of methods, statuses, resources and robots."""

from __future__ import annotations

from tests.log_traps import AGENT, Reader, line, page


def test_only_get_shows_a_page(read: Reader) -> None:
    text = "".join(line(f"{method} /a HTTP/1.1") for method in ("GET", "HEAD", "POST", "PUT"))
    assert read(text).reasons == {"method": 3}


def test_statuses_are_kept_dropped_and_counted(read: Reader) -> None:
    codes = ("200", "206", "304", "301", "302", "404", "410", "500", "000", "0", "-1")
    kept = read("".join(line(status=code) for code in codes))
    assert (len(kept.urls), kept.reasons) == (3, {"status": 8})


def test_static_resources_by_extension(read: Reader) -> None:
    targets = ("/a.css", "/a.JPG?v=1", "/a.woff2", "/a.html", "/a.php?img=x.jpg", "/v1.2/news")
    kept = read("".join(page(target) for target in targets))
    assert kept.reasons == {"static": 3}
    assert [url.rsplit("/", 1)[1] for url in kept.urls] == ["a.html", "a.php?img=x.jpg", "news"]


def test_a_prefetched_page_and_its_visit_are_one_client_and_page(read: Reader) -> None:
    # Logs do not tell prefetching from visiting; a client's page counts once a day anyhow.
    kept = read(page("/a") + page("/a"))
    assert len(set(zip(kept.clients, kept.urls, strict=True))) == 1


def test_bots_by_agent(read: Reader) -> None:
    agents = (
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "curl/8.5.0",
        "python-requests/2.31.0",
        AGENT,
    )
    kept = read("".join(line(agent=agent) for agent in agents))
    assert (len(kept.urls), kept.reasons) == (1, {"bot_agent": 3})
    assert len(read("".join(line(agent=a) for a in agents), cleaning={"bots": "keep"}).urls) == 4
