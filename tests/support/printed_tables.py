"""Tables 3 to 6 of the paper on optimized classifier chains, as printed: means over five folds, higher is better."""

from replications.replication import printed_values

METHODS = ("BR", "ECC", "EBCC", "MDDM", "LLSF", "oCC", "EoCC")
_WORDS = {"exact_match": "exact match", "hamming_score": "Hamming score", "macro_f1": "macro-F1", "micro_f1": "micro-F1"}
_PRINTED = printed_values("optimized_chains")["tables 3 to 6"]
TABLES = {words: list(map(list, _PRINTED[measure].values())) for measure, words in _WORDS.items()}
