"""Loading all settings of an installation.

Settings come, strongest first, from arguments, from environment variables
(`TEMPORAL_ASSETS_ENGINE__THREADS=2`), from `settings.toml` in the state folder, and from the
defaults. Nothing is read at import: call `load_settings`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from temporal_assets.settings.labels import Calibration, Curves, Labels, Window
from temporal_assets.settings.lists import Hubs, Patterns, Prefixes, Sites
from temporal_assets.settings.operation import Alerts, Engine, Orchestration, Retention, Spark
from temporal_assets.settings.policy import Baseline, Crawls, Evaluation
from temporal_assets.settings.reading import Cleaning, Privacy, Reading
from temporal_assets.settings.removed import instead_of
from temporal_assets.settings.section import Section
from temporal_assets.settings.sources import LogSource, full_path

_PREFIX = "TEMPORAL_ASSETS_"
_WITHIN = "__"
STATE_VARIABLE = f"{_PREFIX}STATE"
DEFAULT_STATE = Path("temporal_state")
SETTINGS_FILE = "settings.toml"


class Settings(BaseSettings):
    """All settings of one installation. `state` is the one folder everything is kept in."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter=_WITHIN,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,  # a webhook may be among them
    )

    state: Path = DEFAULT_STATE

    def make_state(self) -> None:
        """Make the state folder, where there is none: its owner's alone, whatever the umask."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(mode=0o700, exist_ok=True)

    storage: str | None = None
    """fsspec URL of the artifacts; unset: `tables` in the state folder."""

    sources: tuple[LogSource, ...] = ()
    reading: Reading = Reading()
    cleaning: Cleaning = Cleaning()
    privacy: Privacy = Privacy()
    window: Window = Window()
    curves: Curves = Curves()
    labels: Labels = Labels()
    calibration: Calibration = Calibration()
    patterns: Patterns = Patterns()
    hubs: Hubs = Hubs()
    sites: Sites = Sites()
    prefixes: Prefixes = Prefixes()
    crawls: Crawls = Crawls()
    baseline: Baseline = Baseline()
    evaluation: Evaluation = Evaluation()
    engine: Engine = Engine()
    spark: Spark = Spark()
    retention: Retention = Retention()
    alerts: Alerts = Alerts()
    orchestration: Orchestration = Orchestration()

    @field_validator("sources")
    @classmethod
    def _below_state(
        cls, value: tuple[LogSource, ...], info: ValidationInfo
    ) -> tuple[LogSource, ...]:
        """Resolve paths below the state folder, not below the working directory.

        Servers run elsewhere than people.
        """
        state: Path = info.data.get("state", DEFAULT_STATE)
        return tuple(
            source.model_copy(update={"path": full_path(source.path, state)}) for source in value
        )

    @model_validator(mode="after")
    def _window_fits(self) -> Self:
        """Raise an error if thresholds of labels do not fit into the window."""
        days, least, m = self.window.days, self.window.min_days, self.labels.m
        if least > days:
            raise ValueError(
                f"window.min_days: {least} days can never be there of window.days = {days};"
                f" write at most {days}"
            )
        if m > days:
            raise ValueError(
                f"labels.m: the first {m} days do not fit into window.days = {days};"
                f" write at most {days}"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic passes all four
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Strongest first."""
        file = settings_cls.model_config.get("toml_file")
        toml = (TomlConfigSettingsSource(settings_cls, file),) if file else ()
        return (init_settings, env_settings, *toml)


def state_folder(state: str | os.PathLike[str] | None = None) -> Path:
    """Return the state folder: the argument, else $TEMPORAL_ASSETS_STATE, else `temporal_state`."""
    return Path(state or os.environ.get(STATE_VARIABLE) or DEFAULT_STATE).absolute()


def load_settings(state: str | os.PathLike[str] | None = None, **overrides: Any) -> Settings:
    """Return settings of a state folder. Raises `SettingsError` with the place of a wrong one."""
    folder = state_folder(state)
    file = folder / SETTINGS_FILE
    _refuse_unknown_variables()

    class Loaded(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        return Loaded(state=folder, **overrides)
    except ValidationError as error:
        raise SettingsError(_errors_as_text(error, file)) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: this is no UTF-8: save it as UTF-8") from error
    except ValueError as error:  # no TOML
        raise SettingsError(f"{file}: {error}") from error


def _refuse_unknown_variables() -> None:
    """Raise an error for environment variables of an unknown section or setting.

    They would be ignored silently. Other names are left alone: not every variable of ours is a
    setting.
    """
    for name in sorted(_variables()):
        section, _, within = name.removeprefix(_PREFIX).partition(_WITHIN)
        if meant := _with_two_underscores(name):
            raise SettingsError(f"environment: {name}: two underscores stand for the dot: {meant}")
        if within and section.lower() not in Settings.model_fields:
            advice = instead_of(f"{section}.{within}".lower())
            wrong = advice or f"there is no section {section.lower()!r}"
            raise SettingsError(f"environment: {name}: {wrong}")


def _with_two_underscores(name: str) -> str | None:
    """Return the correct name of a variable with one underscore between section and setting."""
    section, _, setting = name.removeprefix(_PREFIX).partition("_")
    section_field = Settings.model_fields.get(section.lower())
    if section_field is None or not isinstance(section_field.default, Section):
        return None
    if not setting or setting.startswith("_"):
        return None
    return f"{_PREFIX}{section}{_WITHIN}{setting}"


def _variables() -> set[str]:
    """Return our environment variables; their case does not matter."""
    return {name.upper() for name in os.environ if name.upper().startswith(_PREFIX)}


_UNKNOWN = "there is no such setting (docs/settings.md lists them)"


def _errors_as_text(error: ValidationError, file: Path) -> str:
    """Return a message with every wrong field; values are repeated unless they may be secret."""
    problems_of_place: dict[str, list[str]] = {}
    for problem in error.errors():
        is_unknown = problem["type"] == "extra_forbidden"
        advice = instead_of(_dotted(problem["loc"])) if is_unknown else None
        unknown = advice or _UNKNOWN
        message = unknown if is_unknown else problem["msg"].removeprefix("Value error, ")
        wrong = _sentence(problem["loc"], message, None if is_unknown else problem["input"])
        problems_of_place.setdefault(_place(problem["loc"], file), []).append(wrong)
    return "; ".join(
        f"{place}: {'; '.join(sentences)}" for place, sentences in problems_of_place.items()
    )


def _dotted(field: tuple[int | str, ...]) -> str:
    """Return the name of a setting; the place of a source among the sources is no part of it."""
    return ".".join(part for part in field if isinstance(part, str))


def _place(field: tuple[int | str, ...], file: Path) -> str:
    """Return where a field's value is set: a variable is stronger than the file."""
    for depth in range(len(field), 0, -1):
        name = _PREFIX + _WITHIN.join(map(str, field[:depth])).upper()
        if name in _variables():
            return f"environment: {name}"
    return str(file)


def _sentence(field: tuple[int | str, ...], wrong: str, value: Any) -> str:
    """Return the message on a field. Its value is shown only if it can be no secret.

    A table may hold one under a name that is misspelt, and so may what is in the wrong place.
    """
    if not field:
        return wrong  # of several fields, which it names itself
    is_shown = (
        value is not None and field[0] not in _SECRETIVE and not isinstance(value, (dict, list))
    )
    shown_value = f" (found {value!r})" if is_shown else ""
    return f"{'.'.join(map(str, field))}: {wrong}{shown_value}"


_SECRETIVE = frozenset({"alerts", "spark", "storage"})
"""Sections with secrets: a webhook, keys of a cluster's object store, a password in an address."""


class SettingsError(ValueError):
    """Error: the settings cannot be used; the message says which and why."""
