"""Operations on a state folder: building days, retention, upgrades, trials, the catalogue."""
