"""Tensors in JSON, as TensorFlow Serving writes them."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import string
from tapeflow.core.values.strings import StringArray

_DEEPEST = 32  # lists in each other: NumPy's arrays have at most as many dimensions in all versions


class BadRequest(Exception):
    """A request that can't be answered; the text says why.

    Args:
        message: the text.
        status: the status of the answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> Any:
        return BadRequest, (str(self), self.status)


def parse_body(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a request's body.

    Raises:
        BadRequest: it is not valid.
    """
    try:
        value = json.loads(body.decode(json.detect_encoding(body)))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest("The body is not a JSON object.")
    return value


def columns(request: Mapping[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Returns the values of a request by inputs, and whether it has them in rows.

    Args:
        request: the JSON object, with "instances" (rows) or "inputs" (columns).
        names: the names of the inputs; one alone need not be named.

    Raises:
        BadRequest: it has neither or both of "instances" and "inputs", or its rows do not name the same inputs.
    """
    if ("instances" in request) == ("inputs" in request):
        raise BadRequest('The request needs either "instances" or "inputs".')
    if "inputs" in request:
        values = request["inputs"]
        if len(names) == 1 and not (isinstance(values, dict) and set(values) == set(names)):
            values = {names[0]: values}
        if not isinstance(values, dict):
            raise BadRequest(f'"inputs" has to be an object with the inputs {sorted(names)}.')
        return values, False
    rows = request["instances"]
    if not isinstance(rows, list) or not rows:
        raise BadRequest('"instances" has to be a list with at least one instance.')
    if len(names) == 1 and not all(isinstance(row, dict) and "b64" not in row for row in rows):
        return {names[0]: rows}, True
    for i, row in enumerate(rows):
        if not isinstance(row, dict) or set(row) != set(rows[0]):
            raise BadRequest(f"instances[{i}] has to be an object with the inputs {sorted(names)}.")
    return {name: [row[name] for row in rows] for name in rows[0]}, True


def array(name: str, value: Any, spec: Any) -> Any:
    """Returns the array of a JSON value; a `StringArray` for strings.

    Args:
        name: the input's name, for messages.
        value: the JSON value.
        spec: the input's spec.

    Raises:
        BadRequest: it is of another dtype or shape.
    """
    wanted = f"Input {name!r} takes {spec.dtype.name} of shape {_show_shape(spec.shape)}"
    shape, leaves = _flatten_lists(value, wanted)
    if not spec.shape.is_compatible_with(list(shape)):
        raise BadRequest(f"{wanted}, not of shape {shape}.")
    if spec.dtype is string:
        try:
            return StringArray.of_text(leaves).reshape(shape)
        except (TypeError, UnicodeEncodeError):  # bytes in base64, or wrong
            return StringArray.of([string_of(name, leaf) for leaf in leaves], shape)
    kinds = {bool} if spec.dtype.is_bool else {int} if spec.dtype.is_integer else {int, float}
    if not kinds.issuperset(map(type, leaves)):
        raise BadRequest(f"{wanted}, not {_quote_value(next(v for v in leaves if type(v) not in kinds))}.")
    try:
        return np.array(leaves, spec.dtype.as_numpy_dtype).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise BadRequest(f"{wanted}: {error}") from error


def _show_shape(shape: Any) -> str:
    return "any rank" if shape.rank is None else str(tuple(shape.as_list()))


def _quote_value(value: Any) -> str:
    return "an object" if isinstance(value, dict) else json.dumps(value)[:100]


def _flatten_lists(value: Any, wanted: str) -> tuple[tuple[int, ...], list[Any]]:
    """Returns the shape of nested lists, and their items.

    Raises:
        BadRequest: the lists are of different lengths, or nested more than NumPy can.
    """
    shape: list[int] = []
    level = [value]
    while list in (kinds := set(map(type, level))):
        lengths = set(map(len, level)) if len(kinds) == 1 else set()
        if len(lengths) != 1:
            raise BadRequest(f"{wanted}, and its lists are of different lengths.")
        if len(shape) == _DEEPEST:
            raise BadRequest(f"{wanted}, and its lists are nested more than {_DEEPEST} deep.")
        shape += lengths
        level = list(itertools.chain.from_iterable(level))
    return tuple(shape), level


def string_of(name: str, value: Any) -> bytes:
    """Returns a string: text, or an object with its bytes in base64."""
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:  # half of a surrogate pair
            raise BadRequest(f"Input {name!r} has a string that is not Unicode: {error.reason}") from None
    if isinstance(value, dict) and set(value) == {"b64"} and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except ValueError as error:
            raise BadRequest(f"Input {name!r} has a string that is not base64: {error}") from error
    raise BadRequest(f"Input {name!r} takes strings, not {_quote_value(value)}.")


def plain(name: str, value: Any) -> Any:
    """Returns the JSON value of an output; one whose name ends in `_bytes` has its strings in base64."""
    if not isinstance(value, StringArray):
        return value.tolist()
    as_bytes = name.endswith("_bytes")

    def text(item: Any) -> Any:
        if isinstance(item, list):
            return [text(i) for i in item]
        return {"b64": base64.b64encode(item).decode()} if as_bytes else item.decode("utf-8", "replace")

    return text(value.tolist())


def predictions(outputs: Mapping[str, Any], in_rows: bool) -> Any:
    """Returns the answer to a request for a prediction.

    Raises:
        BadRequest: rows were asked for, and the outputs have none, or different numbers of them.
    """
    if in_rows:
        counts = {value.shape[:1] for value in outputs.values()}
        if len(counts) != 1 or counts == {()}:
            raise BadRequest('The outputs have no rows in common: ask for columns, with "inputs".')
    columns = {name: plain(name, value) for name, value in outputs.items()}
    if not in_rows:
        return {"outputs": next(iter(columns.values())) if len(columns) == 1 else columns}
    if len(columns) == 1:
        return {"predictions": next(iter(columns.values()))}
    return {"predictions": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]}
