"""A package, so that nobody else's installed ``tests`` is taken for it."""
