"""Functions of TensorFlow 1 that are functions of TensorFlow 2 with other parameters, and helpers for old names.

`aliases.txt` lists these functions. An entry begins with the names below `tf.compat.v1` and the function that does the
work. Then come `old=new`, for a parameter with another name there, and `-name`, for a parameter without effect. The
next line has TensorFlow 1's parameters, the others an example.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

_FILE = pathlib.Path(__file__).with_name("aliases.txt")


class Alias(NamedTuple):
    """A function of TensorFlow 1: an entry of `aliases.txt`."""

    names: tuple[str, ...]
    target: str
    renamed: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    parameters: str
    example: str


@functools.cache
def listed() -> dict[str, Alias]:
    """Returns the functions by each of their names below `tf.compat.v1`."""
    result: dict[str, Alias] = {}
    for entry in _FILE.read_text(encoding="utf-8").split("\n\n"):
        head, parameters, *example = entry.strip().split("\n")
        names, _, work = head.partition(" = ")
        target, *changes = work.split()
        renamed = tuple((old, new) for old, _, new in (c.partition("=") for c in changes if not c.startswith("-")))
        ignored = tuple(change[1:] for change in changes if change.startswith("-"))
        alias = Alias(tuple(names.split()), target, renamed, ignored, parameters.strip()[1:-1], "\n".join(example))
        result |= dict.fromkeys(alias.names, alias)
    return result


def function(alias: Alias) -> Callable[..., Any]:
    """Returns the function. It has TensorFlow 1's parameters, and calls TensorFlow 2's function."""
    key = f"tf.compat.v1.{alias.names[0]}"
    if key not in globals():  # a global of this module: `tensorflow_python/dispatch.py` replaces it too
        globals()[key] = _made(alias)
    return globals()[key]


def _made(alias: Alias) -> Callable[..., Any]:
    import tapeflow

    path = alias.target.removeprefix("tf.")
    target = resolved(path)
    accepted = inspect.signature(target).parameters
    defaults = {name: p.default for name, p in accepted.items() if p.default not in (None, p.empty)}

    def call(arguments: dict[str, Any]) -> Any:
        for name in alias.ignored:
            del arguments[name]
        for old, new in alias.renamed:
            value = arguments.pop(old)
            arguments[new] = either(new, arguments[new], old, value) if new in arguments else value
        # None stands for the default of TensorFlow 2.
        target = resolved(path)  # a dispatcher may have replaced it
        return target(**{k: v for k, v in arguments.items() if v is not None or k not in defaults})

    name = alias.names[0].rpartition(".")[2]
    source = f"def {name}({alias.parameters}): return call(locals())"
    place = str(pathlib.Path(__file__).with_name(f"<tf.compat.v1.{alias.names[0]}>"))
    namespace: dict[str, Any] = {"call": call, "tf": tapeflow}
    exec(compile(ast.parse(source), place, "exec"), namespace)
    made: Any = namespace[name]
    made.__module__, made.__doc__ = __name__, _documentation(alias, inspect.getdoc(target) or "")
    return made


def _documentation(alias: Alias, text: str) -> str:
    """Returns the docstring of the function: TensorFlow 2's, with the differences and another example."""
    summary, _, rest = text.partition("Example:\n")[0].strip().partition("\n\n")
    own = {p.partition("=")[0] for p in alias.parameters.split(", ")}
    older = [(old, new) for old, new in alias.renamed if new in own]
    differences = [f"`{old}` is the old name of `{new}`." for old, new in older]
    differences += [f"`{old}` is its `{new}`." for old, new in alias.renamed if new not in own]
    differences += [f"`{name}` has no effect." for name in alias.ignored]
    difference = " ".join([f"`{alias.target}` has these parameters in another order or by other names.", *differences])
    error = "    ValueError: an argument is specified by both names."
    if older and "Raises:\n" in rest:
        rest = rest.replace("Raises:\n", f"Raises:\n{error}\n")
    elif older:
        rest = "\n\n".join(filter(None, [rest.strip(), f"Raises:\n{error}"]))
    return "\n\n".join(filter(None, [summary, difference, rest.strip(), f"Example:\n{alias.example}"]))


def resolved(path: str) -> Any:
    """Returns the object with that name below `tf`."""
    import tapeflow

    return functools.reduce(getattr, path.split("."), tapeflow)


def either(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Returns the argument that was passed under the new name or under the old one.

    Raises:
        ValueError: both were passed.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


def member(name: str, **words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function a member of a family: sets its name, and fills in its docstring.

    Args:
        name: replaces `{name}` in the docstring.
        **words: replace other words in braces there.
    """

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = (function.__doc__ or "").format(name=name, **words)
        return function

    return named
