"""Unknown logs: they become sources that give something, or a sentence says why not.

Logs are written by hand here: like those that people have, with what is odd about them.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.cli.shared import console

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def call(*arguments: str | Path, stdin: str | None = None) -> Any:
    """Run a command in this process; a fault of the program fails the test with its traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def said(result: Any) -> str:
    return " ".join((result.stdout + result.stderr).split())


def combined(n: int, host: str = "", referrer: str = "-") -> str:
    return (
        f"203.0.113.{n % 250} - - [30/Jan/2026:10:{n % 60:02}:00 +0000]"
        f' "GET /news/{n % 7} HTTP/1.1" 200 512{host} "{referrer}" "{BROWSER}"'
    )


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def stored(state: Path) -> list[dict[str, Any]]:
    file = state / "settings.toml"
    sources: list[dict[str, Any]] = (
        tomllib.loads(file.read_text()).get("sources", []) if file.exists() else []
    )
    return sources


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "logs" / "access.log", [combined(n) for n in range(60)])


def table(path: Path, names: str, row: str, rows: int = 60) -> Path:
    return write(path, [names, *(row.format(n=n, time=1769767200 + 60 * n) for n in range(rows))])


def test_a_dry_run_shows_five_lines_and_leaves_nothing(log: Path, state: Path) -> None:
    result = call("ingest", log, "--host", "a.example", "--dry-run", "--state", state)
    assert result.exit_code == 0
    text = said(result)
    for words in ("visitor 1", "https://a.example/news/1", "kept", "Read as: combined"):
        assert words in text
    assert "Usable in 60 lines: time all, visitor all, page all, site all" in text
    assert "203.0" not in result.output
    assert not state.exists()


def test_a_preview_shows_why_lines_are_not_kept(tmp_path: Path, state: Path) -> None:
    lines = [combined(n) for n in range(9)]
    lines[1] = lines[1].replace(BROWSER, "Googlebot/2.1")
    lines[2] = lines[2].replace("/news/2", "/style.css")
    lines[3] = "nothing of the kind from 203.0.113.77"
    file = write(tmp_path / "access.log", lines)
    result = call("ingest", file, "--host", "a.example", "--dry-run", "--json", "--state", state)
    (preview,) = json.loads(result.stdout)
    outcomes = [line["outcome"] for line in preview["preview"]]
    assert outcomes == ["kept", "bot_agent", "static", "kept", "kept"]
    assert "203.0" not in result.stdout
    assert preview["fields"]["time"] == {"given": 9, "usable": 8}


def test_a_host_within_the_lines_is_found_and_shown(tmp_path: Path, state: Path) -> None:
    """Fourteen sites were to be merged by `--host`, and all referrers to be lost."""
    hosts = [f"www{n}.example.com" for n in range(14)]
    lines = [combined(n, f" {hosts[n % 14]}", f"https://{hosts[n % 14]}/") for n in range(200)]
    file = write(tmp_path / "access.log", lines)
    result = call("ingest", file, "--json", "--state", state)
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["previews"][0]["format"].startswith("nginx:$remote_addr")
    (read,) = report["files"]
    assert (read["kept"], read["has_referrers"]) == (200, True)


def test_who_is_asked_may_say_no(log: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "is_interactive", lambda: True)
    result = call("ingest", log, "--state", state, stdin="n\n")
    assert result.exit_code == 1
    assert "Something is doubtful" in said(result)
    assert "nothing was read or stored" in said(result)
    assert not state.exists()
    well = call("ingest", log, "--host", "a.example", "--state", state)
    assert well.exit_code == 0
    assert "doubtful" not in said(well)


def test_bare_ids_need_what_stands_before_them(tmp_path: Path, state: Path) -> None:
    file = table(tmp_path / "clicks.csv", "ts,user,article", "{time},u{n},{n}")
    options = ("--column", "url=article", "--state", state)
    bare = call("ingest", file, *options)
    assert bare.exit_code == 1
    assert "none of 60 lines is a page request that can be used" in said(bare)
    assert "--url-prefix https://www.example.com/article/" in said(bare)
    assert stored(state) == []
    status = json.loads(call("status", "--json", "--state", state).stdout)
    assert (status["log_files"]["read"], status["log_files"]["faults"]) == (0, [])
    half = call("ingest", file, "--url-prefix", "https://www.e.example/a/", "--dry-run")
    assert "--url-prefix https://www.example.com" not in said(half)
    whole = call("ingest", file, *options, "--url-prefix", "https://www.e.example/a/")
    assert whole.exit_code == 0
    assert "60 page requests kept" in said(whole)
    assert stored(state)[0]["url_prefix"] == "https://www.e.example/a/"


def test_bare_ids_in_parquet_and_json_too(tmp_path: Path, state: Path) -> None:
    rows = [{"ts": 1769767200 + n, "user": f"u{n}", "article": n, "ref": n + 1} for n in range(60)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "clicks.parquet")
    write(tmp_path / "clicks.json", [json.dumps(row) for row in rows])
    for name in ("clicks.parquet", "clicks.json"):
        result = call(
            *("ingest", tmp_path / name, "--column", "url=article", "--column", "referrer=ref"),
            *("--url-prefix", "https://www.e.example/a/", "--dry-run", "--json"),
            *("--state", state),
        )
        (preview,) = json.loads(result.stdout)
        assert preview["format"].split()[0] in ("parquet", "jsonl")
        first = preview["preview"][0]
        assert first["page"] == "https://www.e.example/a/0"
        assert first["referrer"] == "https://www.e.example/a/1"


def test_a_useless_referrer_is_an_alarm_until_it_is_mended(tmp_path: Path, state: Path) -> None:
    """1,856 of 2,353 were dropped in silence, and a proxy was blamed for it."""
    file = table(
        tmp_path / "clicks.csv",
        "time,visitor,url,referrer,rpage",
        "{time},u{n},https://www.a.example/{n},www.b.example,/from/{n}",
    )
    result = call("ingest", file, "--state", state)
    assert result.exit_code == 1
    assert "60 of 60 referrers are no URLs" in said(result)
    assert stored(state) == []
    accepted = call("ingest", file, "--yes", "--state", state)
    assert accepted.exit_code == 0
    assert len(stored(state)) == 1
    for command in ("status", "doctor"):
        assert "60 of 60 referrers are no URLs" in said(call(command, "--state", state))
    joined = "referrer=https://{referrer}{rpage}"
    mended = call("ingest", file, "--column", joined, "--state", state)
    assert mended.exit_code == 0, said(mended)
    for command in ("status", "doctor"):
        assert "referrers are no URLs" not in said(call(command, "--state", state))


def test_parts_of_urls_are_joined(tmp_path: Path, state: Path) -> None:
    rows = [
        {"time": 1769767200 + n, "visitor": f"u{n}", "host": "www.a.example", "path": f"/{n}",
         "ref": "https://www.b.example" if n % 2 else "", "rpage": f"/r{n}" if n % 2 else ""}
        for n in range(60)
    ]  # fmt: skip
    write(tmp_path / "x.json", [json.dumps(row) for row in rows])
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    names = list(rows[0])
    write(tmp_path / "x.tsv", ["\t".join(names)]
          + ["\t".join(str(row[name]) for name in names) for row in rows])  # fmt: skip
    for name in ("x.json", "x.parquet", "x.tsv"):
        result = call(
            *("ingest", tmp_path / name, "--column", "url=https://{host}{path}"),
            *("--column", "referrer={ref}{rpage}", "--dry-run", "--json", "--state", state),
        )
        (preview,) = json.loads(result.stdout)
        pages = [(line["page"], line["referrer"]) for line in preview["preview"][:2]]
        assert pages == [
            ("https://www.a.example/0", ""),
            ("https://www.a.example/1", "https://www.b.example/r1"),
        ], name
        assert preview["fields"]["referrer"] == {"given": 30, "usable": 30}


def test_what_a_template_cannot_join_is_said(tmp_path: Path, state: Path) -> None:
    file = table(tmp_path / "x.csv", "time,visitor,url", "{time},u{n},https://a.example/{n}")
    for column, words in (
        ("time={date} {clock}", "joins columns, which only target, referrer, host, agent"),
        ("url={host}{path}", "the log has no host, path"),
    ):
        result = call("ingest", file, "--column", column, "--state", state)
        assert result.exit_code in (1, 2)
        assert words in said(result)
        assert stored(state) == []


def test_a_mistyped_path_is_never_stored(log: Path, state: Path) -> None:
    assert call("ingest", log.parent / "acces.log", "--state", state).exit_code == 2
    assert not state.exists()
    picture = log.parent.parent / "picture.png"
    picture.write_bytes(bytes(range(30)) * 9)
    assert call("ingest", picture, "--state", state).exit_code == 1
    assert stored(state) == []
    status = json.loads(call("status", "--json", "--state", state).stdout)
    assert status["log_files"]["unreadable"] == []


def test_options_that_do_not_work_are_not_stored_over_those_that_do(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    wrong = call("ingest", log, "--format", "squid", "--state", state)
    assert wrong.exit_code == 1
    assert stored(state) == [{"path": str(log), "host": "a.example"}]
    (source,) = json.loads(call("sources", "--json", "--state", state).stdout)
    assert (source["kept"], source["faults"]) == (60, [])


@pytest.mark.slow
def test_one_bad_file_among_many_is_a_warning(log: Path, state: Path) -> None:
    (log.parent / "core.1234").write_bytes(bytes(range(30)) * 9)
    result = call("ingest", log.parent, "--host", "a.example", "--state", state)
    assert result.exit_code == 0
    assert "1 of 2 files cannot be read" in said(result)
    for command, code in (("status", 0), ("materialize", 0)):
        again = call(command, "--state", state)
        assert again.exit_code == code, said(again)
        assert "core.1234" in said(again)
    doctor = json.loads(call("doctor", "--json", "--state", state).stdout)
    (found,) = (one for one in doctor if one["check"] == "logs")
    assert found["status"] == "warning"


def test_counts_without_a_day_are_told_what_they_lack(tmp_path: Path, state: Path) -> None:
    for name, lines, why in (
        ("views.csv", ["page,pageviews,sessions", "/a,17,12"], "do not say of which day they are"),
        ("pageviews.gz", ["en Main_Page 42 0", "en Cat 3 0"], "leave the name that the dump has"),
        ("clicks.tsv", ["other-search\tCat\texternal\t42"], "of which wiki and month it is"),
        ("counts.json", ['{"url": "https://a.example/", "views": 9}'], "of which day they are"),
    ):
        result = call("ingest", write(tmp_path / name, lines * 5), "--state", state)
        assert result.exit_code == 1
        assert why in said(result), said(result)
    assert stored(state) == []


def test_columns_of_unknown_names_are_suggested_by_their_values(
    tmp_path: Path, state: Path
) -> None:
    rows = [
        (f"2026-01-30T10:{n:02}:00+00:00", f"203.0.113.{n}", f"/news/{n % 7}?x=1", n)
        for n in range(40)
    ]
    table = write(
        tmp_path / "a.csv",
        ["Zeit,Besucher,Seite,Herkunft"]
        + [f"{t},{a},{u},{'https://a.example/' if n % 3 else ''}" for t, a, u, n in rows],
    )
    objects = write(
        tmp_path / "b.json",
        [
            json.dumps(
                {
                    "at": t,
                    "peer": {"ip": a},
                    "req": {"raw": u, "path": u[:7], "to": "a.example", "verb": "GET"},
                    "code": 200,
                }
            )
            for t, a, u, _ in rows
        ],
    )
    for file, columns, host in (
        (table, "time=Zeit address=Besucher target=Seite referrer=Herkunft", True),
        (
            objects,
            "time=at address=peer.ip target=req.raw method=req.verb status=code host=req.to",
            False,
        ),
    ):
        options = [word for column in columns.split() for word in ("--column", column)]
        unknown = call("ingest", file, "--dry-run", "--state", state)
        assert unknown.exit_code == 1
        assert f"By their values: {' '.join(options)} (--dry-run" in said(unknown)
        named = [*options, *(("--host", "a.example") if host else ())]
        result = call("ingest", file, *named, "--dry-run", "--json", "--state", state)
        assert result.exit_code == 0, said(result)
        assert json.loads(result.stdout)[0]["kept"] == 40


@pytest.mark.parametrize(
    ("names", "row", "options"),
    [
        (
            "timestamp,visitorid,event,itemid,transactionid",
            "1767225600{:03},{},view,{},",
            "target=itemid --url-prefix https://www.example.com/item/",
        ),
        (
            "uuid,document_id,timestamp,platform",
            "u{0}{1},{1},1767225600{0:03},1",
            "address=uuid --column target=document_id"
            " --url-prefix https://www.example.com/document/",
        ),
        (
            "AnonID,Query,QueryTime,ClickURL",
            "7{1},a query,2026-01-30 10:00:{0:02},http://a.example/{2}",
            "time=QueryTime --column address=AnonID --column target=ClickURL",
        ),
        (
            "click_ts,uid,item",
            "17672256{0:02},{1},1600{2}",
            "time=click_ts --column target=item --url-prefix https://www.example.com/item/",
        ),
        (
            "Datum;Besucher;Seite;Herkunft",
            "30.01.2026 10:00:{0:02};v{1};https://a.example/{2};",
            "time=Datum --column address=Besucher --column target=Seite",
        ),
        ("when_published,item_name,item_image", "2026-01-30,{},{}", None),
        ("timestamp,visitorid,itemid,postid", "1767225600{:03},{},{},{}", None),
    ],
)
def test_columns_of_unknown_names_are_suggested_by_their_names(
    tmp_path: Path, state: Path, names: str, row: str, options: str | None
) -> None:
    rows = [row.format(n, n % 7, n % 5, n) for n in range(40)]
    file = write(tmp_path / "a.csv", [names, *rows])
    unknown = call("ingest", file, "--dry-run", "--state", state)
    assert unknown.exit_code == 1
    if options is None:
        assert "By their names" not in said(unknown)
        return
    assert f"By their names: --column {options} (--dry-run" in said(unknown)
    given = f"--column {options}".split()
    result = call("ingest", file, *given, "--dry-run", "--json", "--state", state)
    assert result.exit_code == 0, said(result)
    assert json.loads(result.stdout)[0]["kept"] == 40


def test_nothing_is_suggested_that_may_be_something_else(tmp_path: Path, state: Path) -> None:
    lines = [f"2026-01-30 10:{n:02},reader{n},/a/{n},/b/{n}" for n in range(40)]
    file = write(tmp_path / "a.csv", ["Zeit,Wer,Seite,Andere", *lines])
    result = call("ingest", file, "--dry-run", "--state", state)
    assert result.exit_code == 1
    assert "say which is meant" in said(result)
    assert "By their values" not in said(result)


IIS = "#Software: Microsoft Internet Information Services 10.0\n#Fields: {fields}\n"
FIELDS = "date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) sc-status"


def iis(path: Path, port: int) -> Path:
    lines = [
        f"2026-01-30 10:{n:02}:00 10.0.0.4 GET /p/{n} - {port} 203.0.113.{n} Mozilla/5.0+(X11) 200"
        for n in range(50)
    ]
    return write(path, [IIS.format(fields=FIELDS).rstrip(), *lines])


def test_two_sites_of_iis_do_not_become_one_in_silence(tmp_path: Path, state: Path) -> None:
    iis(tmp_path / "logs" / "u_ex260130_1.log", 80)
    iis(tmp_path / "logs" / "u_ex260130_2.log", 8080)
    both = call("ingest", tmp_path / "logs", "--host", "a.example", "--dry-run", "--state", state)
    assert "these are 2 sites of the server (s-port=8080" in said(both)
    assert "and all become a.example" in said(both)
    one = tmp_path / "logs" / "u_ex260130_1.log"
    alone = call("ingest", one, "--host", "a.example", "--dry-run", "--state", state)
    assert "sites of the server" not in said(alone)


def test_two_sites_under_one_host_are_doubted_until_that_is_mended(
    tmp_path: Path, state: Path
) -> None:
    one = iis(tmp_path / "logs" / "u_ex260130_1.log", 80)
    two = iis(tmp_path / "logs" / "u_ex260130_2.log", 8080)
    read = call("ingest", tmp_path / "logs", "--host", "a.example", "--yes", "--state", state)
    assert read.exit_code == 0, read.output
    doubt = "these are 2 sites of the server"
    for command in ("sources", "status", "doctor"):
        assert doubt in said(call(command, "--state", state)), command
    call("sources", "remove", tmp_path / "logs", "--state", state)
    hosts = ("--host", "a.example", "--host", "b.example")
    assert call("ingest", one, two, *hosts, "--state", state).exit_code == 0
    for command in ("sources", "status", "doctor"):
        assert doubt not in said(call(command, "--state", state)), command


def test_one_site_on_the_two_ports_of_the_web_is_one(tmp_path: Path, state: Path) -> None:
    for n, port in enumerate((80, 443)):
        iis(tmp_path / "logs" / f"u_ex260130_{n}.log", port)
    both = call("ingest", tmp_path / "logs", "--host", "a.example", "--dry-run", "--state", state)
    assert both.exit_code == 0, both.output
    assert "sites of the server" not in said(both)


def test_a_dry_run_of_what_gives_nothing_fails_as_reading_it_would(
    tmp_path: Path, state: Path
) -> None:
    file = write(tmp_path / "access.log", [combined(n) for n in range(30)])
    nameless = call("ingest", file, "--dry-run", "--state", state)
    assert nameless.exit_code == 1
    assert "--host www.example.com" in said(nameless)
    assert call("ingest", file, "--host", "a.b", "--dry-run", "--state", state).exit_code == 0


def test_a_dry_run_of_two_formats_names_both(tmp_path: Path, state: Path) -> None:
    iis(tmp_path / "logs" / "u_ex260130.log", 80)
    write(tmp_path / "logs" / "access.log", [combined(n) for n in range(30)])
    for host in (("--host", "a.example"), ()):
        result = call("ingest", tmp_path / "logs", *host, "--dry-run", "--state", state)
        assert "Read as: w3c; others as combined (access.log)" in said(result)


def test_times_without_a_year_are_told_so(tmp_path: Path, state: Path) -> None:
    for time in ("Jan 30 10:00:00", "30/Jan:10:00:00 +0000"):
        lines = [combined(n).replace(f"30/Jan/2026:10:{n:02}:00 +0000", time) for n in range(30)]
        file = write(tmp_path / "access.log", lines)
        result = call("ingest", file, "--host", "a.example", "--state", state)
        assert result.exit_code == 1
        assert "their times have no year" in said(result)
    rows = table(tmp_path / "a.csv", "time,address,url", "Jan 5 10:00:00,192.0.2.{n},https://a.b/")
    result = call("ingest", rows, "--dry-run", "--state", state)
    assert result.exit_code == 1
    assert "Times without a year" in said(result)
    assert stored(state) == []


def test_a_line_without_an_end_is_shown(tmp_path: Path, state: Path) -> None:
    file = tmp_path / "u_ex260130.log"
    head = IIS.format(fields=FIELDS)
    last = "2026-01-30 10:00:00 10.0.0.4 GET /p/1 - 80 203.0.113.7 Mozilla/5.0+(X11) 200"
    file.write_text(head + last, "utf-8")
    result = call("ingest", file, "--host", "a.example", "--dry-run", "--state", state)
    assert result.exit_code == 0
    assert "Usable in 1 line:" in said(result)


def test_iis_is_told_the_field_that_it_lacks(tmp_path: Path, state: Path) -> None:
    file = iis(tmp_path / "u_ex260130.log", 80)
    result = call("ingest", file, "--host", "a.example", "--state", state)
    assert result.exit_code == 0
    assert "cs(Referer)" in said(result)
    assert "nginx:" not in said(result)


def test_rejects_tell_files_of_one_name_apart(tmp_path: Path, state: Path) -> None:
    for site in ("a", "b"):
        lines = [combined(n + 100 * (site == "b")) for n in range(60)]
        write(tmp_path / site / "logs" / "access.log", [*lines, "no line of a log"])
    paths = [tmp_path / site / "logs" for site in ("a", "b")]
    call("ingest", *paths, "--host", "a.example", "--state", state)
    assert call("materialize", "requests", "--state", state).exit_code == 0
    sql = "SELECT DISTINCT file FROM rejects WHERE kind = 'rejected' ORDER BY file"
    rows = json.loads(call("query", sql, "--json", "--state", state).stdout)
    assert [row["file"] for row in rows] == ["a/logs/access.log", "b/logs/access.log"]


def test_several_paths_each_with_its_host(log: Path, tmp_path: Path, state: Path) -> None:
    other = write(tmp_path / "b.log", [combined(n + 100) for n in range(60)])
    result = call("ingest", log, other, "--host", "a.example", "--host", "b.example",
                  "--state", state)  # fmt: skip
    assert result.exit_code == 0
    assert {one["path"]: one["host"] for one in stored(state)} == {
        str(log): "a.example",
        str(other): "b.example",
    }
    wrong = call("ingest", log, "--host", "a.example", "--host", "b.example", "--state", state)
    assert wrong.exit_code == 2
    assert "2 hosts for 1 paths" in said(wrong)


def test_a_wider_glob_takes_the_narrower_one_over(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    write(log.parent / "access.log.1", [combined(n + 100) for n in range(60)])
    wide = str(log.parent / "access.log*")
    result = call("ingest", wide, "--state", state)
    assert result.exit_code == 0, said(result)
    assert stored(state) == [{"path": wide, "host": "a.example"}]
    assert "1 file known already" in said(result)


def test_a_wider_glob_with_other_options_leaves_the_narrower_one(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    write(log.parent / "access.log.1", [combined(n + 100) for n in range(60)])
    call("ingest", log.parent, "--host", "b.example", "--state", state)
    assert [one["host"] for one in stored(state)] == ["a.example", "b.example"]


def test_sources_are_listed_added_changed_and_removed(log: Path, state: Path) -> None:
    added = call("sources", "add", log, "--host", "a.example", "--state", state)
    assert added.exit_code == 0, said(added)
    assert "Read as: combined" in said(added)
    assert call("materialize", "--state", state).exit_code == 0
    (listed,) = json.loads(call("sources", "--json", "--state", state).stdout)
    assert (listed["lines"], listed["kept"], listed["formats"]) == (60, 60, ["combined"])
    changed = call("sources", "change", "1", "--timezone", "Europe/Berlin", "--state", state)
    assert changed.exit_code == 0
    assert stored(state)[0] == {
        "path": str(log), "host": "a.example", "timezone": "Europe/Berlin",
    }  # fmt: skip
    call("sources", "change", log, "--reset", "timezone", "--state", state)
    assert stored(state) == [{"path": str(log), "host": "a.example"}]
    removed = call("sources", "remove", "1", "--state", state)
    assert "1 file that were read from them are kept" in said(removed)
    assert stored(state) == []
    assert "No sources yet" in said(call("sources", "--state", state))


@pytest.mark.slow
def test_what_was_read_of_a_source_can_be_forgotten(log: Path, tmp_path: Path, state: Path) -> None:
    other = write(tmp_path / "b.log", [combined(n + 100) for n in range(60)])
    call("ingest", log, other, "--host", "a.example", "--state", state)
    call("materialize", "--state", state)
    call("sources", "remove", other, "--forget", "--state", state)
    result = call("materialize", "--state", state)
    assert result.exit_code == 0
    status = json.loads(call("status", "--json", "--state", state).stdout)
    assert status["log_files"]["lines"] == 60
    assert status["assets"]["requests"]["rows"] == 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("frobnicate",), "no action 'frobnicate'; there are list, add, change, remove"),
        (("add",), "sources add: name a path"),
        (("remove", "7"), "no source 7; there are"),
        (("change", "1", "--reset", "colour"), "--reset colour: there are format"),
        (("list", "--host", "a.example"), "takes no path and no option"),
        (("remove", "1", "--host", "a.example"), "sources remove takes no option of a source"),
        (("remove", "1", "--timezone", "UTC"), "sources remove takes no option of a source"),
        (("remove", "1", "--reset", "host"), "sources remove takes no --reset"),
        (("add", "b.log", "--reset", "host"), "sources add takes no --reset"),
        (("add", "b.log", "--forget"), "sources add takes no --forget"),
        (("change", "1", "--forget"), "sources change takes no --forget"),
    ],
)
def test_wrong_calls_of_sources_are_explained(
    log: Path, state: Path, arguments: tuple[str, ...], words: str
) -> None:
    call("sources", "add", log, "--host", "a.example", "--state", state)
    before = stored(state)
    result = call("sources", *arguments, "--state", state)
    assert result.exit_code == 2
    assert words in said(result)
    assert stored(state) == before
