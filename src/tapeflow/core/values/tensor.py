"""`tf.Tensor` and the eager tensor, which holds its value.

The arithmetic operators and indexing are ops, and `core` imports no op: `tapeflow/math/operators.py` adds them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from tapeflow.core import aten, errors
from tapeflow.core import device as devices
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype
from tapeflow.core.types.dtypes import string as string_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import ShapeLike

_is_compiling = torch.compiler.is_dynamo_compiling
next_id = itertools.count(1).__next__  # ids are never reused: a tape can hold one without its tensor


if TYPE_CHECKING:

    class Operators:
        """The operators that `operators.py` binds to tensors and variables, as type checkers see them."""

        @property
        def shape(self) -> TensorShape: ...
        def numpy(self) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...
        def __neg__(self) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

        __invert__ = __abs__ = __neg__
        __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = __add__
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = __add__
        __and__ = __or__ = __lt__ = __le__ = __gt__ = __ge__ = __add__

        def __iter__(self) -> Any: ...
        def __len__(self) -> int: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __index__(self) -> int: ...

else:
    Operators = object


class TensorType(Operators):
    """The base of all non-composite values that `tf.is_tensor` accepts: tensors, variables, Keras's variables."""

    __slots__ = ()

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: tuple[Any, ...],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls a function of torch that got tensors of this library: with torch's own, in the same memory.

        Of an operator, the operand on the left decides: `x + t` of a `torch.Tensor` `x` is torch's, `t + x` is not.
        """
        kwargs = kwargs or {}
        if any(isinstance(out, TensorType) for out in _as_list(kwargs.get("out"))):
            raise TypeError("A tf.Tensor never changes: out= takes a torch.Tensor.")
        return function(*map(_as_torch, args), **{name: _as_torch(value) for name, value in kwargs.items()})


def not_allowed(use: str) -> TypeError:
    """Returns the error for a use of a symbolic tensor that only an eager one has."""
    return errors.OperatorNotAllowedInGraphError(
        f"{use} is not allowed. You can attempt the following resolutions to the problem: If you are running in Graph "
        "mode, use Eager execution mode or decorate this function with @tf.function. If you are using AutoGraph, you "
        "can try decorating this function with @tf.function. If that does not work, then you may be using an "
        "unsupported feature or your source code may not be visible to AutoGraph."
    )


class Tensor(TensorType):
    """A multidimensional array of one dtype, which never changes.

    Every op takes and returns tensors. It also takes values that convert to one: Python numbers, nested lists, NumPy
    arrays, `torch.Tensor`s, variables.

    Example:
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> x.shape
        TensorShape([2, 2])
        >>> print(x + 1)
        tf.Tensor(
        [[2. 3.]
         [4. 5.]], shape=(2, 2), dtype=float32)
    """

    __slots__ = ()
    __array_priority__ = 100  # `array + tensor` is the tensor's to compute

    # Attributes of every kind of tensor, and those that `tapeflow/math/operators.py` adds.
    dtype: DType
    value: Any
    _id: int
    if TYPE_CHECKING:

        @property
        def device(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def ndim(self) -> int: ...
        def get_shape(self) -> TensorShape: ...

    OVERLOADABLE_OPERATORS: ClassVar[set[str]]

    def __bool__(self) -> bool:
        raise not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`")

    def __nonzero__(self) -> bool:
        return bool(self)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _ARRAY_ATTRIBUTES]

    def experimental_ref(self) -> Reference:
        """Returns `ref()`, whose older name it is."""
        return self.ref()

    def ref(self) -> Reference:
        """Returns a hashable reference to this tensor, for sets and dict keys; `ref.deref()` gives the tensor back."""
        return Reference(self)


class _Absent:
    """An attribute that tensors lack: reading it raises an error with a message about a class.

    Descriptors rather than a `__getattr__`, which would be called for whatever a tensor lacks: Keras asks each tensor
    for a mask.
    """

    __slots__ = ("_in_class", "_message")

    def __init__(self, message: str, in_class: bool = False) -> None:
        self._message, self._in_class = message, in_class

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        if tensor is None and not self._in_class:
            return self
        raise AttributeError(self._message.format(owner.__name__))


_NO_ATTRIBUTE = "{{}} object has no attribute '{}'"
_ADVICE = (
    ". \n        If you are looking for numpy-related methods, please run the following:"
    "\n        tf.experimental.numpy.experimental_enable_numpy_behavior()\n      "
)
_ARRAY_ATTRIBUTES = frozenset(
    {"T", "astype", "ravel", "transpose", "reshape", "clip", "size", "data", "max", "min", "mean", "sum"}
)
for _name in _ARRAY_ATTRIBUTES:
    setattr(Tensor, _name, _Absent(_NO_ATTRIBUTE.format(_name) + _ADVICE, in_class=True))
for _name in ("dtype", "eval", "get_shape", "name", "ndim", "set_shape", "shape"):  # each kind defines them for itself
    setattr(Tensor, _name, _Absent(_NO_ATTRIBUTE.format(_name)))


class ReadAsTensor(TensorType):
    """The base of variables: a holder of a tensor that changes over time, which ops read by `_read()`."""

    __slots__ = ()
    _id: int
    dtype: DType
    _value: EagerTensor

    def _read(self) -> EagerTensor:
        raise NotImplementedError


class EagerTensor(Tensor):
    """A tensor that holds its value.

    Attributes:
        value: a `torch.Tensor`; for strings a `StringArray`; for resources and variants a NumPy array of objects.
        dtype: its `tf.DType`.
    """

    __slots__ = ("__dict__", "__weakref__", "_device", "_id", "dtype", "value")
    _device: str  # the device's name, if it differs from the value's own device
    _content: Any  # the value; `Owned` tensors have a property in place of the slot `value`

    def __init__(self, value: Any, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype
        self._id = 0  # set by the first tape that needs one

    # ---- properties ----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The tensor's `tf.TensorShape`."""
        return TensorShape._of(self.value.shape)

    def get_shape(self) -> TensorShape:
        """Returns the tensor's `tf.TensorShape`; the same as `.shape`."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Checks that `shape` is compatible with the tensor's; an eager tensor's shape is always complete.

        Raises:
            ValueError: it is not.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.value.ndim

    @property
    def _rank(self) -> int:
        return self.value.ndim

    @property
    def device(self) -> str:
        """The name of the device that holds the value, as `/job:localhost/replica:0/task:0/device:CPU:0`."""
        try:
            return self._device
        except AttributeError:
            return devices.name_of(self.value)

    @property
    def backing_device(self) -> str:
        """The same as `.device`."""
        return self.device

    def cpu(self) -> EagerTensor:
        """Returns a copy on the CPU, or this tensor where it is there already."""
        return self._copied_to("cpu:0")

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """Returns a copy on a GPU.

        Raises:
            RuntimeError: there is no such GPU.
        """
        return self._copied_to(f"gpu:{gpu_index}")

    def _copied_to(self, device: str) -> EagerTensor:
        return hooks.copied_to(self, device)

    @property
    def is_tensor_like(self) -> bool:
        return True

    def consumers(self) -> Any:
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    # ---- conversions of the value -----------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """Returns a copy as a NumPy array (a NumPy scalar for rank 0, `bytes` for a scalar string)."""
        value = self.value
        if type(value) is torch.Tensor:
            return as_numpy(value, self.dtype).copy() if value.ndim else self.dtype.as_numpy_dtype(value.item())
        if type(value) is StringArray:
            return value.__array__() if value.shape else value.item()
        array = self._array()
        return array.copy() if array.ndim else array[()]

    def _numpy(self) -> Any:
        """Returns what `numpy` does, maybe without a copy: libraries that don't write to it call this."""
        array = self._array()
        return array if array.ndim else array[()]

    def _array(self) -> np.ndarray:
        """Returns the value as an array that may share the tensor's memory: not to be written to."""
        value = self.value
        if isinstance(value, torch.Tensor):
            return as_numpy(value, self.dtype)
        return value.__array__() if type(value) is StringArray else value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.asarray(self._array(), dtype=dtype)
        return array if copy is False else array.copy()

    def __dlpack__(self, *, copy: bool | None = None, **kwargs: Any) -> Any:
        """Returns a DLPack capsule with a copy: whoever reads it may write to it. `copy=False` shares the memory."""
        return self.value.__dlpack__(**kwargs) if copy is False else self.value.clone().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.value.__dlpack_device__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        """Returns a vector of strings as an Arrow array (large binary) in the same memory: two PyCapsules."""
        value = self.value
        if type(value) is not StringArray or value.ndim != 1:
            raise TypeError(f"Only vectors of strings become Arrow arrays, not {self!r}: pass tensor.numpy().")
        from tapeflow.core.values.arrow import arrow_of_strings  # here, as few programs have such values

        return arrow_of_strings(value)

    def tolist(self) -> Any:
        return self._array().tolist()

    def __bool__(self) -> bool:
        value = self.value
        if type(value) is torch.Tensor and value.numel() == 1:
            return bool(value.item())
        array = self._array()
        return bool(array) if array.size else False

    def _number(self) -> Any:
        """Returns a scalar as a Python number; otherwise an array, which says whether it can be one."""
        value = self.value
        if type(value) is torch.Tensor and not value.ndim and not value.is_complex():
            return value.item()
        return self._array()

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._array())

    def __index__(self) -> int:
        return self._array().__index__()

    def __len__(self) -> int:
        shape = self.value.shape
        if not len(shape):
            raise TypeError("Scalar tensor has no `len()`")
        return shape[0]

    def __format__(self, format_spec: str) -> str:
        return format(self._array()[()], format_spec)

    def __copy__(self) -> EagerTensor:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        copied = EagerTensor(
            self.value.clone() if isinstance(self.value, torch.Tensor) else copy.copy(self.value), self.dtype
        )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return (_from_numpy, (self.numpy(), self.dtype.name))

    # ---- printing --------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {numpy_text(self, is_repr=True)}>"

    def __str__(self) -> str:
        return f"tf.Tensor({numpy_text(self)}, shape={self.shape}, dtype={self.dtype.name})"


for _name in ("op", "graph", "name", "value_index"):
    setattr(EagerTensor, _name, _Absent(f"Tensor.{_name} is undefined when eager execution is enabled."))
EagerTensor._content = EagerTensor.value


_NUMPY_HAS = frozenset({
    torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16, torch.int32,
    torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128,
})  # fmt: skip


def numpy_text(tensor: EagerTensor, is_repr: bool = False) -> str:
    """Returns the value as NumPy prints it, the way TensorFlow puts it into `str` and `repr`."""
    text_of = getattr(tensor.value, "text", None)
    if text_of is not None:  # a value on several devices
        return f"value={text_of()}" if is_repr else text_of()
    if tensor.dtype.name in ("resource", "variant"):
        text = f"<{tensor.value!r}>"
    elif tensor.dtype.is_numpy_compatible:
        array = tensor._array()
        shown = array if array.ndim else array.tolist() if is_repr else array[()]
        text = repr(shown) if is_repr else str(shown)
    else:
        text = "<unprintable>"
    if "\n" in text:
        text = "\n" + text
    return f"numpy={text}" if is_repr else text


def flat_bytes(value: torch.Tensor) -> torch.Tensor:
    """Returns the memory of a tensor's elements as a vector of bytes, in place if they lie side by side.

    torch does not view the one element of a broadcast tensor as bytes: its stride is 0.
    """
    flat = value.resolve_conj().resolve_neg().contiguous().view(-1)
    return (flat if flat.stride(0) == 1 else flat.as_strided(flat.shape, (1,))).view(torch.uint8)


def as_numpy(value: torch.Tensor, dtype: DType) -> np.ndarray:
    """Returns an array of a kernel's value, in its memory where it is on the CPU."""
    try:
        return value.numpy()
    except (TypeError, RuntimeError):  # torch refuses values on a GPU, with lazy bits, or of a dtype that NumPy lacks
        value = value.detach().cpu().resolve_conj().resolve_neg()
    if value.dtype in _NUMPY_HAS:
        return value.numpy()
    bits = torch.int16 if value.itemsize == 2 else torch.uint8
    return value.contiguous().view(bits).numpy().view(dtype.as_numpy_dtype)


def alias(value: torch.Tensor) -> torch.Tensor:
    """Returns a tensor that shares the memory until one of the two is written to. A write copies first.

    Where torch can't tell who writes, as in memory that NumPy owns, it is a copy at once.
    """
    if value.requires_grad:
        value = value.detach()
    try:
        return aten.lazy_clone(value)
    except RuntimeError:
        return value.clone()


def _as_torch(value: Any) -> Any:
    """Returns an argument of a function of torch with this library's tensors, in lists too, as torch's."""
    if isinstance(value, TensorType):
        tensor = value if isinstance(value, Tensor) else hooks.convert(value)
        if not isinstance(tensor, EagerTensor) or not isinstance(tensor.value, torch.Tensor):
            raise TypeError(
                f"torch can't take {tensor!r}: "
                + ("it has no value while a graph is built (see tf.torch.Layer)." if state.graph else "of that dtype.")
            )
        return alias(tensor.value)
    if type(value) in (list, tuple):
        return type(value)([_as_torch(v) for v in value])
    return value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


def _from_numpy(array: np.ndarray, dtype: str) -> EagerTensor:
    return hooks.convert(array, as_dtype(dtype))


class Reference:
    """A hashable reference to a tensor or variable: equal to another where both refer to the same object."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Returns the tensor or variable."""
        return self._wrapped

    @property
    def unwrapped(self) -> Any:
        """The tensor or variable, as libraries ask for it."""
        return self.deref()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __lt__(self, other: Reference | int) -> bool:
        """Orders references. A nest with references for keys can then be flattened."""
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return id(self._wrapped) < id(other._wrapped)

    def __gt__(self, other: Reference) -> bool:
        return other < self if isinstance(other, Reference) else not self < other

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def eager(value: torch.Tensor) -> EagerTensor:
    """Returns an eager tensor of a torch tensor that nobody else can write to."""
    return EagerTensor(value, FROM_TORCH[value.dtype])


def strings(array: StringArray) -> EagerTensor:
    """Returns an eager string tensor of a `StringArray`, or of a NumPy array of `bytes`."""
    return EagerTensor(array if type(array) is StringArray else StringArray.from_objects(array), string_dtype)


def is_traced(value: torch.Tensor) -> bool:
    """Returns True if a kernel is being traced for a compiler: then tensors have shapes and no values."""
    return type(value) is not torch.Tensor or _is_compiling()


def invalid(message: str) -> Any:
    """Returns TensorFlow's error for an invalid argument: a ValueError while a graph is built."""
    return errors.InvalidArgumentError(None, None, message) if state.graph is None else ValueError(message)


def dtype_error(message: str) -> Any:
    """Returns TensorFlow's error for a tensor of a wrong dtype: a TypeError while a graph is built."""
    return errors.InvalidArgumentError(None, None, message) if state.graph is None else TypeError(message)
