"""Synthetic workloads, for which the speed goals of the project are stated.

Each has the shape of a well-known data set or of a hard case (very tall, very wide, many classes). The values
are random, but a latent factor per row runs through all columns, so that features and targets depend on each
other and a greedy selection has something to find.
"""

from dataclasses import dataclass

import numpy as np

# How far a column may lean on the latent factor: 0 is pure noise, 1 nothing but the factor.
FEATURE_LEANING = 0.5
LABEL_LEANING = 0.8

# Densities of binary features scatter around their typical value, as word frequencies do.
DENSITY_SCATTER = 0.6
DENSEST = 0.5


@dataclass(frozen=True)
class Workload:
    """Shape and density of one problem: what decides how long counting takes."""

    name: str
    likeness: str
    rows: int
    features: int
    targets: int
    levels: int
    steps: int
    feature_density: float = 0.0
    label_density: tuple[float, float] = (0.0, 0.0)
    classes: int = 2
    prototype_number: int | None = None

    @property
    def title(self):
        return f"{self.name} {self.likeness}"

    @property
    def packed_bytes(self):
        """One-hot bits of the features, a level of each left out: the smallest sensible dense form."""
        return self.rows * self.features * (self.levels - 1) // 8

    @property
    def input_bytes(self):
        return self.rows * (self.features + self.targets)

    @property
    def memory_bound(self):
        """What packing and counting may take beyond the input that the caller already holds."""
        return 2 * self.packed_bytes + self.input_bytes


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("w1", "yeast-like", 2417, 103, 14, 5, 50, 0, (0.02, 0.3), prototype_number=1),
        Workload("w2", "enron-like", 1702, 1001, 53, 2, 50, 0.08, (0.005, 0.3), prototype_number=2),
        Workload("w3", "bibtex-like", 7395, 1836, 159, 2, 50, 0.035, (0.008, 0.05), prototype_number=3),
        Workload("w4", "delicious-like", 16105, 500, 983, 2, 50, 0.03, (0.003, 0.15), prototype_number=4),
        Workload("w5", "tall", 100_000, 1000, 20, 5, 10, 0, (0.02, 0.3), prototype_number=5),
        Workload("w6", "Yahoo-like", 8000, 30_000, 30, 2, 50, 0.004, (0.01, 0.2), prototype_number=6),
        Workload("w7", "16 classes", 2400, 300, 1, 5, 50, classes=16),
        Workload("w8", "200 classes", 2400, 300, 1, 5, 50, classes=200),
    )
}


def generate(workload, seed=1):
    """Codes ``x`` (rows, features) and ``y`` (rows, targets), uint8 and column-major.

    Columns are filled one by one through two small buffers: quick, because they stay in cache, and without a
    memory peak that would spoil a later measurement.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    latent = rng.random(workload.rows, dtype=np.float32)
    x = np.empty((workload.rows, workload.features), dtype=np.uint8, order="F")
    y = np.empty((workload.rows, workload.targets), dtype=np.uint8, order="F")

    leanings = rng.uniform(0, FEATURE_LEANING, workload.features)
    if workload.levels == 2:
        scatter = rng.lognormal(0, DENSITY_SCATTER, workload.features)
        fill_binary(x, latent, leanings, np.minimum(workload.feature_density * scatter, DENSEST), rng)
    else:
        fill_levels(x, latent, leanings, workload.levels, rng)

    if workload.classes == 2:
        low, high = np.log(workload.label_density)
        densities = np.exp(rng.uniform(low, high, workload.targets))
        fill_binary(y, latent, rng.uniform(0, LABEL_LEANING, workload.targets), densities, rng)
    else:
        fill_classes(y, latent, workload.classes, rng)
    return x, y


def fill_binary(codes, latent, leanings, densities, rng):
    """Ones with probability ``density``, tilted along the latent factor without changing the mean."""
    noise, threshold = np.empty_like(latent), np.empty_like(latent)
    for k, (leaning, density) in enumerate(zip(leanings, densities, strict=True)):
        rng.random(dtype=np.float32, out=noise)
        np.multiply(latent, np.float32(2 * leaning * density), out=threshold)
        threshold += np.float32(density * (1 - leaning))
        np.less(noise, threshold, out=codes[:, k].view(np.bool_))


def fill_levels(codes, latent, leanings, levels, rng):
    """Equal-width bins of a mixture of latent factor and noise."""
    noise, shared = np.empty_like(latent), np.empty_like(latent)
    for k, leaning in enumerate(leanings):
        rng.random(dtype=np.float32, out=noise)
        np.multiply(latent, np.float32(leaning * levels), out=shared)
        noise *= np.float32((1 - leaning) * levels)
        noise += shared
        codes[:, k] = noise
        np.minimum(codes[:, k], levels - 1, out=codes[:, k])  # rounding may reach the upper end


def fill_classes(codes, latent, classes, rng):
    """Classes of very different size, the low ones frequent."""
    for target in range(codes.shape[1]):
        skewed = rng.beta(0.5, 1.0, latent.size)
        codes[:, target] = np.minimum((0.7 * skewed + 0.3 * latent) * classes, classes - 1)
