"""The numbers of tables 3 to 7 of Sun and Kudo (2017): means over five folds, average ranks, and Friedman's statistic."""

from labelsieve.replications.replication import printed_values

METHODS = ("BR", "ECC", "EBCC", "MDDM", "LLSF", "oCC", "EoCC")
_PRINTED = printed_values("optimized_chains")
PRINTED: dict[str, dict[str, tuple[float, ...]]] = _PRINTED["tables 3 to 6"]

# The last rows of the tables. That of EoCC by macro-F1 is printed as 3.039, which is BR's; its ranks have the mean 4.577.
RANKS: dict[str, tuple[float, ...]] = _PRINTED["average ranks"]

# Table 7, seven methods on thirteen sets; the critical value is that of F with 6 and 72 degrees of freedom at 0.05.
FRIEDMAN: dict[str, float] = _PRINTED["table 7"]
CRITICAL = 2.230
