from labelsieve.studies.published import (
    group_jmi_table2,
    kcc_figure3,
    mlfs_figure4,
    mlqpfs_tables,
    occ_figure5,
    occ_figure6,
    occ_figure7,
    occ_tables,
)
from labelsieve.studies.published.study import PublishedStudy, Section

_STUDIES = (group_jmi_table2, mlqpfs_tables, occ_tables, kcc_figure3, mlfs_figure4, occ_figure5, occ_figure6, occ_figure7)
PUBLISHED: dict[str, PublishedStudy] = {one.STUDY.name: one.STUDY for one in _STUDIES}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
