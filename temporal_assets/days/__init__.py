"""The daily tables: requests, rejects, page views and transits, each computed from the previous."""
