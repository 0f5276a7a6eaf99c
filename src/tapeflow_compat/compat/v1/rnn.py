"""Recurrent networks as TensorFlow 1 has them: a cell applied to each step of a sequence.

A cell is any object that can be called with an input and a state and gives an output and the next state, and that has
`output_size`, `state_size`, and `zero_state(batch_size, dtype)` or `get_initial_state(inputs, batch_size, dtype)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, stack, unstack
from tapeflow.array.creation import constant, zeros
from tapeflow.array.gathers import gather
from tapeflow.array.identities import identity
from tapeflow.array.masks import where
from tapeflow.array.padding import reverse, reverse_sequence
from tapeflow.array.properties import ensure_shape, shape
from tapeflow.array.reshapes import reshape, transpose
from tapeflow.control.conditions_and_loops import while_loop
from tapeflow.control.tensor_array import TensorArray
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater_equal, less, logical_not, logical_or
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_all, reduce_max
from tapeflow_compat.compat.v1.variable_scopes import variable_scope


def _check_cell(name: str, cell: Any) -> None:
    """Checks that an object is a cell.

    Raises:
        TypeError: it is none.
    """
    missing = [
        problem
        for problem, satisfied in (
            ("'output_size' property is missing", hasattr(cell, "output_size")),
            ("'state_size' property is missing", hasattr(cell, "state_size")),
            (
                "either 'zero_state' or 'get_initial_state' method is required",
                hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state"),
            ),
            ("is not callable", callable(cell)),
        )
        if not satisfied
    ]
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def _beginning(cell: Any, initial_state: Any, batch_size: TensorLike, dtype: DTypeLike) -> Any:
    """Returns the state that a sequence begins with."""
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _dtype_of(dtype: DTypeLike, state: Any) -> Any:
    """Returns the dtype of outputs: the one specified, or the state's.

    Raises:
        ValueError: the state has several.
    """
    if dtype is not None:
        return as_dtype(dtype)
    dtypes = [t.dtype for t in nest.flatten(state)]
    if not dtypes or any(d != dtypes[0] for d in dtypes):
        raise ValueError(f"Unable to infer a single representative dtype of the state: it has {dtypes}")
    return dtypes[0]


def _sizes(size: Any) -> list[int]:
    return TensorShape([size] if isinstance(size, int) else size).as_list()


def _zeros(batch_size: TensorLike, sizes: Any, dtype: DTypeLike) -> Any:
    """Outputs of zeros, in the structure of a cell's sizes."""
    return nest.map_structure(lambda size: zeros([batch_size, *_sizes(size)], dtype), sizes)


def _lengths(sequence_length: Any) -> Tensor | None:
    """Returns the lengths of the sequences of a batch, as an int32 vector.

    Raises:
        ValueError: they are no vector.
    """
    if sequence_length is None:
        return None
    lengths = cast(convert(sequence_length), int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError(
            "Argument sequence_length must be a vector of length batch_size. Received sequence_length="
            f"{sequence_length} of shape: {lengths.shape}"
        )
    return lengths


def _select_running(ended: Any, before: Any, after: Any) -> Any:
    """Selects the old values for the examples of a batch that have ended, and the new ones for the others."""

    def choose(old: Any, new: Any) -> Any:
        if isinstance(new, TensorArray) or old.shape.rank == 0:
            return new
        condition = reshape(ended, [-1] + [1] * (new.shape.rank - 1))
        return ensure_shape(where(condition, old, new), new.shape)

    return nest.map_structure(choose, before, after)


def _step(cell: Any, inputs: Any, state: Any, time: Any, lengths: Any, zero_output: Any) -> tuple[Any, Any]:
    """Computes the output and the next state; zeros and the last state for sequences that have ended."""
    output, next_state = cell(inputs, state)
    if lengths is None:
        return output, next_state
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, next_state)
    ended = greater_equal(time, lengths)
    return _select_running(ended, zero_output, output), _select_running(ended, state, next_state)


def _transposed(tensor: Any) -> Any:
    """Time before batch, or the other way round."""
    rank = tensor.shape.rank
    return tensor if rank is not None and rank < 2 else transpose(tensor, [1, 0, *range(2, rank)])


# ---- dynamic ---------------------------------------------------------------------------------------------------------


def dynamic_rnn(
    cell: Any,
    inputs: TensorLike,
    sequence_length: int | None = None,
    initial_state: Any = None,
    dtype: DTypeLike = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Applies a cell to every step of sequences, in a loop of the graph.

    Args:
        cell: the cell.
        inputs: a tensor of shape `[batch, time, ...]`, or a nest of such tensors.
        sequence_length: an integer vector, the length of each sequence. Later outputs are zeros, and the state stays
            unchanged.
        initial_state: the state to begin with; by default the cell's.
        dtype: of the initial state, if that is not specified, and of the outputs.
        parallel_iterations, swap_memory: accepted, and without effect.
        time_major: inputs and outputs are of shape `[time, batch, ...]`.
        scope: the variable scope of the cell's variables; by default "rnn".

    Returns:
        The outputs, of shape `[batch, time, ...]` in the structure of `cell.output_size`, and the last state.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: there is no state and no dtype, or the sizes of the inputs are not static.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     steps = tf.constant([[[1.0], [2.0], [3.0]]])
        ...     outputs, state = tf.compat.v1.nn.dynamic_rnn(Sum(), steps, dtype=tf.float32)
        ...     print(sess.run(outputs).ravel(), sess.run(state))
        [1. 3. 6.] [[6.]]
    """
    _check_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = [convert(t) for t in nest.flatten(inputs)]
        if not time_major:
            flat = [_transposed(t) for t in flat]
        _check_steps(flat)
        lengths = _lengths(sequence_length)
        batch_size = flat[0].shape[1]
        batch_size = shape(flat[0])[1] if batch_size is None else batch_size
        state = nest.map_structure(convert, _beginning(cell, initial_state, batch_size, dtype))
        outputs, last = _loop(cell, nest.pack_sequence_as(inputs, flat), flat, state, lengths, batch_size, dtype)
        return outputs if time_major else nest.map_structure(_transposed, outputs), last


def _check_steps(inputs: Sequence[Any]) -> None:
    for tensor in inputs:
        if tensor.shape.rank is not None and tensor.shape.rank < 3:
            raise ValueError(f"Shape {tensor.shape} must have rank at least 3")
        if tensor.shape.rank is None or not tensor.shape[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None for "
                f"input={tensor}."
            )
        for label, i in (("Time steps", 0), ("Batch_size", 1)):
            if tensor.shape[i] != inputs[0].shape[i]:
                raise ValueError(
                    f"{label} is not the same for all the elements in the input: {tensor.shape[i]} for input={tensor}."
                )


def _loop(
    cell: Any, inputs: Any, flat: Sequence[Any], state: Any, lengths: Any, batch_size: TensorLike, dtype: DTypeLike
) -> tuple[Any, Any]:
    """Returns the outputs of a cell, by time, and its last state."""
    out_dtype = _dtype_of(dtype, state)
    zero_output = _zeros(batch_size, cell.output_size, out_dtype) if lengths is not None else None
    steps = shape(flat[0])[0]
    batch = flat[0].shape[1]
    sizes = [TensorShape([batch, *_sizes(size)]) for size in nest.flatten(cell.output_size)]
    arrays = tuple(TensorArray(out_dtype, steps, element_shape=size) for size in sizes)

    def body(time: Any, arrays: Any, state: Any) -> Any:
        now = nest.pack_sequence_as(inputs, [gather(t, time) for t in flat])
        output, following = _step(cell, now, state, time, lengths, zero_output)
        written = tuple(a.write(time, o) for a, o in zip(arrays, nest.flatten(output), strict=True))
        return time + 1, written, following

    last = steps if lengths is None else minimum(maximum(reduce_max(lengths), 1), steps)
    _, arrays, state = while_loop(lambda time, *_: less(time, last), body, (constant(0), arrays, state))
    outputs = [_stacked(a, size, flat[0].shape[0]) for a, size in zip(arrays, sizes, strict=True)]
    return nest.pack_sequence_as(cell.output_size, outputs), state


def _stacked(array: Any, size: TensorShape, steps: int | None) -> Any:
    return ensure_shape(array.stack(), TensorShape([steps]).concatenate(size))


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Applies a cell to every step of sequences, and another one from their ends to their beginnings.

    Args:
        cell_fw, cell_bw: the cells.
        initial_state_fw, initial_state_bw: the states to begin with; by default the cells'.
        inputs, sequence_length, dtype, parallel_iterations, swap_memory, time_major: see `dynamic_rnn`.
        scope: the variable scope; by default "bidirectional_rnn". The cells have "fw" and "bw" within.

    Returns:
        Two pairs: of the outputs, both in the order of the inputs, and of the last states.

    Raises:
        TypeError, ValueError: see `dynamic_rnn`.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     steps = tf.constant([[[1.0], [2.0], [3.0]]])
        ...     outputs, states = tf.compat.v1.nn.bidirectional_dynamic_rnn(Sum(), Sum(), steps, dtype=tf.float32)
        ...     print(*[o.ravel() for o in sess.run(outputs)])
        [1. 3. 6.] [6. 5. 3.]
    """
    _check_cell("cell_fw", cell_fw)
    _check_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def backwards(tensor: TensorLike) -> Any:
        if sequence_length is None:
            return reverse(tensor, [time_axis])
        return reverse_sequence(tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    def run(cell: Any, inputs: Any, state: Any, scope: Any) -> Any:
        return dynamic_rnn(cell, inputs, sequence_length, state, dtype, time_major=time_major, scope=scope)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            output_fw, state_fw = run(cell_fw, inputs, initial_state_fw, fw)
        with variable_scope("bw") as bw:
            output_bw, state_bw = run(cell_bw, nest.map_structure(backwards, inputs), initial_state_bw, bw)
    return (output_fw, nest.map_structure(backwards, output_bw)), (state_fw, state_bw)


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Applies a cell repeatedly, to the inputs that a function computes from its outputs.

    Args:
        cell: the cell.
        loop_fn: called with the number of the step, the cell's output and state, and a state of its own; with None for
            the last three before the first step. It gives whether each sequence has ended (a boolean vector), the next
            input, the next state of the cell, the value to emit, and its own next state. At first it gives, as the
            value to emit, tensors with the structure, shapes and dtypes of one example's value, or None for the
            cell's output.
        parallel_iterations, swap_memory: accepted, and without effect.
        scope: the variable scope of the cell's variables; by default "rnn".

    Returns:
        The emitted values, as `tf.TensorArray`s in their structure, the cell's last state, and `loop_fn`'s last state.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` no function.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> def doubling(time, output, state, loop_state):
        ...     first = output is None
        ...     ended = tf.reshape(time >= 3, [1])
        ...     return (ended, tf.ones([1, 1]) if first else output, tf.zeros([1, 1]) if first else state,
        ...             output, None)
        >>> outputs, state, _ = tf.compat.v1.nn.raw_rnn(Sum(), doubling)
        >>> outputs.stack().numpy().ravel().tolist()
        [1.0, 2.0, 4.0]
    """
    _check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.")
    with variable_scope(scope or "rnn"):
        time = constant(0)
        ended, inputs, state, emitted, loop_state = loop_fn(time, None, None, None)
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert, state)
        first = nest.flatten(inputs)[0]
        batch = first.shape[0]
        batch_size = shape(first)[0] if batch is None else batch
        if emitted is None:
            dtype = nest.flatten(state)[0].dtype
            zero = _zeros(batch_size, cell.output_size, dtype)
        else:
            zero = nest.map_structure(lambda t: zeros(concat([[batch_size], shape(t)], 0), t.dtype), emitted)
        arrays = nest.map_structure(lambda t: TensorArray(t.dtype, 0, dynamic_size=True, element_shape=t.shape), zero)

        def body(time: Any, ended: Any, inputs: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
            output, next_state = cell(inputs, state)
            ends, inputs, next_state, emit, next_loop_state = loop_fn(time + 1, output, next_state, loop_state)
            nest.assert_same_structure(state, next_state)
            written = nest.map_structure(lambda a, t: a.write(time, t), arrays, _select_running(ended, zero, emit))
            loop_state = loop_state if next_loop_state is None else next_loop_state
            next_state = _select_running(ended, state, next_state)
            return time + 1, logical_or(ended, ends), inputs, written, next_state, loop_state

        begin = (time, ended, inputs, arrays, state, time if loop_state is None else loop_state)
        results = while_loop(lambda _, ended, *rest: logical_not(reduce_all(ended)), body, begin)
        return results[3], results[4], None if loop_state is None else results[5]


# ---- unrolled --------------------------------------------------------------------------------------------------------


def _check_list(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: DTypeLike = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Applies a cell to each of a list of inputs, one after the other.

    Args:
        cell: the cell.
        inputs: tensors of shape `[batch, ...]`, or nests of them, one for each step.
        initial_state, dtype, sequence_length, scope: see `dynamic_rnn`.

    Returns:
        A list of the outputs, and the last state.

    Raises:
        TypeError: `cell` is no cell, or `inputs` no list.
        ValueError: there are no inputs, or there is no state and no dtype.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> steps = [tf.constant([[1.0]]), tf.constant([[2.0]])]
        >>> outputs, state = tf.compat.v1.nn.static_rnn(Sum(), steps, dtype=tf.float32)
        >>> [o.numpy().item() for o in outputs]
        [1.0, 3.0]
    """
    _check_cell("cell", cell)
    _check_list(inputs)
    with variable_scope(scope or "rnn") as opened:
        first = convert(nest.flatten(inputs)[0])
        batch_size = shape(first)[0] if first.shape[0] is None else first.shape[0]
        state = _beginning(cell, initial_state, batch_size, dtype)
        lengths = _lengths(sequence_length)
        zero_output = None
        if lengths is not None:
            zero_output = _zeros(batch_size, cell.output_size, _dtype_of(dtype, state))
        outputs = []
        for time, now in enumerate(inputs):
            if time:
                opened.reuse_variables()
            output, state = _step(cell, now, state, time, lengths, zero_output)
            outputs.append(output)
        return outputs, state


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: TensorLike | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Does the same as `static_rnn`, with a state that goes on from one run to the next.

    Args:
        state_saver: has `state(name)`, which gives a state, and `save_state(name, value)`, which keeps it.
        state_name: the state's name, in the structure of `cell.state_size`.
        cell, inputs, sequence_length, scope: see `static_rnn`.

    Returns:
        As `static_rnn`; the last output and the state come after the state was saved.

    Raises:
        TypeError: `cell` is no cell, or `inputs` no list.
        ValueError: `state_name` has another structure than the state, or there are no inputs.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> class Saver:
        ...     def __init__(self):
        ...         self.held = tf.Variable(tf.zeros([1, 1]))
        ...     def state(self, name):
        ...         return self.held.read_value()
        ...     def save_state(self, name, value):
        ...         return self.held.assign(value)
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     outputs, _ = tf.compat.v1.nn.static_state_saving_rnn(Sum(), [tf.ones([1, 1])], Saver(), "sum")
        ...     sess.run(tf.compat.v1.global_variables_initializer())
        ...     print(sess.run(outputs[-1]), sess.run(outputs[-1]))
        [[1.]] [[2.]]
    """
    several, named = nest.is_nested(cell.state_size), nest.is_nested(state_name)
    if several != named:
        raise ValueError(
            f"Argument `state_name` should be the same type as `cell.state_size`. Received: state_name={state_name}, "
            f"cell.state_size={cell.state_size}."
        )
    names = nest.flatten(state_name)
    if several and len(names) != len(nest.flatten(cell.state_size)):
        raise ValueError(
            "Number of elements in argument `state_name` and `cell.state_size` are mismatched. Received state_name="
            f"{state_name} with {len(names)} elements and cell.state_size={cell.state_size}."
        )
    states = [state_saver.state(name) for name in names]
    begin = nest.pack_sequence_as(cell.state_size, states) if several else states[0]
    outputs, state = static_rnn(cell, inputs, begin, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(n, s) for n, s in zip(names, nest.flatten(state), strict=True)]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        return outputs, nest.map_structure(identity, state)


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Applies a cell to each of a list of inputs, and another one to them from the last to the first.

    Args:
        cell_fw, cell_bw: the cells.
        initial_state_fw, initial_state_bw: the states to begin with; by default the cells'.
        inputs, dtype, sequence_length: see `static_rnn`.
        scope: the variable scope; by default "bidirectional_rnn". The cells have "fw" and "bw" within.

    Returns:
        A list of the outputs of both, joined along their dimension 1, and the last state of each.

    Raises:
        TypeError: a cell is none, or `inputs` is no list.
        ValueError: there are no inputs, or there is no state and no dtype.

    Example:
        >>> class Sum:
        ...     state_size = output_size = 1
        ...     def zero_state(self, batch_size, dtype):
        ...         return tf.zeros([batch_size, 1], dtype)
        ...     def __call__(self, inputs, state):
        ...         return state + inputs, state + inputs
        >>> steps = [tf.constant([[1.0]]), tf.constant([[2.0]])]
        >>> outputs, *_ = tf.compat.v1.nn.static_bidirectional_rnn(Sum(), Sum(), steps, dtype=tf.float32)
        >>> [o.numpy().tolist() for o in outputs]
        [[[1.0, 3.0]], [[3.0, 2.0]]]
    """
    _check_cell("cell_fw", cell_fw)
    _check_cell("cell_bw", cell_bw)
    _check_list(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            forth, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, fw)
        with variable_scope("bw") as bw:
            reversed_ = _reversed(inputs, sequence_length)
            back, state_bw = static_rnn(cell_bw, reversed_, initial_state_bw, dtype, sequence_length, bw)
    both = zip(forth, _reversed(back, sequence_length), strict=True)
    joined = [nest.map_structure(lambda a, b: concat([a, b], 1), *pair) for pair in both]
    return joined, state_fw, state_bw


def _reversed(steps: Sequence[Any], sequence_length: Any) -> list[Any]:
    """Reverses the steps of sequences."""
    if sequence_length is None:
        return list(reversed(steps))
    rows = [nest.flatten(step) for step in steps]
    columns = [
        unstack(reverse_sequence(stack(column), sequence_length, seq_axis=0, batch_axis=1))
        for column in zip(*rows, strict=True)
    ]
    return [nest.pack_sequence_as(steps[0], list(row)) for row in zip(*columns, strict=True)]
