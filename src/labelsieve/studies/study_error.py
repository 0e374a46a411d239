"""What a study raises when it cannot go on."""

from labelsieve.errors import InputError


class StudyError(InputError):
    """A study that cannot begin or go on: the message names the place and says what to do."""
