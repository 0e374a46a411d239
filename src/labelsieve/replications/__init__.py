from labelsieve.replications.claims import Claim, ResultTable
from labelsieve.replications.composite_likelihood import figures3to5 as composite_likelihood
from labelsieve.replications.group_jmi import figure4 as group_jmi_regression
from labelsieve.replications.group_jmi import figures1and2 as group_jmi_parameters
from labelsieve.replications.group_jmi import table2 as group_jmi_table2
from labelsieve.replications.mlinfogain import table3 as infogain_table3
from labelsieve.replications.mlinfogain import table4 as infogain_table4
from labelsieve.replications.mlinfogain import tables1and2 as infogain_tables12
from labelsieve.replications.mlqpfs import tables2to7 as mlqpfs_tables
from labelsieve.replications.optimized_chains import figure3_kcc as kcc_figure3
from labelsieve.replications.optimized_chains import figure4_mlfs as mlfs_figure4
from labelsieve.replications.optimized_chains import figure5 as occ_figure5
from labelsieve.replications.optimized_chains import figure6 as occ_figure6
from labelsieve.replications.optimized_chains import figure7 as occ_figure7
from labelsieve.replications.optimized_chains import tables3to7 as occ_tables
from labelsieve.replications.replication import Replication

_MODULES = (
    composite_likelihood,
    mlqpfs_tables,
    infogain_tables12,
    infogain_table3,
    infogain_table4,
    kcc_figure3,
    mlfs_figure4,
    occ_figure5,
    occ_figure6,
    occ_figure7,
    occ_tables,
    group_jmi_parameters,
    group_jmi_table2,
    group_jmi_regression,
)
REPLICATIONS: dict[str, Replication] = {module.REPLICATION.name: module.REPLICATION for module in _MODULES}

__all__ = ["REPLICATIONS", "Claim", "Replication", "ResultTable"]
