"""The choice of a method by nested cross-validation: ``sieve`` has the selector, ``folds`` evaluates its candidates."""
