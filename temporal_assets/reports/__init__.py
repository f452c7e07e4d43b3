"""Everything that people look at: plots, tables, text made safe to show, the HTML report."""
