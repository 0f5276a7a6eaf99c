#!/usr/bin/env python3
"""Draws the ratios that stand in RESULTS.md, as SVG: a dot for each benchmark, a line for the geometric mean.

    python benchmarks/plots.py    # writes docs/_static/ratios.svg, the picture of the README

The documentation draws its own when it is built. A test holds the README's to the tables.
"""

import html
import math
import pathlib
import re
from dataclasses import dataclass

RESULTS = pathlib.Path(__file__).with_name("RESULTS.md")
PICTURE = RESULTS.parent.parent / "docs" / "_static" / "ratios.svg"
COLOURS = {"tensorflow": "#e37400", "torch": "#e0457b", "jax": "#3f72d8"}
NAMES = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}
LEFT, PLOT, RIGHT, LANE, GAP, TOP, TICK = 205, 400, 60, 15, 7, 42, 44  # pixels


@dataclass
class Group:
    """The ratios of one table: each benchmark's, by the framework, and their geometric means."""

    title: str
    ratios: dict[str, dict[str, float]]
    means: dict[str, float]


def groups(text: str, frameworks: list[str]) -> list[Group]:
    """Returns the tables of Markdown whose cells are times with ratios, with the columns of some frameworks.

    Where TensorFlow or JAX have two columns, the one that is called eager counts, as TapeFlow's is.
    """
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith("|")]
        header, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines or ["|"])
        if header[1:2] != ["tapeflow"]:
            continue
        columns = {f: next((i for i, h in enumerate(header) if h in (f, f"{f} eager")), None) for f in frameworks}
        ratios: dict[str, dict[str, float]] = {f: {} for f, column in columns.items() if column is not None}
        for name, *cells in rows[1:]:
            for framework in ratios:
                if match := re.search(r"([\d.]+)x$", cells[columns[framework] - 1]):
                    ratios[framework][name.strip("`")] = float(match[1])
        means = {f: r.pop("geometric mean") for f, r in ratios.items() if "geometric mean" in r and len(r) > 1}
        found.append(Group(re.sub(r" \(.*", "", title), {f: ratios[f] for f in means}, means))
    return [group for group in found if group.ratios]


def svg(frameworks: list[str], text: str, names: bool = False, colour: str = "currentColor") -> str:
    """Returns the picture.

    Args:
        frameworks: whose ratios to draw.
        text: the tables, in Markdown.
        names: has each dot name its benchmark when the pointer is over it.
        colour: of words and lines.
    """
    drawn = groups(text, frameworks)
    every = [ratio for group in drawn for ratios in group.ratios.values() for ratio in ratios.values()]
    low, high = math.floor(math.log2(min(every))), math.ceil(math.log2(max(every)))
    step = math.ceil((high - low) * TICK / PLOT)
    low = step * math.floor(low / step)  # 1 has a tick

    def x(ratio: float) -> float:
        return LEFT + PLOT * (math.log2(ratio) - low) / (high - low)

    rows, y = [], float(TOP)
    for group in drawn:
        height = LANE * len(group.ratios)
        rows.append(f'<text x="{LEFT - 12}" y="{y + height / 2 + 4:.0f}" text-anchor="end">{group.title}</text>')
        for framework, ratios in group.ratios.items():
            rows += lane(framework, ratios, group.means[framework], x, y + LANE / 2, names)
            y += LANE
        y += GAP
    said = " and ".join(NAMES[f] for f in frameworks)
    label = f"Times of {said} over TapeFlow's, for each benchmark, with geometric means; right of 1, TapeFlow is faster"
    width, height = LEFT + PLOT + RIGHT, y + 22
    axis = [
        f'<line x1="{x(2.0**k):.0f}" y1="{TOP - 6}" x2="{x(2.0**k):.0f}" y2="{y:.0f}" '
        f'opacity="{0.9 if k == 0 else 0.2}"/><text x="{x(2.0**k):.0f}" y="{y + 14:.0f}" text-anchor="middle">'
        f"{2**k if k >= 0 else f'1/{2**-k}'}</text>"
        for k in range(low, high + 1, step)
    ]
    legend = [
        f'<text x="{LEFT + 90 * i + 10}" y="14">{NAMES[f]}</text>'
        f'<circle cx="{LEFT + 90 * i}" cy="10" r="4" class="{f}"/>'
        for i, f in enumerate(frameworks)
    ]
    about = f'<text x="{LEFT}" y="31">time over TapeFlow\'s: right of 1, TapeFlow is faster</text>'
    style = "".join(f".ratios .{f}{{fill:{COLOURS[f]};stroke:{COLOURS[f]}}}" for f in frameworks)
    style += f".ratios text{{font:12px sans-serif;fill:{colour};stroke:none}}.ratios line{{stroke:{colour}}}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ratios" role="img" aria-label="{html.escape(label)}" '
        f'width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}">',
        f"<style>{style}</style>", *legend, about, *axis, *rows, "</svg>",
    ])  # fmt: skip


def lane(framework: str, ratios: dict[str, float], mean: float, x, y: float, names: bool) -> list[str]:
    """Returns the dots of one framework in one group, and their geometric mean as a line and a number."""
    dots = [
        f'<circle cx="{x(ratio):.1f}" cy="{y:.1f}" r="3" fill-opacity="0.35" stroke="none" class="{framework}"'
        + (f"><title>{html.escape(name)}: {ratio:g}</title></circle>" if names else "/>")
        for name, ratio in ratios.items()
    ]
    return [
        *dots,
        f'<line x1="{x(mean):.1f}" y1="{y - 6:.1f}" x2="{x(mean):.1f}" y2="{y + 6:.1f}" stroke-width="2.5" '
        f'class="{framework}"/>',
        f'<text x="{LEFT + PLOT + 10}" y="{y + 4:.1f}">{mean:.{1 if mean >= 10 else 2}f}</text>',
    ]


def picture() -> str:
    """Returns the picture of the README, in a grey that is read on white and on black."""
    return svg(["tensorflow", "torch"], RESULTS.read_text(encoding="utf-8"), colour="#7d8590") + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
