"""The public `tf.lite.experimental` namespace."""

import typing as _typing

from tapeflow.core.unsupported import below as _below
from tapeflow.core.unsupported import names_below as _names_below
from tapeflow.lite.analyzer import Analyzer
from tapeflow.lite.extra import of_runtime as _of_runtime

if _typing.TYPE_CHECKING:
    from ai_edge_litert.interpreter import OpResolverType as OpResolverType
    from ai_edge_litert.interpreter import load_delegate as load_delegate

__all__ = ["Analyzer", "OpResolverType", "load_delegate", *_names_below("lite.experimental")]
__dir__ = __all__.copy
_unsupported = _below("lite.experimental")


def __getattr__(name: str) -> _typing.Any:
    if name in ("OpResolverType", "load_delegate"):
        return _of_runtime(name)
    return _unsupported(name)
