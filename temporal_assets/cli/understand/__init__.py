"""Commands that show why: single pages, sites, lists, patterns and crawl orders."""
