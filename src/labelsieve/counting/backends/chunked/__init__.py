"""Counting tables that do not fit into memory: ``backend="chunked"``. Chunks of rows come in, sums go out.

Read ``backend`` first; ``packed_rows`` packs the features, ``codes_file`` keeps the codes of a table in files.
"""
