"""Functions of strings with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tapeflow.compat.v1.renamed import either, required
from tapeflow.core.dtypes import float32


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Any:
    """Parts of strings, see `tf.strings.substr`.

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

    Example:
        >>> tf.compat.v1.string_to_number(["1.5"]).numpy().tolist()
        [1.5]
    """
    from tapeflow import strings

    return strings.to_number(
        required("string_tensor", either("input", input, "string_tensor", string_tensor)), out_type, name
    )


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: Any = None
) -> Any:
    """Hashes of strings, see `tf.strings.to_hash_bucket`."""
    from tapeflow import strings

    given = required("string_tensor", either("input", input, "string_tensor", string_tensor))
    return strings.to_hash_bucket(given, num_buckets, name)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "", name: str | None = None,
    reduction_indices: Any = None, keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """Strings joined over dimensions, see `tf.strings.reduce_join`.

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
    """The lengths of strings, see `tf.strings.length`."""
    from tapeflow import strings

    return strings.length(input, unit, name)
