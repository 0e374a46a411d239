"""Counting on a Dask cluster: ``backend="dask"``. Codes go to the workers once; each step sends the selected column.

Read ``backend`` first: its workers have either columns or rows. ``cluster`` has the waiting for results.
"""
