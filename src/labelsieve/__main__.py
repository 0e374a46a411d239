"""``python -m labelsieve`` is the same as ``labelsieve``."""

from labelsieve.cli import main

if __name__ == "__main__":
    main()
