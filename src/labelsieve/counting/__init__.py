from labelsieve.counting.codes import Codes

__all__ = ["Codes"]
