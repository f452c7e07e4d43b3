"""What executors do with items: results and errors in their places; no Spark is needed for that."""

from __future__ import annotations

import pyarrow as pa
import pytest

from temporal_assets.engines.outcomes import result_of
from temporal_assets.engines.spark.spark_tasks import outcomes


def one_by(number: int) -> float:
    return 1 / number


def places(*found: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": pa.array(found, pa.int64())})


def test_results_keep_their_places() -> None:
    first, second = outcomes(one_by, [4, 2, 0], iter([places(2), places(1, 0)]))
    assert [first.schema.names, first["place"].to_pylist()] == [["place", "outcome"], [2]]
    assert second["place"].to_pylist() == [1, 0]
    assert [result_of(row) for row in second["outcome"].to_pylist()] == [0.5, 0.25]


def test_an_error_of_one_item_is_raised_where_its_result_is_wanted() -> None:
    (batch,) = outcomes(one_by, [0, 1], iter([places(0, 1)]))
    failed, fine = batch["outcome"].to_pylist()
    assert result_of(fine) == 1
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        result_of(failed)
