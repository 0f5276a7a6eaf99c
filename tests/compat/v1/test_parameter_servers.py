"""Parameter servers of TensorFlow 1: on one machine there are none, and of several a message tells."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
Strategy = v1.distribute.experimental.ParameterServerStrategy
Resolver = tf.distribute.cluster_resolver.SimpleClusterResolver
ONE_SERVER = {"worker": ["localhost:1", "localhost:2"], "ps": ["localhost:3"]}


def test_a_graph_trains_on_one_machine():
    with tf.Graph().as_default(), v1.Session() as session:
        strategy = Strategy()
        with strategy.scope():
            v = v1.get_variable("v", initializer=1.0)
            step = strategy.run(lambda: v1.train.GradientDescentOptimizer(0.1).minimize(tf.square(v)))
        session.run(v1.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(v), 0.8, rtol=1e-6)


def test_what_the_strategy_tells_of_itself():
    extended = Strategy().extended
    assert Strategy(Resolver(tf.train.ClusterSpec({}))).num_replicas_in_sync == len(extended.worker_devices) == 1
    assert extended.worker_devices[0] == extended.parameter_devices[0] == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert extended.experimental_between_graph and extended.experimental_should_init
    assert extended.should_checkpoint and extended.should_save_summary
    assert not extended.experimental_require_static_shapes


def test_eager_programs_do_not_use_it():
    strategy = Strategy()
    data = tf.data.Dataset.range(2)
    for call in (
        strategy.scope,
        lambda: strategy.run(lambda: 1),
        lambda: strategy.experimental_distribute_dataset(data),
        lambda: strategy.distribute_datasets_from_function(lambda context: data),
    ):
        with pytest.raises(NotImplementedError, match="in graphs"):
            call()


def test_clusters_are_refused():
    with pytest.raises(ValueError, match="task_type"):
        Strategy(Resolver(tf.train.ClusterSpec(ONE_SERVER)))
    with pytest.raises(ValueError, match="`ps` jobs"):
        Strategy(Resolver(tf.train.ClusterSpec({"worker": ["localhost:1"]}), task_type="worker", task_id=0))
    with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.distribute\.ParameterServerStrategy"):
        Strategy(Resolver(tf.train.ClusterSpec(ONE_SERVER), task_type="worker", task_id=0))


def test_without_parameter_servers_no_device_is_set():
    setter = v1.train.replica_device_setter
    assert setter() is None and setter(cluster={"worker": ["localhost:1"]}) is None
    assert setter(2, cluster=tf.train.ClusterSpec({"worker": ["localhost:1"]})) is None
    with tf.Graph().as_default(), tf.device(setter()):
        assert not tf.constant(1.0).op.device
    for arguments in ({"ps_tasks": 1}, {"cluster": ONE_SERVER}, {"ps_device": "/job:worker", "cluster": ONE_SERVER}):
        with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.distribute\.ParameterServerStrategy"):
            setter(**arguments)
