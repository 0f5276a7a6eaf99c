"""Ways to call a function: at once, in graphs that know more or less of its arguments, and for a batch of slices."""

import numpy as np
import pytest

import tapeflow as tf
from traced_calls import in_graph, static, without_llvm

UNKNOWN = {"static": lambda t: t.shape, "dims": lambda t: [None] * t.shape.rank, "rank": lambda t: None}


def gradients(function):
    """A function of what another gives, and of its gradients by all arguments that have one."""

    def found(*args):
        floats = [t for t in args if t.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            y = function(*args)
            loss = tf.add_n(
                [tf.reduce_sum(t * t * t) for t in map(tf.convert_to_tensor, tf.nest.flatten(y)) if t.dtype.is_floating]
            )
        return [y, *map(tf.convert_to_tensor, tape.gradient(loss, floats, unconnected_gradients="zero"))]

    return found


def same(got, want):
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
        assert np.shape(a) == np.shape(b), (np.shape(a), np.shape(b))
        if np.asarray(b).dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(a, b)


def batch(args):
    """Two slices of each argument: itself, and another."""
    return [tf.stack([t, tf.reverse(t, [-1]) if t.shape.rank else t]) for t in args]


def check(function, *args, want=None, slices=None, differentiable=True, knows=tuple(UNKNOWN)):
    """Checks a function of tensors.

    Args:
        function: takes and gives tensors.
        args: its arguments.
        want: what it gives.
        slices: batches of its arguments. Two of each by default; False if it takes no batch.
        differentiable: whether it has gradients.
        knows: what the graphs know of its arguments.
    """
    args = [tf.convert_to_tensor(a) for a in args]
    if want is not None:
        same(function(*args), want)
    full = gradients(function) if differentiable else function
    values = full(*args)
    with without_llvm():
        for what in knows:
            same(in_graph(full, tuple(args), UNKNOWN[what]), values)
    if slices is False:
        return
    slices = batch(args) if slices is None else [tf.convert_to_tensor(a) for a in slices]
    each = [full(*row) for row in zip(*slices, strict=True)]
    stacked = tf.nest.map_structure(lambda *rows: np.stack(rows), *each)
    with without_llvm():
        same(tf.vectorized_map(lambda row: full(*row), slices, fallback_to_while_loop=False), stacked)


def static_shape(function, *specs):
    """The static shapes of what a function gives in a graph, as lists; None for an unknown rank."""
    specs = [s if isinstance(s, tf.TensorSpec) else tf.TensorSpec(*s) for s in specs]
    found = static(lambda *xs: tf.nest.flatten(function(*xs)), *specs, describe=dims_of)
    return found[0] if len(found) == 1 else found


def dims_of(t):
    """The static dimensions of a tensor, or None."""
    return None if t.shape.rank is None else t.shape.as_list()


def check_static_shape(function, shapes, want):
    """Checks the static shapes of what a function gives for float32 tensors of these shapes; "error": it fails."""
    specs = [tf.TensorSpec(s, tf.float32) if isinstance(s, list | None) else s for s in shapes]
    if want != "error":
        assert static_shape(function, *specs) == want
        return
    with pytest.raises(ValueError):
        static_shape(function, *specs)
