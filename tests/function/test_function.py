"""`tf.function`: traces, signatures, side effects, gradients, and what is said when something does not fit."""

import functools
import gc
import inspect
import threading
import types
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.autograph.source_map import StagingError


def test_one_trace_for_each_kind_of_input():
    seen = []

    @tf.function
    def double(a):
        seen.append(str(a))
        return a + a

    results = [double(tf.constant(1)), double(tf.constant(1.5)), double(tf.constant([1, 2])), double(tf.constant(7))]
    assert [r.numpy().tolist() for r in results] == [2, 3.0, [2, 4], 14]
    assert seen == [
        'Tensor("a:0", shape=(), dtype=int32)',
        'Tensor("a:0", shape=(), dtype=float32)',
        'Tensor("a:0", shape=(2,), dtype=int32)',
    ]


def test_python_values_and_structures():
    @tf.function
    def f(x, n=2, *, pair=None):
        return {"x": x * n, "pair": pair, "none": None}

    result = f(tf.constant(2.0), 3, pair=(tf.constant(1), [tf.constant(2)]))
    assert result["x"].numpy() == 6.0 and result["none"] is None
    assert result["pair"][0].numpy() == 1 and result["pair"][1][0].numpy() == 2
    assert f(tf.constant(2.0))["x"].numpy() == 4.0
    assert len(f._list_all_concrete_functions()) == 2


def test_input_signature():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        traces.append(x.shape)
        return tf.reduce_sum(x)

    assert f(tf.constant([1.0])).numpy() == 1.0 and f(tf.constant([1.0, 2.0])).numpy() == 3.0
    assert f([1.0, 2.0, 3.0]).numpy() == 6.0
    assert [s.as_list() for s in traces] == [[None]]
    for wrong in (tf.constant([1]), tf.constant([[1.0]])):
        with pytest.raises(TypeError, match="Can not cast"):
            f(wrong)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x, y: x, "input_signature missing type constraint for y"),
        (lambda x, *, y: x, "keyword-only parameter `y` must have a default value"),
        (lambda: 1, "more elements than the Python function accepts"),
    ],
)
def test_an_input_signature_is_for_all_parameters(function, match):
    with pytest.raises(TypeError, match=match):
        tf.function(function, input_signature=[tf.TensorSpec([])])


def test_methods_show_their_parameters():
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([])])
        def call(self, inputs):
            return inputs

    assert list(inspect.signature(Model().call).parameters) == ["inputs"]
    assert list(inspect.signature(Model.call).parameters) == ["self", "inputs"]


def test_methods_have_traces_of_their_own():
    class Counter:
        def __init__(self):
            self.v = tf.Variable(0)

        @tf.function
        def increment(self, amount):
            self.v.assign_add(amount)

    one, two = Counter(), Counter()
    one.increment(tf.constant(3))
    one.increment(tf.constant(4))
    two.increment(tf.constant(5))
    assert int(one.v) == 7 and int(two.v) == 5


def test_side_effects_run_in_program_order_each_time():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v + 0.0
        v.assign_add(1.0)
        v.assign(v * 2.0)
        return before, v.read_value()

    assert [float(t) for t in f()] == [1.0, 4.0]
    assert [float(t) for t in f()] == [4.0, 10.0]


def test_variables_are_made_on_the_first_call_only():
    class Layer:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([2, 1]) * 3.0)
            return x @ self.w

    layer = Layer()
    assert layer(tf.ones([1, 2])).numpy().tolist() == [[6.0]]
    assert layer(tf.ones([3, 2])).shape == [3, 1]

    @tf.function
    def always(x):
        return tf.Variable(1.0) + x

    with pytest.raises(ValueError, match=r"singleton tf\.Variables created on the first call"):
        always(1.0)


def test_symbolic_tensors_have_no_values():
    def inside(action):
        tf.function(action, autograph=False)(tf.constant([1.0, 2.0]))

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError if hasattr(tf.errors, "OperatorNotAllowedInGraphError")
                       else TypeError, match="as a Python `bool`"):  # fmt: skip
        inside(bool)
    with pytest.raises(TypeError, match="Iterating over a symbolic"):
        inside(lambda x: list(x))
    with pytest.raises(NotImplementedError, match=r"Cannot convert a symbolic tf\.Tensor"):
        inside(np.array)
    with pytest.raises(TypeError, match="Input 'y' of 'AddV2' Op has type int32 that does not match type float32"):
        inside(lambda x: x + tf.constant([1, 2]))
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        inside(lambda x: x + tf.constant([1.0, 2.0, 3.0]))


def test_errors_of_kernels_name_the_operation():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def f(x, y):
        return x + y

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
        f(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))


def test_errors_of_steps_that_share_a_kernel_name_the_one_that_failed():
    @tf.function
    def f(x, axis):
        right = tf.raw_ops.Cumsum(x=x, axis=axis - axis, name="right")
        return right, tf.raw_ops.Cumsum(x=x, axis=axis, name="wrong")

    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\{\{node wrong\}\}"):
            f(tf.constant([1, 2], tf.uint16), tf.constant(2))


def test_an_empty_list_that_is_refused_leaves_the_names_of_the_next_operations_alone():
    @tf.function
    def f(x):
        with pytest.raises(ValueError, match="List argument 'values' to 'ConcatV2' Op with length 0 shorter than"):
            tf.concat([], 0)
        return tf.identity(x, name="next")

    assert "next" in [op.name for op in f.get_concrete_function(tf.constant(1.0)).graph.get_operations()]


def test_gradients_inside_through_and_of_functions_of_functions():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, 2.0]])

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.nn.relu(x @ w) ** 2)

    @tf.function
    def outer(x):
        return 2.0 * loss(x)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        return tape.gradient(value, w)

    with tf.GradientTape() as tape:
        value = tf.reduce_sum(tf.nn.relu(x @ w) ** 2)
    expected = tape.gradient(value, w).numpy()
    with tf.GradientTape(persistent=True) as tape:
        through, twice = loss(x), outer(x)
    np.testing.assert_allclose(tape.gradient(through, w).numpy(), expected)
    np.testing.assert_allclose(tape.gradient(twice, w).numpy(), 2 * expected)
    np.testing.assert_allclose(inside(x).numpy(), expected)


def test_gradients_of_second_order():
    cube = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert float(first) == 12.0 and float(outer.gradient(first, x)) == 12.0


def test_gradients_with_unknown_dimensions():
    b = tf.Variable([1.0, 1.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        return tf.reduce_sum((x + b) ** 2)

    with tf.GradientTape() as tape:
        y = f(tf.ones([3, 2]))
    assert tape.gradient(y, b).numpy().tolist() == [12.0, 12.0]


def test_control_flow_and_its_gradients():
    @tf.function
    def power(x, n):
        result = tf.constant(1.0)
        for _ in tf.range(n):
            if x > 0.0:
                result = result * x
            else:
                result = result - x
        return result

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(x, tf.constant(3))
        first = tape.gradient(y, x)
    assert float(y) == 27.0 and float(first) == 27.0
    assert float(outer.gradient(first, x)) == 18.0
    assert float(power(tf.constant(-2.0), tf.constant(2))) == 5.0


def test_branches_must_agree():
    @tf.function(autograph=False)
    def f(x):
        return tf.cond(x > 0, lambda: x, lambda: tf.constant(1))

    with pytest.raises(TypeError, match="must have the same number, type, and overall structure"):
        f(tf.constant(1.0))


def test_loop_variables_keep_their_kind():
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda v: tf.size(v) < 5, lambda v: [tf.concat([v, v], 0)], [x])

    with pytest.raises(ValueError, match="shape_invariants"):
        f(tf.constant([1.0]))


def test_traces_are_explained():
    f = tf.function(lambda x, n: x * n)
    f(tf.constant(1.0), 2.0)
    f(tf.constant([1.0, 2.0]), 2.0)
    f(tf.constant([1.0, 2.0]), 3.0)
    assert f.explain_traces().splitlines() == [
        "trace 1 of <lambda>: the first call",
        "trace 2 of <lambda>: x changed from float32[] to float32[2]",
        "trace 3 of <lambda>: n changed from 2.0 to 3.0",
    ]


def test_a_dropped_function_frees_what_it_captured():
    class Big:
        def __init__(self):
            self.tensor = tf.ones([1000])

    big = Big()
    captured = big.tensor
    f = tf.function(lambda x: x + captured)
    f(tf.constant(1.0))
    graph = weakref.ref(f.get_concrete_function(tf.constant(1.0)).graph)
    del f
    gc.collect()
    assert graph() is None


def test_source_is_the_function_that_runs():
    f = tf.function(lambda x: tf.nn.relu(x) + 1.0)
    x = tf.constant([1.0, -1.0])
    f(x)
    source = f.get_concrete_function(x).source()
    assert "op_Relu(x)" in source and "op_AddV2(" in source and "careful" not in source


def test_unused_operations_do_not_run_and_effects_do():
    ran = []

    @tf.function
    def f(x):
        tf.py_function(lambda t: ran.append(float(t)), [x], [])
        tf.exp(x)
        return x + 1.0

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert ran == [1.0, 2.0]
    assert "Exp" not in f.get_concrete_function(tf.constant(1.0)).source()


def test_run_functions_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(x)
        return x + 1.0

    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen[0].numpy() == 1.0


def test_recursion_is_refused():
    @tf.function
    def f(x):
        return f(x - 1.0)

    with pytest.raises(StagingError, match="calls itself"):
        f(tf.constant(3.0))


def test_concrete_functions_take_what_they_were_traced_for():
    f = tf.function(lambda x, n: x * n)
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32), 3.0)
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 6.0]
    assert concrete([1, 2], 3.0).numpy().tolist() == [3.0, 6.0]
    assert concrete.structured_input_signature == ((tf.TensorSpec([None], tf.float32, name="x"), 3.0), {})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"#0\(zero-based\) was expected to be a float tensor but is"
    ):
        concrete(tf.constant([1]))


def test_specs_of_variables_among_the_arguments(tmp_path):
    @tf.function
    def total(x, variables):
        return x + variables[0] + variables[1] + variables[2]

    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], trainable=False)
    concrete = total.get_concrete_function(tf.TensorSpec([2]), [v, w, v])
    specs = concrete.structured_input_signature[0][1]
    assert [(s.dtype, s.trainable, s.alias_id) for s in specs] == [
        (tf.float32, True, 0), (tf.float32, False, 1), (tf.float32, True, 0),
    ]  # fmt: skip
    assert concrete(tf.zeros([2]), [v, w, v]).numpy().tolist() == [5.0, 8.0]
    module = tf.Module()
    module.total, module.variables_of_total = total, [v, w]
    tf.saved_model.save(module, tmp_path)
    assert tf.saved_model.load(tmp_path).variables_of_total[1].numpy().tolist() == [3.0, 4.0]


def test_concrete_functions_run_on_tensors_of_other_shapes():
    double = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert double(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0, 6.0]
    assert double(x=tf.ones([2, 1])).numpy().tolist() == [[2.0], [2.0]]
    assert double(tf.constant(1.0)).numpy() == 2.0
    ragged = tf.function(lambda x: x.values).get_concrete_function(tf.RaggedTensorSpec([None, None], tf.float32))
    assert ragged(tf.ones([3]), tf.constant([0, 1, 3], tf.int64)).shape == [3]

    x = tf.constant([1.0, 2.0, 3.0])
    square = tf.function(lambda x: tf.reduce_sum(x * x)).get_concrete_function(tf.TensorSpec([2]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
        tape.gradient(y, x)  # it was written for two elements

    @tf.function
    def calls(x):
        return double(x)

    with pytest.raises(TypeError, match=r"Expected shape \(2,\), but got shape \(3,\)"):
        calls(x)


def _nested(a, b, c=3, *, d):
    return a + b["x"] + b["y"][0], d


@pytest.fixture(scope="module")
def nested():
    spec = tf.TensorSpec([2])
    return tf.function(_nested).get_concrete_function(
        spec, {"x": spec, "y": [tf.TensorSpec([])]}, d=tf.TensorSpec([], tf.int32)
    )


A, ONE, INT = tf.constant([1.0, 2.0]), tf.constant(1.0), tf.constant(1)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((A, {"x": A, "y": [ONE]}, 3), {"d": INT}),
        (([1.0, 2.0], {"x": [1, 2], "y": [1.0]}, 3), {"d": 1}),
        ((A, A, ONE, INT), {}),
        ((A, A), {"b_1": ONE, "d": INT}),
        ((tf.ones([3]), tf.ones([3]), ONE, INT), {}),
    ],
    ids=["structure", "python_values", "tensors", "tensors_by_name", "other_shapes"],
)
def test_concrete_functions_take_structures_or_their_tensors(nested, args, kwargs):
    assert [t.dtype for t in nested(*args, **kwargs)] == [tf.float32, tf.int32]


# What TensorFlow says: of the structure, and then of the tensors alone.
@pytest.mark.parametrize(
    ("args", "kwargs", "why", "why_not_flat"),
    [
        ((A, {"x": A, "y": [ONE]}), {"d": INT}, "missing a required argument: 'c'", "missing required arguments: b_1."),
        ((A, {"x": A, "y": [ONE]}, 3), {}, "missing a required", "missing required arguments: d."),
        ((A, {"x": A, "y": [ONE]}, 4), {"d": INT}, "Can not cast 4 to Literal[3]", "to be a Tensor; got dict"),
        ((A, {"x": A, "y": (ONE,)}, 3), {"d": INT}, "to list type.", "to be a Tensor; got dict"),
        ((A, {"x": A, "y": [ONE, ONE]}, 3), {"d": INT}, "to have length of 1", "to be a Tensor; got dict"),
        ((A, {"x": A}, 3), {"d": INT}, "has different keys with the TraceType Dict[['x'", "to be a Tensor; got dict"),
        (
            (A, {"x": A, "y": [INT]}, 3),
            {"d": INT},
            "Can not cast TensorSpec(shape=(), dtype=tf.int32, name=None) to TensorSpec(shape=(), dtype=tf.float32",
            "fn(a, b, b_1, d): expected argument #1(zero-based) to be a Tensor; got dict",
        ),
        ((A, A, ONE, INT), {"a": A}, "multiple values for argument 'a'", "got two values for 'a'."),
        ((A, A, ONE, INT), {"q": A}, "too many positional arguments", "got unexpected keyword arguments: q."),
        ((A, A, ONE, INT, INT), {}, "too many positional arguments", "takes 4 positional arguments, got 5."),
    ],
)
def test_concrete_functions_refuse_other_arguments(nested, args, kwargs, why, why_not_flat):
    with pytest.raises(TypeError) as said:
        nested(*args, **kwargs)
    structured, _, flat = str(said.value).partition("\nFallback to flat signature also failed due to: ")
    assert structured.startswith("Binding inputs to tf.function failed due to `")
    assert why in structured and why_not_flat.replace("fn(", "_nested(") in flat


def test_what_concrete_functions_give_is_symbolic():
    v = tf.Variable(2.0)

    @tf.function
    def give(x):
        return {"s": x * v, "r": tf.RaggedTensor.from_row_lengths(x, [1, 1], validate=False), "n": None, "k": [x]}

    concrete = give.get_concrete_function(tf.TensorSpec([2]))
    given = concrete.structured_outputs
    assert given["s"].op.type == "Identity" and given["n"] is None and given["s"].graph is concrete.graph
    assert [repr(t) for t in concrete.outputs] == [
        "<tf.Tensor 'Identity:0' shape=(2,) dtype=float32>",
        "<tf.Tensor 'Identity_1:0' shape=(2,) dtype=float32>",
        "<tf.Tensor 'Identity_2:0' shape=(3,) dtype=int64>",
        "<tf.Tensor 'Identity_3:0' shape=(2,) dtype=float32>",
    ]
    assert concrete.output_shapes == {"s": [2], "r": [[2], [3]], "n": tf.TensorShape(None), "k": [[2]]}
    assert concrete.output_dtypes == {"s": tf.float32, "r": [tf.float32, tf.int64], "n": None, "k": [tf.float32]}
    assert concrete.variables == concrete.trainable_variables == (v,)
    assert concrete.captured_inputs[0].dtype is tf.resource and concrete.inputs[1].dtype is tf.resource


def test_functions_are_protos():
    v = tf.Variable(2.0)
    concrete = tf.function(lambda x: (x * v, x)).get_concrete_function(tf.TensorSpec([2]))
    proto = concrete.function_def
    assert proto.signature.name == concrete.name.decode() and "<lambda>" in proto.signature.name
    assert [a.name for a in proto.signature.output_arg] == ["identity", "identity_1"]
    assert proto.signature.input_arg[0].name == "x"
    assert dict(proto.ret) == {"identity": "Identity:output:0", "identity_1": "Identity_1:output:0"}
    assert [n.op for n in proto.node_def] == ["ReadVariableOp", "Mul", "Identity", "Identity"]


def test_signatures_are_printed_as_tensorflow_prints_them():
    @tf.function
    def several(x, y=2, *, z=None):
        return x * 2, {"a": x + 1}, None

    concrete = several.get_concrete_function(tf.TensorSpec([2], tf.float32, name="first"))
    assert concrete.pretty_printed_signature() == (
        "Input Parameters:\n"
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(2,), dtype=tf.float32, name='first')\n"
        "  y (POSITIONAL_OR_KEYWORD): Literal[2]\n"
        "  z (KEYWORD_ONLY): Literal[None]\n"
        "Output Type:\n  Tuple[TensorSpec(shape=(2,), dtype=tf.float32, name=None), Dict[['a', TensorSpec(shape=(2,), "
        "dtype=tf.float32, name=None)]], Literal[None]]\n"
        "Captures:\n  None"
    )
    assert [t.name for t in concrete.outputs] == ["Identity:0", "Identity_1:0"]
    names = [operation.name for operation in concrete.graph.get_operations()]
    assert names == ["first", "mul/y", "mul", "add/y", "add", "Identity", "Identity_1"]
    with pytest.raises(TypeError) as said:
        several()
    assert str(said.value) == (
        "Binding inputs to tf.function failed due to `missing a required argument: 'x'`. Received args: () and kwargs: "
        "{} for signature: (x, y=<captured_default_value>, *, z=<captured_default_value>)."
    )
    fixed = tf.function(lambda x, s=3: x, input_signature=[tf.TensorSpec([None, 3], tf.float32, name="inp")])
    with pytest.raises(TypeError) as said:
        fixed(tf.constant(1))
    assert "`Can not cast TensorSpec(shape=(), dtype=tf.int32, name='inp') to TensorSpec(shape=(None, 3)" in str(
        said.value
    )
    assert str(said.value).endswith(
        "(x: TensorSpec(shape=(None, 3), dtype=tf.float32, name='inp'), s: Literal[3] = <captured_default_value>)."
    )


def test_threads_trace_a_function_once():
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return x * 2.0

    barrier = threading.Barrier(4)
    results = []

    def call():
        barrier.wait()
        results.append(float(f(tf.constant(3.0))))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [6.0] * 4 and len(traces) == 1


def test_a_trace_with_open_dimensions_serves_other_shapes():
    traces = []

    @tf.function(reduce_retracing=True)
    def total(x, factor=1):
        traces.append((x.shape, factor))
        return tf.reduce_sum(x) * factor

    for shape in ([1], [2], [3], [1], [2, 3], [4, 5], [7], [2]):
        assert total(tf.ones(shape)).numpy() == np.prod(shape)
    for length in (9, 8):
        assert total(tf.ones([length]), 2).numpy() == 2 * length
    for length in (6, 5, 4):
        assert total(tf.ones([length], tf.int32)).numpy() == length
    wanted = [([1], 1), ([None], 1), (None, 1), ([9], 2), ([None], 2), ([6], 1), ([None], 1)]  # as in TensorFlow
    assert [(s.as_list() if s.rank is not None else None, n) for s, n in traces] == wanted
    assert total.experimental_get_tracing_count() == 7


def test_nests_are_traced_with_open_dimensions():
    shapes = []
    f = tf.function(lambda d: shapes.append(d["a"].shape) or d["a"], reduce_retracing=True)
    for n in range(1, 5):
        assert f({"a": tf.ones([n, 3])}).shape == [n, 3]
    assert shapes == [[1, 3], [None, 3]]


def test_open_dimensions_are_explained():
    f = tf.function(lambda x: x, reduce_retracing=True)
    for n in (1, 2, 3):
        f(tf.ones([n]))
    f(tf.constant(1))
    assert f.explain_traces().splitlines()[1:] == [
        "trace 2 of <lambda>: x changed from float32[1] to float32[2]",
        "trace 3 of <lambda>: x changed from float32[None] to int32[]",
    ]


def test_unknown_ranks_are_explained():
    f = tf.function(lambda x: x * 2)
    with tf.Graph().as_default():
        f(tf.compat.v1.placeholder(tf.float32))
    for shape in ([2, 3], [4]):
        with tf.Graph().as_default():
            assert f(tf.ones(shape)).shape == shape
    assert f.explain_traces().splitlines()[1:] == [
        "trace 2 of <lambda>: x changed from float32 to float32[2, 3]",
        "trace 3 of <lambda>: x changed from float32[2, 3] to float32[4]",
    ]


def test_retracing_is_warned_of_twice(caplog):
    f = tf.function(lambda x: x + 1)
    with caplog.at_level("WARNING"):
        for n in range(40):
            f(n)
    said = [r.getMessage() for r in caplog.records if "retracing" in r.getMessage()]
    assert len(said) == 2
    assert said[0].startswith("5 out of the last 5 calls to <lambda> triggered tf.function retracing")
    assert "x changed from 3 to 4" in said[0]


# ---- functions that call functions -----------------------------------------------------------------------------------


def test_a_called_function_is_written_out_in_its_caller():
    w = tf.Variable([[2.0]])

    @tf.function
    def layer(x):
        return tf.tanh(x @ w)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        return loss, tape.gradient(loss, w)

    x = tf.constant([[0.3], [0.1]])
    for _ in range(2):
        loss, gradient = step(x)
        np.testing.assert_allclose(loss, np.sum(np.tanh(x.numpy() * 2.0) ** 2), rtol=1e-6)
        t = np.tanh(x.numpy() * 2.0)
        np.testing.assert_allclose(gradient, [[np.sum(2 * t * (1 - t**2) * x.numpy())]], rtol=1e-6)
    source = step.get_concrete_function(x).source()
    assert "PartitionedCall" not in source and source.count("op_") == 1


def test_second_order_through_a_function_that_is_called_twice():
    w = tf.Variable([[2.0]])

    def plain(x):
        return tf.tanh(x @ w)

    layer = tf.function(plain)

    def second(f):
        def g(x):
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    loss = tf.reduce_sum(f(f(x)) ** 2)
                gradient = inner.gradient(loss, w)
                squares = tf.reduce_sum(gradient * gradient)
            return gradient, outer.gradient(squares, w)

        return g

    x = tf.constant([[0.3], [0.1]])
    expected = second(plain)(x)
    for function in (second(layer), tf.function(second(layer)), tf.function(second(plain))):
        for actual, wanted in zip(function(x), expected, strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-5)


def test_side_effects_of_called_functions_keep_their_order():
    v = tf.Variable(1.0)

    @tf.function
    def increment():
        v.assign_add(1.0)
        return v * 1.0

    @tf.function
    def sequence():
        before = v * 1.0
        increment()
        between = v * 1.0
        last = increment()
        return before, between, last, v * 1.0

    assert [float(r) for r in sequence()] == [1.0, 2.0, 3.0, 3.0]
    assert [float(r) for r in sequence()] == [3.0, 4.0, 5.0, 5.0]


def test_gradients_of_some_outputs_of_a_called_function():
    @tf.function
    def two(x):
        return tf.sin(x), tf.cos(x) * x

    @tf.function
    def gradient_of(x, which):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            outputs = two(x)
        return tape.gradient(outputs[which], x), tape.gradient(list(outputs), x)

    x = tf.constant(0.5)
    dsin, dcos = np.cos(0.5), np.cos(0.5) - 0.5 * np.sin(0.5)
    for which, expected in ((0, dsin), (1, dcos)):
        one, both = gradient_of(x, which)
        np.testing.assert_allclose(one, expected, rtol=1e-6)
        np.testing.assert_allclose(both, dsin + dcos, rtol=1e-6)


def test_dtypes_that_are_computed_in_another_one():
    function = tf.function(lambda a, b: a * b + a)
    a, b = tf.constant([1, 2, 100], tf.uint16), tf.constant([3, 2, 700], tf.uint16)
    for _ in range(3):
        assert function(a, b).numpy().tolist() == [4, 6, (100 * 700 + 100) % 65536]


# ---- first values of variables that depend on arguments --------------------------------------------------------------


class Scaled(tf.Module):
    """A module whose variable begins with what its first call brings."""

    def __init__(self):
        super().__init__()
        self.v = None
        self.w = tf.Variable(3.0)
        self.k = tf.constant([2.0, 2.0])

    @tf.function
    def first(self, y):
        if self.v is None:
            self.v = tf.Variable(y * self.w + self.k[0])
        return self.v

    @tf.function
    def __call__(self, x, b):
        return self.first(tf.reduce_sum(x) + b) * x


@pytest.mark.parametrize("x", [np.array([1.0, 3.0], np.float32), tf.constant([1.0, 3.0])], ids=["array", "tensor"])
def test_a_variable_begins_with_what_the_first_call_brings(x):
    module = Scaled()
    np.testing.assert_array_equal(module(x, b=tf.constant(1.0)), [17.0, 51.0])
    np.testing.assert_array_equal(module(tf.constant([1.0, 5.0]), tf.constant(9.0)), [17.0, 85.0])
    assert float(module.v) == 17.0


def test_a_variable_can_not_begin_with_what_no_call_has_brought():
    module = Scaled()
    with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'y'"):
        module.first.get_concrete_function(tf.TensorSpec([]))


def test_a_traced_function_does_not_keep_the_arguments_of_its_first_call():
    f = tf.function(lambda x: x + 1.0)
    x = tf.constant([1.0, 2.0, 3.0])
    f(x)
    there = weakref.ref(x)
    del x
    gc.collect()
    assert there() is None


def test_a_function_has_the_attributes_of_what_it_was_made_of():
    class Scale(tf.Module):
        def __init__(self):
            super().__init__(name="mine")
            self.factor = tf.Variable(3.0)

        def __call__(self, x):
            return x * self.factor

    scale = Scale()
    function = tf.function(scale)
    assert function.factor is scale.factor
    assert function(2.0).numpy() == 6.0

    def plain(x):
        return x

    plain.note, plain._traces = "a note", "not the function's own"
    assert tf.function(plain).note == "a note"
    assert tf.function(plain)(1.0).numpy() == 1.0


def product(a, b):
    return tf.matmul(a, b) + 1.0


def layer(a, b):
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(a, b), tf.ones(2)))


def branch(a, b):
    return tf.cond(tf.reduce_sum(a) >= 0.0, lambda: layer(a, b), lambda: tf.zeros([2, 2]))


def loop(a, b):
    return tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, h + layer(a, b)), (0, tf.zeros([2, 2])))[1]


@pytest.mark.parametrize("inner", [product, layer, branch, loop])
def test_what_fails_in_a_function_that_is_called_says_what_eager_code_says(inner):
    matrices = [tf.TensorSpec([None, None])] * 2
    called = tf.function(inner)

    @tf.function(input_signature=matrices)
    def outer(a, b):
        return called(a * 2.0, b) + called(a, b)

    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Matrix size-incompatible: In\[0\]: \[2,3\]"):
            outer(tf.zeros([2, 3]), tf.zeros([4, 2]))
        assert outer(tf.zeros([2, 3]), tf.zeros([3, 2])).shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: tf.concat([], 0), ValueError, "List argument 'values' to 'ConcatV2' Op with length 0 shorter"),
        (
            lambda x: tf.nn.max_pool2d(x, 3, 1, "VALID"),
            ValueError,
            "Negative dimension size caused by subtracting 3 from 2 for '{{node ",
        ),
        (
            lambda x: x + tf.ones([3, 1]),
            ValueError,
            "Dimensions must be equal, but are 2 and 3 for '{{node add}} = AddV2[T=DT_FLOAT](x, ones)' "
            "with input shapes: [1,2,2,1], [3,1].",
        ),
        (lambda x: tf.sort(x, 7), ValueError, ""),
        (lambda x: x + tf.constant(1), TypeError, "Input 'y' of 'AddV2' Op has type int32 that does not match type"),
    ],
)
def test_invalid_operations_while_traced(call, error, says):
    with pytest.raises(error) as caught:
        tf.function(call)(tf.ones([1, 2, 2, 1]))
    assert type(caught.value) is error and says in str(caught.value)
    assert "<op " not in str(caught.value)  # frames of generated code


# ---- bound methods ---------------------------------------------------------------------------------------------------


class Scale:
    def __init__(self):
        self.factor = 2

    def method(self, x):
        return x * self.factor

    def __call__(self, x):
        return x * self.factor

    @tf.function
    def decorated(self, x):
        return x * self.factor

    @tf.function
    def without_self(self, x):
        return x + x


class WithoutReferences:
    """An object that no weak reference can refer to."""

    __slots__ = ("factor",)

    def __init__(self):
        self.factor = 2

    def method(self, x):
        return x * self.factor


SIGNATURE = [tf.TensorSpec([], tf.int32)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.function(Scale().method),
        lambda: tf.function(Scale().__call__),
        lambda: tf.function(Scale()),
        lambda: tf.function(WithoutReferences().method),
        lambda: tf.function(functools.partial(Scale().method)),
        lambda: tf.function(tf.function(Scale().method)),
        lambda: tf.function(types.MethodType(lambda self, x: x * self.factor, Scale())),
        lambda: tf.function(tf.autograph.experimental.do_not_convert(Scale().method)),
        lambda: tf.function(Scale().method, input_signature=SIGNATURE),
        lambda: tf.function(Scale().method).get_concrete_function(*SIGNATURE),
        lambda: tf.function(Scale().method).python_function,
        lambda: Scale().without_self,
        lambda: Scale().without_self.python_function,
    ],
)
def test_a_function_of_a_bound_method_holds_the_object(make):
    f = make()
    gc.collect()
    assert f(tf.constant(3)).numpy() == 6


def test_what_holds_the_object_of_a_method():
    def of_attribute(scale):
        scale.f = tf.function(scale.method)
        return scale.f

    def alive(make, held):
        scale = Scale()
        there = weakref.ref(scale)
        f = make(scale)
        f(tf.constant(3))
        if not held:
            del f
        del scale
        gc.collect()
        return there() is not None

    assert alive(lambda scale: tf.function(scale.method), held=True)
    assert not alive(lambda scale: tf.function(scale.method), held=False)
    assert not alive(of_attribute, held=False)
    assert not alive(lambda scale: scale.decorated, held=True)
    assert not alive(lambda scale: tf.function(scale.method).get_concrete_function(*SIGNATURE), held=True)


def test_traces_of_concrete_functions_are_not_warned_of(caplog):
    f = tf.function(lambda x: x + 1)
    with caplog.at_level("WARNING"):
        for n in range(8):
            f.get_concrete_function(tf.TensorSpec([n]))
        f(tf.ones([20]))
        f(tf.ones([21]))
    assert not [r for r in caplog.records if "retracing" in r.getMessage()]
    assert f.experimental_get_tracing_count() == 10


def test_a_function_that_calls_another_twice_runs_after_its_gradient():
    weights = tf.Variable(tf.fill([3, 2], 0.1))
    inner = tf.function(lambda x: tf.tanh(tf.matmul(x, weights)))
    twice = tf.function(lambda x: inner(x) + inner(2.0 * x))
    x = tf.ones([2, 3])
    before = twice(x)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(twice(x))
    assert tape.gradient(total, weights) is not None  # for which the second call gives residuals, too
    np.testing.assert_array_equal(twice(x), before)


@pytest.mark.parametrize("shape", [[None, 600], [40, 600]])
def test_tapes_keep_no_large_product_of_small_tensors(shape):
    def product(x, rows, columns):
        return x * (rows * columns)

    function = tf.function(product, input_signature=[tf.TensorSpec(s) for s in (shape, [shape[0], 1], shape[1:])])
    sources = [tf.random.stateless_normal(s, [1, 2]) for s in ([40, 600], [40, 1], [600])]
    gradients = []
    for f in (function, product):
        with tf.GradientTape() as outer:
            outer.watch(sources)
            with tf.GradientTape() as tape:
                tape.watch(sources)
                y = f(*sources)
                kept = [t.shape.as_list() for call in tape._tape.calls for t in call.attrs]
            first = tape.gradient(y, sources)
            total = tf.add_n([tf.reduce_sum(g * g) for g in first])
        assert f is product or kept.count([40, 600]) == 2  # the input and the output
        gradients.append([*first, *outer.gradient(total, sources)])
    for got, want in zip(*gradients, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
