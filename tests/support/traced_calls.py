"""Calls of a function in graphs, tapes and maps, short enough for a row of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf


def static(function: Callable[..., Any], *specs: Any) -> Any:
    """Returns the static shapes of what a function gives for tensors of float32 of some shapes, or other specs."""
    specs = tuple(s if isinstance(s, tf.TypeSpec) else tf.TensorSpec(s, tf.float32) for s in specs)
    found: list[Any] = []

    def traced(*xs: Any) -> Any:
        found.append(tf.nest.map_structure(lambda t: str(t.shape), function(*xs)))
        return xs

    tf.function(traced, autograph=False).get_concrete_function(*specs)
    return found[0]


def grad(function: Callable[..., Any], *xs: Any) -> Any:
    """Returns the gradients of a function, dense."""
    xs = tuple(tf.convert_to_tensor(x) for x in xs)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(y, xs)]
    return found[0] if len(found) == 1 else found


def sized(function: Callable[..., Any], *xs: Any) -> Any:
    """Calls a function in a graph that knows no sizes."""
    xs = tuple(tf.convert_to_tensor(x) for x in xs)
    specs = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in xs]
    return tf.function(function, input_signature=specs, autograph=False)(*xs)


def unranked(function: Callable[..., Any], *xs: Any) -> Any:
    """Calls a function in a graph that knows no ranks."""
    xs = tuple(tf.convert_to_tensor(x) for x in xs)
    specs = [tf.TensorSpec(None, x.dtype) for x in xs]
    return tf.function(function, input_signature=specs, autograph=False)(*xs)


def mapped(function: Callable[..., Any], *xs: Any) -> Any:
    """Maps a function over the slices of tensors."""
    return tf.vectorized_map(lambda slices: function(*slices), tuple(tf.convert_to_tensor(x) for x in xs))
