"""Arithmetic, counting and random numbers with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.identities import identity
from tapeflow.array.properties import size
from tapeflow.core.ops.convert import convert
from tapeflow.core.rng.seeds import lasting_seeds, set_seed
from tapeflow.core.types.dtypes import bfloat16, complex64, complex128, float32, float64, int32, int64
from tapeflow.math import casting
from tapeflow.math.division import floordiv, realdiv
from tapeflow.math.elementwise import rsqrt
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_sum
from tapeflow_compat.compat.v1.aliases import member

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
    """Scales a tensor until its norm, divided by its number of elements, is at most `clip_norm`.

    Example:
        >>> tf.compat.v1.clip_by_average_norm([3.0, 4.0], 1.25).numpy().tolist()
        [1.5, 2.0]
    """
    t = convert(t)
    count = casting.cast(size(t), t.dtype)
    inverse = rsqrt(reduce_sum(t * t))
    return identity(t * clip_norm * minimum(inverse * count, 1.0 / convert(clip_norm, t.dtype)), name=name)


# ---- counting --------------------------------------------------------------------------------------------------------


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
