"""`mirror`: files that nothing can be made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.command_line import call


def test_tables_that_are_none_of_links_are_named(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    pq.write_table(pa.table({"url": ["https://a.example/"]}), tmp_path / "links.parquet")
    result = call("evaluate", "mirror", tmp_path / "links.parquet", "--state", state)
    assert result.exit_code == 1
    assert "links.parquet: a table of links has a source and a target" in result.stderr
    (tmp_path / "links.csv.gz").write_bytes(b"no archive")
    result = call("evaluate", "mirror", tmp_path / "links.csv.gz", "--state", state)
    assert result.exit_code == 1
    assert "links.csv.gz: damaged after row 0" in result.stderr
    (tmp_path / "pages.parquet").write_bytes(b"no Parquet")
    result = call("evaluate", "mirror", tmp_path / "pages.parquet", "--state", state)
    assert result.exit_code == 1
    assert "pages.parquet: " in result.stderr
    # A name that says nothing, or is of nothing, is a wrong call.
    (tmp_path / "links.txt").write_text("source,target\n")
    for name, message in (("links.txt", "a mirror is made of"), ("gone.csv", "there is no ")):
        result = call("evaluate", "mirror", tmp_path / name, "--state", state)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count(name) == 1
    result = call("evaluate", "mirror", "--demo", "--state", state)
    assert result.exit_code == 2
    assert "`temporal-assets demo` writes it" in result.stderr
