"""Traps of single formats."""

from __future__ import annotations

from tests.log_traps import Reader


def test_cloudfront_escapes_its_escapes(read: Reader) -> None:
    kept = read(
        "#Version: 1.0\n#Fields: date time x-edge-location c-ip cs-method cs(Host) cs-uri-stem "
        "sc-status cs(Referer) cs(User-Agent) cs-uri-query\n"
        "2024-05-06\t07:08:09\tFRA2\t203.0.113.7\tGET\te.org\t/a%2520b\t200\t"
        "https://f.org/%25C3%25BC\tMozilla/5.0%2520(X11)%2520Firefox/1\tq=%252F\n"
    )
    assert kept.urls == ["https://e.org/a%20b?q=%2F"]
    assert kept.referrers == ["https://f.org/%C3%BC"]


def test_cloudfront_lines_arrive_late_and_out_of_order(read: Reader) -> None:
    head = "#Fields: date time x-edge-location c-ip cs-method cs(Host) cs-uri-stem sc-status\n"
    days = ("2024-05-07", "2024-05-06", "2024-05-07")
    kept = read(
        head + "".join(f"{d}\t00:00:01\tX\t203.0.113.7\tGET\te.org\t/a\t200\n" for d in days)
    )
    assert [time[:10] for time in kept.times] == list(days)


def test_iis_writes_blanks_as_plus(read: Reader) -> None:
    head = "#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\n"
    agents = ("Mozilla/5.0+(X11)+Firefox/120.0", "Mozilla/5.0+(compatible;+Googlebot/2.1)")
    kept = read(
        head + "".join(f"2024-05-06 07:08:09 203.0.113.7 GET /a+b - 200 {a}\n" for a in agents)
    )
    assert kept.urls == ["https://www.example.com/a+b"]
    assert kept.reasons == {"bot_agent": 1}


def test_a_w3c_header_in_the_middle(read: Reader) -> None:
    kept = read(
        "#Fields: date time c-ip cs-uri-stem sc-status\n2024-05-06 07:08:09 203.0.113.7 /a 200\n"
        "#Fields: c-ip date time cs-uri-stem\n203.0.113.7 2024-05-06 07:08:09 /b\n"
    )
    assert [url[-2:] for url in kept.urls] == ["/a", "/b"]
