"""Concrete functions: their attributes, and how results are packed."""

import collections

import pytest

import tapeflow as tf

SPEC = tf.TensorSpec([None, 2], tf.float32, "x")
Pair = collections.namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "result",
    [
        lambda x: x + 1.0,
        lambda x: [x, (x + 1.0, {"k": x * 2.0})],
        lambda x: {"b": x, "a": None, "c": [x * 2.0]},
        lambda x: Pair(x, x * 3.0),
        lambda x: None,
        lambda x: (),
        lambda x: [x, None, [None, x]],
        lambda x: (x, tf.RaggedTensor.from_row_lengths(x[:, 0], [1, 1])),
    ],
)
def test_results_have_the_structure_of_the_python_function(result):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    expected = result(x)
    function = tf.function(result)
    for found in (function(x), function.get_concrete_function(SPEC)(x)):
        tf.nest.assert_same_structure(found, expected, expand_composites=True)
        assert isinstance(found, type(expected))
        flat = [tf.nest.flatten(value, expand_composites=True) for value in (found, expected)]
        for a, b in zip(*flat, strict=True):
            assert (a is None and b is None) or (a.numpy().tolist() == b.numpy().tolist() and a.dtype is b.dtype)


def test_attributes():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    concrete = tf.function(lambda x, scale: {"y": x * v + w, "z": scale}).get_concrete_function(SPEC, scale=3)
    assert concrete.name.decode().startswith("__inference_") and isinstance(concrete.name, bytes)
    assert [x.ref() for x in concrete.variables] == [v.ref(), w.ref()]
    assert [x.ref() for x in concrete.trainable_variables] == [v.ref()]
    assert len(concrete.inputs) == 3 and concrete.inputs[0].shape.as_list() == [None, 2]
    assert [t.dtype for t in concrete.inputs] == [tf.float32, tf.resource, tf.resource]
    assert [t.dtype for t in concrete.captured_inputs] == [tf.resource, tf.resource]
    assert concrete.output_shapes["y"].as_list() == [None, 2] and concrete.output_dtypes["y"] is tf.float32
    assert concrete.structured_outputs["y"].dtype is tf.float32
    (args, kwargs) = concrete.structured_input_signature
    assert args[0] == SPEC and kwargs == {}
    assert concrete.add_to_graph() is None and concrete.add_gradient_functions_to_graph() is None
    assert concrete.graph is concrete.inputs[0].graph


def test_shapes_and_dtypes_of_results():
    concrete = tf.function(lambda x: (x, [tf.shape(x)])).get_concrete_function(SPEC)
    assert concrete.output_dtypes == (tf.float32, [tf.int32])
    assert concrete.output_shapes == (tf.TensorShape([None, 2]), [tf.TensorShape([2])])
    one = tf.function(lambda x: tf.reduce_sum(x)).get_concrete_function(SPEC)
    assert one.output_dtypes is tf.float32 and one.output_shapes == tf.TensorShape([])


def test_texts():
    concrete = tf.function(lambda x, n: x * n).get_concrete_function(SPEC, 2)
    short = concrete.pretty_printed_signature(verbose=False)
    assert str(concrete) == f"ConcreteFunction {concrete.pretty_printed_signature()}"
    assert repr(concrete) == f"<ConcreteFunction {short} at 0x{id(concrete):X}>"
    assert short == (
        "(x: TensorSpec(shape=(None, 2), dtype=tf.float32, name='x'), n: Literal[2]) -> "
        "TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)"
    )


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda x, y, /: x, (SPEC, 1), "(x: {}, y: Literal[1], /) -> {}"),
        (lambda x, /, y: x, (SPEC, "a"), "(x: {}, /, y: Literal['a']) -> {}"),
        (lambda x, *, k=True: x, (SPEC,), "(x: {}, *, k: Literal[True]) -> {}"),
        (lambda x, y=None: [x, y], (SPEC,), "(x: {}, y: Literal[None]) -> List[{}, Literal[None]]"),
        (lambda x, d: (x,), (SPEC, {"k": [1, 2.5]}), "(x: {}, d: Dict[['k', List[Literal[1], Literal[2.5]]]])"),
    ],
)
def test_parameters_in_texts(function, args, expected):
    spec = "TensorSpec(shape=(None, 2), dtype=tf.float32, name='x')"
    result = "TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)"
    found = tf.function(function, autograph=False).get_concrete_function(*args).pretty_printed_signature(verbose=False)
    left, _, right = expected.partition(" -> ")
    assert found == f"{left.format(spec)} -> {right.format(result) or f'Tuple[{result}]'}"


def test_calls_record_gradients():
    v = tf.Variable([2.0, 3.0])
    concrete = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([2]))
    x = tf.constant([5.0, 7.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = concrete(x)
    assert [g.numpy().tolist() for g in tape.gradient(y, [x, v])] == [[2.0, 3.0], [5.0, 7.0]]
    outer = tf.function(lambda x: concrete(x) + 1.0)
    assert outer(x).numpy().tolist() == [11.0, 22.0]


def test_arguments_of_variables():
    function = tf.function(lambda v, x: v.assign_add(x))
    first, second = tf.Variable(1.0), tf.Variable(10.0)
    assert float(function(first, tf.constant(2.0))) == 3.0 and float(function(second, tf.constant(2.0))) == 12.0
    assert float(first) == 3.0 and float(second) == 12.0
    with tf.GradientTape() as tape:
        y = tf.function(lambda v, x: v * v * x)(first, tf.constant(2.0))
    assert float(tape.gradient(y, first)) == 12.0


def test_shapes_and_dtypes_of_composite_results():
    def function(x):
        array = tf.TensorArray(tf.float32, 2).write(0, x[0])
        return {"r": tf.RaggedTensor.from_row_lengths(x, [1, 2]), "t": x, "a": array}

    concrete = tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([3], tf.float32))
    assert concrete.output_dtypes["r"] == [tf.float32, tf.int64] and concrete.output_dtypes["t"] is tf.float32
    assert concrete.output_shapes["r"] == [tf.TensorShape([3]), tf.TensorShape([3])]
    assert concrete.output_shapes["t"] == tf.TensorShape([3]) and concrete.output_dtypes["a"] is tf.float32


def test_composite_arguments_in_structures():
    def function(first, second):
        return tf.reduce_sum(first["r"], 1) + tf.cast(second[0], tf.float32) + tf.sparse.reduce_sum(second[1])

    ragged, sparse = tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.sparse.from_dense([[4.0, 0.0]])
    first, second = {"r": ragged}, [tf.constant([10, 20]), sparse]
    compiled = tf.function(function)
    for found in (compiled(first, second), compiled(second=second, first=first)):
        assert found.numpy().tolist() == [15.0, 29.0]
    specs = tf.nest.map_structure(tf.type_spec_from_value, (first, second))
    assert tf.function(function).get_concrete_function(*specs)(first, second).numpy().tolist() == [15.0, 29.0]
