"""One rule for the docstrings of `tf.experimental.numpy`: a function is NumPy's, and an example compares the two."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


VALUES = "np.allclose({}, {})"
SHAPES = "np.shape({}) == np.shape({})"


def document(
    function: Callable[..., Any], arguments: str | None = None, numpy_name: str | None = None, comparison: str = VALUES
) -> None:
    """Adds Args, Returns, Raises and an example to the docstring of a function. The example compares it with NumPy's.

    Args:
        function: its docstring is the summary, and the sections that differ from the usual ones.
        arguments: the arguments of the example, as Python source. None leaves the example out.
        numpy_name: the function's name in NumPy, if it is another.
        comparison: how the example compares the results, as Python source with a place for each.
    """
    like = f"numpy.{numpy_name or function.__name__}"
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & 4)]
    summary, *own = re.split(r"\n\n(?=\w+:\n)", inspect.cleandoc(function.__doc__ or ""))
    shapes, error = "of any shape", ""
    if "x2" in names:
        shapes, error = "whose shapes broadcast", "\n    InvalidArgumentError: the shapes do not broadcast."
    elif "axis" in names:
        error = "\n    InvalidArgumentError: `axis` is out of range."
    sections = {"Returns": f"    As `{like}`, of tensors."}
    if names:
        arrays = f"    {', '.join(names)}: as for `{like}`; tensors {shapes} take the place of arrays."
        invalid = f"    TypeError, ValueError: an argument is invalid for `{like}`."
        sections = {"Args": arrays, **sections, "Raises": invalid + error}
    if arguments is not None:
        space = "tnp.random" if like.startswith("numpy.random.") else "tnp"
        calls = f"{space}.{function.__name__}({arguments})", f"{like.replace('numpy', 'np')}({arguments})"
        import_line = "    >>> from tapeflow.experimental import numpy as tnp"
        sections["Example"] = f"{import_line}\n    >>> {comparison.format(*calls)}\n    True"
    sections |= dict(section.split(":\n", 1) for section in own)
    function.__doc__ = "\n\n".join([summary, *(f"{title}:\n{text}" for title, text in sections.items())]) + "\n"


def named_function(function: Callable[..., Any], name: str, summary: str, example: str | None) -> Any:
    """Returns a function with a name and a docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    document(function, example)
    return function


def numpy_function(
    arguments: str | None = None, numpy_name: str | None = None, comparison: str = VALUES
) -> Callable[[_Function], _Function]:
    """Returns the decorator of a function of `tf.experimental.numpy`, which completes its docstring."""

    def decorate(function: _Function) -> _Function:
        document(function, arguments, numpy_name, comparison)
        return function

    return decorate
