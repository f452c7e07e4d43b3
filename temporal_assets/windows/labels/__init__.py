"""Window tables of labels: interest curves, page labels, early labels, calibration."""
