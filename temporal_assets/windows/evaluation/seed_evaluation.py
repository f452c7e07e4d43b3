"""`seed_evaluation`: published lists compared with the list in use and with simple rules.

Here: the lists of a trial, and the pages that each covers (TW Table 1, NP Table 2). Not here: the
trials (`trials`), the rules of lists and their coverage (`core.lists.list_judgement`).

A trial learns from one window and judges by pages of another (out of time) or of the same (in
sample). Out of time, the lists and the policy that were published at the end of the earlier window
are judged unchanged. They are compared with the papers' lists and curves, built from the labels of
that window, and with rules that need no statistics. The measures of a list are its precision,
recall and F, by temporal pages and by news.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.lists.list_judgement import Choice, Pages, Rules, choices, coverage
from temporal_assets.core.lists.site_bootstrap import Draws, SiteCounts, draw, interval
from temporal_assets.core.numerics import metrics
from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import SectionTrees, section_trees, sections
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.tables.site_lists import SiteList
from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.policy import Policy
from temporal_assets.policy.document import FILE, NOW_TIERS
from temporal_assets.windows.evaluation.trials import (
    LABELS,
    MOST_PAGES,
    Trial,
    baseline,
    trials,
)
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.given_files import content_of_file, file_in
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES, rule_of
from temporal_assets.windows.lists.scored import scoring_of
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY, files_of

Row = dict[str, Any]


def judge(job: Job, listed: SiteList | None) -> list[Row]:
    """Return the rows of `seed_evaluation`, for all trials and both labels.

    `listed` is the list of sites in use, None where the settings name none.
    """
    return [row for trial in trials(job) for row in judge_trial(job, trial, listed)]


def judge_trial(job: Job, trial: Trial, listed: SiteList | None) -> Iterator[Row]:
    """Yield the rows of one trial.

    Pages are numbered: first the known pages of the trial, then the judged pages among the others.
    """
    new = trial.judged.filter(pc.invert(pc.is_in(trial.judged["url"], trial.known["url"])))
    urls = pa.concat_arrays([*trial.known["url"].chunks, *new["url"].chunks])
    trees = section_trees(from_arrow(urls))
    in_use = None if listed is None else covered_sections(trees, listed)
    published = [] if trial.name == "in_sample" else list(_published(job, trial, trees, urls))
    for label in LABELS:
        pages = _pages(trial, trees, urls, label)
        yield from _rows(job, trial, label, pages, in_use, published)


def covered_sections(trees: SectionTrees, listed: SiteList) -> Flags:
    """Return flags of the sections that a list covers; a front page covers its whole host."""
    listed_sections = sections(texts(listed.urls))
    return trees.find({listed_sections.of(n)[-1] for n in range(len(listed.urls))})


def _published(job: Job, trial: Trial, trees: SectionTrees, urls: pa.Array) -> Iterator[Choice]:
    """Yield the lists and the policy that were published on the day the trial learns from."""
    names = trees.names()
    for method, asset, column in _PUBLISHED:
        files = job.learned_on(asset, trial.learned_until)
        if files is None:
            continue
        table = whole_table(files)
        if "is_selected" in table.column_names:
            table = table.filter(table["is_selected"])
        listed = frozenset(table[column].to_pylist())
        if asset == "site_scores":
            is_chosen = _of_sites(job, trees, names, listed)
        else:
            is_chosen = np.array([name in listed for name in names], np.bool_)
        yield Choice(method, "published", None, True, is_chosen)
    now = _fetched_now(job, trial, urls)
    if now is not None:
        yield Choice("policy", "published", None, True, np.zeros(len(trees), np.bool_), now)


_PUBLISHED: Final = (
    ("sites", "site_scores", "site"),
    ("sections", "section_scores", "prefix"),
    ("prefixes", "news_prefixes", "prefix"),
)


def _of_sites(job: Job, trees: SectionTrees, names: Sequence[str], listed: frozenset[str]) -> Flags:
    """Return flags of the roots of all hosts that belong to the listed sites."""
    by_domain = job.settings.sites.by == "domain"
    is_listed = np.zeros(len(trees), np.bool_)
    for root in np.flatnonzero(trees.parent < 0).tolist():
        host = names[root].split("/")[0].rsplit(":", 1)[0]
        is_listed[root] = (registrable_domain(host) if by_domain else host) in listed
    return is_listed


def _fetched_now(job: Job, trial: Trial, urls: pa.Array) -> Flags | None:
    """Return flags of the pages that the policy of the earlier day says to fetch now.

    Returns None where no policy was published.
    """
    manifest = job.learned("crawl_policy", trial.learned_until)
    folder = manifest and files_of(job.store, job.settings, manifest)
    if not folder or not (folder / FILE).is_file():
        return None
    tier = Policy.load(folder / FILE).match_many(from_arrow(urls)).tier
    first, last = NOW_TIERS
    now: Flags = (tier >= first) & (tier <= last)
    return now


def _pages(trial: Trial, trees: SectionTrees, urls: pa.Array, label: str) -> Pages:
    """Return the labels and views of a trial's pages: known ones first, then other judged ones.

    Known pages have the label as it was when the lists were built, judged pages the label that
    later views gave them. In sample these are the same.
    """
    known_count = len(trial.known)
    judged = pc.index_in(trial.judged["url"], urls).to_numpy()
    has_label = np.zeros(len(urls), np.bool_)
    has_label[:known_count] = trial.known[f"has_{label}"].to_numpy()
    known_label = np.zeros(len(urls), np.bool_)
    known_label[:known_count] = trial.known[f"is_{label}"].to_numpy()
    views = np.zeros(len(urls), np.int64)
    views[:known_count] = trial.known["total"].to_numpy()
    is_judged = np.zeros(len(urls), np.bool_)
    is_judged[judged] = True
    truth = np.zeros(len(urls), np.bool_)
    truth[judged] = trial.judged[f"is_{label}"].to_numpy()
    return Pages(
        trees,
        is_known=np.arange(len(urls)) < known_count,
        is_settled=has_label,
        label=known_label,
        views=views,
        is_judged=is_judged,
        truth=truth,
    )


def _rows(
    job: Job,
    trial: Trial,
    label: str,
    pages: Pages,
    in_use: Flags | None,
    published: Sequence[Choice],
) -> Iterator[Row]:
    """Yield a row for each list of a trial and label, with intervals for lists that may be used.

    Args:
        job: The build of the table.
        trial: Trial that judges.
        label: `temporal` or `news`.
        pages: Labels and views of the trial's pages.
        in_use: Flags of the sections that the list in use covers; None without such a list.
        published: Lists and policy that were published on the day the trial learns from.
    """
    site = pages.trees.roots
    # A trial with a sample of the sites gets a list that is shorter by the same share.
    own_length = round(job.settings.sites.top_k * trial.share)
    length = max(own_length if in_use is None else int(in_use.sum()), 1)
    rules = Rules(scoring_of(job.settings), rule_of(job.settings), length)
    baselines: dict[str, tuple[float, Draws]] = {}
    for choice in chain(choices(pages, rules, in_use), published):
        counts = coverage(pages, choice.covers(pages.trees), site)
        row = _measures(counts)
        if choice.is_used:
            draws = draw(counts)
            row |= _intervals(draws)
            if choice.method == "baseline":
                baselines[choice.rule] = row["f"], draws
            else:
                row |= _compared(row["f"], draws, baselines)
        yield {
            "day": job.day,
            "trial": trial.name,
            "horizon_days": trial.horizon,
            "learned_until": trial.learned_until,
            "site_share": trial.share,
            "label": label,
            "method": choice.method,
            "rule": choice.rule,
            "setting": choice.setting,
            "is_used": choice.is_used,
            **row,
        }


def _compared(f: float, draws: Draws, baselines: Mapping[str, tuple[float, Draws]]) -> Row:
    """Return the lead in F of a list over the list in use, and over the best baseline.

    `f` and `draws` are F and the bootstrap draws of the list; `baselines` has both by rule.
    """
    best = max(baselines, key=lambda rule: baselines[rule][0])
    row: Row = {"best_baseline": best}
    for name, rule in (("f_gain", "list"), ("f_lead", best)):
        if rule in baselines:
            other, drawn = baselines[rule]
            low, high = interval(draws.f - drawn.f)
            row |= {name: f - other, f"{name}_low": low, f"{name}_high": high}
    return row


def _measures(counts: SiteCounts) -> Row:
    """Return numbers of pages, precision, recall and F of a list, over all sites."""
    found_pages, pages, wanted = (
        int(part.sum()) for part in (counts.found, counts.pages, counts.wanted)
    )
    precision, recall = metrics.precision(found_pages, pages), metrics.recall(found_pages, wanted)
    return {
        "found": found_pages,
        "pages": pages,
        "wanted": wanted,
        "precision": precision,
        "recall": recall,
        "f": metrics.f_measure(precision, recall),
    }


def _intervals(draws: Draws) -> Row:
    """Return the bounds of the 95 % intervals of precision, recall and F."""
    row: Row = {}
    for name in ("precision", "recall", "f"):
        row[f"{name}_low"], row[f"{name}_high"] = interval(getattr(draws, name))
    return row


def _make(job: Job) -> Sequence[Path]:
    return job.write_rows(judge(job, baseline(job.settings)))


SEED_EVALUATION: Final = WindowAsset(
    "seed_evaluation",
    _make,
    waits=True,
    days=("page_views",),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, INTEREST_CURVES, PAGE_LABELS),
    learned=(
        *(PAGE_HISTORIES, PAGE_LABELS, SITE_SCORES, SECTION_SCORES, NEWS_PREFIXES, CRAWL_POLICY),
    ),
    sql=("known_pages", "born_pages"),
    settings=lambda settings: [
        content_of_file(file_in(settings.state, settings.baseline.path)),
        settings.cleaning.model_dump(mode="json"),
        settings.evaluation.model_dump(mode="json"),
        MOST_PAGES,
        settings.labels.model_dump(mode="json"),
        settings.prefixes.model_dump(mode="json"),
        settings.sites.model_dump(mode="json"),
        settings.window.days,
    ],
)
