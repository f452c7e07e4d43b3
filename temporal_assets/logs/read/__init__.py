"""Bytes of log files to blocks of lines, and lines to fields of records."""
