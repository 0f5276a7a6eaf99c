"""The bridge to PyTorch: `tapeflow.torch`.

TapeFlow's tensors are torch's underneath, so both kinds of program can be one:

- `from_torch` and `to_torch` hand tensors over in the same memory, and functions of torch take TapeFlow's tensors.
"""

from __future__ import annotations

from tapeflow.torch.memory import from_torch, to_torch

__all__ = ["from_torch", "to_torch"]
