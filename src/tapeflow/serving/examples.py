"""Requests of `:classify` and `:regress`: lists of features, which a signature takes as `tf.train.Example`s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import string
from tapeflow.core.values.strings import StringArray
from tapeflow.serving.json_values import BadRequest, plain, string_of
from tapeflow.serving.models import SignatureInputs
from tapeflow.train import BytesList, Example, Feature, Features, FloatList, Int64List


def arrays(request: Mapping[str, Any], signature: SignatureInputs) -> dict[str, StringArray]:
    """Returns the examples of a request as the one input of a signature, serialized.

    Raises:
        BadRequest: the request has none, or the signature does not take examples.
    """
    rows, context = request.get("examples"), request.get("context", {})
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in [*rows, context]):
        raise BadRequest('"examples" has to be a list of objects, and "context" an object.')
    inputs = list(signature.inputs.items())
    if len(inputs) != 1 or inputs[0][1].dtype is not string:
        raise BadRequest(f"Signature {signature.name!r} does not take examples: use :predict.")
    return {inputs[0][0]: StringArray.of([_make_example({**context, **row}) for row in rows])}


def _make_example(features: Mapping[str, Any]) -> bytes:
    try:
        parts = {name: _make_feature(name, value) for name, value in features.items()}
        return Example(features=Features(feature=parts)).SerializeToString()
    except (ValueError, TypeError, OverflowError) as error:  # a number that is too large, a name that is not Unicode
        raise BadRequest(f"An example can't be written: {error}") from None


def _make_feature(name: str, value: Any) -> Any:
    items = value if isinstance(value, list) else [value]
    if all(isinstance(i, int) and not isinstance(i, bool) and -(2**63) <= i < 2**63 for i in items):
        return Feature(int64_list=Int64List(value=items))
    if all(isinstance(i, (int, float)) and not isinstance(i, bool) for i in items):
        return Feature(float_list=FloatList(value=items))
    return Feature(bytes_list=BytesList(value=[string_of(name, i) for i in items]))


def classes(outputs: Mapping[str, Any]) -> list[Any]:
    """Returns for each example its classes with their scores.

    Raises:
        BadRequest: the signature gives neither.
    """
    labels, scores = outputs.get("classes"), outputs.get("scores")
    if labels is None and scores is None:
        raise BadRequest("The signature gives neither classes nor scores: use :predict.")
    if labels is None and scores is not None:
        labels = StringArray.full(scores.shape, b"")
    if scores is None and labels is not None:
        scores = np.zeros(labels.shape)
    rows = zip(plain("classes", labels), plain("scores", scores), strict=True)
    return [[list(pair) for pair in zip(*row, strict=True)] for row in rows]


def values(outputs: Mapping[str, Any]) -> list[Any]:
    """Returns for each example its value.

    Raises:
        BadRequest: the signature gives none.
    """
    if "outputs" not in outputs:
        raise BadRequest("The signature gives no outputs: use :predict.")
    return plain("outputs", outputs["outputs"].reshape(-1))
