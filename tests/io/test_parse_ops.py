"""Parsed examples. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from typed_values import typed


def feature(*v):
    return tf.train.Feature(
        **(
            {"bytes_list": tf.train.BytesList(value=v)}
            if v and isinstance(v[0], bytes)
            else {"float_list": tf.train.FloatList(value=v)}
            if v and isinstance(v[0], float)
            else {"int64_list": tf.train.Int64List(value=v)}
        )
    )


def example(**fs):
    return tf.train.Example(
        features=tf.train.Features(feature={k: feature(*v) for k, v in fs.items()})
    ).SerializeToString()


def sequence(context, **lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(*v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(
            feature_list={k: tf.train.FeatureList(feature=[feature(*v) for v in rows]) for k, rows in lists.items()}
        ),
    ).SerializeToString()


io = tf.io
both = [example(a=[1, 2], b=[1.5], c=[b"x", b"y"]), example(a=[3, 4], c=[b"z"])]
lists = [sequence({"k": [5]}, v=[[1, 2], [3, 4]], w=[[1], [], [2, 3]]), sequence({}, v=[[7, 8]])]
partitioned = example(v=[1, 2, 3, 4], s=[0, 1, 4], n=[1, 3], i=[0, 0, 2, 2], t=[0, 3], m=[1, 4])

VALUES = [
    (lambda: io.parse_example(both, {"a": io.FixedLenFeature([2], tf.int64)}), {"a": ("int64", [[1, 2], [3, 4]])}),
    (
        lambda: io.parse_example(
            both, {"a": io.FixedLenFeature([2, 1], tf.int64), "b": io.FixedLenFeature([], tf.float32, -2.5)}
        ),
        {"a": ("int64", [[[1], [2]], [[3], [4]]]), "b": ("float32", [1.5, -2.5])},
    ),
    (
        lambda: io.parse_example(both, {"c": io.VarLenFeature(tf.string), "b": io.VarLenFeature(tf.float32)}),
        {
            "b": ("sparse", ("int64", [[0, 0]]), ("float32", [1.5]), ("int64", [2, 1])),
            "c": ("sparse", ("int64", [[0, 0], [0, 1], [1, 0]]), ("string", [b"x", b"y", b"z"]), ("int64", [2, 2])),
        },
    ),
    (
        lambda: io.parse_example(both, {"c": io.FixedLenSequenceFeature([], tf.string, True, "pad")}),
        {"c": ("string", [[b"x", b"y"], [b"z", b"pad"]])},
    ),
    (
        lambda: io.parse_example(both, {"a": io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}),
        {"a": ("int64", [[[1, 2]], [[3, 4]]])},
    ),
    (
        lambda: io.parse_example(
            both, {"c": io.RaggedFeature(tf.string), "b": io.RaggedFeature(tf.float32, row_splits_dtype=tf.int64)}
        ),
        {
            "b": ("ragged", ("float32", [1.5]), ("int64", [0, 1, 1])),
            "c": ("ragged", ("string", [b"x", b"y", b"z"]), ("int32", [0, 2, 3])),
        },
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.RowSplits("s")])}
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int32", [0, 2]), ("int32", [0, 1, 4]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.RowLengths("n")])}
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int32", [0, 2]), ("int32", [0, 1, 4]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.ValueRowIds("i")])}
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int32", [0, 3]), ("int32", [0, 2, 2, 4]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.RowStarts("t")])}
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int32", [0, 2]), ("int32", [0, 3, 4]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.RowLimits("m")])}
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int32", [0, 2]), ("int32", [0, 1, 4]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.UniformRowLength(2)])}
        ),
        {"r": ("ragged", ("int64", [[1, 2], [3, 4]]), ("int32", [0, 2]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned],
            {
                "r": io.RaggedFeature(
                    tf.int64, "v", [io.RaggedFeature.UniformRowLength(2), io.RaggedFeature.UniformRowLength(1)]
                )
            },
        ),
        {"r": ("ragged", ("int64", [[[1], [2]], [[3], [4]]]), ("int32", [0, 2]))},
    ),
    (
        lambda: io.parse_example(
            [partitioned],
            {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.RowLengths("n")], row_splits_dtype=tf.int64)},
        ),
        {"r": ("ragged", ("int64", [1, 2, 3, 4]), ("int64", [0, 2]), ("int64", [0, 1, 4]))},
    ),
    (
        lambda: io.parse_example([example(i=[0, 2], v=[5, 6])], {"s": io.SparseFeature("i", "v", tf.int64, 4)}),
        {"s": ("sparse", ("int64", [[0, 0], [0, 2]]), ("int64", [5, 6]), ("int64", [1, 4]))},
    ),
    (
        lambda: io.parse_example([example(i=[2, 0], v=[5, 6])], {"s": io.SparseFeature("i", "v", tf.int64, 4)}),
        {"s": ("sparse", ("int64", [[0, 0], [0, 2]]), ("int64", [6, 5]), ("int64", [1, 4]))},
    ),
    (
        lambda: io.parse_example(
            [example(i=[2, 0], v=[5, 6])], {"s": io.SparseFeature("i", "v", tf.int64, 4, already_sorted=True)}
        ),
        {"s": ("sparse", ("int64", [[0, 2], [0, 0]]), ("int64", [5, 6]), ("int64", [1, 4]))},
    ),
    (
        lambda: io.parse_example(
            [example(i=[0, 1], j=[2, 0], v=[5, 6])], {"s": io.SparseFeature(["i", "j"], "v", tf.int64, [2, 3])}
        ),
        {"s": ("sparse", ("int64", [[0, 0, 2], [0, 1, 0]]), ("int64", [5, 6]), ("int64", [1, 2, 3]))},
    ),
    (
        lambda: io.parse_single_example(
            both[0], {"a": io.FixedLenFeature([2], tf.int64), "c": io.VarLenFeature(tf.string)}
        ),
        {"c": ("sparse", ("int64", [[0], [1]]), ("string", [b"x", b"y"]), ("int64", [2])), "a": ("int64", [1, 2])},
    ),
    (
        lambda: io.parse_single_example(
            both[1], {"b": io.FixedLenFeature([1], tf.float32, [7.5]), "c": io.RaggedFeature(tf.string)}
        ),
        {"b": ("float32", [7.5]), "c": ("string", [b"z"])},
    ),
    (
        lambda: io.parse_example(
            tf.constant([], tf.string), {"a": io.FixedLenFeature([2], tf.int64), "c": io.VarLenFeature(tf.string)}
        ),
        {"c": ("sparse", ("int64", [0, 2], []), ("string", [0], []), ("int64", [0, 0])), "a": ("int64", [0, 2], [])},
    ),
    (
        lambda: io.parse_sequence_example(
            lists, {"k": io.FixedLenFeature([], tf.int64, -1)}, {"v": io.FixedLenSequenceFeature([2], tf.int64)}
        ),
        ({"k": ("int64", [5, -1])}, {"v": ("int64", [[[1, 2], [3, 4]], [[7, 8], [0, 0]]])}, {"v": ("int64", [2, 1])}),
    ),
    (
        lambda: io.parse_sequence_example(
            lists, {}, {"w": io.VarLenFeature(tf.int64), "v": io.RaggedFeature(tf.int64)}
        ),
        (
            {},
            {
                "w": (
                    "sparse",
                    ("int64", [[0, 0, 0], [0, 2, 0], [0, 2, 1]]),
                    ("int64", [1, 2, 3]),
                    ("int64", [2, 3, 2]),
                ),
                "v": ("ragged", ("int64", [1, 2, 3, 4, 7, 8]), ("int32", [0, 2, 3]), ("int32", [0, 2, 4, 6])),
            },
            {},
        ),
    ),
    (
        lambda: io.parse_sequence_example(lists, {"k": io.VarLenFeature(tf.int64)}, {"w": io.RaggedFeature(tf.int64)}),
        (
            {"k": ("sparse", ("int64", [[0, 0]]), ("int64", [5]), ("int64", [2, 1]))},
            {"w": ("ragged", ("int64", [1, 2, 3]), ("int32", [0, 3, 3]), ("int32", [0, 1, 1, 3]))},
            {},
        ),
    ),
    (
        lambda: io.parse_sequence_example(
            lists, {}, {"u": io.FixedLenSequenceFeature([1], tf.int64, allow_missing=True)}
        ),
        ({}, {"u": ("int64", [2, 0, 1], [[], []])}, {"u": ("int64", [0, 0])}),
    ),
    (
        lambda: io.parse_single_sequence_example(
            lists[0],
            {"k": io.FixedLenFeature([], tf.int64)},
            {"v": io.FixedLenSequenceFeature([2], tf.int64), "w": io.VarLenFeature(tf.int64)},
        ),
        (
            {"k": ("int64", 5)},
            {
                "w": ("sparse", ("int64", [[0, 0], [2, 0], [2, 1]]), ("int64", [1, 2, 3]), ("int64", [3, 2])),
                "v": ("int64", [[1, 2], [3, 4]]),
            },
        ),
    ),
    (
        lambda: io.parse_single_sequence_example(
            lists[1], {"k": io.FixedLenFeature([1], tf.int64, [9])}, {"v": io.RaggedFeature(tf.int64)}
        ),
        ({"k": ("int64", [9])}, {"v": ("ragged", ("int64", [7, 8]), ("int32", [0, 2]))}),
    ),
    (
        lambda: io.parse_example([example(i=[5], v=[5])], {"s": io.SparseFeature("i", "v", tf.int64, 4)}),
        {"s": ("sparse", ("int64", [[0, 5]]), ("int64", [5]), ("int64", [1, 4]))},
    ),
    (
        lambda: tf.vectorized_map(
            lambda s: io.parse_single_example(s, {"a": io.FixedLenFeature([2], tf.int64)})["a"] * 2, tf.constant(both)
        ),
        ("int64", [[2, 4], [6, 8]]),
    ),
    (
        lambda: tf.map_fn(
            lambda s: io.parse_single_example(s, {"a": io.FixedLenFeature([2], tf.int64)})["a"] * 2,
            tf.constant(both),
            fn_output_signature=tf.int64,
        ),
        ("int64", [[2, 4], [6, 8]]),
    ),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert typed(compute()) == expected


ERRORS = [
    (
        lambda: io.parse_example(both, {"a": io.FixedLenFeature([], tf.int64)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Key: a, Index: 0.  Number of int64 values != expected.  Values size: 2 bu",
    ),
    (
        lambda: io.parse_example(both, {"b": io.FixedLenFeature([], tf.float32)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Feature: b (data type: float) is required but could not be found",
    ),
    (
        lambda: io.parse_example(both, {"a": io.FixedLenFeature([2], tf.float32)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Key: a, Index: 0.  Data types don't match. Data type: int64 but expected ",
    ),
    (
        lambda: io.parse_example(both, {"c": io.FixedLenSequenceFeature([2], tf.string, True)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Key: c, Index: 1.  Number of",
    ),
    (
        lambda: io.parse_example(["\xff\xff"], {"a": io.FixedLenFeature([], tf.int64)}),
        tf.errors.InvalidArgumentError,
        "Could not parse example input",
    ),
    (
        lambda: io.parse_example([[both[0]]], {"a": io.FixedLenFeature([2], tf.int64)}),
        tf.errors.InvalidArgumentError,
        "Expected serialized to be a scalar or vector, got shape: [1,1] [Op:ParseExampleV2]",
    ),
    (lambda: io.parse_example(both, {}), ValueError, "Argument `features` cannot be None or falsy. Got {}"),
    (lambda: io.parse_example(both, None), ValueError, "Argument `features` cannot be None or falsy. Got None"),
    (lambda: io.parse_example(both, {"a": 3}), ValueError, "Unsupported int 3 for key 'a'"),
    (
        lambda: io.parse_example(both, {"a": io.FixedLenFeature([None], tf.int64)}),
        ValueError,
        "First dimension of shape for feature a unknown. Consider using FixedLenSequenceFeature",
    ),
    (
        lambda: io.parse_example(both, {"a": io.FixedLenFeature([2], tf.int32)}),
        tf.errors.InvalidArgumentError,
        "Feature a: dtype int32 is not in the list of allowed values:",
    ),
    (
        lambda: io.parse_example(
            [example(v=[1, 2, 3])], {"r": io.RaggedFeature(tf.int64, "v", [io.RaggedFeature.UniformRowLength(2)])}
        ),
        tf.errors.InvalidArgumentError,
        "Feature v of example 0 has 3 values, which is no multiple of",
    ),
    (
        lambda: io.RaggedFeature(tf.int64, "v", [3]),
        TypeError,
        "`partitions` must be a list of partition objects ['RowSplits",
    ),
    (lambda: io.RaggedFeature(tf.int64, "v", 3), TypeError, "'int' object is not iterable"),
    (
        lambda: io.parse_single_example(both, {"a": io.FixedLenFeature([2], tf.int64)}),
        ValueError,
        "Input serialized must be a scalar",
    ),
    (
        lambda: io.parse_single_sequence_example(lists, {}, {"v": io.FixedLenSequenceFeature([2], tf.int64)}),
        ValueError,
        "Input serialized must be a scalar",
    ),
    (
        lambda: io.parse_single_sequence_example(lists[0], {}, {"v": io.FixedLenSequenceFeature([3], tf.int64)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Key: v, Index: 0.  Number of int64 values !",
    ),
    (
        lambda: io.parse_single_sequence_example(lists[0], {}, {"u": io.FixedLenSequenceFeature([3], tf.int64)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Feature list 'u' is required but could not be found.  Did you mean to inc",
    ),
    (
        lambda: io.parse_sequence_example(lists, {}, {"v": io.FixedLenSequenceFeature([2], tf.float32)}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Key: v, Index: 0.  Data types don't match",
    ),
    (
        lambda: io.parse_sequence_example(lists, {}, {}),
        ValueError,
        "Both `context_features` and `sequence_features` argument are None, but at least one should",
    ),
    (
        lambda: io.parse_sequence_example(lists, {"k": io.FixedLenFeature([], tf.int64)}, {}),
        tf.errors.InvalidArgumentError,
        "Name: <unknown>, Feature: k (data type: int64) is required b",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize("partition", [
    io.RaggedFeature.RowSplits("s"), io.RaggedFeature.RowLengths("s"), io.RaggedFeature.RowStarts("s"),
    io.RaggedFeature.RowLimits("s"), io.RaggedFeature.ValueRowIds("d"),
])  # fmt: skip
def test_partitions_of_other_numbers_of_values(partition):
    """TensorFlow returns ragged tensors that are not valid."""
    row = example(v=[1, 2, 3], s=[0, 2, 4], d=[0, 1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not part the 3 values of feature v into rows"):
        io.parse_example([row], {"r": io.RaggedFeature(tf.int64, "v", [partition])})


def test_static_shapes():
    seen = []

    @tf.function
    def parse(serialized):
        found = io.parse_example(serialized, {
            "a": io.FixedLenFeature([2, 1], tf.int64), "c": io.VarLenFeature(tf.string),
            "p": io.FixedLenSequenceFeature([3], tf.float32, True), "r": io.RaggedFeature(tf.int64),
        })  # fmt: skip
        seen.append({name: value.shape for name, value in found.items()})
        seen.append(found["r"].row_splits.shape)
        return found["a"]

    for shape in ([4], [None]):
        parse.get_concrete_function(tf.TensorSpec(shape, tf.string))
    known, known_splits, unknown, splits = seen
    assert {n: s.as_list() for n, s in unknown.items()} == {
        "a": [None, 2, 1], "c": [None, None], "p": [None, None, 3], "r": [None, None],
    }  # fmt: skip
    assert {n: s.as_list() for n, s in known.items() if n != "c"} == {
        "a": [4, 2, 1], "p": [4, None, 3], "r": [4, None],
    }  # fmt: skip
    assert (splits.as_list(), known_splits.as_list()) == ([None], [5])
    single = tf.function(lambda s: io.parse_single_example(s, {"a": io.FixedLenFeature([2, 1], tf.int64)})["a"])
    assert single.get_concrete_function(tf.TensorSpec([], tf.string)).structured_outputs.shape == [2, 1]
