"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017): oCC, EoCC and five other methods on thirteen data sets."""

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.model_selection import GridSearchCV, ShuffleSplit

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.metrics.evaluation import get_scorer
from labelsieve.selectors import LLSF
from labelsieve.studies.protocol import ALL, Protocol
from replications.optimized_chains import setup as sun_kudo
from replications.optimized_chains.setup import SETS, SWAPPED, occ, svm
from replications.optimized_chains.shared_learning import BySize, GivenOrder, SharedDirections, TunedShare
from replications.optimized_chains.tables_sections import figures, result_tables
from replications.optimized_chains.tables_values import BETAS, ENSEMBLES, FILLED, FIXED, HELD_OUT, OWN, SHARES, TUNED
from replications.replication import DataHome, Replication, selected_sets

STEPS = 100  # of LLSF
TIES: dict[str, Literal["absent", "present"]] = {"paper": "absent", "authors-program": "present"}
QUICK_SETS = ("emotions", "scene")


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Methods without a number of features (``fixed``), with every number, and with one tuned on held-out rows (``held-out``).

    ``full`` is all thirteen sets, and one of them twice (see the assumptions); otherwise two small ones.

    >>> protocols(full=True)["tuned"]
    Protocol: 14 data sets, 1 method (own features), 5 numbers of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets((*SETS, SWAPPED), sets, (*SETS, SWAPPED) if full else QUICK_SETS)
    order = [(OWN, GivenOrder())]
    return {
        FIXED: sun_kudo.protocol(names, data_home, [ALL], fixed()),
        TUNED: sun_kudo.protocol(names, data_home, order, tuned(), n_features=SHARES),
        ENSEMBLES: sun_kudo.protocol(names, data_home, order, ensembles(), n_features=SHARES),
        FILLED: sun_kudo.protocol(names, data_home, order, filled(), n_features=SHARES),
        HELD_OUT: sun_kudo.protocol(names, data_home, [ALL], tuned_inside()),
    }


def fixed() -> list[tuple[str, Any]]:
    """Return methods with all features, and LLSF, which has another parameter."""
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
    """Return MDDM, and oCC as written and as programmed, for every number of features."""
    return [
        ("MDDM", BySize(SharedDirections(svm()))),
        ("oCC", BySize(occ())),
        ("oCC program", BySize(occ(variant="authors-program"))),
    ]


def ensembles() -> list[tuple[str, Any]]:
    """Return EoCC as written and as programmed."""
    return [
        ("EoCC", BySize(eocc(occ(order="random"), "paper"))),
        ("EoCC program", BySize(eocc(occ(order="random", variant="authors-program"), "authors-program"))),
    ]


def filled() -> list[tuple[str, Any]]:
    """Return MDDM of a program without mu."""
    return [("MDDM program", BySize(SharedDirections(svm(), directions="filled")))]


def tuned_inside() -> list[tuple[str, Any]]:
    """Return methods with the number tuned inside the training rows; EoCC is left out, as it would double the cost."""
    inside = ShuffleSplit(1, test_size=0.25, random_state=0)
    grid = {"selector__beta": list(BETAS)}
    return [
        ("MDDM", TunedShare(SharedDirections(svm()), SHARES)),
        ("LLSF", GridSearchCV(llsf_chain(BETAS[0]), grid, scoring=get_scorer("exact_match"), cv=inside)),
        ("oCC", TunedShare(occ(), SHARES)),
    ]


def llsf_chain(beta: float) -> ClassifierChain:
    """Return BR on the features that LLSF selects for every label."""
    return ClassifierChain(svm(), network="br", selector=LLSF(beta=beta, max_iter=STEPS))


def eocc(chain: object, sampling: str) -> ChainEnsemble:
    """Return ten oCC in random orders that vote."""
    return ChainEnsemble(chain, sampling=sampling, ties=TIES[sampling], random_state=0)


REPLICATION = Replication.of("optimized_chains", "occ-tables", protocols, result_tables, figures)
