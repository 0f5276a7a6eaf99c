"""Tensors in JSON, as TensorFlow Serving writes them."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import string

_DEEPEST = 32  # lists in each other: NumPy's arrays have at most as many dimensions in all versions
_DECODER = json.JSONDecoder()
_SPACES, _NO_SPACE = (" ", "\t", "\n", "\r"), re.compile(r"[ \t\n\r]*")
_PIECE = 1 << 13  # the elements that are written at a time


class BadRequest(Exception):
    """A request that can't be answered; the text says why.

    Args:
        message: the text.
        status: the status of the answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def parsed(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a request's body.

    Raises:
        BadRequest: it is not valid.
    """
    try:
        value = _decoded(body.decode(json.detect_encoding(body)))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest("The body is not a JSON object.")
    return value


def _decoded(text: str) -> Any:
    """Returns the value of a JSON text.

    No other thread runs while `json` decodes. So the outer objects and lists are decoded here, item by item.
    """
    value, end = _value_at(text, 0)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """Returns the value at a place, and the place after it and after spaces."""
    start = _after_spaces(text, start)
    opening = text[start : start + 1]
    if opening == "{":
        pairs = _items(text, start, "}", _pair_at)
        return dict(pairs[0]), pairs[1]
    if opening == "[":
        return _items(text, start, "]", _scanned)
    return _scanned(text, start)


def _scanned(text: str, start: int) -> tuple[Any, int]:
    value, end = _DECODER.raw_decode(text, start)
    return value, _after_spaces(text, end)


def _pair_at(text: str, start: int) -> tuple[Any, int]:
    key, end = _scanned(text, start)
    if not isinstance(key, str) or text[end : end + 1] != ":":
        raise json.JSONDecodeError("Expecting a name in quotes, and ':'", text, start)
    value, end = _value_at(text, end + 1)
    return (key, value), end


def _items(
    text: str, start: int, closing: str, item_at: Callable[[str, int], tuple[Any, int]]
) -> tuple[list[Any], int]:
    """Returns the items of the list or object at a place, and the place after it and after spaces."""
    items: list[Any] = []
    end = _after_spaces(text, start + 1)
    if text[end : end + 1] == closing:
        return items, _after_spaces(text, end + 1)
    while True:
        item, end = item_at(text, end)
        items.append(item)
        mark = text[end : end + 1]
        if mark == closing:
            return items, _after_spaces(text, end + 1)
        if mark != ",":
            raise json.JSONDecodeError(f"Expecting ',' or {closing!r}", text, end)
        end = _after_spaces(text, end + 1)


def _after_spaces(text: str, start: int) -> int:
    return start if text[start : start + 1] not in _SPACES else _NO_SPACE.match(text, start).end()  # type: ignore[union-attr]


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


def array(name: str, value: Any, spec: Any) -> np.ndarray:
    """Returns the array of a JSON value.

    Args:
        name: the input's name, for messages.
        value: the JSON value.
        spec: the input's spec.

    Raises:
        BadRequest: it is of another dtype or shape.
    """
    wanted = f"Input {name!r} takes {spec.dtype.name} of shape {_shown(spec.shape)}"
    shape, leaves = _flat(value, wanted)
    if not spec.shape.is_compatible_with(list(shape)):
        raise BadRequest(f"{wanted}, not of shape {shape}.")
    if spec.dtype is string:
        result = np.empty(len(leaves), object)
        result[:] = [string_of(name, leaf) for leaf in leaves]
        return result.reshape(shape)
    kinds = {bool} if spec.dtype.is_bool else {int} if spec.dtype.is_integer else {int, float}
    if not all(kinds.issuperset(map(type, part)) for part in _parts(leaves)):
        raise BadRequest(f"{wanted}, not {_quoted(next(v for v in leaves if type(v) not in kinds))}.")
    try:
        parts = [np.array(part, spec.dtype.as_numpy_dtype) for part in _parts(leaves)]
        return np.concatenate(parts).reshape(shape) if len(parts) > 1 else parts[0].reshape(shape)
    except (OverflowError, ValueError) as error:
        raise BadRequest(f"{wanted}: {error}") from error


def _shown(shape: Any) -> str:
    return "any rank" if shape.rank is None else str(tuple(shape.as_list()))


def _quoted(value: Any) -> str:
    return "an object" if isinstance(value, dict) else json.dumps(value)[:100]


def _flat(value: Any, wanted: str) -> tuple[tuple[int, ...], list[Any]]:
    """Returns the shape of nested lists, and their items.

    The loops over items are Python's own in C, and over pieces: no other thread runs during one.

    Raises:
        BadRequest: the lists are of different lengths, or nested more than NumPy can.
    """
    shape: list[int] = []
    level = [value]
    while list in (kinds := set().union(*[map(type, part) for part in _parts(level)])):
        lengths = set().union(*[map(len, part) for part in _parts(level)]) if len(kinds) == 1 else set()
        if len(lengths) != 1:
            raise BadRequest(f"{wanted}, and its lists are of different lengths.")
        if len(shape) == _DEEPEST:
            raise BadRequest(f"{wanted}, and its lists are nested more than {_DEEPEST} deep.")
        shape += lengths
        parts, level = _parts(level), []
        for part in parts:
            level.extend(itertools.chain.from_iterable(part))
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
    raise BadRequest(f"Input {name!r} takes strings, not {_quoted(value)}.")


def plain(name: str, value: np.ndarray) -> Any:
    """Returns the JSON value of an output; one whose name ends in `_bytes` has its strings in base64."""
    if value.dtype != object:
        return value.tolist()
    as_bytes = name.endswith("_bytes")

    def text(item: Any) -> Any:
        if isinstance(item, list):
            return [text(i) for i in item]
        return {"b64": base64.b64encode(item).decode()} if as_bytes else item.decode("utf-8", "replace")

    return text(value.tolist())


def _written(name: str, value: np.ndarray) -> str:
    """Returns the JSON text of an output. It is written in pieces, because nothing else runs during one."""
    if value.ndim == 0 or value.size <= _PIECE:
        return json.dumps(plain(name, value))
    rows = _PIECE // (value.size // len(value))
    if not rows:
        return f"[{', '.join([_written(name, row) for row in value])}]"
    return f"[{', '.join([json.dumps(plain(name, part))[1:-1] for part in _parts(value, rows)])}]"


def _parts(value: Any, rows: int = _PIECE) -> list[Any]:
    """Returns pieces of this many rows of an array or a list; an empty one has one."""
    return [value[i : i + rows] for i in range(0, len(value) or 1, rows)]


def predictions(outputs: Mapping[str, np.ndarray], in_rows: bool) -> str:
    """Returns the answer to a request for a prediction.

    Raises:
        BadRequest: rows were asked for, and the outputs have none, or different numbers of them.
    """
    if in_rows:
        counts = {value.shape[:1] for value in outputs.values()}
        if len(counts) != 1 or counts == {()}:
            raise BadRequest('The outputs have no rows in common: ask for columns, with "inputs".')
    key = "predictions" if in_rows else "outputs"
    if len(outputs) == 1:
        return f'{{"{key}": {_written(*next(iter(outputs.items())))}}}'
    if not in_rows:
        pairs = [f"{json.dumps(name)}: {_written(name, value)}" for name, value in outputs.items()]
        return f'{{"outputs": {{{", ".join(pairs)}}}}}'
    size = max(value.size // max(len(value), 1) for value in outputs.values())
    columns = [
        [(name, part) for part in _parts(value, max(_PIECE // max(size, 1), 1))] for name, value in outputs.items()
    ]
    blocks = []
    for parts in zip(*columns, strict=True):
        rows = zip(*[plain(name, part) for name, part in parts], strict=True)
        blocks.append(json.dumps([dict(zip(outputs, row, strict=True)) for row in rows])[1:-1])
    return f'{{"predictions": [{", ".join(blocks)}]}}'
