"""The upgrade of one program's text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tapeflow_compat.tensorflow_python.upgrade.calls import CHANGES
from tapeflow_compat.tensorflow_python.upgrade.notes import ERROR, INFO, MODULES, NOTES, WARNING
from tapeflow_compat.tensorflow_python.upgrade.source import Argument, Call, Source, dotted_name
from tapeflow_compat.tensorflow_python.upgrade.table import full_name, read_table

_ITERATORS = ("make_initializable_iterator", "make_one_shot_iterator")


@dataclass(order=True)
class Entry:
    """A line of the report: what was changed or is to be checked at a place."""

    line: int
    column: int
    level: str = field(compare=False)
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.level}: {self.text}"


def upgrade_text(text: str, upgrade_compat_v1_import: bool = True) -> tuple[str, list[Entry]]:
    """Returns a program with the names and arguments of TensorFlow 2, and what was done.

    Args:
        text: the program.
        upgrade_compat_v1_import: False to leave programs as they are that import `tensorflow.compat.v1 as tf`.

    Returns:
        The new text, and the lines of the report.

    Raises:
        SyntaxError: it is not a program of Python 3.

    Example:
        >>> from tapeflow.tensorflow_python.upgrade.programs import upgrade_text
        >>> print(upgrade_text("import tensorflow as tf\\nx = tf.to_float(tf.log(y))")[0])
        import tensorflow as tf
        x = tf.cast(tf.math.log(y), dtype=tf.float32)
    """
    upgrade = _Upgrade(Source(text), upgrade_compat_v1_import)
    return upgrade.run(), sorted(upgrade.entries)


def use_compat_v1(text: str) -> tuple[str, list[Entry]]:
    """Returns a program that imports `tensorflow.compat.v1` in the place of `tensorflow`, and what was done.

    Raises:
        SyntaxError: it is not a program of Python 3.
    """
    source, entries = Source(text), []
    for node in ast.walk(source.tree):
        new: str | None = None
        if isinstance(node, ast.Import):
            new = "import " + ", ".join(map(_compat_v1_alias, node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            home = node.module.replace("tensorflow", "tensorflow.compat.v1", 1)
            if not any(map(_is_kept, modules)):
                new = f"from {home} import {', '.join(map(ast.unparse, node.names))}"
        if isinstance(node, ast.stmt) and new is not None and new != ast.unparse(node):
            source.replace(source.start(node), source.end(node), new)
            entries.append(Entry(node.lineno, node.col_offset, INFO, f"Changed import to {new!r}."))
    return source.edited(), sorted(entries)


def _is_kept(module: str) -> bool:
    package, *below = module.split(".")
    return package != "tensorflow" or below[:1] in (["contrib"], ["flags"], ["compat"], ["google"])


def _compat_v1_alias(alias: ast.alias) -> str:
    if _is_kept(alias.name):
        return ast.unparse(alias)
    name = alias.name.replace("tensorflow", "tensorflow.compat.v1", 1)
    shown = alias.asname or ("tensorflow" if alias.name == "tensorflow" else None)
    return f"{name} as {shown}" if shown else name


class _Upgrade(ast.NodeVisitor):
    """The walk through one program."""

    def __init__(self, source: Source, upgrade_compat_v1_import: bool) -> None:
        self.source, self.table, self.entries = source, read_table(), list[Entry]()
        self._upgrades_v1 = upgrade_compat_v1_import
        self._only_modules = False
        self._parents: list[ast.AST] = []
        self._renamed: set[int] = set()  # the functions of calls that have a new name

    def run(self) -> str:
        """Returns the new text."""
        for node in ast.walk(self.source.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._read_import(node)
        self.visit(self.source.tree)
        return self.source.edited()

    def _report(self, node: Any, level: str, text: str) -> None:
        self.entries.append(Entry(node.lineno, node.col_offset, level, text))

    def _read_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Finds imports by which `tf` is not TensorFlow 1's module: the program is not changed then."""
        home = "" if isinstance(node, ast.Import) else f"{node.module}."
        for alias in node.names:
            imported = home + alias.name, alias.asname
            if imported == ("tensorflow.compat.v1", "tf") and self._upgrades_v1 and not home:
                start = self.source.start(alias)
                self.source.replace(start, start + len(alias.name), "tensorflow")
            elif imported in (("tensorflow.compat.v1", "tf"), ("tensorflow.compat.v2", "tf")):
                self._only_modules = True
                self._report(node, INFO, f"The program imports {imported[0]} as tf: its names were not changed.")
            elif imported == ("tensorflow", None):
                self._only_modules = True
                self._report(node, ERROR, "The program must `import tensorflow as tf`: its names were not changed.")

    def visit(self, node: ast.AST) -> None:
        """Visits a node, and keeps those around it."""
        self._parents.append(node)
        super().visit(node)
        self._parents.pop()

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leaves f-strings: Python 3.11 does not know the places of names in them."""
        if "tf." in ast.unparse(node):
            self._report(node, WARNING, "Names in f-strings are not changed: edit by hand.")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Renames a name."""
        name = dotted_name(node)
        if id(node) in self._renamed:
            return
        if name is None:
            self.generic_visit(node)
            return
        known = full_name(name)
        if not self._only_modules:
            self._note(node, known, name)
            new = self.table.renames.get(known)
            if new is not None:
                self.source.replace(self.source.start(node), self.source.end(node), new)
                self._report(node, INFO, f"Renamed {name!r} to {new!r}")
                return
        if known in MODULES:
            around = next(p for p in reversed(self._parents[:-1]) if not isinstance(p, ast.Attribute))
            whole = next(n for n in ast.walk(around) if isinstance(n, ast.Attribute) and node in ast.walk(n))
            level, text = MODULES[known]
            self._report(node, level, f"Using member {dotted_name(whole) or name} in deprecated module {name}. {text}")
        self.generic_visit(node)

    def _note(self, node: Any, known: str, name: str) -> None:
        if known in self.table.notes:
            level, text = NOTES[self.table.notes[known]]
            self._report(node, level, f"{name} requires manual check. {text}")
        if known in self.table.addons:
            self._report(node, WARNING, f"{name} requires manual check. It is {self.table.addons[known]} now.")

    def visit_Call(self, node: ast.Call) -> None:
        """Changes the arguments of a call, then the names in it."""
        name = dotted_name(node.func)
        short = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if not self._only_modules and short is not None:
            known = full_name(name) if name is not None else None
            call = Call(self.source, node, name)
            if isinstance(node.func, ast.Attribute):
                self._note(node, f"*.{short}", name or short)
                if short in _ITERATORS and not (name or "").startswith(("tf.data", "tf.compat.v1.data")):
                    self._use_iterator_function(call, node.func)
            self._look_at_arguments(call, known, short)
            self._name_arguments(call, known)
            self._rename_keywords(call, known, short)
            change = CHANGES.get(known or "")
            if change is not None and not self._is_ready(call):
                if call.spreads:
                    self._report(node, WARNING, self._spread_text(name or short, "the arguments change"))
                change(call, lambda level, text: self._report(node, level, text))
            if call.function is not None:
                self._note(node.func, known or "", name or short)
                self._renamed.add(id(node.func))
            call.write()
        self.generic_visit(node)

    def _is_ready(self, call: Call) -> bool:
        """Returns True for `tf.strings.split(...).to_sparse()`."""
        around = self._parents[-2] if len(self._parents) > 1 else None
        return call.name == "tf.strings.split" and isinstance(around, ast.Attribute) and around.attr == "to_sparse"

    def _spread_text(self, name: str, what: str) -> str:
        return f"Check by hand: {what} of {name}, which is called with *args or **kwargs."

    def _use_iterator_function(self, call: Call, function: ast.Attribute) -> None:
        source, start = self.source, self.source.start(call.node)
        source.replace(start, start, f"tf.compat.v1.data.{function.attr}(")
        dot = source.text.rindex(".", 0, source.end(function))
        opening = source.text.index("(", source.end(function))
        source.replace(dot, opening + 1, ", " if call.arguments else "")
        text = f"Changed dataset.{function.attr}() to tf.compat.v1.data.{function.attr}(dataset). Check the result."
        self._report(call.node, WARNING, text)

    def _look_at_arguments(self, call: Call, known: str | None, short: str) -> None:
        for keyword, place in (*self.table.arguments.get(known or "", ()), *self.table.arguments.get(f"*.{short}", ())):
            if call.find(keyword, place) is not None or call.spreads:
                text = f"{call.name or short} called with {keyword} argument, requires manual check: it has none now."
                self._report(call.node, INFO if keyword.startswith("colocate") else WARNING, text)

    def _name_arguments(self, call: Call, known: str | None) -> None:
        parameters: Sequence[str | None] | None = self.table.parameters.get(known or "")
        if parameters is None:
            return
        if any(a.spreads and not a.named for a in call.arguments):
            self._report(call.node, WARNING, self._spread_text(str(call.name), "the order of the arguments"))
        named: list[Argument] = []
        for argument, parameter in zip(call.positional(), parameters, strict=False):
            if parameter is not None:
                call.set_keyword(argument, parameter)
                named.append(argument)
        if named:
            self._report(call.node, INFO, f"Added keywords to the arguments of {call.name!r}")

    def _rename_keywords(self, call: Call, known: str | None, short: str) -> None:
        keywords = {**self.table.keywords.get(f"*.{short}", {}), **self.table.keywords.get(known or "", {})}
        if keywords and any(a.spreads and a.named for a in call.arguments):
            self._report(call.node, WARNING, self._spread_text(call.name or short, "the names of the arguments"))
        for argument in call.arguments:
            if argument.name not in keywords:
                continue
            old, new = argument.name, keywords[argument.name]
            if new is None:
                argument.removed = True
                self._report(call.node, INFO, f"Removed argument {old} for function {call.name or short}")
            else:
                call.set_keyword(argument, new)
                self._report(call.node, INFO, f"Renamed keyword argument for {call.name} from {old} to {new}")
