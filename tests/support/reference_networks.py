"""Reference implementations of orders and parents: the equations of Sun and Kudo (2017) as plain loops over columns."""

from itertools import combinations

from tests.support.reference_criteria import H, cmi, mi

NEAR = 1e-9  # references add doubles: smaller differences are ties


def best(scores, candidates):
    """The candidate with the largest score, and whether another one is near."""
    top = max(scores[c] for c in candidates)
    near = [c for c in candidates if scores[c] >= top - NEAR]
    return near[0], len(near) > 1


def varies(column):
    return H(column) > NEAR


def chain_order(features, labels, *, second_term=True):
    """Algorithm 2 with eq. 47; labels that do not vary come last. Also whether there was a tie."""
    open_ = [a for a in range(len(labels)) if varies(labels[a])]
    last = [a for a in range(len(labels)) if not varies(labels[a])]
    if not open_:
        return last, False
    root = {a: sum(cmi(labels[a], labels[b], x) for b in open_ if b != a for x in features) for a in open_}
    first, tie = best(root, open_)
    order = [first]
    while len(order) < len(open_):
        left = [a for a in open_ if a not in order]
        scores = {}
        for a in left:
            scores[a] = 0.0
            for k, newer in enumerate(order):
                scores[a] += sum(cmi(labels[a], labels[newer], x) for x in features) / len(features)
                if second_term and k:
                    scores[a] += sum(cmi(labels[newer], labels[older], labels[a]) for older in order[:k]) / k
        label, unclear = best(scores, left)
        tie = tie or unclear
        order.append(label)
    return order + last, tie


def kcc_score(labels, child, candidate, selected):
    """Eq. 33."""
    score = mi(labels[candidate], labels[child])
    return score + (
        sum(cmi(labels[child], labels[p], labels[candidate]) for p in selected) / len(selected) if selected else 0.0
    )


def tree_weight(labels, edges):
    return sum(mi(labels[a], labels[b]) for a, b in edges)


def best_tree_weight(labels):
    """Kruskal, over the labels that vary."""
    group = {a: {a} for a in range(len(labels)) if varies(labels[a])}
    pairs = sorted(combinations(group, 2), key=lambda pair: -mi(labels[pair[0]], labels[pair[1]]))
    total = 0.0
    for a, b in pairs:
        if group[a] is not group[b]:
            total += mi(labels[a], labels[b])
            together = group[a] | group[b]
            for one in together:
                group[one] = together
    return total
