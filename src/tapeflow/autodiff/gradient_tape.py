"""`GradientTape`: reverse-mode differentiation."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.array.reshapes import broadcast_to, reshape, transpose_op
from tapeflow.autodiff.explanations import explain_gradients
from tapeflow.autodiff.jacobians import identity_matrix, reshape_rows, rows_of
from tapeflow.autodiff.targets_and_sources import (
    UnconnectedGradients,
    dims_of,
    gives_zeros,
    pack_gradients,
    seed_of,
    seeds_in,
    sources_in,
    targets_in,
    zeros_like,
    zeros_of,
)
from tapeflow.core import processors
from tapeflow.core.autodiff.tape import Tape
from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable


class GradientTape:
    """Records the ops that run inside its context, to compute gradients.

    Trainable variables are watched when they are read, tensors by calling `watch`.

    Args:
        persistent: retains the record for several calls of `gradient`.
        watch_accessed_variables: whether trainable variables are watched when they are read.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.gradient(y, x).numpy().item()
        6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape: Tape | None = None
        self._used: Tape | None = None  # a tape that was used up, without its record
        self._recording = False

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._tape is None:
            self._tape = Tape(self._persistent, self._watch_accessed_variables)
        self._tape.start()
        self._recording = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._recording:
            self._stop()

    def _stop(self) -> None:
        if not self._recording or self._tape is None:
            raise ValueError("Tape is not recording.")
        self._tape.stop()
        self._recording = False

    def watch(self, tensor: Any) -> None:
        """Watches tensors and variables.

        Args:
            tensor: a tensor or variable, or a nest of them.

        Raises:
            ValueError: the nest contains something else, or the tape was not entered.
        """
        for t in nest.flatten(tensor, expand_composites=True):
            if not isinstance(t, (Tensor, ReadAsTensor)):
                raise ValueError(
                    f"Passed in object {t!r} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or "
                    "ExtensionType."
                )
            if not t.dtype.differentiable:
                get_logger().warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", t.dtype
                )
            if self._tape is None:
                raise ValueError("A tape can only watch inside its context.")
            if isinstance(t, ReadAsTensor):
                self._tape.watch_variable(t)
            else:
                self._tape.watch(t)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Suspends recording inside a `with` block.

        Raises:
            RuntimeError: the tape was not entered.
            ValueError: the tape is not recording.
        """
        if self._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self) -> None:
        """Forgets everything recorded and watched so far, as if the tape were new."""
        recording = self._recording
        if recording:
            self._stop()
        self._tape = self._used = None
        if recording:
            self.__enter__()

    def watched_variables(self) -> tuple[Any, ...]:
        """Returns the variables watched so far in the order of their creation, a strategy's as its whole variables."""
        tape = self._tape or self._used
        watched = {} if tape is None else tape.variables
        wholes = [_whole_variable(v) for _, v in sorted(watched.items())]
        return tuple({id(v): v for v in wholes}.values())

    def _use_up(self) -> None:
        """Drops the record of a tape that is not persistent."""
        if not self._persistent:
            self._used, self._tape = self._tape, None

    def gradient(
        self,
        target: TensorLike,
        sources: Any,
        output_gradients: TensorLike | None = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Computes the gradients of the sum of all targets with respect to the sources.

        Args:
            target: a tensor or a nest of them.
            sources: a tensor or variable that was watched, or a nest of them.
            output_gradients: a tensor for each target, with which the target is multiplied. By default ones.
            unconnected_gradients: the result for a source without influence on any target: None or zeros.

        Returns:
            In the structure of `sources`, tensors of their shapes and dtypes, `IndexedSlices`, or None.

        Raises:
            RuntimeError: a tape that is not persistent was used before.
            ValueError: `unconnected_gradients` is invalid.
            TypeError: targets or sources are no tensors or variables.
        """
        processors.share()
        tape = self._recorded()
        if self._recording:
            get_logger().warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient "
                "than calling it outside the context (it causes the gradient ops to be recorded on the tape, leading "
                "to increased CPU and memory usage). Only call GradientTape.gradient inside the context if you "
                "actually want to trace the gradient in order to compute higher order derivatives."
            )
        zeros = gives_zeros(unconnected_gradients)
        flat, is_list = sources_in(sources)
        if type(target) is EagerTensor and output_gradients is None and target.dtype.differentiable:
            targets, dys = [target], [seed_of(target, None)]
        else:
            targets = targets_in(target)
            # As in TensorFlow, a list is one gradient for each target, also where there is only one target.
            seeds = [] if output_gradients is None else seeds_in(output_gradients)
            dys = [seed_of(t, seeds[i] if i < len(seeds) else None) for i, t in enumerate(targets)]
            targets = [t for t, d in zip(targets, dys, strict=True) if d is not None]
            dys = [d for d in dys if d is not None]
        gradients = tape.gradients(targets, flat, dys)
        self._use_up()
        if zeros:
            gradients = [zeros_like(s) if g is None else g for g, s in zip(gradients, flat, strict=True)]
        if is_list:
            return gradients
        if isinstance(sources, (Tensor, ReadAsTensor)):
            return gradients[0]
        return pack_gradients(sources, gradients)

    def explain_gradient(self, target: TensorLike, source: TensorLike) -> str:
        """Explains why the gradient of a target with respect to a source is None, with the lines of your program.

        Call it before `gradient`, or on a persistent tape: a tape that was used up knows where gradients may be lost,
        but no longer the path between the two.

        Args:
            target: a tensor or a nest of them, as in `gradient`.
            source: a tensor or variable, or a nest of them.

        Returns:
            A text. Print it.

        Example:
            >>> x = tf.Variable([1.0, 4.0])
            >>> with tf.GradientTape(persistent=True) as tape:
            ...     best = tf.argmax(x)
            ...     y = tf.cast(best, tf.float32) * 2.0
            >>> print(tape.explain_gradient(y, x))  # doctest: +ELLIPSIS
            The gradient with respect to Variable:0 is None. ...Paths from it end here:
              ...
              ArgMax returns int64: only floating-point and complex values have gradients.
        """
        tape = self._tape or self._used
        if tape is None:
            return "The gradient is None: the tape has recorded nothing yet."
        return explain_gradients(tape, self, nest.flatten(target), sources_in(source)[0], sys._getframe(1))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the derivatives of each element of the target with respect to each element of each source.

        Args:
            target: a tensor.
            sources: a tensor or variable that was watched, or a nest of them.
            unconnected_gradients: the result for a source without influence: None or zeros.
            parallel_iterations: the most rows computed in one pass, to save memory; None for no limit.
            experimental_use_pfor: True computes all rows in one vectorised pass; False one after the other.

        Returns:
            In the structure of `sources`, tensors of shape `target.shape + source.shape`, or None.

        Raises:
            RuntimeError: a tape that is not persistent was used before, or is used in eager mode with
                `experimental_use_pfor=False`.
            ValueError: `parallel_iterations` is less than 2.

        Example:
            >>> x = tf.constant([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.jacobian(y, x).numpy().tolist()
            [[2.0, 0.0], [0.0, 4.0]]
        """
        tape = self._recorded()
        chunk = self._rows_at_once("jacobian", parallel_iterations, experimental_use_pfor)
        flat, _ = sources_in(sources)
        target = convert(target)
        dims = dims_of(target)
        size = math.prod(dims)
        seeds = reshape(identity_matrix(size, target), (size, *dims))
        rows = rows_of(tape, target, flat, seeds, chunk)
        self._use_up()
        jacobians = [
            None if r is None else reshape_rows(r, target.shape, dims, s) for r, s in zip(rows, flat, strict=True)
        ]
        if gives_zeros(unconnected_gradients):
            jacobians = [
                zeros_of([*dims, *dims_of(s)], s.dtype) if j is None else j
                for j, s in zip(jacobians, flat, strict=True)
            ]
        if isinstance(sources, (Tensor, ReadAsTensor)):
            return jacobians[0]
        return nest.pack_sequence_as(sources, jacobians, expand_composites=True)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the Jacobian of each row of the target with respect to the same row of the source.

        It is `jacobian` where row `i` of the target depends on row `i` of the source alone, and much less work.

        Args:
            target: of shape `[b, y1, ..., yn]`.
            source: of shape `[b, x1, ..., xm]`; watched.
            unconnected_gradients: ignored.
            parallel_iterations, experimental_use_pfor: see `jacobian`.

        Returns:
            A tensor of shape `[b, y1, ..., yn, x1, ..., xm]`: zeros if the source has no influence.

        Raises:
            ValueError: the first dimensions differ, a rank is less than 2, or `parallel_iterations` is.
            RuntimeError: as of `jacobian`.

        Example:
            >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.batch_jacobian(y, x).numpy().tolist()
            [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        tape = self._recorded()
        chunk = self._rows_at_once("batch_jacobian", parallel_iterations, experimental_use_pfor)
        shape, source_shape = target.shape, source.shape
        shape.with_rank_at_least(2)
        source_shape.with_rank_at_least(2)
        if None not in (shape[0], source_shape[0]) and shape[0] != source_shape[0]:
            raise ValueError(
                f"Need first dimension of target shape ({shape}) and source shape ({source_shape}) to match."
            )
        dims, inner = dims_of(target), dims_of(source)[1:]
        each = math.prod(dims[1:])
        seeds = reshape(identity_matrix(each, target), (each, 1, *dims[1:]))
        seeds = broadcast_to(seeds, (each, *dims))
        (rows,) = rows_of(tape, target, [source], seeds, chunk)
        self._use_up()
        if rows is None:
            return zeros_of([*dims, *inner], source.dtype)
        swapped = transpose_op(rows, (1, 0, *range(2, 2 + len(inner))))
        return reshape_rows(swapped, shape, dims, source, 1)

    def _rows_at_once(self, method: str, parallel_iterations: int | None, vectorised: bool) -> int | None:
        """Returns the most rows of a Jacobian that are computed at once: 1, a number, or None for no limit."""
        if not vectorised:
            if state.graph is None and not self._persistent:
                raise RuntimeError(
                    f"GradientTape must be created with persistent=True to compute the {method} with eager execution "
                    "enabled and with experimental_use_pfor set to False."
                )
            return 1
        if parallel_iterations is not None and parallel_iterations < 2:
            raise ValueError(
                f"Encountered an exception while vectorizing the {method} computation. Vectorization can be disabled "
                "by setting experimental_use_pfor to False. parallel_iterations must be None or an integer greater "
                f"than 1, not {parallel_iterations}."
            )
        return parallel_iterations

    def _recorded(self) -> Tape:
        """Returns the tape, which stops recording if it is not persistent."""
        if self._tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        if self._recording and not self._persistent:
            self._stop()
        return self._tape


def _whole_variable(variable: Variable) -> Any:
    """Returns the variable to which a replica's copy belongs; other variables as they are."""
    container = getattr(variable, "_distributed_container", None)
    return variable if container is None else container()
