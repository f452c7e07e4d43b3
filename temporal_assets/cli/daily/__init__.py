"""Commands of every day: from a demo or log files to a policy that a crawler loads."""
