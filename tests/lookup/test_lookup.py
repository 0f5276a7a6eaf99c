"""`tf.lookup`: tables, what fills them, checkpoints, Keras's layers that use them. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

KeyValue, Static, Vocabulary = (
    tf.lookup.KeyValueTensorInitializer,
    tf.lookup.StaticHashTable,
    tf.lookup.StaticVocabularyTable,
)
TextFile, Index = tf.lookup.TextFileInitializer, tf.lookup.TextFileIndex
Mutable, Dense = tf.lookup.experimental.MutableHashTable, tf.lookup.experimental.DenseHashTable


def letters(default=-1):
    return Static(KeyValue(["a", "b", "c"], [1, 2, 3]), default)


def numbers(*values):
    return tf.constant(values, tf.int64)


def found(tensor):
    return tensor.to_list() if isinstance(tensor, tf.RaggedTensor) else tensor.numpy().tolist()


# ---- static tables ---------------------------------------------------------------------------------------------------


def test_a_static_table():
    table = letters()
    assert found(table.lookup(tf.constant([["a", "z"]]))) == [[1, -1]]
    assert found(table[tf.constant("b")]) == 2
    assert found(table.lookup(tf.ragged.constant([["a"], ["b", "z"]]))) == [[1], [2, -1]]
    sparse = table.lookup(tf.sparse.from_dense(["a", "z"]))
    assert found(sparse.values) == [1, -1]
    assert (found(table.size()), table.size().dtype) == (3, tf.int64)
    assert [sorted(found(t)) for t in table.export()] == [[b"a", b"b", b"c"], [1, 2, 3]]
    assert (table.key_dtype, table.value_dtype, found(table.default_value)) == (tf.string, tf.int32, -1)


@pytest.mark.parametrize(
    ("key", "value", "default", "expected"),
    [
        (tf.int64, "one", "", [b"one", b""]),
        (tf.int32, 1.5, 0.5, [1.5, 0.5]),
        (tf.int64, tf.constant(2, tf.int64), 0, [2, 0]),
    ],
)
def test_dtypes(key, value, default, expected):
    table = Static(KeyValue(tf.constant([7], key), tf.stack([value])), default)
    assert found(table.lookup(tf.constant([7, 8], key))) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: letters().lookup(tf.constant([1])),
            TypeError,
            "must be <dtype: 'string'>, received: <dtype: 'int32'>",
        ),
        (lambda: letters("x"), TypeError, "Cannot convert 'x'"),
        (lambda: letters([1, 2]), ValueError, r"Shapes \(2,\) and \(\) are not compatible"),
        (
            lambda: Static(KeyValue(["a", "a"], [1, 2]), 0),
            tf.errors.FailedPreconditionError,
            "has different value for same key",
        ),
        (
            lambda: Static(KeyValue(["a"], [1, 2]), 0),
            tf.errors.InvalidArgumentError,
            r"Expected shape \[1\] for value, got \[2\]",
        ),
        (lambda: Static(KeyValue([1.5], [1]), 0), tf.errors.NotFoundError, "a table from float32 to int32"),
        (lambda: Vocabulary(KeyValue(["a"], numbers(0)), 0), ValueError, "must be > 0; use StaticHashTable"),
        (lambda: Vocabulary(KeyValue(["a"], [0]), 1), TypeError, "Invalid `value_dtype`, expected <dtype: 'int64'>"),
        (
            lambda: Vocabulary(KeyValue(["a"], numbers(0)), 1, tf.int64),
            TypeError,
            "expected integer but got <dtype: 'string'>",
        ),
        (
            lambda: Dense(tf.int64, tf.int64, 0, 1, 1),
            tf.errors.InvalidArgumentError,
            "Empty and deleted keys cannot be equal",
        ),
        (
            lambda: Dense(tf.int64, tf.int64, 0, 1, 2, 7),
            tf.errors.InvalidArgumentError,
            "at least 4 and a power of 2, got: 7",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_tables_in_functions_and_datasets():
    table, mutable = letters(), Mutable(tf.string, tf.int64, -1)

    @tf.function
    def step(words):
        mutable.insert(words, tf.ones_like(words, tf.int64))
        return table.lookup(words), mutable.lookup(words), mutable.size()

    assert [found(t) for t in step(tf.constant(["a", "q"]))] == [[1, -1], [1, 1], 2]
    assert [found(t) for t in step(tf.constant(["a", "r"]))] == [[1, -1], [1, 1], 3]
    words = tf.data.Dataset.from_tensor_slices(["a", "c", "q"])
    assert [x.item() for x in words.map(table.lookup).as_numpy_iterator()] == [1, 3, -1]
    made = tf.function(lambda x: Static(KeyValue(["a"], [x]), -1).lookup(tf.constant(["a", "b"])))
    assert found(made(tf.constant(7))) == [7, -1]


# ---- text files ------------------------------------------------------------------------------------------------------


def test_text_files(tmp_path):
    pairs, lines = str(tmp_path / "pairs"), str(tmp_path / "lines")
    tf.io.write_file(pairs, "emerson 10\nlake 20\n")
    tf.io.write_file(lines, "x\ny\nz\n")
    assert found(
        Static(TextFile(pairs, tf.string, 0, tf.int64, 1, delimiter=" "), -1)[tf.constant(["lake", "no"])]
    ) == [20, -1]
    whole = (tf.string, Index.WHOLE_LINE, tf.int64, Index.LINE_NUMBER)
    assert found(Static(TextFile(lines, *whole, value_index_offset=5), -1)[tf.constant(["y", "q"])]) == [6, -1]
    assert found(Static(TextFile(lines, *whole, vocab_size=2), -1).size()) == 2
    inverse = TextFile(lines, tf.int64, Index.LINE_NUMBER, tf.string, Index.WHOLE_LINE)
    assert found(Static(inverse, "u")[numbers(2, 9)]) == [b"z", b"u"]
    for arguments, options, message in (
        ((lines, *whole), {"vocab_size": 9}, "Invalid vocab_size in .*: expected 9 but got 3"),
        ((pairs, tf.string, 0, tf.int64, 5), {"delimiter": " "}, r"line 0 \(emerson 10\) : expected at least 6 got 2"),
        ((pairs, tf.string, 1, tf.int64, 0), {"delimiter": " "}, "Field emerson in line 0 is not a valid int64"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            Static(TextFile(*arguments, **options), -1)
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        Static(TextFile("/no/such/file", *whole), -1)
    with pytest.raises(ValueError, match="`key_dtype` must be int64 if `key_index` is -1"):
        TextFile(lines, tf.string, Index.LINE_NUMBER, tf.int64, Index.LINE_NUMBER)


# ---- vocabularies ----------------------------------------------------------------------------------------------------


def test_vocabularies():
    table = Vocabulary(KeyValue(["a", "b"], numbers(0, 1)), 3)
    assert found(table.lookup(tf.constant(["a", "b", "zz", "yy", "emerson", "xx"]))) == [0, 1, 3, 3, 3, 4]
    assert found(table.lookup(tf.ragged.constant([["a"], ["zz", "b"]]))) == [[0], [3, 1]]
    assert found(table.size()) == 5
    integers = Vocabulary(KeyValue(numbers(5, 6), numbers(0, 1)), 4, lookup_key_dtype=tf.int32)
    assert found(integers.lookup(tf.constant([5, 7, 8, 9, 100]))) == [0, 2, 5, 3, 5]
    assert found(Vocabulary(None, 4, tf.string).lookup(tf.constant(["a", "b", "c"]))) == [3, 2, 0]
    assert found(tf.function(table.lookup)(tf.constant(["b", "zz"]))) == [1, 3]


def test_tables_of_datasets():
    words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    index = tf.data.experimental.index_table_from_dataset(words, num_oov_buckets=2)
    assert found(index.lookup(tf.constant(["b", "c"]))) == [1, 2]
    pairs = tf.data.Dataset.zip((words, tf.data.Dataset.range(2)))
    assert found(tf.data.experimental.table_from_dataset(pairs, default_value=-7).lookup(tf.constant(["b", "c"]))) == [
        1,
        -7,
    ]


@pytest.mark.parametrize("hasher", [None, "fasthash"])
def test_a_hasher_is_checked_when_the_table_is_made(hasher):
    words = tf.data.Dataset.from_tensor_slices(["a"])
    with pytest.raises(TypeError, match="`hasher_spec` must be of type HasherSpec"):
        tf.data.experimental.index_table_from_dataset(words, num_oov_buckets=2, hasher_spec=hasher)


# ---- tables that change ----------------------------------------------------------------------------------------------


def test_a_mutable_table():
    table = Mutable(tf.string, tf.int64, -1)
    assert table.insert(["a", "b"], numbers(1, 2)) is None
    assert found(table.lookup(["a", "z"])) == [1, -1]
    assert found(table.lookup(tf.constant(["a", "z"]), dynamic_default_values=numbers(7, 8))) == [1, 8]
    table.insert("b", 9)
    table.remove(tf.constant(["a", "q"]))
    assert (found(table["b"]), found(table.size())) == (9, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[1\] for value, got \[2\]"):
        table.insert(["a"], numbers(1, 2))
    rows = Mutable(tf.int64, tf.float32, [0.0, 0.0])
    rows.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
    assert found(rows.lookup([[2, 5]])) == [[[3.0, 4.0], [0.0, 0.0]]]


def test_a_dense_table():
    table = Dense(tf.string, tf.int64, -1, empty_key="", deleted_key="$")
    table.insert(["a", "b"], numbers(1, 2))
    table.erase(["a"])
    table.insert_or_assign(["c"], [3])
    assert (found(table.lookup(["a", "b", "c"])), found(table.size())) == ([-1, 2, 3], 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
        table.insert([""], [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Using the deleted_key as a table key is not allowed"):
        table.lookup(["$"])
    pairs = Dense(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
    pairs.insert([[1, 2]], [7])
    assert found(pairs.lookup([[1, 2], [3, 4]])) == [7, -1]


def test_a_dense_table_exports_tensorflows_buckets():
    table = Dense(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2, initial_num_buckets=8)
    table.insert([5, 13, 21, 2**40], [1.0, 2.0, 3.0, 4.0])
    assert found(table.export()[0]) == [[21], [2**40], [-1], [-1], [-1], [5], [13], [-1]]
    pairs = Dense(tf.int64, tf.int64, -1, empty_key=[-1, -1], deleted_key=[-2, -2], initial_num_buckets=16)
    pairs.insert([[1, 2], [3, 4], [-7, 2**50]], [1, 2, 3])
    assert [i for i, key in enumerate(found(pairs.export()[0])) if key != [-1, -1]] == [3, 6, 7]


def test_checkpoints(tmp_path):
    def tables():
        return {
            "m": Mutable(tf.string, tf.float32, [0.0, 0.0]),
            "d": Dense(tf.string, tf.int64, -1, empty_key="", deleted_key="$", initial_num_buckets=8),
            "s": letters(),
        }

    saved = tables()
    saved["m"].insert(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    saved["d"].insert(["x", "y"], [1, 2])
    path = tf.train.Checkpoint(**saved).save(str(tmp_path / "ck"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert [n for n in names if "table" in n] == [
        f"{t}/.ATTRIBUTES/table-{p}" for t in "dm" for p in ("keys", "values")
    ]
    restored = tables()
    tf.train.Checkpoint(**restored).restore(path).assert_consumed()
    assert found(restored["m"].lookup(["b", "z"])) == [[3.0, 4.0], [0.0, 0.0]]
    assert (found(restored["d"].lookup(["y", "z"])), found(restored["d"].size())) == ([2, -1], 2)


# ---- Keras -----------------------------------------------------------------------------------------------------------


def test_keras_lookup_layers():
    layers = tf.keras.layers
    words = layers.StringLookup()
    words.adapt(np.array(["a", "b", "b", "c"]))
    assert words.get_vocabulary() == ["[UNK]", "b", "c", "a"]
    assert found(words(tf.constant(["b", "z"]))) == found(tf.function(words)(tf.constant(["b", "z"]))) == [1, 0]
    assert found(layers.StringLookup(vocabulary=["a", "b"], invert=True)(tf.constant([1, 2, 0]))) == [
        b"a",
        b"b",
        b"[UNK]",
    ]
    assert found(layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=3)(tf.constant(["q", "emerson", "b"]))) == [
        2,
        1,
        4,
    ]
    numbers_layer = layers.IntegerLookup(vocabulary=[5, 6], num_oov_indices=2)
    assert found(numbers_layer(tf.constant([7, 5, 9, 8]))) == [1, 2, 1, 0]


def test_keras_text_vectorization():
    layer = tf.keras.layers.TextVectorization(output_sequence_length=4)
    layer.adapt(["the cat sat", "the dog"])
    assert layer.get_vocabulary() == ["", "[UNK]", "the", "sat", "dog", "cat"]
    expected = [[2, 4, 0, 0], [1, 5, 0, 0]]
    assert found(layer(tf.constant(["the dog!", "a cat"]))) == expected
    dataset = tf.data.Dataset.from_tensor_slices(["the dog!", "a cat"]).batch(2).map(layer)
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [expected]


# ---- tables that nothing filled --------------------------------------------------------------------------------------


class NoInitializer(KeyValue):
    """Fills nothing, as that of Keras's layers before `adapt`."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = key_dtype, value_dtype

    def initialize(self, table):
        pass


NOT_FILLED = tf.errors.FailedPreconditionError
WORDS = tf.constant(["a", "b"])
v1 = tf.compat.v1
LINES = (tf.string, Index.WHOLE_LINE, tf.int64, Index.LINE_NUMBER)
PAIRS = tf.data.Dataset.from_tensor_slices((["a", "b"], numbers(0, 1)))


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (NOT_FILLED, lambda table: table.lookup(WORDS)),
        (NOT_FILLED, lambda table: table[WORDS]),
        (NOT_FILLED, lambda table: table.lookup(tf.zeros([0], tf.string))),
        (NOT_FILLED, lambda table: table.lookup(tf.ragged.constant([["a"], []]))),
        (NOT_FILLED, lambda table: table.lookup(tf.sparse.from_dense([["a"]]))),
        (NOT_FILLED, lambda table: tf.function(table.lookup)(WORDS)),
        (NOT_FILLED, lambda table: list(tf.data.Dataset.from_tensors(WORDS).map(table.lookup))),
        (NOT_FILLED, lambda table: list(tf.data.Dataset.from_tensor_slices(WORDS).filter(lambda w: table[w] > 0))),
        (tf.errors.AbortedError, lambda table: table.export()),
        (tf.errors.AbortedError, lambda table: tf.function(table.export)()),
    ],
)
def test_a_table_that_nothing_filled_refuses(error, call):
    table = Static(NoInitializer(tf.string, tf.int64), -1)
    assert (found(table.size()), found(tf.function(table.size)())) == (0, 0)
    with pytest.raises(error, match="not initialized"):
        call(table)


def test_a_vocabulary_that_nothing_filled_refuses():
    table = Vocabulary(NoInitializer(tf.string, tf.int64), 3)
    assert found(table.size()) == 3
    with pytest.raises(NOT_FILLED, match="not initialized"):
        table.lookup(WORDS)


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda layers: layers.StringLookup(), WORDS),
        (lambda layers: layers.StringLookup(num_oov_indices=0), WORDS),
        (lambda layers: layers.StringLookup(num_oov_indices=3), WORDS),
        (lambda layers: layers.StringLookup(invert=True), numbers(1)),
        (lambda layers: layers.StringLookup.from_config(layers.StringLookup().get_config()), WORDS),
        (lambda layers: layers.TextVectorization(), WORDS),
        (lambda layers: layers.IntegerLookup(), numbers(1, 2)),
        (lambda layers: layers.IntegerLookup(max_tokens=10), numbers(1, 2)),
    ],
)
def test_keras_layers_without_a_vocabulary_refuse(make, inputs):
    layer = make(tf.keras.layers)
    for call in (layer, tf.function(layer), lambda x: list(tf.data.Dataset.from_tensors(x).map(layer))):
        with pytest.raises(NOT_FILLED, match="Table not initialized"):
            call(inputs)


def test_a_saved_layer_without_a_vocabulary_refuses(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), tf.keras.layers.StringLookup()])
    model.export(str(tmp_path), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path))
    with pytest.raises(NOT_FILLED, match="Table not initialized"):
        loaded.serve(tf.constant([["a"]]))


@pytest.mark.parametrize(
    ("initializer", "error", "message"),
    [
        (lambda path: KeyValue(tf.zeros([0], tf.string), numbers()), tf.errors.InvalidArgumentError, "cannot be empty"),
        (lambda path: TextFile(path, *LINES), tf.errors.OutOfRangeError, "is empty"),
        (lambda path: tf.data.experimental.DatasetInitializer(PAIRS.take(0)), tf.errors.OutOfRangeError, "no elements"),
        (
            lambda path: tf.data.experimental.DatasetInitializer(
                tf.data.Dataset.from_tensor_slices((["a", "a"], [1, 2]))
            ),
            tf.errors.FailedPreconditionError,
            "has different value for same key",
        ),
    ],
)
def test_initializers_that_fill_nothing_refuse(initializer, error, message, tmp_path):
    tf.io.write_file(str(tmp_path / "words"), "")
    with pytest.raises(error, match=message):
        Static(initializer(str(tmp_path / "words")), -1)


def test_a_filled_table_keeps_its_entries():
    @tf.function
    def look_up(words):
        table = Static(KeyValue(words, [7, 8]), -1)
        return table.lookup(words), table.size()

    assert [found(t) for t in look_up(WORDS)] == [[7, 8], 2]
    assert [found(t) for t in look_up(tf.constant(["c", "d"]))] == [[-1, -1], 2]


def test_raw_tables_check_their_arguments():
    table = tf.raw_ops.AnonymousHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    with pytest.raises(tf.errors.UnimplementedError, match="Insert not supported"):
        tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=WORDS, values=numbers(1, 2))
    with pytest.raises(tf.errors.UnimplementedError, match="Remove not supported"):
        tf.raw_ops.LookupTableRemoveV2(table_handle=table, keys=WORDS)
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        tf.raw_ops.InitializeTableV2(table_handle=table, keys=["a", "a"], values=numbers(1, 2))
    assert found(tf.raw_ops.LookupTableSizeV2(table_handle=table)) == 0
    tf.raw_ops.InitializeTableV2(table_handle=table, keys=WORDS, values=numbers(1, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
        tf.raw_ops.LookupTableFindV2(table_handle=table, keys=WORDS, default_value=tf.constant(-1))
    changing = tf.raw_ops.AnonymousMutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
        tf.raw_ops.LookupTableInsertV2(table_handle=changing, keys=WORDS, values=[1, 2])


# ---- graphs of TensorFlow 1 ------------------------------------------------------------------------------------------


def column_of_words(path):
    column = tf.feature_column.categorical_column_with_vocabulary_list("x", ["a", "b"])
    return v1.feature_column.input_layer({"x": tf.constant(["b"])}, tf.feature_column.indicator_column(column))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: Static(KeyValue(["a"], numbers(1)), -1).lookup(WORDS), [1, -1]),
        (lambda path: v1.lookup.StaticHashTable(KeyValue(["a"], numbers(1)), -1).lookup(WORDS), [1, -1]),
        (lambda path: Vocabulary(KeyValue(["a"], numbers(0)), 3).lookup(WORDS), [0, 2]),
        (lambda path: Static(TextFile(path, *LINES), -1).lookup(WORDS), [1, -1]),
        (lambda path: Static(TextFile(tf.constant(path), *LINES), -1).lookup(WORDS), [1, -1]),
        (lambda path: Static(tf.data.experimental.DatasetInitializer(
            tf.data.Dataset.from_tensor_slices((["a"], numbers(1)))), -1).lookup(WORDS), [1, -1]),
        (column_of_words, [[0.0, 1.0]]),
    ],
)  # fmt: skip
def test_each_session_initializes_the_tables_of_its_graph(make, expected, tmp_path):
    tf.io.write_file(str(tmp_path / "words"), "z\na\n")
    with tf.Graph().as_default():
        numbers_of_words = make(str(tmp_path / "words"))
        for _ in range(2):
            with v1.Session() as session:
                with pytest.raises(NOT_FILLED, match="Table not initialized"):
                    session.run(numbers_of_words)
                for _ in range(2):
                    session.run(v1.tables_initializer())
                assert session.run(numbers_of_words).tolist() == expected


def test_a_table_of_a_graph_has_a_name_and_no_entries_before_its_initializer():
    with tf.Graph().as_default():
        table = v1.lookup.StaticHashTable(KeyValue(["a", "b"], [1, 2]), -1)
        assert (table.name, v1.get_collection(v1.GraphKeys.TABLE_INITIALIZERS)) == ("hash_table", [table.initializer])
        size, entries = table.size(), table.export()
        with v1.Session() as session:
            assert session.run(size) == 0
            with pytest.raises(tf.errors.AbortedError, match="HashTable is not initialized"):
                session.run(entries)
            session.run(table.initializer)
            assert session.run(size) == 2
            assert [t.tolist() for t in session.run(entries)] == [[b"a", b"b"], [1, 2]]


def test_a_dataset_of_a_graph_looks_up_in_the_sessions_table():
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensors(WORDS).map(Static(KeyValue(["b"], [5]), -1).lookup)
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with v1.Session() as session:
            session.run(iterator.initializer)
            with pytest.raises(NOT_FILLED, match="Table not initialized"):
                session.run(element)
            session.run([v1.tables_initializer(), iterator.initializer])
            assert session.run(element).tolist() == [-1, 5]


def test_savers_keep_the_entries_of_tables(tmp_path):
    with tf.Graph().as_default():
        words, pairs = Mutable(tf.string, tf.int64, -1), Dense(tf.int64, tf.int64, -1, -1, -2, initial_num_buckets=4)
        found_there = words.lookup(WORDS), pairs.lookup(numbers(5, 6))
        inserts = words.insert(["a"], numbers(4)), pairs.insert(numbers(5), numbers(6))
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(inserts)
            path = saver.save(session, str(tmp_path / "model"))
        assert tf.train.list_variables(path) == [
            ("MutableDenseHashTable-keys", [4, 1]), ("MutableDenseHashTable-values", [4, 1]),
            ("MutableHashTable-keys", [1]), ("MutableHashTable-values", [1]),
        ]  # fmt: skip
        with v1.Session() as session:
            assert [t.tolist() for t in session.run(found_there)] == [[-1, -1], [-1, -1]]
            saver.restore(session, path)
            assert [t.tolist() for t in session.run(found_there)] == [[4, -1], [6, -1]]
