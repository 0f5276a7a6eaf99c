"""Options of AutoGraph: for functions, and for loops."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, overload

from tapeflow.autograph.conversion import DO_NOT_CONVERT
from tapeflow.core.types.aliases import ShapeLike, TensorLike

_UNSPECIFIED = object()


class Feature(enum.Enum):
    """Optional conversions, which are off by default.

    Example:
        >>> tf.autograph.experimental.Feature.LISTS.value
        'LISTS'
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Returns all features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Feature | Sequence[Feature]) -> tuple[Feature, ...]:
        """Returns all features but one or several, and `ALL`."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls.all() if f not in excluded and f is not cls.ALL)


@overload
def do_not_convert(func: None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@overload
def do_not_convert(func: Callable[..., Any]) -> Callable[..., Any]: ...
def do_not_convert(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Marks a function as not to be converted by AutoGraph.

    Args:
        func: the function; None returns a decorator.

    Returns:
        A function of the same arguments with the same results.

    Example:
        >>> @tf.autograph.experimental.do_not_convert
        ... def sign(x):
        ...     return 1 if x > 0 else -1
        >>> sign(3)
        1
    """
    if func is None:
        return do_not_convert

    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    call = functools.wraps(func)(call) if isinstance(func, (types.FunctionType, types.MethodType)) else call
    call.__dict__[DO_NOT_CONVERT] = True
    return call


def set_loop_options(
    parallel_iterations: int | object = _UNSPECIFIED,
    swap_memory: bool | object = _UNSPECIFIED,
    maximum_iterations: TensorLike | object = _UNSPECIFIED,
    shape_invariants: Sequence[tuple[Any, ShapeLike]] | object = _UNSPECIFIED,
) -> None:
    """Sets options of the surrounding loop, at the beginning of its body. It has no effect in eager mode.

    Args:
        parallel_iterations, swap_memory: accepted, and without effect.
        maximum_iterations: an int scalar, the most iterations of the loop. Unlimited by default.
        shape_invariants: pairs of a loop variable and the `tf.TensorShape` that all its values fit.

    Returns:
        None.

    Example:
        >>> total = 0
        >>> for i in tf.range(3):
        ...     tf.autograph.experimental.set_loop_options(maximum_iterations=10)
        ...     total += i
        >>> int(total)
        3
    """
