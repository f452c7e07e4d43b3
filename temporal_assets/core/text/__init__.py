"""Texts as flat bytes, URLs cut into fields and sections, and the shapes of their values."""
