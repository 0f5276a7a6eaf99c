"""The public `tf.lite` namespace: models as .tflite files, and the runtime that runs them.

It needs the extra `tflite`: `pip install 'tapeflow[tflite]'`.
"""

import typing as _typing

from tapeflow.core.public_names import publish as _publish
from tapeflow.lite import experimental
from tapeflow.lite.converter import TFLiteConverter
from tapeflow.lite.extra import of_runtime as _of_runtime
from tapeflow.lite.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec

if _typing.TYPE_CHECKING:
    from ai_edge_litert.interpreter import Interpreter as Interpreter


def __getattr__(name: str) -> _typing.Any:
    if name == "Interpreter":
        return _of_runtime(name)
    raise AttributeError(f"module 'tapeflow.lite' has no attribute {name!r}")


_publish(globals(), "Interpreter", "experimental")
