"""Every classifier and every method with a ranking can be had by name, and gives the same in every run."""

import pytest
from sklearn.linear_model import LogisticRegression

from labelsieve import InputError
from labelsieve.registry import BASES, CLASSIFIERS, METHODS, selector_class
from labelsieve.studies import Study
from labelsieve.studies.cells import _seeded
from labelsieve.studies.estimators import read_classifier
from tests.support.discovery import few_repetitions
from tests.support.small_studies import contents, data, protocol

OF_LABELS = [name for name, learner in CLASSIFIERS.items() if learner.path is not None]
MEASURES = ["hamming_loss", "ranking_loss"]


def small(**changes):
    settings = {"datasets": [data(n_rows=100)], "methods": ["mim"], "baselines": [], "splits": "1x50%", "n_features": [3, 6]}
    return protocol(**(settings | {"measures": MEASURES} | changes))


def test_every_classifier_by_name_runs_and_gives_the_same_in_every_run(tmp_path):
    given = [{"name": name, **({"n_chains": 2} if name.startswith("e") else {})} for name in OF_LABELS]
    for folder in ("one", "two"):
        outcome = Study(small(classifiers=given), tmp_path / folder).run()
        assert (outcome.n_run, outcome.n_failed) == (len(OF_LABELS), 0)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("base", BASES)
def test_every_base_serves(tmp_path, base):
    outcome = Study(small(classifiers=[{"name": "br", "base": base}]), tmp_path).run()
    assert (outcome.n_run, outcome.n_failed) == (1, 0)


def test_a_seed_that_was_given_stays_and_one_that_was_not_is_set():
    given = {"name": "mine", "classifier": "rakel", "random_state": 3, "base": "tree"}
    parameters = _seeded(read_classifier(given).estimator, 7).get_params()
    assert (parameters["random_state"], parameters["base__random_state"]) == (3, 7)


def test_parameters_of_a_base_are_settings():
    made = read_classifier({"name": "br", "base": {"name": "logistic", "C": 10.0}}).estimator
    assert isinstance(made.base[-1], LogisticRegression)
    assert made.base[-1].C == 10.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "br", "base": "oracle"}, "classifier 'br': 'oracle' is not a base estimator. Known: logistic"),
        ({"name": "mlknn", "base": "tree"}, "classifier 'mlknn': .*base"),
        ({"name": "rakel", "k": 0}, "classifier 'rakel': .*'k'"),
        ("oracle", "'oracle' is not a classifier. Known: br, brknn"),
        ("logistc", "Did you mean 'logistic'?"),
    ],
)
def test_what_nobody_knows_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        read_classifier(given)


def test_every_method_with_a_ranking_runs_by_name(tmp_path):
    wanted = [name for name, method in METHODS.items() if not getattr(method, "no_ranking", "") and name != "qpfs"]
    few = {name: few_repetitions(selector_class(name), METHODS[name].settings) for name in wanted}
    given = [{"name": f"as {name}", "criterion": name, **few[name]} for name in wanted]
    outcome = Study(small(datasets=[data(n_rows=400)], methods=given, classifiers=["brknn"]), tmp_path).run()
    assert (outcome.n_run, errors(tmp_path)) == (len(wanted), {})


def errors(folder):
    return {row[2]: row[-1] for row in contents(folder)[1] if row[-1] is not None}
