"""The search for infinities and NaNs in the results of ops, and the message that names the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.types.dtypes import FROM_TORCH

# Ops that only pass values on, and those that TensorFlow does not check either.
UNCHECKED = frozenset({
    "Case", "CheckNumerics", "Concat", "ConcatV2", "Enter", "Exit", "ExpandDims", "Fill", "Gather", "Identity", "If",
    "LoopCond", "Maximum", "Merge", "Minimum", "NextIteration", "Placeholder", "Reshape", "Slice", "Squeeze", "Stack",
    "StatelessCase", "StatelessIf", "StatelessWhile", "StridedSlice", "StridedSliceGrad", "Switch",
    "TensorListConcatV2", "TensorListGather", "TensorListGetItem", "TensorListPopBack", "TensorListStack", "Transpose",
    "Unpack", "While",
})  # fmt: skip
# The moments of an empty batch are NaN.
_UNCHECKED_OUTPUTS = {"FusedBatchNorm": 1, "FusedBatchNormV2": 1, "FusedBatchNormV3": 1}


def checked_outputs(op: str, dtypes: Sequence[Any]) -> list[int]:
    """Returns the places of the outputs of an op that are searched for infinities and NaNs.

    Args:
        op: the op's name.
        dtypes: the dtypes of its outputs.
    """
    if op in UNCHECKED:
        return []
    end = _UNCHECKED_OUTPUTS.get(op, len(dtypes))
    return [i for i, dtype in enumerate(dtypes[:end]) if dtype.is_floating]


def is_finite(value: torch.Tensor) -> bool:
    """Returns False if a raw value contains an infinity or a NaN.

    A sum is finite only if its addends are, and costs less than a test of each. It may overflow, so a sum that is not
    finite proves nothing.
    """
    if not isinstance(value, torch.Tensor) or value.is_meta:
        return True
    if value.dtype.itemsize < 4:
        value = value.float()
    return math.isfinite(value.sum().item()) or bool(value.isfinite().all())


def not_finite(
    value: torch.Tensor, output: int, count: int, op: str, kind: str, inputs: Sequence[str], raw_inputs: Sequence[Any],
    graph: str = "",
) -> InvalidArgumentError:  # fmt: skip
    """Returns the error for a result with infinities or NaNs.

    Args:
        value: the result.
        output: its place among the outputs of the op.
        count: the number of these outputs.
        op: the op's name.
        kind: "eagerly-executing" or "graph".
        inputs: the inputs of the op, as text.
        raw_inputs: their raw values.
        graph: the name of the graph, if there is one.
    """
    found = [(word, where) for word, test in _KINDS.items() if (where := test(value)).any()]
    first = torch.stack([where for _, where in found]).any(0).nonzero()[0].tolist()
    lines = [
        "",
        "",
        f'!!! Detected Infinity or NaN in output {output} of {kind} op "{op}" (# of outputs: {count}) !!!',
        f"  dtype: {FROM_TORCH[value.dtype]}",
        f"  shape: {tuple(value.shape)}",
        *[f"  # of {'+NaN' if word == 'NaN' else word} elements: {int(where.sum())}" for word, where in found],
    ]
    if first:
        lines.append(f"  first at index: {first}")
    if inputs:
        one = len(inputs) == 1
        lines += ["", f"  Input tensor: {inputs[0]}" if one else f"  Input tensors ({len(inputs)}):"]
        lines += [] if one else [f"         {i}: {text}" for i, text in enumerate(inputs)]
        ranges = [f"{i}: {text}" for i, raw in enumerate(raw_inputs) if (text := _range_text(raw))]
        lines += [f"  Range of input {text}" for text in ranges]
    if graph:
        lines.append(f'  Graph name: "{graph}"')
    words = " and ".join(word for word, _ in found)
    return InvalidArgumentError.of("\n".join([*lines, "", f" : Tensor had {words} values"]))


_KINDS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "-Inf": torch.isneginf, "+Inf": torch.isposinf, "NaN": torch.isnan,
}  # fmt: skip


def _range_text(value: torch.Tensor | None) -> str:
    """Returns the smallest and the largest finite element of a raw value as text; "" if there are none."""
    if not isinstance(value, torch.Tensor) or value.is_complex() or value.dtype is torch.bool:
        return ""
    if value.dtype.itemsize < 4 and value.is_floating_point():
        value = value.float()
    finite = value[value.isfinite()]
    if not finite.numel():
        return "no finite element" if value.numel() else ""
    low, high = finite.aminmax()
    text = f"{low.item():.7g} to {high.item():.7g}"
    return text if finite.numel() == value.numel() else f"{text}, and {value.numel() - finite.numel()} not finite"
