"""Log sources on the command line: their options, previews, and their place in `settings.toml`."""
