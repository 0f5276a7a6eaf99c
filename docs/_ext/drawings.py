"""Draws boxes and arrows in a page: the directive `drawing`, whose argument says in words what it shows.

A line of its content is a box, at a column and a row of a grid, with one or more lines of text; those in backticks are
code. Or it is an arrow between two boxes, with a label, dashed where it is `-->`.

    call 1 0: `tanh(x)` / the op's function
    kernel 2 0: `torch.tanh`
    call -> kernel: one call
    call --> kernel: another

Colours are those of the page's text, in light and dark.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from typing import Any

BOX = re.compile(r"(\w+) (\d+) (\d+): (.+)")
ARROW = re.compile(r"(\w+) (-->|->) (\w+)(?:: (.+))?")
CODE, WORDS = 7.3, 6.4  # the widths of a character of 12 pixels, of code and of words
LINE, PAD, GAP = 17, 12, 34


@dataclass
class Box:
    """A box: its place in the grid, its lines of text, and where it is drawn."""

    column: int
    row: int
    lines: list[str]
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass
class Arrow:
    """An arrow between two boxes."""

    start: Box
    end: Box
    label: str
    dashed: bool


def parsed(lines: list[str]) -> tuple[list[Box], list[Arrow]]:
    """Returns the boxes and the arrows of a drawing.

    Raises:
        ValueError: a line is neither.
    """
    boxes: dict[str, Box] = {}
    arrows = []
    for line in filter(None, map(str.strip, lines)):
        if match := BOX.fullmatch(line):
            boxes[match[1]] = Box(int(match[2]), int(match[3]), match[4].split(" / "))
        elif (match := ARROW.fullmatch(line)) and match[1] in boxes and match[3] in boxes:
            arrows.append(Arrow(boxes[match[1]], boxes[match[3]], match[4] or "", match[2] == "-->"))
        else:
            raise ValueError(f"neither a box nor an arrow between boxes above it: {line!r}")
    return list(boxes.values()), arrows


def svg(title: str, lines: list[str]) -> str:
    """Returns a drawing."""
    boxes, arrows = parsed(lines)
    width, height = lay_out(boxes, arrows)
    parts = [
        f'<svg class="drawing" role="img" aria-label="{html.escape(title)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">'
    ]
    parts += [drawn_arrow(arrow) for arrow in arrows]
    parts += [drawn_box(box) for box in boxes]
    return "\n".join([*parts, "</svg>"])


def lay_out(boxes: list[Box], arrows: list[Arrow]) -> tuple[float, float]:
    """Places the boxes, and returns the size of the drawing."""
    for box in boxes:
        box.width = max(map(text_width, box.lines)) + 2 * PAD
        box.height = LINE * len(box.lines) + PAD
    columns, rows = 1 + max(b.column for b in boxes), 1 + max(b.row for b in boxes)
    widths = [max((b.width for b in boxes if b.column == c), default=0.0) for c in range(columns)]
    heights = [max((b.height for b in boxes if b.row == r), default=0.0) for r in range(rows)]
    gaps = [GAP] * columns  # to the right of each column
    for arrow in arrows:
        if arrow.start.column != arrow.end.column:
            left = min(arrow.start.column, arrow.end.column)
            gaps[left] = max(gaps[left], text_width(arrow.label) + 24)
    for box in boxes:
        box.x = sum(widths[: box.column]) + sum(gaps[: box.column]) + (widths[box.column] - box.width) / 2 + 1
        box.y = sum(heights[: box.row]) + GAP * 1.25 * box.row + (heights[box.row] - box.height) / 2 + 1
    beside = [
        arrow.start.x + arrow.start.width / 2 + text_width(arrow.label) + 12
        for arrow in arrows
        if arrow.start.column == arrow.end.column
    ]
    return max([b.x + b.width for b in boxes] + beside) + 2, max(b.y + b.height for b in boxes) + 2


def text_width(text: str) -> float:
    return len(text.strip("`")) * (CODE if text.startswith("`") else WORDS)


def drawn_box(box: Box) -> str:
    middle = box.x + box.width / 2
    texts = [
        f'<text x="{middle:.1f}" y="{box.y + PAD / 2 + LINE * (i + 0.75):.1f}"{style(line)}>'
        f"{html.escape(line.strip('`'))}</text>"
        for i, line in enumerate(box.lines)
    ]
    outline = f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5"/>'
    return "".join([outline, *texts])


def style(line: str) -> str:
    return ' class="code"' if line.startswith("`") else ""


def drawn_arrow(arrow: Arrow) -> str:
    """Returns an arrow: from side to side, up or down, or first to the side and then up or down."""
    points, (x, y), anchor = route(arrow.start, arrow.end)
    (x1, y1), (x2, y2) = points[-2:]
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    head = [(x2, y2), *((x2 - 7 * ux + s * uy, y2 - 7 * uy - s * ux) for s in (3.5, -3.5))]
    line = [*points[:-1], (x2 - 5 * ux, y2 - 5 * uy)]
    dashes = ' stroke-dasharray="4 3"' if arrow.dashed else ""
    text = html.escape(arrow.label.strip("`"))
    label = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style(arrow.label)}>{text}</text>' if text else ""
    return f'<polyline points="{numbers(line)}"{dashes}/><polygon points="{numbers(head)}"/>{label}'


def route(a: Box, b: Box) -> tuple[list[tuple[float, float]], tuple[float, float], str]:
    """Returns the points of an arrow between two boxes, and the place of its label and its anchor."""
    right, down = a.column < b.column, a.row < b.row
    middle, end = (a.x + a.width / 2, a.y + a.height / 2), (b.x + b.width / 2, b.y + b.height / 2)
    side, far_side = a.x + a.width * right, b.x + b.width * (not right)
    edge, far_edge = a.y + a.height * down, b.y + b.height * (not down)
    if a.row == b.row:
        return [(side, middle[1]), (far_side, middle[1])], ((side + far_side) / 2, middle[1] - 6), "middle"
    if a.column == b.column:
        return [(middle[0], edge), (middle[0], far_edge)], (middle[0] + 8, (edge + far_edge) / 2 + 4), "start"
    corner = (end[0], middle[1])
    return [(side, middle[1]), corner, (end[0], far_edge)], ((side + end[0]) / 2, middle[1] - 6), "middle"


def numbers(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def setup(app: Any) -> dict[str, bool]:
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Drawing(SphinxDirective):
        """A drawing, as SVG in the page."""

        required_arguments = 1
        final_argument_whitespace = True
        has_content = True

        def run(self) -> list[Any]:
            try:
                drawn = svg(self.arguments[0], list(self.content))
            except ValueError as error:
                raise self.error(str(error)) from error
            return [nodes.raw("", f'<div class="drawing">{drawn}</div>', format="html")]

    app.add_directive("drawing", Drawing)
    return {"parallel_read_safe": True}
