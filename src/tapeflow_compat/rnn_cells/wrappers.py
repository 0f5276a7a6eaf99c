"""Wrappers of recurrent networks' cells: dropout, residual connections, and devices.

A cell is called as `cell(inputs, state)`, and returns the output and the new state. It has a `state_size` and an
`output_size`. Keras' cells follow this protocol, and other classes may follow it, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape
from tapeflow.control.tensor_array import TensorArray
from tapeflow.core import device as devices
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.division import realdiv
from tapeflow.math.rounding import floor
from tapeflow.nn.dropouts import dropout
from tapeflow_compat.rnn_cells.layer_members import LayerMembers


class _CellWrapper(LayerMembers):
    """A cell around another cell. It delegates to the other cell by default."""

    def __init__(self, cell: Any, name: str | None = None) -> None:
        if not callable(cell) or not hasattr(cell, "output_size") or not hasattr(cell, "state_size"):
            raise TypeError(f"{cell!r} is no cell: it must be callable, and have an output_size and a state_size")
        super().__init__(name=name)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The wrapped cell."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """The size of the state, or a structure of them."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self.cell.output_size

    def build(self, inputs_shape: Any) -> None:
        """Creates the cell's variables, unless they exist."""
        if hasattr(self.cell, "build") and not getattr(self.cell, "built", False):
            self.cell.build(inputs_shape)
            self.cell.built = True

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """Returns a state of zeros."""
        if hasattr(self.cell, "zero_state"):
            return self.cell.zero_state(batch_size, dtype)
        return self.get_initial_state(batch_size=batch_size, dtype=dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Returns the initial state: the cell's own, or zeros."""
        if inputs is not None:
            batch_size, dtype = shape(inputs)[0], inputs.dtype
        if hasattr(self.cell, "get_initial_state"):
            return self.cell.get_initial_state(batch_size=batch_size)
        return nest.map_structure(lambda size: zeros([int(batch_size), *_dims_of(size)], dtype), self.state_size)

    def __call__(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Runs a step.

        Args:
            inputs: a tensor, or a structure of them.
            state: the state of the cell.
            **kwargs: passed to the cell.

        Returns:
            The output and the new state.
        """
        return self.call(inputs, state, **kwargs)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Runs a step; subclasses override it."""
        return self.cell(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Returns the config. `from_config` creates the wrapper again from it."""
        cell = self.cell
        config = cell.get_config() if hasattr(cell, "get_config") else {}
        return {"cell": {"class_name": type(cell).__name__, "config": config}, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """Creates the wrapper that `get_config` describes.

        Raises:
            ValueError: the cell's class is not among `custom_objects`.
        """
        config = dict(config)
        cell = config.pop("cell")
        if isinstance(cell, dict):
            kind = (custom_objects or {}).get(cell["class_name"])
            if kind is None:
                raise ValueError(f"Unknown cell: {cell['class_name']}. Pass its class in `custom_objects`")
            cell = kind.from_config(cell["config"]) if hasattr(kind, "from_config") else kind(**cell["config"])
        return cls(cell, **config)


class RNNCellDropoutWrapper(_CellWrapper):
    """A cell whose inputs, states and outputs go through dropout.

    Args:
        cell: the cell to wrap.
        input_keep_prob, state_keep_prob, output_keep_prob: the share of elements that stay: numbers or tensors. The
            default is 1.0.
        variational_recurrent: drops the same elements in every step (Gal and Ghahramani, 2015); requires `dtype`, and
            `input_size` if inputs are dropped.
        input_size: the shape of the inputs, or a structure of shapes, without the batch.
        dtype: the dtype of the inputs, states and outputs.
        seed: an int, the seed of the random choices.
        dropout_state_filter_visitor: `visitor(part)` tells whether dropout applies to a part of the state; by default
            to all but the memory `c` of an LSTM's state and `tf.TensorArray`s.

    Raises:
        TypeError: it is no cell, or the filter is not callable.
        ValueError: a share is not in (0, 1], or the dtype or size that `variational_recurrent` requires is missing.

    Example:
        >>> class Counter:
        ...     state_size = output_size = 1
        ...     def __call__(self, inputs, state):
        ...         return inputs + state, state + 1.0
        >>> cell = tf.nn.RNNCellDropoutWrapper(Counter(), output_keep_prob=1.0)
        >>> [t.numpy().tolist() for t in cell(tf.ones([1, 1]), tf.zeros([1, 1]))]
        [[[1.0]], [[1.0]]]
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: DTypeLike = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(cell, name)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable.")
        for parameter, share in (
            ("input_keep_prob", input_keep_prob),
            ("state_keep_prob", state_keep_prob),
            ("output_keep_prob", output_keep_prob),
        ):
            if isinstance(share, (int, float)) and not 0 <= share <= 1:
                raise ValueError(f"Parameter {parameter} must be between 0 and 1: {share}")
        self._keep = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        self._filter = dropout_state_filter_visitor or _keep_memory
        self._seed = seed
        self._variational = variational_recurrent
        self._options = {"variational_recurrent": variational_recurrent, "input_size": input_size, "dtype": dtype}
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            sizes = {"state": self.state_size, "output": self.output_size}
            if _drops(input_keep_prob):
                if input_size is None:
                    raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0, input_size is needed")
                sizes["input"] = input_size
            for role, size in sizes.items():
                leaves = nest.flatten(size)
                self._noise[role] = [self._draw_noise(role, i, leaf, dtype) for i, leaf in enumerate(leaves)]

    def _draw_noise(self, role: str, number: int, size: Any, dtype: DTypeLike) -> Any:
        """Draws the random numbers that choose the elements of one tensor in all steps."""
        from tapeflow.random.stateful import uniform  # random ops are loaded when they are first used

        return uniform([1, *_dims_of(size)], dtype=dtype, seed=self._seed_of(role, number))

    def _seed_of(self, role: str, number: int) -> int | None:
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{role}_{number}".encode()).digest()
        return int.from_bytes(digest[:4], "little") & 0x7FFFFFFF

    def _dropped(self, role: str, values: Any, only: Any = None) -> Any:
        """Applies dropout to the tensors of a structure, or to those that `only` selects."""
        share = self._keep[role]
        if not _drops(share):
            return values
        leaves = nest.flatten(values)
        selected = [True] * len(leaves) if only is None else nest.flatten(only)
        results = []
        for i, (leaf, drop) in enumerate(zip(leaves, selected, strict=True)):
            if not drop:
                results.append(leaf)
            elif self._variational:
                keep = floor(add(self._noise[role][i], share))
                results.append(multiply(realdiv(leaf, share), keep))
            else:
                results.append(dropout(leaf, rate=1 - share, seed=self._seed_of(role, i)))
        return nest.pack_sequence_as(values, results)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Runs a step with dropout."""
        output, new_state = self.cell(self._dropped("input", inputs), state, **kwargs)
        if _drops(self._keep["state"]):
            new_state = self._dropped("state", new_state, _filtered(new_state, self._filter))
        return self._dropped("output", output), new_state

    def get_config(self) -> dict[str, Any]:
        """Returns the config. `from_config` creates the wrapper again from it."""
        if self._filter is not _keep_memory:
            raise ValueError("A wrapper with a filter of the state cannot be described by a config")
        shares = {f"{role}_keep_prob": share for role, share in self._keep.items()}
        return {**super().get_config(), **shares, **self._options, "seed": self._seed}


def _dims_of(size: int | TensorShape) -> list[Any]:
    """Returns the dimensions of a size."""
    return size.as_list() if isinstance(size, TensorShape) else [size]


def _drops(share: Any) -> bool:
    """Tells whether a share of elements to keep, a number or a tensor, may be less than 1."""
    return not isinstance(share, (int, float)) or share < 1


def _keep_memory(state: Any) -> Any:
    """Selects all tensors for dropout but the memory `c` of an LSTM's state and `TensorArray`s."""
    if hasattr(state, "c") and hasattr(state, "h") and hasattr(state, "_replace"):
        return state._replace(c=False, h=True)
    return not isinstance(state, TensorArray)


def _filtered(state: Any, visit: Callable[[Any], Any]) -> Any:
    """Selects the tensors of a state for dropout; a visitor may answer for a whole part of the state."""
    answer = visit(state)
    if not isinstance(state, (list, tuple, dict)):
        return answer
    if isinstance(answer, bool):
        if not answer:
            return nest.map_structure(lambda _: False, state)
        if isinstance(state, dict):
            return {key: _filtered(value, visit) for key, value in state.items()}
        parts = [_filtered(part, visit) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    return answer


class RNNCellResidualWrapper(_CellWrapper):
    """A cell whose inputs are added to its outputs.

    Args:
        cell: the cell to wrap.
        residual_fn: `residual_fn(inputs, outputs)` computes the outputs instead.

    Raises:
        TypeError: it is no cell.

    Example:
        >>> class Double:
        ...     state_size = output_size = 1
        ...     def __call__(self, inputs, state):
        ...         return inputs * 2.0, state
        >>> tf.nn.RNNCellResidualWrapper(Double())(tf.ones([1, 1]), tf.zeros([1, 1]))[0].numpy().tolist()
        [[3.0]]
    """

    def __init__(
        self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, name: str | None = None
    ) -> None:
        super().__init__(cell, name)
        self._residual_fn = residual_fn

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Runs a step, and adds the inputs to its outputs."""
        outputs, new_state = self.cell(inputs, state, **kwargs)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), new_state
        nest.assert_same_structure(inputs, outputs)

        def joined(x: Any, y: Any) -> Any:
            if not x.shape.is_compatible_with(y.shape):
                raise ValueError(f"Shapes {x.shape} and {y.shape} are incompatible")
            return add(x, y)

        return nest.map_structure(joined, inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        """Returns the config. `from_config` creates the wrapper again from it."""
        if self._residual_fn is not None:
            raise ValueError("A wrapper with a residual function cannot be described by a config")
        return super().get_config()


class RNNCellDeviceWrapper(_CellWrapper):
    """A cell that runs on a device.

    Args:
        cell: the cell to wrap.
        device: the device's name, as `tf.device` takes it.

    Raises:
        TypeError: it is no cell.

    Example:
        >>> class Same:
        ...     state_size = output_size = 1
        ...     def __call__(self, inputs, state):
        ...         return inputs, state
        >>> tf.nn.RNNCellDeviceWrapper(Same(), "/cpu:0")(tf.ones([1, 1]), tf.zeros([1, 1]))[0].numpy().tolist()
        [[1.0]]
    """

    def __init__(self, cell: Any, device: str, name: str | None = None) -> None:
        super().__init__(cell, name)
        self._device = device

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """Returns a state of zeros, on the device."""
        with devices.device(self._device):
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Runs a step on the device."""
        with devices.device(self._device):
            return self.cell(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Returns the config. `from_config` creates the wrapper again from it."""
        return {**super().get_config(), "device": self._device}
