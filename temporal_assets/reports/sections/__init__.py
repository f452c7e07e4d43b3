"""Sections of the evaluation report: from rows of tables to sentences, tables and charts.

One module a subject. A function gets the rows it needs and returns a `document.Section`, or one
that says why it is not available and what to do. Sentences are worked out from the numbers,
whichever way they fall. Not here: reading tables (`windows.report.evaluation_report`), how a report
looks.

Nothing here sees a URL that fewer clients opened than `privacy.min_clients`.
"""
