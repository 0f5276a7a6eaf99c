"""`ForwardAccumulator`: forward-mode differentiation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.autodiff.targets_and_sources import UnconnectedGradients, gives_zeros, zero_gradient, zeros_like
from tapeflow.core.autodiff.tape import Call, Tape, describe, gradient_of_call
from tapeflow.core.context import discard, listeners, override, state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor, next_id
from tapeflow.core.values.variable import Variable

if TYPE_CHECKING:
    from tapeflow.core.ops.definition import Op


class ForwardAccumulator:
    """Computes Jacobian-vector products while a function runs: forward-mode differentiation.

    Args:
        primals: the tensors or variables with respect to which it differentiates, in a nest.
        tangents: the vector, in the same structure.

    Raises:
        ValueError: the structures differ, a tangent's shape is not its primal's, or a primal occurs twice.

    Example:
        >>> x = tf.constant([2.0, 3.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        ...     y = tf.reduce_sum(x * x)
        >>> acc.jvp(y).numpy().item()
        4.0
    """

    def __init__(self, primals: Any, tangents: TensorLike) -> None:
        nest.assert_same_structure(primals, tangents, expand_composites=True)
        self._tangents: dict[int, Any] = {}
        self._primals: list[Any] = []  # kept alive, as tangents are stored by their ids
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
            self._primals.append(primal)
        self._recording = False
        self.seen: set[int] = set()  # the ids of tensors read from variables

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

    def variable_read(self, variable: Variable, read: int) -> None:
        """Gives a tensor read from a variable the variable's tangent."""
        self.seen.add(read)
        tangent = self._tangents.get(variable._id)
        if tangent is not None:
            self._tangents[read] = tangent

    def record(self, op: Op, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Computes the tangents of an op's outputs.

        The gradient of an op is linear in the output gradients, so its own gradient by them, seeded with the
        tangents of the inputs, is the product of the op's Jacobian with the tangents.
        """
        outputs = list(outputs)  # a copy, as outputs may be added to an operation of a graph
        tangents = [self._tangents.get(t._id) for t in inputs]
        if all(t is None for t in tangents) or not op.differentiable:
            return
        if not any(o.dtype.differentiable for o in outputs):
            return
        # Tapes around this accumulator record the computation of the tangents; those inside it do not.
        outer = list(itertools.takewhile(lambda tape: tape is not self, state.tapes))
        call = Call(op, attrs, [0] * len(inputs), 0, tuple([t is not None for t in tangents]))
        describe(call, list(inputs), outputs)
        inner = Tape(persistent=False, watch_accessed=False)
        with override(state, tapes=outer):
            dys = [zero_gradient(o) for o in outputs]
            inner.start()
            try:
                for dy in dys:
                    inner.watch(dy)
                gradients = gradient_of_call(call, dys)
                gradients = list(gradients) if isinstance(gradients, (list, tuple)) else [gradients]
                pairs = [
                    (convert(g), t) for g, t in zip(gradients, tangents, strict=True) if g is not None and t is not None
                ]
            finally:
                inner.stop()
            products = inner.gradients([g for g, _ in pairs], dys, [t for _, t in pairs])
        for out, tangent in zip(outputs, products, strict=True):
            if tangent is not None and out.dtype.differentiable:
                if not out._id:
                    out._id = next_id()
                self._tangents[out._id] = tangent if isinstance(tangent, Tensor) else tangent.__tf_tensor__()

    def jvp(
        self,
        primals: Tensor | Variable | dict[Any, Any],
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Returns the product of the Jacobian of tensors with the accumulator's tangents.

        Args:
            primals: tensors computed inside the context, or a nest of them.
            unconnected_gradients: the result for a tensor that depends on no primal of the accumulator: None or zeros.

        Returns:
            In the structure of `primals`, tensors of their shapes and dtypes, or None.

        Raises:
            ValueError: `unconnected_gradients` is invalid.
        """
        zeros = gives_zeros(unconnected_gradients)

        def tangent(t: Tensor | Variable) -> Any:
            product = self._tangents.get(t._id) if t._id else None
            return zeros_like(t) if product is None and zeros else product

        return nest.map_structure(tangent, primals, expand_composites=True)
