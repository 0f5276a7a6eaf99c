"""Stops a build in which a link within the site leads nowhere: to a page that is not there, or a part that it lacks."""

from __future__ import annotations

import html
import os
import pathlib
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.errors import ExtensionError

LINK = re.compile(r"""<(?:a|link|img|script)\b[^>]*?\b(?:href|src)="([^"]+)\"""")
PART = re.compile(r"""\b(?:id|name)="([^"]+)\"""")


def broken(folder: pathlib.Path) -> list[str]:
    """Returns the links of a site's pages that lead nowhere, each with its page."""
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    parts = {path: {html.unescape(p) for p in PART.findall(text)} for path, text in texts.items()}
    wrong = []
    for page, text in texts.items():
        for link in dict.fromkeys(LINK.findall(text)):
            url = urlsplit(html.unescape(link))
            if url.scheme or url.netloc:
                continue
            target = pathlib.Path(os.path.normpath(page.parent / unquote(url.path))) if url.path else page
            lacks = target in parts and url.fragment and unquote(url.fragment) not in parts[target]
            if lacks or not target.exists():
                wrong.append(f"{page.relative_to(folder.resolve())}: {link}")
    return wrong


def check(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        wrong = broken(pathlib.Path(app.outdir))
        if wrong:
            raise ExtensionError("links that lead nowhere:\n" + "\n".join(wrong))


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
