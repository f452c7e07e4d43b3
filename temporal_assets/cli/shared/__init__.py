"""Parts that several commands share: options, progress, tables on the terminal, exit codes."""
