"""The chart of the explained share against the number of features, as SVG without matplotlib, for reports and notebooks.

Colors come from the page: every mark has a class, which the style of a page or of a notebook view fills. Text has a fixed size
and is never scaled down, so there is a drawing for every width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Self

from labelsieve.report.figures.style import short_names
from labelsieve.report.html import Html, joined, tag
from labelsieve.report.text import percent, points
from labelsieve.selection import Selection

TEXT, CHARACTER = 12.5, 7.2  # pixels: size of text, and the width of a character of it, on average
LEFT, RIGHT, TOP, BOTTOM = 48.0, 14.0, 14.0, 44.0  # pixels around the plotted area
NEAR = 22.0  # pixels: ticks that are closer to that of the chosen size are left out
MOST_STEPS = 5  # intervals of the axis of shares, about
LINE = 17.0  # pixels of a line of text
NAMED = 3  # features that are named at their points
SMALLEST_STEP = 5.0  # pixels between two sizes; with fewer, they have no points

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class ExplainedCurve:
    """What the chart shows: shares and errors of all sizes, the chosen size, and names, gains and marks of the features."""

    sizes: tuple[int, ...]
    explained: tuple[float, ...]
    errors: tuple[float, ...]
    all_features: float
    n_features: int
    chosen: int
    names: tuple[str, ...]
    gains: tuple[float | None, ...]
    signal: tuple[bool | None, ...]

    @classmethod
    def of_selection(cls, selection: Selection) -> Self:
        """Take the curve of a selection whose explained share is known."""
        explained, selected = selection.explained, selection.selected
        assert explained is not None
        return cls(
            explained.sizes,
            explained.explained,
            explained.errors,
            explained.all_features,
            selection.n_features,
            len(selected),
            tuple(short_names(feature.feature for feature in selected)),
            tuple(feature.gain for feature in selected),
            tuple(feature.signal for feature in selected),
        )

    @property
    def at(self) -> int:
        """Index of the chosen size, or of the largest below it; -1 where nothing was chosen."""
        return sum(size <= self.chosen for size in self.sizes) - 1

    @property
    def goes_on(self) -> bool:
        """Whether sizes beyond the chosen one were evaluated."""
        return self.sizes[-1] > self.chosen

    def words(self) -> str:
        """Describe the curve in words."""
        first, last = percent(self.explained[0]), percent(self.explained[-1])
        found = f"{percent(self.explained[self.at])} with the {self.chosen} chosen" if self.at >= 0 else "none was chosen"
        ends = f"From {first} with 1 feature to {last} with {self.sizes[-1]}; {found}"
        return f"{ends}; all {self.n_features:,} features explain {percent(self.all_features)}."


def explained_chart(curve: ExplainedCurve, *, name: str, width: int, height: int, named: bool = True) -> Html:
    """Draw the explained share against the number of features, in pixels.

    ``name`` begins the ids of a chart, and is unique in the page; a chart without one has no ids, so that a place may hold
    several. ``named`` charts have the names of the first features, and the chosen size in words.
    """
    plane = _Plane(curve, width, height)
    texts = _Texts(plane)
    marks = [*_ground(plane), *_lines(plane)]
    chosen = [*_chosen(plane, texts, named)]
    chosen += [*texts.reference()]
    chosen += [*texts.names()] if named else []
    title, words = "Explained share against the number of features", curve.words()
    said: dict[str, str] = {"aria_label": f"{title}. {words}"}
    if name:
        marks.insert(0, joined([tag("title", title, id=f"{name}-title"), tag("desc", words, id=f"{name}-description")]))
        said = {"aria_labelledby": f"{name}-title {name}-description"}
    return tag(
        "svg",
        joined([*marks, *chosen]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        class_="explained",
        **said,
    )


class _Plane:
    """Positions of sizes and shares in the drawing, and the ticks of both axes."""

    def __init__(self, curve: ExplainedCurve, width: float, height: float) -> None:
        self.curve, self.width, self.height = curve, width, height
        highest = max(*(share + error for share, error in zip(curve.explained, curve.errors, strict=True)), curve.all_features)
        lowest = min(*curve.explained, curve.all_features, 0.0)
        self.step = nice_step(max(highest - min(lowest, 0.0), 0.004) / MOST_STEPS)
        self.bottom = self.step * floor(lowest / self.step + 1e-9) if lowest < -0.1 * self.step else 0.0
        self.top = self.step * ceil(1.02 * max(highest, self.step / 2) / self.step - 1e-9)
        self.right, self.floor = width - RIGHT, height - BOTTOM

    def x(self, size: float) -> float:
        """Return the position of a number of features; a single one is in the middle."""
        first, last = self.curve.sizes[0], self.curve.sizes[-1]
        share = (size - first) / (last - first) if last > first else 0.5
        return LEFT + 10 + share * (self.right - LEFT - 20)

    def y(self, share: float) -> float:
        """Return the position of a share; what is below the axis stays on it."""
        inside = min(max((share - self.bottom) / (self.top - self.bottom), 0.0), 1.0)
        return self.floor - inside * (self.floor - TOP)

    def y_ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the shares of grid lines with their texts; the unit stands once, at the top."""
        count = round((self.top - self.bottom) / self.step)
        digits = max(0, ceil(-log10(100 * self.step) - 1e-9))
        for tick in range(count + 1):
            share = self.bottom + tick * self.step
            text = f"{100 * share + 0.0:.{digits}f}".replace("-", "\u2212")
            yield share, f"{text} %" if tick == count else text

    def x_ticks(self) -> list[int]:
        """Return the sizes with a tick: 1, round numbers, the chosen size and the last, none too close to another."""
        sizes, chosen = self.curve.sizes, self.curve.chosen
        last = sizes[-1]
        step = next(
            step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if last / step <= (12 if self.width > 500 else 8)
        )
        wanted = [*([chosen] if chosen else []), sizes[0], last, *range(step, last, step)]
        kept: list[int] = []
        for size in dict.fromkeys(wanted):
            if all(abs(self.x(size) - self.x(other)) >= NEAR for other in kept):
                kept.append(size)
        return sorted(kept)

    def points(self) -> list[tuple[float, float]]:
        """Return the positions of all sizes."""
        return [(self.x(size), self.y(share)) for size, share in zip(self.curve.sizes, self.curve.explained, strict=True)]


def nice_step(step: float) -> float:
    """Round a step of an axis up to 1, 2 or 5 times a power of ten.

    >>> nice_step(0.09), nice_step(0.013), nice_step(0.21)
    (0.1, 0.02, 0.5)
    """
    power = 10.0 ** floor(log10(step) + 1e-9)
    return float(next(round(factor * power, 6) for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9)))


def _ground(plane: _Plane) -> Iterator[Html]:
    """Draw the gray area beyond the chosen size, grid lines, ticks, and the name of the axis."""
    curve = plane.curve
    if curve.goes_on and curve.chosen:
        left = plane.x(curve.chosen)
        size = {"x": f"{left:.1f}", "y": TOP, "width": f"{plane.right - left:.1f}", "height": f"{plane.floor - TOP:.1f}"}
        yield tag("rect", class_="beyond", **size)
    for share, text in plane.y_ticks():
        y = plane.y(share)
        look = "axis" if abs(share) < 1e-12 else "grid"
        yield tag("line", class_=look, x1=LEFT, x2=plane.right, y1=f"{y:.1f}", y2=f"{y:.1f}")
        yield _text(text, LEFT - 8, y + 4, anchor="end")
    for tick in plane.x_ticks():
        bold = "chosen" if tick == curve.chosen else None
        yield _text(f"{tick:,}", plane.x(tick), plane.floor + 18, anchor="middle", look=bold)
    words = "number of features, in order of selection" if plane.width > 300 else "number of features"
    yield _text(words, (LEFT + plane.right) / 2, plane.height - 6, anchor="middle")


def _lines(plane: _Plane) -> Iterator[Html]:
    """Draw the band of errors, the line of all features, the curve and its points."""
    curve, places = plane.curve, plane.points()
    upper = [(x, plane.y(s + e)) for (x, _), s, e in zip(places, curve.explained, curve.errors, strict=True)]
    lower = [(x, plane.y(s - e)) for (x, _), s, e in zip(places, curve.explained, curve.errors, strict=True)]
    yield tag("polygon", class_="band", points=_path([*upper, *reversed(lower)]))
    y = plane.y(curve.all_features)
    yield tag("line", class_="reference", x1=LEFT, x2=plane.right, y1=f"{y:.1f}", y2=f"{y:.1f}")
    head = places[: curve.at + 1] if curve.at >= 0 else []
    tail = places[max(curve.at, 0) :]
    if len(tail) > 1:
        yield tag("polyline", class_="tail", points=_path(tail))
    if len(head) > 1:
        yield tag("polyline", class_="curve", points=_path(head))
    apart = (places[-1][0] - places[0][0]) / max(1, curve.sizes[-1] - curve.sizes[0])
    if len(places) == 1 or apart >= SMALLEST_STEP:
        for (x, height), mark in zip(head[:-1], curve.signal, strict=False):
            look = "point unsure" if mark is False else "point"
            yield tag("circle", class_=look, cx=f"{x:.1f}", cy=f"{height:.1f}", r=3.2 if apart >= 8 else 2.4)


def _chosen(plane: _Plane, texts: "_Texts", named: bool) -> Iterator[Html]:
    """Draw the ring at the chosen size with a line to the axis and its share."""
    curve = plane.curve
    if curve.at < 0:
        return
    x, y = plane.x(curve.sizes[curve.at]), plane.y(curve.explained[curve.at])
    yield tag("line", class_="drop", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=f"{y:.1f}", y2=f"{plane.floor:.1f}")
    yield tag("circle", class_="ring", cx=f"{x:.1f}", cy=f"{y:.1f}", r=5.5)
    texts.taken += [(x - 2, y, x + 2, plane.floor), (x - 8, y - 8, x + 8, y + 8)]
    share = f"{percent(curve.explained[curve.at])} ± {100 * curve.errors[curve.at]:.1f}"
    noun = "feature" if curve.chosen == 1 else "features"
    lines = [f"{curve.chosen:,} {noun}: {share}" if named else share]
    lines += ["more features are no better, within the error"] if named and curve.goes_on else []
    yield from texts.beside(x, y, lines)


class _Texts:
    """Places texts where they cover neither the curve nor each other."""

    def __init__(self, plane: _Plane) -> None:
        self.plane = plane
        self.taken: list[Box] = []
        self._curve = list(_dense(plane.points()))

    def free(self, box: Box) -> bool:
        """Whether a box is inside the drawing and covers nothing."""
        left, top, right, bottom = box
        if left < LEFT or right > self.plane.width or top < 0 or bottom > self.plane.floor:
            return False
        if any(left - 4 < x < right + 4 and top - 4 < y < bottom + 4 for x, y in self._curve):
            return False
        return all(right < one[0] or left > one[2] or bottom < one[1] or top > one[3] for one in self.taken)

    def beside(self, x: float, y: float, lines: Sequence[str]) -> Iterator[Html]:
        """Place the words on the chosen size below its ring, at the right or at the left."""
        width = CHARACTER * max(map(len, lines)) * 1.06  # bold
        line = self.plane.y(self.plane.curve.all_features)
        for down in (14.0, 30.0, 48.0, 70.0, 96.0):
            for anchor, left in (("start", x + 10), ("end", x - 10 - width)):
                box = (left, y + down, left + width, y + down + LINE * len(lines))
                crossed = box[1] - 2 < line < box[3] + 2
                if self.free(box) and not crossed:
                    self.taken.append(box)
                    where = left if anchor == "start" else left + width
                    for row, text in enumerate(lines):
                        look = "note" if row else "strong"
                        yield _text(text, where, box[1] + 13 + LINE * row, anchor=anchor, look=look)
                    return

    def reference(self) -> Iterator[Html]:
        """Name the dashed line of all features at its left end above it, or where the curve leaves room, or below it."""
        curve, plane = self.plane.curve, self.plane
        y = plane.y(curve.all_features)
        short = plane.width < 500
        text = f"all {curve.n_features:,}: {percent(curve.all_features)}"
        text = text if short else text.replace(":", " features:")
        width = CHARACTER * len(text) * 1.06
        starts = (LEFT + 4, plane.right - width - 4, (LEFT + plane.right - width) / 2)
        for top in (y - LINE - 2, y + 4, y + 22, y + 40, y + 58):
            for left in starts:
                box = (left, top, left + width, top + LINE)
                if self.free(box):
                    self.taken.append(box)
                    yield _text(text, left, top + 13, look="reference-text")
                    return

    def names(self) -> Iterator[Html]:
        """Name the first features at the right of their points, with their gains."""
        plane, curve = self.plane, self.plane.curve
        line = plane.y(curve.all_features)
        for (x, y), name, gain in list(zip(plane.points()[: curve.at + 1], curve.names, curve.gains, strict=False))[:NAMED]:
            text = f"{name} {points(gain or 0.0)}"
            for down in (-6.0, 0.0, 6.0, 12.0, 18.0, 24.0):
                box = (x + 12, y + down, x + 12 + CHARACTER * len(text), y + down + 13)
                if self.free(box) and not box[1] - 2 < line < box[3] + 2:
                    self.taken.append((box[0], box[1] - 3, box[2], box[3] + 3))
                    yield _text(text, box[0], box[1] + 11, look="name")
                    break


def _dense(places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield points of a line that are at most a few pixels apart."""
    yield places[0]
    for (x, y), (to_x, to_y) in pairwise(places):
        n_steps = max(1, ceil(max(abs(to_x - x), abs(to_y - y)) / 3))
        for step in range(1, n_steps + 1):
            yield x + (to_x - x) * step / n_steps, y + (to_y - y) * step / n_steps


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _text(text: str, x: float, y: float, *, anchor: str = "start", look: str | None = None) -> Html:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return tag("text", text, class_=look, text_anchor=None if anchor == "start" else anchor, **place)
