"""Registrable domains, offline."""

from __future__ import annotations

import pytest

from temporal_assets.logs.urls.domains import registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("news.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("a.b.example.com", "example.com"),
        ("news.harbour.example", "harbour.example"),
        ("someone.github.io", "someone.github.io"),
        ("news.xn--55qx5d.cn", "news.xn--55qx5d.cn"),  # xn--55qx5d.cn is a public suffix
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"),
        ("[::1]", "[::1]"),
        ("a..b", "a..b"),
        ("", ""),
    ],
)
def test_domains(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
