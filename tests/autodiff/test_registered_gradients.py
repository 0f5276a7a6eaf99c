"""The registry of gradient functions: entries of ops and of other names, replaced and put back."""

import pytest

import tapeflow as tf
from tapeflow.autodiff.registered_gradients import function_of, registered

X = tf.constant([1.0, 2.0])


def gradient_of(function):
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = function(X)
    gradient = tape.gradient(y, X)
    return None if gradient is None else gradient.numpy().tolist()


@pytest.fixture(name="replace")
def replaced_gradients():
    """Sets entries, which are put back afterwards."""
    before = {}

    def replace(name, function):
        entry = registered[name]
        before.setdefault(name, entry["type"])
        entry["type"] = function

    yield replace
    for name, function in before.items():
        registered[name]["type"] = function


def test_an_ops_gradient_is_replaced_and_put_back(replace):
    assert gradient_of(tf.exp) == pytest.approx([2.7182817, 7.389056])
    replace("Exp", lambda op, dy: dy * 3.0)
    assert gradient_of(tf.exp) == [3.0, 3.0]
    entry = registered["Exp"]
    own = entry["type"]
    assert own(None, tf.constant(2.0)).numpy() == 6.0 and function_of("Exp") is own


def test_the_gradient_of_an_op_is_callable_by_others(replace):
    original = function_of("Square")
    replace("Square", lambda op, dy: 10.0 * original(op, dy))
    assert gradient_of(tf.square) == [20.0, 40.0]
    registered["Square"]["type"] = original
    assert gradient_of(tf.square) == [2.0, 4.0]


def test_functions_see_the_operation(replace):
    seen = {}

    def gradient(op, dy):
        seen.update(type=op.type, inputs=[i.numpy().tolist() for i in op.inputs], outputs=len(op.outputs))
        seen["transpose_a"], seen["transpose_b"] = op.get_attr("transpose_a"), op.get_attr("transpose_b")
        with pytest.raises((ValueError, KeyError)):
            op.get_attr("nothing")
        return dy, None

    replace("MatMul", gradient)
    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 0.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.linalg.matmul(a, b, transpose_b=True)
    assert tape.gradient(y, a).numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert (
        seen["type"] == "MatMul" and seen["inputs"] == [a.numpy().tolist(), b.numpy().tolist()] and seen["outputs"] == 1
    )
    assert (seen["transpose_a"], seen["transpose_b"]) == (False, True)


def test_functions_of_graphs_have_replaced_gradients(replace):
    replace("Tanh", lambda op, dy: dy * 7.0)
    traced = tf.function(lambda x: tf.tanh(x) * 2.0)
    assert gradient_of(traced) == [14.0, 14.0]


def test_entries():
    entry = registered["Exp"]
    assert list(entry) == ["type", "location"] and len(entry) == 2 and len(entry["location"]) == 5
    assert set(entry.keys()) == {"type", "location"}
    with pytest.raises(KeyError):
        _ = entry["other"]
    with pytest.raises(TypeError, match="keeps its 'type'"):
        del entry["type"]
    names = list(registered)
    assert "Exp" in names and "MatMul" in names and "Shape" not in registered and len(registered) == len(names)
    with pytest.raises(KeyError):
        _ = registered["NoSuchOp"]
    with pytest.raises(LookupError, match="gradient registry has no entry for: NoSuchOp"):
        function_of("NoSuchOp")


def test_entries_of_other_names():
    function = lambda op, dy: dy  # noqa: E731
    registered["OfATest"] = {"type": function, "location": ()}
    try:
        assert "OfATest" in registered and function_of("OfATest") is function and "OfATest" in list(registered)
    finally:
        del registered["OfATest"]
    assert "OfATest" not in registered


def test_an_entry_is_set_as_a_whole(replace):
    replace("Sin", lambda op, dy: dy)
    registered["Sin"] = {"type": lambda op, dy: dy * 5.0, "location": ()}
    assert gradient_of(tf.sin) == [5.0, 5.0]


def test_registering():
    @tf.RegisterGradient("OfAnotherTest")
    def gradient(op, dy):
        return dy * 2.0

    try:
        assert function_of("OfAnotherTest") is gradient
        with pytest.raises(KeyError, match="Registering two gradient with name 'OfAnotherTest'"):
            tf.RegisterGradient("OfAnotherTest")(gradient)
        with pytest.raises(KeyError, match="Registering two gradient with name 'Exp'"):
            tf.RegisterGradient("Exp")(gradient)
    finally:
        del registered["OfAnotherTest"]
    for call in (tf.RegisterGradient, tf.no_gradient):
        with pytest.raises(TypeError, match="op_type must be a string"):
            call(3)


def test_gradients_of_names_in_graphs():
    @tf.RegisterGradient("TenTimesOfATest")
    def gradient(op, dy):
        assert op.type == "Identity"
        return dy * 10.0

    try:
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [2])
            with graph.gradient_override_map({"Identity": "TenTimesOfATest"}):
                y = tf.identity(x) * 2.0
            (dx,) = tf.compat.v1.gradients(y, x)
            with tf.compat.v1.Session() as session:
                assert session.run(dx, {x: [1.0, 2.0]}).tolist() == [20.0, 20.0]
    finally:
        del registered["TenTimesOfATest"]


def test_no_gradient(replace):
    from tapeflow.core.ops.definition import registry

    op = registry["Atanh"]
    before = op.differentiable
    try:
        tf.no_gradient("Atanh")
        assert gradient_of(lambda x: tf.atanh(x / 4.0)) is None and "Atanh" not in registered
    finally:
        op.differentiable = before
    assert gradient_of(lambda x: tf.atanh(x / 4.0)) == pytest.approx([0.26666668, 0.33333334])
    assert tf.no_gradient("NoSuchOpOfATest") is None
