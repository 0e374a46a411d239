import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
