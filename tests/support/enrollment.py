"""Reference implementations by the name of what they are the reference of."""


class References(dict):
    def __call__(self, name):
        """A decorator that enrolls a function as the reference of this name."""

        def enroll(function):
            self[name] = function
            return function

        return enroll
