"""Tables that change, in graphs and in checkpoints of graphs. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
Mutable, Dense = tf.lookup.experimental.MutableHashTable, tf.lookup.experimental.DenseHashTable


def dense(**options):
    arguments = {"empty_key": -1, "deleted_key": -2, "initial_num_buckets": 4} | options
    return Dense(tf.int64, tf.int64, -5, **arguments)


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


MAKE = {
    "scalars": lambda **options: Mutable(tf.int64, tf.int64, -5, **options),
    "vectors": lambda **options: Mutable(tf.int64, tf.float32, [-5.0, -6.0], **options),
    "dense": dense,
}
OPS = {"scalars": "MutableHashTableV2", "vectors": "MutableHashTableOfTensorsV2", "dense": "MutableDenseHashTableV2"}
NAMES = {"scalars": "MutableHashTable", "vectors": "MutableHashTable", "dense": "MutableDenseHashTable"}


@pytest.mark.parametrize("kind", MAKE)
def test_operations_of_graphs(kind, session):
    table = MAKE[kind]()
    op = table.resource_handle.op
    assert op.type == OPS[kind] and table.name == op.name == NAMES[kind]
    assert MAKE[kind](name="mine").name == "mine"
    assert op.get_attr("value_dtype") == table.value_dtype == (tf.float32 if kind == "vectors" else tf.int64)
    if kind == "dense":
        assert op.get_attr("initial_num_buckets") == 4 and len(op.inputs) == 2
    else:
        assert op.get_attr("key_dtype") == tf.int64
    if kind == "vectors":
        assert [d.size for d in op.get_attr("value_shape").dim] == [2]
    keys = tf.constant([[1, 2]], tf.int64)
    values = tf.ones([1, 2, 2]) if kind == "vectors" else keys
    shape = [1, 2, 2] if kind == "vectors" else [1, 2]
    insert, remove = table.insert(keys, values), table.remove(keys)
    found = table.lookup(keys)
    assert (insert.type, remove.type) == ("LookupTableInsertV2", "LookupTableRemoveV2")
    assert found.op.type == "LookupTableFindV2" and found.shape.as_list() == shape
    size, exported = table.size(), table.export()
    assert size.op.type == "LookupTableSizeV2" and size.dtype == tf.int64 and size.shape.rank == 0
    assert exported[0].op.type == "LookupTableExportV2"
    assert (exported[0].dtype, exported[1].dtype) == (tf.int64, table.value_dtype)
    assert session.run(size) == 0
    assert session.run(found).reshape(-1).tolist() == [-5.0, -6.0] * 2 if kind == "vectors" else [-5, -5]
    session.run(insert)
    assert session.run(size) == 2
    session.run(remove)
    assert session.run(size) == 0


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("checkpoint", [True, False])
def test_savers(kind, checkpoint, session, tmp_path):
    v1.get_variable("v", initializer=1.0)
    table = MAKE[kind](checkpoint=checkpoint, name="mine")
    assert len(v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)) == int(checkpoint)
    keys = tf.constant([7, 8], tf.int64)
    values = tf.constant([[1.0, 2.0], [3.0, 4.0]]) if kind == "vectors" else keys * 10
    saver = v1.train.Saver()
    session.run([v1.global_variables_initializer(), table.insert(keys, values)])
    path = saver.save(session, str(tmp_path / "m"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == (["mine-keys", "mine-values", "v"] if checkpoint else ["v"])
    session.run([table.remove(keys[:1]), table.insert(keys[1:] + 1, values[1:])])
    saver.restore(session, path)
    found = session.run(table.lookup(tf.constant([7, 8, 9], tf.int64))).tolist()
    first, second = ([1.0, 2.0], [3.0, 4.0]) if kind == "vectors" else (70, 80)
    none = [-5.0, -6.0] if kind == "vectors" else -5
    assert found == ([first, second, none] if checkpoint else [none, second, second])


def test_dynamic_defaults(session):
    table = Mutable(tf.string, tf.int64, -1)
    session.run(table.insert(["a"], [5]))
    defaults = tf.constant([7, 8], tf.int64)
    assert session.run(table.lookup(tf.constant(["a", "b"]), dynamic_default_values=defaults)).tolist() == [5, 8]
    with pytest.raises((TypeError, ValueError)):
        table.lookup(tf.constant(["a"]), dynamic_default_values=["x"])


@pytest.mark.parametrize("kind", MAKE)
def test_checkpoints_of_objects(kind, tmp_path):
    table, other = MAKE[kind](), MAKE[kind]()
    keys = tf.constant([7, 8, 3], tf.int64)
    values = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) if kind == "vectors" else keys * 10
    table.insert(keys, values)
    other.insert(keys[:1] + 50, values[:1])
    path = tf.train.Checkpoint(table=table).write(str(tmp_path / "m"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names[1:] == ["table/.ATTRIBUTES/table-keys", "table/.ATTRIBUTES/table-values"]
    tf.train.Checkpoint(table=other).read(path).assert_consumed()
    assert int(other.size()) == 3 and np.array_equal(other.lookup(keys), values)


@pytest.mark.parametrize("kind", MAKE)
def test_saved_models(kind, tmp_path):
    module = tf.Module()
    module.table = MAKE[kind]()
    keys = tf.constant([7, 8], tf.int64)
    values = tf.constant([[1.0, 2.0], [3.0, 4.0]]) if kind == "vectors" else keys * 10
    module.table.insert(keys, values)
    module.find = tf.function(lambda k: module.table.lookup(k), input_signature=[tf.TensorSpec([None], tf.int64)])
    module.add = tf.function(
        lambda k, v: [module.table.insert(k, v)][:0],
        input_signature=[tf.TensorSpec([None], tf.int64), tf.TensorSpec([None, *values.shape[1:]], values.dtype)],
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert np.array_equal(loaded.find(keys), values)
    loaded.add(keys + 10, values)
    assert np.array_equal(loaded.find(keys + 10), values)
    assert np.array_equal(module.find(keys + 10)[:1], module.find(keys + 20)[:1])  # its table is another one


@pytest.mark.parametrize(
    "options", [{"empty_key": -1, "deleted_key": -1}, {"initial_num_buckets": 3}, {"initial_num_buckets": 2}]
)
def test_dense_tables_that_are_refused(options):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        dense(**options).size()


def test_default_number_of_buckets():
    table = Dense(tf.int64, tf.int64, -5, empty_key=-1, deleted_key=-2)
    assert table.export()[0].shape == [131072, 1]


@pytest.mark.parametrize(("key", "value"), [(tf.float32, tf.int64), (tf.bool, tf.int64), (tf.string, tf.complex64)])
def test_dtypes_that_are_refused(key, value):
    with pytest.raises((tf.errors.NotFoundError, TypeError, ValueError)):
        Mutable(key, value, tf.zeros([], value))
