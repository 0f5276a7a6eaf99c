"""Quotes code of the package in a page: the directive `quote`, which reads the code at each build.

Its argument is a file of `src/tapeflow`, or `examples/FILE`. Its options are those of Sphinx's `literalinclude`:
`:pyobject:` names a class or a function, `:start-at:` and `:end-before:` words of the first line and of the line after
the last. If the file no longer has them, the build fails, and so does a test.
"""

from __future__ import annotations

from typing import Any

from sphinx.directives.code import LiteralInclude


class Quote(LiteralInclude):
    """A part of a file of the package, under the file's name."""

    def run(self) -> list[Any]:
        file = self.arguments[0]
        path = file if file.startswith("examples/") else f"src/tapeflow/{file}"
        self.arguments[0] = f"/../{path}"
        self.options.setdefault("caption", f"`{path}`")
        self.options.setdefault("language", "python")
        self.options.setdefault("dedent", None)  # all that its lines have in common
        self.options["class"] = ["quote"]
        return super().run()


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("quote", Quote)
    return {"parallel_read_safe": True}
