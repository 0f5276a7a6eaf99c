"""From the arguments of a concrete function's call to its tensors.

They may be the structure that the Python function takes, Python values included; or the tensors alone, one after the
other or by name. The first has the dtypes and shapes that were traced for. The second, and that is what a call falls
back on, need only have the dtypes in eager mode: what was traced runs on whatever it can run on.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.function.signature import FunctionType, described, is_tensor_spec, unfit
from tapeflow.graph.ir.func_graph import FuncGraph


class Binding:
    """What a concrete function may be called with.

    Args:
        function_type: the structure of its arguments.
        graph: what was traced.
        name: the name under which a graph calls it.
        described: gives its parameters and results in a line, for messages.
    """

    def __init__(self, function_type: FunctionType, graph: FuncGraph, name: str, described: Callable[[], str]) -> None:
        self._type = function_type
        self._specs = list(graph.inputs)
        self._dtypes = [t.dtype for t in graph.inputs]
        self._keywords = [_identifier(t.op.name) for t in graph.inputs]
        self._summary = f"{graph.name}({', '.join(self._keywords)})"
        self._name = name
        self._described = described
        self._signature: inspect.Signature | None = None

    def tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        """The tensors of a call, in the order of the function's inputs.

        Raises:
            TypeError: the arguments are neither the structure nor the tensors.
            InvalidArgumentError: a tensor has another dtype.
        """
        if not kwargs and state.graph is None:
            dtypes = [a.dtype for a in args if type(a) is EagerTensor]
            if dtypes == self._dtypes and len(args) == len(dtypes):
                return args
        try:
            structured = self._structured(args, kwargs)
        except Exception as why:
            try:
                return self._flat(args, kwargs)
            except (TypeError, ValueError) as why_not_flat:
                said = unfit(why, args, kwargs, self._described())
                raise TypeError(f"{said}\nFallback to flat signature also failed due to: {why_not_flat}") from None
        return self._type.tensors(*structured)

    # ---- the structure -----------------------------------------------------------------------------------------------

    def _structured(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """The positional and the keyword arguments of the structure.

        Raises:
            Exception: the arguments are others.
        """
        function_type = self._type
        bound = self._parameters().bind(*args, **{_identifier(k): v for k, v in kwargs.items()}).arguments
        specs = [*function_type.args, *function_type.kwargs.values()]
        values = [_cast(spec, bound[_identifier(p)]) for p, spec in zip(function_type.names, specs, strict=True)]
        count = len(function_type.args)
        return tuple(values[:count]), dict(zip(function_type.kwargs, values[count:], strict=True))

    def _parameters(self) -> inspect.Signature:
        """The parameters, none of which has a default."""
        if self._signature is None:
            kinds = inspect._ParameterKind.__members__
            rows = self._type.rows()
            self._signature = inspect.Signature([inspect.Parameter(_identifier(n), kinds[k]) for n, k, _ in rows])
        return self._signature

    # ---- the tensors alone -------------------------------------------------------------------------------------------

    def _flat(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        found, keywords, summary = list(args), self._keywords, self._summary
        if len(found) > len(keywords):
            raise TypeError(f"{summary} takes {len(keywords)} positional arguments, got {len(found)}.")
        named = {_identifier(k): v for k, v in kwargs.items()}
        for keyword in keywords[len(found) :]:
            if keyword not in named:
                missing = sorted(set(keywords[len(found) :]) - set(named))
                raise TypeError(f"{summary} missing required arguments: {', '.join(missing)}.")
            found.append(named.pop(keyword))
        for keyword in named:
            if keyword in keywords:
                raise TypeError(f"{summary} got two values for '{keyword}'.")
        if named:
            raise TypeError(f"{summary} got unexpected keyword arguments: {', '.join(sorted(named))}.")
        for i, value in enumerate(found):
            if not isinstance(value, (Tensor, ReadAsTensor)):
                kind = type(value).__name__
                raise TypeError(f"{summary}: expected argument #{i}(zero-based) to be a Tensor; got {kind} ({value}).")
        return [self._runnable(i, value) for i, value in enumerate(found)]

    def _runnable(self, i: int, value: Any) -> Any:
        """A tensor that can be the input number `i`."""
        spec = self._specs[i]
        if state.graph is None:
            if not isinstance(value, EagerTensor):
                raise TypeError(
                    f"provided list of inputs contains objects other than 'EagerTensor'. Item {i} is type: "
                    f"{type(value).__name__}"
                )
        elif not spec.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Tensor {value} is not compatible with the shape this function was traced with. Expected shape "
                f"{spec.shape}, but got shape {value.shape}.\n\nIf you called get_concrete_function, you may need to "
                "pass a tf.TensorSpec(..., shape=...) with a less specific shape, having None on axes which can vary."
            )
        if value.dtype is not spec.dtype:
            wanted, given = (datatype_name(d) for d in (spec.dtype, value.dtype))
            raise InvalidArgumentError(
                None,
                None,
                f"cannot compute {self._name} as input #{i}(zero-based) was expected to be a {wanted} tensor but is a "
                f"{given} tensor [Op:{self._name}]",
            )
        return value if isinstance(value, Tensor) else convert(value)


def _identifier(name: str) -> str:
    """A name as a parameter can have it."""
    found = re.sub(r"\W", "_", name)
    return found if found and not found[0].isdigit() else f"arg_{found}"


# ---- values that fit a structure -------------------------------------------------------------------------------------


def _cast(spec: Any, value: Any) -> Any:
    """A value as its spec, or the structure of specs, asks for it.

    Raises:
        TypeError, ValueError: it does not fit.
    """
    if isinstance(spec, TensorSpec):
        return _cast_tensor(spec, value)
    if isinstance(spec, Mapping):
        return _cast_mapping(spec, value)
    if isinstance(spec, (list, tuple)):
        return _cast_sequence(spec, value)
    if is_tensor_spec(spec):
        return _cast_composite(spec, value)
    if not _equal(spec, value):
        raise TypeError(f"Can not cast {value!r} to {described(spec)}")
    return spec


def _cast_tensor(spec: TensorSpec, value: Any) -> Any:
    if isinstance(value, TypeSpec):
        return value  # it will be refused where a tensor is made of it
    tensor = value if isinstance(value, Tensor) else convert(value, spec.dtype)
    if tensor.dtype is not spec.dtype or not tensor.shape.is_subtype_of(spec.shape):
        if tensor.dtype is not spec.dtype or not spec.shape.is_subtype_of(tensor.shape):
            raise TypeError(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype, spec.name)} to {spec}")
        tensor.set_shape(spec.shape)
    return tensor


def _cast_sequence(spec: Any, value: Any) -> Any:
    named = hasattr(spec, "_fields")
    if named and not isinstance(value, type(spec)):
        raise TypeError(f"Cannot cast {value!r} to type {type(spec)}.")
    kind = list if isinstance(spec, list) else tuple
    if not isinstance(value, kind):
        raise TypeError(f"Can not cast {value!r} to {kind.__name__} type.")
    if len(value) != len(spec):
        raise TypeError(f"Expected {value} to have length of {len(spec)}")
    items = [_cast(s, v) for s, v in zip(spec, value, strict=True)]
    return type(spec)(*items) if named else kind(items)


def _cast_mapping(spec: Mapping[Any, Any], value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise TypeError(f"Can not cast {value!r} to a Dict type.")
    if set(value) != set(spec):
        raise TypeError(f"{value!r} has different keys with the TraceType {described(spec)}.")
    return {k: _cast(s, value[k]) for k, s in spec.items()}


def _cast_composite(spec: Any, value: Any) -> Any:
    value = value.__tf_composite__() if hasattr(type(value), "__tf_composite__") else value
    parts = nest.flatten(value, expand_composites=True) if isinstance(value, CompositeTensor) else [value]
    specs = nest.flatten(spec._component_specs, expand_composites=True)
    nest.assert_same_structure(specs, parts)
    return nest.pack_sequence_as(value, [_cast(s, p) for s, p in zip(specs, parts, strict=True)], True)


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    try:
        return bool(a == b)
    except Exception:  # what can't be compared is another
        return False
