from labelsieve.studies.published import (
    composite_likelihood,
    group_jmi_parameters,
    group_jmi_regression,
    group_jmi_table2,
    infogain_table3,
    infogain_table4,
    infogain_tables12,
    kcc_figure3,
    mlfs_figure4,
    mlqpfs_tables,
    occ_figure5,
    occ_figure6,
    occ_figure7,
    occ_tables,
)
from labelsieve.studies.published.study import PublishedStudy, Section

_STUDIES = (
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
PUBLISHED: dict[str, PublishedStudy] = {one.STUDY.name: one.STUDY for one in _STUDIES}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
