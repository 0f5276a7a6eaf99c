"""The public `tf.autodiff` namespace: `GradientTape` and `ForwardAccumulator`."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import torch

from tapeflow import nest
from tapeflow.core.composite import CompositeTensor
from tapeflow.core.context import discard, listeners, registry, state
from tapeflow.core.convert import convert, operand
from tapeflow.core.dtypes import variant
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.shape import TensorShape
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tape import Call, Tape, backpropagate, describe, gradient_of_call, id_of
from tapeflow.core.tensor import EagerTensor, ReadAsTensor, Tensor, next_id
from tapeflow.math.gradients import shape_of

logger = logging.getLogger("tensorflow")


class UnconnectedGradients(Enum):
    """What the gradient is where the source has no influence on the target: None, or zeros.

    Example:
        >>> x, y = tf.constant(1.0), tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     z = y * y
        >>> tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy().item()
        0.0
    """

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
        self._variables: dict[int, Any] = {}  # those of a tape that is gone
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
                raise ValueError(
                    f"Passed in object {t!r} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or "
                    "ExtensionType."
                )
            if not t.dtype.differentiable:
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
        self._tape, self._variables = None, {}
        if recording:
            self.__enter__()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables watched so far, in the order they were made; of a strategy's variables the whole ones."""
        watched = self._variables if self._tape is None else self._tape.variables
        wholes = [_whole(v) for _, v in sorted(watched.items())]
        return tuple({id(v): v for v in wholes}.values())

    def _asked_once(self) -> None:
        """Forgets what was recorded once it has been asked for, where it is not kept."""
        if not self._persistent and self._tape is not None:
            self._variables, self._tape = self._tape.variables, None

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
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
        tape = self._asked()
        if self._recording:
            logger.warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                "efficient than "
                "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to "
                "increased CPU and memory usage). Only call GradientTape.gradient inside the context if you actually "
                "want to trace the gradient in order to compute higher order derivatives."
            )
        zeros = _gives_zeros(unconnected_gradients)
        flat = _sources(sources)
        if type(target) is EagerTensor and output_gradients is None:
            targets = [target] if target.dtype.differentiable else _targets(target)
        else:
            targets = _targets(target)
        # As in TensorFlow, a list is one gradient for each target, also where there is only one target.
        seeds = [] if output_gradients is None else nest.flatten(output_gradients, expand_composites=True)
        dys = [_seed(t, seeds[i] if i < len(seeds) else None) for i, t in enumerate(targets)]
        if None in dys:
            targets = [t for t, d in zip(targets, dys, strict=True) if d is not None]
            dys = [d for d in dys if d is not None]
        found = tape.gradients(targets, flat, dys)
        self._asked_once()
        if zeros:
            found = [_zeros_like(s) if g is None else g for g, s in zip(found, flat, strict=True)]
        if flat is sources:
            return found
        if isinstance(sources, (Tensor, ReadAsTensor)):
            return found[0]
        return _packed(sources, found)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of the target by each element of each source.

        Args:
            target: a tensor.
            sources: a tensor or variable that was watched, or a nest of them.
            unconnected_gradients: what to give for a source without influence.
            parallel_iterations: how many rows are computed in one pass at most, to save memory; None for all.
            experimental_use_pfor: True computes all rows in one vectorised pass; False one after the other.

        Returns:
            In the structure of `sources`, tensors of shape `target.shape + source.shape`, or None.

        Raises:
            RuntimeError: a tape that is not persistent was asked before, or outside of functions is asked for rows one
                after the other.
            ValueError: `parallel_iterations` is less than 2.

        Example:
            >>> x = tf.constant([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.jacobian(y, x).numpy().tolist()
            [[2.0, 0.0], [0.0, 4.0]]
        """
        tape = self._asked()
        chunk = self._rows_at_once("jacobian", parallel_iterations, experimental_use_pfor)
        flat = _sources(sources)
        target = convert(target)
        dims = _dims(target)
        size = math.prod(dims)
        seeds = registry["Reshape"].function(_identity_matrix(size, target), (size, *dims))
        rows = _rows(tape, target, flat, seeds, chunk)
        self._asked_once()
        found = [None if r is None else _reshaped(r, target.shape, dims, s) for r, s in zip(rows, flat, strict=True)]
        if _gives_zeros(unconnected_gradients):
            found = [_zeros([*dims, *_dims(s)], s.dtype) if f is None else f for f, s in zip(found, flat, strict=True)]
        if isinstance(sources, (Tensor, ReadAsTensor)):
            return found[0]
        return nest.pack_sequence_as(sources, found, expand_composites=True)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each row of the target by the same row of the source.

        It is `jacobian` where row `i` of the target depends on row `i` of the source alone, and much less work.

        Args:
            target: of shape `[b, y1, ..., yn]`.
            source: of shape `[b, x1, ..., xm]`; watched.
            unconnected_gradients, parallel_iterations, experimental_use_pfor: see `jacobian`.

        Returns:
            A tensor of shape `[b, y1, ..., yn, x1, ..., xm]`, or None.

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
        tape = self._asked()
        chunk = self._rows_at_once("batch_jacobian", parallel_iterations, experimental_use_pfor)
        shape, source_shape = target.shape, source.shape
        shape.with_rank_at_least(2)
        source_shape.with_rank_at_least(2)
        if None not in (shape[0], source_shape[0]) and shape[0] != source_shape[0]:
            raise ValueError(
                f"Need first dimension of target shape ({shape}) and source shape ({source_shape}) to match."
            )
        dims, inner = _dims(target), _dims(source)[1:]
        each = math.prod(dims[1:])
        seeds = registry["Reshape"].function(_identity_matrix(each, target), (each, 1, *dims[1:]))
        seeds = registry["BroadcastTo"].function(seeds, (each, *dims))
        row = _rows(tape, target, [source], seeds, chunk)[0]
        self._asked_once()
        if row is None:
            return _zeros([*dims, *inner], source.dtype) if _gives_zeros(unconnected_gradients) else None
        swapped = registry["Transpose"].function(row, (1, 0, *range(2, 2 + len(inner))))
        return _reshaped(swapped, shape, dims, source, 1)

    def _rows_at_once(self, method: str, parallel_iterations: int | None, vectorised: bool) -> int | None:
        """How many rows of a Jacobian are computed at once: 1, a number, or None for all."""
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

    def _asked(self) -> Tape:
        """The tape, which stops recording if it is asked only once."""
        if self._tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        if self._recording and not self._persistent:
            self._stop()
        return self._tape


def _value(tensor: Any) -> torch.Tensor:
    return (tensor._value if isinstance(tensor, ReadAsTensor) else tensor).value


def _dims(tensor: Any) -> tuple[Any, ...]:
    """The shape of a tensor or variable: ints, and scalar tensors for what is not known."""
    if isinstance(tensor, SymbolicTensor):
        return tuple(shape_of(tensor))
    return tuple(_value(tensor).shape)


def _zeros(dims: Sequence[Any], dtype: Any) -> Any:
    from tapeflow import zeros

    return zeros(dims, dtype)


def _identity_matrix(size: Any, like: Any) -> Any:
    """The rows of an identity matrix: the gradients that each element of a target begins with."""
    from tapeflow.linalg import eye

    return eye(size, dtype=like.dtype)


def _reshaped(rows: Any, target: TensorShape, dims: Sequence[Any], source: Any, skipped: int = 0) -> Any:
    """The rows of a Jacobian in the shape of the target, then that of the source (without its first dimensions)."""
    made = registry["Reshape"].function(rows, (*dims, *_dims(source)[skipped:]))
    if isinstance(made, SymbolicTensor):
        made.set_shape(target.concatenate(source.shape[skipped:]))
    return made


def _rows(tape: Tape, target: Any, sources: list[Any], seeds: Any, chunk: int | None) -> list[Any]:
    """The gradients of each source for each seed, stacked; None where there is none.

    Args:
        chunk: how many are computed at once, or None for all.
    """
    calls = tape.calls
    if not tape.persistent:
        tape.calls = []
    ids = [id_of(s) for s in sources]

    def one(seed: Any) -> list[Any]:
        found = backpropagate(calls, {id_of(target): seed}, ids, tape.roots, keep=True)
        return [g if g is None or isinstance(g, Tensor) else convert(g) for g in found]

    from tapeflow.graph.vectorized import Manner
    from tapeflow.vectorized import on_slices

    if state.graph is not None or (chunk != 1 and len(seeds)):
        return on_slices(one, seeds, Manner(warn=False, chunk=chunk), at_once=chunk != 1)
    rows = [one(seed) for seed in seeds]
    if not rows:
        return [_zeros([0, *_dims(s)], s.dtype) for s in sources]
    return [
        None if column[0] is None else registry["Pack"].function(list(column), 0) for column in zip(*rows, strict=True)
    ]


def _sources(value: Any) -> list[Any]:
    """The tensors and variables in a nest of sources; a flat list of them is given back itself."""
    if isinstance(value, (Tensor, ReadAsTensor)):
        return [value]
    if type(value) is list:
        for v in value:
            if not isinstance(v, (ReadAsTensor, Tensor)):
                break
        else:
            return value
    flat = [_variable_in(v) for v in nest.flatten(value, expand_composites=True)]
    for v in flat:
        if not isinstance(v, (Tensor, ReadAsTensor)):
            raise TypeError(
                f"The sources of a gradient are tensors and variables, not {v!r} of type {type(v).__name__}."
            )
    return flat


def _variable_in(source: Any) -> Any:
    """The variable that one of another library stands for, as Keras's do; anything else as it is."""
    return source.value if getattr(source, "_should_act_as_resource_variable", False) else source


def _packed(sources: Any, found: list[Any]) -> Any:
    """The gradients in the structure of the sources. That of a composite value is one too: its values' gradients, with
    what is no number in it (row splits, indices) as it is in the source.
    """
    gradients = iter(found)
    leaves = []
    for source in nest.flatten(sources):
        if not isinstance(source, CompositeTensor):
            leaves.append(next(gradients))
            continue
        parts = nest.flatten(source, expand_composites=True)
        own = [next(gradients) for _ in parts]
        if all(g is None for g in own):
            leaves.append(None)
        else:
            kept = [g if p.dtype.differentiable else p for g, p in zip(own, parts, strict=True)]
            leaves.append(nest.pack_sequence_as(source, kept, expand_composites=True))
    return nest.pack_sequence_as(sources, leaves)


def _whole(variable: Any) -> Any:
    """The variable that a copy in a replica belongs to."""
    container = getattr(variable, "_distributed_container", None)
    return variable if container is None else container()


def _gives_zeros(unconnected: Any) -> bool:
    """Whether a source without influence has zeros for a gradient.

    Raises:
        ValueError: `unconnected` is neither of `UnconnectedGradients`.
    """
    if unconnected is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}") from None


def _targets(value: Any) -> list[Any]:
    """The tensors in a nest of targets."""
    if value is None:
        raise TypeError(
            "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be "
            "differentiated, but received None."
        )
    flat = [value] if isinstance(value, (Tensor, ReadAsTensor)) else []
    for leaf in () if flat else nest.flatten(value):
        parts = nest.flatten(leaf, expand_composites=True)
        composite = isinstance(leaf, CompositeTensor)
        flat += [p for p in parts if p.dtype.differentiable] if composite else parts
    for v in flat:
        if not isinstance(v, (Tensor, ReadAsTensor)):
            raise TypeError(
                f"The targets of a gradient are tensors and variables, not {v!r} of type {type(v).__name__}."
            )
        if not v.dtype.differentiable:
            logger.warning(
                "The dtype of the target tensor must be floating (e.g. tf.float32) when calling GradientTape.gradient, "
                "got %r", v.dtype,
            )  # fmt: skip
    return flat


def _seed(target: Any, given: Any) -> Any:
    """The gradient that a target begins with: the one given, or ones."""
    if given is not None:
        return given if isinstance(given, IndexedSlices) else convert(given, target.dtype)
    if not target.dtype.differentiable:
        return None
    if state.graph is not None:
        return registry["OnesLike"].function(target)
    value = _value(target)
    if value.ndim == 0 and not value.is_cuda:
        return EagerTensor(operand(1.0, target.dtype).value, target.dtype)
    return EagerTensor(torch.ones_like(value), target.dtype)


def _zeros_like(source: Any) -> Any:
    if state.graph is not None:
        return registry["ZerosLike"].function(source)
    return EagerTensor(torch.zeros_like(_value(source)), source.dtype)


def _zero_gradient(output: Any) -> Any:
    """A gradient of zeros for what an op gave."""
    if output.dtype is variant:
        from tapeflow.array.tensor_list import zeros_variant

        return convert(EagerTensor(zeros_variant(), variant))
    return _zeros_like(output)


class ForwardAccumulator:
    """Computes Jacobian-vector products while a function runs: forward-mode differentiation.

    Args:
        primals: the tensors or variables to differentiate by, in a nest.
        tangents: the vector, in the same structure.

    Raises:
        ValueError: the structures differ, or a tensor is given twice.

    Example:
        >>> x = tf.constant([2.0, 3.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        ...     y = tf.reduce_sum(x * x)
        >>> acc.jvp(y).numpy().item()
        4.0
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents, expand_composites=True)
        self._tangents: dict[int, Any] = {}
        self._kept: list[Any] = []  # variables' ids are theirs, tensors get one here
        for primal, tangent in zip(
            nest.flatten(primals, expand_composites=True), nest.flatten(tangents, expand_composites=True), strict=True
        ):
            if not primal._id:
                primal._id = next_id()
            if primal._id in self._tangents:
                raise ValueError(
                    f"Tensor {primal!r} already has a tangent: a primal can be given only once to a ForwardAccumulator."
                )
            tangent = convert(tangent, primal.dtype)
            if not tangent.shape.is_compatible_with(primal.shape):
                raise ValueError(f"A tangent must have its primal's shape {primal.shape}, not {tangent.shape}.")
            self._tangents[primal._id] = tangent
            self._kept.append(primal)
        self._recording = False

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        state.tapes.append(self)
        listeners.append(self)
        self._recording = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._recording:
            discard(state.tapes, self)
            discard(listeners, self)
            self._recording = False

    variables = frozenset[int]()

    def variable_read(self, variable: Any) -> None:
        """A variable is known by its id; reading it tells nothing new."""

    def record(self, op: Any, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Computes the tangents of an op's outputs.

        The gradient of an op is linear in the output gradients, so its own gradient by them, seeded with the
        tangents of the inputs, is the product of the op's Jacobian with the tangents.
        """
        outputs = list(outputs)  # an operation of a graph may get more
        tangents = [self._tangents.get(t._id) for t in inputs]
        if all(t is None for t in tangents) or not op.differentiable:
            return
        if not any(o.dtype.differentiable for o in outputs):
            return
        # What encloses this accumulator sees the computation of the tangents; what it encloses does not.
        all_tapes = state.tapes
        outer = []
        for tape in all_tapes:
            if tape is self:
                break
            outer.append(tape)
        wanted = tuple([t is not None for t in tangents])
        call = Call(op, attrs, [0] * len(inputs), 0, wanted)
        describe(call, list(inputs), outputs)
        inner = Tape(persistent=False, watch_accessed=False)
        state.tapes = outer
        try:
            dys = [_zero_gradient(o) for o in outputs]
            inner.start()
            try:
                for dy in dys:
                    inner.watch(dy)
                found = gradient_of_call(call, dys)
                found = list(found) if isinstance(found, (list, tuple)) else [found]
                pairs = [
                    (convert(g), t) for g, t in zip(found, tangents, strict=True) if g is not None and t is not None
                ]
            finally:
                inner.stop()
            result = inner.gradients([g for g, _ in pairs], dys, [t for _, t in pairs])
        finally:
            state.tapes = all_tapes
        for out, tangent in zip(outputs, result, strict=True):
            if tangent is not None and out.dtype.differentiable:
                if not out._id:
                    out._id = next_id()
                self._tangents[out._id] = tangent if isinstance(tangent, Tensor) else tangent.__tf_tensor__()

    def jvp(self, primals: Any, unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE) -> Any:
        """The product of the Jacobian of `primals` with the tangents given at the start.

        Args:
            primals: tensors computed inside the context, or a nest of them.
            unconnected_gradients: what to give for a tensor that nothing led to.

        Returns:
            Tensors in the structure of `primals`, or None.
        """
        zeros = _gives_zeros(unconnected_gradients)

        def tangent(t: Any) -> Any:
            found = self._tangents.get(t._id) if t._id else None
            return _zeros_like(t) if found is None and zeros else found

        return nest.map_structure(tangent, primals, expand_composites=True)
