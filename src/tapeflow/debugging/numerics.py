"""Checks for infinities and NaNs: of one tensor, or of every op."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.autodiff.tape import EVERYTHING, Call
from tapeflow.core.context import detours, discard, listeners, state
from tapeflow.core.ops.numerics import checked_outputs, is_finite, not_finite
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.values.variable import Variable

if TYPE_CHECKING:
    from tapeflow.core.ops.definition import Op


def _check_message(tensor: torch.Tensor, message: str) -> torch.Tensor:
    tests = ("Inf", torch.isinf(tensor).any()), ("NaN", torch.isnan(tensor).any())
    words = [word for word, has in tests if has]
    if words:
        raise invalid(f"{message} : Tensor had {' and '.join(words)} values")
    return tensor.view_as(tensor)


@op("CheckNumerics", kernel=_check_message, shape=same, elementwise=True)
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor contains no infinity and no NaN.

    Args:
        tensor: a floating tensor of any shape.
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
def _(call: Call, dy: Tensor) -> Any:
    return check_numerics(dy, "Not a number (NaN) or infinity (Inf) values detected in gradient.")


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor contains no infinity and no NaN. The same as `check_numerics`.

    Args:
        x: a floating tensor of any shape.
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


def _inspection() -> Any:
    """Returns the module of functions that show their results. It loads the compiler."""
    return importlib.import_module("tapeflow.debugging.inspected_functions")


class _Checker:
    """Listens to the ops of a thread, as a tape does, and raises an error at the first infinity or NaN."""

    seen = EVERYTHING

    def __init__(self) -> None:
        self.inspector = _inspection().FINITE_NUMBERS

    def variable_read(self, variable: Variable, read: int) -> None:
        """Does nothing: a read changes no numbers."""

    def record(
        self, op: Op, inputs: Sequence[Tensor | Variable], attrs: list[Any], outputs: tuple[Tensor, ...]
    ) -> None:
        for i in checked_outputs(op.name, [t.dtype for t in outputs]):
            value: Any = outputs[i].value if type(outputs[i]) is EagerTensor else None
            if not is_finite(value):
                texts, raw = list(map(str, inputs)), [getattr(t, "value", None) for t in inputs]
                error = not_finite(value, i, len(outputs), op.name, "eagerly-executing", texts, raw)
                raise error.with_message(f"{error.message} [Op:CheckNumericsV2] name: ")


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every op of this thread check its results for infinities and NaNs.

    Functions that this thread traces from now on check the result of each operation, too: those of `tf.function`, of
    Keras, and of datasets. They are not optimized. A `tf.function` that was traced before is traced again. The error
    names the op and the lines of the user's code that called it.

    Args:
        stack_height_limit: accepted; the message shows all lines.
        path_length_limit: accepted; the message shows whole paths.

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
    checker = _Checker()
    _inspection().add_inspector(checker.inspector)
    for registered in (state.tapes, listeners, detours):
        registered.append(checker)


def disable_check_numerics() -> None:
    """Ends the checks that `enable_check_numerics` began in this thread.

    Functions that were traced meanwhile are traced again, or run as before. Datasets that were made meanwhile go on
    checking.

    Returns:
        None.

    Example:
        >>> tf.debugging.enable_check_numerics()
        >>> tf.debugging.disable_check_numerics()
        >>> tf.math.log([0.0]).numpy().tolist()
        [-inf]
    """
    for tape in [t for t in state.tapes if isinstance(t, _Checker)]:
        _inspection().remove_inspector(tape.inspector)
        for registered in (state.tapes, listeners, detours):
            discard(registered, tape)
