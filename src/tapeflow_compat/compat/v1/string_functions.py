"""Functions of strings with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings import split_text
from tapeflow.strings.hash_buckets import to_hash_bucket
from tapeflow_compat.compat.v1.aliases import either


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: TensorLike | None = None
) -> Any:
    """Hashes of strings, int64 in [0, num_buckets), see `tf.strings.to_hash_bucket`.

    Args:
        string_tensor, input: strings of any shape, by either name.
        num_buckets: a positive int.

    Raises:
        ValueError: the strings were passed under both names.
        TypeError: there is no `num_buckets`.

    Example:
        >>> tf.compat.v1.string_to_hash_bucket(["a", "a", "b"], 5).numpy().tolist()
        [3, 3, 0]
    """
    strings = either("input", input, "string_tensor", string_tensor)
    if num_buckets is None:
        raise TypeError("Expected int for argument 'num_buckets' not None.")
    return to_hash_bucket(strings, num_buckets, name)


def string_split(
    source: Any, sep: str | None = None, skip_empty: bool = True, delimiter: str | None = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> Any:  # fmt: skip
    """Returns the parts of strings between separators, as a `tf.SparseTensor` of a row for each string.

    Args:
        source: a vector of strings.
        sep, delimiter: a string, by either name: each of its characters separates; by default a space. An empty one
            gives the bytes.
        skip_empty: leaves empty parts out.
        result_type: "SparseTensor" or "RaggedTensor".

    Raises:
        ValueError: the separators were passed under both names, or there is no such `result_type`.
        InvalidArgumentError: `source` is no vector.

    Example:
        >>> tf.compat.v1.string_split(["a b", "c"]).values.numpy().tolist()
        [b'a', b'b', b'c']
    """
    separators = either("sep", sep, "delimiter", delimiter)
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    parts = SparseTensor(*split_text.split_at_any(source, " " if separators is None else separators, skip_empty, name))
    return parts if result_type == "SparseTensor" else RaggedTensor.from_sparse(parts)


def split(
    input: Tensor | None = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor",
    source: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns the parts of strings between separators, see `tf.strings.split`.

    Args:
        input, source: strings, by either name; a scalar counts as a vector of one.
        sep: the separator; by default any white space.
        maxsplit: splits no more often, if not negative.
        result_type: "SparseTensor" or "RaggedTensor".

    Returns:
        One of these, of a dimension more.

    Raises:
        ValueError: the strings were passed under both names, or there is no such `result_type`.

    Example:
        >>> tf.compat.v1.strings.split(["a b", "c"], result_type="RaggedTensor")
        <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    strings = convert_to_tensor(either("source", source, "input", input), string)
    if strings.shape.rank == 0:
        strings = expand_dims(strings, 0)
    return _of_type(split_text.split(strings, sep, maxsplit, name), result_type)


def _of_type(parts: Any, result_type: str) -> Any:
    if result_type == "SparseTensor":
        return parts.to_sparse()
    if result_type == "RaggedTensor":
        return parts
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
