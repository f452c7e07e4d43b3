"""Parts of a graph that no link connects.

Two nodes are of one part where a chain of links leads from one to the other, in whatever direction.
Here: which node stands for the part of each. Not here: what the parts are asked for.
"""
