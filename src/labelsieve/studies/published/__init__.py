from labelsieve.studies.published import group_jmi_table2, infogain_table3, infogain_table4, infogain_tables12
from labelsieve.studies.published.study import PublishedStudy, Section

PUBLISHED: dict[str, PublishedStudy] = {
    one.STUDY.name: one.STUDY for one in (group_jmi_table2, infogain_tables12, infogain_table3, infogain_table4)
}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
