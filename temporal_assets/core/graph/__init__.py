"""Graphs as flat arrays: links between pages, connected components, PageRank, authorities."""
