"""Every threshold and path, typed, with its default and the reason for it.

What belongs here: values a user may want to change. What does not: derived paths of
artifacts (`storage`), algorithms (`core`), column names (`contracts`).

Settings come, strongest first, from arguments, from environment variables
(`TEMPORAL_ASSETS_ENGINE__THREADS=2`), from `settings.toml` in the state folder, and
from the defaults below. Nothing is read at import: call `load_settings`.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

_PREFIX = "TEMPORAL_ASSETS_"
_WITHIN = "__"
STATE_VARIABLE = f"{_PREFIX}STATE"
DEFAULT_STATE = Path("temporal_state")
SETTINGS_FILE = "settings.toml"


_MOST_STEPS = 1000
"""A finer grid tells annotated pages apart that differ by nothing."""


_LONGEST_WAIT = 3600
"""A run that waits longer holds up the queue; the sensor asks again by itself."""


def _zone_name(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError) as error:  # unknown, a folder, a path
        raise ValueError(
            f"{value!r} is no time zone; names are like `UTC` and `Europe/Berlin`"
        ) from error
    return value


def _web_address(value: str) -> str:
    message = "must be a URL that begins with http:// or https://"
    try:
        parts = urlsplit(value)
    except ValueError:  # which would repeat it
        raise ValueError(message) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not value.isprintable():
        raise ValueError(message)
    return value


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(:\d{1,5})?")
"""A name or an address, with a port or without."""


class LogSource(_Section):
    """Where one kind of access log lies and how to read it.

    One `[[sources]]` table each; `temporal-assets ingest` writes them.
    """

    path: str
    """File, folder or glob; relative to the state folder. Folders are read recursively; rotated
    names sort numerically."""

    format: str = "auto"
    """A name from docs/log-formats.md, `auto` to detect it from the first lines, `nginx:` or
    `apache:` followed by the log format the server was given, or `regex:` by a pattern with named
    groups."""

    host: str | None = None
    """Host of the site, for formats whose lines do not carry one (combined, common)."""

    scheme: Literal["http", "https"] = "https"
    """Scheme of the site, for formats whose lines do not carry one. See `cleaning.scheme`."""

    timezone: str = "UTC"
    """Zone of timestamps that carry no offset. W3C and CloudFront times are always UTC."""

    address: Literal["remote", "forwarded"] = "remote"
    """`remote`, or `forwarded` (the first address of X-Forwarded-For where the format has it)."""

    columns: dict[str, str] = Field(default_factory=dict)
    """Our field name -> column (name or number) or JSON path, for csv, tsv, parquet and jsonl."""

    @field_validator("format")
    @classmethod
    def _valid_pattern(cls, value: str) -> str:
        if value.startswith("regex:"):
            try:
                re.compile(value.removeprefix("regex:"))
            except re.error as error:
                raise ValueError(f"this is no regular expression: {error}") from error
        return value

    @field_validator("columns", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        """TOML tells numbers from texts; a column has one or the other for a name."""
        if not isinstance(value, dict):
            return value
        return {field: str(name) if type(name) is int else name for field, name in value.items()}

    @field_validator("host")
    @classmethod
    def _bare_host(cls, value: str | None) -> str | None:
        if value is not None and not _HOST.fullmatch(value):
            raise ValueError("this is no host: write it alone, like www.example.com")
        return value

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        return _zone_name(value)


class Reading(_Section):
    """Bounds on what one line and one file may cost."""

    max_line_bytes: int = Field(65_536, ge=1024)
    """Longer lines are rejected. Servers cap request lines at 8 KiB (Apache) to 32 KiB; a line
    holds a request, a referrer and an agent, so 64 KiB loses no genuine line."""

    max_expansion: int = Field(1000, ge=10)
    """Decompressed bytes per compressed byte beyond which a file is taken for a bomb: reading ends
    there, and lines up to it count. Access logs compress 5 to 40 times; gzip's own limit is
    1032."""

    max_reject_share: float = Field(0.2, ge=0, le=1)
    """A day whose rejected lines exceed this share of its lines fails: more is a wrong format."""

    earliest: dt.date = dt.date(1993, 1, 1)
    """Older timestamps are rejected: the common log format came with NCSA httpd, in 1993."""

    future_hours: float = Field(24.0, ge=0)
    """Lines dated later than now plus this are rejected: clocks drift and zones are misread by
    hours, not by days. A file with more than one of them in a thousand is not read."""

    sample_lines: int = Field(3, ge=0, le=100)
    """Samples kept per day, file and reason."""

    block_mib: int = Field(16, ge=1, le=1024)
    """MiB of a log handed to a thread at once; the first blocks of a file are smaller, so that all
    threads have one soon. Larger ones need more memory and save little."""

    workers: int | None = Field(None, ge=1)
    """Parsing threads, or processes where there is much to read, some 400 MB each; all cores when
    unset."""


class Cleaning(_Section):
    """What is kept of the log, and how a URL becomes a page (docs/canonical-urls.md)."""

    methods: tuple[str, ...] = ("GET",)
    """Requests with other methods show no page."""

    statuses: tuple[int, ...] = (200, 206, 304)
    """Pages that were really shown; 304 means shown from the browser's cache."""

    static_resources: Literal["drop", "keep"] = "drop"
    """Images, scripts, style sheets, downloads, feeds; robots.txt, sitemaps and their like."""

    bots: Literal["drop", "keep"] = "drop"
    """Programs, by their agent and by their behaviour (the next two)."""

    bot_pages_per_minute: int = Field(60, ge=1)
    """A client that opens more pages than this within one minute does not read them."""

    bot_pages_without_referrer: int = Field(100, ge=1)
    """A client with this many pages in a day and not one referrer follows no links: a script.
    Applies only to formats that log referrers."""

    scheme: Literal["https", "http", "keep"] = "https"
    """One page reached over both schemes is one page: all URLs are stored under this scheme."""

    drop_query_keys: tuple[str, ...] = ()
    """Query keys dropped besides the built-in ones of sessions and tracking
    (docs/canonical-urls.md)."""

    keep_query_keys: tuple[str, ...] = ()
    """Exceptions to the built-in list."""


class Privacy(_Section):
    """How visitors are told apart without being known (docs/privacy.md)."""

    client: Literal["address", "address+agent"] = "address"
    """What identifies a visitor. The papers count users by address; adding the agent tells apart
    people behind one address, and splits people with two browsers."""

    mask_ipv4_bits: int = Field(0, ge=0, le=24)
    """Bits of an address removed before the pseudonym is made; 0 keeps visitors apart best.
    GoAccess's levels are 8, 16 and 24."""

    mask_ipv6_bits: int = Field(0, ge=0, le=96)
    """The same for IPv6. GoAccess's levels are 64, 80 and 96."""

    rotation_days: int = Field(0, ge=0)
    """A new key every so many days; 0 keeps one key. A client counts anew after a rotation."""

    min_clients: int = Field(5, ge=1)
    """URLs that fewer clients opened are never published in policies, reports and the UI."""


class Window(_Section):
    """The days that window assets look back (docs/decisions.md)."""

    days: int = Field(60, ge=1)
    """TW 4.1 and NP 3 observe 60 days."""

    min_days: int = Field(7, ge=1)
    """A window with fewer days present is refused: a curve needs more than a weekend."""

    min_views_per_day: float = Field(1.0, gt=0)
    """Pages with fewer views a day, on average over the days of the window that are there, have no
    history: too few to rely on (TW 4.1 and NP 3: 60 views in 60 days)."""


class Curves(_Section):
    """How interest curves are fitted (docs/interest-curves.md)."""

    method: Literal["likelihood", "least_squares"] = "likelihood"
    """`least_squares` is the paper's (TW 4.1); `likelihood` labels better
    (docs/interest-curves.md)."""

    base: bool = False
    """Also fit a constant daily interest. Costs more on pages without one than it gains on those
    with."""

    weekdays: Literal["keep", "remove"] = "keep"
    """`remove`: views are divided by the weekday factor of their site before they are fitted (TW
    5.1). Better where all pages of a site follow the week alike, no better on the demo corpus."""


class Labels(_Section):
    """When a page is temporal (more than q in n days), and when it is news (concentration > p)."""

    rule: Literal["observed", "curve", "concentration"] = "observed"
    """What decides whether a page is temporal, in all lists and the policy. `observed`: the share
    of its views so far in the first `n` days where its life was observed, the curve where it is cut
    or days are missing. `curve`: TW 4.2 for all pages. `concentration`: NP 4.1 for all pages. The
    papers' labels are columns of `page_labels` whatever the rule."""

    n: float = Field(3.0, ge=1, le=30)
    """Days after birth at which accumulated interest is looked at (TW 4.2)."""

    q: float = Field(0.7, gt=0, lt=1)
    """A page is temporal if more of its interest than this accumulates in `n` days (TW 4.2)."""

    m: int = Field(3, ge=1)
    """First days of a life that concentration compares with all of it. NP does not give it; `n` is
    the same idea."""

    p: float = Field(1.91, gt=0)
    """A page is news if its concentration is above this (NP 6.1)."""

    thresholds: Literal["settings", "calibrated"] = "settings"
    """`calibrated`: q, m and p of the day's `calibration`, where it has any; `n` stays, because
    curves are made for it."""


Range = tuple[float, float, float]
"""First, last and step."""


class Calibration(_Section):
    """Thresholds chosen from pages that people annotated, TW 4.2 and 5.2 (docs/calibration.md)."""

    annotated: Path | None = None
    """CSV of annotated pages (URL, label); relative to the state folder. Unset: none."""

    n: tuple[float, ...] = (1, 2, 3, 4, 5, 7, 10, 14)
    """Numbers of days tried for `labels.n`, besides itself."""

    q: Range = (0.05, 0.95, 0.05)
    """First, last and step of the shares tried for `labels.q`, besides itself."""

    m: tuple[int, ...] = (1, 2, 3, 4, 5, 7, 10, 14)
    """Numbers of days tried for `labels.m`, besides itself."""

    p: Range = (1.0, 15.0, 0.2)
    """First, last and step of the concentrations tried for `labels.p`, besides itself."""

    hit_weight: float = Field(1.0, ge=0)
    """A of performance = A · hit - B · miss - C · false alarm (TW 5.2). The defaults of the three
    are the paper's objective, the number of pages labelled right."""

    miss_weight: float = Field(0.0, ge=0)
    """B: what a temporal page costs that is not labelled so."""

    false_alarm_weight: float = Field(0.0, ge=0)
    """C: what a page costs that is labelled temporal and is not."""

    by: Literal["none", "site", "section"] = "none"
    """Thresholds of their own for sites, or for sections (top folders and programs): news is read
    at different speeds (TW 5.2)."""

    min_pages: int = Field(50, ge=2)
    """Annotated pages, of both kinds, that a site, a section or all of them need for thresholds
    that labels may use. With fewer, a choice says more about the sample than about the site."""

    @field_validator("n", "m")
    @classmethod
    def _days(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not value or any(days < 1 for days in value):
            raise ValueError("must be one or more numbers of days, each at least 1")
        return value

    @field_validator("q", "p")
    @classmethod
    def _range(cls, value: Range) -> Range:
        first, last, step = value
        if not (0 < first <= last and step > 0 and (last - first) / step <= _MOST_STEPS):
            raise ValueError(
                f"must be first, last and step, all above 0, with at most {_MOST_STEPS} steps"
            )
        return value


class Early(_Section):
    """Labels of pages born in the last days (docs/early-labels.md)."""

    complete_days: int = Field(7, ge=4)
    """Days a page must have been seen to be learned from. What it does later changes its share of
    the first days little; fewer days give more, and more recent, pages to learn from."""


class Patterns(_Section):
    """How the URLs of a site become patterns (docs/url-patterns.md)."""

    min_urls: int = Field(10, ge=1)
    """Nodes of the pattern tree with fewer URLs are leaves, and no rarer value is named."""

    min_share: float = Field(1e-4, ge=0, le=1)
    """The same as a share of the site's URLs; the larger of the two counts."""

    most_urls: int = Field(3_000_000, ge=1000)
    """A site with more URLs is learned from a sample of so many, and says so; everything is counted
    over all of them."""

    salience: Literal["support", "drop"] = "support"
    """Which values get a pattern of their own: all that have the support, or those before the
    largest drop in frequency (WWW 2010), which hides small sections beside large ones
    (docs/url-patterns.md)."""

    cut: Literal["syntax", "visit", "transit"] = "transit"
    """Whose leaves are the patterns: T_syn, T_visit or T_tran. BB Table 4 and Figure 6 are best
    for the last."""

    visit_weight: float = Field(1.0, gt=0)
    """Weight of the visits in the visit cut; below 1 it merges more."""

    transit_threshold: float = Field(0.8, gt=0, le=1)
    """Siblings with more similar in- and out-links than this are merged. BB do not give it
    (docs/url-patterns.md)."""

    processes: int | None = Field(None, ge=0)
    """Sites are learned side by side in so many processes; all cores when unset. 0 learns them in
    the calling process, without the two limits below."""

    site_seconds: float = Field(120.0, gt=0)
    """A site that takes longer is reported and left out. The largest of BB Table 2 (1.7 million
    URLs) takes less than ten."""

    site_memory_mib: int = Field(4096, ge=256)
    """Memory a process may take for one site; one that needs more is reported and left out."""


class Hubs(_Section):
    """Which pages become seeds of a crawl, and how often they are visited (docs/hubs.md)."""

    top_k: int = Field(1542, ge=1)
    """Seeds at most (NP 6.1: as many as the list in use had)."""

    visits_per_day: float | None = Field(None, gt=0)
    """Budget: visits a day to all seeds together. Unset: as many as one an hour for each. Seeds
    that it could not visit even every `longest_hours` are left out."""

    shortest_minutes: int = Field(10, ge=1)
    """No hub is visited more often: servers are not ours."""

    longest_hours: float = Field(168.0, gt=0)
    """No hub is visited less often than every week: an interval learned once must be able to
    change."""

    half_life_days: float | None = Field(None, gt=0)
    """How fast what a hub led to in the past loses weight in what to expect of it. Unset: learned
    anew in every window, from how well each of its last days says the next (docs/hubs.md)."""

    search_engines: Literal["drop", "keep"] = "drop"
    """Pages of search engines link to everything, and their robots.txt shuts crawlers out."""

    more_search_engines: tuple[str, ...] = ()
    """Hosts besides the built-in ones (docs/hubs.md)."""

    external: Literal["drop", "keep"] = "drop"
    """Hubs on hosts of which nobody opened a page in these logs: browsers mostly send no more of
    their URLs than the host, and nothing says that they can be reached."""


class Sites(_Section):
    """How sites and sections are scored and ranked, TW 4.3 (docs/sites-and-prefixes.md)."""

    by: Literal["host", "domain"] = "host"
    """What a site is in `site_scores`: a host, or all hosts of a registrable domain (by the public
    suffix list, as installed). Sections and prefixes always belong to a host."""

    alpha: float = Field(3.0, ge=0)
    """Weight of the share of pages that are temporal (TW 4.3: alpha to beta as 3 to 2)."""

    beta: float = Field(2.0, ge=0)
    """Weight of the share of views that temporal pages have."""

    page_share_weight: float = Field(1.0, gt=0)
    """Additional weight of the share of pages. Hot events are reported by everybody, so that views
    speak against pages that nobody else has (TW 5.2); 1 is the paper's formula."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """`flow` ranks by the new temporal pages to expect, less those that a list pays for with others
    (docs/sites-and-prefixes.md). The other two rank by the stock of all pages: `confident` by a
    lower bound of the score, with `min_pages`; `paper` by the score."""

    min_pages: int = Field(5, ge=1)
    """Reliable pages of a site that `confident` ranks: with fewer, chance decides."""

    confidence: float = Field(0.95, ge=0.5, lt=1)
    """Confidence of the lower bound that ranks (Wilson's, one-sided)."""

    top_k: int = Field(100, ge=1)
    """Length of the list (TW 4.3)."""

    young: Literal["expect", "ignore"] = "expect"
    """Pages too young for a curve count as temporal with the probability that they will turn out
    so (`early_labels`); `ignore`, and the rule of the paper, count them as untemporal, as their
    labels do. An event is in the list days earlier (docs/sites-and-prefixes.md)."""

    quiet_days: int = Field(3, ge=1)
    """Days after which a site that is hardly visited any more leaves the list."""

    quiet_share: float = Field(0.05, ge=0, lt=1)
    """A site is hardly visited on a day with less than this share of its usual views. The weekend
    of an office site is a fifth of its weekday."""

    @field_validator("beta")
    @classmethod
    def _some_weight(cls, value: float, info: ValidationInfo) -> float:
        if value == 0 and info.data.get("alpha") == 0:
            raise ValueError("alpha and beta cannot both be 0: there would be no score")
        return value


class Prefixes(_Section):
    """When a folder or program is a news prefix, NP 5.2 (docs/sites-and-prefixes.md)."""

    rule: Literal["flow", "confident", "paper"] = "flow"
    """`flow` compares the expected share of temporal pages among new ones. The other two compare
    the share of `label` in the stock of all pages: `confident` a lower bound of it, with
    `min_pages`; `paper` the share itself."""

    label: Literal["news", "temporal"] = "temporal"
    """Which pages of the stock count for `confident` and `paper`: temporal ones, or news by
    concentration, as in the paper. The flow is judged by temporal pages."""

    threshold: float | None = Field(None, ge=0, lt=1)
    """What must be above it. Unset: for `flow` half of the best F that the flow of the window
    allows, because F is largest when all above that is taken; 0.4 for `confident`; 0.8 for `paper`
    (NP 6.1)."""

    min_pages: int = Field(3, ge=1)
    """Pages of a section that splits the one above it; for `confident` of a prefix as well."""

    confidence: float = Field(0.8, ge=0.5, lt=1)
    """With which a section must be below the threshold to split the one above it; for `confident`
    that of the lower bound as well (Wilson's, one-sided)."""

    quiet: Literal["drop", "keep"] = "drop"
    """Prefixes of hosts that have gone quiet, by `sites.quiet_days` and `sites.quiet_share`: their
    pages stay news until they leave the window, and nothing new comes up beneath them."""


class Policy(_Section):
    """What crawlers are told about URLs that are no hubs (docs/policy.md)."""

    urgent_share: float | None = Field(None, ge=0, lt=1)
    """Patterns with a larger expected share of temporal pages are fetched now. Unset: half of the
    best F that the flow of the window allows, as with `prefixes.threshold`; 0.5 where
    `prefixes.rule` goes by the stock."""

    confidence: float = Field(0.95, ge=0.5, lt=1)
    """Of the upper bound (Wilson's, one-sided) of that share: a pattern whose bound is no larger
    than `urgent_share` decides over a news prefix. Three pages of which none is temporal are
    enough, two are not (docs/policy.md)."""

    skip_share: float = Field(0.01, ge=0, lt=1)
    """The least visited patterns of a site are skipped while together they have no larger share of
    its visits (BB 5.3: few patterns hold nearly all traffic)."""

    most_rules: int = Field(1_000_000, ge=1)
    """News prefixes, those with the most news first, and nodes of pattern trees, those of the most
    visited sites first, that enter the policy: every crawler holds all of them in memory."""


class Baseline(_Section):
    """The list in use today, which ours are compared with (docs/evaluation.md).

    TW Table 1 and NP Table 2 do so.
    """

    path: Path | None = None
    """Hand-made list of sites or seeds; relative to the state folder. Unset: none."""


class Evaluation(_Section):
    """How lists are judged by pages born after they were made (docs/evaluation.md)."""

    horizons: tuple[int, ...] = (7, 30)
    """Days of births after the list was made."""

    settle_days: int = Field(7, ge=1)
    """Days for which the youngest of these pages have been observed at least: what a page is shows
    only when its first days are over."""

    most_pages: int = Field(2_000_000, ge=1)
    """Pages with labels that lists are judged by in a trial, twice as many as in the papers. Where
    there are more, whole sites are drawn by a digest of their name, as many as have so many
    together and one at least: pages that are judged lie in the memory of one machine, some
    kilobytes each."""

    @field_validator("horizons")
    @classmethod
    def _days(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(days < 1 for days in value):
            raise ValueError("must be numbers of days, each at least 1")
        return value


class Simulation(_Section):
    """Crawls on paper (docs/crawl-simulation.md)."""

    mirror: Path | None = None
    """Folder of a stored mirror, which must be there; relative to the state folder. Unset: the one
    that `temporal-assets mirror` stored in the state folder, and without one the transits of the
    window: every page that was opened, every step of a user a link."""

    most_sites: int = Field(20, ge=1)
    """Sites with the most views that are crawled. BB 5.1 has nine; the average of twenty says as
    much, and the largest logs need no more time than this many sites."""

    most_pages: int = Field(5_000_000, ge=1)
    """Pages in the logs that the sites may have together: one that has more than the sites before
    it have left is left out, and not replaced. Crawls are in memory, a kilobyte a page, as is a
    stored mirror; the largest site of BB Table 2 has 1.7 million."""

    learn_share: float = Field(0.5, gt=0, lt=1)
    """Part of the days of the window that orders are learned from out of time; the days after them
    score. BB 5.1 learns from one month and scores by the next five."""


class Retention(_Section):
    """How long what was made is kept, in days before the latest; unset: for ever.

    Nothing is removed but by `temporal-assets clean` (docs/running-daily.md).
    """

    requests_days: int | None = Field(None, ge=1)
    """Single requests: log lines that were read, `requests` and `rejects`. A log file that is later
    than this adds nothing to its day."""

    daily_days: int | None = Field(None, ge=1)
    """`page_views` and `transits`. At least what the latest window and its evaluation read: 97 days
    with the defaults."""

    windows_days: int | None = Field(None, ge=1)
    """Window assets, policies and pages of reports. At least what evaluation reads: 38 days with
    the defaults."""

    runs_days: int | None = Field(None, ge=1)
    """Dagster's records of runs, but for those that made what is there now."""


class Alerts(_Section):
    """Who is told of failed runs, failed checks and old data.

    Nothing is sent but by the sensor `alerts`, which is off until somebody switches it on. The
    password of `smtp_user` is no setting (docs/running-daily.md).
    """

    webhook: SecretStr | None = None
    """URL that takes `{"text": ...}`. Who knows it can write there, so that it is treated as a
    secret; `TEMPORAL_ASSETS_ALERTS__WEBHOOK` keeps it out of files."""

    to: tuple[str, ...] = ()
    """Mail addresses."""

    sender: str = "temporal-assets@localhost"
    """Address that mail comes from."""

    smtp_host: str = "localhost"
    """Mail server."""

    smtp_port: int | None = Field(None, ge=1, le=65535)
    """Port of the mail server. Unset: 25, 587 or 465, for `none`, `starttls` or `tls`."""

    smtp_security: Literal["none", "starttls", "tls"] | None = None
    """How mail is encrypted on its way to the server. Unset: `none` to this machine, `starttls` to
    any other."""

    smtp_user: str | None = None
    """Log in to the mail server with this name. Unset: without a name."""

    warnings: bool = False
    """Also tell of checks that warn: drifts are expected now and then."""

    max_age_days: int = Field(2, ge=0)
    """Data is old when its latest day is longer ago. Yesterday is 1; before the nightly run has
    ended, the day before is the latest. 0: never."""

    ui: str = "http://127.0.0.1:3000"
    """Where people reach the web server: messages link to runs."""

    @field_validator("webhook")
    @classmethod
    def _url(cls, value: SecretStr | None) -> SecretStr | None:
        if value:
            _web_address(value.get_secret_value())
        return value

    @field_validator("ui")
    @classmethod
    def _ui(cls, value: str) -> str:
        return _web_address(value).rstrip("/")

    @field_validator("to", "sender")
    @classmethod
    def _addresses(cls, value: tuple[str, ...] | str) -> tuple[str, ...] | str:
        for address in (value,) if isinstance(value, str) else value:
            if re.fullmatch(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+", address, re.ASCII) is None:
                # Not which: somebody may have put the webhook here.
                raise ValueError("must be mail addresses like `crawl@example.org`")
        return value


class Engine(_Section):
    """What runs the transformations, and what it may use."""

    name: Literal["duckdb", "spark"] = "duckdb"
    """`spark`: on the cluster of `[spark]` (docs/spark.md)."""

    memory_limit: str = "1500MB"
    """DuckDB spills to the state folder beyond it. It may exceed its limit by about a seventh
    (measured); with the readers' blocks this keeps a run under 3 GB. With more than some four
    million pages in a window, raise it, by a quarter of a gigabyte for each million: 10GB were
    enough for forty million (docs/performance.md)."""

    threads: int | None = Field(None, ge=1)
    """Threads of one statement, and small days made at once, four at most; all cores when unset."""

    @property
    def used_threads(self) -> int:
        """Threads of one statement, on this machine."""
        return self.threads or os.cpu_count() or 1

    @field_validator("memory_limit")
    @classmethod
    def _size(cls, value: str) -> str:
        if re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", value, re.IGNORECASE) is None:
            raise ValueError(f"{value!r} is no amount of memory; write `1500MB`, `4GiB` or `60%`")
        return value


class Spark(_Section):
    """The cluster, where `engine.name` is `spark` (docs/spark.md)."""

    master: str = "local[*]"
    """`local[*]`, `spark://host:7077`, `yarn`, `k8s://https://host:port`, or `sc://host:15002` for
    a Spark Connect server, on which all below but `spark.sql.` options is its own business."""

    packages: tuple[str, ...] = ()
    """Maven coordinates of what the cluster needs besides Spark: the driver of an object store."""

    python: str | None = None
    """Python of the executors; the one that runs this when unset."""

    driver_memory: str = "1g"
    """Of the Java process that plans."""

    executor_memory: str = "1g"
    """Of each Java process that works; Python workers take theirs beside it."""

    local_megabytes: int = Field(256, ge=0)
    """Checks, samples and plots about files that are no larger together are DuckDB's, on the
    machine that asks: a cluster takes longer to plan. 0: the cluster answers everything."""

    config: dict[str, str] = Field(default_factory=dict)
    """Any option of Spark, by its name. Stronger than all above."""

    @field_validator("master")
    @classmethod
    def _known_kind(cls, value: str) -> str:
        if re.match(r"local(\[.+\])?$|yarn$|(spark|sc|k8s)://.", value) is None:
            raise ValueError(
                "is no master; write `local[*]`, `spark://host:7077`, `yarn`, "
                "`k8s://https://host:port` or `sc://host:15002`"
            )
        return value

    @field_validator("driver_memory", "executor_memory")
    @classmethod
    def _java_size(cls, value: str) -> str:
        if re.fullmatch(r"\d+[mgt]", value, re.IGNORECASE) is None:
            raise ValueError(f"{value!r} is no amount of memory for Java; write `900m` or `4g`")
        return value


class Orchestration(_Section):
    """Which days there are, and when they are made (docs/running-daily.md)."""

    first_day: dt.date | None = None
    """First daily partition. Unset: the earliest day found in the logs."""

    timezone: str = "UTC"
    """Zone in which a day starts."""

    hour: int = Field(3, ge=0, le=23)
    """Hour of the daily schedule: logs of the day before have been rotated by then."""

    days_per_run: int = Field(30, ge=1)
    """Days one backfill run processes; a 60-day backfill is two runs instead of sixty."""

    retry_seconds: tuple[float, ...] = (10.0, 60.0, 300.0)
    """Waits before a step is tried again after a fault that passes by itself: a disk or a server
    that did not answer. Nothing else is tried again (`machine.transient`)."""

    owner: str = "team:crawl"
    """Owner shown in the UI: `team:name` or an e-mail address."""

    docs: str | None = None
    """Where the pages of `docs/` are served: assets in the UI link to them. Unset: the UI names the
    file."""

    reports: str | None = None
    """Where `report/` of the state folder is served: reports and policies in the UI then link to
    the report of their day, else they say how to open it (docs/report.md). Browsers follow no link
    from a server to a file."""

    @field_validator("docs", "reports")
    @classmethod
    def _served(cls, value: str | None) -> str | None:
        return _web_address(value) if value else None

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        return _zone_name(value)

    @field_validator("retry_seconds")
    @classmethod
    def _waits(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(not 0 <= seconds <= _LONGEST_WAIT for seconds in value):
            raise ValueError(f"must be numbers of seconds, each at most {_LONGEST_WAIT}")
        return value


class Settings(BaseSettings):
    """All settings of one installation. `state` is the one folder everything is kept in."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter=_WITHIN,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,  # a webhook may be among them
    )

    state: Path = DEFAULT_STATE

    def make_state(self) -> None:
        """Make the state folder, where there is none: its owner's alone, whatever the umask."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(mode=0o700, exist_ok=True)

    storage: str | None = None
    """fsspec URL of the artifacts; unset: `tables` in the state folder."""

    sources: tuple[LogSource, ...] = ()
    reading: Reading = Reading()
    cleaning: Cleaning = Cleaning()
    privacy: Privacy = Privacy()
    window: Window = Window()
    curves: Curves = Curves()
    labels: Labels = Labels()
    calibration: Calibration = Calibration()
    early: Early = Early()
    patterns: Patterns = Patterns()
    hubs: Hubs = Hubs()
    sites: Sites = Sites()
    prefixes: Prefixes = Prefixes()
    policy: Policy = Policy()
    baseline: Baseline = Baseline()
    evaluation: Evaluation = Evaluation()
    simulation: Simulation = Simulation()
    engine: Engine = Engine()
    spark: Spark = Spark()
    retention: Retention = Retention()
    alerts: Alerts = Alerts()
    orchestration: Orchestration = Orchestration()

    @field_validator("sources")
    @classmethod
    def _below_state(
        cls, value: tuple[LogSource, ...], info: ValidationInfo
    ) -> tuple[LogSource, ...]:
        """Not below the folder one stands in: servers stand elsewhere than people."""
        state: Path = info.data.get("state", DEFAULT_STATE)
        return tuple(
            one.model_copy(update={"path": str(state / Path(one.path).expanduser())})
            for one in value
        )

    @model_validator(mode="after")
    def _window_fits(self) -> Self:
        days, least, m = self.window.days, self.window.min_days, self.labels.m
        if least > days:
            raise ValueError(
                f"window.min_days: {least} days can never be there of window.days = {days};"
                f" write at most {days}"
            )
        if m > days:
            raise ValueError(
                f"labels.m: the first {m} days do not fit into window.days = {days};"
                f" write at most {days}"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic passes all four
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Strongest first."""
        file = settings_cls.model_config.get("toml_file")
        toml = (TomlConfigSettingsSource(settings_cls, file),) if file else ()
        return (init_settings, env_settings, *toml)


def state_folder(state: str | os.PathLike[str] | None = None) -> Path:
    """The state folder: the argument, else $TEMPORAL_ASSETS_STATE, else `temporal_state`."""
    return Path(state or os.environ.get(STATE_VARIABLE) or DEFAULT_STATE).absolute()


def load_settings(state: str | os.PathLike[str] | None = None, **overrides: Any) -> Settings:
    """Settings of a state folder. Raises `SettingsError` that names where a wrong one stands."""
    folder = state_folder(state)
    file = folder / SETTINGS_FILE
    _refuse_unknown_variables()

    class Loaded(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        return Loaded(state=folder, **overrides)
    except ValidationError as error:
        raise SettingsError(_in_words(error, file)) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: this is no UTF-8: save it as UTF-8") from error
    except ValueError as error:  # no TOML
        raise SettingsError(f"{file}: {error}") from error


def _refuse_unknown_variables() -> None:
    """A variable of no section, or one that does not reach into its own, would be ignored silently.

    Other names are left alone: not every variable of ours is a setting.
    """
    for name in sorted(_variables()):
        section, within, _ = name.removeprefix(_PREFIX).partition(_WITHIN)
        if meant := _with_two_underscores(name):
            raise SettingsError(f"environment: {name}: two underscores stand for the dot: {meant}")
        if within and section.lower() not in Settings.model_fields:
            raise SettingsError(f"environment: {name}: there is no section {section.lower()!r}")


def _with_two_underscores(name: str) -> str | None:
    """How a variable is spelled whose section and setting are parted by one underscore."""
    section, _, setting = name.removeprefix(_PREFIX).partition("_")
    known = Settings.model_fields.get(section.lower())
    if known is None or not isinstance(known.default, _Section):
        return None
    if not setting or setting.startswith("_"):
        return None
    return f"{_PREFIX}{section}{_WITHIN}{setting}"


def _variables() -> set[str]:
    """Names of ours in the environment, whose case does not matter."""
    return {name.upper() for name in os.environ if name.upper().startswith(_PREFIX)}


_UNKNOWN = "there is no such setting (docs/settings.md lists them)"


def _in_words(error: ValidationError, file: Path) -> str:
    """Every wrong field with what is wrong; values are repeated unless they may be secret."""
    said: dict[str, list[str]] = {}
    for one in error.errors():
        is_unknown = one["type"] == "extra_forbidden"
        message = _UNKNOWN if is_unknown else one["msg"].removeprefix("Value error, ")
        wrong = _sentence(one["loc"], message, one["input"])
        said.setdefault(_place(one["loc"], file), []).append(wrong)
    return "; ".join(f"{place}: {'; '.join(sentences)}" for place, sentences in said.items())


def _place(field: tuple[int | str, ...], file: Path) -> str:
    """Where a value stands: a variable is stronger than the file."""
    for depth in range(len(field), 0, -1):
        name = _PREFIX + _WITHIN.join(map(str, field[:depth])).upper()
        if name in _variables():
            return f"environment: {name}"
    return str(file)


def _sentence(field: tuple[int | str, ...], wrong: str, value: Any) -> str:
    """What is wrong with a field. Its value is shown only if it can be no secret.

    A table may hold one under a name that is misspelt, and so may what is in the wrong place.
    """
    if not field:
        return wrong  # of several fields, which it names itself
    is_shown = (
        wrong != _UNKNOWN and field[0] not in _SECRETIVE and not isinstance(value, (dict, list))
    )
    found = f" (found {value!r})" if is_shown else ""
    return f"{'.'.join(map(str, field))}: {wrong}{found}"


_SECRETIVE = frozenset({"alerts", "spark", "storage"})
"""Sections with secrets: a webhook, keys of a cluster's object store, a password in an address."""


class SettingsError(ValueError):
    """The settings cannot be used; the message says which and why."""
