"""Assertions about values: tensors, arrays, and nests of them."""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from absl.testing import absltest

from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import bfloat16
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.ragged.value import RaggedTensorValue
from tapeflow.sparse.tensor import SparseTensor

_NARROW = {"float16": "half", "bfloat16": "bfloat16", "float32": "float", "complex64": "float"}


class ArrayAssertions(absltest.TestCase):
    """The assertions of `tf.test.TestCase` about values: tensors, variables and NumPy arrays alike."""

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of tensors, as arrays.

        Args:
            tensors: a nest of tensors.
        """
        raise NotImplementedError

    def _GetNdArray(self, value: Any) -> np.ndarray:
        """Converts a tensor, numbers, or lists of them to an array. bfloat16 becomes float32, which prints.

        All assertions call it: libraries override it, under TensorFlow's name, for their own values.
        """
        if _holds_tensors(value):
            value = self.evaluate(value)
        try:
            array = value if isinstance(value, np.ndarray) else np.array(value)
        except ValueError:  # lists of different lengths, such as shapes
            array = np.array(value, dtype=object)
        if array.dtype.name == bfloat16.name:
            return array.astype(np.float32)
        return np.char.encode(array, "utf-8").astype(object) if array.dtype.kind == "U" else array

    def _same_shape(self, a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
        reason = f"Shape mismatch: expected {a.shape}, got {b.shape} with contents {b}. {msg or ''}"
        self.assertEqual(a.shape, b.shape, reason)

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Checks that two values, or nests of them, agree: `|a - b| <= atol + rtol * |b|` everywhere.

        Args:
            a, b: tensors, arrays, numbers, or nests of them.
            rtol, atol: the relative and the absolute tolerance.
            msg: text for the error.

        Raises:
            AssertionError: they differ in structure or shape, or by more than the tolerance.
            ValueError: a dict is compared with something else.
        """
        if _is_ragged(a) or _is_ragged(b):
            a, b = self._lists(a), self._lists(b)
            self.assertEqual(_row_lengths(a), _row_lengths(b), msg)
            a, b = (np.array(nest.flatten(value)) for value in (a, b))
        self._all_close(a, b, rtol, atol, msg, "")

    def _all_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str) -> None:
        a, b = _named_fields(a), _named_fields(b)
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
        if isinstance(a, Mapping):
            keys = f"mismatched keys: a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}. {msg or ''}"
            self.assertCountEqual(a.keys(), b.keys(), keys)
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
        elif isinstance(a, (list, tuple)) and not self._is_one_array(a, b):
            lengths = f"Mismatched length: a{path} has {len(a)}, but b{path} has {len(b)}. {msg or ''}"
            self.assertEqual(len(a), len(b), lengths)
            for index, (x, y) in enumerate(zip(a, b, strict=True)):
                self._all_close(x, y, rtol, atol, msg, f"{path}[{index}]")
        else:
            text = f"Mismatched value: a{path} is different from b{path}. {msg or ''}"
            self._close(self._GetNdArray(a), self._GetNdArray(b), rtol, atol, text)

    def _is_one_array(self, a: Any, b: Any) -> bool:
        """Returns True if two sequences convert to arrays of numbers; others are compared by elements."""
        try:
            return "O" not in (self._GetNdArray(a).dtype.kind, self._GetNdArray(b).dtype.kind)
        except (ValueError, TypeError):  # parts of different shapes
            return False

    def _close(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, msg: str) -> None:
        # Shapes must be equal: values that broadcast do not agree.
        self._same_shape(a, b, msg)
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        x, y = np.atleast_1d(a, b)
        where = np.nonzero(~np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True))
        x, y = x[where], y[where]
        lines = [
            msg,
            f"not close where = {where}",
            f"not close lhs = {x}",
            f"not close rhs = {y}",
            f"not close dif = {np.abs(x - y)}",
            f"not close tol = {atol + rtol * np.abs(y)}",
            f"dtype = {a.dtype}, shape = {a.shape}",
        ]
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Calls `assertAllClose`, with a wider tolerance if a value has a narrow type.

        Args:
            a, b: tensors, arrays, numbers, or nests of them.
            rtol, atol: the relative and the absolute tolerance.
            float_rtol, float_atol: the tolerances for float32 and complex64.
            half_rtol, half_atol: the tolerances for float16.
            bfloat16_rtol, bfloat16_atol: the tolerances for bfloat16.
            msg: text for the error.

        Raises:
            AssertionError: see `assertAllClose`.
        """
        wider = {
            "float": (float_rtol, float_atol),
            "half": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for value in (a, b):
            kind = _NARROW.get(np.dtype(_value_dtype(value, self._GetNdArray)).name)
            if kind:
                rtol, atol = max(rtol, wider[kind][0]), max(atol, wider[kind][1])
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Checks that two values differ somewhere by more than the tolerance.

        Args:
            a, b: tensors, arrays, numbers, or nests of them.
            rtol, atol: the relative and the absolute tolerance.
            msg: text for the error.

        Raises:
            AssertionError: they are close everywhere.
        """
        self._check_differs("close", lambda: self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg), msg)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Checks that two values have the same shape and elements; NaN equals NaN.

        Args:
            a, b: tensors, arrays, numbers, or lists of them.
            msg: text for the error.

        Raises:
            AssertionError: they differ in shape or in an element.
        """
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(self._lists(a), self._lists(b), msg)
            return
        x, y = self._GetNdArray(a), self._GetNdArray(b)
        self._same_shape(x, y, msg)
        same = x == y
        if "f" in (x.dtype.kind, y.dtype.kind) or "c" in (x.dtype.kind, y.dtype.kind):
            same = same | ((x != x) & (y != y))  # NaN is not equal to itself
        if not np.all(same):
            where = np.nonzero(~np.atleast_1d(same))
            lhs, rhs = (array[where] for array in np.atleast_1d(x, y))
            lines = f"{msg or ''}\nnot equal where = {where}\nnot equal lhs = {lhs!r}\nnot equal rhs = {rhs!r}"
            np.testing.assert_array_equal(x, y, err_msg=lines)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Checks that two values differ somewhere.

        Args:
            a, b: tensors, arrays, numbers, or lists of them.
            msg: text for the error.

        Raises:
            AssertionError: they are equal.
        """
        self._check_differs("equal", lambda: self.assertAllEqual(a, b), msg)

    def _check_differs(self, word: str, compare: Callable[[], None], msg: str | None) -> None:
        try:
            compare()
        except AssertionError:
            return
        raise AssertionError(f"The two values are {word} at all elements. {msg or ''}")

    def _bounds(self, a: Any, target: Any, find: Callable[..., Any], holds: Callable[..., Any], words: str) -> None:
        extreme = find(self._GetNdArray(a))
        if not holds(extreme, target):
            raise AssertionError(f"{extreme!r} not {words} {target!r}")

    def assertAllGreater(self, a: TensorLike, comparison_target: Any) -> None:
        """Checks that all elements are greater than a number.

        Args:
            a: a tensor or array.
            comparison_target: the number.

        Raises:
            AssertionError: an element violates the condition.
        """
        self._bounds(a, comparison_target, np.min, operator.gt, "greater than")

    def assertAllLess(self, a: TensorLike, comparison_target: Any) -> None:
        """Checks that all elements are less than a number.

        Args:
            a: a tensor or array.
            comparison_target: the number.

        Raises:
            AssertionError: an element violates the condition.
        """
        self._bounds(a, comparison_target, np.max, operator.lt, "less than")

    def assertAllGreaterEqual(self, a: TensorLike, comparison_target: Any) -> None:
        """Checks that no element is less than a number.

        Args:
            a: a tensor or array.
            comparison_target: the number.

        Raises:
            AssertionError: an element violates the condition.
        """
        self._bounds(a, comparison_target, np.min, operator.ge, "greater than or equal to")

    def assertAllLessEqual(self, a: TensorLike, comparison_target: Any) -> None:
        """Checks that no element is greater than a number.

        Args:
            a: a tensor or array.
            comparison_target: the number.

        Raises:
            AssertionError: an element violates the condition.
        """
        self._bounds(a, comparison_target, np.max, operator.le, "less than or equal to")

    def assertAllInRange(
        self,
        target: TensorLike,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Checks that all elements are in an interval, whose ends belong to it unless they are open.

        Args:
            target: a tensor or array of real numbers.
            lower_bound, upper_bound: the ends of the interval.
            open_lower_bound, open_upper_bound: whether the ends are excluded.

        Raises:
            AssertionError: an element is NaN or outside the interval, or the dtype has no order.
        """
        array = self._GetNdArray(target)
        if array.dtype.kind not in "iuf":
            raise AssertionError(
                f"The value of {array} does not have an ordered numeric type, instead it has type: {array.dtype}"
            )
        self._none(np.isnan(array), array, "are NaN")
        below = array <= lower_bound if open_lower_bound else array < lower_bound
        above = array >= upper_bound if open_upper_bound else array > upper_bound
        interval = f"{'(['[not open_lower_bound]}{lower_bound}, {upper_bound}{')]'[not open_upper_bound]}"
        self._none(below | above, array, f"are outside the range {interval}")

    def _none(self, bad: np.ndarray, array: np.ndarray, words: str, limit: int = 10) -> None:
        """Checks that no element is bad, and lists the first bad ones otherwise."""
        if not np.any(bad):
            return
        indices = np.argwhere(np.atleast_1d(bad))
        lines = [f"  {index.tolist()} : {np.atleast_1d(array)[tuple(index)]}" for index in indices[:limit]]
        lines += ["  ..."] * (len(indices) > limit)
        raise AssertionError(
            f"{len(indices)} of the {array.size} element(s) {words}. Subscript(s) and value(s) of the offending "
            "elements:\n" + "\n".join(lines)
        )

    def assertAllInSet(self, target: TensorLike, expected_set: Any) -> None:
        """Checks that all elements are in a set.

        Args:
            target: a tensor or array.
            expected_set: an iterable of the accepted values.

        Raises:
            AssertionError: an element is not in the set.
        """
        odd = np.setdiff1d(self._GetNdArray(target), list(expected_set))
        if odd.size:
            raise AssertionError(f"{odd.size} unique element(s) are not in the set {expected_set}: {odd}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Checks that two numbers differ by at most `err`.

        Args:
            f1, f2: the numbers, or arrays or tensors of one element.
            err: the largest difference.
            msg: text for the error.

        Raises:
            AssertionError: they differ by more.
        """
        one, other, most = [self._GetNdArray(v).item() for v in (f1, f2, err)]
        difference = abs(one - other)
        suffix = f" ({msg})" if msg is not None else ""
        text = f"{one:f} != {other:f} +/- {most:f} (difference: {difference:g}){suffix}"
        self.assertTrue(one == other or difference <= most, text)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Checks that two sequences of numbers differ by at most `err` everywhere.

        Args:
            farray1, farray2: sequences of numbers.
            err: the largest difference.
            msg: text for the error.

        Raises:
            AssertionError: they differ in length, or by more.
        """
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2, strict=True):
            self.assertNear(float(a), float(b), err, msg=msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Checks that the Euclidean distance of two arrays is less than `err`.

        Args:
            ndarray1, ndarray2: arrays of one shape.
            err: the bound of the distance.
            msg: text for the error.

        Raises:
            AssertionError: the distance is not less.
        """
        distance = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self.assertTrue(distance < err, f"the arrays are {distance} apart, which is not less than {err}. {msg or ''}")

    def assertDTypeEqual(self, target: TensorLike, expected_dtype: DTypeLike) -> None:
        """Checks the dtype of a value.

        Args:
            target: a tensor, array or list.
            expected_dtype: a NumPy dtype.

        Raises:
            AssertionError: the dtype differs.
        """
        dtype = self._GetNdArray(target).dtype if isinstance(target, list) else _value_dtype(target, self._GetNdArray)
        self.assertEqual(np.dtype(dtype), expected_dtype)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Checks that two tensors or arrays have the same shape.

        Args:
            input_a, input_b: tensors or arrays.
            msg: text for the error.

        Raises:
            TypeError: one is neither a tensor nor an array.
        """
        for value in (input_a, input_b):
            if not isinstance(value, (np.ndarray, np.generic, Tensor, Variable, CompositeTensor)):
                raise TypeError(f"assertShapeEqual compares tensors and arrays, not {type(value).__name__}.")
        a, b = (TensorShape(value.shape).as_list() for value in (input_a, input_b))
        self.assertEqual(a, b, msg)

    def _lists(self, value: Any) -> Any:
        """Returns a ragged value as nested lists."""
        value = self.evaluate(value) if _holds_tensors(value) else value
        if isinstance(value, RaggedTensorValue):
            return value.to_list()
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _holds_tensors(value: Any) -> bool:
    values = Tensor, Variable, IndexedSlices, RaggedTensor, SparseTensor
    return any(isinstance(leaf, values) for leaf in nest.flatten(value))


def _is_ragged(value: Any) -> bool:
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def _named_fields(value: Any) -> Any:
    """Converts an object with named fields to a dict. Other values are returned unchanged."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(type(value), "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in type(value).__attrs_attrs__}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(value) if isinstance(value, types.MappingProxyType) else value


def _value_dtype(value: Any, array: Callable[[Any], np.ndarray]) -> Any:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        leaves = nest.flatten(value)
        dtype = getattr(leaves[0], "dtype", None) if leaves else None
    return getattr(dtype, "as_numpy_dtype", dtype) if dtype is not None else array(nest.flatten(value)).dtype


def _row_lengths(value: Any) -> Any:
    return [_row_lengths(row) for row in value] if isinstance(value, list) else None
