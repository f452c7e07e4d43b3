"""The explorer: sites, folders, patterns and pages of a state folder as linked web pages."""
