"""Readers of file formats: the content of a file comes in, a :class:`~.columns.Table` of columns goes out.

Start reading in ``load``, which recognizes the format and separates features from labels; a module for each format parses it,
``columns`` has the rule for text, ``labels`` that for labels, and ``files`` opens files and watches over memory.
"""
