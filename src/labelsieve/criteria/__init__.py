"""Criteria score a candidate feature, given the selected ones. Most are one formula; two are settings of other gains.

A criterion is a class with a ``score``; :attr:`Criterion.plan` says what must be counted for it. Read ``criterion`` first, then
any criterion: the formula is the body of the class.
"""

from labelsieve.criteria.conditional_relevance import CFR, DCSF, JMIM, MRI, NJMIM, TCRFS, RelaxMRMR
from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.least_squares import Hybrid, LeastSquares
from labelsieve.criteria.multilabel import D2F, FIMF, LRFS, LSMFS, MDMR, MLFS, MLSMFS, PMU
from labelsieve.criteria.relevance import CMI, CMIM, DISR, ENM, JMI, MIM, CMIMPositive, JoinedMIM
from labelsieve.criteria.relevance_redundancy import (
    AMI,
    CIFE,
    ICAP,
    MIFS,
    MRMR,
    NMIFS,
    SCLS,
    BetaGamma,
    CondRed,
    StepComponents,
)

__all__ = [
    "AMI",
    "CFR",
    "CIFE",
    "CMI",
    "CMIM",
    "D2F",
    "DCSF",
    "DISR",
    "ENM",
    "FIMF",
    "ICAP",
    "JMI",
    "JMIM",
    "LRFS",
    "LSMFS",
    "MDMR",
    "MIFS",
    "MIM",
    "MLFS",
    "MLSMFS",
    "MRI",
    "MRMR",
    "NJMIM",
    "NMIFS",
    "PMU",
    "SCLS",
    "TCRFS",
    "BetaGamma",
    "CMIMPositive",
    "CondRed",
    "Criterion",
    "Hybrid",
    "JoinedMIM",
    "LeastSquares",
    "RelaxMRMR",
    "StepComponents",
]
