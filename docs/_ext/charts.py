"""Draws the benchmarks' ratios in a page: the directive `ratios`, whose argument is the frameworks."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

import plots


class Ratios(SphinxDirective):
    """A picture of the ratios of some frameworks, from the tables of RESULTS.md."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[Any]:
        self.env.note_dependency(str(plots.RESULTS))
        drawn = plots.svg(self.arguments[0].split(), plots.RESULTS.read_text(encoding="utf-8"), names=True)
        return [nodes.raw("", f'<div class="drawing">{drawn}</div>', format="html")]


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("ratios", Ratios)
    return {"parallel_read_safe": True}
