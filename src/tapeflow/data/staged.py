"""Datasets and iterators in a graph: symbolic tensors that stand for them, and the operations that take elements.

A pipeline over a dataset that exists only when the graph runs consists of the usual nodes. It is put over the dataset
when the graph runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from collections.abc import Iterator as PyIterator
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.dtypes import DType, bool_, int64, resource, string, variant
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.held import held
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.data import structure
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.iterators import Iterator, OwnedIterator
from tapeflow.data.maps import reduction
from tapeflow.data.nodes import Node, UnknownInteger
from tapeflow.data.parts import parts, register
from tapeflow.data.spec import IteratorSpec
from tapeflow.data.structure import Element
from tapeflow.graph.graphdef.builders import register as register_builders
from tapeflow.graph.graphdef.node_protos import attr_of, definition_of
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import python_op
from tapeflow.optional import Optional, OptionalSpec

_DATASET: list[tuple[DType, Sequence[int]]] = [(variant, ())]
_ITERATOR: list[tuple[DType, Sequence[int]]] = [(resource, ())]


class StagedDataset(Dataset):
    """A dataset that a graph takes or creates, which exists only when it runs.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: the spec of its elements.
    """

    def __init__(self, variant_tensor: SymbolicTensor, element_spec: Any) -> None:
        self._symbolic = variant_tensor
        self._spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _variant_tensor(self) -> Tensor:
        return self._symbolic

    def _inputs(self) -> list[Any]:
        return []

    def _size(self) -> int:
        return UNKNOWN

    def _iterate(self) -> PyIterator[Element]:
        raise TypeError(
            f"{self!r} is known only when its graph runs: iterate over it inside of the tf.function, with autograph "
            "or `iter`."
        )


def _sources(dataset: Any) -> list[Any]:
    """Returns the datasets that a pipeline starts from and the tensors that its functions capture, which have values
    only when the graph runs.
    """
    if isinstance(dataset, StagedDataset):
        return [dataset]
    sources = [s for source in dataset._inputs() for s in _sources(source)]
    if isinstance(dataset, Node):
        sources += [t for f in dataset._functions().values() for t in f.symbolic_captures]
    return list({id(s): s for s in sources}.values())


class Pipeline(NamedTuple):
    """A pipeline that an operation builds over its inputs.

    Attributes:
        dataset: the pipeline, whose sources and captures stand for inputs.
        inputs: these, in the order of the operation's inputs.
    """

    dataset: Any
    inputs: list[Any]


class Creation(NamedTuple):
    """A dataset that an operation has a class create of arguments.

    Attributes:
        kind: the class.
        args, kwargs: its arguments; tensors and datasets among them that have values only when the graph runs stand
            for inputs.
        element_spec: the spec of the dataset's elements.
        inputs: these tensors and datasets, in the order of the operation's inputs.
    """

    kind: Callable[..., Dataset]
    args: Sequence[Any]
    kwargs: dict[str, Any]
    element_spec: Any
    inputs: list[Any]

    @staticmethod
    def of(kind: Callable[..., Dataset], args: Sequence[Any], kwargs: dict[str, Any], element_spec: Any) -> Creation:
        """Returns the creation of a dataset, with those of its arguments that have values only when the graph runs."""
        inputs: dict[int, Any] = {}
        _filled((list(args), kwargs), {}, inputs)
        return Creation(kind, args, kwargs, element_spec, list(inputs.values()))

    def staged(self) -> StagedDataset:
        """Adds the operation to the graph that is being built; returns the dataset that it will create."""

        def build(*values: Any) -> list[Any]:
            own = [v.value[()] if isinstance(i, Dataset) else v for v, i in zip(values, self.inputs, strict=True)]
            table = dict(zip(map(id, self.inputs), own, strict=True))
            args, kwargs = _filled((list(self.args), self.kwargs), table)
            return [held(self.kind(*args, **kwargs), variant)]

        tensors = [i._variant_tensor if isinstance(i, Dataset) else i for i in self.inputs]
        return StagedDataset(_build(self.kind.__name__, build, tensors, self), self.element_spec)


def _filled(structure: Any, values: dict[int, Any], missing: dict[int, Any] | None = None) -> Any:
    """Returns a structure with values in place of its atoms, and of the tensors of composite ones, by their ids.

    Args:
        structure: the structure.
        values: the values.
        missing: gets what has no value before the graph runs, by the ids.
    """

    def fill(atom: Any) -> Any:
        if id(atom) in values:
            return values[id(atom)]
        if isinstance(atom, CompositeTensor) and not isinstance(atom, Dataset):
            return nest.map_structure(fill, atom, expand_composites=True)
        staged = isinstance(atom, SymbolicTensor) or (isinstance(atom, Dataset) and _sources(atom))
        if staged and missing is not None:
            missing[id(atom)] = atom
        return atom

    return nest.map_structure(fill, structure)


def _build(name: str, build: Callable[..., list[Any]], tensors: Sequence[Any], definition: Any) -> SymbolicTensor:
    """Adds an operation that builds a dataset; in a `GraphDef` its definition stands for it."""
    operation = python_op(name, build, tensors, _DATASET, stateful=False)
    operation.op.lowered = functools.partial(parts.lowered, definition)
    return operation.outputs[0]


def variant_of(dataset: Dataset) -> Tensor:
    """Returns the tensor of a pipeline, while a graph is built."""
    sources = _sources(dataset)
    if not sources:
        return held(dataset, variant)

    def build(*values: Any) -> list[Any]:
        return [held(_with_values(dataset, dict(zip(map(id, sources), values, strict=True))), variant)]

    inputs = [s._variant_tensor if isinstance(s, StagedDataset) else s for s in sources]
    return _build(type(dataset).__name__, build, inputs, Pipeline(dataset, sources))


def _with_values(dataset: Any, values: dict[int, Any]) -> Any:
    """Returns a pipeline with eager tensors in place of its sources' symbolic ones, by the sources' ids."""
    if isinstance(dataset, StagedDataset):
        return values[id(dataset)].value[()]
    inputs = dataset._inputs()
    new_inputs = [_with_values(source, values) for source in inputs]
    functions = {} if not isinstance(dataset, Node) else dataset._functions()
    functions = {name: f.with_captures(values) for name, f in functions.items() if f.symbolic_captures}
    if not functions and all(a is b for a, b in zip(new_inputs, inputs, strict=True)):
        return dataset
    dataset = dataset._over(new_inputs)
    dataset.__dict__.update(functions)
    return dataset


def node_of(kind: Callable[..., Dataset], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Dataset:
    """Returns a node; where an argument has a value only when the graph runs, one that is created then.

    Args:
        kind: its class.
        args, kwargs: the arguments of `kind`.
    """
    arguments = (list(args), kwargs or {})
    flat = [_constant(a) for a in nest.flatten(arguments)]
    args, kwargs = nest.pack_sequence_as(arguments, flat)
    if not any(isinstance(a, SymbolicTensor) for a in flat):
        return kind(*args, **kwargs)
    stand_ins, keywords = nest.map_structure(_stand_in, (args, kwargs))
    return Creation.of(kind, args, kwargs, kind(*stand_ins, **keywords).element_spec).staged()


def _constant(arg: Any) -> Any:
    value = value_of(arg) if isinstance(arg, SymbolicTensor) else None
    return arg if value is None else EagerTensor(value, arg.dtype)


def _stand_in(arg: Any) -> Any:
    """Returns a value that takes the place of a tensor in a node that is created for its spec."""
    if not isinstance(arg, SymbolicTensor):
        return arg
    if arg.dtype is string:
        return "" if arg.shape.rank == 0 else [""]
    if arg.dtype is bool_:
        return False
    return np.full(arg.shape.as_list(), -1) if arg.shape.rank else UnknownInteger(1)


def source_of(kind: Any, tensors: Any, element_spec: Callable[[Any], Any]) -> Dataset:
    """Returns a source that holds tensors; where they are the graph's, one that is created when it runs."""
    values, specs = structure.normalized(tensors)
    if not any(isinstance(t, SymbolicTensor) for t in nest.flatten(values, expand_composites=True)):
        return kind(tensors)
    flat = [_constant(t) for t in nest.flatten(values, expand_composites=True)]
    values = nest.pack_sequence_as(values, flat, expand_composites=True)
    if not any(isinstance(t, SymbolicTensor) for t in flat):
        return kind(values)
    return Creation.of(kind, [values], {}, structure.map_specs(element_spec, specs)).staged()


def cardinality(dataset: Dataset) -> SymbolicTensor:
    """Returns the number of elements, as a symbolic tensor."""

    def count(variant_tensor: Any) -> list[Any]:
        return [variant_tensor.value[()].cardinality()]

    return python_op("DatasetCardinality", count, [dataset._variant_tensor], [(int64, [])], stateful=False).outputs[0]


def reduced(dataset: Dataset, initial: MappedFunction, function: MappedFunction, spec: Any) -> Any:
    """Writes `Dataset.reduce` as an operation of the graph."""
    captured = list({id(t): t for f in (initial, function) for t in f.symbolic_captures}.values())

    def run(variant_tensor: Any, *values: Any) -> list[Any]:
        captures = dict(zip(map(id, captured), values, strict=True))
        state = reduction(variant_tensor.value[()], initial.with_captures(captures), function.with_captures(captures))
        return nest.flatten(structure.Packer(spec)(state), expand_composites=True)

    return _packed("ReduceDataset", run, [dataset._variant_tensor, *captured], spec)


# ---- iterators -------------------------------------------------------------------------------------------------------


_MOST_ELEMENTS = 256  # that a trace takes from an iterator one by one


class StagedIterator(Iterator):
    """An iterator in a graph.

    Args:
        handle: the tensor that stands for it.
        element_spec: the spec of its elements.
    """

    def __init__(self, handle: Tensor, element_spec: Any) -> None:
        self._handle = handle
        self._spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._spec)

    def __iter__(self) -> StagedIterator:
        return self

    def __next__(self) -> Any:
        return self.get_next()

    def get_next(self) -> Any:
        """Returns the next element; when the graph runs, an OutOfRangeError at the end.

        Returns:
            A structure of symbolic tensors.

        Raises:
            ValueError: Python iterates over the dataset while the function is traced, which would never end.
        """

        def take(iterator: Any) -> list[Any]:
            return _tensors(iterator.value[()].get_next(), self._spec)

        graph: Any = state.graph
        if graph.building_function and len(graph.capture(self._handle).consumers()) >= _MOST_ELEMENTS:
            raise ValueError(
                "An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that "
                "Python's own iteration, as in `list(dataset)`, is used within tf.function, where it never ends: use "
                "`for element in dataset: ...` with AutoGraph, or the dataset's own methods."
            )
        return _packed("IteratorGetNext", take, [self._handle], self._spec)

    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or nothing at the end.

        Returns:
            A `StagedOptional`.
        """

        def take(iterator: Any) -> Sequence[Any]:
            return OptionalSpec(self._spec)._to_components(iterator.value[()].get_next_as_optional())

        operation = python_op("IteratorGetNextAsOptional", take, [self._handle], _DATASET, attrs=_types(self._spec))
        return StagedOptional(operation.outputs[0], self._spec)


def iterator_of(dataset: Dataset) -> StagedIterator:
    """Returns a new iterator, created whenever the graph runs."""

    def make(variant_tensor: Any) -> list[Any]:
        return [held(OwnedIterator(variant_tensor.value[()]), resource)]

    operation = python_op("MakeIterator", make, [dataset._variant_tensor], _ITERATOR)
    return StagedIterator(operation.outputs[0], dataset.element_spec)


def _types(spec: Any) -> dict[str, Any]:
    """Returns the attrs by which TensorFlow's ops say what the elements are."""
    specs = nest.flatten(spec, expand_composites=True)
    return {"output_types": [s.dtype for s in specs], "output_shapes": [s.shape for s in specs]}


def _packed(name: str, function: Callable[..., list[Any]], inputs: Sequence[Any], spec: Any) -> Any:
    """Returns the outputs of a Python operation, in the structure of a spec."""
    specs = nest.flatten(spec, expand_composites=True)
    outputs = python_op(name, function, inputs, [(s.dtype, s.shape) for s in specs], attrs=_types(spec)).outputs
    return nest.pack_sequence_as(spec, outputs, expand_composites=True)


def _tensors(value: Any, spec: Any) -> list[Any]:
    """Returns the tensors that values of a spec consist of."""
    leaves = zip(nest.flatten(value), nest.flatten(spec), strict=True)
    return [t for leaf, s in leaves for t in nest.flatten(s._to_components(leaf))]


class StagedOptional(Optional):
    """An optional in a graph.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: the spec of its value.
    """

    __slots__ = ("_variant_tensor",)

    def __init__(self, variant_tensor: Tensor, element_spec: Any) -> None:
        super().__init__(None, element_spec)
        self._variant_tensor = variant_tensor

    def has_value(self, name: str | None = None) -> Tensor:
        """Returns whether there is a value.

        Returns:
            A boolean scalar.
        """

        def ask(optional: Any) -> list[Any]:
            return [optional.value[()].has_value()]

        return python_op("OptionalHasValue", ask, [self._variant_tensor], [(bool_, [])], stateful=False).outputs[0]

    def get_value(self, name: str | None = None) -> Any:
        """Returns the value; when the graph runs, an InvalidArgumentError if there is none.

        Returns:
            A structure of symbolic tensors.
        """

        def take(optional: Any) -> list[Any]:
            return _tensors(optional.value[()].get_value(), self._element_spec)

        return _packed("OptionalGetValue", take, [self._variant_tensor], self._element_spec)


def optional_of(value: Any, spec: Any) -> StagedOptional:
    """Returns an optional that holds tensors of the graph."""

    def make(*flat: Any) -> list[Any]:
        return [held(Optional(nest.pack_sequence_as(spec, flat, expand_composites=True), spec), variant)]

    operation = python_op("OptionalFromValue", make, _tensors(value, spec), _DATASET, stateful=False)
    return StagedOptional(operation.outputs[0], spec)


# ---- nodes of a GraphDef ---------------------------------------------------------------------------------------------


def _get_next(builder: Any, node: Any, inputs: list[Any]) -> Operation:
    definition = definition_of(node.op)
    types, shapes = (attr_of(node, definition, name) for name in ("output_types", "output_shapes"))

    def take(iterator: Any) -> list[Any]:
        return nest.flatten(iterator.value[()].get_next(), expand_composites=True)

    attrs = {"output_types": types, "output_shapes": shapes}
    return python_op(node.op, take, inputs, list(zip(types, shapes, strict=True)), attrs=attrs)


def _get_next_as_optional(builder: Any, node: Any, inputs: list[Any]) -> Operation:
    def take(iterator: Any) -> list[Any]:
        optional = iterator.value[()].get_next_as_optional()
        values = nest.flatten(optional.get_value(), expand_composites=True) if optional.has_value() else ()
        return [held(tuple([v.value for v in values]), variant)]  # as the nodes of optionals take it

    return python_op(node.op, take, inputs, _DATASET)


register_builders({"IteratorGetNext": _get_next, "IteratorGetNextAsOptional": _get_next_as_optional})
register(StagedDataset, StagedIterator, cardinality, iterator_of, node_of, reduced, source_of, variant_of)
