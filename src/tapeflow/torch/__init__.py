"""The bridge to PyTorch: `tapeflow.torch`.

TapeFlow's tensors are torch's underneath, so both kinds of program can be one:

- `from_torch` and `to_torch` hand tensors over in the same memory, and functions of torch take TapeFlow's tensors.
- `module` makes a `torch.nn.Module` of a `tf.function`, a Keras model or a SavedModel, which torch trains, compiles and
  exports.
"""

from __future__ import annotations

from tapeflow.torch.memory import from_torch, to_torch
from tapeflow.torch.module import Converted, module

__all__ = ["Converted", "from_torch", "module", "to_torch"]
