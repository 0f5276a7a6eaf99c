"""The transformations of `tf.data.experimental`. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

D = tf.data.Dataset
X = tf.data.experimental
FIVE, TEN = D.range(5), D.range(10)
PAIRS = D.from_tensor_slices(([1, 2, 1, 3, 2], [5.0, 6.0, 7.0, 8.0, 9.0]))
ROWS_OF = D.from_generator(lambda: iter([[1], [1, 2], [3, 4, 5]]), output_signature=tf.TensorSpec([None], tf.int32))


def windows(size=None, size_func=None, dataset=TEN):
    return list(
        dataset.group_by_window(
            lambda x: x % 3,
            lambda key, w: w.batch(4).map(lambda b: (key, b)),
            window_size=size,
            window_size_func=size_func,
        )
    )


def applied(transformation, dataset=FIVE):
    return list(dataset.apply(transformation))


ROWS = read_rows(r"""
applied(X.assert_cardinality(5))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
applied(X.assert_cardinality(4))
    FailedPreconditionError: Input dataset was expected to contain 4 elements but contained at least 5 elements.
applied(X.assert_cardinality(6))
    FailedPreconditionError: Input dataset was expected to contain 6 elements but contained only 5 elements.
FIVE.filter(lambda x: x > 1).apply(X.assert_cardinality(X.INFINITE_CARDINALITY)).cardinality()
    int64 [] -1
applied(X.unbatch(), FIVE.batch(2))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
applied(X.enumerate_dataset(3))
    ((int64 [] 3; int64 [] 0); (int64 [] 4; int64 [] 1); (int64 [] 5; int64 [] 2); (int64 [] 6; int64 [] 3); (int64 []
    7; int64 [] 4))
applied(X.enumerate_dataset())
    ((int64 [] 0; int64 [] 0); (int64 [] 1; int64 [] 1); (int64 [] 2; int64 [] 2); (int64 [] 3; int64 [] 3); (int64 []
    4; int64 [] 4))
applied(X.ignore_errors(), FIVE.map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), 'no')))
    (float32 [] -0.5; float32 [] -1; float32 [] 1; float32 [] 0.5)
applied(X.dense_to_ragged_batch(2), ROWS_OF)
    (int32 (2, None) [[1], [1, 2]]; int32 (1, None) [[3, 4, 5]])
applied(X.dense_to_ragged_batch(2, drop_remainder=True), ROWS_OF)
    (int32 (2, None) [[1], [1, 2]])
applied(X.dense_to_ragged_batch(2, row_splits_dtype=tf.int32), ROWS_OF)
    (int32 (2, None) int32 [[1], [1, 2]]; int32 (1, None) int32 [[3, 4, 5]])
ROWS_OF.apply(X.dense_to_ragged_batch(2, True)).element_spec
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
applied(X.dense_to_sparse_batch(2, [4]), ROWS_OF)
    (sparse int64 [3, 2] [[0, 0], [1, 0], [1, 1]] int32 [3] [1, 1, 2] int64 [2] [2, 4]; sparse int64 [3, 2] [[0, 0], [0,
    1], [0, 2]] int32 [3] [3, 4, 5] int64 [2] [1, 4])
applied(X.dense_to_sparse_batch(2, [2]), ROWS_OF)
    DataLossError: Input element had shape ([3]) that is larger than the row shape ([2]).
applied(X.dense_to_sparse_batch(2, [None]), ROWS_OF)
    (sparse int64 [3, 2] [[0, 0], [1, 0], [1, 1]] int32 [3] [1, 1, 2] int64 [2] [2, 2]; sparse int64 [3, 2] [[0, 0], [0,
    1], [0, 2]] int32 [3] [3, 4, 5] int64 [2] [1, 3])
ROWS_OF.apply(X.dense_to_sparse_batch(2, [4])).element_spec
    SparseTensorSpec(TensorShape([None, 4]), tf.int32)
applied(X.map_and_batch(lambda x: x * 2, 2))
    (int64 [2] [0, 2]; int64 [2] [4, 6]; int64 [1] [8])
applied(X.map_and_batch(lambda x: x * 2, 2, drop_remainder=True))
    (int64 [2] [0, 2]; int64 [2] [4, 6])
applied(X.map_and_batch(lambda x: x * 2, 2, num_parallel_batches=2))
    (int64 [2] [0, 2]; int64 [2] [4, 6]; int64 [1] [8])
applied(X.map_and_batch(lambda x: x * 2, 2, num_parallel_calls=2))
    (int64 [2] [0, 2]; int64 [2] [4, 6]; int64 [1] [8])
applied(X.map_and_batch(lambda x: x * 2, 2, num_parallel_batches=1, num_parallel_calls=2))
    ValueError
applied(X.map_and_batch(lambda a, b: a, 2), PAIRS)
    (int32 [2] [1, 2]; int32 [2] [1, 3]; int32 [1] [2])
applied(X.shuffle_and_repeat(5, 2, seed=3))
    (int64 [] 4; int64 [] 3; int64 [] 2; int64 [] 1; int64 [] 0; int64 [] 3; int64 [] 4; int64 [] 1; int64 [] 2; int64
    [] 0)
applied(X.shuffle_and_repeat(1, 2))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4; int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64
    [] 4)
applied(X.shuffle_and_repeat(1, 1))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
applied(X.parallel_interleave(lambda x: D.range(x), 2))
    (int64 [] 0; int64 [] 0; int64 [] 1; int64 [] 0; int64 [] 1; int64 [] 0; int64 [] 2; int64 [] 1; int64 [] 2; int64
    [] 3)
applied(X.parallel_interleave(lambda x: D.range(x), cycle_length=2, block_length=2))
    (int64 [] 0; int64 [] 0; int64 [] 1; int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 0; int64 [] 1; int64 [] 2; int64
    [] 3)
applied(X.parallel_interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=1, block_length=2, sloppy=False))
    (int64 [] 0; int64 [] 0; int64 [] 1; int64 [] 1; int64 [] 2; int64 [] 2; int64 [] 3; int64 [] 3; int64 [] 4; int64
    [] 4)
applied(X.scan(np.int64(1), lambda s, x: (s + x, s * x)))
    (int64 [] 0; int64 [] 1; int64 [] 4; int64 [] 12; int64 [] 28)
applied(X.take_while(lambda x: x < 3))
    (int64 [] 0; int64 [] 1; int64 [] 2)
applied(X.unique(), PAIRS.map(lambda a, b: a))
    (int32 [] 1; int32 [] 2; int32 [] 3)
applied(X.group_by_window(lambda x: x % 2, lambda key, w: w.batch(3), window_size=3), TEN)
    (int64 [3] [0, 2, 4]; int64 [3] [1, 3, 5]; int64 [2] [6, 8]; int64 [2] [7, 9])
applied(X.group_by_reducer(lambda x: x % 2, X.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s)), TEN)
    (int64 [] 20; int64 [] 25)
applied(X.group_by_reducer(lambda x: x % 3, X.Reducer(lambda k: k, lambda s, x: s * 10 + x, lambda s: -s)), TEN)
    (int64 [] -369; int64 [] -1147; int64 [] -2258)
applied(X.prefetch_to_device('/cpu:0'))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
applied(X.copy_to_device('/cpu:0'))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
windows(4)
    ((int64 [] 0; int64 [4] [0, 3, 6, 9]); (int64 [] 1; int64 [3] [1, 4, 7]); (int64 [] 2; int64 [3] [2, 5, 8]))
windows(2)
    ((int64 [] 0; int64 [2] [0, 3]); (int64 [] 1; int64 [2] [1, 4]); (int64 [] 2; int64 [2] [2, 5]); (int64 [] 0; int64
    [2] [6, 9]); (int64 [] 1; int64 [1] [7]); (int64 [] 2; int64 [1] [8]))
windows(100)
    ((int64 [] 0; int64 [4] [0, 3, 6, 9]); (int64 [] 1; int64 [3] [1, 4, 7]); (int64 [] 2; int64 [3] [2, 5, 8]))
windows(size_func=lambda key: key + 1)
    ((int64 [] 0; int64 [1] [0]); (int64 [] 0; int64 [1] [3]); (int64 [] 1; int64 [2] [1, 4]); (int64 [] 0; int64 [1]
    [6]); (int64 [] 2; int64 [3] [2, 5, 8]); (int64 [] 0; int64 [1] [9]); (int64 [] 1; int64 [1] [7]))
windows()
    ValueError: Either the `window_size` argument or the `window_size_func` argument must be specified.
windows(4, lambda key: key)
    ValueError: Either the `window_size` argument or the `window_size_func` argument must be specified.
windows(0)
    InvalidArgumentError: Window size must be greater than zero, but got 0.
windows(tf.constant(4, tf.int64))
    ((int64 [] 0; int64 [4] [0, 3, 6, 9]); (int64 [] 1; int64 [3] [1, 4, 7]); (int64 [] 2; int64 [3] [2, 5, 8]))
windows(3, dataset=FIVE)
    ((int64 [] 0; int64 [2] [0, 3]); (int64 [] 1; int64 [2] [1, 4]); (int64 [] 2; int64 [1] [2]))
list(PAIRS.group_by_window(lambda a, b: tf.cast(a, tf.int64), lambda k, w: w.batch(2), 2))
    ((int32 [2] [1, 1]; float32 [2] [5, 7]); (int32 [2] [2, 2]; float32 [2] [6, 9]); (int32 [1] [3]; float32 [1] [8]))
list(TEN.group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3).map(tf.reduce_sum))
    (int64 [] 6; int64 [] 9; int64 [] 14; int64 [] 16)
TEN.group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3).element_spec
    TensorSpec(shape=(None,), dtype=tf.int64, name=None)
TEN.group_by_window(lambda x: tf.cast(x % 2, tf.int32), lambda k, w: w.batch(3), 3)
    ValueError
TEN.group_by_window(lambda x: x % 2, lambda k, w: w, 3).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
TEN.group_by_window(lambda x: x % 2, lambda k, w: k, 3)
    TypeError: Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return type is
    TensorSpec(shape=(), dtype=tf.int64, name=None).
list(FIVE.scan(np.int64(1), lambda s, x: (s + x, (s, x))))
    ((int64 [] 1; int64 [] 0); (int64 [] 1; int64 [] 1); (int64 [] 2; int64 [] 2); (int64 [] 4; int64 [] 3); (int64 []
    7; int64 [] 4))
list(FIVE.scan((np.int64(0), 1), lambda s, x: ((s[0] + x, s[1] * 2), s[1])))
    (int32 [] 1; int32 [] 2; int32 [] 4; int32 [] 8; int32 [] 16)
FIVE.scan(0, lambda s, x: (s, x)).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
FIVE.scan(0, lambda s, x: x)
    TypeError: Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but
    its return type is TensorSpec(shape=(), dtype=tf.int64, name=None).
FIVE.scan(0, lambda s, x: (x, x))
    TypeError: Invalid `scan_func`. The element types for the new state must match the initial state. Expected <dtype:
    'int32'>, got <dtype: 'int64'>.
list(FIVE.scan(tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.size(s))))
    (int32 [] 0; int32 [] 1; int32 [] 2; int32 [] 3; int32 [] 4)
list(FIVE.take_while(lambda x: x != 3))
    (int64 [] 0; int64 [] 1; int64 [] 2)
list(FIVE.take_while(lambda x: x))
    ValueError
list(FIVE.unique())
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
list(D.from_tensor_slices(['a', 'b', 'a']).unique())
    (string [] b'a'; string [] b'b')
list(PAIRS.unique())
    TypeError: `tf.data.Dataset.unique` does not support type <dtype: 'float32'> -- only `tf.int32`, `tf.int64`, and
    `tf.string` are supported.
list(D.from_tensor_slices([[1, 2], [1, 2], [2, 1]]).unique())
    (int32 [2] [1, 2]; int32 [2] [2, 1])
list(D.sample_from_datasets([FIVE, TEN], [1.0, 0.0]))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
list(D.sample_from_datasets([FIVE, TEN], [0.5, 0.5], seed=3).take(8))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 0; int64 [] 3; int64 [] 4; int64 [] 1; int64 [] 5)
list(D.sample_from_datasets([FIVE, TEN], seed=3).take(8))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 0; int64 [] 3; int64 [] 4; int64 [] 1; int64 [] 5)
list(D.sample_from_datasets([FIVE, TEN], [0.2, 0.8], seed=3, stop_on_empty_dataset=True))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4; int64 [] 5; int64 [] 6; int64 [] 7; int64 [] 8; int64
    [] 0; int64 [] 9; int64 [] 1)
list(D.sample_from_datasets([FIVE, TEN], tf.constant([0.2, 0.8]), seed=5).take(6))
    (int64 [] 0; int64 [] 1; int64 [] 0; int64 [] 2; int64 [] 3; int64 [] 1)
list(D.sample_from_datasets([FIVE, TEN], D.from_tensors([0.5, 0.5]).repeat(), seed=3).take(6))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 0; int64 [] 3; int64 [] 4)
list(D.sample_from_datasets([FIVE, TEN], [0.5]))
    ValueError: Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)=1` vs.
    `len(datasets)=2`.
list(D.sample_from_datasets([FIVE, TEN], [0.5, 0.25, 0.25]))
    ValueError: Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)=3` vs.
    `len(datasets)=2`.
list(D.sample_from_datasets([], []))
    ValueError: Invalid `datasets`. `datasets` should not be empty.
list(D.sample_from_datasets([FIVE], [3.0]))
    (int64 [] 0; int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4)
list(D.sample_from_datasets([FIVE, PAIRS], [0.5, 0.5]))
    TypeError: Invalid `datasets`. `datasets` must have compatible element specs.
list(X.sample_from_datasets([FIVE, TEN], [0.0, 1.0]).take(3))
    (int64 [] 0; int64 [] 1; int64 [] 2)
list(D.choose_from_datasets([FIVE, TEN], D.from_tensor_slices(np.int64([0, 1, 1, 0, 0]))))
    (int64 [] 0; int64 [] 0; int64 [] 1; int64 [] 1; int64 [] 2)
list(D.choose_from_datasets([FIVE.take(1), TEN], D.from_tensor_slices(np.int64([0, 0, 1, 0, 1]))))
    (int64 [] 0)
list(D.choose_from_datasets([FIVE.take(1), TEN], D.from_tensors(np.int64(0)).repeat(3), stop_on_empty_dataset=False))
    (int64 [] 0)
list(D.choose_from_datasets([FIVE, TEN], D.from_tensor_slices(np.int64([0, 2]))))
    InvalidArgumentError: Selector index out of range: 2 >= 2
list(D.choose_from_datasets([FIVE, TEN], D.from_tensor_slices([0, 1])))
    TypeError: Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are
    TensorSpec(shape=(), dtype=tf.int32, name=None).
list(D.choose_from_datasets([FIVE, TEN], D.from_tensor_slices(np.int64([[0]]))))
    TypeError: Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are
    TensorSpec(shape=(1,), dtype=tf.int64, name=None).
list(D.choose_from_datasets([], D.range(1)))
    ValueError: Invalid `datasets`. `datasets` should not be empty.
list(X.choose_from_datasets([FIVE, TEN], D.from_tensor_slices(np.int64([0, 1]))))
    (int64 [] 0; int64 [] 0)
list(X.Counter(3, 2).take(3))
    (int64 [] 3; int64 [] 5; int64 [] 7)
list(X.Counter().take(3))
    (int64 [] 0; int64 [] 1; int64 [] 2)
list(X.Counter(dtype=tf.int32, start=2).take(2))
    (int32 [] 2; int32 [] 3)
list(D.counter(5, -1).take(3))
    (int64 [] 5; int64 [] 4; int64 [] 3)
list(X.RandomDataset(seed=4).take(3))
    (int64 [] 3128586565; int64 [] 2023892699; int64 [] 452966358)
list(D.random(seed=4).take(3))
    (int64 [] 3128586565; int64 [] 2023892699; int64 [] 452966358)
list(D.random(seed=4, rerandomize_each_iteration=False).repeat(2).take(2))
    (int64 [] 3128586565; int64 [] 2023892699)
X.get_structure(PAIRS)
    (TensorSpec(shape=(), dtype=tf.int32, name=None); TensorSpec(shape=(), dtype=tf.float32, name=None))
X.get_structure(iter(PAIRS))
    (TensorSpec(shape=(), dtype=tf.int32, name=None); TensorSpec(shape=(), dtype=tf.float32, name=None))
X.cardinality(FIVE)
    int64 [] 5
X.at(FIVE, 3)
    int64 [] 3
X.index_table_from_dataset(D.from_tensor_slices(['a', 'b']), num_oov_buckets=1).lookup(tf.constant(['b', 'z']))
    int64 [2] [1, 2]
X.index_table_from_dataset(D.from_tensor_slices(['a', 'b'])).lookup(tf.constant(['b', 'z']))
    int64 [2] [1, -1]
X.index_table_from_dataset(None)
    AttributeError: 'NoneType' object has no attribute 'enumerate'
X.index_table_from_dataset(TEN, key_dtype=tf.int64, default_value=7).lookup(tf.constant([3, 99], tf.int64))
    int64 [2] [3, 7]
X.index_table_from_dataset(D.from_tensor_slices(['a', 'a'])).lookup(tf.constant(['a']))
    FailedPreconditionError: HashTable has different value for same key. Key a has 0 and trying to add value 1
X.index_table_from_dataset(TEN, num_oov_buckets=-1, key_dtype=tf.int64)
    ValueError: `num_oov_buckets` must be greater than or equal to 0, got -1.
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
