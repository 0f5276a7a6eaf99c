"""`tf.distribute.Server`. What is expected is what TensorFlow 2.21 gave."""

import pytest

import tapeflow as tf

Server = tf.distribute.Server


def test_a_local_server_runs_sessions():
    server = Server.create_local_server()
    assert server.target.startswith("grpc://localhost:")
    assert not server.target.endswith(":0")
    assert server.server_def == tf.train.ServerDef(
        cluster=tf.train.ClusterSpec({"localhost": ["localhost:0"]}).as_cluster_def(),
        job_name="localhost",
        protocol="grpc",
    )
    with tf.Graph().as_default(), tf.compat.v1.Session(server.target) as session:
        assert session.run(tf.constant(2) * 3) == 6
    with pytest.raises(tf.errors.UnknownError, match="Could not start the server"):
        Server({"local": [server.target.removeprefix("grpc://")]})


def test_definitions():
    spec = tf.train.ClusterSpec({"worker": {3: "localhost:0"}})
    first = Server(spec, start=False).server_def
    assert (first.job_name, first.task_index, first.protocol) == ("worker", 3, "grpc")
    assert tf.train.ServerDef.FromString(first.SerializeToString()) == first
    again = Server(first, protocol="other", config=tf.compat.v1.ConfigProto(log_device_placement=True))
    assert again.server_def.protocol == "other"
    assert again.server_def.default_session_config.log_device_placement
    assert again.target.startswith("other://localhost:")
    with pytest.raises(ValueError, match="explicit `job_name`"):
        Server({"a": ["x:1"], "b": ["y:1"]})
    with pytest.raises(ValueError, match="explicit `task_index`"):
        Server({"a": ["x:1", "x:2"]})
    with pytest.raises(TypeError, match="Could not convert `server_or_cluster_def`"):
        Server(3)
    other = Server({"worker": ["localhost:0", "x:2"]}, task_index=0)
    assert other.server_def.cluster.job[0].tasks[1] == "x:2"
    with tf.Graph().as_default(), pytest.raises(tf.errors.UnimplementedError, match="and sessions run in one"):
        tf.compat.v1.Session(other.target)
