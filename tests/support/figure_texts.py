"""What can be read in a figure, and whether it can be read."""

from itertools import combinations


def visible_texts(figure):
    figure.draw_without_rendering()
    found = []
    for ax in figure.axes:
        legend = ax.get_legend()
        found += [*ax.texts, ax.title, *(legend.get_texts() if legend else ())]
        if ax.axison:
            drawn = [tick for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]
            found += [ax.xaxis.label, ax.yaxis.label, *(label for tick in drawn for label in (tick.label1, tick.label2))]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def assert_readable(figure):
    """No text lies on another, and none is cut off at the edge."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    assert boxes
    width, height = figure.get_size_inches() * figure.dpi
    for name, box in boxes:
        assert box.x0 > -1, name
        assert box.y0 > -1, name
        assert box.x1 < width + 1, name
        assert box.y1 < height + 1, name
    for (name, box), (other, theirs) in combinations(boxes, 2):
        apart = box.x1 <= theirs.x0 + 1 or theirs.x1 <= box.x0 + 1 or box.y1 <= theirs.y0 + 2 or theirs.y1 <= box.y0 + 2
        assert apart, f"{name!r} and {other!r}"
