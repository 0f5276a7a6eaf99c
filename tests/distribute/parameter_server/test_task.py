"""A task of a cluster: what other tasks may ask it for."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.distribute.parameter_server.task import RemoteIterator, ServerTask
from tapeflow.distribute.parameter_server.variables import RemoteVariable, VariablePlace, apply_change, device_of
from tapeflow.transport.calls import client_of


@pytest.fixture(name="task", scope="module")
def started_task():
    task = ServerTask("localhost:0", "ps:1")
    task.endpoint.start()
    yield task
    task.endpoint.end()


@pytest.fixture(name="client")
def client_of_task(task):
    client = client_of(task.endpoint.address, task.name)
    client.call("begin", "owner")
    return client


def create(client, key, value, trainable=True, shape=None):
    tensor = tf.convert_to_tensor(value)
    client.call("create", key, tensor, f"name_of_{key}", tensor.shape if shape is None else shape, trainable)
    where = VariablePlace(client.address, "ps:1", key, "v", tensor.dtype, tensor.shape, trainable)
    return RemoteVariable(where)


def test_variables(client):
    v = create(client, "a", [1.0, 2.0, 3.0])
    assert client.call("read", "a").numpy().tolist() == [1.0, 2.0, 3.0]
    assert client.call("rows", "a", tf.constant([2, 0])).numpy().tolist() == [3.0, 1.0]
    assert client.call("change", "a", "assign_add", tf.constant([1.0, 1.0, 1.0])) is None
    assert client.call("read", "a").numpy().tolist() == v.numpy().tolist() == [2.0, 3.0, 4.0]
    client.call("delete", ["a", "never"])
    with pytest.raises(tf.errors.UnavailableError, match="ps:1 does not have the variable a: it was started again"):
        client.call("read", "a")


def test_a_new_coordinator_begins_afresh(client):
    v = create(client, "b", 1.0)
    client.call("begin", "owner")
    assert v.numpy() == 1.0 and client.call("ping") is None
    client.call("begin", "another")
    with pytest.raises(tf.errors.UnavailableError, match="variable b"):
        v.numpy()
    assert client.call("run", "never", [], 0) is None


def test_what_a_variable_says(client):
    v = create(client, "c", [[1.0], [2.0]], trainable=False)
    assert (v.name, v.dtype, v.shape, v.trainable) == ("v:0", tf.float32, [2, 1], False)
    assert v.device == device_of("ps:1") == "/job:ps/replica:0/task:1/device:CPU:0"
    assert v.synchronization is tf.VariableSynchronization.AUTO and v.aggregation is tf.VariableAggregation.NONE
    assert v.__deepcopy__({}) is v and v.constraint is None
    with pytest.raises(tf.errors.UnimplementedError, match="can't count"):
        v.count_up_to(3)


def test_reading_and_writing(client):
    v = create(client, "d", [1.0, 2.0, 3.0])
    assert v.assign([4, 5, 6]).numpy().tolist() == [4.0, 5.0, 6.0] and v.assign([1, 2, 3], read_value=False) is None
    v.assign_add([1.0, 0.0, 0.0])
    assert v.assign_sub([0.0, 0.0, 1.0]).numpy().tolist() == v.read_value().numpy().tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="shape"):
        v.assign([1.0])
    assert tf.gather(v, [[0, 2]]).shape == [1, 2] and tf.gather(v, [1], axis=0).numpy().tolist() == [2.0]
    assert v.sparse_read([2]).numpy().tolist() == [2.0] and (v + 1.0).numpy().tolist() == [3.0, 3.0, 3.0]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1]) * [1.0, 10.0])
    gradient = tape.gradient(y, v)
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [0.0, 11.0, 0.0]


@pytest.mark.parametrize("compile_it", [False, True])
def test_writes_of_rows(client, compile_it):
    v, whole = create(client, "e", [2.0, 4.0, 8.0]), tf.Variable([2.0, 4.0, 8.0])

    def write(variable):
        rows = tf.IndexedSlices(tf.constant([3.0, 5.0]), tf.constant([2, 1]))
        for kind in ("add", "sub", "mul", "div", "min", "max", "update"):
            getattr(variable, f"scatter_{kind}")(rows)
            variable.assign_add([0.5, 0.25, 0.125])
        for kind in ("add", "sub", "min", "max", "update"):
            getattr(variable, f"scatter_nd_{kind}")([[0], [2]], [1.5, 2.5])
            variable.assign_add([0.5, 0.25, 0.125])
        return variable.read_value()

    results = [(tf.function(write) if compile_it else write)(variable).numpy().tolist() for variable in (v, whole)]
    assert results[0] == results[1] == whole.numpy().tolist()


def test_rows_in_functions(client):
    v = create(client, "f", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def rows(ids):
        with tf.GradientTape() as tape:
            y = tf.gather(v, ids)
            total = tf.reduce_sum(y * y)
        gradient = tape.gradient(total, v)
        return y, gradient.values, gradient.indices, gradient.dense_shape

    y, values, indices, shape = rows(tf.constant([[2], [0]]))
    assert y.numpy().tolist() == [[[5.0, 6.0]], [[1.0, 2.0]]] and indices.numpy().tolist() == [2, 0]
    assert values.numpy().tolist() == [[10.0, 12.0], [2.0, 4.0]] and shape.numpy().tolist() == [3, 2]


def test_only_some_methods_change_a_variable():
    v = tf.Variable([1.0, 2.0])
    apply_change(v, "scatter_update", (tf.constant([1]), tf.constant([9.0])))
    apply_change(v, "scatter_nd_add", (tf.constant([[0]]), tf.constant([4.0])))
    apply_change(v, "assign_sub", (tf.constant([1.0, 1.0]),))
    assert v.numpy().tolist() == [4.0, 8.0]
    for method in ("numpy", "__init__", "scatter_nope"):
        with pytest.raises(tf.errors.UnimplementedError, match=f"can't be changed by '{method}' from another task"):
            apply_change(v, method, ())


def test_iterators_of_another_task(task):
    own = iter(tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]}))
    address, name, key = task.share(own)
    assert task.share(own) == (address, name, key) and name == "ps:1" and address == task.endpoint.address
    remote = RemoteIterator(client_of(address, name), key)
    a, b = next(remote)
    assert (a.numpy(), b.numpy().tolist()) == (1, [1.0]) and remote.iterator is remote
    optional = remote.get_next_as_optional()
    assert bool(optional.has_value()) and optional.get_value()[0].numpy() == 2
    assert [np.asarray(t).tolist() for t in remote.take_encoded()] == [3, [3.0]]
    assert not bool(remote.get_next_as_optional().has_value())
    with pytest.raises(StopIteration):
        remote.take_encoded()
    with pytest.raises(tf.errors.OutOfRangeError):
        next(remote)
    with pytest.raises(NotImplementedError):
        _ = remote.element_spec


def test_shared_variables_are_named_once(task, client):
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    place = VariablePlace(*task.share(v))
    assert task.share(v) == tuple(place) and place[0] == task.endpoint.address and place.task == "ps:1"
    assert (place.dtype, place.shape, place.trainable) == (tf.float32, [2], False) and place.name == "v"
    remote = RemoteVariable(place)
    remote.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [2.0, 3.0] and task.share(remote) == tuple(place)
    assert task.share(tf.Variable(1.0)) != tuple(place)


class Recording:
    """Calls another task, and notes the methods."""

    def __init__(self, client):
        self.client, self.methods = client, []

    def call(self, method, *args, **kwargs):
        self.methods.append(method)
        return self.client.call(method, *args, **kwargs)


def test_only_rows_travel(client):
    v = create(client, "g", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    v._client = calls = Recording(client)
    gather = tf.function(lambda ids: tf.gather(v, ids))
    lookup = tf.function(lambda ids: tf.nn.embedding_lookup(v, ids))
    one = tf.constant([2])
    for rows in (lambda: v.sparse_read([2]), lambda: gather(one), lambda: lookup(one)):
        calls.methods.clear()
        assert rows().numpy().tolist() == [[5.0, 6.0]] and calls.methods == ["rows"]
    columns = tf.function(lambda ids: tf.gather(v, ids, axis=1))
    for whole in (lambda: columns(tf.constant([1])), lambda: v + 1.0, lambda: v.numpy(), lambda: v[0]):
        calls.methods.clear()
        whole()
        assert calls.methods == ["read"]
    calls.methods.clear()
    v.assign_add(tf.ones([3, 2]), read_value=False)
    v.scatter_nd_update([[0, 1]], [9.0])
    assert calls.methods[:2] == ["change", "change"]
