"""The op table: each op as a row of samples and a NumPy reference, and the checks that run over all rows.

A new op is a new row in `tests/support/rows/`. A sample's float arrays are given in float64 and cast to each dtype of
its row; all other arguments are passed as they are.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rows
import tapeflow as tf

FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDE_FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + COMPLEX + INTEGERS

# Relative and absolute tolerances of a result against the reference in float64, a few rounding errors wide.
TOLERANCE = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (2e-2, 2e-2),
    "float32": (2e-5, 2e-6),
    "complex64": (2e-5, 2e-6),
    "float64": (1e-10, 1e-12),
    "complex128": (1e-10, 1e-12),
}


def sample(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one call."""
    return args, kwargs


def rand(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> np.ndarray:
    """Uniform float64 numbers, the same every time."""
    return np.random.default_rng(seed + sum(shape)).uniform(low, high, shape)


@dataclasses.dataclass
class Row:
    """An op and what is expected of it.

    Attributes:
        name: its public name without `tf.`, such as "math.exp".
        samples: calls to make; see `sample`.
        reference: the NumPy function of the same arguments, or None where goldens alone say what is right.
        dtypes: the dtypes to cast the samples' float arrays to.
        result: the dtype of the result, if not that of the arguments.
        gradient: whether it is differentiable: first and second order are then checked in float64.
        nth: which arguments to differentiate by; all float arrays by default.
        bad: calls that must fail: `(sample, error class, a part of the message)`.
        tolerance: by dtype, where the op is inherently less exact; say why beside it.
    """

    name: str
    samples: Sequence[Any]
    reference: Callable[..., Any] | None = None
    dtypes: Sequence[str] = WIDE_FLOATS
    result: str | None = None
    gradient: bool = True
    second_order: bool = True
    nth: Sequence[int] | None = None
    bad: Sequence[tuple[Any, type[Exception], str]] = ()
    tolerance: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def function(self) -> Callable[..., Any]:
        value: Any = tf
        for part in self.name.split("."):
            value = getattr(value, part)
        return value


def all_rows() -> list[Row]:
    """The rows of every module in `tests/support/rows/`."""
    found: list[Row] = []
    for module in sorted(m.name for m in pkgutil.iter_modules(rows.__path__)):
        found.extend(importlib.import_module(f"rows.{module}").ROWS)
    return found


def cast(value: Any, dtype: str) -> Any:
    """The sample's argument with its float arrays as tensors of `dtype`; complex parts come from the same numbers."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        if dtype in COMPLEX:
            value = value + 0.5j * value[..., ::-1] if value.ndim else value + 0.5j * value
        return tf.cast(tf.constant(value), dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)([cast(v, dtype) for v in value])
    return value


def exact(value: Any) -> Any:
    """A tensor as the NumPy array that the reference takes: float64 or complex128, integers as they are."""
    if isinstance(value, tf.Tensor):
        array = np.asarray(value)
        if value.dtype.is_floating:
            return array.astype(np.float64)
        return array.astype(np.complex128) if value.dtype.is_complex else array
    if isinstance(value, (list, tuple)) and any(isinstance(v, tf.Tensor) for v in value):
        return type(value)([exact(v) for v in value])
    return value


def check_values(row: Row, args: Any, kwargs: Any, dtype: str) -> None:
    """The op gives what the reference gives, in the dtype it should, stored as that dtype is."""
    given = [cast(a, dtype) for a in args]
    named = {k: cast(v, dtype) for k, v in kwargs.items()}
    got = row.function(*given, **named)
    assert row.reference is not None
    want = row.reference(*[exact(a) for a in given], **{k: exact(v) for k, v in named.items()})
    gots, wants = (list(got), list(want)) if isinstance(got, (list, tuple)) else ([got], [want])
    assert len(gots) == len(wants)
    rtol, atol = row.tolerance.get(dtype, TOLERANCE.get(dtype, (0, 0)))
    for g, w in zip(gots, wants, strict=True):
        w = np.asarray(w)
        assert tuple(g.shape) == w.shape
        if len(gots) == 1:
            assert g.dtype == (row.result or dtype)
        assert g.value.dtype == g.dtype.torch
        if g.dtype.is_integer or g.dtype.is_bool:
            np.testing.assert_array_equal(g.numpy(), w.astype(g.dtype.as_numpy_dtype))
        else:
            wide = np.complex128 if g.dtype.is_complex else np.float64
            np.testing.assert_allclose(np.asarray(g).astype(wide), w, rtol=rtol, atol=atol)


def _differentiated(row: Row, args: Any) -> list[int]:
    if row.nth is not None:
        return list(row.nth)
    return [i for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype == np.float64]


def _projected(function: Callable[..., Any], args: list[Any], kwargs: Any, seed: int) -> Any:
    """The op's outputs, times fixed random numbers, summed: a scalar to differentiate."""
    out = function(*args, **kwargs)
    outs = [o for o in tf.nest.flatten(out) if o.dtype.is_floating]
    total = None
    for i, o in enumerate(outs):
        weights = tf.constant(rand(*o.shape, seed=seed + i), o.dtype)
        part = tf.reduce_sum(o * weights)
        total = part if total is None else total + part
    return total


def _gradients(function: Callable[..., Any], args: list[Any], kwargs: Any, nth: list[int], seed: int) -> list[Any]:
    with tf.GradientTape() as tape:
        for i in nth:
            tape.watch(args[i])
        target = _projected(function, args, kwargs, seed)
    found = tape.gradient(target, [args[i] for i in nth], unconnected_gradients="zero")
    return [tf.convert_to_tensor(g) for g in found]


def check_gradient(function: Callable[..., Any], args: Any, kwargs: Any, nth: list[int], seed: int = 7) -> None:
    """The gradient along a random direction is the central difference along it, in float64."""
    given = [tf.constant(a) if i in nth else cast(a, "float64") for i, a in enumerate(args)]
    named = {k: cast(v, "float64") for k, v in kwargs.items()}
    found = _gradients(function, given, named, nth, seed)
    directions = {i: rand(*np.shape(args[i]), seed=seed + 31 * i, low=-1.0, high=1.0) for i in nth}
    step = 1e-6

    def moved(by: float) -> float:
        at = [tf.constant(args[i] + by * directions[i]) if i in nth else a for i, a in enumerate(given)]
        return float(_projected(function, at, named, seed))

    numeric = (moved(step) - moved(-step)) / (2 * step)
    for i, g in zip(nth, found, strict=True):
        assert g.shape == np.shape(args[i])
        assert g.dtype == tf.float64
    analytic = sum(float(np.sum(g.numpy() * directions[i])) for i, g in zip(nth, found, strict=True))
    np.testing.assert_allclose(analytic, numeric, rtol=2e-5, atol=2e-6)


def check_first_order(row: Row, args: Any, kwargs: Any) -> None:
    check_gradient(row.function, args, kwargs, _differentiated(row, args))


def check_second_order(row: Row, args: Any, kwargs: Any) -> None:
    nth = _differentiated(row, args)

    def gradients(*given: Any, **named: Any) -> list[Any]:
        return _gradients(row.function, list(given), named, nth, 3)

    check_gradient(gradients, args, kwargs, nth)


def check_forward_mode(row: Row, args: Any, kwargs: Any) -> None:
    """The forward derivative along a direction is the reverse gradient times that direction."""
    nth = _differentiated(row, args)
    given = [tf.constant(a) if i in nth else cast(a, "float64") for i, a in enumerate(args)]
    named = {k: cast(v, "float64") for k, v in kwargs.items()}
    directions = [tf.constant(rand(*np.shape(args[i]), seed=11 + i)) for i in nth]
    with tf.autodiff.ForwardAccumulator([given[i] for i in nth], directions) as accumulator:
        out = _projected(row.function, given, named, 5)
    forward = accumulator.jvp(out, unconnected_gradients="zero")
    found = _gradients(row.function, given, named, nth, 5)
    reverse = sum(float(np.sum(g.numpy() * d.numpy())) for g, d in zip(found, directions, strict=True))
    np.testing.assert_allclose(float(forward), reverse, rtol=1e-8, atol=1e-9)


def call_of_tensors(
    function: Callable[..., Any], args: Any, kwargs: Any, leaves: Sequence[Any], places: Sequence[int]
) -> Callable[..., Any]:
    """Returns a call as a function of the tensors among its arguments: those at these places of the flat arguments."""

    def call(*tensors: Any) -> Any:
        filled = list(leaves)
        for i, tensor in zip(places, tensors, strict=True):
            filled[i] = tensor
        positional, named = tf.nest.pack_sequence_as((args, kwargs), filled)
        return function(*positional, **named)

    return call
