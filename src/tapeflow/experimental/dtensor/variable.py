"""`DVariable`: a variable whose value is a DTensor of a fixed layout."""

from __future__ import annotations

from typing import Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, as_dtype, bfloat16, float32
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import ResourceVariable
from tapeflow.experimental.dtensor.api import DEVICE_NAME, _divide_value, layout_of, relayout
from tapeflow.experimental.dtensor.layout import Layout
from tapeflow.math.casting import cast


class DVariable(ResourceVariable):
    """A variable whose value is divided among the devices of a mesh, always in the same layout.

    What is assigned is put into the layout, and so are gradients: of a variable that is divided among processes, each
    has a part of the value, of its gradient, and of the variables that an optimizer has beside it.

    Args:
        initial_value: a DTensor, or with `layout` anything convertible to a tensor; or a function that returns it.
        *args: arguments of `tf.Variable`.
        dtype: the dtype.
        layout: the layout; by default the initial value's.
        **kwargs: keyword arguments of `tf.Variable`.

    Raises:
        InvalidArgumentError: there is no layout, or the initial value has another one.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> v = tf.experimental.dtensor.DVariable([1.0, 2.0], layout=tf.experimental.dtensor.Layout(["x"], mesh))
        >>> v.layout.sharding_specs
        ['x']
    """

    layout: Layout

    def __init__(
        self,
        initial_value: Any,
        *args: Any,
        dtype: DType | str | None = None,
        layout: Layout | None = None,
        **kwargs: Any,
    ) -> None:
        if callable(initial_value) and not isinstance(initial_value, (Tensor, ReadAsTensor)):
            initial_value = initial_value()
        if state.graph is None:
            initial_value = convert(initial_value, None if dtype is None else as_dtype(dtype))
            own = layout_of(initial_value.value)
            if own is None and layout is None:
                raise errors.InvalidArgumentError.of("Neither layout nor DTensor initial value are provided.")
            if own is not None and layout is not None and own != layout:
                raise errors.InvalidArgumentError.of(
                    f"Conflicting layout are provided for initial value layout ({own}) and variable ({layout})."
                )
            layout = own or layout
        elif layout is None:
            raise errors.InvalidArgumentError.of("In a function a DVariable takes its layout as an argument.")
        assert layout is not None
        self.layout = layout
        self._save_as_bf16 = False
        super().__init__(initial_value, *args, **{**kwargs, "dtype": dtype})

    def _set(self, raw: bytes, before: EagerTensor | None = None) -> None:
        super()._set(_divide_value(raw, self.layout), before)

    def _begin(self) -> tuple[EagerTensor, Any]:
        # Kernels write to views, and the parts of views may be copies.
        return self._value, self._value.value.whole().clone()

    def _read(self) -> Any:
        value = super()._read()
        # An op on the way back puts the gradient into the layout at once.
        return relayout(value, self.layout) if state.tapes or state.graph is not None else value

    @property
    def device(self) -> str:
        """The name of all devices together."""
        return DEVICE_NAME

    @property
    def save_as_bf16(self) -> bool:
        """A bool: whether checkpoints have the value in bfloat16, which only float32 can."""
        return self._save_as_bf16

    @save_as_bf16.setter
    def save_as_bf16(self, save_as_bf16: bool) -> None:
        self._save_as_bf16 = save_as_bf16 and self.dtype is float32

    def _serialize_to_tensors(self) -> dict[str, Any]:
        whole = EagerTensor(self._value.value.whole(), self.dtype)
        return {"VARIABLE_VALUE": cast(whole, bfloat16) if self._save_as_bf16 else whole}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        value = restored_tensors["VARIABLE_VALUE"]
        super()._restore_from_tensors({"VARIABLE_VALUE": cast(value, self.dtype)})
