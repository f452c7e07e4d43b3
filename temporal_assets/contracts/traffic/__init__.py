"""The contract of the window table of traffic."""
