"""Reports to look at: of names that would like to be markup, and what a page consists of."""

from functools import cache
from html.parser import HTMLParser

import numpy as np

from labelsieve import Sieve
from labelsieve.datasets import Dataset
from labelsieve.report import selection_report, study_report
from labelsieve.studies import Protocol, Study, StudyResults
from labelsieve.studies.demo import demo_data

EVIL = [
    "<script>alert(1)</script>",
    "--!><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</title></style></script><b>bold</b>",
    "]]>&lt;i&gt;",
    "$\\frac{1}{2}$ _x_",
    "\u202eright to left\x07\x1b[31m",
    "many words " * 40,
    "a" * 300,
    "\u97f3\u697d \U0001f3b5",
    "javascript:alert(1)",
    "\ud800 half",
]
LABELS = ["<i>calm</i>", "happy & glad", "'sad'", "</svg><script>alert(2)</script>", "plain"]
VOID = {"meta", "br", "img", "wbr"}


def evil_names(count):
    return [*EVIL, *(f"plain {place}" for place in range(count))][:count]


@cache
def evil_selection():
    """A report in which everything that has a name has a bad one."""
    data = demo_data(300)
    sieve = Sieve("mlfs", n_features_to_select=20, parents="kcc").fit(data.X, data.Y)
    named = {"names": evil_names(20), "label_names": LABELS, "data_name": EVIL[0], "command": EVIL[0]}
    return selection_report(sieve, data.X, data.Y, **named, redundant=0.05, resamples=3)


@cache
def evil_study(folder):
    """A study whose data sets, methods and classifiers have bad names."""
    datasets = []
    for seed, name in enumerate((EVIL[0], EVIL[2], "songs")):
        data = demo_data(80, seed)
        names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * 20
        datasets.append(Dataset(np.asarray(data.X), np.asarray(data.Y), *names, name=name))
    methods = ["jmi", {"name": EVIL[1], "criterion": "mim"}, {"name": EVIL[3], "criterion": {"name": "mifs", "beta": 0.5}}]
    classifiers = [{"name": EVIL[0], "classifier": "mlknn", "k": 3}]
    how = {"n_features": "1..4", "splits": "3x50%", "measures": ["hamming_loss", "macro_f1"]}
    Study(Protocol(datasets, methods, classifiers=classifiers, **how), folder).run()
    return study_report(StudyResults(folder), name=EVIL[0], command=EVIL[2])


class Page(HTMLParser):
    """All elements of a page with their attributes and the text inside, and whether every one is closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self.open.append((tag, self.elements[-1][2]))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.texts.append(data)
        for _, inside in self.open:
            inside.append(data)

    def all(self, tag):
        return [(attributes, "".join(inside)) for name, attributes, inside in self.elements if name == tag]
