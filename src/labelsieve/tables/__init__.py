"""Tables: whatever a user passes as features, targets and weights comes in, one ``Problem`` goes out.

Start reading in ``problem.py``. ``frames.py`` reads features, ``targets.py`` reads targets and label sets, and ``codes.py``
has the integers that are counted and the cut points that numbers are encoded by.
"""
