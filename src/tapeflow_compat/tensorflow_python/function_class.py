"""`tf.__internal__.function`: the class of `tf.function`s, with TensorFlow's constructor."""

from __future__ import annotations

from typing import Any

from tapeflow.function.function import Function as _Function
from tapeflow.function.function import Options


class _Meta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Function)


class Function(_Function, metaclass=_Meta):
    """A `tf.function`; every one is an instance.

    Args:
        python_function: the Python function.
        name: its name.
        input_signature: the specs of its arguments; or None.
        autograph: converts it first.
    """

    def __init__(
        self, python_function: Any, name: str, input_signature: Any = None, autograph: bool = True, **_: Any
    ) -> None:
        super().__init__(python_function, Options(input_signature, autograph=autograph), name)
