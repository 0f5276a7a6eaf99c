"""Parsing strings with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import io
from tapeflow_compat.compat.v1.renamed import either


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> list[Any]:
    """Returns the fields of CSV records, a tensor for each column, see `tf.io.decode_csv`.

    Example:
        >>> number, word = tf.compat.v1.decode_csv(["1,one", "2,two"], [[0], [""]])
        >>> number.numpy().tolist(), word.numpy().tolist()
        ([1, 2], [b'one', b'two'])
    """
    return io.decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """Returns the numbers whose bytes are the characters of strings, see `tf.io.decode_raw`.

    Args:
        input_bytes: the strings; `bytes` is their old name.
        out_type: the dtype of the numbers.
        little_endian: the order of the bytes of a number.

    Raises:
        ValueError: the strings or the dtype are missing, or the strings are passed twice.

    Example:
        >>> tf.compat.v1.decode_raw("ab", tf.uint8).numpy().tolist()
        [97, 98]
    """
    input_bytes = either("input_bytes", input_bytes, "bytes", bytes)
    for label, value in (("out_type", out_type), ("input_bytes", input_bytes)):
        if value is None:
            raise ValueError(f"decode_raw_v1() missing 1 positional argument: '{label}'")
    return io.decode_raw(input_bytes, out_type, little_endian, name=name)


def parse_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """Returns the features of serialized `tf.train.Example` messages, see `tf.io.parse_example`.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["x"].float_list.value.append(1.5)
        >>> features = {"x": tf.io.FixedLenFeature([], tf.float32)}
        >>> tf.compat.v1.parse_example([example.SerializeToString()] * 2, features)["x"].numpy().tolist()
        [1.5, 1.5]
    """
    return io.parse_example(serialized, features, example_names, name)


def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """Returns the features of one serialized `tf.train.Example` message, see `tf.io.parse_single_example`.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["x"].float_list.value.append(1.5)
        >>> features = {"x": tf.io.FixedLenFeature([], tf.float32)}
        >>> tf.compat.v1.parse_single_example(example.SerializeToString(), features)["x"].numpy().item()
        1.5
    """
    return io.parse_single_example(serialized, features, example_names, name)
