"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017): oCC and EoCC beside five other methods on thirteen data sets."""

import os
from collections.abc import Sequence
from typing import Any, Literal

from sklearn.model_selection import GridSearchCV, ShuffleSplit

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.metrics.scorers import get_scorer
from labelsieve.replications.optimized_chains import setup as sun_kudo
from labelsieve.replications.optimized_chains.setup import PAPER, SETS, SWAPPED, occ, svm
from labelsieve.replications.optimized_chains.shared_learning import BySize, ChosenShare, GivenOrder, SharedDirections
from labelsieve.replications.optimized_chains.tables_sections import figures, sections
from labelsieve.replications.optimized_chains.tables_values import BETAS, CHOSEN, ENSEMBLES, FILLED, FIXED, OWN, SHARES, TUNED
from labelsieve.replications.replication import Replication, selected_sets
from labelsieve.selectors import LLSF
from labelsieve.studies.protocol.protocol import ALL, Protocol

TITLE = "Sun and Kudo 2017, tables 3 to 7 and figure 8: oCC and EoCC beside BR, ECC, EBCC, MDDM and LLSF"
STEPS = 100  # of LLSF
TIES: dict[str, Literal["absent", "present"]] = {"paper": "absent", "authors-program": "present"}
QUICK_SETS = ("emotions", "scene")
CHOICES = {
    **sun_kudo.CHOICES,
    "readings": "As written: ensembles learn from 75 % of the rows and 50 % of the features, oCC is that of the paper, MDDM "
    "has mu = 0.5 and at most as many directions as labels. As programmed: 50 % of the rows and 75 % of the features, oCC as "
    "the authors' program has it (100 candidates, other levels); and what fits the printed numbers, whether a program does it "
    "or not: a tie of votes is a prediction, MDDM has no mu and is filled up with directions that tell nothing.",
    "number of features": "The paper does not say on which rows M was tuned. Its numbers are beside our best on the test "
    "folds; every M, the choice by the other folds and that by rows held out of the training rows are in tables of their own. "
    "Members of EoCC choose this share of the features that they see.",
    "LLSF": f"{STEPS} steps: where features depend on each other its objective has no minimum, and the number of steps is "
    "a part of the method.",
    "languagelog": "The printed Hamming scores, near 0.8, cannot come from 1.18 labels out of 75. They fit when the last 75 "
    "words are taken for the labels and the labels for features, as happens when a file with its labels first is read as one "
    "with its labels last: languagelog-swapped is that, and stands for languagelog in ranks. The other is the file as it is.",
    "ties": "Ten chains often tie, and the paper leaves open what is predicted then. As written, a label needs more than half "
    "of the votes, which is a majority. As programmed half of them are enough: of the 64 numbers of ECC and EBCC on the eight "
    "smallest sets 53 come near to those printed then, and 41 with more than half.",
}


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """Methods without a number of features (``fixed``), with every number, and with one that held-out rows chose (``chosen``).

    ``full`` is all thirteen sets, and one of them twice (see the choices); otherwise two small ones.

    >>> protocols(full=True)["tuned"]
    Protocol: 14 data sets, 1 method (own features), 5 numbers of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets((*SETS, SWAPPED), sets, (*SETS, SWAPPED) if full else QUICK_SETS)
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
        (f"{name}{suffix}", ChainEnsemble(chain, svm(), sampling=sampling, ties=TIES[sampling], random_state=0))
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
    return ChainEnsemble(chain, sampling=sampling, ties=TIES[sampling], random_state=0)


STUDY = Replication("occ-tables", TITLE, PAPER, CHOICES, protocols, sections, figures)
