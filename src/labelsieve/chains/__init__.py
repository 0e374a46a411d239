from labelsieve.chains.chain import ClassifierChain
from labelsieve.chains.ensemble import ChainEnsemble, OptimizedClassifierChain

__all__ = ["ChainEnsemble", "ClassifierChain", "OptimizedClassifierChain"]
