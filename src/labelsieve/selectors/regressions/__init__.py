"""Selectors that fit a linear model of all targets; ``base`` reads the numbers and solves the linear systems."""
