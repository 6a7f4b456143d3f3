"""Places of labels on a chart: beside their marks, never over a mark, a label or a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_NEAR = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (0.8, 0.8), (-0.8, -0.8), (-0.8, 0.8))
_FAR = (26.0, 42.0, 62.0, 88.0, 118.0, 150.0)
_HEIGHT = 15.0


@dataclass(frozen=True)
class Label:
    """A text at the place of its baseline, and the end of a leader line where it stands away from
    its mark.
    """

    text: str
    x: float
    y: float
    leader: tuple[float, float] | None = None


def width_of(text: str, strong: bool = False) -> float:
    """The width of a text of 14 pixels, a little above what fonts need.

    >>> width_of("mask_1") > width_of("mask")
    True
    """
    narrow, wide = (sum(letter in letters for letter in text) for letters in ("ijl.,:'| ", "%MWm@−"))
    rest = len(text) - narrow - wide
    return rest * (9.3 if strong else 8.9) + narrow * 5.0 + wide * 13.0


def placed(
    marks: Sequence[tuple[float, float]],
    names: Sequence[Sequence[str]],
    strong: Sequence[bool],
    inside: Box,
    taken: Iterable[Box],
) -> list[Label | None]:
    """A label for each mark, in the order given: the first of its texts that fits somewhere.

    None where none does.
    """
    boxes = [*taken, *((x - 8, y - 8, x + 8, y + 8) for x, y in marks)]
    labels: list[Label | None] = []
    for (x, y), texts, bold in zip(marks, names, strong, strict=True):
        own = (x - 8, y - 8, x + 8, y + 8)
        label = next(_fitting(x, y, texts, bold, inside, [box for box in boxes if box != own]), None)
        if label is not None:
            boxes.append(_box(label, width_of(label.text, bold)))
        labels.append(label)
    return labels


def _fitting(x: float, y: float, texts: Sequence[str], bold: bool, inside: Box, boxes: list[Box]) -> Iterator[Label]:
    for text in texts:
        for label in _around(x, y, text, width_of(text, bold)):
            box = _box(label, width_of(text, bold))
            if _within(box, inside) and not any(_overlap(box, other) for other in boxes):
                yield label


def _around(x: float, y: float, text: str, width: float) -> Iterator[Label]:
    """Eight places beside the mark, then places on wider and wider rings."""
    for right, down in _NEAR:
        yield Label(text, x - width / 2 + right * (width / 2 + 11), y + 5 + down * 17)
    for radius in _FAR:
        for step in range(16):
            angle = step * math.pi / 8
            across, down = math.cos(angle) * radius * 1.4, math.sin(angle) * radius
            left = x + across - (width if across < -4 else 0 if across > 4 else width / 2)
            end = (x + across, y + down)
            yield Label(text, left, y + down + 5, end)


def _box(label: Label, width: float) -> Box:
    return label.x - 4, label.y - _HEIGHT + 2, label.x + width + 4, label.y + 4


def _within(box: Box, outer: Box) -> bool:
    return box[0] >= outer[0] and box[1] >= outer[1] and box[2] <= outer[2] and box[3] <= outer[3]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
