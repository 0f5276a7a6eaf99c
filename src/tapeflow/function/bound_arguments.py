"""Binding the arguments of a concrete function's call to its input tensors.

Arguments are structured, as the Python function's, Python values included; or flat, the tensors alone, by position or
by name. Structured arguments must have the dtypes and shapes of the trace. If they do not, the call falls back on flat
ones, which in eager mode need only have the dtypes: the graph runs on any shapes that its ops accept.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.spec import TensorSpec, TypeSpec, VariableSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.function.signature import FunctionType, describe_types, is_tensor_spec, unfit
from tapeflow.graph.ir.func_graph import FuncGraph


class Binding:
    """The arguments that a concrete function accepts.

    Args:
        function_type: the structure of its arguments.
        graph: the traced graph.
        name: the name under which a graph calls it.
        described: returns its parameters and results in a line, for messages.

    Attributes:
        positional: how many flat arguments it takes by position. The others go by name.
    """

    def __init__(self, function_type: FunctionType, graph: FuncGraph, name: str, described: Callable[[], str]) -> None:
        self._type = function_type
        self._specs = list(graph.inputs)
        self._dtypes: list[DType] | None = [t.dtype for t in graph.inputs]
        self._keywords = [_parameter_name(t.op.name) for t in graph.inputs]
        self._summary = f"{graph.name}({', '.join(self._keywords)})"
        self._name = name
        self._described = described
        self._signature: inspect.Signature | None = None
        self.positional = len(self._keywords)

    def limit_positional(self, count: int) -> None:
        """Takes at most `count` flat arguments by position: a signature's order says nothing to its caller."""
        if count < self.positional:
            self.positional, self._dtypes = count, None

    def tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        """Returns the tensors of a call, in the order of the function's inputs.

        Raises:
            TypeError: the arguments fit neither the structured nor the flat signature.
            InvalidArgumentError: a tensor has another dtype.
        """
        if not kwargs and state.graph is None:
            dtypes = [a.dtype for a in args if type(a) is EagerTensor]
            if dtypes == self._dtypes and len(args) == len(dtypes):
                return args
        try:
            structured = self._structured(args, kwargs)
        except (TypeError, ValueError) as why:
            try:
                return self._flat(args, kwargs)
            except (TypeError, ValueError) as why_not_flat:
                message = unfit(why, args, kwargs, self._described())
                raise TypeError(f"{message}\nFallback to flat signature also failed due to: {why_not_flat}") from None
        return self._type.tensors(*structured)

    # ---- structured arguments ----------------------------------------------------------------------------------------

    def _structured(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """Returns the positional and the keyword arguments, each cast to its spec.

        Raises:
            TypeError, ValueError: they do not fit.
        """
        function_type = self._type
        bound = self._parameters().bind(*args, **{_parameter_name(k): v for k, v in kwargs.items()}).arguments
        specs = [*function_type.args, *function_type.kwargs.values()]
        values = [
            cast_argument(spec, bound[_parameter_name(p)]) for p, spec in zip(function_type.names, specs, strict=True)
        ]
        count = len(function_type.args)
        return tuple(values[:count]), dict(zip(function_type.kwargs, values[count:], strict=True))

    def _parameters(self) -> inspect.Signature:
        """Returns the parameters, all without defaults."""
        if self._signature is None:
            kinds = inspect._ParameterKind.__members__
            rows = self._type.rows()
            self._signature = inspect.Signature([inspect.Parameter(_parameter_name(n), kinds[k]) for n, k, _ in rows])
        return self._signature

    # ---- flat arguments ----------------------------------------------------------------------------------------------

    def _flat(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        values, keywords, summary = list(args), self._keywords, self._summary
        if len(values) > self.positional:
            raise TypeError(f"{summary} takes {self.positional} positional arguments, got {len(values)}.")
        named = {_parameter_name(k): v for k, v in kwargs.items()}
        for keyword in keywords[len(values) :]:
            if keyword not in named:
                missing = sorted(set(keywords[len(values) :]) - set(named))
                raise TypeError(f"{summary} missing required arguments: {', '.join(missing)}.")
            values.append(named.pop(keyword))
        for keyword in named:
            if keyword in keywords:
                raise TypeError(f"{summary} got two values for '{keyword}'.")
        if named:
            raise TypeError(f"{summary} got unexpected keyword arguments: {', '.join(sorted(named))}.")
        for i, value in enumerate(values):
            if not isinstance(value, (Tensor, ReadAsTensor)):
                kind = type(value).__name__
                raise TypeError(f"{summary}: expected argument #{i}(zero-based) to be a Tensor; got {kind} ({value}).")
        return [self._accepted(i, value) for i, value in enumerate(values)]

    def _accepted(self, i: int, value: Tensor | Variable) -> Any:
        """Returns the tensor for input number `i`.

        Raises:
            TypeError: in eager mode the value is no eager tensor.
            ValueError: in a graph the value has another static shape.
            InvalidArgumentError: it has another dtype.
        """
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
            expected, actual = (datatype_name(d) for d in (spec.dtype, value.dtype))
            raise InvalidArgumentError.of(
                f"cannot compute {self._name} as input #{i}(zero-based) was expected to be a {expected} tensor but is "
                f"a {actual} tensor [Op:{self._name}]"
            )
        return value if isinstance(value, Tensor) else convert(value)


def _parameter_name(name: str) -> str:
    """Returns a name as a valid name of a parameter."""
    identifier = re.sub(r"\W", "_", name)
    return identifier if identifier and not identifier[0].isdigit() else f"arg_{identifier}"


# ---- casting values to specs -----------------------------------------------------------------------------------------


def cast_argument(spec: Any, value: Any) -> Any:
    """Returns a value cast to its spec, or to the structure of specs.

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
    if isinstance(spec, VariableSpec) and spec.is_compatible_with(value):
        return value
    if not _are_equal(spec, value):
        raise TypeError(f"Can not cast {value!r} to {describe_types(spec)}")
    return spec


def _cast_tensor(spec: TensorSpec, value: TensorLike) -> Any:
    if isinstance(value, TypeSpec):
        return value  # its conversion to a tensor will raise the error
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
    items = [cast_argument(s, v) for s, v in zip(spec, value, strict=True)]
    return type(spec)(*items) if named else kind(items)


def _cast_mapping(spec: Mapping[Any, Any], value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise TypeError(f"Can not cast {value!r} to a Dict type.")
    if set(value) != set(spec):
        raise TypeError(f"{value!r} has different keys with the TraceType {describe_types(spec)}.")
    return {k: cast_argument(s, value[k]) for k, s in spec.items()}


def _cast_composite(spec: Any, value: Any) -> Any:
    value = value.__tf_composite__() if hasattr(type(value), "__tf_composite__") else value
    parts = nest.flatten(value, expand_composites=True) if isinstance(value, CompositeTensor) else [value]
    specs = nest.flatten(spec._component_specs, expand_composites=True)
    nest.assert_same_structure(specs, parts)
    return nest.pack_sequence_as(value, [cast_argument(s, p) for s, p in zip(specs, parts, strict=True)], True)


def _are_equal(a: VariableSpec | float, b: Variable | float) -> bool:
    if a is b:
        return True
    try:
        return bool(a == b)
    except Exception:  # of the program's own `==`: values that can't be compared differ
        return False
