"""Replications of published experiments: ``python -m replications`` in the root of a checkout.

A replication turns the settings of a paper into protocols that ``labelsieve.studies`` runs, and compares the results with the
numbers and the claims that the paper prints. Start reading in :mod:`replications.replication`; each paper has a folder, with
its citation and assumptions in ``paper.toml`` and its numbers in ``printed.json``. ``mulan`` reproduces the conventions of
Mulan and Weka, which some papers depend on.
"""

from replications.composite_likelihood import figures3to5
from replications.group_jmi import figure4, figures1and2, table2
from replications.mlinfogain import table3, table4, tables1and2
from replications.mlqpfs import tables2to7
from replications.optimized_chains import figure3_kcc, figure4_mlfs, figure5, figure6, figure7, tables3to7
from replications.replication import Claim, Replication, ResultTable

_MODULES = (
    *(figures3to5, tables2to7, tables1and2, table3, table4),
    *(figure3_kcc, figure4_mlfs, figure5, figure6, figure7, tables3to7),
    *(figures1and2, table2, figure4),
)
#: Replications by name.
REPLICATIONS: dict[str, Replication] = {module.REPLICATION.name: module.REPLICATION for module in _MODULES}

__all__ = ["REPLICATIONS", "Claim", "Replication", "ResultTable"]
