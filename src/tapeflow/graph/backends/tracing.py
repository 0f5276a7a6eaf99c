"""A flat program as graphs of ATen calls, for the shapes of its inputs.

Each call is traced once, with tensors without memory. The trace gives the shapes of its results, the constant parts of
the program, and the kernel's ATen calls, which a dispatch mode of this thread records. `make_fx` would trace the
program a second time, and it patches `torch.nn.Module` for all threads.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.fx
from torch.fx.node import map_aggregate

from tapeflow.core import device as devices
from tapeflow.core.aten import FakeTensor, FakeTensorMode, TorchDispatchMode
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.ops.static import numbers
from tapeflow.graph.backends.kernel_calls import Flat, FlatValue, KernelCall, Refused, label

# Of an argument: its shape, its strides if it is not contiguous, its dtype and device.
Argument = tuple[tuple[int, ...], tuple[int, ...] | None, torch.dtype, torch.device]
_MOST_CONSTANT = 1 << 16  # bytes: larger constants are computed in each run


class Recorded(NamedTuple):
    """A call of an ATen op, with arguments and result. Only constant tensors have memory."""

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any


class _Recorder(TorchDispatchMode):
    """Records the ATen calls of this thread.

    Attributes:
        calls: the calls, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Recorded] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.calls.append(Recorded(func, args, kwargs or {}, result))
        return result


def empty(argument: Argument) -> torch.Tensor:
    """Returns a tensor like an argument."""
    shape, strides, dtype, device = argument
    if strides is None:
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.empty_strided(shape, strides, dtype=dtype, device=device)


def described(tensor: torch.Tensor) -> Argument:
    """Returns shape, strides, dtype and device of a tensor. Compiled code depends on them."""
    strides = None
    if not tensor.is_contiguous() and torch.empty_like(tensor, device="meta").stride() == tensor.stride():
        strides = tensor.stride()  # they have no gaps
    return tuple(tensor.shape), strides, tensor.dtype, tensor.device


def trace(flat: Flat, arguments: Sequence[Argument]) -> None:
    """Infers the shapes of all tensors, records the ATen calls, and removes calls whose results are constant.

    Args:
        flat: the program.
        arguments: the descriptions of its inputs.

    Raises:
        Refused: the shape of a result depends on values.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        for value, argument in zip(flat.inputs, arguments, strict=True):
            value.fake = empty(argument)
    remaining = []
    for call in flat.calls:
        results = _inferred(call, mode)
        for value, result in zip(call.outputs, results, strict=True):
            if type(result) is torch.Tensor:
                value.constant = result
            else:
                value.fake = result
        if any(v.constant is None for v in call.outputs):
            remaining.append(call)
    flat.calls = remaining


def _inferred(call: KernelCall, mode: Any) -> list[Any]:
    """Returns a call's results: real tensors if they are constant, otherwise fake ones."""
    if call.step.op.reads_shape and call.step.op.static_value is not None:
        return call.with_dtypes(call.kernel(*call.kernel_arguments(FlatValue.stand_in)))
    constant = call.step.pure and all(v.constant is not None for v in call.inputs)
    results = None
    if call.eager_because is None:
        with mode:
            results = _traced_results(call)
    if results is None:
        results = _empty(call, mode)
    if results is None and not constant:
        why = call.eager_because or f"{label(call.step)} draws random numbers, and how many depends on values"
        raise Refused(why, call.part_of)
    if results is None or (constant and sum(r.nbytes for r in results) <= _MOST_CONSTANT):
        return call.run(FlatValue.stand_in)
    return results


def _traced_results(call: KernelCall) -> list[Any] | None:
    """Traces a call with fake tensors.

    Returns:
        Its results; None if the kernel can't be traced, and `call.eager_because` is set.
    """
    try:
        return _traced(call)
    except Refused as why:
        call.eager_because = str(why)
    except Exception:  # of torch's tracer, which has many
        call.literal = True  # it may look at the values of constants only
        try:
            return _traced(call)
        except Exception as error:
            call.eager_because = f"{label(call.step)} {_untraceable(error)}"
    return None


def _traced(call: KernelCall) -> list[torch.Tensor]:
    """Calls a kernel with fake tensors, and records its ATen calls."""
    hosts = {id(a) for kind, a in zip(call.kinds, call.args, strict=True) if kind == "host"}

    def of(value: FlatValue) -> torch.Tensor:
        constant = value.constant
        if constant is None:
            return value.fake
        if id(value) in hosts or constant.numel() != 1 or constant.dtype.is_complex:
            return constant
        if call.literal:
            return torch.tensor(constant.tolist(), dtype=constant.dtype, device=constant.device)
        # a number in the code
        return torch.full(constant.shape, _number(constant), dtype=constant.dtype, device=constant.device)

    with torch.no_grad(), _Recorder() as recorder:
        results = call.with_dtypes(call.kernel(*call.kernel_arguments(of)))
    call.recorded = recorder.calls
    return results


def _number(constant: torch.Tensor) -> Any:
    """Returns the only element of a tensor. A tracer would record `constant.item()` as a call."""
    number = constant.tolist()
    while type(number) is list:
        (number,) = number
    return number


def _empty(call: KernelCall, mode: Any) -> list[Any] | None:
    """Returns fake results of a call that runs eagerly; None if their shapes are not static."""
    step = call.step
    shapes = [t.shape for t in step.outputs]
    if not all(s.is_fully_defined() for s in shapes) and step.registered:
        try:
            shapes = step.op.infer(call.args, step.types, len(shapes), host=_static)
        except NotStatic:
            return None
    if not all(s.is_fully_defined() for s in shapes):
        return None
    device = next((v.stand_in().device for v in call.inputs), devices.current_or_default())
    dtypes = [v.dtype.torch for v in call.outputs]
    with mode:
        return [torch.empty(s.as_list(), dtype=d, device=device) for s, d in zip(shapes, dtypes, strict=True)]


def _static(arg: Any) -> Any:
    """Returns a host argument as Python numbers.

    Raises:
        NotStatic: it is computed when the program runs.
    """
    if not isinstance(arg, FlatValue):
        return arg
    if arg.constant is None:
        raise NotStatic
    return numbers(arg.constant)


def _untraceable(error: Exception) -> str:
    """Returns the reason why a kernel can't be traced, from its error."""
    kind = type(error).__name__
    if kind.startswith(("DataDependent", "DynamicOutputShape", "GuardOnDataDependent")):
        return "has a kernel that looks at values"
    return f"can't be traced: {first_line(error).rstrip('.')}"


# ---- graphs ----------------------------------------------------------------------------------------------------------


class AtenGraph:
    """The ATen calls of a stage.

    Args:
        calls: the calls of kernels.
        inputs: the tensors that it takes.
        outputs: the tensors that it returns.
        assigned: the ids of the outputs that are assigned to variables. They are made contiguous, as inputs must be.

    Attributes:
        module: the calls; it takes the inputs, then the constants.
        arguments: the shapes, layouts, dtypes and devices of its arguments.
        constants: the constants.
    """

    def __init__(
        self, calls: Sequence[KernelCall], inputs: Sequence[FlatValue], outputs: Sequence[FlatValue], assigned: set[int]
    ) -> None:
        recorded = [record for call in calls for record in call.recorded]
        with torch.no_grad(), _Recorder() as last:
            results = [v.fake.contiguous() if id(v) in assigned else v.fake for v in outputs]
        recorded += last.calls
        constants = _constants(recorded)
        self.constants = [t.contiguous() for t in constants]
        operands = [*(v.fake for v in inputs), *constants]
        self.arguments = [described(t) for t in operands]
        graph = torch.fx.Graph()
        nodes = {id(t): graph.placeholder(f"input_{i}") for i, t in enumerate(operands)}
        node_of: Callable[[Any], Any] = lambda x: nodes[id(x)] if isinstance(x, torch.Tensor) else x  # noqa: E731
        for op, args, kwargs, result in recorded:
            node = graph.call_function(op, map_aggregate(args, node_of), map_aggregate(kwargs, node_of))
            if isinstance(result, torch.Tensor):
                nodes[id(result)] = node  # of an op that changes its operand, the operand's
            elif isinstance(result, (list, tuple)):
                for i, part in enumerate(result):
                    if isinstance(part, torch.Tensor):
                        nodes[id(part)] = graph.call_function(operator.getitem, (node, i))
        graph.output([nodes[id(t)] for t in results])
        graph.eliminate_dead_code()
        self.module = torch.fx.GraphModule({}, graph)


def _constants(recorded: Sequence[Recorded]) -> list[torch.Tensor]:
    """Returns the tensors with memory among arguments."""
    constants: dict[int, torch.Tensor] = {}

    def note(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and not isinstance(x, FakeTensor):
            constants[id(x)] = x
        return x

    for _, args, kwargs, _ in recorded:
        map_aggregate(args, note)
        map_aggregate(kwargs, note)
    return list(constants.values())
