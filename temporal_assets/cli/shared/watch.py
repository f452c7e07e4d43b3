"""The list to watch, from a policy, in an operator's words.

Here: the short lists that end `demo`, `materialize` and `policy`. Not here: the whole lists
(`policy --json`), and the papers' measures (`report`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.reports.sections.wording import every

if TYPE_CHECKING:
    from temporal_assets.policy.document import Document

_TOP: Final = 5
"""Rows of each table: a glance, not a report."""

_LONGEST: Final = 72
"""Characters of a pattern that are shown."""


MARK: Final = "provisional"


def watch_list(document: Document) -> dict[str, list[dict[str, Any]]]:
    """Return the best rows of each list, as JSON values."""
    return {
        "sites": _sites(document),
        "hubs": [
            {
                "hub": entry["url"],
                "visit_every": every(entry["interval_seconds"]),
                "new_pages_a_day": _rounded(entry["new_per_day"]),
                MARK: entry["provisional"],
            }
            for entry in sorted(document["hubs"], key=lambda entry: entry["rank"])[:_TOP]
        ],
        "sources": [
            {
                "feed_or_sitemap": entry["url"],
                "visit_every": every(entry["interval_seconds"]),
                "new_pages_a_day": _rounded(entry["new_per_day"]),
                MARK: False,
            }
            for entry in document["sources"][:_TOP]
        ],
        "prefixes": [
            {
                "fetch": "now",
                "prefix": entry["prefix"],
                "why": _share_in_words(entry["score"], document, entry),
                MARK: entry["provisional"],
            }
            for entry in sorted(
                document["prefixes"],
                key=lambda entry: (entry["tier"], -entry["pages"], entry["prefix"]),
            )[:_TOP]
        ],
        "patterns": _patterns(document),
    }


def show_watch(document: Document) -> None:
    """Print the best rows of each list, and the notes of the policy."""
    lists = watch_list(document)
    for name, title in (
        ("sites", "Sites to watch, the best first"),
        ("hubs", "Hubs: pages to look at again and again for links to new ones"),
        ("sources", "Feeds and sitemaps that announce new pages"),
        ("prefixes", "Prefixes: fetch what is new beneath them at once"),
        ("patterns", "Patterns of URLs: when to fetch a new one"),
    ):
        if rows := lists[name]:
            is_early = any(row[MARK] for row in rows)
            shown = [{k: v for k, v in row.items() if k != MARK} for row in rows]
            console.show_table(
                f"{title}{f' ({MARK})' if is_early else ''}",
                [name.replace("_", " ") for name in shown[0]],
                [tuple(row.values()) for row in shown],
            )
    for note in document["notes"]:
        console.say(note)


def _sites(document: Document) -> list[dict[str, Any]]:
    """Return ranked sites, or else those with most entries in the policy."""
    hubs = Counter(entry["site"] for entry in document["hubs"])
    prefixes = Counter(entry["site"] for entry in document["prefixes"])
    decided: dict[str, Counter[str]] = {}
    for entry in document["patterns"]:
        decided.setdefault(entry["site"], Counter())[entry["decision"]] += 1
    sites = sorted(
        document["sites"],
        key=lambda entry: (
            entry["rank"] is None,
            entry["rank"] or 0,
            -hubs[entry["site"]],
            entry["site"],
        ),
    )
    return [
        {
            "site": entry["site"],
            "hubs": hubs[entry["site"]],
            "prefixes": prefixes[entry["site"]],
            "patterns now / later / skip": " / ".join(
                str(decided.get(entry["site"], Counter())[name])
                for name in ("now", "later", "skip")
            ),
            MARK: entry["provisional"],
        }
        for entry in sites[:_TOP]
    ]


def _patterns(document: Document) -> list[dict[str, Any]]:
    """Return the most visited patterns of each decision, those to fetch now first."""
    rows = []
    for decision, most in (("now", _TOP), ("later", 3), ("skip", 2)):
        some = [entry for entry in document["patterns"] if entry["decision"] == decision]
        some.sort(key=lambda entry: (-entry["visits"], entry["site"], entry["template"]))
        rows += [
            {
                "fetch": decision,
                "pattern": _short(f"{entry['site']}{entry['template']}"),
                "why": _why(entry, document),
                MARK: entry["provisional"],
            }
            for entry in some[:most]
        ]
    return rows


def _short(text: str) -> str:
    """Return the beginning of a long text; `policy --json` has all of it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _why(pattern: Any, document: Document) -> str:
    if pattern["decision"] == "skip":
        return "next to no visits"
    if pattern["urgency"] is None:
        return "too few readers to say"
    return _share_in_words(pattern["urgency"], document, pattern)


def _share_in_words(share: float, document: Document, entry: Any) -> str:
    """Return the share of new pages that supports a decision, in words."""
    are = "are expected to be" if entry["provisional"] else "are"
    if entry.get("decision", "now") == "now":
        return (
            f"{share:.0%} of its new pages {are} read mostly in their first {_days(document)} days"
        )
    return f"{1 - share:.0%} of its pages {are} read for longer than {_days(document)} days"


def _days(document: Document) -> str:
    return f"{document['settings'].get('labels', {}).get('n', 3):g}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
