"""What labelsieve raises when it refuses."""


class InputError(ValueError):
    """Data that cannot be used: the message names the place and says what to do."""
