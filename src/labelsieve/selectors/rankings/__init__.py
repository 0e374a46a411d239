"""Selectors that score every feature once: tests, neighbors, importances of models, and ensembles of rankings."""
