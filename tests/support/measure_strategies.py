"""Small tables of labels, predictions and scores with many ties, empty rows and full rows."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def predictions(draw, needs):
    """Labels, predictions of them, and row weights."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    weights = draw(arrays(np.float64, shape[0], elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])).filter(np.any))
    if needs == "numbers":
        numbers = st.integers(-1000, 1000).map(float)
        return draw(arrays(np.float64, shape, elements=numbers)), draw(arrays(np.float64, shape, elements=numbers)), weights
    Y = draw(arrays(np.int8, shape, elements=st.integers(0, 1)))
    values = st.integers(0, 1) if needs == "labels" else st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0])
    return Y, draw(arrays(np.int8 if needs == "labels" else np.float64, shape, elements=values)), weights
