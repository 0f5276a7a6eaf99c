"""Arrays that users get or give share no writable memory with tensors, constants and caches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.types.spec import BoundedTensorSpec


def overwrite(array: np.ndarray) -> None:
    """Writes into an array, unless it is read-only."""
    if not array.flags.writeable or not array.size:
        return
    array[...] = b"overwritten" if array.dtype == object else np.ones((), array.dtype) * 77


def arrays_in(value: Any) -> list[np.ndarray]:
    """Returns the arrays in a nest, and those in arrays of objects."""
    found = [v for v in tf.nest.flatten(value) if isinstance(v, np.ndarray)]
    return found + [a for v in found if v.dtype == object for a in v.reshape(-1) if isinstance(a, np.ndarray)]


def plain(value: Any) -> Any:
    """Returns the numbers of a tensor, a composite tensor, a variable or a dataset."""
    if isinstance(value, tf.data.Dataset):
        return [plain(v) for v in value]
    return [np.array(v).tolist() for v in tf.nest.flatten(value, expand_composites=True)]


TENSORS: dict[str, Callable[[], Any]] = {
    "scalar": lambda: tf.constant(1),
    "integers": lambda: tf.constant([1, 2, 3]),
    "floats": lambda: tf.constant([[1.5, 2.5]]),
    "halves": lambda: tf.constant([1.5, 2.5], tf.bfloat16),
    "bools": lambda: tf.constant([True, False]),
    "complex": lambda: tf.constant([1j, 2.0]),
    "conjugate": lambda: tf.math.conj(tf.constant([1j, 2.0])),
    "view": lambda: tf.transpose(tf.reshape(tf.range(6), [2, 3])),
    "strings": lambda: tf.constant(["a", "b"]),
    "variable": lambda: tf.Variable([1.0, 2.0]),
    "read of a variable": lambda: tf.Variable([1.0, 2.0]).read_value(),
}

READS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda t: t.numpy(),
    "np.array": np.array,
    "np.asarray": np.asarray,
    "__array__": lambda t: t.__array__(),
    "static": tf.get_static_value,
    "make_ndarray": lambda t: tf.make_ndarray(tf.make_tensor_proto(t)) if isinstance(t, tf.Tensor) else None,
    "dataset": lambda t: next(tf.data.Dataset.from_tensors(t).as_numpy_iterator()),
    "repeated dataset": lambda t: list(tf.data.Dataset.from_tensors(t).repeat(2).as_numpy_iterator()),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", TENSORS)
def test_writing_into_an_array_of_a_tensor(kind: str, read: str) -> None:
    tensor = TENSORS[kind]()
    before = plain(tensor)
    for array in arrays_in(READS[read](tensor)):
        overwrite(array)
    assert plain(tensor) == before


@pytest.mark.parametrize("kind", ["integers", "floats", "view", "read of a variable"])
def test_writing_through_dlpack(kind: str) -> None:
    tensor = TENSORS[kind]()
    before = plain(tensor)
    overwrite(np.from_dlpack(tensor))
    assert plain(tensor) == before


def _ragged() -> Any:
    return tf.ragged.constant([[1, 2], [3]])


def _sparse() -> Any:
    return tf.sparse.from_dense([0, 1, 2])


COMPOSITES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "ragged": (_ragged, lambda r: r.numpy()),
    "ragged, of equal rows": (lambda: tf.ragged.constant([[1, 2], [3, 4]]), lambda r: r.numpy()),
    "ragged, its parts": (_ragged, lambda r: [r.values.numpy(), r.row_splits.numpy(), r.row_lengths().numpy()]),
    "ragged, its bounding shape": (_ragged, lambda r: r.bounding_shape().numpy()),
    "sparse": (_sparse, lambda s: [s.indices.numpy(), s.values.numpy(), s.dense_shape.numpy()]),
    "slices": (
        lambda: tf.IndexedSlices(tf.ones([1]), tf.constant([0])),
        lambda s: [s.values.numpy(), s.indices.numpy()],
    ),
    "ragged, in a dataset": (
        lambda: tf.data.Dataset.from_tensors(_ragged()),
        lambda d: list(d.as_numpy_iterator()),
    ),
    "cached dataset": (lambda: tf.data.Dataset.range(4).batch(2).cache(), lambda d: [t.numpy() for t in d]),
    "mapped dataset": (
        lambda: tf.data.Dataset.range(2).map(lambda i: tf.constant([1, 2])),
        lambda d: list(d.as_numpy_iterator()) + [t.numpy() for t in d],
    ),
    "slices of an array": (
        lambda: tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(2, 3)),
        lambda d: list(d.as_numpy_iterator()) + [t.numpy() for t in d],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", COMPOSITES)
def test_writing_into_arrays_of_composite_values(kind: str) -> None:
    make, read = COMPOSITES[kind]
    value = make()
    before = plain(value)
    arrays = arrays_in(read(value))
    assert arrays
    for array in arrays:
        overwrite(array)
    assert plain(value) == before


# ---- static values ---------------------------------------------------------------------------------------------------

STATIC: dict[str, Callable[[], Any]] = {
    "converted scalar": lambda: tf.convert_to_tensor(1),
    "scalar": lambda: tf.constant(1),
    "vector": lambda: tf.constant([1, 2, 3]),
    "floats": lambda: tf.constant([1.5]),
    "strings": lambda: tf.constant(["a", "b"]),
    "large": lambda: tf.constant(np.arange(5000)),
    "shape": lambda: tf.shape(tf.constant([1, 2])),
    "size": lambda: tf.size(tf.constant([1, 2])),
    "rank": lambda: tf.rank(tf.constant([1, 2])),
    "stack": lambda: tf.stack([tf.constant(1), tf.constant(2)]),
    "unstack": lambda: tf.unstack(tf.constant([1, 2]))[0],
    "split": lambda: tf.split(tf.constant([1, 2]), 2)[0],
    "identity": lambda: tf.identity(tf.constant([1, 2])),
    "stopped": lambda: tf.stop_gradient(tf.constant([1, 2])),
    "fill": lambda: tf.fill([2], 1),
    "concat": lambda: tf.concat([tf.constant([1]), tf.constant([2])], 0),
    "cast": lambda: tf.cast(tf.constant([1, 2]), tf.int64),
    "broadcast": lambda: tf.broadcast_to(tf.constant([1, 2]), [2, 2]),
    "range": lambda: tf.range(3),
    "comparison": lambda: tf.equal(tf.constant([1, 2]), 1),
}


@pytest.mark.parametrize("kind", STATIC)
def test_writing_into_a_static_value(kind: str) -> None:
    @tf.function
    def write() -> Any:
        tensor = STATIC[kind]()
        first = tf.get_static_value(tensor)
        expected.append(np.array(first).tolist())
        overwrite(first)
        again.append(np.array(tf.get_static_value(tensor)).tolist())
        return tensor

    expected: list[Any] = []
    again: list[Any] = []
    value = write()
    assert again == expected == plain(value)
    assert plain([tf.constant(1), tf.constant([1, 2, 3]), tf.convert_to_tensor(1)]) == [1, [1, 2, 3], 1]


def test_a_static_value_changed_in_place() -> None:
    @tf.function
    def change() -> None:
        value = tf.get_static_value(tf.convert_to_tensor(1))
        value += 1

    change()
    assert tf.constant(1).numpy() == 1


def test_a_partly_static_value() -> None:
    @tf.function
    def write(x: Any) -> Any:
        sizes = tf.stack([tf.shape(x)[0], 3])
        tf.get_static_value(sizes, partial=True)[1] = 9
        assert tf.get_static_value(sizes, partial=True).tolist() == [None, 3]
        return sizes

    assert write.get_concrete_function(tf.TensorSpec([None], tf.float32))(tf.zeros([2])).numpy().tolist() == [2, 3]


# ---- arguments of Python functions -----------------------------------------------------------------------------------


def _write_and_return(x: Any) -> Any:
    array = np.asarray(x) if isinstance(x, np.ndarray) else x.numpy()
    result = np.array(array)
    for a in arrays_in(array):
        overwrite(a)
    return result


CALLS: dict[str, Callable[[Any], Any]] = {
    "numpy_function": lambda t: tf.numpy_function(_write_and_return, [t], t.dtype),
    "py_function": lambda t: tf.py_function(_write_and_return, [t], t.dtype),
    "py_func": lambda t: tf.compat.v1.py_func(_write_and_return, [t], t.dtype),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", ["integers", "floats", "strings", "view", "conjugate"])
def test_python_functions_that_write_into_their_arguments(kind: str, traced: bool, call: str) -> None:
    tensor = TENSORS[kind]()
    before = plain(tensor)
    function = tf.function(CALLS[call]) if traced else CALLS[call]
    assert plain(function(tensor)) == before
    assert plain(tensor) == before
    if traced:
        constant = tf.function(lambda: CALLS[call](TENSORS[kind]()))
        assert plain(constant()) == plain(constant()) == before


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("call", [tf.numpy_function, tf.py_function])
def test_results_of_python_functions_that_are_written_to_later(call: Any, traced: bool) -> None:
    array = np.arange(3.0)
    call_it = lambda: call(lambda: array, [], tf.float64)  # noqa: E731
    result = (tf.function(call_it) if traced else call_it)()
    array += 5
    assert result.numpy().tolist() == [0.0, 1.0, 2.0]


def test_results_of_a_generator_that_writes_into_its_array() -> None:
    def generate() -> Any:
        array = np.zeros(2)
        for _ in range(2):
            array += 1
            yield array

    dataset = tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec([2], tf.float64))
    assert plain(list(dataset)) == [[1.0, 1.0], [2.0, 2.0]]


# ---- arrays that users give ------------------------------------------------------------------------------------------


def _assigned(array: np.ndarray) -> Any:
    v = tf.Variable(tf.zeros_like(array))
    v.assign(array)
    return v


def _enqueued(array: np.ndarray) -> Any:
    queue = tf.queue.FIFOQueue(2, [tf.as_dtype(array.dtype)], [array.shape])
    queue.enqueue([array])
    array_then = array.copy()
    overwrite(array)
    value = queue.dequeue()
    array[...] = array_then
    return value


TAKES: dict[str, Callable[[np.ndarray], Any]] = {
    "constant": tf.constant,
    "constant of a view": lambda a: tf.constant(a.T[::-1]),
    "constant of another dtype": lambda a: tf.constant(a, tf.string if a.dtype == object else tf.float32),
    "constant of rows": lambda a: tf.constant(list(a)),
    "convert_to_tensor": tf.convert_to_tensor,
    "Variable": tf.Variable,
    "assign": _assigned,
    "identity": tf.identity,
    "reshape": lambda a: tf.reshape(a, [4]),
    "expand_dims": lambda a: tf.expand_dims(a, 0),
    "squeeze": tf.squeeze,
    "ensure_shape": lambda a: tf.ensure_shape(a, [2, 2]),
    "stop_gradient": tf.stop_gradient,
    "cast": lambda a: tf.cast(a, tf.as_dtype(a.dtype)),
    "slices": tf.data.Dataset.from_tensor_slices,
    "slices of a dict": lambda a: tf.data.Dataset.from_tensor_slices({"a": a}),
    "dataset of one": tf.data.Dataset.from_tensors,
    "dataset that captures": lambda a: tf.data.Dataset.range(2).map(lambda i: a),
    "argument": lambda a: tf.function(lambda x: x)(a),
    "list argument": lambda a: tf.function(lambda xs: xs[0])([a]),
    "queue": _enqueued,
    "array": lambda a: tf.TensorArray(tf.as_dtype(a.dtype), 1).write(0, a).stack(),
    "ragged values": lambda a: tf.RaggedTensor.from_row_splits(a, [0, 1, 2]),
    "ragged splits": lambda a: tf.RaggedTensor.from_row_splits([1, 2, 3, 4], np.array([0, 1, 4])),
    "sparse": lambda a: tf.SparseTensor([[0], [1]], a[0], [4]),
    "numpy": tf.experimental.numpy.asarray,
    "initializer": lambda a: a if a.dtype == object else tf.constant_initializer(a)([2, 2]),
}


@pytest.mark.parametrize("kind", ["numbers", "strings"])
@pytest.mark.parametrize("take", TAKES)
def test_writing_into_an_array_that_was_given(take: str, kind: str) -> None:
    array = np.arange(4.0).reshape(2, 2) if kind == "numbers" else np.array([[b"a", b"b"], [b"c", b"d"]], object)
    value = TAKES[take](array)
    if value is array:
        return
    before = plain(value)
    overwrite(array)
    assert plain(value) == before


@pytest.mark.parametrize("function", [tf.constant, tf.convert_to_tensor, tf.identity, lambda a: tf.zeros([3]) + a])
def test_writing_into_an_array_after_a_trace(function: Any) -> None:
    array = np.arange(3, dtype=np.float32)
    traced = tf.function(lambda: function(array))
    assert traced().numpy().tolist() == [0.0, 1.0, 2.0]
    array += 5
    assert traced().numpy().tolist() == [0.0, 1.0, 2.0]


def test_writing_into_an_array_while_tracing() -> None:
    @tf.function
    def build() -> Any:
        array = np.zeros(2, np.float32)
        results = []
        for _ in range(3):
            array += 1
            results.append(tf.constant(array))
        return results

    assert plain(build()) == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_writing_into_the_arrays_of_a_table() -> None:
    keys, values = np.array([1, 2], np.int32), np.array([3, 4])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    keys += 5
    values += 5
    assert table.lookup(tf.constant([1, 2])).numpy().tolist() == [3, 4]
    for part in table.export():
        overwrite(part.numpy())
    assert table.lookup(tf.constant([1, 2])).numpy().tolist() == [3, 4]


# ---- graphs of TensorFlow 1, files and messages ----------------------------------------------------------------------


def test_sessions_copy_what_they_take_and_give() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        fed = v1.placeholder(tf.float32, [2])
        given = np.array([1.0, 2.0], np.float32)
        initial = np.array([3.0, 4.0], np.float32)
        v = v1.get_variable("v", initializer=initial, use_resource=True)
        overwrite(initial)
        constant, assign = tf.constant([5, 6]), v1.assign(v, fed)
        with v1.Session() as session:
            session.run(v.initializer)
            for fetch in (v, v.read_value(), constant):
                before = session.run(fetch).tolist()
                overwrite(session.run(fetch))
                assert session.run(fetch).tolist() == before != [77, 77]
            for value in session.run([fed, tf.identity(fed)], {fed: given}):
                overwrite(value)
            assert given.tolist() == [1.0, 2.0]
            session.run(assign, {fed: given})
            overwrite(given)
            assert session.run(v).tolist() == [1.0, 2.0]


def test_attributes_of_operations_are_copies() -> None:
    with tf.Graph().as_default():
        constant = tf.constant([1, 2, 3])
        message = constant.op.get_attr("value")
        message.CopyFrom(tf.make_tensor_proto([9]))
        overwrite(tf.make_ndarray(constant.op.get_attr("value")))
        assert tf.make_ndarray(constant.op.get_attr("value")).tolist() == [1, 2, 3]
        constant.op.node_def.attr["value"].tensor.CopyFrom(message)
        assert tf.make_ndarray(constant.op.get_attr("value")).tolist() == [1, 2, 3]
        squeezed = tf.squeeze(tf.reshape(constant, [3, 1]), [1])
        squeezed.op.get_attr("squeeze_dims").append(5)
        assert squeezed.op.get_attr("squeeze_dims") == [1]
        dims = squeezed.shape.as_list()
        dims[0] = 9
        assert squeezed.shape.as_list() == [3]


def test_arrays_of_a_checkpoint(tmp_path: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v).write(str(tmp_path / "saved"))
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    reader = tf.train.load_checkpoint(path)
    overwrite(reader.get_tensor(key))
    overwrite(tf.train.load_variable(path, key))
    assert reader.get_tensor(key).tolist() == tf.train.load_variable(path, key).tolist() == v.numpy().tolist()


def test_bounds_of_a_spec_are_read_only() -> None:
    low = np.zeros(2, np.float32)
    bounded = BoundedTensorSpec([2], tf.float32, low, 1.0)
    low += 5
    assert bounded.minimum.tolist() == [0.0, 0.0]
    assert not bounded.minimum.flags.writeable
    assert not bounded.maximum.flags.writeable


def test_weights_of_a_layer() -> None:
    layer = tf.keras.layers.Dense(2)
    layer.build([None, 2])
    before, given = plain(layer.weights), np.ones((2, 2), np.float32)
    for array in [*layer.get_weights(), *map(tf.keras.ops.convert_to_numpy, layer.weights)]:
        overwrite(array)
    assert plain(layer.weights) == before
    layer.set_weights([given, np.ones(2, np.float32)])
    overwrite(given)
    assert layer.kernel.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_gradients_that_are_checked_leave_their_arguments() -> None:
    x = tf.constant([1.0, 2.0])
    for jacobian in tf.nest.flatten(tf.test.compute_gradient(lambda x: x * 2.0, [x])):
        overwrite(jacobian)
    assert x.numpy().tolist() == [1.0, 2.0]
