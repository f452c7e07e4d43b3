"""Fixtures of tests of whole commands."""

from tests.shared import histories_are_copied

__all__ = ["histories_are_copied"]
