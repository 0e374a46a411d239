from labelsieve.tables.codes import Codes

__all__ = ["Codes"]
