from labelsieve.studies.published import (
    composite_likelihood,
    group_jmi_parameters,
    group_jmi_regression,
    group_jmi_table2,
    infogain_table3,
    infogain_table4,
    infogain_tables12,
)
from labelsieve.studies.published.study import PublishedStudy, Section

_STUDIES = (
    composite_likelihood,
    infogain_tables12,
    infogain_table3,
    infogain_table4,
    group_jmi_table2,
    group_jmi_parameters,
    group_jmi_regression,
)
PUBLISHED: dict[str, PublishedStudy] = {one.STUDY.name: one.STUDY for one in _STUDIES}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
