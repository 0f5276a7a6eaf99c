"""The functions that a user gives to `map`, `filter`, `reduce` and their like, on elements.

What a function gives is found out when the dataset is made, by calling it on a sample: ones of the element's dtypes
and shapes. Where the result's shape may depend on values or on dimensions that are not known, it is called on a second
one, and what differs counts as unknown. A function that refuses the samples is asked with the first real element.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.context import discard, listeners, nobody_listening, state
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, string
from tapeflow.core.shape_rules import broadcast, same
from tapeflow.core.spec import NoneTensorSpec, TensorSpec, TypeSpec
from tapeflow.core.tensor import Tensor
from tapeflow.data import structure
from tapeflow.data.structure import Element, Packer
from tapeflow.errors import OpError
from tapeflow.graph.python_op import executing_eagerly


class MappedFunction:
    """A user's function of elements.

    Args:
        function: takes what a user sees of an element; a tuple as several arguments.
        name: of the transformation, for messages.
        spec: of the elements, or a tuple of specs for a function of several.
        first: gives a real element, if there is one.

    Attributes:
        output_spec: the spec of what the function gives.
        scalar: whether it is made of ops that work element by element on scalars alone, and so on many at once.

    Raises:
        ValueError: `function` is not callable.
        TypeError: it gives what can be no component.
    """

    def __init__(self, function: Callable[..., Any], name: str, spec: Any, first: Callable[[], Any]) -> None:
        if not callable(function):
            raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")
        self.function = function
        self.name = name
        self.packer = Packer(spec)
        self.spreads = type(spec) is tuple
        self.scalar = False
        if state.graph is None:
            self.output_spec = self._found_spec(first)
        else:  # it runs on elements, when the graph runs
            with executing_eagerly():
                self.output_spec = self._found_spec(first)

    def __call__(self, element: Element) -> Element:
        """The element that the function gives for one."""
        with nobody_listening():
            return structure.to_element(self._result(element))

    def value(self, element: Element) -> Any:
        """What the function gives, as the user sees it."""
        with nobody_listening():
            result = self._result(element)
        return structure.pack(result, [structure.component(v) for v in structure.flatten(result)])

    def _result(self, element: Element) -> Any:
        args = self.packer(element)
        result = self.function(*args) if self.spreads else self.function(args)
        return tuple(result) if type(result) is list else result

    def many(self, columns: Element, count: int) -> Element:
        """What a `scalar` function gives for many elements, given and taken as columns."""
        result = self(columns)
        return tuple([v if v.ndim else v.expand(count) for v in result])

    # ---- what it gives -------------------------------------------------------------------------------------------------

    def _found_spec(self, first: Callable[[], Any]) -> Any:
        flat = structure.flatten(self.packer.spec)
        try:
            samples = [tuple([sample(s, n) for s in flat]) for n in (1, 2)]
            spec = self._spec_for(samples[0], flat)
            if any(known.rank != 0 for known in map(structure.known_shape, structure.flatten(spec))):
                spec = _common(spec, self._spec_for(samples[1], flat))
            return spec
        except (_NoSampleError, OpError, ArithmeticError, IndexError, KeyError, AssertionError):
            element = first()
            if element is None:
                raise
            return _loosened(self._spec_for(element, flat))

    def _spec_for(self, element: Element, specs: Sequence[Any]) -> Any:
        observer = _Observer()
        with observer:
            result = self._result(element)
        try:
            spec = structure.normalized(result)[1]
        except (TypeError, ValueError) as e:
            raise TypeError(f"Unsupported return value from function passed to {self.name}: {result}.") from e
        if any(not isinstance(s, TypeSpec) for s in structure.flatten(spec)):
            raise TypeError(f"Unsupported return value from function passed to {self.name}: {result}.")
        flat = [*specs, *structure.flatten(spec)]
        self.scalar = observer.scalar and _is_simple(self.function) and all(
            type(s) is TensorSpec and s.shape.rank == 0 and s.dtype.torch is not None for s in flat
        )
        return spec


class _Observer:
    """Sees every op that runs, as a tape does: whether all of them work on scalars alone, element by element."""

    def __init__(self) -> None:
        self.scalar = True
        self.variables: dict[int, Any] = {}

    def record(self, op: Any, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> None:
        if op.shape not in (same, broadcast) or any(t.value.ndim for t in (*inputs, *outputs)):
            self.scalar = False

    def variable_read(self, variable: Any) -> None:
        self.scalar = False

    def __enter__(self) -> None:
        self.outer, state.tapes = state.tapes, [self]
        listeners.append(self)

    def __exit__(self, *_: Any) -> None:
        state.tapes = self.outer
        discard(listeners, self)


# Names of what acts on more than its arguments, which a function that runs once for many elements must not use.
_ACTS = frozenset({"py_function", "numpy_function", "print", "random", "Variable", "Assert", "debugging", "timestamp"})
_CALLABLE = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "pow", "range", "round", "tuple"})


def _is_simple(function: Any) -> bool:
    """Whether a Python function calls nothing but this library and uses nothing that changes."""
    if type(function) is not types.FunctionType:
        return False
    code = function.__code__
    if any(isinstance(c, types.CodeType) for c in code.co_consts):
        return False
    if any(n in _ACTS or n.startswith(("assign", "scatter", "write")) for n in code.co_names):
        return False
    try:
        used = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a cell that is not filled yet
        return False
    for name in code.co_names:
        if name in function.__globals__:
            used.append(function.__globals__[name])
        elif hasattr(builtins, name) and name not in _CALLABLE:
            return False
    return all(map(_is_fixed, used))


def _is_fixed(value: Any) -> bool:
    if isinstance(value, (Tensor, DType, int, float, str, bytes, np.generic)):
        return True
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in ("tapeflow", "tensorflow", "math")
    return isinstance(value, types.FunctionType) and value.__module__.startswith("tapeflow.")


class _NoSampleError(Exception):
    """There is no sample of a spec."""


def sample(spec: Any, n: int) -> Any:
    """A component of a spec: ones or twos, of sizes 2 or 3 where they are not known."""
    if isinstance(spec, NoneTensorSpec):
        return None
    if type(spec) is not TensorSpec:
        if hasattr(spec, "element_spec") and hasattr(spec, "_sample"):
            return spec._sample(n)
        raise _NoSampleError
    shape = [n + 1 if d is None else d for d in spec.shape._dims or ()]
    if spec.dtype is string:
        return np.full(shape, b"1" * n, object) if shape else structure.bare(convert(b"1" * n))
    if spec.dtype.torch is None:
        raise _NoSampleError
    return torch.full(shape, 1 if spec.dtype.is_bool else n, dtype=spec.dtype.torch)


def _common(a: Any, b: Any) -> Any:
    structure.same_form(a, b)
    pairs = zip(structure.flatten(a), structure.flatten(b), strict=True)
    return structure.pack(a, [x.most_specific_common_supertype([y]) or y for x, y in pairs])


def _loosened(spec: Any) -> Any:
    """A spec that knows of shapes no more than their ranks, as one element tells no more."""

    def loosen(s: Any) -> Any:
        return TensorSpec([None] * s.shape.rank, s.dtype) if type(s) is TensorSpec else s

    return structure.map_specs(loosen, spec)


def first_of(dataset: Any) -> Callable[[], Any]:
    """Gives the first element of a dataset, or None."""

    def first() -> Any:
        elements: Iterator[Element] = dataset._iterate()
        return next(elements, None)

    return first


