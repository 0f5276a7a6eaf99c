"""Writes the tutorial's pages as notebooks: the same text, and each Python block a cell.

Sphinx calls `setup`: they are written when the site is built, and each page links to its own. `dev.py notebooks` writes
them into a folder, with what they read. A test runs them.
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sys
from typing import Any

import blocks

PAGES = blocks.ROOT / "docs" / "tutorial"
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)]+)\)")
PLACE = """\
*A page of TapeFlow's tutorial as a notebook. Some read the digits in `examples/data` of the repository: start it in a
folder that has them, such as a clone, or the one that `python3 dev.py notebooks` makes.*"""


def notebook(text: str) -> dict[str, Any]:
    """Returns a page as a notebook, in Jupyter's format 4.5."""
    title, _, rest = text.partition("\n")
    cells = [cell("markdown", f"{title}\n\n{PLACE}")]
    for i, part in enumerate(blocks.BLOCK.split(rest)):
        if part.strip():
            cells.append(cell("code", part) if i % 2 else cell("markdown", LINK.sub(relinked, part)))
    for number, content in enumerate(cells):
        content["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def cell(kind: str, text: str) -> dict[str, Any]:
    """Returns a cell without output."""
    own = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.strip(), **own}


def relinked(match: re.Match[str]) -> str:
    """Returns a link to another page of the tutorial as one to its notebook, and of others only the words."""
    words, target = match.groups()
    return f"[{words}]({target.removesuffix('.md')}.ipynb)" if "/" not in target else words


def pages() -> list[pathlib.Path]:
    """Returns the pages that have notebooks."""
    return sorted(p for p in PAGES.glob("*.md") if blocks.BLOCK.search(p.read_text(encoding="utf-8")))


def write(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes all notebooks into a folder, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for page in pages():
        paths.append(folder / f"{page.stem}.ipynb")
        content = json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1, ensure_ascii=False)
        paths[-1].write_text(content + "\n", encoding="utf-8")
    return paths


def write_all(app: Any) -> None:
    """Writes the notebooks where pages link to them."""
    write(blocks.ROOT / "build" / "notebooks")


def link(app: Any, name: str, source: list[str]) -> None:
    """Adds the link to its notebook to a page of the tutorial."""
    page = pathlib.Path(app.env.doc2path(name))
    if page in pages():
        source[0] += (
            f"\nThis page as a notebook: {{download}}`{page.stem}.ipynb </../build/notebooks/{page.stem}.ipynb>`\n"
        )


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_all)
    app.connect("source-read", link)
    return {"parallel_read_safe": True}


if __name__ == "__main__":  # with what the notebooks read beside them
    place = pathlib.Path(sys.argv[1])
    written = write(place)
    shutil.copytree(blocks.ROOT / "examples", place / "examples", dirs_exist_ok=True)
    print(f"{len(written)} notebooks are in {place}: open them with `jupyter lab {place}`")
