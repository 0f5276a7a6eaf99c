"""Ops on `tf.experimental.StructuredTensor`s, and what of them no golden shows."""

import pytest

import tapeflow as tf

S = tf.experimental.StructuredTensor
FLAT = S.from_pyval([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}])
ROWS = S.from_pyval([[{"x": 1}], [{"x": 2}, {"x": 3}]])
GRID = S.from_fields({"a": tf.reshape(tf.range(12), [2, 3, 2])}, shape=[2, 3])
EMPTY = S.from_fields({}, shape=[3])


def test_ops_on_the_shape():
    assert repr(tf.shape(ROWS)) == "<DynamicRaggedShape lengths=[2, (1, 2)] num_row_partitions=1>"
    assert [int(tf.size(s)) for s in (FLAT, ROWS, GRID, EMPTY)] == [2, 3, 6, 3]
    assert [int(tf.rank(s)) for s in (FLAT, ROWS, GRID, FLAT[0])] == [1, 2, 2, 0]
    assert tf.zeros_like(ROWS).to_list() == [[0.0], [0.0, 0.0]]
    assert tf.ones_like(ROWS, tf.int64).to_list() == [[1], [1, 1]]
    assert tf.ones_like(FLAT[0], tf.int32).numpy() == 1


@pytest.mark.parametrize(
    ("structure", "axis", "shape"), [(FLAT, 0, [1, 2]), (FLAT, -1, [2, 1]), (ROWS, 1, [2, 1, None]), (EMPTY, 1, [3, 1])]
)
def test_expand_dims(structure, axis, shape):
    expanded = tf.expand_dims(structure, axis)
    assert expanded.shape.as_list() == shape
    for name in structure.field_names():
        assert expanded.field_value(name).shape.as_list()[: len(shape)] == shape
    with pytest.raises(ValueError, match="out of bounds"):
        tf.expand_dims(structure, 5)


def test_concat():
    assert tf.concat([ROWS, ROWS], 1).to_pyval() == [[{"x": 1}] * 2, [{"x": 2}, {"x": 3}] * 2]
    assert tf.concat([GRID, GRID], -1).shape == [2, 6]
    assert tf.concat([EMPTY, EMPTY], 0).shape == [6]
    with pytest.raises(ValueError, match="Some paths are present in some, but not all"):
        tf.concat([FLAT, EMPTY], 0)
    with pytest.raises(ValueError, match="Ranks of sub-message do not match"):
        tf.concat([GRID, S.from_fields({"a": tf.zeros([2, 3])}, [2])], 0)


def test_gather():
    assert tf.gather(FLAT, [1, 0]).to_pyval() == [{"a": 2, "b": []}, {"a": 1, "b": [1, 2]}]
    assert tf.gather(FLAT, tf.ragged.constant([[1], [0, 1]])).field_value("a").to_list() == [[2], [1, 2]]
    assert tf.gather(GRID, [[0], [1]], axis=1, batch_dims=1).field_value("a").numpy().tolist() == [[[0, 1]], [[8, 9]]]


def test_shuffle_keeps_records_together():
    shuffled = tf.random.shuffle(FLAT).to_pyval()
    assert sorted(shuffled, key=lambda record: record["a"]) == FLAT.to_pyval()
    with pytest.raises(ValueError, match="Cannot shuffle a scalar"):
        tf.random.shuffle(FLAT[0])


def test_functions_of_unknown_lengths():
    shape = tf.experimental.DynamicRaggedShape.Spec((), [None], tf.int64)
    spec = S.Spec(_fields={"x": tf.TensorSpec([None], tf.int32)}, _ragged_shape=shape)

    @tf.function(input_signature=[spec])
    def doubled(s):
        assert s.shape.as_list() == [None]
        return s.with_updates({"y": s.field_value("x") * 2}), s.nrows()

    for count in (2, 5):
        result, rows = doubled(S.from_pyval([{"x": i} for i in range(count)]))
        assert result.to_pyval() == [{"x": i, "y": 2 * i} for i in range(count)]
        assert int(rows) == count
    assert doubled.experimental_get_tracing_count() == 1


def test_values_are_checked_in_functions_when_they_are_static():
    @tf.function
    def build(x, y):
        return S.from_fields({"x": x, "y": y}, [None]).field_value("y")

    with pytest.raises(ValueError, match="Error in shape of y"):
        build(tf.zeros([2]), tf.zeros([3]))


def test_to_pyval_is_for_eager_values():
    with pytest.raises(ValueError, match="only supported in eager mode"):
        tf.function(lambda s: s.to_pyval(), autograph=False)(FLAT)


def test_saved_models_take_and_return_them(tmp_path):
    module = tf.Module()
    module.doubled = tf.function(lambda s: s.with_updates({"x": s.field_value("x") * 2}), autograph=False)
    module.doubled.get_concrete_function(ROWS._type_spec)
    tf.saved_model.save(module, str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).doubled(ROWS).to_pyval() == [[{"x": 2}], [{"x": 4}, {"x": 6}]]
