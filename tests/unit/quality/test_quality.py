"""Judging numbers: pure evaluation, Great Expectations, and the words for it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.contracts import Drift, Rule, Severity
from temporal_assets.core.traffic.usual_days import count_noise, usual_count
from temporal_assets.landing.landed_files import DayShare, LandedFile, Sighting
from temporal_assets.quality import expectations, verdicts, wording
from temporal_assets.quality.asset_checks import to_check_result
from temporal_assets.quality.evaluate import (
    NO_REFERRERS,
    Expected,
    Finding,
    Outcome,
    Past,
    Status,
    evaluate_drifts,
    evaluate_outcomes,
    evaluate_rules,
    not_done,
    not_judged,
)
from temporal_assets.quality.expectations import judge
from temporal_assets.quality.log_files import Logs, evaluate_logs
from temporal_assets.quality.verdicts import Judgement, blockers, judgement
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.sealed import sealed

DAYS = [dt.date(2026, 3, n) for n in range(1, 6)]
RULE = Rule("limit", "x", "Things go wrong.", "Mend them.", maximum=2)
WARNING = Rule("rows", "x", "It is empty.", "Look.", severity=Severity.WARN, minimum=1)
FACTOR = Drift("jump", "x", "It jumps.", "Look.", largest_factor=3)
DIFFERENCE = Drift("share", "x", "It moves.", "Look.", whole="n", largest_difference=0.25)
WEEK = Drift("week", "x", "It jumps.", "Look.", largest_factor=1.5, weeks=1)
FOUR_WEEKS = Drift("week", "x", "It jumps.", "Look.", largest_factor=1.6, weeks=4)
EMPTY = Drift("rows", "x", "It is empty.", "Look.", least=1)


def number(value: float | None, low: float | None = None, high: float | None = None) -> Expected:
    return Expected("x", Severity.ERROR, value, low, high)


def landed(name: str, **changes: object) -> LandedFile:
    fields: dict[str, object] = {
        "id": name,
        "serial": 1,
        "digest": name,
        "options": "",
        "size": 1,
        "head": "",
        "lines": 1,
        "format": "combined",
        "likely_format": None,
        "has_referrers": True,
        "sightings": (Sighting(f"/logs/{name}", 1, 1),),
    }
    return LandedFile(**(fields | changes))  # type: ignore[arg-type]


def test_rules_take_their_limit_from_the_contract_or_the_settings() -> None:
    share = Rule("share", "x", "", "", minimum=0, maximum_parameter="max_reject_share")
    first, second = evaluate_rules(
        [RULE, share], {"limit": 3.0, "share": None}, {"max_reject_share": 0.2}
    )
    assert (first.value, first.minimum, first.maximum) == (3.0, None, 2)
    assert (second.maximum, second.note) == (0.2, "there are no rows to judge")
    assert not second.can_be_judged


def past(numbers: Sequence[float | None], drift: Drift, **wholes: float) -> Past:
    """Days before, the latest last."""
    return Past(
        {age: {drift.name: number, **wholes} for age, number in enumerate(reversed(numbers), 1)}
    )


def test_large_sites_are_judged_by_the_factor_that_is_stated() -> None:
    (one,) = evaluate_drifts([FACTOR], {"jump": 2e6}, past([1e6, 1.01e6] * 14, FACTOR))
    assert one.minimum == pytest.approx(1.005e6 / 3, rel=0.01)
    assert one.maximum == pytest.approx(1.005e6 * 3, rel=0.01)
    assert one.severity is Severity.WARN


def test_small_sites_are_judged_by_what_counting_leaves_open() -> None:
    (one,) = evaluate_drifts([FACTOR], {"jump": 3.0}, past([12.0, 9.0, 14.0, 10.0] * 7, FACTOR))
    assert one.minimum is None
    assert one.maximum is not None
    assert 30 < one.maximum < 80


def test_a_share_of_few_things_may_be_any() -> None:
    first, other = (
        evaluate_drifts(
            [DIFFERENCE],
            {"share": 0.1, "share_whole": n},
            past([0.5, 0.6] * 14, DIFFERENCE, share_whole=n),
        )[0]
        for n in (4, 4000)
    )
    assert first.minimum is None
    assert first.maximum in (None, 1.0)
    assert other.minimum == pytest.approx(0.3, abs=0.01)
    assert other.is_outside


def test_weekends_are_no_news() -> None:
    week = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 300.0, 310.0]
    drift = replace(FACTOR, largest_factor=1.8)
    saturday, monday = (
        evaluate_drifts([drift], {"jump": 305.0}, past((week * 5)[skipped : 28 + skipped], drift))[
            0
        ]
        for skipped in (5, 7)
    )
    assert not saturday.is_outside
    assert monday.is_outside


def test_a_week_shows_what_a_day_hides() -> None:
    days = past([40.0, 35.0, 44.0, 38.0, 41.0, 37.0, 45.0] * 9, WEEK)
    halved = Past({age: {"week": 20.0} if age < 7 else one for age, one in days.measured.items()})
    (one,) = evaluate_drifts([WEEK], {"week": 20.0}, halved)
    assert one.value == 140.0
    assert one.is_outside
    (day,) = evaluate_drifts([FACTOR], {"jump": 20.0}, past([40.0, 35.0, 44.0] * 9, FACTOR))
    assert not day.is_outside


def test_four_weeks_show_what_a_week_of_a_small_site_hides() -> None:
    days = past([10.0, 7.0, 12.0, 9.0, 8.0, 11.0, 13.0] * 12, WEEK)
    halved = Past({age: {"week": 5.0} if age < 28 else one for age, one in days.measured.items()})
    (week,) = evaluate_drifts([WEEK], {"week": 5.0}, halved)
    assert not week.is_outside
    (four,) = evaluate_drifts([FOUR_WEEKS], {"week": 5.0}, halved)
    assert four.value == 140.0
    assert four.is_outside
    (calm,) = evaluate_drifts([FOUR_WEEKS], {"week": 9.0}, days)
    assert calm.can_be_judged
    assert not calm.is_outside
    (early,) = evaluate_drifts([FOUR_WEEKS], {"week": 9.0}, past([9.0] * 80, WEEK))
    assert early.note == "only 7 of the weeks before can be compared"


@pytest.mark.parametrize("drift", [FACTOR, WEEK, FOUR_WEEKS], ids=lambda drift: drift.name)
def test_ranges_are_numbers_that_dagster_can_store(drift: Drift) -> None:
    (one,) = evaluate_drifts([drift], {drift.name: 1e6}, past([1e6, 1.1e6] * 60, drift))
    assert [type(end) for end in (one.minimum, one.maximum)] == [float, float]


def test_an_empty_day_is_told_where_it_is_unlikely() -> None:
    (many,) = evaluate_drifts([EMPTY], {"rows": 0.0}, past([60.0] * 9, EMPTY))
    assert many.is_outside
    (few,) = evaluate_drifts([EMPTY], {"rows": 0.0}, past([2.0, 0.0, 3.0], EMPTY))
    assert (few.can_be_judged, few.note) == (False, "a day with nothing is not unusual here")
    (first,) = evaluate_drifts([EMPTY], {"rows": 0.0}, past([], EMPTY))
    assert first.is_outside


def test_what_was_told_is_told_again_only_when_it_gets_worse() -> None:
    drift = replace(FACTOR, largest_factor=1.8)
    before = past([10_000.0, 10_100.0] * 14, drift)
    answer = Past(before.measured, {40: {"jump": 4000.0}})
    (again,) = evaluate_drifts([drift], {"jump": 3900.0}, answer)
    assert not again.is_outside
    (worse,) = evaluate_drifts([drift], {"jump": 100.0}, answer)
    assert worse.is_outside
    (other,) = evaluate_drifts([drift], {"jump": 90_000.0}, answer)
    assert other.is_outside
    (later,) = evaluate_drifts([drift], {"jump": 3900.0}, Past(before.measured, {60: {"jump": 1}}))
    assert later.is_outside


@pytest.mark.parametrize(
    ("value", "numbers", "note"),
    [
        (None, [1.0] * 9, "there are no rows to judge"),
        (1.0, [1.0, None, 1.0], "only 2 of the days before can be compared"),
        (1.0, [0.0] * 9, "the days before are empty"),
    ],
)
def test_a_drift_needs_something_to_compare(
    value: float | None, numbers: list[float | None], note: str
) -> None:
    (one,) = evaluate_drifts([FACTOR], {"jump": value}, past(numbers, FACTOR))
    assert (one.note, one.can_be_judged) == (note, False)


def test_a_week_needs_weeks_to_compare() -> None:
    (one,) = evaluate_drifts([WEEK], {"week": 9.0}, past([9.0] * 20, WEEK))
    assert one.note == "only 2 of the weeks before can be compared"
    (other,) = evaluate_drifts([WEEK], {"week": 9.0}, past([9.0] * 3, WEEK))
    assert not other.can_be_judged


@given(st.lists(st.integers(0, 10**6), min_size=7, max_size=28), st.integers(0, 10**6))
def test_the_middle_of_the_days_before_is_always_usual(counts: list[int], day: int) -> None:
    usual = usual_count([float(n) for n in counts], range(1, len(counts) + 1), 1.8)
    assert 0 <= usual.low <= usual.high
    assert count_noise(float(day)).low <= day <= count_noise(float(day)).high


@pytest.mark.parametrize(
    ("expected", "outcome", "status"),
    [
        (number(1, 0, 2), Outcome(True), Status.HELD),
        (number(3, 0, 2), Outcome(False), Status.BROKEN),
        (number(3, 0, 2), Outcome(False, "it raised"), Status.FAILED),
        (number(math.nan, 0, 2), Outcome(True), Status.FAILED),
        (number(1, 0, 2), None, Status.FAILED),
        (number(1), None, Status.NOT_JUDGED),
        (number(None, 0, 2), None, Status.NOT_JUDGED),
    ],
)
def test_what_a_comparison_means(
    expected: Expected, outcome: Outcome | None, status: Status
) -> None:
    (finding,) = evaluate_outcomes([expected], {"x": outcome} if outcome else {})
    assert finding.status is status
    assert finding.passed is (status in (Status.HELD, Status.NOT_JUDGED))


def test_great_expectations_judges_all_days_at_once() -> None:
    def numbers(a: float, b: float, low: float | None, high: float | None) -> list[Expected]:
        return [
            Expected("a", Severity.ERROR, a, None, 2),
            Expected("b", Severity.WARN, b, low, high),
        ]

    outcomes = judge(
        "t",
        {
            DAYS[0]: numbers(1, 5, 1, 9),
            DAYS[1]: numbers(3, 5, 6, 9),
            DAYS[2]: numbers(2, 5, None, None),
        },
    )
    assert outcomes == {
        DAYS[0]: {"a": Outcome(True), "b": Outcome(True)},
        DAYS[1]: {"a": Outcome(False), "b": Outcome(False)},
        DAYS[2]: {"a": Outcome(True)},
    }


def test_nothing_to_judge_is_no_work() -> None:
    assert judge("t", {DAYS[0]: [number(None, 0, 1)], DAYS[1]: []}) == {DAYS[0]: {}, DAYS[1]: {}}


def test_numbers_within_their_range_need_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations takes seconds to load, which a small log would wait for in vain."""

    def refuse() -> None:
        raise AssertionError("it was loaded")

    monkeypatch.setattr(expectations, "great_expectations", refuse)
    assert judge("t", {DAYS[0]: [number(0, 0, 1)]}) == {DAYS[0]: {"x": Outcome(True)}}
    with pytest.raises(AssertionError):
        judge("t", {DAYS[0]: [number(math.nan, 0, 1)]})


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(0, 1e9)),
        min_size=1,
        max_size=5,
    )
)
def test_a_range_holds_both_of_its_ends(rows: list[tuple[float, float, float]]) -> None:
    days = {
        day: [Expected("x", Severity.ERROR, value, low, low + width)]
        for day, (value, low, width) in zip(DAYS, rows, strict=False)
    }
    for day, (value, low, width) in zip(DAYS, rows, strict=False):
        assert judge("t", days)[day]["x"].success is (low <= value <= low + width)


def test_a_check_that_cannot_be_done_is_not_bad_data() -> None:
    finding = not_done(RULE, OSError("no such table"))
    result = to_check_result("requests", RULE, {DAYS[0]: finding})
    assert not result.passed
    assert result.severity.value == "ERROR"
    assert "says nothing about the data" in (result.description or "")
    verdict = judgement("requests", DAYS[0], RULE, finding)
    assert verdict.message.endswith("OSError: no such table")
    assert blockers([verdict]) == [verdict]


def test_a_result_passes_when_every_day_does() -> None:
    good = Finding(number(1, 0, 2), Status.HELD)
    bad = Finding(number(3, 0, 2), Status.BROKEN, samples=({"url": "u", "client": 7},))
    assert to_check_result("t", RULE, {DAYS[0]: good}).passed
    result = to_check_result("t", RULE, {DAYS[0]: good, DAYS[1]: bad})
    assert not result.passed
    assert result.description == "Things go wrong. Mend them."
    assert result.metadata["days_not_passed"].value == 1
    (row,) = result.metadata["not_passed"].value.records
    assert row.data == {
        "day": "2026-03-02",
        "status": "broken",
        "value": "3",
        "minimum": "0",
        "maximum": "2",
        "note": "",
    }
    (sample,) = result.metadata["samples"].value.records
    assert sample.data == {"url": "u"}


def test_a_warning_stays_one_until_the_check_itself_fails() -> None:
    broken = Finding(number(0, 1), Status.BROKEN)
    assert to_check_result("t", WARNING, {DAYS[0]: broken}).severity.value == "WARN"
    failed = not_done(WARNING, OSError())
    assert to_check_result("t", WARNING, {DAYS[0]: failed}).severity.value == "ERROR"


def test_what_could_not_be_judged_is_said_although_it_passes() -> None:
    finding = Finding(number(None), Status.NOT_JUDGED, NO_REFERRERS)
    result = to_check_result("t", RULE, {DAYS[0]: finding})
    assert (result.passed, result.description) == (True, NO_REFERRERS)
    assert judgement("t", DAYS[0], RULE, finding).message == NO_REFERRERS


def test_a_judgement_says_what_was_found_expected_and_to_do() -> None:
    finding = Finding(Expected("limit", Severity.ERROR, 3, 1, 2), Status.BROKEN)
    assert judgement("t", DAYS[0], RULE, finding) == Judgement(
        asset="t",
        check="limit",
        day=DAYS[0],
        passed=False,
        blocking=True,
        message="3, expected at least 1 and at most 2. Things go wrong. Mend them.",
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "says"),
    [
        (1_000_001, None, 1_000_000.0, "1,000,001, expected at most 1,000,000"),
        (12.0, 1 / 3, 1_234_567.5, "12, expected at least 0.333333 and at most 1,234,567.5"),
        (0.99999999, 1.0, None, "0.99999999, expected at least 1"),
        (0.1 + 0.2, None, 0.3, "0.30000000000000004, expected at most 0.29999999999999999"),
        (1e-9, 0.0, 0.0, "1e-09, expected at least 0 and at most 0"),
        (-5, 0, None, "-5, expected at least 0"),
        (1e300, None, 2e15, "1e+300, expected at most 2e+15"),
        (math.inf, None, 7, "inf, expected at most 7"),
        (3, None, None, "3"),
    ],
)
def test_a_number_beyond_its_limit_reads_so(
    value: float, low: float | None, high: float | None, says: str
) -> None:
    assert wording.compared(value, low, high) == says


def test_verdict_and_table_of_days_tell_a_number_from_its_limit() -> None:
    finding = Finding(number(1_000_001, None, 1_000_000.0), Status.BROKEN)
    message = judgement("t", DAYS[0], RULE, finding).message
    assert message.startswith("1,000,001, expected at most 1,000,000. ")
    result = to_check_result("t", RULE, dict.fromkeys(DAYS[:2], finding))
    row = result.metadata["not_passed"].value.records[0].data
    assert (row["value"], row["minimum"], row["maximum"]) == ("1,000,001", "", "1,000,000")


def test_only_broken_invariants_block() -> None:
    def verdict(blocking: bool, passed: bool) -> Judgement:
        return Judgement("t", "c", DAYS[0], passed, blocking, "")

    assert blockers([verdict(True, True), verdict(False, False)]) == []
    assert blockers([verdict(True, False), verdict(False, False)]) == [verdict(True, False)]


def test_a_number_without_a_range_keeps_its_value() -> None:
    unjudged = not_judged(number(1, 0, 2), "because")
    assert (unjudged.value, unjudged.can_be_judged, unjudged.note) == (1, False, "because")


def test_log_files_in_trouble_are_named() -> None:
    files = [
        landed("b.log", error="permission denied"),
        landed("a.log", error="no gzip"),
        landed("c.log", problem="ends after 7 lines"),
        landed("d.log", likely_format="caddy"),
        landed("e.log"),
    ]
    actual = {
        verdict.check.name: verdict for verdict in evaluate_logs(Logs(files, ["x/*: no such file"]))
    }
    assert [name for name, _ in actual["files_readable"].troubles] == [files[1].name, files[0].name]
    assert actual["files_readable"].message == f"{files[1].name}: no gzip (and 1 more)"
    assert actual["files_complete"].message == f"{files[2].name}: ends after 7 lines"
    assert actual["formats_likely"].message.endswith("read as `combined`, but looks like `caddy`")
    assert actual["sources_present"].message == "x/*: no such file"
    assert all(verdict.passed for verdict in evaluate_logs(Logs([files[4]])))


def test_logs_are_old_only_where_a_day_is_waited_for() -> None:
    def recent(files: list[LandedFile], expected: dt.date | None) -> tuple[bool, str]:
        actual = {
            verdict.check.name: verdict for verdict in evaluate_logs(Logs(files, (), expected))
        }
        return actual["days_recent"].passed, actual["days_recent"].message

    day = dt.date(2026, 3, 1)
    share = DayShare(lines=1, rows=1, segments=(), first=0, last=0, losses=())
    files = [replace(landed("a.log"), days={day: share}), landed("b.log")]
    assert recent(files, day) == (True, "")
    passed, message = recent(files, day + dt.timedelta(days=1))
    assert not passed
    assert message.startswith("the latest day is 2026-03-01, and 2026-03-02 is expected")
    assert recent([], day)[0] is False
    assert recent(files, None) == (True, "Judged in the nightly run only.")


def test_a_verdict_falls_with_the_question_of_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day that a wrong check held up was held up for good, also by one that is gone."""
    manifest = Manifest("transits", dt.date(2026, 3, 1), (), 1, (), "s")
    table = contracts.TRANSITS
    names = [rule.name for rule in table.own_rules]
    actual = [Judgement("transits", name, manifest.day, False, True, "12") for name in names]

    def known(*rules: Rule) -> list[str]:
        now = replace(table, own_rules=rules)
        monkeypatch.setattr(contracts, "table", lambda _: now)
        return [verdict.check for verdict in verdicts.read(tmp_path, manifest)]

    verdicts.record(tmp_path, manifest, actual)
    first, *others = table.own_rules
    assert known(*table.own_rules) == names
    assert known(replace(first, remedy="Look again."), *others) == names
    assert known(replace(first, minimum=-1.0), *others) == names[1:]
    assert known(*others) == names[1:]
    verdicts.record(tmp_path, manifest, [])
    assert known(*table.own_rules) == names[1:]


def test_a_verdict_that_does_not_say_what_was_asked_counts_where_it_held(tmp_path: Path) -> None:
    manifest = Manifest("page_views", dt.date(2026, 3, 1), (), 1, (), "s")
    names = contracts.PAGE_VIEWS.check_names[:2]
    fields = [
        {"check": name, "passed": passed, "blocking": True, "message": ""}
        for name, passed in zip(names, (True, False), strict=True)
    ]
    path = tmp_path / "verdicts" / "page_views" / "2026-03-01.json"
    path.parent.mkdir(parents=True)
    path.write_text(sealed({"digest": manifest.digest, "checks": fields}))
    assert [verdict.check for verdict in verdicts.read(tmp_path, manifest)] == [names[0]]


@pytest.mark.parametrize(
    "name", ["page_histories", "interest_curves", "page_labels", "prefix_trees", "section_scores"]
)
def test_a_small_site_is_not_told_that_it_has_no_reliable_page(name: str) -> None:
    drifts = [drift for drift in contracts.table(name).drifts if drift.name == "has_rows"]
    nothing = {"has_rows": 0.0}

    def is_told(*days_before: float) -> bool:
        past = {age: {"has_rows": rows} for age, rows in enumerate(days_before, 1)}
        (finding,) = evaluate_drifts(drifts, nothing, Past(past, {}))
        return finding.is_outside

    assert not is_told()
    assert not is_told(0.0)
    assert is_told(50.0)
