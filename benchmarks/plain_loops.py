"""LIFT and RAkEL as short loops over scikit-learn, with the random numbers of labelsieve for the same seed."""

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC
from sklearn.utils import check_random_state


def plain_lift(X, Y, queries, ratio=0.1, seed=0):
    predicted = np.zeros((len(queries), Y.shape[1]), dtype=Y.dtype)
    seeds = check_random_state(seed).randint(np.iinfo(np.int32).max, size=Y.shape[1])
    for label, (y, start) in enumerate(zip(Y.T, seeds, strict=True)):
        n_clusters = int(np.ceil(ratio * min(y.sum(), len(y) - y.sum())))
        sides = [KMeans(n_clusters, n_init=1, random_state=int(start)).fit(X[y == side]).cluster_centers_ for side in (1, 0)]
        centers = np.vstack(sides)
        model = CalibratedClassifierCV(SVC(kernel="linear"), method="sigmoid", ensemble=False, cv=5)
        predicted[:, label] = model.fit(euclidean_distances(X, centers), y).predict(euclidean_distances(queries, centers))
    return predicted


def plain_rakel(base, X, Y, queries, k=3, seed=0):
    from labelsieve.classifiers.labelsets import random_labelsets
    from labelsieve.labelspace.base import random_generator

    n_labels = Y.shape[1]
    votes, voters = np.zeros((len(queries), n_labels)), np.zeros(n_labels)
    for labelset in random_labelsets(n_labels, k, 2 * n_labels, random_generator(seed)):
        labels = list(labelset)
        label_rows, classes = np.unique(Y[:, labels], axis=0, return_inverse=True)
        votes[:, labels] += label_rows[clone(base).fit(X, classes.ravel()).predict(queries)]
        voters[labels] += 1
    return (votes / voters > 0.5).astype(Y.dtype)
