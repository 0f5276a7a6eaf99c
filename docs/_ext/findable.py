"""Stops a build whose search does not lead from a newcomer's words to the page that is about them.

A page names its words by an `index` directive, each after an exclamation mark. Sphinx's search puts such an entry, if
it is the query itself, before titles, names and texts.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

from sphinx.errors import ExtensionError

PAGES = {
    "convert to PyTorch": "guides/pytorch",
    "GPU": "guides/devices",
    "retracing": "guides/functions",
    "save model": "guides/saving",
    "TF_CONFIG": "guides/machines",
}
FIRST = 3  # results that are seen at once


def first_results(index: dict[str, Any], words: str) -> list[str]:
    """Returns the pages that the search puts first for some words: those whose main entry they are."""
    entries = index["indexentries"].get(words.lower(), [])
    return [index["docnames"][page] for page, _, is_main in entries if is_main]


def check(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    text = pathlib.Path(app.outdir, "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    for words, page in PAGES.items():
        if page not in first_results(index, words)[:FIRST]:
            raise ExtensionError(f"the search for {words!r} does not give {page} among its first {FIRST} results")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
