"""A selector from a file, run with the protocols of a leaderboard on the same splits."""

import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from labelsieve.errors import InputError, StudyError
from labelsieve.studies.leaderboard.board_results import study_folders
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store.schema import reading


def load_selector(path: str | os.PathLike[str], name: str | None = None) -> Any:
    """Import a Python file and return an instance of its selector: the class ``name``, or the only one with ``fit``.

    A selector has ``fit(X, Y)``, sets ``selected_``, a ranking of the columns with the best first, and follows scikit-learn's
    conventions for parameters; ``n_features_to_select`` and ``random_state`` are set if it has them.
    """
    file = Path(path)
    if not file.exists() or file.suffix != ".py" or not file.stem.isidentifier():
        raise InputError(f"{file}: not a Python file; a selector is a class in a file such as my_selector.py.")
    if str(file.parent.resolve()) not in sys.path:
        sys.path.insert(0, str(file.parent.resolve()))  # processes of a study import the file by its name
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise InputError(f"{file}: {type(error).__name__}: {error}") from error
    if Path(module.__file__ or "").resolve() != file.resolve():
        raise InputError(f"{file}: another module has the name {file.stem}; rename the file.")
    classes = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and hasattr(kind, "fit") and hasattr(kind, "get_params")
    ]
    found = [kind for kind in classes if name is None or kind.__name__ == name]
    if len(found) != 1:
        known = ", ".join(kind.__name__ for kind in classes) or "none with fit and get_params"
        raise InputError(f"{file}: which class is the selector? It has {known}; name one.")
    try:
        return found[0]()
    except TypeError as error:
        raise InputError(f"{file}: {found[0].__name__} needs defaults for all parameters ({error}).") from error


def own_protocols(board: str | os.PathLike[str], name: str, selector: BaseEstimator) -> dict[str, Protocol]:
    """Return the stored protocols of a leaderboard with one selector instead of its methods, by study."""
    return {
        study: Protocol(**{**_stored_protocol(folder), "methods": [(name, selector)], "baselines": []})
        for study, folder in study_folders(board).items()
    }


def check_same_rows(board: str | os.PathLike[str], own: str | os.PathLike[str]) -> None:
    """Refuse results of other data or splits than those of the leaderboard."""
    theirs = study_folders(board)
    for study, folder in study_folders(own).items():
        ours, known = _rows(folder), _rows(theirs[study])
        for key, rows in ours.items():
            if key in known and known[key] != rows:
                raise StudyError(f"{folder}: {key[0]}, split {key[1]}: other data or rows than in the leaderboard.")


def _stored_protocol(folder: Path) -> dict[str, Any]:
    with reading(folder) as db:
        found = db and db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    if not found:
        raise StudyError(f"{folder}: it has no protocol; was it run?")
    stored: dict[str, Any] = json.loads(found[0])
    return stored


def _rows(folder: Path) -> dict[tuple[str, int], tuple[str, str]]:
    with reading(folder) as db:
        found = () if db is None else db.execute("SELECT DISTINCT dataset, split, data, rows FROM selections")
        return {(dataset, split): (data, rows) for dataset, split, data, rows in found}
