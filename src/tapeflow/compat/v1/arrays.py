"""Functions of the top level whose parameters were others in TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import tapeflow as tf
from tapeflow.compat.v1.renamed import either, required
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import as_dtype, bfloat16, complex64, complex128, float32, float64, int32, int64
from tapeflow.core.tensor import Tensor

# ---- making tensors --------------------------------------------------------------------------------------------------


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Any:
    """A constant. In a graph, the last of a list of values fills what is left of a larger `shape`.

    Args:
        verify_shape: refuses values of another shape.

    Raises:
        TypeError: the values do not fit the shape.

    Example:
        >>> with tf.Graph().as_default():
        ...     c = tf.compat.v1.constant([1, 2], shape=[3])
        >>> tf.get_static_value(c).tolist()
        [1, 2, 2]
    """
    if shape is None or state.graph is None or isinstance(value, Tensor):
        return tf.constant(value, dtype, shape, name)
    try:
        proto = tf.make_tensor_proto(value, None if dtype is None else as_dtype(dtype), shape, verify_shape)
    except ValueError as error:
        raise TypeError(str(error)) from None
    return tf.constant(tf.make_ndarray(proto), as_dtype(proto.dtype), name=name)


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None
) -> Any:
    """The tensor of a value, see `tf.convert_to_tensor`; `preferred_dtype` is the old name of `dtype_hint`."""
    return tf.convert_to_tensor(
        value, dtype, either("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype), name
    )


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Zeros of a tensor's shape, see `tf.zeros_like`."""
    return tf.zeros_like(tensor, dtype, name)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Ones of a tensor's shape, see `tf.ones_like`."""
    return tf.ones_like(tensor, dtype, name)


def shape(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """The shape of a tensor, see `tf.shape`."""
    return tf.shape(input, int32 if out_type is None else as_dtype(out_type), name)


def size(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """The number of elements, see `tf.size`."""
    return tf.size(input, int32 if out_type is None else as_dtype(out_type), name)


# ---- arranging -------------------------------------------------------------------------------------------------------


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """A tensor without dimensions of length 1, see `tf.squeeze`; `squeeze_dims` is the old name of `axis`.

    Example:
        >>> tf.compat.v1.squeeze([[[1], [2]]], squeeze_dims=[2]).shape
        TensorShape([1, 2])
    """
    return tf.squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims), name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """A tensor with one more dimension of length 1, see `tf.expand_dims`; `dim` is the old name of `axis`.

    Raises:
        ValueError: neither is given, or both.

    Example:
        >>> tf.compat.v1.expand_dims([1, 2], dim=0).shape
        TensorShape([1, 2])
    """
    return tf.expand_dims(input, required("axis", either("axis", axis, "dim", dim)), name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """A tensor with its dimensions in another order, see `tf.transpose`."""
    return tf.transpose(a, perm, conjugate, name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Any:
    """A tensor with elements around it, see `tf.pad`."""
    return tf.pad(tensor, paddings, mode, constant_values, name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where a condition holds and `y` elsewhere; without these, where it holds.

    Args:
        condition: of the shape of `x` and `y`, or a vector that chooses whole rows of them.
        x, y: of one shape.

    Raises:
        ValueError: only one of them is given.

    Example:
        >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy().tolist()
        [[1, 2], [7, 8]]
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    condition = convert(condition, tf.bool)
    if x is not None:
        x = convert(x)
        rank = x.shape.rank
        if condition.shape.rank == 1 and rank is not None and rank > 1:
            condition = tf.reshape(condition, [-1] + [1] * (rank - 1))
        return tf.where(condition, x, convert(y, x.dtype), name)
    return tf.where(condition, name=name)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """Slices by their indices, see `tf.gather`."""
    return tf.gather(params, indices, axis=axis, batch_dims=batch_dims, name=name)


def gather_nd(
    params: Any, indices: Any, name: str | None = None, batch_dims: int = 0, bad_indices_policy: str = ""
) -> Any:
    """Slices by the indices of several dimensions, see `tf.gather_nd`."""
    return tf.gather_nd(params, indices, batch_dims, name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """`tf.gather` for each entry of the leading dimensions.

    Example:
        >>> tf.compat.v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]).numpy().tolist()
        [[2], [3]]
    """
    indices = convert(indices)
    return tf.gather(params, indices, batch_dims=(indices.shape.rank or 1) - 1, name=name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Any:
    """The elements where a mask holds, see `tf.boolean_mask`."""
    return tf.boolean_mask(tensor, mask, axis, name)


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None,
    seq_dim: Any = None, batch_dim: Any = None,
) -> Any:  # fmt: skip
    """A batch of sequences, each turned around, see `tf.reverse_sequence`."""
    over = either("seq_axis", seq_axis, "seq_dim", seq_dim)
    return tf.reverse_sequence(input, seq_lengths, over, either("batch_axis", batch_axis, "batch_dim", batch_dim), name)


def batch_to_space(input: Any, crops: Any, block_size: Any, name: str | None = None, block_shape: Any = None) -> Any:
    """Blocks of the batch into space, see `tf.batch_to_space`."""
    block = either("block_shape", block_shape, "block_size", block_size)
    return tf.batch_to_space(input, [block, block] if isinstance(block, int) else block, crops, name)


def space_to_batch(
    input: Any, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """Blocks of space into the batch, see `tf.space_to_batch`."""
    block = required("block_shape", either("block_shape", block_shape, "block_size", block_size))
    return tf.space_to_batch(input, [block, block] if isinstance(block, int) else block, paddings, name)


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Blocks of space into depth, see `tf.nn.space_to_depth`."""
    return tf.nn.space_to_depth(input, block_size, data_format, name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Depth into blocks of space, see `tf.nn.depth_to_space`."""
    return tf.nn.depth_to_space(input, block_size, data_format, name)


class ListDiff(NamedTuple):
    """What `setdiff1d` gives."""

    out: Any
    idx: Any


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """The elements of `x` that are not in `y`, and where they are.

    Example:
        >>> [t.numpy().tolist() for t in tf.compat.v1.setdiff1d([1, 2, 3], [2])]
        [[1, 3], [0, 2]]
    """
    x = convert(x)
    kept = tf.logical_not(tf.reduce_any(tf.equal(tf.expand_dims(x, 1), tf.expand_dims(convert(y, x.dtype), 0)), 1))
    at = tf.reshape(tf.where(kept), [-1])
    return ListDiff(tf.gather(x, at), tf.cast(at, index_dtype))


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient as Python 2 has it: rounded down for integers.

    Example:
        >>> tf.compat.v1.div(7, 2).numpy().item(), tf.compat.v1.div(7.0, 2.0).numpy().item()
        (3, 3.5)
    """
    x = convert(x)
    y = convert(y, x.dtype)
    return tf.math.floordiv(x, y, name) if x.dtype.is_integer else tf.realdiv(x, y, name)


def floor_div(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient, rounded down.

    Example:
        >>> tf.compat.v1.floor_div(-7, 2).numpy().item()
        -4
    """
    return tf.math.floordiv(x, y, name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A tensor (or `tf.IndexedSlices`) times a scalar, see `tf.scalar_mul`."""
    return tf.scalar_mul(scalar, x, name)


def _to(dtype: Any, label: str) -> Callable[..., Any]:
    def cast(x: Any, name: str = label) -> Any:
        return tf.cast(x, dtype, name)

    cast.__name__ = cast.__qualname__ = f"to_{dtype.name.replace('float64', 'double').replace('float32', 'float')}"
    cast.__doc__ = f"A tensor as `tf.{dtype.name}`, see `tf.cast`."
    return cast


to_bfloat16, to_complex64, to_complex128 = (
    _to(bfloat16, "ToBFloat16"),
    _to(complex64, "ToComplex64"),
    _to(complex128, "ToComplex128"),
)
to_double, to_float, to_int32, to_int64 = (
    _to(float64, "ToDouble"),
    _to(float32, "ToFloat"),
    _to(int32, "ToInt32"),
    _to(int64, "ToInt64"),
)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """A tensor scaled so that its norm, divided by its number of elements, is at most `clip_norm`.

    Example:
        >>> tf.compat.v1.clip_by_average_norm([3.0, 4.0], 1.25).numpy().tolist()
        [1.5, 2.0]
    """
    t = convert(t)
    count = tf.cast(tf.size(t), t.dtype)
    inverse = tf.math.rsqrt(tf.reduce_sum(t * t))
    return tf.identity(t * clip_norm * tf.minimum(inverse * count, 1.0 / convert(clip_norm, t.dtype)), name=name)


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = int32) -> Any:
    """How often each number occurs, see `tf.math.bincount`."""
    return tf.math.bincount(arr, weights, minlength, maxlength, as_dtype(dtype))


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """How often each label was predicted as each, see `tf.math.confusion_matrix`."""
    return tf.math.confusion_matrix(labels, predictions, num_classes, weights, as_dtype(dtype), name)


# ---- random numbers --------------------------------------------------------------------------------------------------


def set_random_seed(seed: int) -> None:
    """Sets the seed of the default graph, and of eager ops: see `tf.random.set_seed`."""
    tf.random.set_seed(seed)


def multinomial(
    logits: Any, num_samples: Any, seed: Any = None, name: str | None = None, output_dtype: Any = None
) -> Any:
    """Draws from categorical distributions, see `tf.random.categorical`."""
    return tf.random.categorical(logits, num_samples, int64 if output_dtype is None else output_dtype, seed, name)


def random_poisson(lam: Any, shape: Any, dtype: Any = float32, seed: Any = None, name: str | None = None) -> Any:
    """Draws from Poisson distributions, see `tf.random.poisson`."""
    return tf.random.poisson(shape, lam, dtype, seed, name)


# ---- control flow ----------------------------------------------------------------------------------------------------


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None,
    fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """What one of two functions gives, see `tf.cond`; `fn1` and `fn2` are the old names of the functions.

    Args:
        strict: gives lists of one element as they are, and not their element.

    Raises:
        TypeError: a function is missing.
    """
    first, second = either("true_fn", true_fn, "fn1", fn1), either("false_fn", false_fn, "fn2", fn2)
    for label, function in (("true_fn", first), ("false_fn", second)):
        if not callable(function):
            raise TypeError(f"cond(): '{label}' argument required")
    found = tf.cond(pred, first, second, name)
    return found if strict or not isinstance(found, (list, tuple)) or len(found) != 1 else found[0]


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """What the function of the first true predicate gives, see `tf.case`."""
    return tf.case(
        list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else pred_fn_pairs,
        default,
        exclusive,
        strict,
        name,
    )


def _packed(result: Any) -> Any:
    """What the body of a loop gave, which for one loop variable may be that alone."""
    return result if isinstance(result, (list, tuple)) else [result]


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Calls `body` on the loop variables as long as `cond` gives true, see `tf.while_loop`.

    Args:
        return_same_structure: gives a list also for a single loop variable.
    """
    found = tf.while_loop(
        cond,
        lambda *args: _packed(body(*args)),
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        maximum_iterations,
        name,
    )
    single = isinstance(found, (list, tuple)) and len(found) == 1 and not return_same_structure
    return found[0] if single else found


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """A function of each element, see `tf.map_fn`."""
    signature = either("fn_output_signature", fn_output_signature, "dtype", dtype)
    return tf.map_fn(fn, elems, None, parallel_iterations, back_prop, swap_memory, infer_shape, name, signature)


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """A function of what came before and each element, see `tf.scan`."""
    return tf.scan(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, infer_shape, reverse, name)


def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """A function of what came before and each element, first to last, see `tf.foldl`."""
    return tf.foldl(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """A function of what came before and each element, last to first, see `tf.foldr`."""
    return tf.foldr(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def tuple_(tensors: Any, name: str | None = None, control_inputs: Any = None) -> Any:
    """Tensors that are there only when all of them are, see `tf.tuple`."""
    return tf.tuple(tensors, control_inputs, name)


def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """A Python function of NumPy arrays, see `tf.numpy_function`.

    Example:
        >>> tf.compat.v1.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32).numpy().item()
        2.0
    """
    return tf.numpy_function(func, inp, Tout, stateful, name)


def Print(
    input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """A tensor that prints others when it is computed.

    Args:
        data: the tensors to print.
        message: what to print before them.
        first_n: prints that often only.
        summarize: how many elements of each to print.
    """
    left = -1 if first_n is None else first_n

    def show(*values: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            tf.print((message or "") + "".join([_elements(v, summarize or 3) for v in values]))
        return np.int32(0)

    tensor = convert(input_)
    with tf.control_dependencies([tf.numpy_function(show, list(data), int32)]):
        return tf.identity(tensor, name=name)


def _elements(value: Any, count: int) -> str:
    """The first elements of an array as TensorFlow 1 printed them: `[1 2 3...]`."""
    flat = np.asarray(value).reshape(-1)
    more = "..." if 0 <= count < flat.size else ""
    return f"[{' '.join(map(str, flat[:count] if count >= 0 else flat))}{more}]"


# ---- gradients -------------------------------------------------------------------------------------------------------


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = tf.UnconnectedGradients.NONE,
) -> Any:  # fmt: skip
    """The gradients of the sum of `ys`, as tensors of the graph that is being built, see `tf.gradients`."""
    return tf.gradients(
        ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients
    )


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> Any:  # fmt: skip
    """The second derivatives of the sum of `ys`, as tensors of the graph that is being built, see `tf.hessians`."""
    return tf.hessians(ys, xs, gate_gradients, aggregation_method, name)
