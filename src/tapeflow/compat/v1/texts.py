"""Functions of strings with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tapeflow.compat.v1.renamed import either
from tapeflow.core.dtypes import float32


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Any:
    """Parts of strings, see `tf.strings.substr`.

    Args:
        input: strings of any shape.
        pos, len: int32 or int64, of shapes that broadcast: where each part begins, and its length.
        unit: what both count, "BYTE" or "UTF8_CHAR".

    Raises:
        InvalidArgumentError: `pos` is out of range.

    Example:
        >>> tf.compat.v1.substr("tensor", 1, 3).numpy()
        b'ens'
    """
    from tapeflow import strings

    return strings.substr(input, pos, len, unit, name)


def string_to_number(
    string_tensor: Any = None, out_type: Any = float32, name: str | None = None, input: Any = None
) -> Any:
    """The numbers that strings say, see `tf.strings.to_number`.

    Args:
        string_tensor, input: strings of any shape, by either name.
        out_type: float32, float64, int32 or int64.

    Raises:
        InvalidArgumentError: a string says no number.
        ValueError: the strings were given by both names.

    Example:
        >>> tf.compat.v1.string_to_number(["1.5"]).numpy().tolist()
        [1.5]
    """
    from tapeflow import strings

    return strings.to_number(either("input", input, "string_tensor", string_tensor), out_type, name)


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: Any = None
) -> Any:
    """Hashes of strings, int64 in [0, num_buckets), see `tf.strings.to_hash_bucket`.

    Args:
        string_tensor, input: strings of any shape, by either name.
        num_buckets: a positive int.

    Raises:
        ValueError: the strings were given by both names.
        TypeError: there is no `num_buckets`.

    Example:
        >>> tf.compat.v1.string_to_hash_bucket(["a", "a", "b"], 5).numpy().tolist()
        [3, 3, 0]
    """
    from tapeflow import strings

    given = either("input", input, "string_tensor", string_tensor)
    if num_buckets is None:
        raise TypeError("Expected int for argument 'num_buckets' not None.")
    return strings.to_hash_bucket(given, num_buckets, name)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "", name: str | None = None,
    reduction_indices: Any = None, keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """Strings joined over dimensions, see `tf.strings.reduce_join`.

    Args:
        inputs: strings of any shape.
        axis, reduction_indices: the dimensions to join over, by either name; by default all.
        keep_dims, keepdims: keeps them with length 1, by either name.
        separator: what stands between.

    Raises:
        ValueError: one thing was given by both names.

    Example:
        >>> tf.compat.v1.reduce_join([["a", "b"], ["c", "d"]], reduction_indices=1).numpy().tolist()
        [b'ab', b'cd']
    """
    from tapeflow import strings

    dims = either("axis", axis, "reduction_indices", reduction_indices)
    return strings.reduce_join(
        inputs, dims, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), separator, name
    )


def length(input: Any, name: str | None = None, unit: str = "BYTE") -> Any:
    """The lengths of strings, int32, see `tf.strings.length`.

    Args:
        input: strings of any shape.
        unit: what to count, "BYTE" or "UTF8_CHAR".

    Example:
        >>> tf.compat.v1.strings.length(["abc", ""]).numpy().tolist()
        [3, 0]
    """
    from tapeflow import strings

    return strings.length(input, unit, name)
