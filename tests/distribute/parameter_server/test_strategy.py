"""Where a strategy with parameter servers puts variables, and into which parts it cuts them."""

import pytest

import tapeflow as tf
from tapeflow.distribute.parameter_server.strategy import _own_address
from worker_processes import free_addresses

partitioners = tf.distribute.experimental.partitioners


class Cut(partitioners.Partitioner):
    """Answers what a test says."""

    parts = (1,)

    def __init__(self):
        self.asked = []

    def __call__(self, shape, dtype, axis=0):
        self.asked.append((shape.as_list(), dtype, axis))
        return list(self.parts)


@pytest.fixture(name="created", scope="module")
def strategy_and_partitioner():
    addresses = free_addresses(3)
    spec = tf.train.ClusterSpec({"worker": addresses[:1], "ps": addresses[1:]})
    servers = [tf.distribute.Server(spec, job, i) for job, i in (("worker", 0), ("ps", 0), ("ps", 1))]
    cut = Cut()
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
    yield tf.distribute.ParameterServerStrategy(resolver, cut), cut
    del servers


def number_of(variable):
    return int(variable.device.rpartition("task:")[2][0])


def test_variables_go_to_one_server_after_the_other(created):
    strategy, cut = created
    cut.parts = (1,)
    with strategy.scope():
        first, second, third = (tf.Variable([float(i)]) for i in range(3))
    assert number_of(first) != number_of(second) != number_of(third) == number_of(first)
    assert strategy.extended.variable_created_in_scope(first)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    with strategy.scope(), strategy.extended.colocate_vars_with(second):
        beside = [tf.Variable([1.0]) for _ in range(2)]
    assert [number_of(v) for v in beside] == [number_of(second)] * 2
    with strategy.scope():
        following = tf.Variable([1.0])
    assert number_of(following) == number_of(second)  # it is its turn
    with strategy.scope(), pytest.raises(ValueError, match="must only be passed a variable created in this"):
        strategy.extended.colocate_vars_with(object())


def test_attributes_are_kept(created):
    strategy, cut = created
    cut.parts = (1,)
    with strategy.scope():
        v = tf.Variable([1, 2], False, name="v", constraint=abs, aggregation=tf.VariableAggregation.SUM)
    assert (v.name, v.trainable, v.dtype, v.constraint) == ("v:0", False, tf.int32, abs)
    assert v.aggregation is tf.VariableAggregation.SUM and v.numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("parts", "rows", "sizes"),
    [((2, 1), 5, [3, 2]), ((3, 1), 5, [2, 2, 1]), ((9, 1), 3, [1, 1, 1]), ((2, 1), 4, [2, 2])],
)
def test_sizes_of_parts(created, parts, rows, sizes):
    strategy, cut = created
    cut.parts, cut.asked = parts, []
    value = tf.reshape(tf.range(2.0 * rows), [rows, 2])
    with strategy.scope():
        v = tf.Variable(value, name="v")
    assert [p.shape[0] for p in v.variables] == sizes and v.numpy().tolist() == value.numpy().tolist()
    assert [p.name for p in v.variables] == [f"v/part_{i}:0" for i in range(len(sizes))] and v.name == "v"
    assert cut.asked == [([rows, 2], tf.float32, 0)]
    assert number_of(v.variables[0]) != number_of(v.variables[1])


def test_names_of_unnamed_parts(created):
    strategy, cut = created
    cut.parts = (2,)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert [p.name for p in v.variables] == ["Variable/part_0:0", "Variable/part_1:0"] and v.name == "ShardedVariable"


def test_variables_that_stay_whole(created):
    strategy, cut = created
    cut.parts, cut.asked = (4, 1), []
    with strategy.scope():
        scalar, one_row = tf.Variable(3.0), tf.Variable([[1.0, 2.0]])
        with strategy.extended.colocate_vars_with(scalar):
            beside = tf.Variable([1.0, 2.0])
    assert [v.shape.as_list() for v in (scalar, one_row, beside)] == [[], [1, 2], [2]]
    assert cut.asked == [([1, 2], tf.float32, 0)]
    cut.parts = (1, 1)
    with strategy.scope():
        assert tf.Variable([[1.0, 2.0], [3.0, 4.0]]).shape == [2, 2]


@pytest.mark.parametrize("parts", [(), (0, 1), (2, 2), (1, 2)])
def test_only_the_first_axis_is_cut(created, parts):
    strategy, cut = created
    cut.parts = parts
    with strategy.scope(), pytest.raises(ValueError, match="must return a list/tuple whose elements are 1 besides"):
        tf.Variable([[1.0, 2.0], [3.0, 4.0]])


def test_initializers(created):
    strategy, cut = created
    cut.parts, calls = (2, 1), []

    def of_parts(partition_shape=None, partition_offset=None):
        calls.append((partition_shape, partition_offset))
        return tf.fill(partition_shape, float(partition_offset[0]))

    def of_the_whole():
        calls.append("whole")
        return tf.reshape(tf.range(6.0), [3, 2])

    with strategy.scope():
        v = tf.Variable(of_parts, shape=[3, 2], dtype=tf.float32)
        assert v.numpy()[:, 0].tolist() == [0.0, 0.0, 2.0] and calls == [((2, 2), (0, 0)), ((1, 2), (2, 0))]
        calls.clear()
        w = tf.Variable(of_the_whole)
        assert calls == ["whole"] and w.numpy()[2].tolist() == [4.0, 5.0] and len(w.variables) == 2
        typed = tf.Variable([[1], [2]], dtype=tf.int64)
        assert typed.dtype == tf.int64 and typed.numpy().tolist() == [[1], [2]]
        with pytest.raises(ValueError, match="without specifying `initial_value`"):
            tf.Variable(None, shape=[3, 2], dtype=tf.float32)


def test_addresses_of_the_coordinator():
    def own(**jobs):
        return _own_address(tf.train.ClusterSpec(jobs))

    local = {"ps": ["localhost:1"], "worker": ["127.0.0.1:2"]}
    assert own(**local) == "localhost:0"
    assert own(**local, chief=["h:3"]) == "h:3"
    for job in ("ps", "worker"):
        elsewhere = own(**{**local, job: ["10.1.2.3:5"]})
        assert elsewhere != "localhost:0" and elsewhere.endswith(":0")


def test_clusters_without_a_job():
    for jobs, missing in (({"worker": ["h:1"]}, "ps"), ({"ps": ["h:1"]}, "worker")):
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(jobs))
        with pytest.raises(ValueError, match=f"There must be at least one {missing}"):
            tf.distribute.ParameterServerStrategy(resolver)
