from labelsieve.cli.application import Commands, app, main, plain_messages, quiet_pipes, start

__all__ = ["Commands", "app", "main", "plain_messages", "quiet_pipes", "start"]
