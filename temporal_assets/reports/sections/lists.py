"""Report sections that evaluate lists: TW Table 1, NP Table 2, precision and recall.

The sections take rows of `seed_evaluation`, which hold no URL. Not here: the pages that seeds lead
to (`seeds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Forest,
    Interval,
    Mark,
    Section,
    Series,
    Table,
    unavailable,
)
from temporal_assets.reports.sections.seeds import seeds_at_length
from temporal_assets.reports.sections.wording import (
    LISTS,
    Row,
    grouped,
    more_or_fewer,
    percent,
    trial_in_words,
)

_COLUMNS: Final = (
    Column("list"),
    Column("wanted pages covered", "count"),
    Column("pages covered", "count"),
    Column("precision", "share"),
    Column("recall", "share"),
    Column("F", "score"),
)
_TW_1: Final = (
    ("paper: list by hand", 59_113, 108_237, 0.546, 0.435, 0.484),
    ("paper: top 100 sites", 70_110, 91_996, 0.762, 0.516, 0.615),
)
"""Rows of TW Table 1 as printed, for 135,939 temporal pages of the paper."""
_NP_2: Final = (
    ("paper: list by hand", 86_714, 177_801, 0.488, 0.586, 0.532),
    ("paper: prefixes", 101_870, 111_934, 0.910, 0.689, 0.784),
)
"""Rows of NP Table 2 as printed; F, which the paper does not give, is computed."""

METHODS: Final = {
    ("baseline", "list"): "list in use",
    ("baseline", "everything"): "everything",
    ("baseline", "majority"): "majority of the top folder",
    ("policy", "published"): "policy, fetched now",
    ("sites", "published"): "sites, as published",
    ("sections", "published"): "sections, as published",
    ("prefixes", "published"): "prefixes, as published",
    ("sites", "paper"): "sites (TW 4.3)",
    ("sites", "confident"): "sites, bound and support",
    ("sections", "confident"): "sections, bound and support",
    ("prefixes", "paper"): "prefixes (NP 5.2)",
    ("prefixes", "confident"): "prefixes, bound and support",
}
_GAINED: Final = (
    *("95 % of F", "F gained on the list in use", "95 % of the gain"),
    *("F ahead of the best baseline", "95 % of the lead"),
)
_BASELINES: Final = (("baseline", "list"), ("baseline", "everything"), ("baseline", "majority"))
_AS_USED: Final = " (as used)"
_COLOURS: Final = {"baseline": 5, "sites": 3, "sections": 4, "prefixes": 2, "policy": 1}
_SIMPLE: Final = {"everything": 7, "majority": 0}
"""Colours of baselines that stand beside the list in use in one chart."""
_NO_LIST: Final = (
    "No list in use is known (setting `baseline.path`), so that only learned lists are compared"
    " here."
)


def site_list(rows: Sequence[Row]) -> Section:
    """Return TW Table 1: the list in use against the sites learned from the logs."""
    own = _used(rows, "temporal", "in_sample")
    return Section(
        "tw-table-1",
        LISTS,
        "TW Table 1",
        "The list in use against learned sites",
        "in_sample",
        (_compared(own, ("sites", "paper"), "temporal pages", "18.6% more with 15.0% fewer"),),
        (
            _table(
                "Temporal pages covered", _TW_1, own, (("sites", "paper"), ("sites", "confident"))
            ),
        ),
        "Wanted are temporal pages by their interest curve; covered are all reliable pages of the"
        " listed sites. F is the harmonic mean of precision and recall.",
    )


def prefix_list(rows: Sequence[Row], hubs: Sequence[Row]) -> Section:
    """Return NP Table 2, with the seeds of NP 6.2."""
    own = _used(rows, "news", "in_sample")
    methods = (("prefixes", "paper"), ("prefixes", "confident"))
    seeds = seeds_at_length(hubs)
    says = [_compared(own, ("prefixes", "paper"), "news pages", "17.5% more with 37.0% fewer")]
    return Section(
        "np-table-2",
        LISTS,
        "NP Table 2",
        "The list in use against learned prefixes",
        "in_sample",
        (*says, seeds) if seeds else tuple(says),
        (_table("News pages covered", _NP_2, own, methods),),
        "Wanted are news pages by concentration; covered are the pages under the prefixes, or of"
        " the sites of the list in use.",
    )


def out_of_time(rows: Sequence[Row]) -> Section:
    """Return the section on all lists for pages born after they were made, with intervals."""
    title = "Learned lists on pages born afterwards"
    later = [row for row in rows if row["trial"] == "out_of_time" and row["is_used"]]
    if not later:
        return unavailable(
            "out-of-time",
            LISTS,
            "",
            title,
            "no earlier window is there that lists could have been learned on",
            "run `temporal-assets report`, which makes the earlier windows that the logs reach"
            " back to",
        )
    groups = grouped(later, ("horizon_days", "label"))
    return Section(
        "out-of-time",
        LISTS,
        "",
        title,
        "out_of_time",
        tuple(_verdict(own) for own in groups.values()),
        (
            *(forest(own) for own in groups.values()),
            *(_judged(own) for own in groups.values()),
        ),
        "A page is temporal here if more than q of the views it really got came in its first n"
        " days. Intervals are of 95 %, from drawing sites again; a gain whose interval contains 0"
        " may be chance.",
    )


def precision_recall(rows: Sequence[Row]) -> Section:
    """Return the section with curves over the length of lists and the threshold of prefixes."""
    groups = grouped(rows, ("trial", "horizon_days", "label"))
    has_later = any(key[0] == "out_of_time" for key in groups)
    return Section(
        "precision-recall",
        LISTS,
        "",
        "Precision and recall over the length of lists and the threshold of prefixes",
        "both" if has_later else "in_sample",
        tuple(_best(own) for own in groups.values()),
        tuple(precision_recall_chart(own) for own in groups.values()),
        "A line is one way of learning a list, from short lists or strict thresholds on the left to"
        " long or lenient ones on the right. Up and to the right is better. Large dots: as used;"
        " the diamond is the list in use.",
    )


# Tables and sentences ---------------------------------------------------------------------------


def _used(rows: Sequence[Row], label: str, trial: str) -> dict[tuple[str, str], Row]:
    return {
        (row["method"], row["rule"]): row
        for row in rows
        if row["is_used"] and row["label"] == label and row["trial"] == trial
    }


def _table(
    title: str,
    paper: Sequence[tuple[str, int, int, float, float, float]],
    own: dict[tuple[str, str], Row],
    methods: Sequence[tuple[str, str]],
) -> Table:
    """Return a table of the paper's printed rows and of ours, with their intervals."""
    chosen = [key for key in (*_BASELINES, *methods) if key in own]
    rows = [
        (
            METHODS[key],
            *(own[key][name] for name in ("found", "pages", "precision", "recall", "f")),
            _interval(own[key], "f"),
        )
        for key in chosen
    ]
    printed = [(*row, None) for row in paper]
    wanted = next(iter(own.values()))["wanted"] if own else 0
    note = f"Here {wanted:,} pages are wanted in all."
    columns = (*_COLUMNS, Column(_GAINED[0], "number"))
    return Table(title, columns, (*printed, *rows), len(paper), note)


def _interval(row: Row, name: str) -> str | None:
    """Return the 95 % interval of a measure; None if it has none."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return None if low is None else f"{low:.3f} to {high:.3f}"


def _compared(
    own: dict[tuple[str, str], Row], method: tuple[str, str], pages: str, paper: str
) -> str:
    """Return a sentence that compares a list of ours with the list in use and the paper."""
    ours, name = own[method], METHODS[method]
    lead = "" if ours["f_lead"] is None else f" {_lead([ours])}"
    before = own.get(("baseline", "list"))
    if before is None:
        return (
            f"The {name} cover {percent(ours['recall'])} of the {pages} with a precision of"
            f" {percent(ours['precision'])} (F {ours['f']:.3f}).{lead} {_NO_LIST}"
        )
    gain, interval = _difference(ours, "f_gain")
    sure = "" if gain is None else f", {gain}, interval {interval}"
    return (
        f"The {name} cover {more_or_fewer(ours['found'], before['found'])} {pages} than the list in"
        f" use, with {more_or_fewer(ours['pages'], before['pages'])} pages in all"
        f" (F {ours['f']:.3f} against {before['f']:.3f}{sure}); the paper reports {paper}.{lead}"
    )


def _judged(own: Sequence[Row]) -> Table:
    """Return a table of lists judged by the pages born after they were built."""
    head = own[0]
    columns = (*_COLUMNS, *(Column(name, "number") for name in _GAINED))
    rows = tuple(
        (
            METHODS[row["method"], row["rule"]],
            *(row[name] for name in ("found", "pages", "precision", "recall", "f")),
            _interval(row, "f"),
            *_difference(row, "f_gain"),
            *_difference(row, "f_lead"),
        )
        for row in own
    )
    return Table(
        f"{head['label'].capitalize()} pages born in the {head['horizon_days']} days after"
        f" {head['learned_until']}",
        columns,
        rows,
        note=f"{head['wanted']:,} pages are wanted in all.",
        is_folded=True,
    )


def forest(own: Sequence[Row]) -> Forest:
    """Return a forest plot of F with intervals, for the lists of one trial and label."""
    head = own[0]
    return Forest(
        f"{head['label'].capitalize()} pages, {trial_in_words(head)}: F with its 95 % interval",
        "F of each list with its 95 % interval, the best first; further right is better.",
        Axis("F", "score", 0.0, 1.0),
        forest_rows(own),
    )


def forest_rows(rows: Sequence[Row]) -> tuple[Interval, ...]:
    """Return F of lists with its interval, the best first, for a forest plot."""
    best_first = sorted(rows, key=lambda row: (-row["f"], row["method"], row["rule"]))
    return tuple(
        Interval(
            METHODS[row["method"], row["rule"]],
            row["f"],
            row["f_low"],
            row["f_high"],
            _COLOURS[row["method"]],
        )
        for row in best_first
        if row["f_low"] is not None
    )


def _difference(row: Row, name: str) -> tuple[str | None, str | None]:
    """Return a difference of F with its interval as text."""
    if row[name] is None:
        return None, None
    return f"{row[name]:+.3f}", f"{row[f'{name}_low']:+.3f} to {row[f'{name}_high']:+.3f}"


def _leads(own: Sequence[Row]) -> Iterator[str]:
    """Yield sentences that compare what was published with the best baseline.

    Lists that hold the same pages share a sentence.
    """
    published = [row for row in own if row["rule"] == "published"]
    for rows in grouped(published, ("f", "f_low", "f_high", "best_baseline")).values():
        yield _lead(rows)


def _lead(rows: Sequence[Row]) -> str:
    """Return a sentence that compares lists of equal F with the best baseline."""
    first = rows[0]
    low, high = first["f_lead_low"], first["f_lead_high"]
    end = "ahead of" if low > 0 else "it LOSES to" if high < 0 else "level with"
    names = [METHODS[row["method"], row["rule"]].partition(",")[0] for row in rows]
    return (
        f"F of {_all_of(names)} is {first['f']:.3f} ({_interval(first, 'f')}),"
        f" {end} the best baseline, {METHODS['baseline', first['best_baseline']]}"
        f" ({first['f_lead']:+.3f}, interval {low:+.3f} to {high:+.3f})."
    )


def _all_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _verdict(own: Sequence[Row]) -> str:
    head = own[0]
    leads = [*_leads(own)]
    if leads:
        what = f"{head['label'].capitalize()} pages born in the {head['horizon_days']} days after"
        return " ".join([f"{what} {head['learned_until']}, as published.", *leads])
    return _learned(own)


def _learned(own: Sequence[Row]) -> str:
    """Return the same for lists made anew, where none was published on the earlier day."""
    used = {(row["method"], row["rule"]): row for row in own}
    ours, paper = used[("prefixes", "confident")], used[("prefixes", "paper")]
    head = (
        f"On {ours['label']} pages born in the {ours['horizon_days']} days after, our prefixes have"
        f" F {ours['f']:.3f}, the paper's rule {paper['f']:.3f}"
    )
    before = used.get(("baseline", "list"))
    if before is None:
        return f"{head}."
    low, high = ours["f_gain_low"], ours["f_gain_high"]
    doubt = (
        "more than chance would explain"
        if low > 0
        else "less, and not by chance"
        if high < 0
        else "which may be chance"
    )
    return (
        f"{head}, the list in use {before['f']:.3f}: a gain of {ours['f_gain']:+.3f} over the list"
        f" ({low:+.3f} to {high:+.3f}), {doubt}."
    )


def _best(own: Sequence[Row]) -> str:
    """Return a sentence on the list with the largest F of a trial, and on that as used."""
    best = max(own, key=lambda row: row["f"])
    used = max((row for row in own if row["is_used"]), key=lambda row: row["f"])
    beside = f"{_named(used)} have the largest F, {used['f']:.3f} ({_interval(used, 'f')})"
    head = f"{best['label'].capitalize()} pages, {trial_in_words(best)}"
    says = f"{head}: of the lists as they are {beside}."
    if best["f"] <= used["f"]:
        return says
    what = "threshold" if best["method"] == "prefixes" else "length"
    return (
        f"{says} At {what} {best['setting']:g} {_named(best)} would have had {best['f']:.3f}, which"
        " only hindsight says."
    )


def _named(row: Row) -> str:
    """Return the name of a list."""
    return METHODS[row["method"], row["rule"]]


def precision_recall_chart(own: Sequence[Row]) -> Chart:
    """Return a chart of the lists of one trial and label, without those that cover nothing."""
    series: list[Series] = []
    for (method, rule), rows in grouped(own, ("method", "rule")).items():
        covering = [row for row in rows if row["pages"]]
        points = sorted(covering, key=lambda row: (row["recall"], -row["precision"]))
        x = tuple(row["recall"] for row in points)
        y = tuple(row["precision"] for row in points)
        colour = _SIMPLE.get(rule, _COLOURS[method])
        if len(points) > 1:
            mark: Mark = "dashes" if rule == "paper" else "line"
            series.append(Series(METHODS[method, rule], mark, colour, x, y))
        used = [row for row in points if row["is_used"]]
        name = METHODS[method, rule] + (_AS_USED if len(points) > 1 else "")
        dots: Mark = "diamonds" if rule == "list" else "dots"
        series.append(
            Series(
                name,
                dots,
                colour,
                tuple(row["recall"] for row in used),
                tuple(row["precision"] for row in used),
            )
        )
    title = f"Precision and recall of {own[0]['label']} pages, {trial_in_words(own[0])}"
    return Chart(
        title,
        _best(own),
        Axis("recall", "share", 0.0, 1.0),
        Axis("precision", "share", 0.0, 1.0),
        tuple(curve for curve in series if curve.x),
    )
