"""Reading the bytes of log files as blocks of lines, and the containers of records."""
