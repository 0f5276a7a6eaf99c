"""Queues that TensorFlow 1's inputs begin with: of the names of files, of numbers, of the slices of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array import creation, properties
from tapeflow.array.gathers import gather
from tapeflow.array.identities import identity
from tapeflow.array.properties import size
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import float32, int64, string
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.io.files import matching_files
from tapeflow.math.casting import cast
from tapeflow.random import permutation
from tapeflow_compat.compat.v1.checks import assert_greater
from tapeflow_compat.compat.v1.scopes import name_scope
from tapeflow_compat.compat.v1.summary.kinds import scalar
from tapeflow_compat.compat.v1.train.queue_runner import QueueRunner, add_queue_runner
from tapeflow_compat.compat.v1.variable_scopes import in_collections
from tapeflow_compat.compat.v1.variables import GraphKeys
from tapeflow_compat.queue import FIFOQueue

_NOT_EAGERLY = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest "
    "data into your model instead."
)


def refuse_eagerly(kind: type[Exception]) -> None:
    """Raises an exception of that kind if no graph is being built."""
    if state.graph is None:
        raise kind(_NOT_EAGERLY)


def match_filenames_once(pattern: str, name: str | None = None) -> Variable:
    """Returns the names of the files that match a pattern, as a local variable. A session looks for them once.

    Args:
        pattern: a string, a glob pattern; or a list of them.
        name: a string, the variable's name.

    Returns:
        A variable of strings, a vector.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "a.txt").touch()
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     names = tf.compat.v1.train.match_filenames_once(str(folder / "*.txt"))
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(len(sess.run(names)))
        1
    """
    with name_scope(name, "matching_filenames") as scope:
        files = matching_files(pattern)
        variable = Variable(files, trainable=False, name=scope or "matching_filenames", shape=[None])
        return in_collections(variable, [GraphKeys.LOCAL_VARIABLES])


def limit_epochs(tensor: TensorLike, num_epochs: int | None = None, name: str | None = None) -> Any:
    """Returns a tensor that can be read a limited number of times in a session.

    Args:
        tensor: a tensor of any dtype and shape.
        num_epochs: an int, the number of times that the tensor is produced; None for no limit.
        name: a string, the operation's name.

    Raises:
        ValueError: `num_epochs` is not positive.
        OutOfRangeError: when it runs once more.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     twice = tf.compat.v1.train.limit_epochs(tf.constant("again"), num_epochs=2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(twice), sess.run(twice))
        b'again' b'again'
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs") as scope:
        count = Variable(convert(0, int64), trainable=False, name="epochs")
        epochs = in_collections(count, [GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)] if state.graph is not None else []):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """Returns a queue that repeats the slices of a tensor, with a queue runner that fills it.

    Args:
        input_tensor: a tensor, whose slices along the first dimension are the elements.
        element_shape: the shape of a slice, needed if the tensor's shape is not static.
        num_epochs: an int, the number of times that each slice comes before the queue is closed; None for no limit. It
            is counted in a local variable.
        shuffle: whether each pass over the slices has another order; True by default.
        seed: an int, the seed of that order; None for another one each time.
        capacity: an int, the largest number of elements in the queue; 32 by default.
        shared_name: a string, the queue's name.
        summary_name: a string, the name of a summary of the queue's fullness.
        name: a string, the name scope of the operations.
        cancel_op: an operation that cancels the queue, for the queue runner; by default one that closes the queue.

    Raises:
        ValueError: the shape of a slice is not static.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default():
        ...     row = tf.compat.v1.train.input_producer([[1, 2], [3, 4]], shuffle=False).dequeue()
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(row), sess.run(row))
        [1 2] [3 4]
    """
    refuse_eagerly(RuntimeError)
    with name_scope(name, "input_producer"):
        tensor = convert(input_tensor)
        shape = tensor.shape[1:] if tensor.shape.rank is not None else tensor.shape
        shape = shape.merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            tensor = permutation.shuffle(tensor, seed=seed)
        tensor = limit_epochs(tensor, num_epochs)
        queue = FIFOQueue(capacity, [tensor.dtype], [shape], shared_name=shared_name, name=name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """Returns a queue that repeats strings, such as the names of files, with a queue runner that fills it.

    Args:
        string_tensor: a vector of strings.
        num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op: see `input_producer`.

    Raises:
        ValueError: there are none.
        InvalidArgumentError: when it runs: there are none.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default():
        ...     queue = tf.compat.v1.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False)
        ...     name = queue.dequeue()
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         while not sess.should_stop():
        ...             print(sess.run(name))
        b'a'
        b'b'
    """
    nothing = "string_input_producer requires a non-null input tensor"
    if isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError(nothing)
    refuse_eagerly(RuntimeError)
    with name_scope(name, "input_producer") as scope:
        tensor = convert(string_tensor, string)
        with control_dependencies([assert_greater(size(tensor), 0, message=nothing)]):
            tensor = identity(tensor)
        label = f"fraction_of_{capacity}_full"
        return input_producer(
            tensor, [], num_epochs, shuffle, seed, capacity, shared_name, label, scope, cancel_op=cancel_op
        )


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """Returns a queue that repeats the numbers below a limit, with a queue runner that fills it.

    Args:
        limit: an int32 scalar.
        num_epochs, shuffle, seed, capacity, shared_name, name: see `input_producer`.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default():
        ...     number = tf.compat.v1.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(number), sess.run(number))
        0 1
    """
    refuse_eagerly(RuntimeError)
    with name_scope(name, "input_producer") as scope:
        label = f"fraction_of_{capacity}_full"
        return input_producer(creation.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, label, scope)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Returns a slice of each of several tensors, another one in every run.

    Args:
        tensor_list: tensors whose first dimensions are the same.
        num_epochs, shuffle, seed, capacity, shared_name, name: see `input_producer`.

    Returns:
        A tensor for each, without the first dimension.

    Raises:
        ValueError: there are none.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default():
        ...     image, label = tf.compat.v1.train.slice_input_producer(
        ...         [[[1, 2], [3, 4]], ["first", "second"]], shuffle=False)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(*sess.run([image, label]))
        [1 2] b'first'
    """
    refuse_eagerly(RuntimeError)
    with name_scope(name, "input_producer"):
        tensors = [convert(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(properties.shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name)
        at = queue.dequeue()
        return [gather(t, at) for t in tensors]
