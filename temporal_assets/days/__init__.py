"""The daily tables: requests, rejects, page views and transits, each made from the one before."""
