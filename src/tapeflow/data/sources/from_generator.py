"""`Dataset.from_generator`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.control.py_function import error_of_op
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.convert import convert, from_array, is_arrow
from tapeflow.core.types.dtypes import DType, as_dtype, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec, spec_of
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import OpFunction
from tapeflow.data.node import Node, add_python_operation, op_kernel


class Generator(Node):
    """The values that a Python generator yields for some tensors. Each iterator calls for a new one."""

    generator: Callable[..., Any]
    spec: Any
    args: Sequence[Any] = ()

    name = "_FlatMapDataset"
    is_slow = True

    @classmethod
    def is_op(cls) -> bool:
        return False

    def operation(self) -> SymbolicTensor:
        def build(*args: Any) -> list[Any]:
            return [hold_object(Generator(self.generator, self._signature, args), variant)]

        return add_python_operation("GeneratorDataset", build, self.args)

    def element_spec(self) -> Any:
        self._signature = self.spec  # of the values; operations see others
        return self.spec

    def iterate(self) -> Iterator[Element]:
        specs = elements.flatten(self._signature)
        # As in TensorFlow, NumPy casts what is declared to be a tensor, unless it is a lone one of unknown rank.
        casts = all(type(s) is TensorSpec for s in specs) and not (
            type(self._signature) is TensorSpec and self._signature.shape.rank is None
        )

        def checked(value: Any) -> Element:
            try:
                flat = elements.flatten_up_to(self._signature, value)
            except (TypeError, ValueError) as e:
                raise invalid(
                    "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
                    f"structure was {self._signature}, but the yielded element was {value}."
                ) from e
            return elements.to_element(tuple([_check_component(v, s, casts) for v, s in zip(flat, specs, strict=True)]))

        return map(checked, _from_python(self.generator, [a.numpy() for a in self.args]))


@op_kernel("GeneratorDataset")
def _generator_dataset(init_func: OpFunction, next_func: OpFunction, finalize_func: OpFunction, spec: Any) -> Node:
    init, step, end = (f.typed(tuple(f.argument_specs)) for f in (init_func, next_func, finalize_func))

    def values() -> Iterator[Any]:
        memory = init(())
        try:
            while True:
                yield elements.Packer(step.output_spec)(step(memory))
        except OutOfRangeError:
            end(memory)

    return Generator(values, spec)


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """Returns the spec of a generator's elements, from the arguments that declare it.

    Raises:
        TypeError: there is none, or there are two.
    """
    if output_signature is not None:
        for value, name in ((output_types, "output_types"), (output_shapes, "output_shapes")):
            if value is not None:
                raise TypeError(f"The `{name}` argument can not be used together with the `output_signature` argument.")
        for s in elements.flatten(output_signature):
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
    types = [as_dtype(t) for t in elements.flatten(output_types)]
    shapes = [None] * len(types) if output_shapes is None else elements.flatten_up_to(output_types, output_shapes)
    return elements.pack(output_types, [TensorSpec(TensorShape(s), t) for s, t in zip(shapes, types, strict=True)])


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


def _check_component(value: Any, spec: Any, casts: bool) -> Any:
    """Returns a component that a generator yielded, as its spec declares it.

    Args:
        value: what it yielded.
        spec: the spec.
        casts: whether NumPy casts it. Otherwise it converts as an argument of an op does.

    Raises:
        InvalidArgumentError: it does not fit.
    """
    try:
        if casts:
            component: Any = _cast_component(value, spec.dtype)
        else:
            component = convert(value, spec.dtype) if type(spec) is TensorSpec else elements.component(value)
    except (TypeError, ValueError, OverflowError) as e:
        expected = spec.dtype.name if type(spec) is TensorSpec else spec
        raise invalid(
            "TypeError: `generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {expected}, but the yielded element was {value}."
        ) from e
    found = spec_of(component)
    if not spec.is_compatible_with(found):
        what, expected = (found.shape, spec.shape) if type(spec) is TensorSpec else (found, spec)
        where = "an element of shape" if type(spec) is TensorSpec else "an element of"
        raise invalid(f"TypeError: `generator` yielded {where} {what} where {where} {expected} was expected.")
    return component


def _cast_component(value: Any, dtype: DType) -> EagerTensor:
    """Returns the tensor of a value, cast as NumPy casts arrays."""
    if isinstance(value, EagerTensor) and value.dtype is dtype:
        return value
    if dtype is string and is_arrow(value):
        return convert(value, string)
    if dtype.torch is None:  # the generator made objects already
        return from_array(np.asarray(value, object), dtype)
    array = np.asarray(value)
    return from_array(array.astype(bool) if dtype.is_bool else array, dtype)
