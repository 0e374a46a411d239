from labelsieve.studies.protocol.data_sources import LoadedData, read_source
from labelsieve.studies.protocol.named_estimators import NamedEstimator
from labelsieve.studies.protocol.split_rule import Split
from labelsieve.studies.protocol.study_part import Part, read_shard
from labelsieve.studies.protocol.study_protocol import ALL, AVERAGE, BASELINES, Protocol

__all__ = [
    "ALL",
    "AVERAGE",
    "BASELINES",
    "LoadedData",
    "NamedEstimator",
    "Part",
    "Protocol",
    "Split",
    "read_shard",
    "read_source",
]
