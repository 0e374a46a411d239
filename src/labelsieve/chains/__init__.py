from labelsieve.chains.chain import ClassifierChain
from labelsieve.chains.ensemble import ChainEnsemble
from labelsieve.chains.optimized import OptimizedClassifierChain

__all__ = ["ChainEnsemble", "ClassifierChain", "OptimizedClassifierChain"]
