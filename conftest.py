"""Settings of all tests and examples, also of the processes that they start."""

import os

os.environ["MPLBACKEND"] = "Agg"  # no windows
