"""What TensorFlow checks while a function is traced, and what only when it runs: by its shape functions and kernels."""

import re

import pytest

import tapeflow as tf


def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


X = tf.TensorSpec(None, tf.float32)

REFUSED_WHEN_RUN = {
    "reduce_sum": lambda: tf.reduce_all([[True]], [0, 0]),
    "argmax": lambda: tf.argmax([1.0], 1),
    "cumsum": lambda: tf.cumsum(3.0),
    "roll": lambda: tf.roll([1.0], 1, 1),
    "slice": lambda: tf.slice([1.0, 2.0], [0], [5]),
    "segment_sum": lambda: tf.math.segment_sum([1.0, 2.0], [0]),
    "band_part": lambda: tf.linalg.band_part([1.0, 2.0], 0, 0),
    "tile": lambda: tf.tile([1.0], [-1]),
    "transpose": lambda: tf.transpose([[1.0]], [0, 0]),
    "scatter_nd": lambda: tf.scatter_nd([[0, 0]], [1.0], [6]),
    "one_hot": lambda: tf.one_hot([0], 2, axis=3),
    "mirror_pad": lambda: tf.pad([1.0, 2.0], [[3, 0]], "SYMMETRIC"),
    "rfft": lambda: tf.signal.rfft([1.0, 2.0], [-1]),
}


@pytest.mark.parametrize("name", REFUSED_WHEN_RUN)
def test_what_kernels_alone_refuse_fails_when_it_runs(name):
    function = traced(REFUSED_WHEN_RUN[name])
    with pytest.raises(tf.errors.InvalidArgumentError):
        function()


REFUSED_WHILE_TRACED = {
    "slice": lambda x: tf.slice([1.0, 2.0], [4], [-1]),
    "transpose": lambda x: tf.transpose(x, [0, 3]),
    "pad": lambda x: tf.pad(x, [[-3, 0]]),
    "argmax": lambda x: tf.argmax([[1.0]], 2),
    "scatter": lambda x: tf.tensor_scatter_nd_update(x, [[0], [1]], [1.0]),
    "empty": lambda x: tf.tensor_scatter_nd_update(tf.zeros([3, 0]), [[1, 1]], [1.0]),
    "set_diag": lambda x: tf.linalg.set_diag(tf.zeros([3, 3]), tf.zeros([2, 2])),
    "dilation": lambda x: tf.nn.conv2d(x, x, 1, "SAME", dilations=-1),
    "back_input": lambda x: tf.nn.conv2d_transpose(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 1, 2]), [2, 8, 8, 1], 2),
    "sizes": lambda x: tf.nn.conv2d_transpose(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 1, 2]), [8, 8, 1], 2),
    "approx_top_k": lambda x: tf.approx_top_k(x, 2),
    "ranks": lambda x: tf.linalg.solve(x, [1.0]),
    "unique": lambda x: tf.unique([[1, 2]]),
    "substr": lambda x: tf.strings.substr(["ab"], [0, 1], [1]),
    "segment_join": lambda x: tf.strings.unsorted_segment_join(["a"], [0, 1], 2),
    "central_crop": lambda x: tf.image.central_crop(x, 0.5),
    "convolution": lambda x: tf.nn.convolution(x, x, 1),
    "parallel_stack": lambda x: tf.parallel_stack([x, x]),
    "quantize": lambda x: tf.quantization.quantize_and_dequantize_v2(x, -2.0, 2.0, axis=1),
}


@pytest.mark.parametrize("name", REFUSED_WHILE_TRACED)
def test_what_shape_functions_refuse_is_a_value_error_while_tracing(name):
    with pytest.raises(ValueError):
        traced(REFUSED_WHILE_TRACED[name], X)


WRONG_TYPES = {
    "one_hot": (lambda n: tf.one_hot([0], n), tf.int16),
    "roll": (lambda n: tf.roll([1.0], 1, n), tf.uint16),
    "scatter_nd": (lambda n: tf.scatter_nd([[1]], [1.0], tf.reshape(n, [1])), tf.uint64),
    "uniform": (lambda n: tf.random.stateless_uniform(tf.reshape(n, [1]), [1, 2]), tf.uint32),
    "reduce": (lambda n: tf.reduce_max([1.0], n), tf.bfloat16),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_dtypes_of_axes_and_shapes_are_those_of_the_op_definition(name):
    function, dtype = WRONG_TYPES[name]
    with pytest.raises(TypeError):
        traced(function, tf.TensorSpec([], dtype))


def test_a_tensor_in_the_place_of_an_attr_is_a_type_error():
    with pytest.raises(TypeError, match="Expected int for argument 'channels'"):
        traced(lambda n: tf.io.decode_bmp(b"", channels=n), tf.TensorSpec([], tf.int64))
    with pytest.raises(TypeError, match="Expected list for 'ksizes'"):
        sizes = tf.TensorSpec([5], tf.int32)
        traced(lambda n: tf.extract_volume_patches(tf.zeros([1, 2, 2, 2, 1]), n, [1] * 5, "VALID"), sizes)


def test_csv_defaults_may_be_tensors_of_the_graph():
    function = traced(lambda d: tf.io.decode_csv(["1,", "2,b"], [[0], d]), tf.TensorSpec([1], tf.string))
    assert [c.numpy().tolist() for c in function(tf.constant(["x"]))] == [[1, 2], [b"x", b"b"]]


def test_lookups_of_sparse_ids_of_unknown_rank():
    function = traced(
        lambda w, ids: tf.nn.safe_embedding_lookup_sparse(w, ids),
        tf.TensorSpec([3, 2]), tf.SparseTensorSpec(None, tf.int64),
    )  # fmt: skip
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for shape in ([2, 2], [2, 1, 2]):
        ids = tf.sparse.from_dense(tf.reshape(tf.constant([[1, 2], [0, 0]], tf.int64), shape))
        result = function(weights, ids)
        assert result.shape == [*shape[:-1], 2]
        assert result.numpy().reshape(-1, 2).tolist() == [[4.0, 5.0], [0.0, 0.0]]


def test_constants_of_several_outputs_are_evaluated_for_shapes():
    assert traced(lambda: tf.strings.split(["a b", "c"], maxsplit=1)).structured_outputs.row_splits.shape == [3]


@pytest.mark.parametrize(
    ("call", "dims"),
    [
        (lambda: tf.matmul(tf.ones([2, 4]), tf.ones([5, 2])), (4, 5)),
        (lambda: tf.matmul(tf.ones([2, 4]), tf.ones([5, 2]), transpose_a=True), (2, 5)),
        (lambda: tf.matmul(tf.ones([2, 4]), tf.ones([5, 2]), transpose_b=True), (4, 2)),
        (lambda: tf.matmul(tf.ones([3, 2, 4]), tf.ones([3, 5, 2])), (4, 5)),
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([4])), (3, 4)),
        (lambda: tf.linalg.solve(tf.ones([2, 2]), tf.ones([3, 1])), (2, 3)),
        (lambda: tf.ones([2, 3]) + tf.ones([4]), (3, 4)),
    ],
)
def test_dimensions_that_differ(call, dims):  # TensorFlow's words while a graph is built
    message = f"Dimensions must be equal, but are {dims[0]} and {dims[1]} for '{{{{node "
    with pytest.raises(ValueError, match=re.escape(message)):
        tf.function(call, autograph=False)()
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


# Whether the shape function of an operation sees a value derived from a captured 3, as in TensorFlow: in the function
# that captures it, and in a branch there.
DERIVED = {
    "itself": (lambda n: n, True, True),
    "sum": (lambda n: n * 2 + 1, True, False),
    "of a list": (lambda n: tf.reduce_sum(tf.stack([n, 2])), True, False),
    "of a shape": (lambda n: tf.shape(tf.zeros([n, 1]))[0], True, False),
    "of a conditional": (lambda n: tf.cond(n > 0, lambda: n, lambda: n + 1) + 1, False, False),
    "of a loop": (lambda n: tf.while_loop(lambda i: i < n, lambda i: [i + 2], [0])[0], False, False),
}


@pytest.mark.parametrize("in_branch", [False, True])
@pytest.mark.parametrize("name", DERIVED)
def test_values_of_captured_tensors_that_shape_functions_see(name, in_branch):
    derive, *is_seen = DERIVED[name]
    three, others = tf.constant(3), tf.constant([1.0, 2.0])

    @tf.function
    def function(x, reshapes):
        unrelated = tf.reduce_sum(others) + tf.reduce_sum(x)
        size = derive(three)
        if reshapes:
            return tf.reshape(x, tf.stack([size, 2])) + unrelated
        return x

    x = tf.ones([4])
    reshapes = tf.constant if in_branch else bool
    if is_seen[in_branch]:
        with pytest.raises(ValueError, match=r"elements|values"):
            function.get_concrete_function(x, reshapes(True))
        return
    assert function(x, reshapes(False)).numpy().tolist() == [1.0] * 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="requested shape has"):
        function(x, reshapes(True))
