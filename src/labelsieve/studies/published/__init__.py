from labelsieve.studies.published import group_jmi_table2, mlqpfs_tables
from labelsieve.studies.published.study import PublishedStudy, Section

PUBLISHED: dict[str, PublishedStudy] = {one.STUDY.name: one.STUDY for one in (group_jmi_table2, mlqpfs_tables)}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
