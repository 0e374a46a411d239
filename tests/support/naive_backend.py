"""A deliberately naive counting backend: one joint table at a time, cell by cell, straight from the protocol."""

import numpy as np

from labelsieve.counting.backends.protocol import Backend, Column, Feature, JointFeatures, Panel, Target
from labelsieve.counting.whole_tables import CountBlock, JointTables


class NaiveBackend(Backend):
    """Its class is a backend factory: ``Sieve(backend=NaiveBackend)``."""

    def __init__(self, X, Y, fixed, *, weights=None, row_index=None, n_jobs=None):
        rows = np.arange(X.n_rows) if row_index is None else row_index
        self.X = [X.column(j)[rows].astype(int) for j in range(X.n_columns)]
        self.Y = [Y.column(j).astype(int) for j in range(Y.n_columns)]
        self.weights = np.ones(len(rows), dtype=int) if weights is None else weights.values[rows].astype(int)
        self.unit, self.fixed = 1 if weights is None else weights.unit, fixed

    def sum_of_cells(self, *columns):
        _, cell = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        counts = np.zeros(cell.max() + 1, dtype=int)
        np.add.at(counts, cell.ravel(), self.weights)
        return int(self.fixed(counts).sum())

    def given(self, condition):
        match condition:
            case Column(codes=codes):
                return [codes.astype(int)]
            case Feature(index=index):
                return [self.X[index]]
            case Target(index=index):
                return [self.Y[index]]
            case JointFeatures(indices=indices):
                return [self.X[index] for index in indices] or [np.zeros(len(self.weights), dtype=int)]

    def singles(self):
        return tuple(np.array([self.sum_of_cells(c) for c in table], dtype=np.int64) for table in (self.X, self.Y))

    def panel(self, given, *, targets=slice(None), reduce=None):
        z = [] if given is None else self.given(given)
        pair = np.array([self.sum_of_cells(x, *z) for x in self.X], dtype=np.int64)
        sums = [[self.sum_of_cells(x, *z, y) for y in self.Y[targets]] for x in self.X]
        triple = np.array(sums, dtype=np.int64).reshape(len(self.X), -1)
        return Panel(pair, triple.sum(axis=1) if reduce else triple)

    def given_targets(self, given):
        return np.array([self.sum_of_cells(*self.given(given), y) for y in self.Y], dtype=np.int64)

    def given_single(self, given):
        return self.sum_of_cells(*self.given(given))

    def joint_counts(self, given=None, *, targets=slice(None), features=True):
        nothing = [np.zeros(len(self.weights), dtype=int)]
        z = nothing if given is None else self.given(given)
        z = np.unique(np.column_stack(z), axis=0, return_inverse=True)[1].ravel()
        for j, x in enumerate(self.X if features else nothing):
            for target, y in enumerate(nothing if targets is None else self.Y[targets]):
                codes = [np.unique(column, return_inverse=True)[1] for column in (x, y, z)]
                counts = np.zeros((1, *(code.max() + 1 for code in codes)))
                for cell, weight in zip(zip(*codes, strict=True), self.weights, strict=True):
                    counts[0][cell] += weight / self.unit
                yield CountBlock(np.array([j]), target, counts)


class RememberedBackend:
    """A backend that answers the same question once."""

    def __init__(self, backend):
        self._backend, self._answers = backend, {}

    def __getattr__(self, name):
        method = getattr(self._backend, name)
        if name == "joint_counts":  # blocks, one after the other
            return method

        def answer(*given, **options):
            keys = [(one.codes.tobytes(), one.n_levels) if isinstance(one, Column) else one for one in given]
            key = name, tuple(keys), str(options)
            if key not in self._answers:
                self._answers[key] = method(*given, **options)
            return self._answers[key]

        return answer


class WholeTables:
    """Whole tables of numpy in the place of a backend, also of weights that are no fixed-point numbers."""

    def __init__(self, X, Y, weights=None):
        self._X, self._Y, self._tables = X, Y, JointTables(X, Y, weights=weights)

    def joint_counts(self, given=None, **options):
        match given:
            case Feature(index=index):
                given = self._X.column(index)
            case Target(index=index):
                given = self._Y.column(index)
            case Column(codes=codes):
                given = codes
        return self._tables.joint_counts(given, **options)

    def shrunk_information(self, terms, given, targets):
        return None
