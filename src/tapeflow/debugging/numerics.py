"""Checks for infinities and NaNs: of one tensor, or of every op."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.autodiff.tape import EVERYTHING, Call
from tapeflow.core.context import discard, listeners, state
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid


def _check(tensor: torch.Tensor, message: str) -> torch.Tensor:
    tests = ("Inf", torch.isinf(tensor).any()), ("NaN", torch.isnan(tensor).any())
    words = [word for word, has in tests if has]
    if words:
        raise invalid(f"{message} : Tensor had {' and '.join(words)} values")
    return tensor.view_as(tensor)


@op("CheckNumerics", kernel=_check, shape=same, elementwise=True)
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor contains no infinity and no NaN.

    Args:
        tensor: a floating tensor.
        message: the beginning of the error's message.

    Returns:
        A tensor with the values of `tensor`.

    Raises:
        InvalidArgumentError: it contains an infinity or NaN.

    Example:
        >>> tf.debugging.check_numerics([1.0, 2.0], "weights").numpy().tolist()
        [1.0, 2.0]
    """


@check_numerics.gradient()
def _(call: Call, dy: Any) -> Any:
    return check_numerics(dy, "Not a number (NaN) or infinity (Inf) values detected in gradient.")


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor contains no infinity and no NaN. The same as `check_numerics`.

    Args:
        x: a floating tensor.
        message: the beginning of the error's message.

    Returns:
        A tensor with the values of `x`.

    Raises:
        InvalidArgumentError: it contains an infinity or NaN.

    Example:
        >>> tf.debugging.assert_all_finite([1.0, 2.0], "weights").numpy().tolist()
        [1.0, 2.0]
    """
    return check_numerics(x, message, name)


class _Checker:
    """Listens to the ops of a thread, as a tape does, and raises an error at the first infinity or NaN."""

    def __init__(self, stack_height_limit: int, path_length_limit: int) -> None:
        self.stack_height_limit, self.path_length_limit = stack_height_limit, path_length_limit

    seen = EVERYTHING

    def variable_read(self, variable: Any, read: int) -> None:
        """Does nothing: a read changes no numbers."""

    def record(self, op: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        for i, out in enumerate(outputs):
            value = out.value
            if type(out) is not EagerTensor or not isinstance(value, torch.Tensor):
                continue
            if not (value.is_floating_point() or value.is_complex()) or bool(torch.isfinite(value).all()):
                continue
            counts = [
                ("-Inf", torch.isneginf(value)) if not value.is_complex() else ("-Inf", torch.zeros(())),
                ("+Inf", torch.isposinf(value)) if not value.is_complex() else ("Inf", torch.isinf(value)),
                ("NaN", torch.isnan(value)),
            ]
            lines = [
                "",
                "",
                f'!!! Detected Infinity or NaN in output {i} of eagerly-executing op "{op.name}" '
                f"(# of outputs: {len(outputs)}) !!!",
                f"  dtype: {out.dtype}",
                f"  shape: {out.shape}",
            ]
            lines += [f"  # of {word} elements: {int(where.sum())}" for word, where in counts if where.any()]
            lines += ["", *[f"  Input tensor: {str(t)[: self.path_length_limit * 20]}" for t in inputs]]
            raise invalid("\n".join(lines))


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every op of this thread check its results for infinities and NaNs.

    Args:
        stack_height_limit: accepted; Python's own traceback shows where the op was called.
        path_length_limit: bounds the length of the inputs in the message.

    Returns:
        None.

    Example:
        >>> tf.debugging.enable_check_numerics()
        >>> try:
        ...     tf.math.log(-1.0)
        ... except tf.errors.InvalidArgumentError as e:
        ...     "Detected Infinity or NaN in output 0" in str(e)
        ... finally:
        ...     tf.debugging.disable_check_numerics()
        True
    """
    if any(isinstance(tape, _Checker) for tape in state.tapes):
        return
    checker = _Checker(stack_height_limit, path_length_limit)
    state.tapes.append(checker)
    listeners.append(checker)


def disable_check_numerics() -> None:
    """Ends the checks that `enable_check_numerics` began in this thread.

    Returns:
        None.

    Example:
        >>> tf.debugging.enable_check_numerics()
        >>> tf.debugging.disable_check_numerics()
        >>> tf.math.log([0.0]).numpy().tolist()
        [-inf]
    """
    for tape in [t for t in state.tapes if isinstance(t, _Checker)]:
        discard(state.tapes, tape)
        discard(listeners, tape)
