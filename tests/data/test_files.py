"""Datasets of files, TFRecords, CSV and examples. Expected values are TensorFlow's."""

import gzip
import os
import zlib

import numpy as np
import pytest
from tensorboard.compat.proto import tensor_pb2

import tapeflow as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [
        tf.nest.map_structure(lambda x: x.tolist() if hasattr(x, "tolist") else x, e)
        for e in dataset.as_numpy_iterator()
    ]


def file(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- lines and records of fixed length -------------------------------------------------------------------------------


def test_lines(tmp_path):
    a = file(tmp_path, "a.txt", b"one\r\ntwo\n\nlast")
    b = file(tmp_path, "b.txt", b"x\ny\n")
    lines = tf.data.TextLineDataset
    assert values(lines([a, b])) == [b"one", b"two", b"", b"last", b"x", b"y"]
    assert values(lines(Dataset.from_tensor_slices([a, b]), num_parallel_reads=2)) == [
        b"one",
        b"x",
        b"two",
        b"y",
        b"",
        b"last",
    ]
    assert values(Dataset.list_files(f"{tmp_path}/*.txt", shuffle=False).interleave(lines, 2)) == values(
        lines([a, b], num_parallel_reads=2)
    )
    assert values(lines(file(tmp_path, "a.gz", gzip.compress(b"p\nq") + gzip.compress(b"r")), "GZIP")) == [b"p", b"qr"]
    assert values(lines(file(tmp_path, "a.z", zlib.compress(b"q\nr")), "ZLIB")) == [b"q", b"r"]
    assert values(lines([])) == []
    assert repr(lines(a)) == "<TextLineDatasetV2 element_spec=TensorSpec(shape=(), dtype=tf.string, name=None)>"
    assert int(lines(a).cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_lines_in_a_function(tmp_path):
    path = file(tmp_path, "a.txt", b"one\ntwo\n")

    @tf.function
    def joined(name):
        text = tf.constant("")
        for line in tf.data.TextLineDataset(name).skip(1):
            text += line
        return text

    assert joined(tf.constant(path)).numpy() == b"two"


def test_records_of_fixed_length(tmp_path):
    path = file(tmp_path, "f", b"HHabcdefghijFF")
    records = tf.data.FixedLengthRecordDataset
    assert values(records(path, 5, 2, 2)) == [b"abcde", b"fghij"]
    packed = file(tmp_path, "f.gz", gzip.compress(b"HHabcdefghijFF"))
    assert values(records([packed] * 2, 5, 2, 2, compression_type="GZIP", num_parallel_reads=2))[:2] == [b"abcde"] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="body length 10 bytes, which is not an exact multiple"):
        values(records(path, 3, 2, 2))
    with pytest.raises(tf.errors.DataLossError, match="not an exact multiple of the record length"):
        values(records(packed, 3, 2, 2, compression_type="GZIP"))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.data.TextLineDataset(3), TypeError, "must contain `tf.string` elements. Got `tf.int32`"),
        (lambda: tf.data.TextLineDataset(Dataset.range(3)), TypeError, "Got a dataset of `tf.int64` elements"),
        (lambda: tf.data.TFRecordDataset(Dataset.from_tensors([["a"]])), TypeError, r"of shape \[\]"),
        (
            lambda: values(tf.data.TextLineDataset("/no/such/file")),
            tf.errors.NotFoundError,
            "/no/such/file; No such file",
        ),
        (lambda: values(tf.data.TextLineDataset("/")), tf.errors.FailedPreconditionError, "Is a directory"),
        (
            lambda: values(tf.data.TextLineDataset("/", "FOO")),
            tf.errors.InvalidArgumentError,
            "Unsupported compression_type",
        ),
        (
            lambda: tf.data.TFRecordDataset("a", num_parallel_reads=0),
            tf.errors.InvalidArgumentError,
            "`cycle_length` must be > 0",
        ),
        (
            lambda: Dataset.list_files("/no/such/*"),
            tf.errors.InvalidArgumentError,
            "No files matched pattern: /no/such/",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- TFRecords -------------------------------------------------------------------------------------------------------

RECORDS = [b"first", b"", b"x" * 300]
# What TensorFlow writes for b"first" and b"".
BYTES = bytes.fromhex("0500000000000000eab2043e666972737455ff23e5000000000000000029039807d8ea82a2")


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_records_come_back(tmp_path, compression):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression, compression_level=3)) as writer:
        for record in RECORDS:
            writer.write(record)
        writer.flush()
    assert values(tf.data.TFRecordDataset(path, compression)) == RECORDS
    assert values(tf.data.TFRecordDataset([path] * 2, compression, num_parallel_reads=2)) == [
        r for r in RECORDS for _ in "12"
    ]
    assert list(tf.compat.v1.io.tf_record_iterator(path, tf.io.TFRecordOptions(compression))) == RECORDS
    with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write(b"more")


def test_records_are_tensorflows(tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write("first")
        writer.write(b"")
    assert (tmp_path / "r").read_bytes() == BYTES
    assert values(tf.data.TFRecordDataset(file(tmp_path, "theirs", BYTES))) == [b"first", b""]


@pytest.mark.parametrize(
    ("data", "compression", "message"),
    [
        (BYTES[:-2], "", "truncated record at 21' failed with Read less bytes than requested"),
        (BYTES[:13] + b"F" + BYTES[14:], "", "corrupted record at 12"),
        (b"\x04" + BYTES[1:], "", r"corrupted record at 0 \(Is this even a TFRecord file\?\)"),
        (gzip.compress(BYTES)[:-12], "GZIP", "truncated record at 21' failed with EOF reached"),
        (BYTES, "GZIP", "inflate.. failed with error -3: incorrect header check"),
        (gzip.compress(BYTES), "", "corrupted record at 0"),
    ],
    ids=["cut", "flipped", "flipped length", "cut gzip", "no gzip", "gzip"],
)
def test_damaged_records(tmp_path, data, compression, message):
    with pytest.raises(tf.errors.DataLossError, match=message):
        values(tf.data.TFRecordDataset(file(tmp_path, "r", data), compression))


def test_a_file_that_ends_in_a_records_head_ends_before_it(tmp_path):
    assert values(tf.data.TFRecordDataset(file(tmp_path, "r", BYTES[:25]))) == [b"first"]


def test_writers_refuse():
    with pytest.raises(ValueError, match='Not a valid compression_type: "FOO"'):
        tf.io.TFRecordWriter("/tmp/never", "FOO")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.TFRecordWriter("/no/such/folder/file")
    assert tf.io.TFRecordOptions.get_compression_type_string(tf.io.TFRecordOptions("GZIP")) == "GZIP"
    with pytest.raises(tf.errors.DataLossError, match="incorrect header check"):
        tf.io.decode_compressed(b"abc", "ZLIB")


# ---- CSV -------------------------------------------------------------------------------------------------------------

CSV = b'a,b,c\n1,2.5,"x, ""y"""\n,3,z\n7,,\n'


def test_csv_rows(tmp_path):
    path = file(tmp_path, "c.csv", CSV)
    rows = tf.data.experimental.CsvDataset
    expected = [(2.5, b'x, "y"'), (3.0, b"z"), (9.5, b"m")]
    assert values(rows(path, [9.5, "m"], header=True, select_cols=[1, 2])) == expected
    assert values(rows(path, [9.5, "m"], header=True, exclude_cols=[0])) == expected
    assert values(rows(path, [tf.constant([5]), 9.5, tf.constant(["m"])], header=True, na_value="z"))[1] == (
        5,
        3.0,
        b"m",
    )
    assert values(rows(file(tmp_path, "q", b'"a\nb",1\n'), ["", 0])) == [(b"a\nb", 1)]
    for defaults, message in (
        ([tf.int32, 9.5, tf.string], "Field 0 is required but missing in record!"),
        ([tf.int32, 9.5], "Expect 2 fields but have more in record"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            values(rows(path, defaults, header=True))
    kept = values(rows(path, [tf.int32, 9.5, ""], header=True).ignore_errors())
    assert kept == [(1, 2.5, b'x, "y"'), (7, 9.5, b"")]


def test_batches_of_csv_rows(tmp_path):
    path = file(tmp_path, "c", b"1,a\n2,b\nx,c\n4,d\n5,e\n")
    rows = tf.data.experimental.CsvDataset(path, [tf.int64, tf.string])
    batches = iter(rows.batch(2))
    first = next(batches)
    assert [(t.dtype, t.numpy().tolist()) for t in first] == [(tf.int64, [1, 2]), (tf.string, [b"a", b"b"])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 in record is not a valid int64: x"):
        next(batches)
    assert [t.numpy().tolist() for t in next(batches)] == [[4, 5], [b"d", b"e"]]
    with pytest.raises(StopIteration):
        next(batches)
    assert len(values(rows.take(2).concatenate(rows.take(1)).batch(2, drop_remainder=True))) == 1
    assert values(rows.ignore_errors().batch(3, drop_remainder=True)) == [([1, 2, 4], [b"a", b"b", b"d"])]


def test_csv_datasets(tmp_path):
    path = file(tmp_path, "c.csv", CSV)

    def batches(**options):
        dataset = tf.data.experimental.make_csv_dataset(path, 2, shuffle=False, num_epochs=1, **options)
        return dataset.element_spec, values(dataset)

    spec, found = batches()
    assert [(k, s.dtype) for k, s in spec.items()] == [("a", tf.int32), ("b", tf.float32), ("c", tf.string)]
    assert found == [{"a": [1, 0], "b": [2.5, 3.0], "c": [b'x, "y"', b"z"]}, {"a": [7], "b": [0.0], "c": [b""]}]
    assert batches(label_name="b", select_columns=["b", "a"])[1][0] == ({"a": [1, 0]}, [2.5, 3.0])
    assert batches(header=False, column_names=["x", "y", "w"])[1][0]["x"] == [b"a", b"1"]
    assert batches(column_defaults=[tf.int32, 0.5, "s"], ignore_errors=True)[1] == [
        {"a": [1, 7], "b": [2.5, 0.5], "c": [b'x, "y"', b"s"]}
    ]
    with pytest.raises(ValueError, match="`label_name` provided must be one of the columns"):
        batches(label_name="k")


@pytest.mark.parametrize(
    ("records", "defaults", "options", "expected"),
    [
        (["1,2.5,x", "4,,"], [tf.constant([0]), [1.5], ["d"]], {}, [[1, 4], [2.5, 1.5], [b"x", b"d"]]),
        ("1,2", [0, [7]], {}, [1, 2]),
        (["1,2,3"], [[0], [0]], {"select_cols": [0, 2]}, [[1], [3]]),
        (['a"b;2'], [[""], [0]], {"field_delim": ";", "use_quote_delim": False}, [[b'a"b'], [2]]),
        (["1, 2 ,inf"], [[0], [0], [1.0]], {}, [[1], [2], [np.inf]]),
        ([["1,NA"], ["3,4"]], [0, 7], {"na_value": "NA"}, [[[1], [3]], [[7], [4]]]),
    ],
)
def test_decode_csv(records, defaults, options, expected):
    found = tf.io.decode_csv(records, defaults, **options)
    assert [t.numpy().tolist() for t in found] == expected
    traced = tf.function(lambda r: tf.io.decode_csv(r, defaults, **options))(records)
    assert [t.numpy().tolist() for t in traced] == expected


@pytest.mark.parametrize(
    ("record", "defaults", "message"),
    [
        (",2", [tf.constant([], tf.int32), [1]], "Field 0 is required but missing in record 0!"),
        ("q,2", [[0], [1]], "Field 0 in record 0 is not a valid int32: q"),
        ("99999999999", [[0]], "not a valid int32: 99999999999"),
        ("1", [[0], [1]], "Expect 2 fields but have 1 in record 0"),
        ('a"b', [[""]], "Unquoted fields cannot have quotes/CRLFs inside"),
    ],
)
def test_decode_csv_refuses(record, defaults, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.io.decode_csv([record], defaults)


# ---- examples --------------------------------------------------------------------------------------------------------


def filled(features, given):
    for key, numbers in given.items():
        kind = {int: "int64_list", float: "float_list", bytes: "bytes_list"}[type(numbers[0]) if numbers else bytes]
        getattr(features[key], kind).value.extend(numbers)
        features[key].SetInParent()


def example(**given):
    made = tf.train.Example()
    filled(made.features.feature, given)
    return made.SerializeToString(deterministic=True)  # the tests' names are made of it


A = example(i=[1, 2], f=[0.5], s=[b"x", b"y"], k=[1, 1])
B = example(i=[3, 4], f=[1.5], k=[2])
F = tf.io


def plain(value):
    if isinstance(value, tf.SparseTensor):
        return value.indices.numpy().tolist(), value.values.numpy().tolist(), value.dense_shape.numpy().tolist()
    return value.to_list() if isinstance(value, tf.RaggedTensor) else value.numpy().tolist()


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("serialized", "feature", "expected"),
    [
        ([A, B], F.FixedLenFeature([2], tf.int64), [[1, 2], [3, 4]]),
        (A, F.FixedLenFeature([2], tf.int64), [1, 2]),
        ([A, B], F.RaggedFeature(tf.string, "s"), [[b"x", b"y"], []]),
        (A, F.RaggedFeature(tf.int64), [1, 2]),
        ([A, B], F.RaggedFeature(tf.int64, partitions=[F.RaggedFeature.RowLengths("k")]), [[[1], [2]], [[3, 4]]]),
        ([A, B], F.RaggedFeature(tf.int64, partitions=[F.RaggedFeature.UniformRowLength(2)]), [[[1, 2]], [[3, 4]]]),
        ([A, B], F.FixedLenSequenceFeature([2], tf.int64, allow_missing=True), [[[1, 2]], [[3, 4]]]),
        ([A, B], F.VarLenFeature(tf.int64), ([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], [2, 2])),
        (A, F.VarLenFeature(tf.int64), ([[0], [1]], [1, 2], [2])),
        ([A, B], F.SparseFeature("i", "k", tf.int64, 9), None),
    ],
    ids=["dense", "one", "ragged", "one ragged", "lengths", "uniform", "padded", "variable", "one variable", "sparse"],
)
def test_examples(serialized, feature, expected, traced):
    def parse(texts):
        return tf.io.parse_example(texts, {"i": feature})["i"]

    parse = tf.function(parse) if traced else parse
    if expected is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="differ in their numbers of values"):
            parse(tf.constant(serialized))
    else:
        assert plain(parse(tf.constant(serialized))) == expected


def test_sparse_features_and_defaults():
    texts = [example(ix=[5, 1], v=[0.5, 0.75]), example(ix=[0], v=[2.0])]
    found = tf.io.parse_example(texts, {"z": F.SparseFeature("ix", "v", tf.float32, 10)})
    assert plain(found["z"]) == ([[0, 1], [0, 5], [1, 0]], [0.75, 0.5, 2.0], [2, 10])
    found = tf.io.parse_single_example(
        example(ix=[5, 1], iy=[0, 2], v=[0.5, 0.75]), {"z": F.SparseFeature(["ix", "iy"], "v", tf.float32, [10, 3])}
    )
    assert plain(found["z"]) == ([[1, 2], [5, 0]], [0.75, 0.5], [10, 3])
    features = {
        "w": F.FixedLenFeature([2], tf.float32, default_value=[1.0, 2.0]),
        "s": F.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="d"),
    }
    found = tf.io.parse_example([A, B], features)
    assert {k: plain(v) for k, v in found.items()} == {"w": [[1.0, 2.0]] * 2, "s": [[b"x", b"y"], [b"d", b"d"]]}
    mixed = {
        "i": F.FixedLenFeature([2], tf.int64),
        "s": F.VarLenFeature(tf.string),
        "f": F.FixedLenFeature([], tf.float32),
    }
    assert list(tf.io.parse_example([A], mixed)) == ["s", "f", "i"]


@pytest.mark.parametrize(
    ("feature", "error", "message"),
    [
        (F.FixedLenFeature([3], tf.int64), tf.errors.InvalidArgumentError, r"Values size: 2 but output shape: \[3\]"),
        (
            F.FixedLenFeature([2], tf.float32),
            tf.errors.InvalidArgumentError,
            "Data type: int64 but expected type: float",
        ),
        (F.FixedLenFeature([2], tf.int32), tf.errors.InvalidArgumentError, "not in the list of allowed values"),
        (F.FixedLenSequenceFeature([], tf.int64), ValueError, "requires allow_missing to be True"),
        (3, ValueError, "Unsupported int 3"),
    ],
)
def test_examples_refuse(feature, error, message):
    with pytest.raises(error, match=message):
        tf.io.parse_example([A], {"i": feature})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Feature: none .data type: int64. is required but could not be found"
    ):
        tf.io.parse_example([A], {"none": F.FixedLenFeature([], tf.int64)})


def sequence(context, **lists):
    made = tf.train.SequenceExample()
    filled(made.context.feature, context)
    for key, steps in lists.items():
        for step in steps:
            filled({key: made.feature_lists.feature_list[key].feature.add()}, {key: step})
    return made.SerializeToString()


S = sequence({"c": [4]}, l=[[1, 2], [3, 4]], m=[[b"q"], [b"r", b"t"]])
T = sequence({"c": [5]}, l=[[9, 8]])


@pytest.mark.parametrize("traced", [False, True])
def test_sequence_examples(traced):
    context = {"c": F.FixedLenFeature([], tf.int64)}

    def both(texts):
        return tf.io.parse_sequence_example(
            texts, context, {"l": F.FixedLenSequenceFeature([2], tf.int64), "m": F.VarLenFeature(tf.string)}
        )

    found, lists, lengths = (tf.function(both) if traced else both)(tf.constant([S, T]))
    assert plain(found["c"]) == [4, 5]
    assert plain(lists["l"]) == [[[1, 2], [3, 4]], [[9, 8], [0, 0]]]
    assert plain(lists["m"]) == ([[0, 0, 0], [0, 1, 0], [0, 1, 1]], [b"q", b"r", b"t"], [2, 2, 2])
    assert plain(lengths["l"]) == [2, 1]
    found, lists = tf.io.parse_single_sequence_example(
        S, context, {"l": F.RaggedFeature(tf.int64), "m": F.VarLenFeature(tf.string)}
    )
    assert (plain(found["c"]), plain(lists["l"])) == (4, [[1, 2], [3, 4]])
    assert plain(lists["m"]) == ([[0, 0], [1, 0], [1, 1]], [b"q", b"r", b"t"], [2, 2])
    ragged = tf.io.parse_sequence_example([S, T], context, {"m": F.RaggedFeature(tf.string)})[1]["m"]
    assert ragged.to_list() == [[[b"q"], [b"r", b"t"]], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is required but could not be found"):
        tf.io.parse_single_sequence_example(T, context, {"m": F.FixedLenSequenceFeature([], tf.string)})


def test_batched_features(tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        for record in (A, B, A):
            writer.write(record)
    features = {"i": F.FixedLenFeature([2], tf.int64), "f": F.FixedLenFeature([], tf.float32)}
    dataset = tf.data.experimental.make_batched_features_dataset(
        path, 2, features, label_key="f", num_epochs=1, shuffle=False
    )
    assert values(dataset) == [({"i": [[1, 2], [3, 4]]}, [0.5, 1.5]), ({"i": [[1, 2]]}, [0.5])]


def test_ragged_and_sparse_elements_are_saved_as_tensorflow_does(tmp_path):
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0], [0, 2]])
    ds = tf.data.Dataset.from_tensor_slices((ragged, sparse)).batch(2)
    ds.save(str(tmp_path))
    (path,) = tmp_path.glob("*/*/*.snapshot")
    records = [tensor_pb2.TensorProto.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))]
    assert [(r.dtype, [d.size for d in r.tensor_shape.dim]) for r in records] == [(21, []), (21, [3])]
    # From TensorFlow 2.21: the content of `tf.io.serialize_tensor` for the ragged tensor as a variant.
    recorded = tensor_pb2.TensorProto(dtype=21, tensor_content=(
        b"3\n\023RaggedTensorVariant\032\r\010\t\022\004\022\002\010\003R\003\000\001\003\032\r\010\003\022\004\022\002\010\003"
        b":\003\001\002\003"
    ))  # fmt: skip
    for record in (records[0], recorded):
        (splits,), flat = tf.make_ndarray(record)[()]
        assert (splits.tolist(), flat.tolist()) == ([0, 1, 3], [1, 2, 3])
    (element,) = tf.data.Dataset.load(str(tmp_path))
    assert element[0].to_list() == [[1], [2, 3]]
    assert tf.sparse.to_dense(element[1]).numpy().tolist() == [[1, 0], [0, 2]]
