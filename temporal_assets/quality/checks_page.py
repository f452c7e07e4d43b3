"""The documentation page of all checks (docs/checks.md).

Not here: the columns of the tables (`contracts.markdown`), judging.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from temporal_assets.contracts import TABLES, Severity, markdown
from temporal_assets.quality.log_files import LOG_CHECKS, LogCheck

_INTRODUCTION: Final = """\
# Checks

Every check: what it protects, and what to do when it fails. Written from the definitions by
`python -m temporal_assets.quality.checks_page`; a test keeps the two together, and another one
corrupts what each check guards and sees it fail (`tests/integration/test_checks_bite.py`).

**Blocking** checks are invariants. When one is broken, nothing downstream is built on that day,
neither in the same run nor in a later one, and crawlers go on with the policy before. **Warning**
checks say that somebody should look. Drifts compare a day with up to 28 days before it, or a week
with eight weeks, and say nothing before there are seven days or three weeks. They know the noise of
counting, which is most of what small sites show, and they speak once in sixty days unless it gets
worse ([what is unusual](running-daily.md#what-is-unusual)). Checks that need referrers say nothing
of days whose logs have none. The UI shows up to twenty of the rows that break a rule, escaped and
without clients; `temporal-assets status` shows the last judgement of everything that is published.

*Report it* means that the transformation is at fault: report it with the rows shown. Not in the
table is what is compared whenever something is read: the digest of its files
([how-it-works.md](how-it-works.md#what-is-built-upon-is-what-was-written)).

## log_files

These judge the files and not a day. They stop nothing: the other files are used.
"""

_COMMON: Final = """\
## Of nearly every table

Every table has the first two, and each that has a key the third; they are not repeated below.
"""

_HEADER: Final = ("check", "kind", "expects", "protects", "when it fails")
_MANY: Final = 20
"""Number of tables with the same check from which on it is described once for all."""


def page() -> str:
    """Return the page as Markdown."""
    header = ("check", "kind", "expects and protects", "when it fails")
    lines = [_INTRODUCTION, *markdown.grid(header, map(_log_check, LOG_CHECKS)), ""]
    times = Counter(row for table in TABLES for row in markdown.check_rows(table))
    common = [row for row in times if times[row] >= _MANY]
    lines += [_COMMON, *markdown.grid(_HEADER, common), ""]
    for table in TABLES:
        own = [row for row in markdown.check_rows(table) if row not in common]
        lines += [f"## {table.name}", "", *markdown.grid(_HEADER, own), ""]
    return "\n".join(lines)


def _log_check(check: LogCheck) -> tuple[str, ...]:
    # Shown as an error, and still nothing waits for it.
    kind = "error" if check.severity is Severity.ERROR else "warning"
    return (f"`{check.name}`", kind, check.description, check.remedy)


if __name__ == "__main__":
    print(page(), end="")
