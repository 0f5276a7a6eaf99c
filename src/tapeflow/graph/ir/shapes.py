"""The static shapes of an op's outputs.

They come from the shape rule of the op's family where it has one. Otherwise its kernel runs on torch's meta device,
which computes shapes and no values: twice, with different lengths for the unknown dimensions; dimensions of the results
that differ are unknown too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.static import host_static, static_or_unknown
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor

UNKNOWN = TensorShape(None)
_TRIALS = ((5, 7, 11, 13, 17, 19, 23, 29), (6, 8, 12, 14, 18, 20, 24, 30), (4,), (9,))


def output_count(op: Any, args: Sequence[Any], types: dict[str, Any]) -> int:
    """Returns the number of outputs of the op for these arguments."""
    count = 0
    for out in op.opdef.outputs:
        if out.type_list_attr:
            count += len(types[out.type_list_attr])
        elif out.number_attr:
            count += _number(op, out.number_attr, args)
        else:
            count += 1
    return count


def _number(op: Any, attr: str, args: Sequence[Any]) -> int:
    for i, param in enumerate(op.params):
        if op.attr_names.get(param) == attr:
            return int(args[i])
    for argument, arg in zip(op.opdef.inputs, args, strict=False):
        if argument.number_attr == attr:
            return len(arg)
    raise ValueError(f"{op.name} does not say how many outputs it has")


def infer(op: Any, args: Sequence[Any], count: int) -> list[TensorShape]:
    """Returns the shapes of the outputs.

    Args:
        op: the op.
        args: its arguments, tensors being symbolic.
        count: the number of its outputs.

    Raises:
        InvalidArgumentError, ValueError: the shapes of the inputs do not go together.
    """
    if op.shape is not None:
        result = _by_rule(op, args)
        if isinstance(result, TensorShape) and count == 1:
            return [result]
        if isinstance(result, (list, tuple)) and len(result) == count:
            return [TensorShape(f) for f in result]
    return _by_kernel(op, args, count)


def _by_rule(op: Any, args: Sequence[Any]) -> Any:
    """Returns the result of the op's shape rule; None where that needs more than is static."""
    try:
        return op.shape(*op.map(lambda tensor: tensor.shape, args, host=static_or_unknown))
    except NotStatic:
        return None


def _by_kernel(op: Any, args: Sequence[Any], count: int) -> list[TensorShape]:
    statics = op.map(lambda tensor: tensor, args, host=host_static)
    if any(isinstance(arg, SymbolicTensor) or _has_unknown(arg) for arg in op.hosts(statics)):
        return [UNKNOWN] * count
    tensors = op.tensors(args)
    if any(t.shape.rank is None for t in tensors):
        return [UNKNOWN] * count
    static = all(t.shape.is_fully_defined() for t in tensors)
    trials: list[list[tuple[int, ...]]] = []
    for trial in _TRIALS:
        position = 0

        def value(t: SymbolicTensor, trial: tuple[int, ...] = trial) -> Any:
            nonlocal position
            dims = []
            for d in t.shape:
                if d is None:
                    d = trial[position % len(trial)]
                    position += 1
                dims.append(d)
            return torch.empty(dims, dtype=t.dtype.torch or torch.int64, device="meta")

        values = op.map(value, statics)
        try:
            if op.creates:
                result = op.kernel(*values, device=torch.device("meta"))
            else:
                result = op.kernel(*values)
        except Exception:  # no kernel on the meta device, one that looks at values, or lengths that do not fit
            continue
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(results) != count or not all(isinstance(r, torch.Tensor) for r in results):
            break
        trials.append([tuple(r.shape) for r in results])
        if static or len(trials) == 2:
            break
    if not trials or (len(trials) < 2 and not static):
        return [UNKNOWN] * count
    if static:
        return [TensorShape(s) for s in trials[0]]
    return [_common(a, b) for a, b in zip(*trials, strict=True)]


def _has_unknown(value: Any) -> bool:
    return isinstance(value, tuple) and any(
        v is None or isinstance(v, SymbolicTensor) or _has_unknown(v) for v in value
    )


def _common(a: tuple[int, ...], b: tuple[int, ...]) -> TensorShape:
    if len(a) != len(b):
        return UNKNOWN
    return TensorShape([x if x == y else None for x, y in zip(a, b, strict=True)])
