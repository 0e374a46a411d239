"""Counting on a Dask cluster: ``backend="dask"``. Codes go to the workers once; each step sends the selected column.

Read ``backend`` first; ``rows`` has the layout in which every worker has some rows, ``cluster`` the waiting for results.
"""
