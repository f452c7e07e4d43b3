"""The tables of docs/evidence.md, written between their markers from one run's results.

Here: which sets and variations the page has, and how their rows become tables. Not here: judging
(`real_predictions --results FOLDER --write` judges what is missing and calls this), the results
(`real_results`). Rows in which there is nothing to tell apart (hubs of a set with one hub, labels
where all pages are of one kind, lists that are all "everything") are counted and not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from benchmarks.real_lists import OURS
from benchmarks.real_results import Numbers, Results, Row
from benchmarks.real_sets import SETS

VARIED: Final[Mapping[str, Sequence[str]]] = {
    "mix_b": (
        "thin", "thinner", "thinnest", "no_referrers", "one_silent_site", "five_sites", "one_site",
        "half_of_sites", "one_section", "other_weekdays", "later_clocks", "robots", "twins",
        "7_days", "14_days", "after_9_days", "after_13_days", "after_20_days",
    ),
    "globo_6h": (
        "thin", "thinner", "thinnest", "lost_days", "other_weekdays", "later_clocks", "robots",
        "7_days", "after_9_days", "after_13_days", "after_20_days",
    ),
    "arrivals_winter": (
        "thin", "thinner", "other_weekdays", "later_clocks", "robots", "twins", "after_9_days",
        "after_13_days",
    ),
    "bbc_most_read_3h_summer": ("thinner", "later_clocks", "robots", "twins"),
}  # fmt: skip
"""Variations on the page, by set."""

VARIED_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "mix_b": ("hubs", "lists", "early", "labels"),
    "globo_6h": ("hubs", "early", "labels"),
    "arrivals_winter": ("lists", "early", "labels"),
    "bbc_most_read_3h_summer": ("lists", "early", "labels"),
}
"""Parts that a set can be judged by: the portal has one folder, the others one hub or none."""

_PAGE: Final = Path(__file__).parents[1] / "docs" / "evidence.md"
_FEW: Final = ", pages with few views"
_FEW_SHORT: Final = ", few views"
_NEARLY_ALL: Final = 0.98
_MUCH: Final = 0.02
"""Difference from which on a loss of a variation is listed."""
_NAMED: Final = 4
"""Rows that are named where a decision is behind."""


def write(results: Results) -> None:
    """Write every table into the page."""
    text = _PAGE.read_text("utf-8")
    for name, render in _PARTS.items():
        begin, end = f"<!-- table: {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{_PAGE}: no place for {name}: {begin.strip()} … {end.strip()}")
        text = f"{before}{begin}\n{render(results)}\n\n{end}{after}"
    _PAGE.write_text(text, "utf-8")


def _table(head: Sequence[str], align: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; `align` has `l` or `r` for each column."""
    rule = "|".join("---:" if letter == "r" else "---" for letter in align)
    lines = ["| " + " | ".join(head) + " |", f"|{rule}|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def _reported(results: Results, *titles: str) -> list[Row]:
    """Rows of the sets that are reported on, of tables whose title begins so."""
    names = {name for name, real in SETS.items() if real.role == "reported on"}
    return [row for row in results.rows if row.name in names and row.title.startswith(titles)]


def _groups(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of each set, those of pages with few views apart, under a short name."""

    def name(row: Row) -> str:
        return row.name + (_FEW_SHORT if _FEW in row.title else "")

    return [(group, list(members)) for group, members in groupby(rows, name)]


def _with(numbers: Numbers) -> str:
    value, low, high = numbers
    return f"{value:.3f} [{low:.2f}, {high:.2f}]"


def _signed(numbers: Numbers) -> str:
    value, low, high = numbers
    return f"{value:+.3f} [{low:+.2f}, {high:+.2f}]"


def _number(row: Row, name: str) -> str:
    """Return a cell that holds a whole number, with separators."""
    return f"{int(row.cells[name]):,}"


def _mark(row: Row) -> str:
    return f"**{row.mark}**" if row.mark == "loss" else row.mark


def _beside(row: Row, names: Iterable[str]) -> list[str]:
    return [f"{row.baselines[name][0]:.3f}" for name in names]


def _is_apart(rows: Iterable[Row]) -> bool:
    """Return whether any answer differs from another."""
    values = [{row.ours[0], *(value for value, _, _ in row.baselines.values())} for row in rows]
    return any(max(of_row) - min(of_row) > 1e-9 for of_row in values)


_ORDERS: Final = ("paper's order", "greedy", "last day's clicks out", "decayed new targets")


def _hubs(results: Results) -> str:
    lines = [
        [name, row.cells["K"], _number(row, "wanted"), *_judged(row, _ORDERS)]
        for name, rows in _groups(_reported(results, "hubs"))
        if _is_apart(rows)
        for row in rows
    ]
    return _table(["set", "K", "wanted", *_judged_head(_ORDERS)], "lrrrrrrrrl", lines)


def _judged(row: Row, names: Iterable[str]) -> list[str]:
    """Cells of ours, of baselines, of the difference to the best of them, and of the mark."""
    return [_with(row.ours), *_beside(row, names), _signed(row.difference), _mark(row)]


def _judged_head(names: Iterable[str]) -> list[str]:
    return ["ours [95 %]", *names, "less the best [95 %]", "mark"]


_SIMPLE: Final = ("everything", "folder majority", "folder majority of births", "list in use")


def _lists(results: Results) -> str:
    lines = []
    for name, rows in _groups(_reported(results, "lists")):
        if all(row.ours[0] == row.baselines["everything"][0] for row in rows):
            continue
        row = rows[0]
        right = " (share decided right)" if "decided right" in row.title else ""
        ours = [_marked(by_list) for by_list in rows]
        simple = [f"{row.baselines[one][0]:.3f}" if one in row.baselines else "" for one in _SIMPLE]
        born = f"{_number(row, 'born')}, {_number(row, 'temporal')}"
        lines.append([name + right, born, *ours, *simple])
    head = ["set", "born, temporal", *OURS, *_SIMPLE]
    return _table(head, "l" + "r" * (len(head) - 1), lines)


def _marked(row: Row) -> str:
    value = f"{row.ours[0]:.3f}"
    if row.mark == "level":
        return value
    return f"**{value}, loss**" if row.mark == "loss" else f"{value}, win"


_LOG_LOSS: Final = ("early labels: log loss", f"early labels{_FEW}: log loss")
_MODELS: Final = (
    "section prior",
    "raw share so far",
    "logistic regression",
    "gradient boosting",
)


def _early(results: Results) -> str:
    ranked = {
        (name, row.cells["age"]): row.ours[0]
        for name, rows in _groups(_reported(results, "early labels: AUC", f"early labels{_FEW}: A"))
        for row in rows
    }
    lines, mixed = [], _mixed(results)
    for name, rows in _groups(_reported(results, *_LOG_LOSS)):
        if rows[0].name not in mixed:
            continue
        for row in rows:
            auc = ranked.get((name, row.cells["age"]))
            cells = [name, row.cells["age"], _number(row, "pages"), _with(row.ours)]
            cells += ["" if auc is None else f"{auc:.3f}", *_beside(row, _MODELS)]
            lines.append([*cells, _signed(row.difference), _mark(row)])
    head = ["set", "age", "pages", "ours [95 %]", "AUC", *_MODELS, "less the best [95 %]", "mark"]
    return _table(head, "lrrrrrrrrrl", lines)


_BOOSTING: Final = "gradient boosting"


def _beside_boosting(results: Results) -> str:
    """Say in how many rows ours is further behind boosting than asked for, and in which."""
    mixed = _mixed(results)
    rows = [row for row in _reported(results, *_LOG_LOSS) if row.name in mixed]
    gaps = [row.ours[0] - row.baselines[_BOOSTING][0] for row in rows]
    further = [
        f"{_in_short(row)} {gap:+.3f} ({row.cells['pages']} pages)"
        for row, gap in zip(rows, gaps, strict=True)
        if gap > _MUCH
    ]
    return (
        f"Beside gradient boosting ours is ahead or within {_MUCH} in {len(rows) - len(further)} of"
        f" {len(rows)} rows, by {sum(gaps) / max(len(rows), 1):+.3f} in the mean (less is better)."
        f" Further behind: {'; '.join(further)}."
    )


def _mixed(results: Results) -> set[str]:
    """Return the sets that have pages of both kinds."""
    rows = _reported(results, *_LOG_LOSS)
    return {row.name for row in rows if not _is_of_one_kind(row)}


def _is_of_one_kind(row: Row) -> bool:
    return row.cells["temporal"] in ("0", row.cells["pages"])


def _labels(results: Results) -> str:
    by_hours = {
        (row.name, row.cells["life"]): row
        for row in _reported(results, "labels, truth by 72 hours")
    }
    lines = []
    for name, rows in _groups(_reported(results, "labels, truth by calendar days")):
        if all(_one_kind(row) >= _NEARLY_ALL for row in rows):
            continue
        for row in rows:
            other = by_hours[name, row.cells["life"]]
            both = [f"{row.ours[0]:.3f} / {other.ours[0]:.3f}"]
            for answer in ("curve", "raw share so far", "concentration"):
                pair = (one.baselines[answer][0] for one in (row, other))
                both.append(" / ".join(f"{value:.3f}" for value in pair))
            both.append(f"{_one_kind(row):.3f} / {_one_kind(other):.3f}")
            marks = _mark(row) if row.mark == other.mark else f"{_mark(row)} / {_mark(other)}"
            lines.append([name, row.cells["life"], _number(row, "pages"), *both, marks])
    head = ["set", "life", "pages", "ours", "curve", "raw share so far", "concentration"]
    return _table([*head, "always one kind", "mark"], "llrrrrrrl", lines)


def _one_kind(row: Row) -> float:
    return max(row.baselines[f"always {kind}"][0] for kind in ("temporal", "untemporal"))


def _visits(results: Results) -> str:
    lines = []
    for row in _reported(results, "half-lives", "revisit intervals", "rates"):
        others = ", ".join(f"{name} {value:.3f}" for name, (value, _, _) in row.baselines.items())
        said = [row.cells[column] for column in ("what", "said", "true")]
        lines.append([*said, _with(row.ours), others, _signed(row.difference), _mark(row)])
    head = ["", "said", "true", "error of ours [95 %]", "others", "less the best [95 %]", "mark"]
    return _table(head, "lrrrlrl", lines)


def _first(results: Results) -> str:
    right = {
        (row.name, row.cells["days"]): row
        for row in _reported(results, "first days: share decided right")
    }
    lines, folder = [], "most viewed folder"
    for name, rows in _groups(_reported(results, "first days: F")):
        if all(row.ours[0] == row.baselines["everything"][0] for row in rows):
            continue
        for row in rows:
            other = right[name, row.cells["days"]]
            pairs = [(row.ours, other.ours)]
            pairs += [(row.baselines[one], other.baselines[one]) for one in ("everything", folder)]
            cells = [f"{f:.3f} ({share:.3f})" for (f, *_), (share, *_) in pairs]
            born = [_number(row, column) for column in ("days", "born", "temporal")]
            lines.append([name, *born, *cells, _mark(row)])
    head = ["set", "days", "born", "temporal", "ours", "everything", folder, "mark"]
    return _table(head, "lrrrrrrl", lines)


def _first_hubs(results: Results) -> str:
    clicks = ["last day's clicks out"]
    lines = [
        [name, row.cells["days"], row.cells["K"], *_judged(row, clicks)]
        for name, rows in _groups(_reported(results, "first days: share of new"))
        if _is_apart(rows)
        for row in rows
    ]
    return _table(["set", "days", "K", *_judged_head(clicks)], "lrrrrrl", lines)


_Chosen = Callable[[Row], bool]


def _ahead(results: Results) -> str:
    """Count marks by decision, and name the rows that are furthest behind."""
    mixed = _mixed(results)
    decisions: Mapping[str, tuple[tuple[str, ...], _Chosen]] = {
        "[hubs](#hubs), the first 5, 20, 50, 500": (("hubs",), lambda _: True),
        "[what the policy fetches now](#lists)": (
            ("lists",),
            lambda row: row.cells["list"] == "policy: now",
        ),
        "sites, sections, prefixes, patterns": (
            ("lists",),
            lambda row: row.cells["list"] != "policy: now",
        ),
        "[early labels](#early-labels), ages 1 to 7": (_LOG_LOSS, lambda row: row.name in mixed),
        "the same where all pages are temporal": (_LOG_LOSS, lambda row: row.name not in mixed),
        "[labels](#labels) by calendar days": (("labels, truth by calendar",), lambda _: True),
        "labels by 72 hours": (("labels, truth by 72",), lambda _: True),
        "[half-life, revisit intervals](#visits-of-a-hub)": (
            ("half-lives", "revisit"),
            lambda _: True,
        ),
        "new pages a day": (("rates",), lambda _: True),
        "[policy of the first days](#the-first-days)": (("first days: F",), lambda _: True),
        "hubs of the first days": (("first days: share of new",), lambda _: True),
    }
    lines = []
    for decision, (titles, is_chosen) in decisions.items():
        rows = [row for row in _reported(results, *titles) if is_chosen(row)]
        if "hubs" in decision:
            rows = [row for _, own in _groups(rows) if _is_apart(own) for row in own]
        counts = Counter(row.mark for row in rows)
        by_pages = Counter(row.mark_of_pages for row in rows)
        numbers = [counts[mark] for mark in _MARKS]
        pages = "/".join(str(by_pages[mark]) for mark in _MARKS)
        lines.append([decision, len(rows), *numbers, pages, _behind(rows)])
    head = ["decision", "rows", "ahead", "level", "behind", "by pages", "furthest behind"]
    return _table(head, "lrrrrrl", lines)


_MARKS: Final = ("win", "level", "loss")


def _behind(rows: Iterable[Row]) -> str:
    losses = sorted((row for row in rows if row.mark == "loss"), key=_gap, reverse=True)
    return "; ".join(f"{_in_short(row)} {_gap(row):.3f}" for row in losses[:_NAMED])


def _gap(row: Row) -> float:
    return abs(row.difference[0])


_NAMING: Final = {
    "age": "age {}",
    "K": "{} hubs",
    "list": "{}",
    "life": "{}",
    "days": "day {}",
    "what": "{}",
}
"""Cells that say which row of a set it is, in words."""


def _in_short(row: Row) -> str:
    """Return the set and what the row is of."""
    few = _FEW_SHORT if _FEW in row.title else ""
    return f"`{row.name}`{few}, {_which(row)}:"


def _which(row: Row) -> str:
    """Return which row of its set it is."""
    words = (word.format(row.cells[name]) for name, word in _NAMING.items() if name in row.cells)
    return ", ".join(words)


_DECISIONS: Final = {"hubs": ("hubs",), "lists": ("lists",), "early labels": _LOG_LOSS}
_DECISIONS_OF_LABELS: Final = {"labels": ("labels",)}


def _variations(results: Results) -> str:
    lines = []
    for real, name in _varied():
        cells = []
        for titles in (_DECISIONS | _DECISIONS_OF_LABELS).values():
            rows = [row for row in results.rows if row.name == name]
            counts = Counter(row.mark for row in rows if row.title.startswith(titles))
            cells.append("/".join(str(counts[mark]) for mark in _MARKS) if counts else "")
        lines.append([f"`{real}`", f"`{name.removeprefix(real).removeprefix('_')}`", *cells])
    head = ["set", "variation", *_DECISIONS, *_DECISIONS_OF_LABELS]
    return _table(head, "llrrrr", lines)


def _losses(results: Results) -> str:
    names = {name for _, name in _varied()}
    lines = []
    for row in results.rows:
        is_shown = row.title.startswith(("hubs", "lists", "labels", *_LOG_LOSS))
        if is_shown and row.name in names and row.mark == "loss" and _gap(row) > _MUCH:
            baseline = row.baselines[row.best][0]
            values = [f"{row.ours[0]:.3f}", row.best, f"{baseline:.3f}", _signed(row.difference)]
            lines.append([f"`{row.name}`", _what(row), *values])
    head = ["set", "decision", "ours", "best baseline", "of it", "difference [95 %]"]
    return _table(head, "llrlrr", lines)


def _what(row: Row) -> str:
    """Return the decision, which row it is, and the number of its pages."""
    names = [name for name in ("wanted", "born", "pages") if name in row.cells]
    pages = [f"{_number(row, name)} pages" for name in names]
    return ", ".join([row.title, _which(row), *pages])


def _varied() -> list[tuple[str, str]]:
    return [(real, f"{real}_{change}") for real, changes in VARIED.items() for change in changes]


def _printed(results: Results) -> str:
    return (
        f"Every table from here to [crawl orders](#crawl-orders) was printed by one code"
        f" (`{results.code}`, the digest that `--results` keeps) on {results.day}."
    )


_PARTS: Final[Mapping[str, Callable[[Results], str]]] = {
    "printed": _printed,
    "ahead": _ahead,
    "hubs": _hubs,
    "lists": _lists,
    "early": _early,
    "boosting": _beside_boosting,
    "labels": _labels,
    "visits": _visits,
    "first": _first,
    "first hubs": _first_hubs,
    "variations": _variations,
    "losses": _losses,
}
