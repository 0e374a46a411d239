"""Searches for very many labels, from lists of rows instead of tables.

``listed`` scores sparse features and labels from the rows that list them, ``non_empty`` searches with it, ``bounds`` says which
features it may leave out. ``lazy_gain`` is for data whose accumulators do not fit into memory.
"""
