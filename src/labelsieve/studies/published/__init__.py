from labelsieve.studies.published import group_jmi_table2

PUBLISHED = {"group-jmi-table2": group_jmi_table2}

__all__ = ["PUBLISHED", "group_jmi_table2"]
