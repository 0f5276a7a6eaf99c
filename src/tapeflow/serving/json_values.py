"""Tensors in JSON, as TensorFlow Serving writes them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import string


class BadRequest(Exception):
    """A request that can't be answered; the text says why."""


def parsed(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a request's body.

    Raises:
        BadRequest: it is not valid.
    """
    try:
        value = json.loads(body)
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
    shape = _shape_of(value)
    if shape is None:
        raise BadRequest(f"{wanted}, and its lists are of different lengths.")
    leaves: list[Any] = []
    _flatten(value, leaves)
    if spec.dtype is string:
        result = np.empty(len(leaves), object)
        result[:] = [string_of(name, leaf) for leaf in leaves]
    else:
        kinds = (bool,) if spec.dtype.is_bool else (int,) if spec.dtype.is_integer else (int, float)
        wrong = [v for v in leaves if not isinstance(v, kinds) or isinstance(v, bool) is not spec.dtype.is_bool]
        if wrong:
            raise BadRequest(f"{wanted}, not {json.dumps(wrong[0])[:100]}.")
        try:
            result = np.array(leaves, spec.dtype.as_numpy_dtype)
        except (OverflowError, ValueError) as error:
            raise BadRequest(f"{wanted}: {error}") from error
    if not spec.shape.is_compatible_with(list(shape)):
        raise BadRequest(f"{wanted}, not of shape {shape}.")
    return result.reshape(shape)


def _shown(shape: Any) -> str:
    return "any rank" if shape.rank is None else str(tuple(shape.as_list()))


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """Returns the shape of nested lists, or None if they are of different lengths."""
    if not isinstance(value, list):
        return ()
    shapes = {_shape_of(v) for v in value}
    if not shapes:
        return (0,)
    if len(shapes) > 1:
        return None
    inner = shapes.pop()
    return None if inner is None else (len(value), *inner)


def _flatten(value: Any, leaves: list[Any]) -> None:
    if isinstance(value, list):
        for v in value:
            _flatten(v, leaves)
    else:
        leaves.append(value)


def string_of(name: str, value: Any) -> bytes:
    """Returns a string: text, or an object with its bytes in base64."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and set(value) == {"b64"} and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except binascii.Error as error:
            raise BadRequest(f"Input {name!r} has a string that is not base64: {error}") from error
    raise BadRequest(f"Input {name!r} takes strings, not {json.dumps(value)[:100]}.")


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


def predictions(outputs: Mapping[str, np.ndarray], in_rows: bool) -> dict[str, Any]:
    """Returns the answer to a request for a prediction.

    Raises:
        BadRequest: rows were asked for, and the outputs have none, or different numbers of them.
    """
    values = {name: plain(name, value) for name, value in outputs.items()}
    alone = next(iter(values.values())) if len(values) == 1 else None
    if not in_rows:
        return {"outputs": values if alone is None else alone}
    counts = {value.shape[:1] for value in outputs.values()}
    if len(counts) != 1 or counts == {()}:
        raise BadRequest('The outputs have no rows in common: ask for columns, with "inputs".')
    if alone is not None:
        return {"predictions": alone}
    return {"predictions": [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]}
