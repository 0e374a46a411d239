"""Measurements of the counting core: ``python -m benchmarks.counting`` and ``python -m benchmarks.real``."""
