"""Members of Keras 2's layers for wrappers of cells, which are layers in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.variable import Variable
from tapeflow.tracking.module import Module


def _unconnected(self: Any, *args: Any) -> NoReturn:
    raise AttributeError(f"Layer {self.name} is not connected: it has no node, input or output.")


class LayerMembers(Module):
    """Weights, losses and the like of a layer that no Keras model holds."""

    activity_regularizer: Any = None
    compute_dtype = dtype = variable_dtype = dtype_policy = "float32"
    input_spec: Any = None
    dynamic = stateful = supports_masking = False
    trainable = True

    # ---- weights -----------------------------------------------------------------------------------------------------

    @property
    def weights(self) -> list[Variable]:
        """The variables of the cell."""
        return list(self.variables)

    @property
    def trainable_weights(self) -> list[Variable]:
        """The trainable variables of the cell; none if `trainable` is False."""
        return list(self.trainable_variables) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The others."""
        return list(self.non_trainable_variables) if self.trainable else self.weights

    def get_weights(self) -> list[np.ndarray]:
        """Returns the values of the weights."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the values of the weights.

        Args:
            weights: a value for each, in their order.

        Raises:
            ValueError: there are more or fewer.
        """
        for variable, value in zip(self.weights, weights, strict=True):
            variable.assign(value)

    def count_params(self) -> int:
        """Returns the number of elements of all weights."""
        return sum(v.shape.num_elements() for v in self.weights)

    def add_weight(
        self, name: str | None = None, shape: ShapeLike = None, dtype: DTypeLike = None,
        initializer: Callable[..., Any] | None = None,
        regularizer: Callable[..., Any] | None = None, trainable: bool | None = None,
        constraint: Callable[..., Any] | None = None, use_resource: Any = None, **kwargs: Any,
    ) -> Variable:  # fmt: skip
        """Creates a weight.

        Args:
            name: its name.
            shape: its shape; a scalar by default.
            dtype: float32 by default.
            initializer: a function from shape and dtype to its value; zeros by default.
            regularizer: a function from it to a loss, see `losses`.
            trainable: whether tapes watch it; True by default.
            constraint: a function of its value, for optimizers.
            use_resource: accepted, and without effect.
            **kwargs: passed to `tf.Variable`.

        Returns:
            The variable, which the layer holds.
        """
        dims, kind = TensorShape(shape or []).as_list(), as_dtype(dtype or float32)
        value = np.zeros(dims, kind.as_numpy_dtype) if initializer is None else initializer(dims, dtype=kind)
        variable = Variable(value, trainable is not False, name=name, dtype=kind, constraint=constraint, **kwargs)
        self.__dict__.setdefault("_own_weights", []).append(variable)
        if regularizer is not None:
            self.add_loss(lambda: regularizer(variable))
        return variable

    add_variable = add_weight

    # ---- losses, metrics, updates ------------------------------------------------------------------------------------

    @property
    def losses(self) -> list[Any]:
        """The losses that were added."""
        return [loss() if callable(loss) else loss for loss in self.__dict__.get("_losses", [])]

    def add_loss(self, losses: Any, **kwargs: Any) -> None:
        """Adds losses: tensors, or functions without arguments that return them."""
        self.__dict__.setdefault("_losses", []).extend(nest.flatten(losses))

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added."""
        return list(self.__dict__.get("_metrics", []))

    def add_metric(self, value: Any, name: str | None = None, **kwargs: Any) -> None:
        """Adds a metric."""
        self.__dict__.setdefault("_metrics", []).append(value)

    @property
    def updates(self) -> list[Any]:
        """The operations that were added: none, as they run at once."""
        return []

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Does nothing: updates run at once."""

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Returns the losses."""
        return self.losses

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Returns the updates."""
        return self.updates

    # ---- calls and shapes --------------------------------------------------------------------------------------------

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer."""
        function: Callable[..., Any] = self  # type: ignore[assignment]
        return function(inputs, *args, **kwargs)

    def finalize_state(self) -> None:
        """Does nothing: there is no state of the layer's own."""

    def compute_mask(self, inputs: Any, mask: TensorLike | None = None) -> Any:
        """Returns the mask, which the layer does not change.

        Raises:
            TypeError: there is one, and the layer does not support masks.
        """
        if any(m is not None for m in nest.flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return mask

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the shape of the output."""
        return TensorShape([TensorShape(input_shape)[0], self.output_size])  # type: ignore[attr-defined]

    def compute_output_signature(self, input_signature: Any) -> TensorSpec:
        """Returns the spec of the output."""
        return TensorSpec(self.compute_output_shape(input_signature.shape), input_signature.dtype)

    @property
    def inbound_nodes(self) -> list[Any]:
        """The nodes of Keras models that lead to the layer: none."""
        return []

    outbound_nodes = inbound_nodes
    get_input_at = get_input_mask_at = get_input_shape_at = _unconnected
    get_output_at = get_output_mask_at = get_output_shape_at = _unconnected
    input = input_mask = input_shape = output = output_mask = output_shape = property(_unconnected)
