"""The storage of tables: what is found, replaced and refused, for each kind. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

raw, errors = tf.raw_ops, tf.errors
WORDS = [f"w{i}" for i in range(50)]


def numbers(*values):
    return tf.constant(values, tf.int64)


def static(key_dtype=tf.string, value_dtype=tf.int64):
    return raw.AnonymousHashTable(key_dtype=key_dtype, value_dtype=value_dtype)


def changing(key_dtype=tf.string, value_dtype=tf.int64):
    return raw.AnonymousMutableHashTable(key_dtype=key_dtype, value_dtype=value_dtype)


def rows(key_dtype, value_dtype):
    return raw.AnonymousMutableHashTableOfTensors(key_dtype=key_dtype, value_dtype=value_dtype, value_shape=[2])


def dense(empty=-1, deleted=-2, value_dtype=tf.int64, value_shape=(), buckets=4, key_dtype=tf.int64):
    return raw.AnonymousMutableDenseHashTable(
        empty_key=tf.constant(empty, key_dtype),
        deleted_key=tf.constant(deleted, key_dtype),
        value_dtype=value_dtype,
        value_shape=value_shape,
        initial_num_buckets=buckets,
    )


def fill(table, keys, values):
    raw.LookupTableImportV2(table_handle=table, keys=keys, values=values)


def insert(table, keys, values):
    raw.LookupTableInsertV2(table_handle=table, keys=keys, values=values)


def find(table, keys, default):
    return raw.LookupTableFindV2(table_handle=table, keys=keys, default_value=default).numpy()


def size(table):
    return int(raw.LookupTableSizeV2(table_handle=table))


def export(table, keys, values):
    pair = raw.LookupTableExportV2(table_handle=table, Tkeys=keys, Tvalues=values)
    return [t.numpy().tolist() for t in pair]


# ---- tables that are filled once -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "values", "message"),
    [
        (["a", "b", "a"], numbers(1, 5, 2), r"different value for same key. Key a has 1 and trying to add value 2"),
        (["a", "b", "b"], ["x", "y", "z"], r"different value for same key. Key b has y and trying to add value z"),
        (numbers(7, 3, 7), ["x", "y", "z"], r"different value for same key. Key 7 has x and trying to add value z"),
    ],
)
def test_a_key_with_two_values_is_refused(keys, values, message):
    keys, values = tf.constant(keys), tf.constant(values)
    table = static(keys.dtype, values.dtype)
    with pytest.raises(errors.FailedPreconditionError, match=message):
        fill(table, keys, values)


def test_equal_entries_count_once():
    table = static(tf.string, tf.string)
    fill(table, ["a", "b", "a"], ["x", "y", "x"])
    assert size(table) == 2 and find(table, ["a", "b", "c"], "-").tolist() == [b"x", b"y", b"-"]


def test_a_table_is_filled_once():
    table = static()
    with pytest.raises(errors.FailedPreconditionError, match="Table not initialized"):
        find(table, ["a"], tf.constant(0, tf.int64))
    with pytest.raises(errors.AbortedError, match="not initialized"):
        export(table, tf.string, tf.int64)
    with pytest.raises(errors.InvalidArgumentError, match="cannot be empty"):
        raw.InitializeTableV2(table_handle=table, keys=tf.zeros([0], tf.string), values=tf.zeros([0], tf.int64))
    raw.InitializeTableV2(table_handle=table, keys=["a", "b"], values=numbers(1, 2))
    raw.InitializeTableV2(table_handle=table, keys=["c", "d"], values=numbers(3, 4))  # as many: ignored
    assert find(table, ["a", "c"], tf.constant(0, tf.int64)).tolist() == [1, 0]
    for keys in (["a"], ["a", "b", "c"]):
        with pytest.raises(errors.FailedPreconditionError, match="already initialized"):
            raw.InitializeTableV2(table_handle=table, keys=keys, values=numbers(*range(len(keys))))
    assert sorted(zip(*export(table, tf.string, tf.int64), strict=True)) == [(b"a", 1), (b"b", 2)]


@pytest.mark.parametrize("make", [static, changing])
def test_signatures(make):
    table = make()
    for keys, values in ((numbers(1), numbers(1)), (["a"], ["a"]), (["a"], [1])):
        with pytest.raises(errors.InvalidArgumentError):
            fill(table, keys, values)
    for keys, values in ((["a", "b"], numbers(1)), (["a"], numbers(1, 2)), (["a"], [numbers(1)]), ("a", numbers(1))):
        with pytest.raises(errors.InvalidArgumentError, match="Expected shape"):
            fill(table, keys, values)
    fill(table, "a", tf.constant(5, tf.int64))
    assert find(table, "a", tf.constant(0, tf.int64)).tolist() == 5
    for keys, default in ((numbers(1), numbers(1)), (["a"], "x"), (["a"], 1)):
        with pytest.raises(errors.InvalidArgumentError):
            find(table, keys, default)


# ---- lookups ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 32, 33, 50])
@pytest.mark.parametrize("values", [numbers(*range(100, 150)), tf.range(50) / 4, tf.strings.as_string(tf.range(50))])
def test_defaults_of_missing_keys(count, values):
    """Some, all or no keys are missing; each has its own default, or all have one."""
    names = WORDS if values.dtype is not tf.string else [tf.constant(i, tf.int64) for i in range(50)]
    table = changing(tf.convert_to_tensor(names).dtype, values.dtype)
    insert(table, names[:25], values[:25])
    known, one = values[:25].numpy().tolist(), values.numpy().tolist()[49]
    for start in (0, 10, 25, 49):
        words = (names[start:] + names[:start])[:count]
        numbers_of = ([*range(start, 50)] + [*range(start)])[:count]
        assert find(table, words, values[49]).tolist() == [known[i] if i < 25 else one for i in numbers_of]
        own = tf.reverse(values, [0])[:count]
        expected = [known[i] if i < 25 else d for i, d in zip(numbers_of, own.numpy().tolist(), strict=True)]
        assert find(table, words, own).tolist() == expected
        assert find(table, [words], [own]).tolist() == [expected]


@pytest.mark.parametrize("dtype", [tf.float32, tf.string])
def test_defaults_of_rows(dtype):
    names = tf.constant(WORDS) if dtype is tf.float32 else tf.range(50, dtype=tf.int64)
    table, values = rows(names.dtype, dtype), tf.reshape(tf.range(8.0), [4, 2])
    if dtype is tf.string:
        values = tf.strings.as_string(values, precision=0)
    row = values.numpy().tolist()
    assert find(table, names[:2], values[0]).tolist() == [row[0]] * 2  # of an empty table
    assert find(table, names[:2], values[:2]).tolist() == row[:2]
    insert(table, names[:2], values[:2])
    assert find(table, names[1:3], values[3]).tolist() == [row[1], row[3]]
    assert find(table, names[1:4], values[:3]).tolist() == [row[1], *row[1:3]]
    assert find(table, names[:2], values[3]).tolist() == row[:2]
    assert find(table, tf.gather(names, [[0], [2]]), values[3]).tolist() == [[row[0]], [row[3]]]
    assert find(table, names[0], values[3]).tolist() == row[0] and find(table, names[9], values[3]).tolist() == row[3]
    assert find(table, names[1:2], values[3]).tolist() == [row[1]]
    assert find(table, names[:0], values[3]).shape == (0, 2)
    for default in (values[:1], values[0, 0], values[0, :1], values, tf.reshape(values, [2, 2, 2])):
        with pytest.raises(errors.InvalidArgumentError, match="Expected shape"):
            find(table, names[:3], default)


def test_one_default_for_keys_of_any_shape():
    table = changing(value_dtype=tf.int32)
    assert find(table, [["a", "b"], ["c", "d"]], 7).tolist() == [[7, 7], [7, 7]]
    assert find(table, [["a", "b"], ["c", "d"]], [[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert find(table, tf.zeros([0, 3], tf.string), 7).shape == (0, 3)
    for default in ([7], [1, 2], [1, 2, 3, 4], [[1, 2]]):
        with pytest.raises(errors.InvalidArgumentError, match="Expected shape"):
            find(table, [["a", "b"], ["c", "d"]], default)


# ---- tables that change ----------------------------------------------------------------------------------------------


def test_imports_replace_all_entries():
    table = changing()
    insert(table, ["a", "b"], numbers(1, 2))
    fill(table, ["b", "c"], numbers(3, 4))
    assert size(table) == 2 and find(table, ["a", "b", "c"], tf.constant(0, tf.int64)).tolist() == [0, 3, 4]
    fill(table, tf.zeros([0], tf.string), tf.zeros([0], tf.int64))
    assert size(table) == 0 and export(table, tf.string, tf.int64) == [[], []]
    raw.LookupTableRemoveV2(table_handle=table, keys=["a"])
    assert size(table) == 0


def test_rows_are_inserted_and_exported():
    table = rows(tf.string, tf.int32)
    insert(table, "a", [1, 2])
    insert(table, [["b"], ["a"]], [[[3, 4]], [[5, 6]]])
    keys, values = export(table, tf.string, tf.int32)
    assert dict(zip(keys, values, strict=True)) == {b"a": [5, 6], b"b": [3, 4]}
    for values in ([1, 2], [[1], [2]], [[1, 2]] * 2, [[1, 2, 3]]):
        with pytest.raises(errors.InvalidArgumentError, match="Expected shape"):
            insert(table, ["c"], values)


# ---- buckets ---------------------------------------------------------------------------------------------------------


def buckets(table, key_dtype=tf.int64, value_dtype=tf.int64):
    keys, values = export(table, key_dtype, value_dtype)
    return {i: (key, value) for i, (key, value) in enumerate(zip(keys, values, strict=True)) if key[0] != -1}


@pytest.mark.parametrize(
    ("keys", "count", "places"),
    [
        ([0, 1, 2], 4, [0, 1, 2]),
        ([4, 8, 12], 4, [0, 1, 3]),
        ([3, 7, 11], 4, [3, 0, 2]),
        ([0, 1, 2, 3], 8, [0, 1, 2, 3]),
        ([8, 16, 24, 32, 40, 48], 8, [0, 1, 3, 6, 2, 7]),
    ],
)
def test_keys_of_one_bucket_go_on(keys, count, places):
    """The next buckets are at distances 1, 3, 6, 10, ... of the first."""
    table = dense(buckets=count)
    insert(table, numbers(*keys), numbers(*range(len(keys))))
    found, values = export(table, tf.int64, tf.int64)
    assert len(found) == len(values) == count
    assert {i: k for i, k in enumerate(found) if k != [-1]} == {p: [k] for p, k in zip(places, keys, strict=True)}
    assert [values[p] for p in places] == [[i] for i in range(len(keys))]
    assert all(value == [0] for key, value in zip(found, values, strict=True) if key == [-1])


@pytest.mark.parametrize(("inserted", "count"), [(0, 4), (3, 4), (4, 8), (6, 8), (7, 16), (12, 16), (13, 32)])
def test_buckets_are_doubled(inserted, count):
    table = dense()
    for i in range(inserted):
        insert(table, numbers(i + 1), numbers(i + 100))
    keys, values = export(table, tf.int64, tf.int64)
    assert len(keys) == len(values) == count
    assert sorted(k for (k,) in keys) == [-1] * (count - inserted) + [*range(1, inserted + 1)]
    assert sorted(v for (v,) in values if v) == [i + 100 for i in range(inserted)]


def test_buckets_of_vectors():
    table = dense([-1, -1], [-2, -2], tf.float32, (2,), 8)
    insert(table, [numbers(1, 2)], [[1.0, 2.0]])
    insert(table, [numbers(3, 4), numbers(1, 2)], [[3.0, 4.0], [5.0, 6.0]])
    keys, values = export(table, tf.int64, tf.float32)
    assert np.shape(keys) == (8, 2) and np.shape(values) == (8, 2)
    pairs = [(k, v) for k, v in zip(keys, values, strict=True) if k != [-1, -1]]
    assert sorted(pairs) == [([1, 2], [5.0, 6.0]), ([3, 4], [3.0, 4.0])]
    missing = tf.constant([0.0, 9.0])
    assert find(table, [numbers(3, 4), numbers(4, 3)], missing).tolist() == [[3.0, 4.0], [0.0, 9.0]]
    for keys in (numbers(1), numbers(1, 2, 3), tf.constant(1, tf.int64)):
        with pytest.raises(errors.InvalidArgumentError):
            find(table, keys, missing)
    with pytest.raises(errors.InvalidArgumentError, match="empty_key as a table key is not allowed"):
        insert(table, [numbers(-1, -1), numbers(5, 5)], [[3.0, 4.0], [5.0, 6.0]])
    insert(table, [numbers(-1, -2)], [[7.0, 8.0]])  # no reserved key, though its parts are
    assert size(table) == 3


@pytest.mark.parametrize(
    ("keys", "places"), [(["a", "b", "c"], [4, 2, 5]), (["w1", "w2", "w3", "w4", "w5"], [4, 6, 5, 1, 3])]
)
def test_buckets_of_strings(keys, places):
    table = dense("", "$", key_dtype=tf.string, buckets=8)
    insert(table, keys, numbers(*range(len(keys))))
    found, _ = export(table, tf.string, tf.int64)
    assert {k: i for i, (k,) in enumerate(found) if k} == {k.encode(): p for p, k in zip(places, keys, strict=True)}


@pytest.mark.parametrize(
    ("keys", "places"),
    [
        ([[1, 2], [2, 1], [-7, 2**50], [2**62, -(2**62)], [0, 0], [123456789, 987654321]], [3, 4, 6, 0, 1, 23]),
        ([[1, 2, 3], [3, 2, 1], [-7, 2**50, 5], [0, 0, 1]], [24, 25, 11, 26]),
        ([["a", "b"], ["b", "a"], ["", "x"], ["long word", "another"]], [21, 2, 8, 6]),
    ],
)
def test_buckets_of_keys_of_several_parts(keys, places):
    dtype, width = (tf.string if isinstance(keys[0][0], str) else tf.int64), len(keys[0])
    empty, deleted = ("", "$") if dtype is tf.string else (-1, -2)
    table = dense([empty] * width, [deleted] * width, key_dtype=dtype, buckets=32)
    insert(table, tf.constant(keys, dtype), numbers(*range(len(keys))))
    found, values = export(table, dtype, tf.int64)
    assert [values[place] for place in places] == [[i] for i in range(len(keys))]
    assert [found[place] for place in places] == tf.constant(keys, dtype).numpy().tolist()


def test_imported_buckets():
    """Empty and deleted keys among imported ones are left out."""
    table = dense()
    insert(table, numbers(5), numbers(50))
    fill(table, [[k] for k in numbers(-1, 1, -2, 2)], [[v] for v in numbers(9, 10, 9, 20)])
    assert size(table) == 2
    assert find(table, numbers(1, 2, 5), tf.constant(0, tf.int64)).tolist() == [10, 20, 0]


def test_removed_keys_of_buckets():
    table = dense(buckets=8)
    insert(table, numbers(1, 2, 3), numbers(10, 20, 30))
    raw.LookupTableRemoveV2(table_handle=table, keys=numbers(2, 7))
    assert size(table) == 2 and find(table, numbers(1, 2), tf.constant(0, tf.int64)).tolist() == [10, 0]
    for key, name in ((-1, "empty"), (-2, "deleted")):
        with pytest.raises(errors.InvalidArgumentError, match=f"{name}_key as a table key is not allowed"):
            raw.LookupTableRemoveV2(table_handle=table, keys=numbers(1, key))


@pytest.mark.parametrize("count", [-4, 0, 1, 2, 3, 5, 6, 12])
def test_numbers_of_buckets(count):
    with pytest.raises(errors.InvalidArgumentError, match="power of 2"):
        size(dense(buckets=count))


def test_reserved_keys_differ():
    with pytest.raises(errors.InvalidArgumentError, match="cannot be equal"):
        size(dense(-1, -1))
    with pytest.raises(errors.InvalidArgumentError, match="cannot be equal"):
        size(dense("a", "a", key_dtype=tf.string))
