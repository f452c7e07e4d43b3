"""The mirror: pages, links and traffic of sites as compact arrays, from WARC, WAT or tables."""
