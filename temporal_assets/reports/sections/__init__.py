"""Sections of the evaluation report: from rows of tables to sentences, tables and charts.

One module per subject. A function takes the rows it needs and returns a `document.Section`, or one
that says why it is not available and what to do. Sentences are derived from the numbers, whichever
way they turn out. TW, NP and BB are the papers (docs/words.md). Not here: reading tables
(`windows.report.evaluation_report`), how a report looks.

Nothing here sees a URL that fewer clients opened than `privacy.min_clients`.
"""
