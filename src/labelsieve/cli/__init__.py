from labelsieve.cli.application import app, main

__all__ = ["app", "main"]
