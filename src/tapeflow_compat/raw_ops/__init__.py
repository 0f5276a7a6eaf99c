"""The public `tf.raw_ops` namespace: every op by its registered name, with keyword arguments only.

No op is listed here: its signature is read from its definition when it is first used.
"""

import typing as _typing

from tapeflow_compat.raw_ops import generated as _functions

__dir__ = _functions.names


def __getattr__(name: str) -> _typing.Any:
    if name == "__all__":  # `from tapeflow.raw_ops import *`
        return _functions.names()
    function = _functions.raw_op(name)
    if name not in _functions.OPTIONAL:
        globals()[name] = function
    return function
