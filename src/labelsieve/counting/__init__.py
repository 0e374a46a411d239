"""Counting: codes of features and targets come in, sums over the cells of their joint tables go out.

Read ``workspace`` first: a :class:`~labelsieve.counting.workspace.Workspace` has the data of a search and the backend that
counts them. ``fixed_point`` has the arithmetic, ``backends`` everything that counts.
"""

from labelsieve.tables.codes import Codes

__all__ = ["Codes"]
