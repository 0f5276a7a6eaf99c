"""Arithmetic, counting and random numbers with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.passing import identity
from tapeflow.array.properties import size
from tapeflow.core.ops.convert import convert
from tapeflow.core.rng.seeds import lasting_seeds, set_seed
from tapeflow.core.types.dtypes import as_dtype, bfloat16, complex64, complex128, float32, float64, int32, int64
from tapeflow.math import arithmetic, casting, counting
from tapeflow.math.division import floordiv, realdiv
from tapeflow.math.elementwise import rsqrt
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_sum
from tapeflow.quantization.integers import quantize
from tapeflow.random.stateful import categorical, poisson
from tapeflow.random.stateless import stateless_categorical
from tapeflow_compat.compat.v1.renamed import member

# ---- quotients, products, casts --------------------------------------------------------------------------------------


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns the quotient as Python 2 has it: rounded down for integers.

    Args:
        x, y: numbers of one dtype, of shapes that broadcast.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    Example:
        >>> tf.compat.v1.div(7, 2).numpy().item(), tf.compat.v1.div(7.0, 2.0).numpy().item()
        (3, 3.5)
    """
    x = convert(x)
    y = convert(y, x.dtype)
    return floordiv(x, y, name) if x.dtype.is_integer else realdiv(x, y, name)


def floor_div(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns the quotient, rounded down.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    Example:
        >>> tf.compat.v1.floor_div(-7, 2).numpy().item()
        -4
    """
    return floordiv(x, y, name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Returns a tensor (or `tf.IndexedSlices`) times a scalar of its dtype.

    Raises:
        ValueError: `scalar` is no scalar.

    Example:
        >>> tf.compat.v1.scalar_mul(2.0, tf.constant([1.0, 3.0])).numpy().tolist()
        [2.0, 6.0]
    """
    return arithmetic.scalar_mul(scalar, x, name)


def _to(dtype: Any, name: str, op_name: str) -> Callable[..., Any]:
    """Casts a tensor to a dtype."""

    @member(name, dtype=dtype.name)
    def cast(x: Any, name: str = op_name) -> Any:
        """Casts a tensor (also a sparse one, or `tf.IndexedSlices`) to `tf.{dtype}`, see `tf.cast`.

        Raises:
            UnimplementedError: there is no such cast, as of strings.

        Example:
            >>> tf.compat.v1.{name}([0, 1]).dtype
            tf.{dtype}
        """
        return casting.cast(x, dtype, name)

    return cast


to_bfloat16 = _to(bfloat16, "to_bfloat16", "ToBFloat16")
to_complex64 = _to(complex64, "to_complex64", "ToComplex64")
to_complex128 = _to(complex128, "to_complex128", "ToComplex128")
to_double = _to(float64, "to_double", "ToDouble")
to_float = _to(float32, "to_float", "ToFloat")
to_int32 = _to(int32, "to_int32", "ToInt32")
to_int64 = _to(int64, "to_int64", "ToInt64")


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """Returns a tensor scaled so that its norm, divided by its number of elements, is at most `clip_norm`.

    Example:
        >>> tf.compat.v1.clip_by_average_norm([3.0, 4.0], 1.25).numpy().tolist()
        [1.5, 2.0]
    """
    t = convert(t)
    count = casting.cast(size(t), t.dtype)
    inverse = rsqrt(reduce_sum(t * t))
    return identity(t * clip_norm * minimum(inverse * count, 1.0 / convert(clip_norm, t.dtype)), name=name)


# ---- counting --------------------------------------------------------------------------------------------------------


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = int32) -> Any:
    """Counts how often each number occurs, see `tf.math.bincount`.

    Args:
        arr: integers, none of them negative.
        weights: of the shape of `arr`: what to add up for each, in place of 1.
        minlength: the least number of counts.
        maxlength: the largest number of counts; larger numbers are ignored.
        dtype: of the counts, without weights.

    Raises:
        InvalidArgumentError: a number is negative.

    Example:
        >>> tf.compat.v1.bincount([1, 1, 2]).numpy().tolist()
        [0, 2, 1]
    """
    return counting.bincount(arr, weights, minlength, maxlength, as_dtype(dtype))


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """Counts how often each label (row) was predicted as each class (column), see `tf.math.confusion_matrix`.

    Args:
        labels, predictions: vectors of integers, of one length.
        num_classes: the number of rows and columns; by default as many as are needed.
        dtype: of the counts.
        weights: of the length of the labels: what to add up for each, in place of 1.

    Raises:
        InvalidArgumentError: a label or a prediction is negative, or is none of `num_classes`.

    Example:
        >>> tf.compat.v1.confusion_matrix([0, 1, 1], [0, 0, 1]).numpy().tolist()
        [[1, 0], [1, 1]]
    """
    return counting.confusion_matrix(labels, predictions, num_classes, weights, as_dtype(dtype), name)


# ---- random numbers --------------------------------------------------------------------------------------------------


def set_random_seed(seed: int) -> None:
    """Sets the seed of the default graph, and of eager ops: see `tf.random.set_seed`.

    Example:
        >>> tf.compat.v1.set_random_seed(1)
        >>> first = tf.random.uniform([])
        >>> tf.compat.v1.set_random_seed(1)
        >>> bool(tf.random.uniform([]) == first)
        True
    """
    set_seed(seed)


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Returns the two seeds of an operation: of the global seed and its own, or None twice where there is neither.

    Args:
        op_seed: the seed of the operation, or None; then the second seed differs for each operation.

    Example:
        >>> tf.compat.v1.set_random_seed(7)
        >>> tf.compat.v1.get_seed(3)
        (7, 3)
    """
    seeds = lasting_seeds(op_seed)
    return (None, None) if seeds == (0, 0) else seeds


def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = int64, name: str | None = None
) -> Any:
    """Draws from categorical distributions that follow from the seed alone, see `tf.random.stateless_categorical`.

    Args:
        logits: unnormalized logarithms of probabilities, of shape [batch, classes].
        num_samples: the number of draws from each.
        seed: two integers.
        output_dtype: int64 or int32.

    Example:
        >>> tf.compat.v1.random.stateless_multinomial([[0.0, -100.0]], 3, [1, 2]).numpy().tolist()
        [[0, 0, 0]]
    """
    return stateless_categorical(logits, num_samples, seed, output_dtype, name)


def multinomial(
    logits: Any, num_samples: Any, seed: Any = None, name: str | None = None, output_dtype: Any = None
) -> Any:
    """Draws from categorical distributions, see `tf.random.categorical`.

    Args:
        logits: unnormalized logarithms of probabilities, of shape [batch, classes].
        num_samples: the number of draws from each.
        seed: of this operation.
        output_dtype: int64 (the default) or int32.

    Returns:
        The numbers of classes, of shape [batch, num_samples].

    Raises:
        InvalidArgumentError: the logits are no matrix.

    Example:
        >>> tf.compat.v1.multinomial([[0.0, -100.0]], 3).numpy().tolist()
        [[0, 0, 0]]
    """
    return categorical(logits, num_samples, int64 if output_dtype is None else output_dtype, seed, name)


def random_poisson(lam: Any, shape: Any, dtype: Any = float32, seed: Any = None, name: str | None = None) -> Any:
    """Draws from Poisson distributions, see `tf.random.poisson`.

    Args:
        lam: the rates.
        shape: the shape of the draws from each.
        dtype: of the result.
        seed: of this operation.

    Returns:
        A tensor of shape `shape` and then that of `lam`.

    Example:
        >>> tf.compat.v1.random_poisson([1.0, 2.0], [5]).shape
        TensorShape([5, 2])
    """
    return poisson(shape, lam, dtype, seed, name)


def quantize_v2(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
    name: str | None = None, round_mode: str = "HALF_AWAY_FROM_ZERO", narrow_range: bool = False,
    axis: int | None = None, ensure_minimum_range: float = 0.01,
) -> Any:  # fmt: skip
    """Quantizes numbers, see `tf.quantization.quantize`, which has the same parameters in another order.

    Example:
        >>> tf.compat.v1.quantize_v2([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8).output
        <tf.Tensor: shape=(3,), dtype=quint8, numpy=array([  0, 128, 255], dtype=uint8)>
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis, ensure_minimum_range)
