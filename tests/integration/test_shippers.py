"""Configurations of shippers that bring logs from Kafka, as docs/kafka.md shows them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path


def test_the_configurations_of_the_page_are_whole(repository: Path) -> None:
    """Vector's and Connect's, of docs/kafka.md: they parse, and lose and change no line."""
    page = (repository / "docs" / "kafka.md").read_text("utf-8")
    (vector,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (connect,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (sink,) = tomllib.loads(vector)["sinks"].values()
    assert sink["inputs"] == list(tomllib.loads(vector)["sources"])
    assert sink["acknowledgements"]["enabled"] is True
    assert sink["encoding"]["codec"] == "text"
    config = json.loads(connect)
    assert config["value.converter"].endswith("ByteArrayConverter")
    assert {"rotate.interval.ms", "timestamp.extractor"} <= set(config)
    assert "rotate.schedule.interval.ms" not in config
