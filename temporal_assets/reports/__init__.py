"""Output for people: plots, tables, text made safe to show, the HTML report."""
