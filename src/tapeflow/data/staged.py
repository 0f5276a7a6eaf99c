"""Datasets and iterators in a graph: symbolic tensors that stand for them, and the operations that take elements.

A pipeline over a dataset that is not known yet is made of the usual nodes. It is put over the dataset when the graph runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Iterator as PyIterator
from typing import Any

from tapeflow import nest
from tapeflow.core.composite import CompositeTensor
from tapeflow.core.dtypes import DType, bool_, int64, resource, variant
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import Tensor
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.iterators import Iterator, OwnedIterator
from tapeflow.data.spec import IteratorSpec, held
from tapeflow.data.structure import Element
from tapeflow.graph.python_op import python_op
from tapeflow.optional import Optional, OptionalSpec

_DATASET: list[tuple[DType, Sequence[int]]] = [(variant, ())]
_ITERATOR: list[tuple[DType, Sequence[int]]] = [(resource, ())]


class StagedDataset(Dataset):
    """A dataset that a graph gets or makes, known when it runs.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: of its elements.
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
            f"{self!r} is known only when its graph runs: iterate over it inside of the tf.function, with autograph or `iter`."
        )


def staged_inputs(dataset: Dataset) -> list[StagedDataset]:
    """The datasets that a pipeline starts from and that are known only when the graph runs."""
    if isinstance(dataset, StagedDataset):
        return [dataset]
    found = [s for source in dataset._inputs() for s in staged_inputs(source)]
    return list(dict.fromkeys(found))


def variant_of(dataset: Dataset) -> Tensor:
    """The tensor of a pipeline, while a graph is built."""
    sources = staged_inputs(dataset)
    if not sources:
        return held(dataset, variant)

    def build(*known: Any) -> list[Any]:
        values = dict(zip(sources, (k.value[()] for k in known), strict=True))
        return [held(_rebuilt(dataset, values), variant)]

    name = type(dataset).__name__.lstrip("_")
    return python_op(name, build, [s._variant_tensor for s in sources], _DATASET, stateful=False).outputs[0]


def _rebuilt(dataset: Dataset, known: dict[StagedDataset, Dataset]) -> Dataset:
    if isinstance(dataset, StagedDataset):
        return known[dataset]
    inputs = dataset._inputs()
    return dataset._over([_rebuilt(source, known) for source in inputs]) if staged_inputs(dataset) else dataset


def from_function(name: str, make: Callable[..., Dataset], tensors: Any, element_spec: Any) -> StagedDataset:
    """A dataset made of tensors of the graph when it runs.

    Args:
        name: of the operation.
        make: gives the dataset of a structure like `tensors`.
        tensors: a structure of tensors.
        element_spec: of the dataset.
    """

    def build(*flat: Any) -> list[Any]:
        return [held(make(nest.pack_sequence_as(tensors, flat, expand_composites=True)), variant)]

    made = python_op(name, build, nest.flatten(tensors, expand_composites=True), _DATASET, stateful=False)
    return StagedDataset(made.outputs[0], element_spec)


def cardinality(dataset: Dataset) -> SymbolicTensor:
    """How many elements there are, as a symbolic tensor."""

    def count(known: Any) -> list[Any]:
        return [known.value[()].cardinality()]

    return python_op("DatasetCardinality", count, [dataset._variant_tensor], [(int64, [])], stateful=False).outputs[0]


def reduced(dataset: Dataset, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """`Dataset.reduce` as a loop of the graph."""
    from tapeflow.control_flow import while_loop
    from tapeflow.core.convert import convert

    iterator = iter(dataset)

    def step(optional: Any, before: Any) -> tuple[Any, Any]:
        after = reduce_func(before, optional.get_value())
        after = nest.map_structure(
            lambda old, new: new if isinstance(new, CompositeTensor) else convert(new, old.dtype), before, after
        )
        return iterator.get_next_as_optional(), after

    first = nest.map_structure(lambda v: v if isinstance(v, (Tensor, CompositeTensor)) else convert(v), initial_state)
    return while_loop(lambda optional, _: optional.has_value(), step, (iterator.get_next_as_optional(), first))[1]


# ---- iterators -------------------------------------------------------------------------------------------------------


class StagedIterator(Iterator):
    """An iterator in a graph.

    Args:
        handle: the tensor that stands for it.
        element_spec: of what it gives.
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
        """The next element; when the graph runs, an OutOfRangeError at the end."""

        def take(iterator: Any) -> list[Any]:
            return nest.flatten(iterator.value[()].get_next(), expand_composites=True)

        return _packed("IteratorGetNext", take, self._handle, self._spec)

    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing at the end."""

        def take(iterator: Any) -> Sequence[Any]:
            return OptionalSpec(self._spec)._to_components(iterator.value[()].get_next_as_optional())

        made = python_op("IteratorGetNextAsOptional", take, [self._handle], _DATASET)
        return StagedOptional(made.outputs[0], self._spec)


def iterator_of(dataset: Dataset) -> StagedIterator:
    """A new iterator, made whenever the graph runs."""

    def make(known: Any) -> list[Any]:
        return [held(OwnedIterator(known.value[()]), resource)]

    made = python_op("MakeIterator", make, [dataset._variant_tensor], _ITERATOR)
    return StagedIterator(made.outputs[0], dataset.element_spec)


def _packed(name: str, function: Callable[[Any], list[Any]], source: Tensor, spec: Any) -> Any:
    """What an operation gives, in the structure of a spec."""
    specs = nest.flatten(spec, expand_composites=True)
    outputs = python_op(name, function, [source], [(s.dtype, s.shape) for s in specs]).outputs
    return nest.pack_sequence_as(spec, outputs, expand_composites=True)


def loop_over(iterator: Any, loop: Any) -> None:
    """`for x in iterator`, in a graph."""
    loop.over(
        (iterator.get_next_as_optional(),),
        more=lambda optional: optional.has_value(),
        take=lambda optional: (optional.get_value(), lambda: (iterator.get_next_as_optional(),)),
    )


class StagedOptional(Optional):
    """An optional in a graph.

    Args:
        variant_tensor: the symbolic tensor that stands for it.
        element_spec: of its value.
    """

    __slots__ = ("_variant_tensor",)

    def __init__(self, variant_tensor: Tensor, element_spec: Any) -> None:
        super().__init__(None, element_spec)
        self._variant_tensor = variant_tensor

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, as a boolean scalar."""

        def ask(optional: Any) -> list[Any]:
            return [optional.value[()].has_value()]

        return python_op("OptionalHasValue", ask, [self._variant_tensor], [(bool_, [])], stateful=False).outputs[0]

    def get_value(self, name: str | None = None) -> Any:
        """The value; when the graph runs, an InvalidArgumentError if there is none."""

        def take(optional: Any) -> list[Any]:
            return nest.flatten(optional.value[()].get_value(), expand_composites=True)

        return _packed("OptionalGetValue", take, self._variant_tensor, self._element_spec)
