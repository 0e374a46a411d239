from labelsieve.studies.published import composite_likelihood, group_jmi_parameters, group_jmi_regression, group_jmi_table2
from labelsieve.studies.published.study import PublishedStudy, Section

PUBLISHED: dict[str, PublishedStudy] = {
    one.STUDY.name: one.STUDY for one in (group_jmi_table2, group_jmi_parameters, group_jmi_regression, composite_likelihood)
}

__all__ = ["PUBLISHED", "PublishedStudy", "Section"]
