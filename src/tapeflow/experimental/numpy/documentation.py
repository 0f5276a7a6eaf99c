"""One rule for the docstrings of `tf.experimental.numpy`: a function is NumPy's, and an example compares the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


VALUES = "np.allclose({}, {})"
SHAPES = "np.shape({}) == np.shape({})"


def document(
    function: Callable[..., Any], arguments: str | None = None, numpy_name: str | None = None, comparison: str = VALUES
) -> None:
    """Adds Args, Returns and an example to the docstring of a function. The example compares it with NumPy's.

    Args:
        function: its docstring is the summary.
        arguments: the arguments of the example, as Python source. None leaves the example out.
        numpy_name: the function's name in NumPy, if it is another.
        comparison: how the example compares the results, as Python source with a place for each.
    """
    like = f"numpy.{numpy_name or function.__name__}"
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & 4)]
    text = f"{function.__doc__}\n"
    if names:
        text += f"\nArgs:\n    {', '.join(names)}: as for `{like}`; tensors take the place of arrays.\n"
    text += f"\nReturns:\n    As `{like}`, of tensors.\n"
    if arguments is not None:
        space = "tnp.random" if like.startswith("numpy.random.") else "tnp"
        calls = f"{space}.{function.__name__}({arguments})", f"{like.replace('numpy', 'np')}({arguments})"
        text += (
            "\nExample:\n    >>> from tapeflow.experimental import numpy as tnp\n"
            f"    >>> {comparison.format(*calls)}\n    True\n"
        )
    function.__doc__ = text


def numpy_function(
    arguments: str | None = None, numpy_name: str | None = None, comparison: str = VALUES
) -> Callable[[_Function], _Function]:
    """Returns the decorator of a function of `tf.experimental.numpy`, which completes its docstring."""

    def decorate(function: _Function) -> _Function:
        document(function, arguments, numpy_name, comparison)
        return function

    return decorate
