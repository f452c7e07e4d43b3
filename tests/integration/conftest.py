"""What tests of whole commands have in common."""

from tests.shared import histories_are_copied

__all__ = ["histories_are_copied"]
