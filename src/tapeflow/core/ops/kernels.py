"""Running a kernel on whatever dtype and device its inputs have.

The fast path calls `op.kernel` itself. This is the careful way: it places inputs, computes in another dtype if ATen
lacks a kernel for this one, and turns torch's errors into TensorFlow's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.definition import MANY
from tapeflow.core.ops.memory import is_out_of_memory, out_of_memory
from tapeflow.core.ops.shape_rules import too_large
from tapeflow.core.types.dtypes import DType, resource, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import FEW, StringArray

if TYPE_CHECKING:
    from tapeflow.core.ops.op import RegisteredOp

# The dtype to compute in where ATen has no kernel for a dtype. Wrapping integers stay right in a wider type; uint64
# keeps its bits in int64, which is right for all that wraps and for values below 2**63.
COMPUTE_IN = {
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,
    torch.int8: torch.int32,
    torch.uint8: torch.int32,
    torch.int16: torch.int32,
    torch.int32: torch.int64,
    torch.bool: torch.uint8,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
}
# A dtype of the same size that ATen can move, for the bits of dtypes that it can't move.
SAME_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def compute(op: RegisteredOp, args: Sequence[Any], types: dict[str, DType], name: str | None) -> tuple[Any, bool]:
    """Runs an op's kernel as `compute_in_graph` does. Errors name the op, as those of eager calls do.

    Args:
        op, args, types: see `compute_in_graph`.
        name: the caller's name for the operation, which TensorFlow puts into its messages.

    Returns:
        As `run_kernel` does.

    Raises:
        OpError: the kernel failed; the message names op and operation.
        ValueError: the kernel raised one.
    """
    try:
        return compute_in_graph(op, args, types)
    except (errors.OpError, ValueError) as error:
        raise add_op_name(error, op, name) from error.__cause__


def compute_in_graph(op: RegisteredOp, args: Sequence[Any], types: dict[str, DType]) -> tuple[Any, bool]:
    """Runs an op's kernel, and explains its errors.

    Args:
        op: the op.
        args: its arguments in order: tensors, lists of tensors, Python values.
        types: the op's type attrs.

    Returns:
        As `run_kernel` does.

    Raises:
        OpError: the kernel failed.
        ValueError: the kernel raised one.
    """
    values = raw_arguments(op, args)
    kernel = op.kernel
    if op.kernel_for_many is not None and isinstance(values[0], torch.Tensor) and values[0].numel() >= MANY:
        kernel = op.kernel_for_many  # as on the fast path: the first call rounds as later ones do
    try:
        return run_kernel(op, kernel, args, values, types)
    except Exception as error:
        own = isinstance(error, ValueError) and not isinstance(error, UnicodeError)  # TensorFlow's, as kernels raise it
        if isinstance(error, errors.OpError) or (own and not is_out_of_memory(error)):
            raise
        raise translate_error(op, args, types, error) from error


def raw_arguments(op: RegisteredOp, args: Sequence[Any]) -> list[Any]:
    """Returns the raw values of arguments, on the device that the program asks for."""
    values = op.map(lambda tensor: tensor.value, args)
    return devices.place(values, devices.current()) if state.devices else values


def run_kernel(
    op: RegisteredOp, kernel: Callable[..., Any], args: Sequence[Any], values: list[Any], types: dict[str, DType]
) -> tuple[Any, bool]:
    """Runs an op's kernel, in another dtype or on another device where it needs that.

    Args:
        op: the op.
        kernel: its kernel, or the one that later calls run in its place.
        args: its arguments in order: tensors, lists of tensors, Python values.
        values: the raw values of the arguments.
        types: the op's type attrs.

    Returns:
        The kernel's results, of the op's output dtypes, and True if a direct call gave them: the fast path may then
        call the kernel in the same way.

    Raises:
        Exception: the kernel's error.
    """
    as_called = True
    if op.creates:
        dtype = types.get(op.opdef.outputs[0].type_attr or "")
        device = devices.current_or_default(None if dtype is None else dtype.torch)
        kernel = lambda *a: op.kernel(*a, device=device)  # noqa: E731
    if any(isinstance(v, (StringArray, np.ndarray)) for v in _flatten_values(values)):
        return on_strings(op)(*_with_arrays(args, values)), False
    if op.uint64_kernel is not None and _has_tensor_dtype(values, (torch.uint64,)):
        return op.uint64_kernel(*values), False
    try:
        result = kernel(*values)
    except (errors.OpError, ValueError):
        raise
    except Exception as error:  # ATen has many exceptions for a missing kernel
        result, as_called = _second_try(op, kernel, values, error), False
    result, exact = _as_promised(op, result, types)
    return result, exact and as_called


def _flatten_values(values: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    for v in values:  # faster than two loops in a comprehension
        if type(v) is list:
            out.extend(v)
        else:
            out.append(v)
    return out


def _map_tensors(function: Callable[[torch.Tensor], Any], values: Sequence[Any]) -> list[Any]:
    return [
        function(v) if isinstance(v, torch.Tensor) else _map_tensors(function, v) if type(v) is list else v
        for v in values
    ]


def _has_tensor_dtype(values: Sequence[Any], dtypes: dict[Any, Any] | tuple[torch.dtype, ...]) -> bool:
    return any(isinstance(v, torch.Tensor) and v.dtype in dtypes for v in _flatten_values(values))


def _second_try(op: RegisteredOp, kernel: Callable[..., Any], values: list[Any], error: Exception) -> Any:
    """Retries a failed kernel: with all inputs on one device, then in another dtype, then on the CPU."""
    together = on_same_device(values)
    if together is not None:
        values = together
        try:
            return kernel(*values)
        except (errors.OpError, ValueError):
            raise
        except Exception as again:
            error = again
    if isinstance(error, torch.OutOfMemoryError) or op.creates:
        raise error
    ways = [_in_another_dtype] if _has_tensor_dtype(values, COMPUTE_IN) else []
    if any(isinstance(v, torch.Tensor) and not v.is_cpu for v in _flatten_values(values)):
        ways.append(_on_the_cpu)
    for way in ways:
        try:
            return way(op, kernel, values)
        except (errors.OpError, ValueError):
            raise
        except Exception as again:
            if "not implemented" in str(error) or "not supported" in str(error):
                error = again  # the first one only says that there is no kernel for the dtype
    raise error


def on_same_device(values: Sequence[Any]) -> list[Any] | None:
    """Returns inputs from several devices on one: a GPU, if some are there. None if they are on one already."""
    on = {v.device for v in _flatten_values(values) if isinstance(v, torch.Tensor)}
    if len(on) < 2:
        return None
    target = max(on, key=str)
    return _map_tensors(lambda t: devices.move_value(t, target), values)


def on_one_device(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a kernel that takes inputs on several devices too."""

    def of_any(*values: Any, **named: Any) -> Any:
        try:
            return kernel(*values, **named)
        except RuntimeError:
            together = on_same_device(values)
            if together is None:
                raise
            return kernel(*together, **named)

    return of_any


def on_cpu(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a kernel that gets all tensors on the CPU, as those that work on arrays of strings need them."""
    return lambda *values: kernel(*_map_tensors(torch.Tensor.cpu, values))


def _with_arrays(args: Sequence[Any], values: list[Any]) -> list[Any]:
    """Returns inputs that include arrays. Beside strings, all other inputs move to the CPU. Beside arrays of objects,
    which hold tensors on any device, they stay unchanged."""
    objects = any(getattr(arg, "dtype", None) in (resource, variant) for arg in _flatten_values(args))
    return values if objects else _map_tensors(torch.Tensor.cpu, values)


def _on_the_cpu(op: RegisteredOp, kernel: Callable[..., Any], values: list[Any]) -> Any:
    """Runs a kernel that works in NumPy, or that a GPU lacks, on copies on the CPU.

    Raises:
        InvalidArgumentError: the program asks for a device, and soft placement is off.
    """
    tensors = [v for v in _flatten_values(values) if isinstance(v, torch.Tensor)]
    target = next(t.device for t in tensors if not t.is_cpu)
    device = devices.current() if state.devices else None
    if device is not None and device.kind == "GPU" and not devices.machine.soft_placement:
        raise errors.InvalidArgumentError.of(
            f"Could not satisfy device specification '{device.name}': {target.type} has no kernel for "
            f"{op.name}. Allow others with tf.config.set_soft_device_placement(True)."
        )
    result = _map_result(lambda t: devices.move_value(t, target), on_cpu(kernel)(*values))
    devices.machine.computed_on_cpu.setdefault(op.name, set()).update(str(t.dtype)[6:] for t in tensors)
    return result


def _in_another_dtype(op: RegisteredOp, kernel: Callable[..., Any], values: list[Any]) -> Any:
    if op.moves:
        # Indices and conditions keep their dtype; the data are viewed as bits.
        data = _moved_dtype(op, values)
        bits = SAME_BITS[data.itemsize]
        result = kernel(*_map_tensors(lambda t: t.view(bits) if t.dtype == data else t, values))
        return _map_result(lambda t: t.view(data) if t.dtype == bits else t, result)
    if op.orders and _has_tensor_dtype(values, (torch.uint64,)):
        result = kernel(*_map_tensors(lambda t: _order_uint64s(t) if t.dtype == torch.uint64 else t, values))
        same = op.opdef.outputs[0].type_attr == op.opdef.inputs[0].type_attr
        return _map_result(lambda t: _order_uint64s(t).view(torch.uint64), result) if same else result
    original = {COMPUTE_IN[v.dtype]: v.dtype for v in _flatten_values(values)
                if isinstance(v, torch.Tensor) and v.dtype in COMPUTE_IN}  # fmt: skip
    result = kernel(*_map_tensors(lambda t: t.to(COMPUTE_IN.get(t.dtype, t.dtype)), values))
    return _map_result(lambda t: t.to(original.get(t.dtype, t.dtype)), result)


def _order_uint64s(value: torch.Tensor) -> torch.Tensor:
    """Returns int64s in the order of these uint64s, and back: the two orders differ by the sign bit."""
    return torch.bitwise_xor(value.view(torch.int64), -(2**63))


def _moved_dtype(op: RegisteredOp, values: Sequence[Any]) -> torch.dtype:
    """Returns the dtype of the inputs whose type the output has."""
    attr = next((o.type_attr for o in op.opdef.outputs if o.type_attr), None)
    for kind, value, arg in zip(op.kinds, values, op.opdef.inputs, strict=False):
        if kind in ("tensor", "list") and arg.type_attr == attr and value is not None and len(_flatten_values([value])):
            return _flatten_values([value])[0].dtype
    raise TypeError(f"{op.name} moves nothing")


def _map_result(function: Callable[[torch.Tensor], Any], result: torch.Tensor) -> Any:
    return function(result) if isinstance(result, torch.Tensor) else tuple(map(function, result))


@functools.cache
def on_strings(op: RegisteredOp) -> Callable[..., Any]:
    """Returns the kernel of an op for strings: its string kernel or, if it only moves elements, its kernel on indices
    that stand for them."""
    if op.string_kernel is not None:
        return op.string_kernel
    if not op.moves:
        raise errors.UnimplementedError(None, None, f"{op.name} has no kernel for string tensors")
    return functools.partial(_moved_by_indices, op)


def _moved_by_indices(op: RegisteredOp, *values: Any) -> Any:
    """Runs an op that only moves elements on strings, or on arrays of a quantized dtype's integers."""
    sources: list[Any] = []
    count = 1  # padding is index 0

    def index(value: Any) -> Any:
        nonlocal count
        if isinstance(value, (StringArray, np.ndarray)):
            sources.append(value)
            start, count = count, count + value.size
            return torch.arange(start, count).view(value.shape)
        return [index(v) for v in value] if type(value) is list else value

    result = op.kernel(*[index(v) for v in values])
    of_strings = isinstance(sources[0], StringArray)
    few = [b"", *[v for source in sources for v in source.flat]] if of_strings and count <= FEW else None
    pool: Any = None

    def back(output: torch.Tensor) -> Any:
        nonlocal pool
        if few is not None:
            return StringArray.of([few[i] for i in output.reshape(-1).tolist()], output.shape)
        places = output.cpu().numpy()
        if len(sources) == 1 and (not places.size or places.min() > 0):
            return sources[0].reshape(-1).take(places - 1)
        if pool is None:
            zero: Any = StringArray.of([b""]) if of_strings else np.zeros(1, sources[0].dtype)
            parts = [zero, *[source.reshape(-1) for source in sources]]
            pool = (StringArray.concatenate if of_strings else np.concatenate)(parts)
        return pool.take(places)

    if isinstance(result, torch.Tensor):
        return back(result)
    outputs = op.opdef.outputs
    if len(outputs) == 1:
        return tuple(map(back, result))
    string_attrs = {
        argument.type_attr
        for argument, value in zip(op.opdef.inputs, values, strict=False)
        if any(isinstance(v, (StringArray, np.ndarray)) for v in _flatten_values([value]))
    }
    return tuple(back(r) if o.type_attr in string_attrs else r for r, o in zip(result, outputs, strict=True))


def _as_promised(op: RegisteredOp, result: Any, types: dict[str, DType]) -> tuple[Any, bool]:
    """Returns the result in the output dtypes of the op's registration, and whether it had them already."""
    if result is None:
        return None, False
    single = not isinstance(result, (tuple, list))
    results = [result] if single else list(result)
    exact = True
    for i, (value, dtype) in enumerate(zip(results, op.output_dtypes(types, len(results)), strict=True)):
        if isinstance(value, torch.Tensor) and value.dtype != dtype.torch:
            if dtype.torch is None:
                raise errors.UnimplementedError(None, None, f"{op.name} is not implemented for {dtype.name}")
            results[i] = value.to(dtype.torch)
            exact = False
    return (results[0] if single else results), exact


# ---- errors ----------------------------------------------------------------------------------------------------------


def add_op_name(error: Exception, op: RegisteredOp, name: str | None) -> Exception:
    """Returns the error with the op's name in its message, as TensorFlow ends the messages of eager errors."""
    if isinstance(error, errors.OpError) and "[Op:" not in error.message:
        return error.with_message(f"{error.message} [Op:{op.name}] name: {name or ''}")
    return error


def translate_error(op: RegisteredOp, args: Sequence[Any], types: dict[str, DType], error: Exception) -> errors.OpError:
    """Returns TensorFlow's error for torch's: the error of the op's shape rule, if the rule raises one."""
    no_memory = is_out_of_memory(error)
    known = status_error(error, op.name)
    if known is not None and not no_memory:
        return known
    try:
        shapes = op.infer(args, types, 1)
    except errors.OpError as wrong:
        return out_of_memory(error) if no_memory else wrong
    except ValueError as wrong:
        return out_of_memory(error) if no_memory else errors.InvalidArgumentError.of(str(wrong))
    if no_memory:
        return out_of_memory(error, shapes[0], op.output_dtypes(types, 1)[0])
    message = first_line(error)
    if "integer multiplication overflow" in message:
        return errors.InvalidArgumentError.of(too_large(shapes[0]))
    described = ", ".join(f"{p}: {describe(a)}" for p, a in zip(op.params, args, strict=True))
    kind: type[errors.OpError] = errors.InvalidArgumentError
    if isinstance(error, NotImplementedError) or "not implemented" in message or "not supported" in message:
        kind = errors.UnimplementedError
    return kind.of(f"{op.name} can't take {described}: {message}")


def status_error(error: Exception, op: str = "ReadVariableOp") -> errors.OpError | None:
    """Returns TensorFlow's error for an error whose class alone says what is wrong, or None for other errors.

    Args:
        error: the error.
        op: the name of the op that raised it.
    """
    if isinstance(error, errors.OpError):
        return None
    if is_out_of_memory(error):
        return out_of_memory(error)
    if isinstance(error, UnicodeDecodeError):
        return errors.InvalidArgumentError.of(f"Expected text: {error}")
    if isinstance(error, AttributeError) and error.name == "_value" and hasattr(error.obj, "_tape_value"):
        variable: Any = error.obj
        name = variable._name
        if op != "ReadVariableOp":
            missing = f"Could not find resource: localhost/{name}"
            return errors.NotFoundError.of(f"The variable {name} does not exist. ({missing})")
        return errors.FailedPreconditionError.of(
            f"Could not find variable {name}. This could mean that the variable has been deleted. In TF1, it can also "
            "mean the variable is uninitialized: run its initializer, or tf.compat.v1.global_variables_initializer(), "
            f"in this session first. (Could not find resource: localhost/{name})"
        )
    return None


def first_line(error: Exception) -> str:
    """Returns the message of an error of torch, in one line and without torch's names."""
    lines = str(error).splitlines() or [type(error).__name__]
    return re.sub(r"\bat::|torch\.|aten::", "", lines[0]).strip()


def describe(arg: Any) -> str:
    """Returns an argument's dtype and shape, or the Python value itself."""
    if isinstance(arg, list) and arg and hasattr(arg[0], "dtype"):
        return "[" + ", ".join(describe(a) for a in arg) + "]"
    if hasattr(arg, "dtype") and isinstance(getattr(arg, "shape", None), TensorShape):
        return f"{arg.dtype.name}{arg.shape.as_list()}"
    return repr(arg)
