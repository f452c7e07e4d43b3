"""Interest curves of pages (TW 4.1): the log-normal model, its fitter, and what a fit says."""
