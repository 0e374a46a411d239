"""The command line of labelsieve: options come in, the library is called, and tables, JSON or CSV go out.

Each verb has a module of its name, and ``options.py`` has what they share. Start reading in ``application.py``.
"""

from labelsieve.cli.application import Commands, app, main, plain_messages, quiet_pipes, start

__all__ = ["Commands", "app", "main", "plain_messages", "quiet_pipes", "start"]
