"""Calls of ATen's functions as one op, `Aten`: those that have no op of their own.

The call is an attr in JSON, `["aten.cumsum.default", [0, 1], {}]`. In it, `{"tensor": i}` stands for the op's i-th
tensor, and `{"size": i}` for the same tensor read as a number. Gradients are torch's.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.autodiff.vjp import KernelVjp
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor

_SIGNATURE = "tensors:Tin -> results:Tout; attr=Tin:list(type),min=0; attr=Tout:list(type); attr=call:string; "


class Uncallable(TypeError):
    """A call of ATen has an argument that has no place in an attr."""


def write_call(overload: Any, args: Sequence[Any], named: dict[str, Any]) -> tuple[str, list[Any]]:
    """Returns a call as an attr, and the tensors that the op takes.

    Args:
        overload: the function of ATen.
        args, named: its arguments. Scalar tensors may stand for integers.

    Raises:
        Uncallable: there is another kind of argument.
    """
    tensors: list[Any] = []

    def plain(value: Any, is_tensor: bool) -> Any:
        if isinstance(value, Tensor):
            tensors.append(value)
            return {"tensor" if is_tensor else "size": len(tensors) - 1}
        if isinstance(value, (list, tuple)):
            return [plain(v, is_tensor) for v in value]
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return {"torch": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": value.type}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise Uncallable(f"{overload} has an argument of type {type(value).__name__}")

    parameters = overload._schema.arguments
    kinds = {p.name: "Tensor" in str(p.type) for p in parameters}
    positional = [plain(a, kinds[p.name]) for a, p in zip(args, parameters, strict=False)]
    return json.dumps([str(overload), positional, {n: plain(a, kinds[n]) for n, a in named.items()}]), tensors


def call_of(call: str, tensors: Sequence[Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Returns the function of ATen that a call calls, and its arguments, with these tensors.

    Raises:
        ValueError: it calls no function of ATen.
    """

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(v) for v in value]
        if not isinstance(value, dict):
            return value
        ((kind, of),) = value.items()
        if kind == "torch":
            return getattr(torch, of)
        if kind == "device":
            return next((t.device for t in tensors), torch.get_default_device())
        return tensors[of] if kind == "tensor" or not isinstance(tensors[of], torch.Tensor) else int(tensors[of])

    name, args, named = _parsed(call)
    return _find_overload(name), [filled(a) for a in args], {n: filled(a) for n, a in named.items()}


_parsed = functools.lru_cache(maxsize=4096)(json.loads)


@functools.cache
def _find_overload(name: str) -> Any:
    namespace, packet, overload = name.split(".")
    if namespace != "aten":
        raise ValueError(f"{name} is no function of ATen.")
    return getattr(getattr(torch.ops.aten, packet), overload)


def _run_call(tensors: Sequence[torch.Tensor], call: str) -> tuple[torch.Tensor, ...]:
    function, args, named = call_of(call, tensors)
    results = function(*args, **named)
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


@op(
    "Aten",
    shape=lambda tensors, call, Tout, output_shapes: [TensorShape(s) for s in output_shapes],
    signature=_SIGNATURE + "attr=output_shapes:list(shape)",
    view=True,
)
def aten(tensors: Sequence[torch.Tensor], call: str, Tout: DTypeLike, output_shapes: Any) -> tuple[torch.Tensor, ...]:
    """Calls a function of ATen."""
    return _run_call(tensors, call)


@aten.inline
def _(tensors: Sequence[Any], call: str, Tout: Any, output_shapes: Any) -> Any:
    name, args, named = _parsed(call)
    try:
        arguments = [_argument_text(a) for a in args] + [f"{n}={_argument_text(a)}" for n, a in named.items()]
    except LookupError:
        return None
    text = f"{{kernel}}({', '.join(arguments)})"
    single = [str(r.type) for r in _find_overload(name)._schema.returns] == ["Tensor"]
    return (_find_overload(name), text) if single or len(Tout) > 1 else None


def _draws_random(overload: Any, args: Sequence[Any], named: dict[str, Any]) -> bool:
    """Returns True if a call draws random numbers; those that have a rate of dropout draw none where it is 0."""
    if torch.Tag.nondeterministic_seeded not in overload.tags:
        return False
    parameters = overload._schema.arguments
    values = {p.name: p.default_value for p in parameters} | named
    values |= {p.name: a for p, a in zip(parameters, args, strict=False)}
    rates = [values[n] for n in ("dropout", "dropout_p") if n in values]
    return not rates or (any(rates) and values.get("train", True))


def _argument_text(value: Any) -> str:
    """Returns the text of an argument.

    Raises:
        LookupError: it has none.
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_argument_text, value))}]"
    if isinstance(value, dict):
        return f"{{{value['tensor']}}}"
    if isinstance(value, float) and not math.isfinite(value):
        raise LookupError(value)
    return repr(value)


@aten.gradient(needs="inputs", none_for_zero=True)
def _(call: Call, *dys: Any) -> Any:
    text = call.attrs[0]
    inputs, places = list(call.inputs), [i for i, dy in enumerate(dys) if dy is not None]
    wanted = [i for i, (w, t) in enumerate(zip(call.wanted, inputs, strict=True)) if w and t.dtype.differentiable]
    gradients = iter(
        _aten_grad(
            [*inputs, *(dys[i] for i in places)], text, json.dumps([len(inputs), places, wanted]),
            [inputs[i].dtype for i in wanted], [inputs[i].shape for i in wanted],
        )
    )  # fmt: skip
    return [next(gradients) if i in wanted else None for i in range(len(inputs))]


@op(
    "AtenGrad",
    shape=lambda tensors, call, of, Tout, output_shapes: [TensorShape(s) for s in output_shapes],
    signature=_SIGNATURE + "attr=of:string; attr=output_shapes:list(shape)",
)
def _aten_grad(
    tensors: Sequence[torch.Tensor], call: str, of: str, Tout: DTypeLike, output_shapes: Any
) -> tuple[torch.Tensor, ...]:
    """Computes gradients of a function of ATen."""
    count, places, wanted = json.loads(of)
    vjp = KernelVjp(
        "AtenGrad",
        lambda *values: [o for i, o in enumerate(_run_call(values, call)) if i in places],
        count,
        tuple([i in wanted for i in range(count)]),
    )
    return vjp.kernel(*tensors)


def call_aten(overload: Any, args: Sequence[Any], named: dict[str, Any], like: Sequence[torch.Tensor]) -> list[Any]:
    """Adds a call of a function of ATen.

    Args:
        overload: the function.
        args, named: its arguments.
        like: tensors of the dtypes and shapes of its results, with symbols for dimensions of any size.

    Raises:
        Uncallable: it has an argument that is no attr, or draws random numbers.
    """
    if _draws_random(overload, args, named):
        raise Uncallable(f"{overload} draws random numbers")
    text, tensors = write_call(overload, args, named)
    shapes = [TensorShape([d if isinstance(d, int) else None for d in t.shape]) for t in like]
    return list(aten(tensors, text, [FROM_TORCH[t.dtype] for t in like], shapes))
