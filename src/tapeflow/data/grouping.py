"""Elements gathered by a key: `group_by_window` and `group_by_reducer`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import torch

from tapeflow.autograph.conversion import converted
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.dataset import INFINITE, UNKNOWN
from tapeflow.data.functions import MappedFunction, state_function
from tapeflow.data.maps import elements_of
from tapeflow.data.node import Node, OpFunction, dataset_op
from tapeflow.data.nodes import Elements
from tapeflow.data.parts import register
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element
from tapeflow.data.threads import Failure, raises_failures, with_failures

_KEY = TensorSpec([], int64)


@dataset_op("GroupByWindowDataset")
class GroupByWindowDataset(Node):
    """The elements of the datasets that a function returns for each full group of elements with one key."""

    def __init__(
        self, input_dataset: Any, key_func: MappedFunction, reduce_func: MappedFunction,
        window_size_func: MappedFunction,
    ) -> None:  # fmt: skip
        self._key_func, self._reduce_func, self._window_size_func = key_func, reduce_func, window_size_func
        spec = reduce_func.output_spec
        if not isinstance(spec, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return "
                f"type is {spec}."
            )
        super().__init__(spec.element_spec, input_dataset)

    @classmethod
    def _of_op(
        cls, input_dataset: Any, key_func: OpFunction, reduce_func: OpFunction, window_size_func: OpFunction, spec: Any
    ) -> GroupByWindowDataset:
        elements = input_dataset.element_spec
        return cls(
            input_dataset,
            key_func.typed(elements),
            reduce_func.typed((_KEY, DatasetSpec(elements)), DatasetSpec(spec)),
            window_size_func.typed(_KEY),
        )

    def _size(self) -> int:
        return INFINITE if self._input_dataset._size() == INFINITE else UNKNOWN

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        key_of, size_of = self._key_func.caller(), self._window_size_func.caller()
        reduce = self._reduce_func.caller()
        spec = self._input_dataset.element_spec
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}

        def with_key(element: Element) -> tuple[int, Element]:
            return int(key_of(element)[0]), element

        for pair in with_failures(map(with_key, inputs[0])):
            if type(pair) is Failure:
                yield pair
                continue
            key, element = pair
            if key not in groups:
                groups[key] = []
                sizes[key] = int(size_of((torch.tensor(key),))[0])
                if sizes[key] <= 0:
                    raise invalid(f"Window size must be greater than zero, but got {sizes[key]}.")
            groups[key].append(element)
            if len(groups[key]) == sizes[key]:
                yield from with_failures(elements_of(reduce((torch.tensor(key), Elements(groups.pop(key), spec)))))
        for key in sorted(groups):
            yield from with_failures(elements_of(reduce((torch.tensor(key), Elements(groups[key], spec)))))


def grouped_by_window(
    dataset: Any, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size_func: Callable[..., Any]
) -> GroupByWindowDataset:
    """Implements `Dataset.group_by_window`."""
    name, spec = "Dataset.group_by_window()", dataset.element_spec
    return GroupByWindowDataset(
        dataset,
        number_function("key_func", key_func, name, spec),
        MappedFunction(reduce_func, name, (_KEY, DatasetSpec(spec))),
        number_function("window_size_func", window_size_func, name, _KEY),
    )


class Reducer:
    """The functions that reduce the elements of a group to one: public in `tf.data.experimental`.

    Args:
        init_func: returns the first state of a key.
        reduce_func: takes a state and an element, and returns the next state.
        finalize_func: takes the last state of a group, and returns the group's result.

    Example:
        >>> count = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda n, x: n + 1, lambda n: n)
        >>> ds = tf.data.Dataset.range(5).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, count))
        >>> [x.item() for x in ds.as_numpy_iterator()]
        [3, 2]
    """

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ) -> None:
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function that returns the first state of a key."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function that returns the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function that returns a group's result."""
        return self._finalize_func


@dataset_op("GroupByReducerDataset")
class GroupByReducerDataset(Node):
    """The results of a reducer for the elements of each key, in the order of the keys."""

    def __init__(
        self, input_dataset: Any, key_func: MappedFunction, init_func: MappedFunction, reduce_func: MappedFunction,
        finalize_func: MappedFunction,
    ) -> None:  # fmt: skip
        self._key_func, self._init_func, self._reduce_func = key_func, init_func, reduce_func
        self._finalize_func = finalize_func
        super().__init__(finalize_func.output_spec, input_dataset)

    @classmethod
    def _of_op(
        cls, input_dataset: Any, key_func: OpFunction, init_func: OpFunction, reduce_func: OpFunction,
        finalize_func: OpFunction,
    ) -> GroupByReducerDataset:  # fmt: skip
        elements, states = input_dataset.element_spec, init_func.result_specs
        return cls(
            input_dataset, key_func.typed(elements), init_func.typed(_KEY), reduce_func.typed((states, elements)),
            finalize_func.typed(states),
        )  # fmt: skip

    def _iterate(self) -> Iterator[Element]:
        key_of, initial, step = self._key_func.caller(), self._init_func.caller(), self._reduce_func.caller()
        states: dict[int, Element] = {}
        for element in self._input_dataset._iterate():
            key = int(key_of(element)[0])
            if key not in states:
                states[key] = initial((torch.tensor(key),))
            states[key] = step((*states[key], *element))
        return map(self._finalize_func.caller(), [states[key] for key in sorted(states)])


def grouped_by_reducer(dataset: Any, key_func: Callable[..., Any], reducer: Reducer) -> GroupByReducerDataset:
    """Implements `tf.data.experimental.group_by_reducer`."""
    name, spec = "tf.data.experimental.group_by_reducer()", dataset.element_spec
    key, initial = number_function("key_func", key_func, name, spec), MappedFunction(reducer.init_func, name, _KEY)
    step, states = state_function(
        reducer.reduce_func, name, initial.output_spec, spec, lambda s: s, "Invalid `reducer`. "
    )
    return GroupByReducerDataset(dataset, key, initial, step, MappedFunction(reducer.finalize_func, name, states))


def number_function(which: str, function: Callable[..., Any], name: str, spec: Any) -> MappedFunction:
    """Traces a user's function that returns an int64 scalar.

    Raises:
        ValueError: it returns something else.
    """
    traced = MappedFunction(lambda *args: _as_int64(converted(function)(*args)), name, spec)
    if not TensorSpec([], int64).is_compatible_with(traced.output_spec):
        raise ValueError(
            f"Invalid `{which}`. `{which}` must return a single `tf.int64` scalar tensor but its return type is "
            f"{traced.output_spec}."
        )
    return traced


def _as_int64(value: Any) -> Any:
    return value if isinstance(value, (Tensor, CompositeTensor)) else convert(value, int64)


register(grouped_by_window)
