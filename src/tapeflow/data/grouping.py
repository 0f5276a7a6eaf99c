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
from tapeflow.data.nodes import Elements, Node
from tapeflow.data.parts import register
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element
from tapeflow.data.threads import Failure, raises_failures, with_failures


class GroupByWindowDataset(Node):
    """The elements of the datasets that a function returns for each full group of elements with one key."""

    _name = "Dataset.group_by_window()"

    def __init__(self, source: Any, key_func: Any, reduce_func: Any, window_size_func: Any) -> None:
        key = TensorSpec([], int64)
        self._key = number_function("key_func", key_func, self._name, source.element_spec)
        self._window_size = number_function("window_size_func", window_size_func, self._name, key)
        self._reduce = MappedFunction(reduce_func, self._name, (key, DatasetSpec(source.element_spec)))
        spec = self._reduce.output_spec
        if not isinstance(spec, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return "
                f"type is {spec}."
            )
        super().__init__(spec.element_spec, source)

    def _size(self) -> int:
        return INFINITE if self._input_dataset._size() == INFINITE else UNKNOWN

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Element]) -> Generator[Any]:
        key_of, size_of, reduce = self._key.caller(), self._window_size.caller(), self._reduce.caller()
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


class GroupByReducerDataset(Node):
    """The results of a reducer for the elements of each key, in the order of the keys."""

    _name = "tf.data.experimental.group_by_reducer()"

    def __init__(self, source: Any, key_func: Callable[..., Any], reducer: Reducer) -> None:
        spec = source.element_spec
        self._key = number_function("key_func", key_func, self._name, spec)
        self._initial = MappedFunction(reducer.init_func, self._name, TensorSpec([], int64))
        self._step, state_spec = state_function(
            reducer.reduce_func, self._name, self._initial.output_spec, spec, lambda s: s, "Invalid `reducer`. "
        )
        self._final = MappedFunction(reducer.finalize_func, self._name, state_spec)
        super().__init__(self._final.output_spec, source)

    def _iterate(self) -> Iterator[Element]:
        key_of, initial, step = self._key.caller(), self._initial.caller(), self._step.caller()
        states: dict[int, Element] = {}
        for element in self._input_dataset._iterate():
            key = int(key_of(element)[0])
            if key not in states:
                states[key] = initial((torch.tensor(key),))
            states[key] = step((*states[key], *element))
        return map(self._final.caller(), [states[key] for key in sorted(states)])


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


register(GroupByWindowDataset)
