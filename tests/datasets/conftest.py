"""Property tests without a deadline: the first example imports libraries, and a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
