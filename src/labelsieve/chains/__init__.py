"""Classifier chains: one classifier for each label, whose inputs are the features and the label's parents.

In come features, labels and a network of the labels, or a rule that learns one; out come predicted labelsets and their
probabilities. Start reading in ``chain.py``; ``links.py`` fits the classifiers, ``inference.py`` searches for labelsets, and
``ensemble.py`` has optimized chains and ensembles.
"""

from labelsieve.chains.chain import ClassifierChain
from labelsieve.chains.ensemble import ChainEnsemble, OptimizedClassifierChain

__all__ = ["ChainEnsemble", "ClassifierChain", "OptimizedClassifierChain"]
