"""The greedy loop of JMI, shared by everything that is compared.

Only counting differs between our core, the C loop and numpy; the loop around it is the same for all, so a
difference in time is a difference in counting.
"""

import numpy as np

# Sinks a selected feature for good; gains are shifted to be non-negative, so it can never come up again.
TAKEN = -(2**62)


def greedy_jmi(relevance, gains, steps):
    """Indices of the ``steps`` features that joint mutual information selects, best first.

    ``relevance`` ranks the first step; ``gains(j)`` holds, for every candidate, what the newest feature ``j``
    adds to its accumulator. Both are exact integers, known up to a constant. Ties go to the lowest index.

    The gains of the last step are asked for too, though nothing reads them: ``steps`` panels are what the
    prototype counts.
    """
    accumulator = np.zeros(relevance.size, dtype=np.int64)
    newest = int(relevance.argmax())
    selected = []
    for _ in range(steps):
        selected.append(newest)
        accumulator[newest] = TAKEN
        gain = gains(newest)
        # A constant shift changes no comparison and keeps long accumulators far from overflow.
        accumulator += gain - gain.min()
        newest = int(accumulator.argmax())
    return selected
