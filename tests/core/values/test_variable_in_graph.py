"""Variables of graphs: their operations, initial values and messages. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def test_operations(session):
    v = tf.Variable([1.0, 2.0], name="v")
    assert v.graph is v1.get_default_graph() and v.op.name == "v" and v.op.type == "VarHandleOp"
    assert v.initializer.type == "AssignVariableOp" and v.initializer.name == "v/Assign"
    assert v.initial_value.shape == [2] and v.name == "v:0"
    with pytest.raises(tf.errors.FailedPreconditionError):
        v.eval()
    session.run(v.initializer)
    assert v.eval().tolist() == [1.0, 2.0] and v.eval(session=session).tolist() == [1.0, 2.0]
    assert session.run(v).tolist() == session.run(v.initial_value).tolist() == [1.0, 2.0]
    session.run(v.assign([5.0, 6.0]))
    session.run(v.initializer)
    assert v.eval().tolist() == [1.0, 2.0]
    v.load([7.0, 8.0], session)
    assert v.eval().tolist() == [7.0, 8.0]
    v.load([9.0, 8.0])
    assert v.eval().tolist() == [9.0, 8.0]


def test_messages(session):
    with tf.name_scope("scope"):
        v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    proto = v.to_proto()
    assert proto.variable_name == "scope/v:0" and proto.initializer_name == "scope/v/Assign"
    assert proto.is_resource and not proto.trainable
    again = type(v).from_proto(proto)
    assert again.name == "scope/v:0" and again.shape == [2] and again.dtype == tf.float32 and not again.trainable
    session.run(v.initializer)
    session.run(v.assign([3.0, 4.0]))
    assert session.run(again).tolist() == [3.0, 4.0]
    session.run(again.initializer)
    assert session.run(v).tolist() == [1.0, 2.0]


def test_what_only_graphs_have():
    v = tf.Variable([1.0, 2.0])
    for attribute in ("graph", "op"):
        with pytest.raises(AttributeError, match=f"Tensor.{attribute} is (undefined|not supported|meaningless)"):
            getattr(v, attribute)
    with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
        v.eval()
    with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
        _ = v.initial_value
    with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
        v.to_proto()
    assert v.initializer is None
    v.load([3.0, 4.0])
    assert v.numpy().tolist() == [3.0, 4.0]


def test_messages_need_a_graph():
    with tf.Graph().as_default():
        proto = tf.Variable(1.0, name="v").to_proto()
    with pytest.raises((RuntimeError, ValueError)):
        type(tf.Variable(1.0)).from_proto(proto)


def test_each_session_has_its_value():
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0)
        with v1.Session() as first, v1.Session() as second:
            first.run(v.initializer)
            second.run(v.initializer)
            first.run(v.assign_add(5.0))
            assert (v.eval(first), v.eval(second)) == (6.0, 1.0)
        assert v.graph is graph
