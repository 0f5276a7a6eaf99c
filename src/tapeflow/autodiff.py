"""The public `tf.autodiff` namespace: `GradientTape`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import torch

from tapeflow import nest
from tapeflow.core.convert import convert
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.tape import Tape, differentiable
from tapeflow.core.tensor import EagerTensor, ReadAsTensor, Tensor

logger = logging.getLogger("tapeflow")


class UnconnectedGradients(Enum):
    """What the gradient is where the source has no influence on the target: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records what is computed inside its context, for gradients.

    Trainable variables are watched when they are read; tensors when `watch` says so.

    Args:
        persistent: keeps the record, so that `gradient` can be called more than once.
        watch_accessed_variables: whether variables are watched when they are read.

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
        """Watches tensors, or a nest of them.

        Raises:
            ValueError: something in it is no tensor, or the tape is not recording.
        """
        for t in nest.flatten(tensor, expand_composites=True):
            if not isinstance(t, (Tensor, ReadAsTensor)):
                raise ValueError(f"Passed in object {t!r} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType.")
            if not differentiable(t.dtype):
                logger.warning("The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", t.dtype)
            if self._tape is None:
                raise ValueError("A tape can only watch inside its context.")
            if isinstance(t, ReadAsTensor):
                self._tape.watch_variable(t)
            else:
                self._tape.watch(t)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Nothing inside is recorded.

        Raises:
            RuntimeError: the tape is not recording.
        """
        if not self._recording or self._tape is None:
            raise RuntimeError("Trying to stop a tape which has not been started.")
        self._tape.stop()
        self._recording = False
        try:
            yield
        finally:
            self._tape.start()
            self._recording = True

    def reset(self) -> None:
        """Forgets everything recorded and watched so far, as if the tape were new."""
        recording = self._recording
        if recording:
            self._stop()
        self._tape = None
        if recording:
            self.__enter__()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables watched so far, in the order they were made."""
        if self._tape is None:
            return ()
        return tuple(v for _, v in sorted(self._tape.variables.items()))

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of all targets for each source.

        Args:
            target: a tensor or a nest of them.
            sources: a tensor or variable that was watched, or a nest of them.
            output_gradients: what to multiply each target with; one for each target. Default ones.
            unconnected_gradients: what to give for a source without influence.

        Returns:
            Gradients in the structure of `sources`: tensors, `IndexedSlices`, or None where a source has no
            influence on any target.

        Raises:
            RuntimeError: a tape that is not persistent was asked before.
            ValueError: `unconnected_gradients` is unknown.
        """
        tape = self._tape
        if tape is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        if self._recording:
            if not self._persistent:
                self._stop()
            else:
                logger.warning(
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context (it causes the gradient ops to be recorded on "
                    "the tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside "
                    "the context if you actually want to trace the gradient in order to compute higher order derivatives."
                )
        try:
            unconnected = UnconnectedGradients(unconnected_gradients)
        except ValueError:
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                            "CompositeTensors to be differentiated, but received None.")  # fmt: skip
        targets = _tensors(target)
        flat = _tensors(sources, keep_composite_gradients=True)
        dys = [_seed(t, g) for t, g in _with_seeds(targets, output_gradients)]
        usable = [(t, d) for t, d in zip(targets, dys, strict=True) if d is not None]
        found = tape.gradients([t for t, _ in usable], flat, [d for _, d in usable])
        if not self._persistent:
            self._tape = None
        if unconnected is UnconnectedGradients.ZERO:
            found = [_zeros_like(s) if g is None else g for g, s in zip(found, flat, strict=True)]
        if isinstance(sources, (Tensor, ReadAsTensor)):
            return found[0]
        return nest.pack_sequence_as(sources, found, expand_composites=True)


def _tensors(value: Any, keep_composite_gradients: bool = False) -> list[Any]:
    if isinstance(value, (Tensor, ReadAsTensor)):
        return [value]
    flat = nest.flatten(value, expand_composites=True)
    for v in flat:
        if not isinstance(v, (Tensor, ReadAsTensor)):
            raise TypeError(f"GradientTape takes tensors and variables, not {v!r} of type {type(v).__name__}.")
        if not differentiable(v.dtype) and not keep_composite_gradients:
            logger.warning("The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                           "GradientTape.gradient, got %r", v.dtype)  # fmt: skip
    return flat


def _with_seeds(targets: Sequence[Any], seeds: Any) -> list[tuple[Any, Any]]:
    if seeds is None:
        return [(t, None) for t in targets]
    flat = nest.flatten(seeds, expand_composites=True)
    return list(zip(targets, flat, strict=True))


def _seed(target: Any, given: Any) -> Any:
    if given is not None:
        return given if isinstance(given, IndexedSlices) else convert(given, target.dtype)
    if not differentiable(target.dtype):
        return None
    value = (target._read() if isinstance(target, ReadAsTensor) else target).value
    return EagerTensor(torch.ones_like(value), target.dtype)


def _zeros_like(source: Any) -> EagerTensor:
    value = (source._value if isinstance(source, ReadAsTensor) else source).value
    return EagerTensor(torch.zeros_like(value), source.dtype)
