"""`temporal-assets doctor`: a state folder checked, cleaned up and brought up to date."""
