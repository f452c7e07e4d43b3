"""Commands that adjust and operate: calibration, trials, mirror, upgrade, clean-up, checks."""
