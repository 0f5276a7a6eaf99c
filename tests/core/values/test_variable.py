"""Variables: arguments, attributes, and changes by the methods of Python."""

import copy
import pickle
import re

import numpy as np
import pytest

import tapeflow as tf


def test_defaults():
    v = tf.Variable([1.0, 2.0])
    assert v.trainable is True and v.name == "Variable:0" and v.dtype is tf.float32 and v.constraint is None
    assert v.synchronization is tf.VariableSynchronization.AUTO and v.aggregation is tf.VariableAggregation.NONE
    assert v.shape == v.get_shape() == tf.TensorShape([2]) and v.device.endswith("CPU:0")
    assert bool(v.is_initialized().numpy()) and v.is_initialized().dtype is tf.bool
    assert v.handle.dtype is tf.resource and v.handle.shape == []
    assert tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).trainable is False
    assert tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, trainable=True).trainable is True


def test_arguments():
    positive = lambda value: tf.maximum(value, 0.0)  # noqa: E731
    v = tf.Variable(
        lambda: [1, 2], False, True, None, "name", None, tf.float64, None, positive,
        tf.VariableSynchronization.ON_WRITE, tf.VariableAggregation.MEAN, [None],
    )  # fmt: skip
    assert v.trainable is False and v.name == "name:0" and v.dtype is tf.float64 and v.constraint is positive
    assert v.synchronization is tf.VariableSynchronization.ON_WRITE
    assert v.aggregation is tf.VariableAggregation.MEAN and v.shape.as_list() == [None]
    assert v.numpy().tolist() == [1.0, 2.0]
    assert tf.Variable(tf.constant(3), dtype=tf.int32).numpy() == 3
    assert tf.Variable(tf.Variable([7])).numpy().tolist() == [7]


def test_arguments_that_are_refused():
    with pytest.raises(ValueError, match="`initial_value`"):
        tf.Variable()
    with pytest.raises(ValueError, match=r"Argument `constraint` must be None or a callable\."):
        tf.Variable(1.0, constraint=3)
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: 7 for variable: v"):
        tf.Variable(1.0, synchronization=7, name="v")
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: 7 for variable: v"):
        tf.Variable(1.0, aggregation=7, name="v")
    with pytest.raises(ValueError, match=r"the initial value's shape \(\(2,\)\) is not compatible with the explicitly"):
        tf.Variable([1.0, 2.0], shape=[3])


def test_reading():
    v = tf.Variable([1.0, 2.0])
    tensors = v.value(), v.read_value(), tf.convert_to_tensor(v), tf.identity(v), tf.convert_to_tensor(v, tf.float32)
    for value in tensors:
        assert isinstance(value, tf.Tensor) and value.numpy().tolist() == [1.0, 2.0]
    assert v.initialized_value().numpy().tolist() == [1.0, 2.0]
    array = v.numpy()
    array[0] = 9.0
    assert v.numpy().tolist() == [1.0, 2.0] and np.asarray(v, np.int32).tolist() == [1, 2]
    before = v.read_value()
    v.assign([3.0, 4.0])
    assert before.numpy().tolist() == [1.0, 2.0]
    assert [float(x) for x in v] == [3.0, 4.0]
    with pytest.raises(ValueError, match=r"Incompatible type conversion requested to type 'int32'"):
        tf.convert_to_tensor(v, tf.int32)


def test_numbers_of_python():
    v = tf.Variable(2.75)
    assert int(v) == 2 and float(v) == 2.75 and complex(v) == 2.75 and bool(v) is True and not tf.Variable(0)
    assert f"{v:.1f}" == "2.8"


def test_assignments():
    v = tf.Variable([1.0, 2.0])
    result = v.assign([3.0, 4.0])
    assert isinstance(result, tf.Variable) and result.numpy().tolist() == v.numpy().tolist() == [3.0, 4.0]
    assert v.assign_add([1.0, 10.0]).numpy().tolist() == [4.0, 14.0]
    assert v.assign_sub([0.5, 1.0]).numpy().tolist() == [3.5, 13.0]
    assert result.assign(v * 2.0).numpy().tolist() == v.numpy().tolist() == [7.0, 26.0]
    for assign in (v.assign, v.assign_add, v.assign_sub):
        assert assign([1.0, 1.0], read_value=False) is None
    assert v.numpy().tolist() == [1.0, 1.0]
    assert v.assign(np.array([2, 3])).numpy().tolist() == [2.0, 3.0]
    v.load([5.0, 6.0])
    assert v.numpy().tolist() == [5.0, 6.0]
    text = tf.Variable(["a", "b"])
    assert text.assign(["c", "d"]).numpy().tolist() == [b"c", b"d"]


def test_assignments_that_are_refused():
    v = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(ValueError, match=r"Cannot assign value to variable ' v:0': Shape mismatch\.The variable shape"):
        v.assign([1.0, 2.0, 3.0])
    for change in (v.assign_add, v.assign_sub):
        said = r"Cannot update variable with shape \[2\] using a Tensor with shape \[\], shapes must be equal"
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            change(1.0)
    for change in (v.assign, v.assign_add, v.assign_sub):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            change(tf.constant([1, 2]))
    for name in ("bool", "string"):
        other = tf.Variable(tf.cast([1, 0], tf.bool) if name == "bool" else ["a", "b"])
        with pytest.raises(tf.errors.OpError):
            other.assign_add(other.value())
    assert v.numpy().tolist() == [1.0, 2.0]


def test_shapes_that_change():
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))
    assert v.shape.as_list() == [None]
    assert v.assign([1.0, 2.0, 3.0]).numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([[1.0]])
    unknown = tf.Variable(1.0, shape=tf.TensorShape(None))
    assert unknown.assign([[1.0, 2.0]]).numpy().tolist() == [[1.0, 2.0]] and unknown.shape.rank is None


@pytest.mark.parametrize(
    ("name", "symbol", "instead"),
    [("add", "+", "assign_add(value)"), ("sub", "-", "assign_sub(value)"), ("mul", "*", "assign(variable * value)")],
)
def test_operators_that_would_change_it(name, symbol, instead):
    v = tf.Variable(1.0)
    said = f"`variable {symbol}= value` with `tf.Variable`s is not supported. Use `variable.{instead}` to modify the"
    with pytest.raises(RuntimeError, match=re.escape(said)):
        getattr(v, f"__i{name}__")(2.0)
    assert float(v) == 1.0


def test_references_and_hashes():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    assert v.ref() == v.experimental_ref() != w.ref() and v.ref().deref() is v
    assert {v.ref(): "v"}[v.ref()] == "v"
    with pytest.raises(TypeError, match=r"Variable is unhashable. Instead, use variable.ref\(\) as the key"):
        hash(v)


def test_copies():
    v = tf.Variable([1, 2], trainable=False, name="v", shape=[None], dtype=tf.int64)
    deep, again = copy.deepcopy([v, v])
    assert deep is again and deep is not v
    assert deep.trainable is False and deep.name == "v:0" and deep.shape.as_list() == [None] and deep.dtype is tf.int64
    deep.assign([5, 6, 7])
    assert v.numpy().tolist() == [1, 2] and deep.numpy().tolist() == [5, 6, 7]


def test_pickles():
    v = tf.Variable([1, 2], trainable=False, name="v", dtype=tf.int16)
    found = pickle.loads(pickle.dumps(v))
    assert found.numpy().tolist() == [1, 2] and found.trainable is False and found.name == "v:0"
    assert found.dtype is tf.int16


def test_texts():
    v = tf.Variable([1.5], name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=(1,) dtype=float32, numpy=array([1.5], dtype=float32)>"
    seen = []
    tf.function(lambda: seen.append(repr(v)), autograph=False).get_concrete_function()
    assert seen == ["<tf.Variable 'v:0' shape=(1,) dtype=float32>"]


def test_what_is_refused_while_a_function_is_traced():
    v = tf.Variable([1.5])

    @tf.function(autograph=False)
    def function():
        for call in (v.numpy, lambda: copy.deepcopy(v), lambda: np.asarray(v)):
            with pytest.raises(NotImplementedError, match="only available when eager execution is enabled"):
                call()
        with pytest.raises(ValueError, match="Shape mismatch"):
            v.assign([1.0, 2.0])
        return tf.constant(True)

    assert function()


def test_attributes_of_graphs():
    v = tf.Variable([1.5])
    for name in ("op", "graph"):
        with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager execution is enabled"):
            getattr(v, name)
    for call in (v.eval, v.to_proto, lambda: v.initial_value, lambda: tf.Variable.from_proto(None)):
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
            call()
    assert v.initializer is None


def test_variables_of_a_graph():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0], name="v")
        with v1.Session() as session:
            session.run(v.initializer)
            assert v.eval().tolist() == v.eval(session).tolist() == [1.0, 2.0]
            v.load([3.0, 4.0], session)
            assert session.run(v).tolist() == [3.0, 4.0]
            assert session.run(v.initial_value).tolist() == [1.0, 2.0]
            assert session.run(v.assign_add([1.0, 1.0])).tolist() == [4.0, 5.0]
            assert session.run(v.value()).tolist() == [4.0, 5.0]
        assert v.graph is graph and v.op.name == "v" and hash(v) == hash(v) and {v: 1}[v] == 1
        assert v.to_proto().variable_name == "v:0"


def test_watched_variables():
    v, w = tf.Variable(3.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * w
    assert tape.watched_variables() == (v,)
    assert [None if g is None else float(g) for g in tape.gradient(y, [v, w])] == [30.0, None]


def test_state_of_checkpoints():
    v = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(ValueError, match=r"Received incompatible tensor with shape \(3,\) when attempting to restore"):
        v._restore_from_tensors({"VARIABLE_VALUE": tf.constant([1.0, 2.0, 3.0])})
    v._restore_from_tensors({"VARIABLE_VALUE": tf.constant([7.0, 8.0])})
    assert v.numpy().tolist() == [7.0, 8.0]
    (value,) = v._serialize_to_tensors().values()
    assert value.numpy().tolist() == [7.0, 8.0]
