"""Array ops whose arguments or results do not fit the op table: lists, structures, messages, initializers."""

import types

import numpy as np
import pytest

import tapeflow as tf
from op_table import check_gradient, rand

Invalid = tf.errors.InvalidArgumentError


def gradients(function):
    """The gradients of the sum of a function's squares, as a function of the same arguments."""

    def found(*args):
        with tf.GradientTape() as tape:
            for a in args:
                tape.watch(a)
            y = function(*args)
            target = tf.reduce_sum(y * y * y)
        return tape.gradient(target, list(args))

    return found


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: tf.concat([a, b, a], 0),
        lambda a, b: tf.concat([a, b], axis=-1),
        lambda a, b: tf.concat([a], 0) + b,
        lambda a, b: tf.stack([a, b]),
        lambda a, b: tf.stack([a, b, b], axis=1),
        lambda a, b: tf.dynamic_stitch([[0, 3], [2, 1]], [a, b]),
        lambda a, b: tf.reduce_sum(tf.identity_n([a, b])[1]) * a,
        lambda a, b: tf.add(*tf.meshgrid(a, b)),
    ],
)
def test_gradients_through_lists(function):
    args = [rand(2, 3), rand(2, 3, seed=1)]
    check_gradient(function, args, {}, [0, 1])
    check_gradient(gradients(function), args, {}, [0, 1])


def test_integers_above_those_of_int64():
    values = [2**64 - 1, 2**63]
    array = np.array(values, np.ulonglong)  # the type that NumPy chooses for them, where it differs from uint64
    for dtype in (None, tf.uint64):
        assert tf.constant(array, dtype).numpy().tolist() == values
    assert (tf.constant([1, 1], tf.uint64) + array).numpy().tolist() == [0, 2**63 + 1]


def test_only_one_tensor_of_a_concat_is_watched():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([[5.0], x, x], 0) * [1.0, 2.0, 3.0, 4.0, 5.0]
    assert tape.gradient(y, x).numpy().tolist() == [6.0, 8.0]


def test_the_gradient_of_a_gather_of_rows_is_sparse():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [[0, 2], [0, 0]])
    slices = tape.gradient(y, x)
    assert isinstance(slices, tf.IndexedSlices)
    assert slices.indices.numpy().tolist() == [0, 2, 0, 0]
    assert slices.dense_shape.numpy().tolist() == [3, 2]
    assert tf.convert_to_tensor(slices).numpy().tolist() == [[3.0, 3.0], [0.0, 0.0], [1.0, 1.0]]


def test_strings_are_moved_as_numbers_are():
    s = tf.constant([["a", "b"], ["c", "d"]])
    results = {
        "reshape": tf.reshape(s, [4]),
        "transpose": tf.transpose(s),
        "concat": tf.concat([s, s], 1),
        "stack": tf.stack([s, s])[1],
        "split": tf.split(s, 2, 1)[1],
        "unstack": tf.unstack(s, axis=1)[0],
        "tile": tf.tile(s, [1, 2]),
        "pad": tf.pad(s, [[1, 0], [0, 0]]),
        "gather": tf.gather(s, [1, 1]),
        "gather_nd": tf.gather_nd(s, [[0, 1]]),
        "where": tf.where([True, False], s, "x"),
        "reverse": tf.reverse(s, [0, 1]),
        "roll": tf.roll(s, 1, 0),
        "update": tf.tensor_scatter_nd_update(s, [[0]], [["y", "z"]]),
        "scatter": tf.scatter_nd([[0], [0]], ["a", "b"], [2]),
        "zeros": tf.zeros_like(s),
        "one_hot": tf.one_hot([1], 2, on_value="on", off_value="off"),
        "partition": tf.dynamic_partition(s, [1, 0], 2)[0],
        "fill": tf.fill([2], "f"),
        "repeat": tf.repeat(s, [2, 0], axis=1),
    }
    expected = {
        "reshape": ["a", "b", "c", "d"], "transpose": [["a", "c"], ["b", "d"]], "concat": [list("abab"), list("cdcd")],
        "stack": [["a", "b"], ["c", "d"]], "split": [["b"], ["d"]], "unstack": ["a", "c"],
        "tile": [list("abab"), list("cdcd")], "pad": [["", ""], ["a", "b"], ["c", "d"]], "gather": [["c", "d"]] * 2,
        "gather_nd": ["b"], "where": [["a", "x"], ["c", "x"]], "reverse": [["d", "c"], ["b", "a"]],
        "roll": [["c", "d"], ["a", "b"]], "update": [["y", "z"], ["c", "d"]], "scatter": ["ab", ""],
        "zeros": [["", ""], ["", ""]], "one_hot": [["off", "on"]], "partition": [["c", "d"]], "fill": ["f", "f"],
        "repeat": [["a", "a"], ["c", "c"]],
    }  # fmt: skip
    for name, result in results.items():
        assert result.dtype == tf.string, name
        assert np.char.decode(result.numpy().astype(bytes)).tolist() == expected[name], name


def test_quantized_numbers_are_moved_too():
    q = tf.constant([[1, 2], [3, 4]], tf.qint8)
    joined = tf.concat([tf.transpose(q), tf.gather(q, [1])], 0)
    assert joined.dtype == tf.qint8
    assert joined.numpy().dtype == np.int8
    assert joined.numpy().tolist() == [[1, 3], [2, 4], [3, 4]]


def test_unique():
    y, index = tf.unique([3, 1, 3, 2, 1])
    assert (y.numpy().tolist(), index.numpy().tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1])
    found = tf.unique_with_counts(["b", "a", "b"], tf.int64)
    assert found.y.numpy().tolist() == [b"b", b"a"]
    assert found.idx.dtype == found.count.dtype == tf.int64
    assert found.count.numpy().tolist() == [2, 1]
    assert tf.unique([1.0, np.nan, np.nan]).idx.numpy().tolist() == [0, 1, 2]
    with pytest.raises(Invalid, match=r"unique expects a 1D vector\."):
        tf.unique([[1]])


@pytest.mark.parametrize(
    ("x", "axis", "y", "index"),
    [
        ([[1, 3, 1], [1, 3, 1], [2, 3, 2]], [0], [[1, 3, 1], [2, 3, 2]], [0, 0, 1]),
        ([[1, 3, 1], [1, 3, 1], [2, 3, 2]], [-1], [[1, 3], [1, 3], [2, 3]], [0, 1, 0]),
        ([3, 1, 3], [], [3, 1], [0, 1, 0]),
        ([["b", "a"], ["b", "a"]], [0], [[b"b", b"a"]], [0, 0]),
        (np.zeros([0, 3]), [1], np.zeros([0, 1]), [0, 0, 0]),
        ([[-0.0, 1.0], [0.0, 1.0]], [0], [[-0.0, 1.0]], [0, 0]),
    ],
)
def test_unique_slices(x, axis, y, index):
    found = tf.raw_ops.UniqueWithCountsV2(x=x, axis=tf.constant(axis, tf.int32))
    np.testing.assert_array_equal(found.y, y)
    assert found.idx.numpy().tolist() == index and found.idx.dtype is tf.int32
    assert found.count.numpy().tolist() == np.bincount(index).tolist()
    assert tf.raw_ops.UniqueV2(x=x, axis=tf.constant(axis, tf.int32)).idx.numpy().tolist() == index


@pytest.mark.parametrize(
    ("shape", "wanted", "found"),
    [
        ([0, 3], [0, -1], [0, 3]), ([3, 0], [-1, 0], [3, 0]), ([0, 3, 2], [0, 2, -1], [0, 2, 3]),
        ([0, 3], [0, 4, -1], [0, 4, 0]), ([0, 0], [0, -1], [0, 1]), ([0, 3], [-1, 4], [0, 4]),
    ],
)  # fmt: skip
def test_what_is_left_of_nothing(shape, wanted, found):
    assert tf.reshape(tf.zeros(shape), wanted).shape == found
    assert tf.function(lambda x: tf.reshape(x, wanted))(tf.zeros(shape)).shape == found
    assert tf.reshape(tf.fill(shape, "a"), wanted).shape == found
    with pytest.raises(Invalid, match="a tensor with 6 values, but the requested shape has 0"):
        tf.reshape(tf.zeros([2, 3]), [0, -1])


def test_slices_with_nan_are_never_equal():
    assert len(tf.raw_ops.UniqueV2(x=[[3.0, np.nan], [3.0, np.nan]], axis=[0]).y) == 2


@pytest.mark.parametrize(
    ("axis", "match"), [([], "1D vector"), (0, "axis expects"), ([0, 1], "larger than 1"), ([2], "between")]
)
def test_unique_slices_refuses(axis, match):
    with pytest.raises(Invalid, match=match):
        tf.raw_ops.UniqueV2(x=[[1, 2]], axis=tf.constant(axis, tf.int32))


def test_fingerprints_are_farmhash():
    texts = tf.fingerprint(["x" * n for n in (0, 5, 16, 20, 40, 64, 65, 100, 200)]).numpy()
    assert texts[:, :4].tolist() == [
        [79, 64, 144, 47], [40, 146, 238, 113], [28, 120, 247, 252], [196, 77, 247, 142], [148, 60, 153, 172],
        [184, 19, 105, 79], [57, 95, 242, 150], [31, 138, 86, 84], [191, 163, 152, 217],
    ]  # fmt: skip
    assert tf.fingerprint([[1, 2], [3, 4]]).numpy()[:, 0].tolist() == [76, 254]
    assert tf.fingerprint([["a", "b"], ["c", "d"]]).numpy()[:, 0].tolist() == [122, 52]
    with pytest.raises(Invalid, match="Unsupported fingerprint method: md5"):
        tf.fingerprint([1], "md5")


def sparse(indices, values, shape):
    return types.SimpleNamespace(
        indices=tf.constant(indices, tf.int64), values=tf.constant(values), dense_shape=tf.constant(shape, tf.int64)
    )


def test_edit_distances():
    given = sparse([[0, 0], [1, 0]], ["a", "b"], [2, 1])
    true = sparse([[0, 0], [0, 1]], ["a", "c"], [2, 2])
    assert tf.edit_distance(given, true).numpy().tolist() == [0.5, np.inf]
    assert tf.edit_distance(given, true, normalize=False).numpy().tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match=r"Hypothesis must be a SparseTensor\."):
        tf.edit_distance(1, true)


def test_patches_of_images():
    x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
    from tapeflow.array.blocks import extract_patches

    patches = extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    assert patches.shape == [1, 3, 3, 4]
    assert patches[0, 1].numpy().tolist() == [[0, 6, 0, 16], [6, 8, 16, 18], [8, 0, 18, 0]]
    with pytest.raises(tf.errors.UnimplementedError, match="Only support ksizes across space"):
        extract_patches(x, [2, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")


def test_paddings_that_space_to_batch_needs():
    paddings, crops = tf.required_space_to_batch_paddings([5, 3], [2, 2], [[1, 0], [0, 0]])
    assert paddings.numpy().tolist() == [[1, 0], [0, 1]]
    assert crops.numpy().tolist() == [[0, 0], [0, 1]]


def test_tensor_protos():
    pytest.importorskip("tensorboard")
    for values, dtype in (
        ([1.5, 2.5], tf.bfloat16), ([1.5], tf.float16), ([1 + 2j, 3], tf.complex64), ([2**63], tf.uint64),
        (["a", b"b"], None), ([[True], [False]], None), (7, tf.int64), (np.zeros([0, 2]), None),
    ):  # fmt: skip
        tensor = tf.constant(values, dtype)
        proto = tf.make_tensor_proto(values, dtype)
        assert proto.dtype == tensor.dtype.as_datatype_enum
        np.testing.assert_array_equal(tf.make_ndarray(proto), tensor.numpy())
        assert tf.make_tensor_proto(tensor) == proto
    assert tf.make_tensor_proto([1, 2]).tensor_content == b"\1\0\0\0\2\0\0\0"
    assert tf.make_tensor_proto(5, shape=[2]).int_val[:] == [5]
    assert tf.make_ndarray(tf.make_tensor_proto(5, shape=[2])).tolist() == [5, 5]
    with pytest.raises(ValueError, match="Too many elements provided"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), but got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)


def test_initializers():
    assert tf.constant_initializer([1, 2])([2]).numpy().tolist() == [1, 2]
    assert tf.ones_initializer()([2], tf.int32).dtype == tf.int32
    assert tf.zeros_initializer()([2], partition_shape=[1], partition_offset=[0]).shape == [1]
    config = tf.random_uniform_initializer(0.0, 1.0, seed=1).get_config()
    assert config == {"minval": 0.0, "maxval": 1.0, "seed": 1}
    assert tf.random_uniform_initializer.from_config(config).get_config() == config
    with pytest.raises(ValueError, match="Argument `dtype` expected to be numeric or boolean"):
        tf.ones_initializer()([2], tf.string)
    with pytest.raises(ValueError, match="Argument `dtype` is expected to be floating point"):
        tf.random_normal_initializer()([2], tf.int32)
    with pytest.raises(TypeError, match="Keyword argument should be one of"):
        tf.zeros_initializer()([2], foo=1)
    with pytest.raises(TypeError, match="Invalid type for initial value: dict"):
        tf.constant_initializer({})


def test_what_does_nothing():
    assert tf.no_op() is None
    assert tf.group(tf.constant(1)) is None
    assert tf.newaxis is None
    x = tf.constant(1)
    assert tf.tuple([x, None]) == [x, None]
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.parallel_stack([[1], [2]])


def test_static_knowledge():
    x = tf.constant([1, 2])
    assert tf.is_tensor(x) and tf.is_tensor(tf.Variable(1)) and not tf.is_tensor(np.array(1))
    assert not tf.is_symbolic_tensor(x)
    assert tf.get_static_value(x).tolist() == [1, 2]
    assert tf.get_static_value(tf.Variable(1)) is None
    assert tf.broadcast_static_shape([None, 3], [2, 1]) == tf.TensorShape([2, 3])
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))


def test_ranges():
    assert tf.range(0.0, 0.3, 0.1).shape == [3]
    assert tf.range(5).dtype == tf.int32
    assert tf.range(2**40, 2**40 + 2).dtype == tf.int64
    assert tf.range(tf.constant(3), 5.5).numpy().tolist() == [3.0, 4.0, 5.0]
    assert tf.range(3, dtype=tf.bfloat16).dtype == tf.bfloat16
    assert tf.range(10, 2, -3).numpy().tolist() == [10, 7, 4]
    for args, says in (((0, 5, 0), "Requires delta != 0"), ((3, 0), "Requires start <= limit when delta > 0: 3/0"),
                       (([1, 2],), "limit must be a scalar")):  # fmt: skip
        with pytest.raises(Invalid, match=says):
            tf.range(*args)


def test_zeros_and_ones_of_every_dtype():
    for dtype in (tf.bool, tf.int8, tf.uint16, tf.uint64, tf.float16, tf.bfloat16, tf.complex64, tf.qint8):
        assert tf.zeros([2], dtype).dtype == dtype
        assert not tf.zeros([2], dtype).numpy().any()
        assert tf.ones((1, 2), dtype).numpy().all()
    assert tf.zeros([], tf.string).numpy() == b""
    assert tf.zeros(tf.TensorShape([2, 3])).shape == tf.zeros(tf.constant([2, 3])).shape == [2, 3]
    assert tf.zeros([tf.constant(2), 3]).shape == tf.eye(2, 3).shape == tf.ones(np.array([2, 3])).shape
    for shape, error in (([-1], Invalid), ([1.5], TypeError), ("a", TypeError), ([None], ValueError), ([[1]], Invalid)):
        with pytest.raises(error):
            tf.zeros(shape)
    with pytest.raises(TypeError, match="Cannot convert 1 to EagerTensor of dtype string"):
        tf.ones([2], tf.string)


def test_what_is_a_tensor():
    ragged, sparse = tf.ragged.constant([[1], []]), tf.sparse.from_dense([[1]])
    for value in (tf.constant(1), tf.Variable(1), ragged, sparse, tf.IndexedSlices([1.0], [0])):
        assert tf.is_tensor(value)
    dataset, optional = tf.data.Dataset.range(2), tf.experimental.Optional.from_value(1)
    for value in (
        dataset,
        iter(dataset),
        optional,
        tf.linalg.LinearOperatorIdentity(2),
        tf.TensorArray(tf.int32, 1),
        1,
    ):
        assert not tf.is_tensor(value)


def test_a_class_can_say_that_it_is_a_tensor():
    class TensorLike:
        def is_tensor_like(self): ...

    assert tf.is_tensor(TensorLike())


def test_a_constant_of_a_graph_may_have_no_name():
    with tf.Graph().as_default():
        assert tf.constant(1.0, name=None).op.name == "Const"


@pytest.mark.parametrize("full", [tf.zeros, tf.ones])
def test_a_number_is_the_shape_of_a_vector(full):
    filled = tf.function(full, input_signature=[tf.TensorSpec([], tf.int32)])
    assert filled(tf.constant(2)).shape == full(tf.constant(2)).shape == [2]
    concrete = filled.get_concrete_function()
    assert concrete.structured_outputs.shape.as_list() == [None]
    assert "Reshape" in [o.type for o in concrete.graph.get_operations()]


@pytest.mark.parametrize("depth", [2**31, 2**32 - 1, -1])
def test_a_depth_that_overflows_int32_is_refused_also_in_functions(depth):
    """TensorFlow's wraps around; the error in a graph is a ValueError."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="depth must be non-negative"):
        tf.one_hot([0, 1], depth)
    with pytest.raises(ValueError, match="must be non-negative"):
        tf.function(lambda: tf.one_hot([0, 1], depth))()


def test_a_depth_that_wraps_around_to_a_small_one():
    for depth in (2**32 + 3, 2**40 + 3):
        expected = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        np.testing.assert_array_equal(tf.one_hot([0, 1], depth), expected)
        np.testing.assert_array_equal(tf.function(lambda depth=depth: tf.one_hot([0, 1], depth))(), expected)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_no_index_with_a_large_depth_takes_no_memory(axis):
    shape = tf.one_hot(tf.zeros([0, 5], tf.int32), 2**31 - 1, axis=axis).shape.as_list()
    sizes = [0, 5]
    sizes.insert(2 if axis == -1 else axis, 2**31 - 1)
    assert shape == sizes


def test_broadcasts_that_no_memory_holds():
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        tf.broadcast_to(tf.constant(1.0), [2**31 - 1, 2**20])
