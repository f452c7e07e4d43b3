"""From the bytes of log files to blocks of lines, and the containers of records."""
