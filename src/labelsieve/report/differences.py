"""The dot plot of a study: how far every method is behind the best, with intervals, as SVG without matplotlib.

The mean differences of a :class:`labelsieve.studies.StudyResults` come in, markup goes out. Colors come from the page, and
there is a drawing for every width, because text is never scaled down.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10

from labelsieve.report.charts import CHARACTER, nice_step
from labelsieve.report.figures.style import short_names
from labelsieve.report.html import Html, joined, tag
from labelsieve.statistics import Band

ROW, TOP, BOTTOM = 26.0, 34.0, 48.0  # pixels of a row, above the first and below the last
GAP = 14.0  # pixels between the columns
SMALL = 500  # pixels of width below which there is one column of numbers
RADIUS = 4.5


@dataclass(frozen=True)
class Differences:
    """What the dot plot shows: the best method, and the differences of the others to it."""

    best: str
    measure: str  # in words
    means: Mapping[str, float]  # of every method over the data sets, from the best to the worst, without all features
    wins: Mapping[str, int]  # data sets on which a method is the best
    # differences of the other methods to the best, with confidence limits; that of all features, too, where it is known
    bands: Mapping[str, Band]

    def words(self) -> str:
        """Describe the plot in words."""
        others = (f"{name} {self.mean(name):+.3f}" for name in self.means if name != self.best)
        return f"Differences to {self.best} in {self.measure}: {', '.join(others)}."

    def mean(self, name: str) -> float:
        """Return the difference of a method to the best."""
        return 0.0 if name == self.best else float(self.bands[name].mean)


def difference_chart(found: Differences, *, name: str, width: int) -> Html:
    """Draw a dot with its interval for every method, and a dashed line for all features; its ids begin with ``name``."""
    plane = _Plane(found, width)
    title = f"How far the methods are behind {found.best}"
    said = joined([tag("title", title, id=f"{name}-title"), tag("desc", found.words(), id=f"{name}-description")])
    rows = [piece for index, method in enumerate(found.means) for piece in _row(plane, method, TOP + ROW * (index + 0.5))]
    return tag(
        "svg",
        joined([said, *_ground(plane), *rows]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {plane.height:.0f}",
        width=width,
        height=f"{plane.height:.0f}",
        role="img",
        class_="explained differences",
        aria_labelledby=f"{name}-title {name}-description",
    )


class _Plane:
    """Positions of differences in the drawing, the ticks, and the columns of names and numbers."""

    def __init__(self, found: Differences, width: float) -> None:
        self.found, self.width = found, width
        self.small = width < SMALL
        self.names = dict(zip(found.means, short_names(found.means), strict=True))
        self.value = 46.0
        self.wins = 0.0 if self.small else 64.0
        self.left = CHARACTER * max(map(len, self.names.values())) + GAP
        self.right = width - self.value - self.wins - GAP
        self.height = TOP + ROW * len(found.means) + BOTTOM
        self.floor = self.height - BOTTOM
        limits = [0.0, *(float(value) for band in found.bands.values() for value in (band.low, band.high, band.mean))]
        low, high = min(limits), max(limits)
        self.step = nice_step(max(high - low, 1e-6) / (4 if self.small else 8))
        self.low, self.high = self.step * floor(low / self.step - 0.05), self.step * ceil(high / self.step + 0.05)

    def x(self, difference: float) -> float:
        """Return the position of a difference."""
        return self.left + (difference - self.low) / (self.high - self.low) * (self.right - self.left)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the differences of grid lines with their texts."""
        digits = max(0, ceil(-log10(self.step) - 1e-9))
        for tick in range(round(self.low / self.step), round(self.high / self.step) + 1):
            yield tick * self.step, f"{tick * self.step:+.{digits}f}".replace("-", "\u2212") if tick else "0"


def _ground(plane: _Plane) -> Iterator[Html]:
    """Draw grid lines with their texts, the heads of the columns, and the line of all features."""
    for difference, text in plane.ticks():
        x = plane.x(difference)
        yield _line("axis" if text == "0" else "grid", x, TOP, x, plane.floor)
        yield _text(text, x, plane.floor + 18, anchor="middle")
    words = f"difference to {plane.found.best}, {plane.found.measure}"
    yield _text(words, (plane.left + plane.right) / 2, plane.height - 8, anchor="middle")
    yield _text("mean", plane.width - plane.wins, TOP - 12, anchor="end")
    if plane.wins:
        yield _text("best on", plane.width, TOP - 12, anchor="end")
    if "all" in plane.found.bands:
        x = plane.x(float(plane.found.bands["all"].mean))
        yield _line("reference", x, TOP - 4, x, plane.floor)
        half = CHARACTER * len("all features") / 2
        yield _text("all features", min(max(x, plane.left + half), plane.right - half), TOP - 12, "reference-text", "middle")


def _row(plane: _Plane, method: str, y: float) -> Iterator[Html]:
    """Draw the name, the interval, the dot and the numbers of a method."""
    found, best = plane.found, method == plane.found.best
    look = "strong" if best else "name"
    yield _text(plane.names[method], 0, y + 4, look)
    equal = best
    if not best:
        band = found.bands[method]
        equal = float(band.low) <= 0 <= float(band.high)
        yield _line("interval" if equal else "interval far", plane.x(float(band.low)), y, plane.x(float(band.high)), y)
    dot = "dot" if equal else "dot far"
    yield tag("circle", class_=dot, cx=f"{plane.x(found.mean(method)):.1f}", cy=f"{y:.1f}", r=RADIUS + best)
    yield _text(f"{found.means[method]:.3f}", plane.width - plane.wins, y + 4, look, "end")
    if plane.wins:
        yield _text(str(found.wins.get(method) or "\u2013"), plane.width, y + 4, look, "end")


def _line(look: str, x1: float, y1: float, x2: float, y2: float) -> Html:
    return tag("line", class_=look, x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}")


def _text(text: str, x: float, y: float, look: str | None = None, anchor: str = "start") -> Html:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return tag("text", text, class_=look, text_anchor=None if anchor == "start" else anchor, **place)
