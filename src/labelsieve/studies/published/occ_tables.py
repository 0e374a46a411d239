"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017): oCC and EoCC beside five other methods on thirteen data sets."""

import os
from collections.abc import Sequence
from typing import Any

from sklearn.model_selection import GridSearchCV, ShuffleSplit

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.metrics.scorers import get_scorer
from labelsieve.selectors import LLSF
from labelsieve.studies.protocol import ALL, Protocol
from labelsieve.studies.published import sun_kudo
from labelsieve.studies.published.shared_learning import BySize, ChosenShare, GivenOrder, SharedDirections
from labelsieve.studies.published.study import chosen_sets
from labelsieve.studies.published.sun_kudo import SETS, SWAPPED, occ, svm

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the features, or of the directions of MDDM
BETAS = (0.001, 0.01, 0.1, 1.0, 10.0)  # of LLSF
STEPS = 100  # of LLSF
QUICK_SETS = ("emotions", "scene")
OWN = "own features"  # the method of classifiers that choose for every label

FIXED, TUNED, ENSEMBLES, FILLED, CHOSEN = "fixed", "tuned", "ensembles", "filled", "chosen"


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """Methods without a number of features (``fixed``), with every number, and with one that held-out rows chose (``chosen``).

    ``full`` is all thirteen sets, and one of them twice (see the choices); otherwise two small ones.

    >>> protocols(full=True)["tuned"]
    Protocol: 14 data sets, 1 method (own features), 5 numbers of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = chosen_sets((*SETS, SWAPPED), sets, (*SETS, SWAPPED) if full else QUICK_SETS)
    own = [(OWN, GivenOrder())]
    return {
        FIXED: sun_kudo.protocol(names, data_home, [ALL], fixed()),
        TUNED: sun_kudo.protocol(names, data_home, own, tuned(), n_features=SHARES),
        ENSEMBLES: sun_kudo.protocol(names, data_home, own, ensembles(), n_features=SHARES),
        FILLED: sun_kudo.protocol(names, data_home, own, filled(), n_features=SHARES),
        CHOSEN: sun_kudo.protocol(names, data_home, [ALL], chosen()),
    }


def fixed() -> list[tuple[str, Any]]:
    """Methods that see all features, and LLSF, which has another parameter."""
    llsf = [(f"LLSF {beta:g}", llsf_chain(beta)) for beta in BETAS]
    ensembles = [
        (f"{name}{suffix}", ChainEnsemble(chain, svm(), sampling=sampling, random_state=0))
        for name, chain in (("ECC", "cc"), ("EBCC", "bcc"))
        for suffix, sampling in (("", "paper"), (" program", "authors-program"))
    ]
    return [
        ("BR", ClassifierChain(svm(), network="br")),
        ("CC", ClassifierChain(svm(), network="cc", random_state=0)),
        *ensembles,
        *llsf,
    ]


def tuned() -> list[tuple[str, Any]]:
    """MDDM, and oCC as written and as programmed, for every number of features."""
    return [
        ("MDDM", BySize(SharedDirections(svm()))),
        ("oCC", BySize(occ())),
        ("oCC program", BySize(occ(variant="authors-program"))),
    ]


def ensembles() -> list[tuple[str, Any]]:
    """EoCC as written and as programmed."""
    return [
        ("EoCC", BySize(eocc(occ(order="random"), "paper"))),
        ("EoCC program", BySize(eocc(occ(order="random", variant="authors-program"), "authors-program"))),
    ]


def filled() -> list[tuple[str, Any]]:
    """MDDM as a program has it that knows no mu."""
    return [("MDDM program", BySize(SharedDirections(svm(), directions="filled")))]


def chosen() -> list[tuple[str, Any]]:
    """The same with the number chosen inside the training rows; not for EoCC, which would cost twice as much again."""
    inside = ShuffleSplit(1, test_size=0.25, random_state=0)
    grid = {"selector__beta": list(BETAS)}
    return [
        ("MDDM", ChosenShare(SharedDirections(svm()), SHARES)),
        ("LLSF", GridSearchCV(llsf_chain(BETAS[0]), grid, scoring=get_scorer("exact_match"), cv=inside)),
        ("oCC", ChosenShare(occ(), SHARES)),
    ]


def llsf_chain(beta: float) -> ClassifierChain:
    """BR on the features that LLSF finds for every label."""
    return ClassifierChain(svm(), network="br", selector=LLSF(beta=beta, max_iter=STEPS))


def eocc(chain: Any, sampling: str) -> ChainEnsemble:
    """Ten oCC in random orders that vote."""
    return ChainEnsemble(chain, sampling=sampling, random_state=0)
