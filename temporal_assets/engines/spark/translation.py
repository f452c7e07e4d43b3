"""Translation of the `sql/` files from DuckDB's dialect to Spark's; at development time only.

    python -m temporal_assets.engines.spark.translation

writes `sql/spark/<name>.sql`, which are kept in the repository: what runs on a cluster can be read
and reviewed, and SQLGlot is not needed where it runs. A test compares them with what this would
write.

Here: the files. Not here: the translation itself (`dialect`).

Inputs become `{name}`, which Spark fills with a table, and parameters `:name`, which it binds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from temporal_assets.engines.spark.dialect import in_braces, name_inputs, understood, written
from temporal_assets.engines.sql import (
    SqlError,
    SqlFile,
    sql_file,
    sql_names,
    sql_place,
    translated_path,
)

_HEADER: Final = """\
-- {name}: translated from {place} (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: {inputs}
-- parameters: {parameters}
"""


def translate(file: SqlFile) -> str:
    """Return the text of `sql/spark/<name>.sql`."""
    what = sql_place(file.name)
    body = "\n".join(line for line in file.text.splitlines() if not line.startswith("--"))
    tree = understood(body, what)
    name_inputs(tree, file.inputs, what)
    text = written(tree, pretty=True)
    if "{" in text or "}" in text:
        raise SqlError(f"{what}: braces mean a table in Spark's text")
    header = _HEADER.format(
        name=file.name,
        place=what,
        inputs=", ".join(sorted(file.inputs)) or "none",
        parameters=", ".join(sorted(file.parameters)) or "none",
    )
    return header + in_braces(text) + "\n"


def write_all() -> list[Path]:
    """Write every translation anew, and remove those of files that are gone."""
    # All before any is written: one that cannot be translated leaves the others as they are.
    files = [file for name in sql_names() if (file := sql_file(name)).is_for_spark]
    texts = {translated_path(file.name): translate(file) for file in files}
    folder = translated_path("any").parent
    folder.mkdir(exist_ok=True)
    for path in set(folder.glob("*.sql")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


if __name__ == "__main__":
    write_all()
