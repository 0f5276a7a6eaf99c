"""`tf.data.experimental.group_by_reducer`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch

from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, state_function
from tapeflow.data.node import Node, Unary, dataset_op
from tapeflow.data.transformations.group_by_window import KEY, number_function


@dataclasses.dataclass(frozen=True, eq=False)
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

    init_func: Callable[..., Any]
    reduce_func: Callable[..., Any]
    finalize_func: Callable[..., Any]


@dataset_op("GroupByReducerDataset")
class GroupByReducer(Unary):
    """The results of a reducer for the elements of each key, in the order of the keys."""

    key_func: MappedFunction
    init_func: MappedFunction
    reduce_func: MappedFunction
    finalize_func: MappedFunction

    @classmethod
    def of(cls, node: Node, key_func: Callable[..., Any], reducer: Reducer) -> GroupByReducer:
        """Returns the node for a user's functions."""
        name, spec = "tf.data.experimental.group_by_reducer()", node.spec
        key, initial = number_function("key_func", key_func, name, spec), MappedFunction(reducer.init_func, name, KEY)
        first, who = initial.output_spec, "Invalid `reducer`. "
        step, states = state_function(reducer.reduce_func, name, first, spec, lambda s: s, who)
        return cls(node, key, initial, step, MappedFunction(reducer.finalize_func, name, states))

    def element_spec(self) -> Any:
        own = self.input_dataset.spec
        self.key_func, self.init_func = self.key_func.typed(own), self.init_func.typed(KEY)
        states = self.init_func.output_spec
        self.reduce_func = self.reduce_func.typed((states, own))
        self.finalize_func = self.finalize_func.typed(states)
        return self.finalize_func.output_spec

    def iterate(self) -> Iterator[Element]:
        key_of, initial, step = self.key_func.caller(), self.init_func.caller(), self.reduce_func.caller()
        states: dict[int, Element] = {}
        for element in self.input_dataset.iterate():
            key = int(key_of(element)[0])
            if key not in states:
                states[key] = initial((torch.tensor(key),))
            states[key] = step((*states[key], *element))
        return map(self.finalize_func.caller(), [states[key] for key in sorted(states)])
