"""Conditional accumulators: they collect gradients of one step from several workers."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.dtypes import DType, as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow_compat import raw_ops


class ConditionalAccumulatorBase:
    """Base class of the accumulators, which add up the gradients of the current step and drop older ones.

    Args:
        dtype: the dtype of the gradients.
        shape: their shape; None if it is unknown.
        accumulator_ref: the handle of the accumulator.

    Example:
        >>> accumulator = tf.compat.v1.ConditionalAccumulator(tf.float32, [2])
        >>> isinstance(accumulator, tf.compat.v1.ConditionalAccumulatorBase)
        True
    """

    _kind = "Resource"  # of the ops that every accumulator has

    def __init__(self, dtype: Any, shape: ShapeLike, accumulator_ref: Any) -> None:
        self._dtype, self._shape = as_dtype(dtype), TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = state.name_scope if state.graph is None else accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """Returns the number of gradients since the last one was taken."""
        return self._call(f"{self._kind}AccumulatorNumAccumulated", name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """Sets the accumulator's step: gradients of lower steps are dropped.

        Args:
            new_global_step: the step; a lower one than the current is logged.
        """
        op = f"{self._kind}AccumulatorSetGlobalStep"
        return self._call(op, name, new_global_step=cast(new_global_step, int64))

    def _call(self, op: str, name: str | None, **arguments: Any) -> Any:
        return getattr(raw_ops, op)(handle=self._accumulator_ref, name=name, **arguments)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up dense gradients of the current step.

    Args:
        dtype: the dtype of the gradients.
        shape: their shape; None if it is unknown.
        shared_name: accumulators of a session with this name are one.
        name: its name.
        reduction_type: "MEAN" or "SUM".

    Raises:
        ValueError: `reduction_type` is something else.

    Example:
        >>> accumulator = tf.compat.v1.ConditionalAccumulator(tf.float32, [2])
        >>> accumulator.apply_grad([1.0, 2.0])
        >>> accumulator.apply_grad([3.0, 4.0])
        >>> accumulator.take_grad(2).numpy().tolist()
        [2.0, 3.0]
    """

    def __init__(
        self, dtype: Any, shape: ShapeLike = None, shared_name: str | None = None,
        name: str = "conditional_accumulator", reduction_type: str = "MEAN",
    ) -> None:  # fmt: skip
        super().__init__(dtype, shape, _made("Resource", dtype, shape, shared_name, name, reduction_type))

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient, unless it is stale.

        Args:
            grad: the gradient.
            local_step: the step that it was computed at; it is dropped if the accumulator's step is later.

        Raises:
            ValueError: it has another shape than the accumulator.
        """
        grad = convert(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return self._call("ResourceAccumulatorApplyGradient", name, local_step=cast(local_step, int64), gradient=grad)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Waits for a number of gradients, and returns their mean or sum. The accumulator's step becomes one later.

        Args:
            num_required: the number.

        Raises:
            InvalidArgumentError: it is less than one.
        """
        op = "ResourceAccumulatorTakeGradient"
        result = self._call(op, name, num_required=num_required, dtype=self._dtype)
        result.set_shape(self._shape)
        return result


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up sparse gradients of the current step, which have some rows of a tensor. For graphs alone.

    The mean of a row is over the gradients that have it.

    Args:
        dtype, shape, shared_name, name, reduction_type: see `ConditionalAccumulator`.

    Raises:
        RuntimeError: no graph is being built.
        ValueError: `reduction_type` is something else than "MEAN" and "SUM".

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     accumulator = tf.compat.v1.SparseConditionalAccumulator(tf.float32, [3, 1])
        ...     sess.run(accumulator.apply_grad([0, 2], [[1.0], [2.0]]))
        ...     sess.run(accumulator.apply_grad([2], [[4.0]]))
        ...     print(sess.run(accumulator.take_indexed_slices_grad(2).values).tolist())
        [[1.0], [3.0]]
    """

    _kind = ""

    def __init__(
        self, dtype: Any, shape: ShapeLike = None, shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN",
    ) -> None:  # fmt: skip
        super().__init__(dtype, shape, _made("Sparse", dtype, shape, shared_name, name, reduction_type))

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Any:
        """Adds a gradient, unless it is stale.

        Args:
            grad: the gradient.
            local_step: see `apply_grad`.
        """
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: str | None = None
    ) -> Any:
        """Adds a gradient, unless it is stale.

        Args:
            grad_indices: the rows that it has.
            grad_values: their values.
            grad_shape: the shape of the dense gradient; None if it is unknown.
            local_step: the step that it was computed at; it is dropped if the accumulator's step is later.

        Raises:
            InvalidArgumentError: its parts do not fit each other, or the accumulator.
        """
        return self._call(
            "SparseAccumulatorApplyGradient", name, local_step=cast(local_step, int64),
            gradient_indices=cast(grad_indices, int64), gradient_values=convert(grad_values, self._dtype),
            gradient_shape=cast(convert([], int64) if grad_shape is None else grad_shape, int64),
            has_known_shape=grad_shape is not None,
        )  # fmt: skip

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Waits for a number of gradients, and returns their mean or sum. The accumulator's step becomes one later.

        Args:
            num_required: the number.

        Returns:
            The rows, their values, and the shape of the dense gradient.

        Raises:
            InvalidArgumentError: the number is less than one.
        """
        return self._call("SparseAccumulatorTakeGradient", name, num_required=num_required, dtype=self._dtype)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """Returns the same as `take_grad`, as `tf.IndexedSlices`.

        Args:
            num_required: see `take_grad`.
        """
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)


def _made(
    kind: str, dtype: DTypeLike, shape: ShapeLike, shared_name: str | None, name: str, reduction_type: str
) -> Any:
    """Returns the handle of an accumulator; in a graph, each session has its own."""
    if state.graph is not None:
        shared_name = shared_name or state.graph.unique_name(name, mark_as_used=False)
    op = getattr(raw_ops, f"{kind}ConditionalAccumulator")
    return op(
        dtype=as_dtype(dtype), shape=shape, shared_name=shared_name or "", name=name, reduction_type=reduction_type
    )
