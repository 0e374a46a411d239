"""Benchmarks: ``python -m benchmarks.counting`` and others; see README.md."""
