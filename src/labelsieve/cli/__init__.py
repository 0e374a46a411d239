from labelsieve.cli.app import main

__all__ = ["main"]
