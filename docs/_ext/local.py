"""Stops a build whose pages would ask another host for a script, a style, a font or a picture."""

import pathlib
import re

from sphinx.errors import ExtensionError

LOADS = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^>]*>""")
STYLES = re.compile(r"""(?:@import\s+|url\()\s*["']?(?:https?:)?//[^)\s]*""")


def check(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    for pattern, kind in ((LOADS, "*.html"), (STYLES, "*.css")):
        for file in pathlib.Path(app.outdir).rglob(kind):
            asked = pattern.search(file.read_text(encoding="utf-8"))
            if asked:
                raise ExtensionError(f"{file.relative_to(app.outdir)} asks another host: {asked[0]}")


def setup(app):
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
