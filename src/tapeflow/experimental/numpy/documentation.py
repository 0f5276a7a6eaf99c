"""One rule for the docstrings of `tf.experimental.numpy`: a function is NumPy's, and an example compares the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def document(function: Any, arguments: str | None = None, numpy_name: str | None = None) -> None:
    """Completes the docstring of a function: arguments, result, and an example that compares it with NumPy's.

    Args:
        function: its docstring is the summary.
        arguments: the arguments of the example, as Python source. None leaves the example out.
        numpy_name: the function's name in NumPy, if it is another.
    """
    like = f"numpy.{numpy_name or function.__name__}"
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & 4)]
    text = f"{function.__doc__}\n"
    if names:
        text += f"\nArgs:\n    {', '.join(names)}: as for `{like}`; tensors take the place of arrays.\n"
    text += f"\nReturns:\n    As `{like}`, of tensors.\n"
    if arguments is not None:
        call = f"{function.__name__}({arguments})"
        text += (
            "\nExample:\n    >>> from tapeflow.experimental import numpy as tnp\n"
            f"    >>> np.allclose(tnp.{call}, {like.replace('numpy', 'np')}({arguments}))\n    True\n"
        )
    function.__doc__ = text


def numpy_function(arguments: str | None = None, numpy_name: str | None = None) -> Callable[[_Function], _Function]:
    """Returns the decorator of a function of `tf.experimental.numpy`, which completes its docstring."""

    def decorate(function: _Function) -> _Function:
        document(function, arguments, numpy_name)
        return function

    return decorate
