"""Functions that share their variables from call to call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow_compat.compat.v1.variable_scopes import VariableScope, variable_scope


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Returns a function whose variables are created at its first call, and shared by all later ones.

    Args:
        name_: a string, the name of its variable scope.
        func_: the function.
        create_scope_now_: whether the scope's name is chosen now instead of at the first call.
        unique_name_: a string, the scope's name, used unchanged.
        custom_getter_: the scope's custom getter, see `get_variable`.
        kwargs: arguments of the function.

    Returns:
        A function of the arguments of `func_` that are left.

    Example:
        >>> with tf.Graph().as_default():
        ...     by = lambda x: x * tf.compat.v1.get_variable("by", initializer=2.0)
        ...     scale = tf.compat.v1.make_template("scale", by)
        ...     y, z = scale(1.0), scale(2.0)
        ...     print([v.name for v in tf.compat.v1.global_variables()])
        ['scale/by:0']
    """
    bound = functools.partial(func_, **kwargs)
    scopes: list[VariableScope] = []

    def open_scope() -> None:
        with variable_scope(
            unique_name_, default_name=name_, custom_getter=custom_getter_, auxiliary_name_scope=False
        ) as scope:
            scopes.append(scope)

    def call(*args: Any, **kw: Any) -> Any:
        if not scopes:
            open_scope()
        with variable_scope(scopes[0], reuse=True if called else None):
            result = bound(*args, **kw)
        called.append(True)
        return result

    called: list[bool] = []
    if create_scope_now_:
        open_scope()
    functools.update_wrapper(call, func_)
    return call
