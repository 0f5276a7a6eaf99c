"""`tf.autograph.experimental`."""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

from tapeflow.autograph.conversion import LEFT_ALONE

_UNSPECIFIED = object()


class Feature(enum.Enum):
    """Conversions that are not done unless they are asked for.

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
        """All of them."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All but one, or but several."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls.all() if f not in excluded)


def do_not_convert(func: Any = None) -> Any:
    """Says of a function that its control flow stays Python's own. A decorator.

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
    call.__dict__[LEFT_ALONE] = True
    return call


def set_loop_options(
    parallel_iterations: Any = _UNSPECIFIED,
    swap_memory: Any = _UNSPECIFIED,
    maximum_iterations: Any = _UNSPECIFIED,
    shape_invariants: Any = _UNSPECIFIED,
) -> None:
    """Sets options of the loop that this is called in, at the beginning of its body. Without a graph it does nothing.

    Args:
        parallel_iterations, swap_memory, maximum_iterations, shape_invariants: as for `tf.while_loop`; the invariants
            are pairs of a variable of the loop and a shape.

    Example:
        >>> total = 0
        >>> for i in tf.range(3):
        ...     tf.autograph.experimental.set_loop_options(maximum_iterations=10)
        ...     total += i
        >>> int(total)
        3
    """
