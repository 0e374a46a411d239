"""scikit-learn's ``mutual_info_score``, one call per table: what is at hand without a library like ours."""

from benchmarks.clock import Stopwatch
from benchmarks.extrapolate import Estimate

CALLS = 20


def pairwise_scores_time(workload, x, y):
    """Always extrapolated: steps x candidates x targets calls, each on the joint code of two features."""
    from sklearn.metrics import mutual_info_score

    given = x[:, 0]
    mutual_info_score(y[:, 0], given)  # the first call pays for set-up
    watch = Stopwatch()
    for call in range(CALLS):
        joint = x[:, call % workload.features] * workload.levels + given
        mutual_info_score(y[:, call % workload.targets], joint)
    each = watch.lap().cpu / CALLS
    return Estimate(each * workload.steps * workload.features * workload.targets, extrapolated=True)
