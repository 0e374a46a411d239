"""Reference implementations of the measures: sets, loops and the definitions."""

from math import exp, log, log2, sqrt


def labels_of(row):
    return {label for label, value in enumerate(row) if value}


def weighted_mean(values, weights):
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def over_rows(Y, P, weights, of_row):
    return weighted_mean([of_row(labels_of(y), labels_of(p)) for y, p in zip(Y, P, strict=True)], weights)


def hamming_loss(Y, P, weights):
    return over_rows(Y, P, weights, lambda y, p: len(y ^ p) / len(Y[0]))


def hamming_score(Y, P, weights):
    return 1 - hamming_loss(Y, P, weights)


def subset_loss(Y, P, weights):
    return over_rows(Y, P, weights, lambda y, p: y != p)


def exact_match(Y, P, weights):
    return over_rows(Y, P, weights, lambda y, p: y == p)


def example_accuracy(Y, P, weights, zero_division=1.0):
    return over_rows(Y, P, weights, lambda y, p: len(y & p) / len(y | p) if y | p else zero_division)


def example_f1(Y, P, weights, zero_division=1.0):
    return over_rows(Y, P, weights, lambda y, p: 2 * len(y & p) / (len(y) + len(p)) if y or p else zero_division)


def f1(cells, zero_division):
    hits = sum(w for y, p, w in cells if y and p)
    sizes = sum(w * (bool(y) + bool(p)) for y, p, w in cells)
    return 2 * hits / sizes if sizes else zero_division


def cells_of(Y, P, weights, label):
    return [(y[label], p[label], w) for y, p, w in zip(Y, P, weights, strict=True)]


def macro_f1(Y, P, weights, zero_division=0.0):
    q = len(Y[0])
    return sum(f1(cells_of(Y, P, weights, label), zero_division) for label in range(q)) / q


def micro_f1(Y, P, weights, zero_division=0.0):
    return f1([cell for label in range(len(Y[0])) for cell in cells_of(Y, P, weights, label)], zero_division)


def ranked_above(other, label, scores, ties):
    """The fraction of ``other`` that is ranked above ``label``."""
    if scores[other] != scores[label]:
        return float(scores[other] > scores[label])
    return {"worst": 1.0, "best": 0.0, "half": 0.5, "earlier": float(other < label), "later": float(other > label)}[ties]


def over_ranked_rows(Y, S, weights, rows, empty, of_row):
    kept = [i for i, y in enumerate(Y) if weights[i] and (rows == "all" or 0 < sum(y) < len(y))]
    if not kept:
        return empty
    return weighted_mean([of_row(labels_of(Y[i]), S[i]) for i in kept], [weights[i] for i in kept])


def ranking_loss(Y, S, weights, ties="worst", rows="informative"):
    def of_row(true, scores):
        pairs = [(k, l) for k in true for l in range(len(scores)) if l not in true]
        return sum(ranked_above(l, k, scores, ties) for k, l in pairs) / len(pairs) if pairs else 0.0

    return over_ranked_rows(Y, S, weights, rows, 0.0, of_row)


def one_error(Y, S, weights, ties="worst", rows="all"):
    def of_row(true, scores):
        top = [label for label, score in enumerate(scores) if score == max(scores)]
        wrong = [label not in true for label in top]
        return {
            "worst": float(any(wrong)),
            "best": float(all(wrong)),
            "half": sum(wrong) / len(wrong),
            "earlier": float(wrong[0]),
            "later": float(wrong[-1]),
        }[ties]

    return over_ranked_rows(Y, S, weights, rows, 0.0, of_row)


def rank(label, scores, ties):
    return 1 + sum(ranked_above(other, label, scores, ties) for other in range(len(scores)) if other != label)


def coverage(Y, S, weights, ties="worst", rows="all", count_from=0, normalize=None):
    def of_row(true, scores):
        return max(rank(label, scores, ties) for label in true) - 1 + count_from if true else 0.0

    q = len(Y[0])
    return over_ranked_rows(Y, S, weights, rows, 0.0, of_row) / {None: 1, "q": q, "q-1": max(q - 1, 1)}[normalize]


def average_precision(Y, S, weights, ties="worst", rows="all"):
    def of_row(true, scores):
        if not true or len(true) == len(scores):
            return 1.0
        ranks = {label: rank(label, scores, ties) for label in true}
        return sum(sum(other <= of_label for other in ranks.values()) / of_label for of_label in ranks.values()) / len(true)

    return over_ranked_rows(Y, S, weights, rows, 1.0, of_row)


def gains_at_k(y, scores, label_weights, k, discounted):
    """Gains of the k best-ranked labels, and of the best prediction; ties are broken in the worst way."""
    order = sorted(range(len(y)), key=lambda label: (-scores[label], y[label], label_weights[label]))
    best = sorted(labels_of(y), key=lambda label: -label_weights[label])

    def gain(ranked):
        return sum(y[l] * label_weights[l] / (log2(r + 1) if discounted else 1) for r, l in enumerate(ranked[:k], 1))

    return gain(order), gain(best)


def fraction_of_best(pairs, weights):
    best = sum(w * b for (_, b), w in zip(pairs, weights, strict=True))
    return sum(w * g for (g, _), w in zip(pairs, weights, strict=True)) / best if best else 1.0


def precision_at_k(Y, S, weights, k=5, normalize=False):
    pairs = [gains_at_k(y, s, [1] * len(y), k, False) for y, s in zip(Y, S, strict=True)]
    return fraction_of_best(pairs, weights) if normalize else weighted_mean([gain / k for gain, _ in pairs], weights)


def ndcg_at_k(Y, S, weights, k=5, zero_division=1.0):
    pairs = [gains_at_k(y, s, [1] * len(y), k, True) for y, s in zip(Y, S, strict=True)]
    return weighted_mean([gain / best if best else zero_division for gain, best in pairs], weights)


def psp_at_k(Y, S, inverse_propensity, weights, k=5, normalize=True):
    pairs = [gains_at_k(y, s, inverse_propensity, k, False) for y, s in zip(Y, S, strict=True)]
    return fraction_of_best(pairs, weights) if normalize else weighted_mean([gain / k for gain, _ in pairs], weights)


def psndcg_at_k(Y, S, inverse_propensity, weights, k=5, normalize=True):
    pairs = [gains_at_k(y, s, inverse_propensity, k, True) for y, s in zip(Y, S, strict=True)]
    largest = sum(1 / log2(rank + 1) for rank in range(1, k + 1))
    return fraction_of_best(pairs, weights) if normalize else weighted_mean([gain / largest for gain, _ in pairs], weights)


def inverse_propensities(Y, A, B):
    """1 / p of every label as it is written in the paper, with exp and log."""
    C = (log(len(Y)) - 1) * (B + 1) ** A
    return [1 + C * exp(-A * log(sum(column) + B)) for column in zip(*Y, strict=True)]


def rrmse(Y, P, weights):
    total = 0.0
    for y, p in zip(zip(*Y, strict=True), zip(*P, strict=True), strict=True):
        mean = weighted_mean(y, weights)
        error = weighted_mean([(a - b) ** 2 for a, b in zip(y, p, strict=True)], weights)
        spread = weighted_mean([(a - mean) ** 2 for a in y], weights)
        constant = len({value for value, weight in zip(y, weights, strict=True) if weight}) == 1
        total += float(error > 0) if constant else sqrt(error / spread)
    return total / len(Y[0])
