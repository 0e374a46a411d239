"""The kernels of the GPU backend in numpy, on the same memory: packing, blocks and folding run without a GPU."""

from contextlib import nullcontext

import numpy as np
from threadpoolctl import ThreadpoolController

from labelsieve.counting.backends.gpu.device import WORDS, from_fragments
from labelsieve.counting.fixed_point import FixedPoint

LIBRARIES = ThreadpoolController()


class Device(nullcontext):
    """In the place of a GPU."""

    id = 0


class NumpyKernels:
    """``GpuBackend(..., kernels=NumpyKernels())``; with ``tensor`` from the layouts that the tensor cores read."""

    xp, device = np, Device()

    def __init__(self, *, tensor=False, free=2**34):
        self.has_tensor, self._free = tensor, free

    def free_bytes(self):
        return self._free

    def to_host(self, values):
        return np.array(values)

    to_buffer = to_device = to_host

    def host_array(self, shape, dtype):
        return np.full(shape, 0x5A, dtype=dtype)  # not zero: memory of the host is not

    def streamed(self, packed):
        yield from map(np.array, packed)

    def stores_narrow(self, n_rows, n_columns, n_targets):
        return self.has_tensor and n_rows < 2**16

    def best(self, scores, is_taken, chosen, value):
        penalized = np.where(is_taken, -np.inf, scores.ravel())
        chosen[0] = penalized.argmax()
        value[0] = scores.ravel()[chosen[0]]
        is_taken[chosen[0]] = True

    def recorded(self, step):
        return step

    def condition(self, features, place, levels, plain, fragments, known):
        column = int(np.ravel(place)[0]) * levels
        if features is not None:
            first = column // 64
            plain[...] = from_fragments(np, features[first : (column + levels) // 64 + 1])[column - first * 64 :][:levels]
        padded, stages, _ = fragments.shape
        out = fragments.reshape(-1)
        out[:] = 0
        for b in range(levels):
            width = min(4, padded - b // 4 * 4)
            area = out[b // 4 * 4 * stages * WORDS :][: stages * width * WORDS].reshape(stages, width, 4, 4, 2)
            area[:, b % 4] = plain[b].reshape(stages, 4, 2, 4).transpose(0, 3, 1, 2)
        if known is not None:
            margins, given = known
            n = margins.n_columns
            given[:, : n - 1] = margins.rows[: n - 1, column : column + levels].T
            given[:, n - 1] = margins.every[column : column + levels]

    def cross(self, first, second, out):
        first = np.full((1, *second.shape[1:]), 0xFFFFFFFF, dtype=np.uint32) if first is None else first
        counts = np.bitwise_count(first[:, None] & second[None]).sum(axis=(2, 3))
        out.reshape(len(first), -1)[:, : len(second)] = counts

    def count(self, bits, given, levels, group, counts):
        columns = from_fragments(np, bits)
        if self.has_tensor and group.n_columns > 1:
            masks, targets = self._from_tensor_layout(given.fragments, levels, group, bits.shape[1])
        else:
            masks, targets = [None] if given.plain is None else given.plain, group.plain
        both = np.stack([target if mask is None else target & mask for mask in masks for target in targets])
        with LIBRARIES.limit(limits=1):  # small products, in many processes at the same time
            products = _as_numbers(columns) @ _as_numbers(both).T  # exact: fewer than 2^24 rows
        counts[: len(masks), : len(targets)] = products.T.reshape(len(masks), len(targets), -1)

    def _from_tensor_layout(self, fragments, levels, group, stages):
        flat, masks = fragments.reshape(-1), []
        padded = len(flat) // (stages * WORDS)
        for b in range(levels):
            width = min(4, padded - b // 4 * 4)
            area = flat[b // 4 * 4 * stages * WORDS :][: stages * width * WORDS].reshape(stages, width, 4, 4, 2)
            masks.append(area[:, b % 4].transpose(0, 2, 3, 1).reshape(stages, WORDS))
        swizzled = group.swizzled(np).reshape(stages, 112, 8, 4)
        lines = []
        for l in range(group.n_columns):
            chunks = [swizzled[:, l, chunk ^ l % 8] for chunk in range(8)]
            lines.append(np.stack(chunks, axis=1).reshape(stages, WORDS))
        return masks, lines

    def sums(self, counted, group, table, index, out):
        d, r, q = len(index), counted.feature_levels, group.n_columns
        # n[feature, level of the feature, level of the condition, column], by subtraction
        n = np.zeros((d, r, counted.given_levels, q), dtype=np.int64)
        margins = np.concatenate([counted.margins.rows[: q - 1], counted.margins.every[None]])[:, : d * (r - 1)]
        n[:, 1:, 0] = margins.reshape(q, d, r - 1).transpose(1, 2, 0)
        for b in range(1, counted.given_levels):
            n[:, 1:, b] = counted.counts[b - 1, :q, : d * (r - 1)].reshape(q, d, r - 1).transpose(1, 2, 0)
        n[:, 0, 0] = group.totals[:q]
        if counted.given_levels > 1:
            n[:, 0, 1:] = counted.given[:, :q]
        n[:, 0] -= n[:, 1:].sum(axis=1)
        n[:, :, 0] -= n[:, :, 1:].sum(axis=2)
        if out.pairs is not None:
            out.pairs[index] += out.pair_factor * table.values[n[..., -1]].sum(axis=(1, 2))
        for target in range(group.n_targets):
            cells = n[..., group.starts[target] : group.starts[target + 1]]
            rest = n[..., -1] - cells.sum(axis=-1)
            sums = table.values[cells].sum(axis=(1, 2, 3)) + table.values[rest].sum(axis=(1, 2))
            self._add(out.triples, index, group.places[target], out.wide, out.triple_factor * sums)

    def histograms(self, x, z, y, weights, table, index, out):
        (codes, x_levels), (z_codes, z_levels) = x, (0, 1) if z is None else z
        targets = [(0, 1, 0)] if y is None else zip(*y, strict=True)
        sums, factor, wide = out
        of_rows = None if weights is None else weights.astype(np.float64)
        for y_codes, y_levels, place in targets:
            found, n_others, others = (
                np.empty(len(index), dtype=np.int64),
                z_levels * int(y_levels),
                z_codes * int(y_levels) + y_codes,
            )
            for f, column in enumerate(codes.astype(np.int64)):
                cells = np.bincount(column * n_others + others, weights=of_rows, minlength=int(x_levels[f]) * n_others)
                assert len(cells) == x_levels[f] * n_others
                counts = cells.astype(np.int64)
                found[f] = (table.values[counts] if weights is None else _weighted(table, counts)).sum()
            self._add(sums, index, place, wide, factor * found)

    def products(self, columns, vectors):
        return np.stack([columns[:, rows].astype(np.int64) @ vectors[:, rows].T.astype(np.int64) for rows in _slabs(columns)])

    def squares(self, columns, weights):
        one = columns.astype(np.int64)
        other = one if weights is None else one * weights
        pieces = [other] if weights is None else [other & 0xFFFFFF, other >> 24 & 0xFFFFFF, other >> 48]
        return np.stack(
            [np.stack([(one * piece)[:, rows].sum(axis=1) for piece in pieces], axis=1) for rows in _slabs(columns)]
        )

    def level_products(self, levels, tiles, n_columns, vectors):
        columns = np.full((n_columns, levels.shape[1]), 99)  # a column that is in no tile is wrong
        for feature, level, column, size in tiles:
            for k in range(size):
                columns[column + k] = levels[feature] == level + k
        return self.products(columns, vectors)

    def _add(self, sums, index, place, wide, values):
        if wide:
            sums[index, place] += values
        else:
            sums[index] += values


def _slabs(columns):
    """Slices of rows that a kernel adds up at a time; several of them, so that adding slabs up is tested."""
    size = 30 + columns.shape[1] // 5
    return [slice(start, start + size) for start in range(0, columns.shape[1], size)]


def _as_numbers(words):
    return np.unpackbits(words.reshape(len(words), -1).view(np.uint8), axis=1).astype(np.float32)


def _weighted(table, counts):
    bits = int(np.log2(table.scale))
    fixed = FixedPoint(0, bits, 1.0, "plugin", None)
    return fixed(counts) - np.where(counts > 0, table.penalty, 0)
