"""Calls of a function in graphs, tapes and maps, short enough for a row of a table of outcomes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import tapeflow as tf
from outcomes import agree, outcome
from tapeflow.graph.codegen.passes import small_functions
from tapeflow.graph.compiler import clusters


def check_row(rows: dict[str, str], source: str, names: dict[str, Any]) -> None:
    """Checks an expression of a table, which may also have the functions of this module."""
    with without_llvm():
        found = outcome(source, {**globals(), **names})
    assert agree(found, rows[source]), found


@contextlib.contextmanager
def without_llvm() -> Iterator[None]:
    """Graphs call the ops' kernels, as where LLVM is missing: compiling takes longer than all else here."""
    with mock.patch.object(small_functions, "has_llvm", bool), mock.patch.object(clusters, "has_llvm", bool):
        yield


def static(function: Callable[..., Any], *specs: Any, describe: Callable[[Any], Any] | None = None) -> Any:
    """Returns the static shapes of what a function gives for tensors of float32 of some shapes, or other specs.

    Args:
        describe: gives the shape of a tensor; by default as text.
    """
    specs = tuple(s if isinstance(s, tf.TypeSpec) else tf.TensorSpec(s, tf.float32) for s in specs)
    found: list[Any] = []

    def traced(*xs: Any) -> Any:
        found.append(tf.nest.map_structure(describe or shapes_of, function(*xs)))
        return xs

    tf.function(traced, autograph=False).get_concrete_function(*specs)
    return found[0]


def shapes_of(x: Any) -> Any:
    """Returns the static shape of a tensor, or those of a composite's parts."""
    return [str(t.shape) for t in tf.nest.flatten(x, expand_composites=True)] if is_composite(x) else str(x.shape)


def is_composite(x: Any) -> bool:
    """Returns True for a value that has several tensors."""
    return isinstance(x, (tf.SparseTensor, tf.RaggedTensor))


def as_tensor(x: Any) -> Any:
    """Returns a value as a tensor, and a composite unchanged."""
    return x if is_composite(x) else tf.convert_to_tensor(x)


def grad(function: Callable[..., Any], *xs: Any) -> Any:
    """Returns the gradients of a function, dense."""
    xs = tuple(tf.convert_to_tensor(x) for x in xs)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(y, xs)]
    return found[0] if len(found) == 1 else found


def cube_grads(function: Callable[..., Any], *xs: Any) -> Any:
    """Returns the gradients of the sum of cubes of what a function gives: they tell which element went where."""
    xs = tuple(as_tensor(x) for x in xs)
    leaves = [x.values if isinstance(x, tf.SparseTensor) else x.flat_values if is_composite(x) else x for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        parts = tf.nest.flatten(function(*xs), expand_composites=True)
        loss = tf.add_n([tf.reduce_sum(t**3) for t in parts if t.dtype.is_floating])
    return [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(loss, leaves)]


def sized(function: Callable[..., Any], *xs: Any) -> Any:
    """Calls a function in a graph that knows no sizes."""
    return in_graph(function, xs, lambda x: [None] * len(x.shape))


def unranked(function: Callable[..., Any], *xs: Any) -> Any:
    """Calls a function in a graph that knows no ranks."""
    return in_graph(function, xs, lambda x: None)


def in_graph(function: Callable[..., Any], xs: tuple[Any, ...], shape: Callable[[Any], Any]) -> Any:
    """Calls a function in a graph that knows of each argument what `shape` gives."""
    xs = tuple(as_tensor(x) for x in xs)
    kinds = [tf.SparseTensorSpec if isinstance(x, tf.SparseTensor) else tf.TensorSpec for x in xs]
    specs = [kind(shape(x), x.dtype) for kind, x in zip(kinds, xs, strict=True)]
    return tf.function(function, input_signature=specs, autograph=False)(*xs)


def mapped(function: Callable[..., Any], *xs: Any) -> Any:
    """Maps a function over the slices of tensors."""
    return tf.vectorized_map(lambda slices: function(*slices), tuple(tf.convert_to_tensor(x) for x in xs))
