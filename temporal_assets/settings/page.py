"""The settings as two pages of documentation, written from the code.

docs/settings.md has the settings that people need (`everyday`), docs/settings-expert.md all others.
What a setting means is the text below its field; Python keeps no such text, so that it is read
from the source. Here: the pages. Not here: any setting.
"""

from __future__ import annotations

import ast
import datetime as dt
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from temporal_assets.settings.everyday import EVERYDAY
from temporal_assets.settings.loading import Settings
from temporal_assets.settings.sources import LogSource

COMMAND: Final = "python -m temporal_assets.settings.page"

_INTRODUCTION: Final = """\
# Settings

The settings that people need, with their defaults. All others are in
[settings-expert.md](settings-expert.md): leave them alone until another page sends you there.

Settings are read from `settings.toml` in the state folder, which `temporal-assets ingest` writes;
an environment variable is stronger (`TEMPORAL_ASSETS_ENGINE__THREADS=2`: two underscores stand for
the dot). A wrong value is an error that names the file and the field.

```toml
[[sources]]
path = "/var/log/nginx/access.log*"
host = "www.example.com"

[cleaning]
bots = "keep"

[engine]
memory_limit = "4GB"
```

The state folder itself is named by `--state` or `TEMPORAL_ASSETS_STATE`. After a change of
settings the next `temporal-assets materialize` reads log files again, or makes days again, where
that is necessary. `temporal-assets try NAME=VALUE` shows first what a threshold would change.
"""

_EXPERT_INTRODUCTION: Final = """\
# Settings for experts

All settings that [settings.md](settings.md) does not list: thresholds of the papers, bounds on
memory and time, and choices between methods. TW, NP and BB are the papers
([words.md](words.md#the-papers)). Both pages are written by
`python -m temporal_assets.settings.page` from `temporal_assets/settings/`.
"""

_WORDS: Final[Mapping[Any, str]] = {
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "text, secret",
    dt.date: "date",
}

_SIGNS: Final = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
"""Signs for attributes of pydantic's constraints."""

_PAGE: Final = re.compile(r"\bdocs/([a-z-]+\.md)\b")
"""Expression for the name of a page of documentation in a docstring."""


def page() -> str:
    """Return the text of docs/settings.md."""
    return "\n".join([_INTRODUCTION, *_sections(lambda name: name in EVERYDAY)])


def expert_page() -> str:
    """Return the text of docs/settings-expert.md."""
    return "\n".join([_EXPERT_INTRODUCTION, *_sections(lambda name: name not in EVERYDAY)])


def default_of(name: str) -> str:
    """Return the default of a setting as written in TOML, by its dotted name."""
    section, _, field = name.partition(".")
    model = type(Settings.model_fields[section].default)
    return _as_toml(model.model_fields[field].get_default(call_default_factory=True))


def meanings(models: ModuleType) -> dict[str, dict[str, str]]:
    """Return the text below each field of a module's models, by class and field."""
    tree = ast.parse(inspect.getsource(models))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {model_class.name: dict(_texts(model_class.body)) for model_class in classes}


def _texts(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the name of each field with the text below it."""
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            yield field.target.id, inspect.cleandoc(str(below.value.value))


def _sections(is_shown: Callable[[str], bool]) -> Iterator[str]:
    """Yield the sections that have a setting to show, each with its table."""
    top = {
        name: field
        for name, field in Settings.model_fields.items()
        if name not in ("state", "sources") and not isinstance(field.default, BaseModel)
    }
    sections: list[tuple[str, type[BaseModel], Mapping[str, FieldInfo]]] = [
        ("", Settings, top),
        ("sources", LogSource, LogSource.model_fields),
    ]
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, BaseModel):
            model = type(field.default)
            sections.append((name, model, model.model_fields))
    for name, model, fields in sections:
        dotted = {f"{name}.{field}" if name else field: field for field in fields}
        if shown := {field: fields[field] for key, field in dotted.items() if is_shown(key)}:
            field_texts = meanings(sys.modules[model.__module__])[model.__name__]
            yield _section(name, model, shown, field_texts)


def _section(
    name: str,
    model: type[BaseModel],
    fields: Mapping[str, FieldInfo],
    field_texts: Mapping[str, str],
) -> str:
    """Return a section of the settings as Markdown."""
    title = f"[{name}]" if name else "At the top of the file"
    title = f"[{title}]" if model is LogSource else title
    introduction = [_linked(inspect.cleandoc(model.__doc__ or "")), ""] if name else []
    rows = [
        (
            f"`{name}.{field}`" if name else f"`{field}`",
            _default(info),
            _values(info),
            _cell(field_texts[field]),
        )
        for field, info in fields.items()
    ]
    lines = [("setting", "default", "values", "meaning"), ("---",) * 4, *rows]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([f"## {title}", "", *introduction, *table, ""])


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    return f"`{_as_toml(info.get_default(call_default_factory=True))}`"


def _as_toml(value: Any) -> str:
    """Return a default as written in `settings.toml`."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _values(info: FieldInfo) -> str:
    limits = [
        f"{sign} {getattr(limit, name):g}"
        for limit in info.metadata
        for name, sign in _SIGNS
        if getattr(limit, name, None) is not None
    ]
    return ", ".join([_kind(info.annotation), *limits])


def _kind(annotation: Any) -> str:
    """Return a type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(_kind(argument) for argument in arguments if argument is not NoneType)
    if origin is Literal:
        return " or ".join(f"`{_as_toml(argument)}`" for argument in arguments)
    if origin is dict:
        return "table of texts"
    if origin is not tuple:
        return _WORDS[annotation]
    if arguments[-1] is Ellipsis:
        return f"list: {_kind(arguments[0])}"
    return f"{len(arguments)} times {_kind(arguments[0])}"


def _cell(text: str) -> str:
    return _linked(" ".join(text.split())).replace("|", "\\|")


def _linked(text: str) -> str:
    return _PAGE.sub(r"[\1](\1)", text)


if __name__ == "__main__":
    for name, text in (("settings.md", page()), ("settings-expert.md", expert_page())):
        Path("docs", name).write_text(text, encoding="utf-8")
