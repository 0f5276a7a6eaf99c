"""Functions of loaded SavedModels: which trace a call gets, and what is refused. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf


def loaded(folder, **functions):
    """Returns an object with functions, saved and loaded; traces are what their lists of arguments say."""
    module = tf.Module()
    for name, (function, calls) in functions.items():
        function = function if hasattr(function, "get_concrete_function") else tf.function(function)
        for args, kwargs in calls:
            function.get_concrete_function(*args, **kwargs)
        setattr(module, name, function)
    tf.saved_model.save(module, str(folder))
    return tf.saved_model.load(str(folder))


def spec(shape, dtype=tf.float32, name=None):
    return tf.TensorSpec(shape, dtype, name)


def value(x):
    return x.numpy().tolist()


def test_traces_by_dtype_shape_and_values(tmp_path):
    def describe(x, mode="plain", training=False):
        return tf.constant(f"{x.dtype.name} {x.shape.rank} {mode} {training}")

    calls = [
        ((spec([None]),), {}),
        ((spec([2, 2]), "other"), {}),
        ((spec([None]), "plain", True), {}),
        ((spec([None], tf.int32), "plain"), {"training": True}),
    ]
    f = loaded(tmp_path, f=(describe, calls)).f
    ones = tf.ones([3])
    for args, kwargs, expected in (
        ((ones,), {}, "float32 1 plain False"),
        ((ones, "plain"), {}, "float32 1 plain False"),
        ((), {"x": ones}, "float32 1 plain False"),
        ((ones,), {"training": True}, "float32 1 plain True"),
        ((ones, "plain", True), {}, "float32 1 plain True"),
        ((tf.ones([2, 2]), "other"), {}, "float32 2 other False"),
        ((tf.constant([1]),), {"training": True}, "int32 1 plain True"),
        (([1.0, 2.0],), {}, "float32 1 plain False"),
    ):
        assert f(*args, **kwargs).numpy().decode() == expected
    for args, kwargs in (
        ((tf.ones([3, 3]),), {}),
        ((tf.ones([2, 2]),), {}),
        ((ones, "other"), {}),
        ((tf.constant([1]),), {}),
        ((tf.constant(["a"]),), {}),
        ((["a"],), {}),
        ((ones,), {"training": 1}),
        ((ones,), {"training": tf.constant(True)}),
        ((None,), {}),
    ):
        with pytest.raises((ValueError, TypeError)):
            f(*args, **kwargs)
    for args, kwargs in (((), {}), ((ones, "plain", True, 4), {}), ((ones,), {"wrong": 1}), ((ones,), {"x": ones})):
        with pytest.raises((TypeError, ValueError)):
            f(*args, **kwargs)


def test_a_call_that_fits_no_trace_shows_all(tmp_path):
    f = loaded(tmp_path, f=(lambda x, flag=True: x, [((spec([2], name="x"),), {}), ((spec([3]), False), {})])).f
    with pytest.raises(
        ValueError, match="Could not find matching concrete function to call loaded from the SavedModel"
    ) as e:
        f(tf.ones([4]), flag=True)
    text = str(e.value)
    assert "Expected these arguments to match one of the following 2 option(s)" in text
    assert "Option 1:" in text and "Option 2:" in text and "Option 3:" not in text
    assert text.count("Positional arguments (2 total):") == 3 and "shape=(4,)" in text


def test_a_function_without_traces(tmp_path):
    f = loaded(tmp_path, f=(lambda x: x, [])).f
    with pytest.raises(ValueError, match="Found zero restored functions for caller function"):
        f(1.0)


def test_structures(tmp_path):
    pair = {"a": spec([2]), "rest": [spec([], tf.int32), (spec([1]),)]}

    def total(x, *more, scale=1.0):
        return {"sum": tf.reduce_sum(x["a"]) + x["rest"][1][0][0] * scale, "rest": [x["rest"][0], *more], "none": None}

    f = loaded(tmp_path, f=(total, [((pair,), {}), ((pair, spec([])), {"scale": 2.0})])).f
    x = {"a": tf.constant([1.0, 2.0]), "rest": [tf.constant(5), (tf.constant([10.0]),)]}
    found = f(x)
    assert value(found["sum"]) == 13.0 and [value(t) for t in found["rest"]] == [5] and found["none"] is None
    found = f(x, tf.constant(7.0), scale=2.0)
    assert value(found["sum"]) == 23.0 and [value(t) for t in found["rest"]] == [5, 7.0]
    plain = {"a": [1.0, 2.0], "rest": [5, ([10.0],)]}
    assert value(f(plain)["sum"]) == 13.0
    for wrong in ({"a": x["a"]}, {**x, "b": 1.0}, [x], {"a": x["a"], "rest": x["rest"][:1]}):
        with pytest.raises((ValueError, TypeError)):
            f(wrong)


def test_input_signatures(tmp_path):
    f = tf.function(lambda x, n=2: x * tf.cast(n, tf.float32), input_signature=[spec([None]), spec([], tf.int32)])
    f = loaded(tmp_path, f=(f, [])).f
    assert value(f([1.0, 2.0], 3)) == [3.0, 6.0] and value(f(tf.ones([1]), tf.constant(4))) == [4.0]
    with pytest.raises((ValueError, TypeError)):
        f(tf.ones([1, 1]), 3)


def test_composite_arguments(tmp_path):
    ragged = tf.RaggedTensorSpec([None, None], tf.float32)
    sparse = tf.SparseTensorSpec([2, 2])
    functions = loaded(
        tmp_path,
        ragged=(lambda x: x * 2.0, [((ragged,), {})]),
        sparse=(lambda x: tf.sparse.to_dense(x), [((sparse,), {})]),
    )
    assert functions.ragged(tf.ragged.constant([[1.0], [2.0, 3.0]])).to_list() == [[2.0], [4.0, 6.0]]
    assert value(functions.sparse(tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]))) == [[1.0, 0.0], [0.0, 2.0]]
    with pytest.raises((ValueError, TypeError)):
        functions.ragged(tf.ones([2, 2]))


def test_static_shapes_and_gradients(tmp_path):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    module.f = tf.function(lambda x: x * module.v, input_signature=[spec([None, 2])])
    tf.saved_model.save(module, str(tmp_path))
    again = tf.saved_model.load(str(tmp_path))

    @tf.function
    def around(x):
        with tf.GradientTape() as tape:
            y = again.f(x)
        assert y.shape.as_list() == [None, 2]
        return tape.gradient(y, again.v)

    assert value(around.get_concrete_function(spec([None, 2]))(tf.constant([[3.0, 4.0], [5.0, 6.0]]))) == [8.0, 10.0]


def test_they_are_saved_again(tmp_path):
    first = loaded(tmp_path / "1", f=(lambda x, k=1: x + float(k), [((spec([]),), {}), ((spec([]), 2), {})]))
    tf.saved_model.save(first, str(tmp_path / "2"))
    second = tf.saved_model.load(str(tmp_path / "2"))
    assert (value(second.f(1.0)), value(second.f(1.0, 2)), value(second.f(1.0, k=2))) == (2.0, 3.0, 3.0)
    with pytest.raises(ValueError, match="2 option"):
        second.f(1.0, 3)


def test_traces_as_attributes(tmp_path):
    module = tf.Module()
    f = tf.function(lambda x, y: {"out": x - y})
    module.trace = f.get_concrete_function(spec([], name="x"), spec([], name="y"))
    tf.saved_model.save(module, str(tmp_path), {"mine": module.trace})
    again = tf.saved_model.load(str(tmp_path))
    assert value(again.trace(tf.constant(5.0), tf.constant(3.0))["out"]) == 2.0
    assert value(again.trace(x=tf.constant(5.0), y=tf.constant(3.0))["out"]) == 2.0
    signatures = again.signatures
    assert list(signatures) == ["mine"] and len(signatures) == 1 and "mine" in signatures
    assert value(signatures["mine"](x=tf.constant(5.0), y=tf.constant(3.0))["out"]) == 2.0
    assert repr(signatures).startswith("_SignatureMap({'mine': <ConcreteFunction")
    with pytest.raises(TypeError):
        signatures["mine"](tf.constant(5.0), tf.constant(3.0))
    with pytest.raises(KeyError):
        signatures["other"]
