from labelsieve.discretize.equal_width import equal_width

__all__ = ["equal_width"]
