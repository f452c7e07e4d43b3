"""A policy, and what is exported of it."""

from __future__ import annotations

import pytest

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from tests.policies import document


@pytest.fixture(scope="session", params=[False, True], ids=["folders", "a whole site"])
def doc(request: pytest.FixtureRequest) -> Document:
    """News prefixes that are folders; and one that is a site, in which patterns overrule it."""
    return document(whole=request.param)


@pytest.fixture(scope="session")
def policy(doc: Document) -> Policy:
    return Policy(doc)
