"""The bridge to PyTorch: `tapeflow.torch`.

TapeFlow's tensors are torch's underneath, so both kinds of program can be one:

- `from_torch` and `to_torch` hand tensors over in the same memory, and functions of torch take TapeFlow's tensors.
- `Layer` is a layer of Keras around a `torch.nn.Module`.
- `module` makes a `torch.nn.Module` of a `tf.function`, a Keras model or a SavedModel, which torch trains, compiles and
  exports.
- `convert` writes models as files for torch, ONNX Runtime and C++: `python -m tapeflow convert MODEL --to onnx`.
"""

import typing as _typing
import warnings as _warnings

from tapeflow.core.lazy_modules import load as _load
from tapeflow.core.public_names import publish as _publish
from tapeflow.torch.convert import convert
from tapeflow.torch.memory import from_torch, to_torch
from tapeflow.torch.module import Converted, module

if _typing.TYPE_CHECKING:
    from tapeflow.torch.layer import Layer as Layer

# torch.export copies its own trees in a deprecated way, about which no program can do anything.
_warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning, "copyreg")


def __getattr__(name: str) -> _typing.Any:
    """Loads the parts that need Keras at their first use."""
    if name != "Layer":
        raise AttributeError(f"module 'tapeflow.torch' has no attribute {name!r}")
    _load("tapeflow.keras")
    return _load("tapeflow.torch.layer").Layer


_publish(globals(), "Layer")
