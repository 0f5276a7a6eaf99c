"""The arithmetic of windows that slide over images, for convolution and pooling.

The memory layout of an image of n spatial dimensions is `[batch, ..., channels]` ("NHWC") or `[batch, channels, ...]`
("NCHW"). ATen takes the second. A channels-last image is permuted to it without a copy: ATen knows the view as
`channels_last`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.nn.functional import pad as torch_pad

from tapeflow.core.errors import InvalidArgumentError, OpError, UnimplementedError
from tapeflow.core.ops.by_shapes import by_shapes
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.shape_rules import leave_to_kernel
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, invalid

FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}

# Arguments of public functions: one int for all spatial dimensions, or ints for these or for all dimensions; and the
# name of a padding, or the paddings before and after each dimension.
Ints: TypeAlias = int | Sequence[int]
Padding: TypeAlias = str | Sequence[Sequence[int]]

# From [batch, spatial..., channels] to [batch, channels, spatial...], and back, by rank.
TO_FIRST = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
TO_LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


class Geometry(NamedTuple):
    """The positions of windows along the spatial dimensions.

    Attributes:
        out: the number of windows.
        before, after: the padding on either side.
        size: the length of a window, its gaps counted.
        strides: from a window to the next.
        symmetric: whether the two paddings are the same everywhere.
    """

    out: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    size: tuple[int, ...]
    strides: tuple[int, ...]
    symmetric: bool


def channels_last(data_format: str) -> bool:
    """Tells whether the channels are the last dimension."""
    return data_format[-1] == "C"


def spatial(values: Sequence[Any], data_format: str) -> Any:
    """Selects the values of the spatial dimensions from one value for each dimension."""
    return values[1:-1] if channels_last(data_format) else values[2:]


def check_format(op: str, data_format: str, dims: int) -> None:
    """Raises for a data format that does not exist."""
    if data_format not in FORMATS[dims]:
        raise invalid(
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed values: "
            f'"{FORMATS[dims][0]}", "{FORMATS[dims][1]}" [Op:{op}]'
        )


def length(
    size: int | None, window: int | None, stride: int, dilation: int, padding: str, before: int = 0, after: int = 0
) -> int | None:
    """Counts the windows that fit along a dimension, as TensorFlow's shape functions do; None if it is not static.

    Raises:
        InvalidArgumentError: a step is not positive, or a window is larger than the dimension.
    """
    if stride < 1:
        raise invalid(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise invalid(f"Dilation rate must be >= 1, but got {dilation}")
    if padding == "SAME":
        return None if size is None else -(-size // stride)
    if window == 0 and dilation > 1:
        raise invalid("Negative dimension size caused by subtracting 1 from 0")
    if size is None or window is None:
        return None
    window = (window - 1) * dilation + 1 if dilation > 1 else window
    rest = size + before + after - window
    if rest < 0:
        raise invalid(f"Negative dimension size caused by subtracting {window} from {size + before + after}")
    return rest // stride + 1


@by_shapes(4096)
def window_geometry(
    op: str,
    sizes: tuple[int, ...],
    windows: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str,
    explicit: tuple[int, ...],
    data_format: str,
) -> Geometry:
    """Lays out the windows; all but `sizes` and `windows` are the op's attrs, with a value for each dimension.

    Raises:
        InvalidArgumentError: the op does not take an attr's value.
    """
    dims = len(sizes)
    check_format(op, data_format, dims)
    allowed = ("SAME", "VALID", "EXPLICIT") if dims == 2 else ("SAME", "VALID")
    if padding not in allowed:
        names = ", ".join(f'"{a}"' for a in allowed)
        raise invalid(f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: {names}")
    wrong = UnimplementedError if op in ("Conv2D", "Conv2DBackpropInput") else InvalidArgumentError
    check_steps("strides", strides, dims, data_format, wrong)
    check_steps("dilations", dilations, dims, data_format, wrong)
    strides, dilations = spatial(strides, data_format), spatial(dilations, data_format)
    size = tuple((w - 1) * d + 1 if w else 0 for w, d in zip(windows, dilations, strict=True))
    if padding == "SAME":
        out = tuple(-(-n // s) for n, s in zip(sizes, strides, strict=True))
        total = [  # with steps of 1 it doesn't depend on the size, maybe a symbol of torch
            max(w - 1 if s == 1 else (o - 1) * s + w - n, 0)
            for n, w, s, o in zip(sizes, size, strides, out, strict=True)
        ]
        before = tuple(t // 2 for t in total)
        after = tuple(t - b for t, b in zip(total, before, strict=True))
    else:
        before, after = explicit_padding(explicit, dims, data_format) if padding == "EXPLICIT" else ((0,) * dims,) * 2
        # Divided towards zero as in C++: a window that is too large by less than a stride gives no output.
        rests = [n + b + a - w + s for n, w, s, b, a in zip(sizes, size, strides, before, after, strict=True)]
        out = tuple(rest // s if rest >= 0 else -(-rest // s) for rest, s in zip(rests, strides, strict=True))
        for n, w, s, o in zip(sizes, size, strides, out, strict=True):
            if o < 0:
                raise invalid(
                    f"Computed output size would be negative: {o} [input_size: {n}, effective_filter_size: {w}, "
                    f"stride: {s}]"
                )
    symmetric = all(type(b) is int and type(a) is int and b == a for b, a in zip(before, after, strict=True))
    return Geometry(out, before, after, size, strides, symmetric)


def check_steps(kind: str, values: tuple[int, ...], dims: int, data_format: str, error: type[OpError]) -> None:
    """Raises for strides or dilations that are not positive, or, `error`, touch the batch or the channels."""
    if len(values) != dims + 2:
        raise invalid(f"Sliding window {kind} field must specify {dims + 2} dimensions, not {list(values)}")
    check_32_bits(kind, values)
    if any(v <= 0 for v in values):
        problem = "Stride must be > 0, but got" if kind == "strides" else "Dilated rates should be larger than 0, not"
        raise invalid(f"{problem} {next(v for v in values if v <= 0)}")
    others = (values[0], values[-1]) if channels_last(data_format) else values[:2]
    if others != (1, 1):
        wrong = f"Current implementation does not yet support {kind} in the batch and depth dimensions: {list(values)}"
        leave_to_kernel(wrong, error)


def check_32_bits(kind: str, values: Sequence[int]) -> None:
    """Raises for a value of an attr that needs more than 32 bits."""
    if max(values) >= 2**31:
        raise invalid(f"Attr {kind} has value {max(values)} out of range for an int32")


def explicit_padding(explicit: Sequence[int], dims: int, data_format: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the spatial paddings before and after, from the attr's flat list."""
    if len(explicit) != 2 * (dims + 2):
        raise invalid(f"explicit_paddings attribute must contain {2 * (dims + 2)} values, but got: {len(explicit)}")
    if any(p < 0 for p in explicit):
        raise invalid(f"All elements of explicit_paddings must be nonnegative: {list(explicit)}")
    before, after = tuple(explicit[::2]), tuple(explicit[1::2])
    others = [0, -1] if channels_last(data_format) else [0, 1]
    if any(before[i] or after[i] for i in others):
        raise invalid("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return spatial(before, data_format), spatial(after, data_format)


# ---- arguments of public functions -----------------------------------------------------------------------------------


def check_channels_last(data_format: str) -> None:
    """Raises ValueError for images whose channels are not the last dimension."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )


def channels_last_of_sequences(data_format: str) -> bool:
    """Tells whether the channels of sequences are the last dimension.

    Raises:
        ValueError: there is no such data format.
    """
    if data_format not in ("NWC", "NHWC", "NCW", "NCHW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
    return channels_last(data_format)


def per_dimension(value: TensorLike | None, dims: int, last: bool, parameter: str) -> tuple[int, ...]:
    """Expands an int, or a list for all or the spatial dimensions, to one value for each dimension.

    Raises:
        TypeError: it is a scalar tensor.
        ValueError: the list has another length.
    """
    if type(value) is int:
        return _one_for_all(value, dims, last)
    if value is None:
        return (1,) * (dims + 2)
    if type(value) is not tuple:
        if isinstance(value, SymbolicTensor):
            value = tuple(value)  # says that it can't be iterated over
        if isinstance(value, ReadAsTensor) or hasattr(type(value), "__tf_dispatch__"):  # they have no length
            raise TypeError(f"Expected int for argument '{parameter}' not {value!r}.")
        if hasattr(value, "__iter__") and getattr(value, "ndim", None) == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        value = tuple(value) if isinstance(value, (str, bytes)) else host_value(value)
        value = value if isinstance(value, tuple) else (value,)
    if len(value) == dims + 2:
        return value
    if len(value) == 1:
        return _one_for_all(value[0], dims, last)
    if len(value) != dims:
        raise ValueError(
            f"{parameter} should be of length 1, {dims} or {dims + 2}. "
            f"Received: {parameter}={value} of length {len(value)}"
        )
    return (1, *value, 1) if last else (1, 1, *value)


@functools.lru_cache(256)
def _one_for_all(value: int, dims: int, last: bool) -> tuple[int, ...]:
    return (1, *[value] * dims, 1) if last else (1, 1, *[value] * dims)


def flat(values: tuple[int, ...], last: bool) -> tuple[int, ...]:
    """Extends an attr of a 1-D window to the image of height 1 that stands for the sequence."""
    return (values[0], 1, *values[1:]) if last else (*values[:2], 1, values[2])


def padding_attrs(padding: Padding) -> tuple[Any, tuple[int, ...]]:
    """Converts a public `padding` argument to the attrs `padding` and `explicit_paddings`.

    Raises:
        ValueError: it is "EXPLICIT", or a list of the wrong form.
    """
    if type(padding) is str and padding != "EXPLICIT":
        return padding, ()
    if padding == "EXPLICIT":
        raise ValueError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, ()
    pairs = host_value(padding)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError(
            "When `padding` is a list, each element of `padding` must be a list/tuple of size 2. Received: "
            f"padding={padding}"
        )
    if len(pairs) != 4:
        raise ValueError(
            f"When `padding` is a list, it must be of size 4. Received: padding={padding} of size {len(pairs)}"
        )
    return "EXPLICIT", tuple([p for pair in pairs for p in pair])


def rank_of(x: Any) -> int | None:
    """Returns the rank of a value, without creating a `TensorShape` if possible."""
    if type(x) is EagerTensor:
        return len(x.value.shape)
    if not hasattr(x, "shape"):
        x = convert(x)
    return x.shape.rank if isinstance(x.shape, TensorShape) else len(x.shape)


# ---- images in kernels -----------------------------------------------------------------------------------------------


def pad_image(x: torch.Tensor, geometry: Geometry, value: float = 0) -> torch.Tensor:
    """Pads an image in ATen's layout."""
    amounts: list[int] = []
    for b, a in zip(geometry.before[::-1], geometry.after[::-1], strict=True):
        amounts += [b, a]
    return torch_pad(x, amounts, value=value)


def padded_sizes(sizes: Sequence[int], geometry: Geometry, last: bool) -> tuple[int, ...]:
    """Returns the shape of an image of these sizes with its padding, with channels last or not."""
    places = zip(geometry.before, sizes[1:-1] if last else sizes[2:], geometry.after, strict=True)
    outer = [before + n + after for before, n, after in places]
    return (sizes[0], *outer, sizes[-1]) if last else (sizes[0], sizes[1], *outer)


def unpad_image(x: torch.Tensor, geometry: Geometry, sizes: Sequence[int]) -> torch.Tensor:
    """Removes the padding that `pad_image` added to an image in ATen's layout."""
    for i, (b, n) in enumerate(zip(geometry.before, sizes, strict=True)):
        x = x.narrow(i + 2, b, n)
    return x


def window_rule(
    x: TensorShape, windows: Sequence[int | None], channels: int | None, attrs: Sequence[Any]
) -> TensorShape:
    """Infers the shape of the result of windows over `x`, with dimensions that may be unknown.

    Raises:
        InvalidArgumentError: a window is larger than `x`. An eager op returns no elements then, as in TensorFlow.
    """
    strides, dilations, padding, explicit, data_format = attrs
    dims = len(windows)
    for name, values in (("strides", strides), ("dilations", dilations)):
        if len(values) != dims + 2:
            raise invalid(f"The attr {name} must contain {dims + 2} values, but got: {len(values)}")
    x = x.with_rank(dims + 2)
    before, after = explicit_padding(explicit, dims, data_format) if padding == "EXPLICIT" else ((0,) * dims,) * 2
    inner = [spatial(values, data_format) for values in (x.as_list(), strides, dilations)]
    out = [length(n, window, stride, dilation, padding, b, a)
           for n, stride, dilation, window, b, a in zip(*inner, windows, before, after, strict=True)]  # fmt: skip
    return TensorShape([x[0], *out, channels] if channels_last(data_format) else [x[0], channels, *out])


def without_explicit(function: Callable[..., Any], *leading: Any, behind: int) -> Callable[..., Any]:
    """Returns a kernel or rule of an op that has no explicit paddings, and as many attrs behind them."""

    def call(*args: Any) -> Any:
        return function(*leading, *args[:-behind], (), *args[-behind:])

    return call


def text_only(padding: np.generic | str) -> str:
    """Checks the padding of an op that takes no pairs of numbers.

    Raises:
        TypeError: it is not a string.
    """
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    return padding
