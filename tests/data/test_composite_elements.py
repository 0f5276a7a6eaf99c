"""Ragged and sparse tensors through pipelines. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
ragged = tf.ragged.constant([[1], [2, 3]])
texts = tf.ragged.constant([["a"], ["b", "c"]])
deep = tf.ragged.constant([[[1], [2, 3]], [[4]]])
wide = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)


def listed(value):
    """Returns the elements of a component as lists, and checks that it is a tensor that says what it holds."""
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    assert isinstance(value, tf.Tensor)
    assert value.dtype is tf.string or value.numpy().dtype == value.dtype.as_numpy_dtype
    return np.asarray(value.numpy()).tolist()


def rows_of(value):
    return Dataset.from_tensors(value).flat_map(Dataset.from_tensor_slices)


def saved(dataset, folder):
    dataset.save(str(folder / "saved"))
    return Dataset.load(str(folder / "saved"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ragged, [[1], [2, 3]]),
        (texts, [[b"a"], [b"b", b"c"]]),
        (deep, [[[1], [2, 3]], [[4]]]),
        (wide, [[[1, 2]], [[3, 4], [5, 6]]]),
    ],
)
@pytest.mark.parametrize("rows", [Dataset.from_tensor_slices, rows_of, lambda v: Dataset.from_tensors(v).unbatch()])
def test_rows_of_ragged_tensors(value, expected, rows, tmp_path):
    dataset = rows(value)
    assert [listed(row) for row in dataset] == expected
    assert listed(dataset.take(1).get_single_element()) == expected[0]
    assert listed(iter(dataset).get_next_as_optional().get_value()) == expected[0]
    assert listed(tf.function(lambda: next(iter(rows(value))))()) == expected[0]
    assert dataset.reduce(0, lambda n, row: n + 1).numpy() == 2
    assert [listed(row) for row in saved(dataset, tmp_path)] == expected
    for same in (
        dataset.map(lambda row: row),
        dataset.flat_map(Dataset.from_tensors),
        dataset.interleave(Dataset.from_tensors),
        dataset.batch(2).unbatch(),
        dataset.batch(2).flat_map(Dataset.from_tensor_slices),
        dataset.batch(2).rebatch(1).unbatch(),
        dataset.filter(lambda row: True).cache().prefetch(1),
        dataset.scan(0, lambda n, row: (n + 1, row)),
        dataset.window(1).flat_map(lambda rows: rows),
    ):
        assert [listed(row) for row in same] == expected
    (batch,) = dataset.batch(2)
    assert isinstance(batch, tf.RaggedTensor)
    assert listed(batch) == expected
    assert batch.ragged_rank == value.ragged_rank
    assert batch.shape.as_list() == value.shape.as_list()


def test_numbers_of_rows_of_rows():
    scalars = Dataset.from_tensor_slices(ragged).unbatch()
    assert [listed(x) for x in scalars] == [1, 2, 3]
    assert listed(tf.function(lambda: next(iter(Dataset.from_tensor_slices(texts).unbatch())))()) == b"a"


def test_uniform_dimensions_stay():
    uniform = tf.RaggedTensor.from_uniform_row_length(tf.constant([1, 2, 3, 4]), 2)
    function = tf.function(lambda: next(iter(Dataset.from_tensors(uniform).batch(1))))
    assert function().shape.as_list() == [1, 2, 2]


def test_elements_with_none():
    dataset = Dataset.from_tensors((None, 1)).batch(2)
    assert [(a, b.numpy().tolist()) for a, b in dataset.rebatch(1)] == [(None, [1])]


# ---- sparse tensors --------------------------------------------------------------------------------------------------


def sparse(indices, values, shape):
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, len(shape)), values, shape)


def parts(value):
    return [t.numpy().tolist() for t in (value.indices, value.values, value.dense_shape)]


vectors = [sparse([[0]], [1], [1]), sparse([[1]], [2], [2]), sparse([[2]], [3], [3])]
matrices = [sparse([[0, 0]], [1], [1, 2]), sparse([[1, 0]], [2], [3, 1]), sparse([], tf.constant([], tf.int32), [2, 2])]
whole_vectors = [[[0, 0], [1, 1], [2, 2]], [1, 2, 3], [3, 3]]
whole_matrices = [[[0, 0, 0], [1, 1, 0]], [1, 2], [3, 3, 2]]


def dataset_of(values, shape=None):
    return Dataset.from_generator(lambda: iter(values), output_signature=tf.SparseTensorSpec(shape, values[0].dtype))


@pytest.mark.parametrize(
    "batch",
    [
        lambda d: d.batch(3),
        lambda d: d.batch(3, num_parallel_calls=2),
        lambda d: d.ragged_batch(3),
        lambda d: d.batch(2).unbatch().batch(3),
        lambda d: d.window(3).flat_map(lambda w: w.batch(3)),
        lambda d: Dataset.zip((Dataset.range(3), d)).batch(3).map(lambda number, value: value),
        lambda d: d.group_by_window(lambda x: tf.constant(0, tf.int64), lambda key, w: w.batch(3), window_size=3),
        lambda d: d.bucket_by_sequence_length(lambda x: 1, [2], [3, 3], no_padding=True),
    ],
)
@pytest.mark.parametrize(("values", "expected"), [(vectors, whole_vectors), (matrices, whole_matrices)])
def test_batches_of_different_shapes_have_the_largest(batch, values, expected):
    for shape in (None, [None] * values[0].shape.rank):
        (result,) = batch(dataset_of(values, shape))
        assert parts(result) == expected
        in_function = tf.function(lambda shape=shape: next(iter(batch(dataset_of(values, shape)))))
        assert parts(in_function()) == expected


@pytest.mark.parametrize(
    "structure", [lambda x, n: x, lambda x, n: (x,), lambda x, n: (x, n), lambda x, n: {"a": x}, lambda x, n: ((x,), n)]
)
def test_ragged_batches_keep_the_structure_in_functions(structure):
    batches = lambda: Dataset.range(3).map(lambda n: structure(tf.range(n), n)).ragged_batch(2)  # noqa: E731
    found, expected = tf.function(lambda: next(iter(batches())))(), next(iter(batches()))
    tf.nest.assert_same_structure(found, expected, expand_composites=True)
    values = [x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist() for x in tf.nest.flatten(found)]
    assert values == [[[], [0]], [0, 1]][: len(values)]


def test_rows_of_batches_have_the_shape_of_the_batch():
    rows = [[[[0]], [1], [3]], [[[1]], [2], [3]], [[[2]], [3], [3]]]
    assert list(map(parts, dataset_of(vectors).batch(3).unbatch())) == rows
    assert parts(tf.function(lambda: next(iter(dataset_of(vectors).batch(3).unbatch())))()) == rows[0]
    assert [x.tolist() for x in dataset_of(vectors).batch(2).as_numpy_iterator()] == [[[1, 0], [0, 2]], [[0, 0, 3]]]


def test_batches_of_other_ranks():
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(dataset_of([vectors[0], matrices[0]]).batch(2))
    with pytest.raises(TypeError):
        dataset_of(vectors, [None]).padded_batch(2)


def test_parsed_features_of_variable_length():
    def example(count):
        values = tf.train.Feature(int64_list=tf.train.Int64List(value=range(count)))
        return tf.train.Example(features=tf.train.Features(feature={"a": values})).SerializeToString()

    parsed = Dataset.from_tensor_slices(list(map(example, range(4)))).map(
        lambda text: tf.io.parse_single_example(text, {"a": tf.io.VarLenFeature(tf.int64)})
    )
    first, second = parsed.batch(2)
    assert parts(first["a"]) == [[[1, 0]], [0], [2, 1]]
    assert parts(second["a"]) == [[[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [0, 1, 0, 1, 2], [2, 3]]
