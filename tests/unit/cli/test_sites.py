"""Which site people mean by what they type or paste."""

from __future__ import annotations

import pytest

from temporal_assets.cli.shared.sites import named_site


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("https://example.com/news/1?page=2", "example.com"),
        ("http://example.com:8080", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("https://BÜCHER.example/neu", "xn--bcher-kva.example"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("https://[2001:DB8::1]:81/", "[2001:db8::1]"),
        (" //example.com/a", "example.com"),
        ("www.example.com/a://b", "www.example.com"),
        ("No host", "no host"),
        ("", ""),
    ],
)
def test_a_site_is_named_as_the_tables_call_it(text: str, site: str) -> None:
    assert named_site(text) == site
