"""`from_generator`: a dataset of the values that a Python generator yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.convert import convert, from_array
from tapeflow.core.types.dtypes import DType, as_dtype, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec, spec_of
from tapeflow.core.values.boxed_objects import held
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import structure
from tapeflow.data.node import Node, OpFunction, add_python_operation, op_kernel
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.py_function import error_of_op


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """Returns the spec of a generator's elements, from the arguments that declare it.

    Raises:
        TypeError: there is none, or there are two.
    """
    if output_signature is not None:
        for value, name in ((output_types, "output_types"), (output_shapes, "output_shapes")):
            if value is not None:
                raise TypeError(f"The `{name}` argument can not be used together with the `output_signature` argument.")
        for s in structure.flatten(output_signature):
            if not isinstance(s, TypeSpec):
                raise TypeError(
                    f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found {type(s)} "
                    "which is not."
                )
        return output_signature
    if output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` argument or the "
            "`output_types` argument."
        )
    types = [as_dtype(t) for t in structure.flatten(output_types)]
    shapes = [None] * len(types) if output_shapes is None else structure.flatten_up_to(output_types, output_shapes)
    specs = [TensorSpec(TensorShape(s), t) for s, t in zip(shapes, types, strict=True)]
    return structure.pack(output_types, specs)


@op_kernel("GeneratorDataset")
def _generator(init_func: OpFunction, next_func: OpFunction, finalize_func: OpFunction, spec: Any) -> Node:
    init, step, end = (f.typed(tuple(f.argument_specs)) for f in (init_func, next_func, finalize_func))

    def elements() -> Iterator[Any]:
        memory = init(())
        try:
            while True:
                yield structure.Packer(step.output_spec)(step(memory))
        except OutOfRangeError:
            end(memory)

    return GeneratorDataset(elements, spec, None)


class GeneratorDataset(Node):
    """The values that a generator yields; each iterator calls for a new one."""

    _is_slow = True

    def __init__(self, generator: Any, spec: Any, args: Any) -> None:
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        super().__init__(spec)
        self._signature = spec
        self._generator: Callable[..., Any] = generator
        self._args = () if args is None else tuple([convert(a) for a in args])

    @classmethod
    def _is_op(cls) -> bool:
        return False

    def _operation(self) -> SymbolicTensor:
        def build(*args: Any) -> list[Any]:
            return [held(GeneratorDataset(self._generator, self._signature, args), variant)]

        return add_python_operation("GeneratorDataset", build, self._args)

    def _iterate(self) -> Iterator[Element]:
        specs = structure.flatten(self._signature)
        for value in _from_python(self._generator, [a.numpy() for a in self._args]):
            try:
                flat = structure.flatten_up_to(self._signature, value)
            except (TypeError, ValueError) as e:
                raise invalid(
                    "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
                    f"structure was {self._signature}, but the yielded element was {value}."
                ) from e
            yield tuple([_checked(v, s) for v, s in zip(flat, specs, strict=True)])

    def __repr__(self) -> str:
        return f"<_FlatMapDataset element_spec={self._spec}>"


def _from_python(generator: Callable[..., Any], args: list[Any]) -> Iterator[Any]:
    """Yields the values of a generator.

    Raises:
        InvalidArgumentError: it raised a TypeError or ValueError.
        UnknownError: it raised another error.
    """
    try:
        yield from generator(*args)
    except Exception as error:
        raise error_of_op(error, "[Op:IteratorGetNext] name: ") from error


def _checked(value: Any, spec: Any) -> Any:
    """Returns a component that a generator yielded, converted to its spec.

    Raises:
        InvalidArgumentError: it does not fit.
    """
    if type(spec) is not TensorSpec:
        value = structure.component(value)
        if not spec.is_compatible_with(value):
            raise invalid(
                f"TypeError: `generator` yielded an element of {spec_of(value)} where an element of {spec} was "
                "expected."
            )
        return structure.bare(value)
    try:
        tensor = _tensor(value, spec.dtype)
    except (TypeError, ValueError) as e:
        raise invalid(
            "TypeError: `generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {spec.dtype.name}, but the yielded element was {value}."
        ) from e
    if not spec.shape.is_compatible_with(tensor.shape):
        raise invalid(
            f"TypeError: `generator` yielded an element of shape {tensor.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return tensor.value


def _tensor(value: Any, dtype: DType) -> EagerTensor:
    """Returns a tensor of a Python value, array or tensor, cast as NumPy casts."""
    if isinstance(value, EagerTensor) and value.dtype is dtype:
        return value
    if dtype.torch is None:
        return convert(value, dtype)
    return from_array(np.asarray(value, dtype=dtype.as_numpy_dtype), dtype)


register(GeneratorDataset, signature_of)
