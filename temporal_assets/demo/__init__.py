"""A generated demo: access logs of a modelled web, and the truth about it (docs/demo.md)."""

from temporal_assets.demo.corpus import generate
from temporal_assets.demo.options import PRESETS, DemoOptions, DemoSummary

__all__ = ["PRESETS", "DemoOptions", "DemoSummary", "generate"]
