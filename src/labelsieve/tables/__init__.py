"""Tables: whatever a user passes as features, targets and weights comes in, one ``Problem`` goes out.

Start reading in ``problem.py``. ``frames.py`` reads features, ``targets.py`` and ``label_sets.py`` read targets, and
``codes.py`` has the integers that are counted.
"""
