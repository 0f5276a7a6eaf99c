"""Pipelines as a whole: cardinality, elements by number, single elements, options, functions. TensorFlow gave the
outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

D = tf.data.Dataset
X = tf.data.experimental
FIVE = D.range(5)
RAGGED = D.from_tensor_slices(tf.ragged.constant([[1, 2], [3], []]))
SPARSE = D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2], [0, 0]]))
DICT = D.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]})
PAIR = D.from_tensor_slices(([1, 2, 3], [[1.5], [2.5], [3.5]]))
NESTED = D.from_tensor_slices((([1], [2]), {"k": ([3], [4])}))
EMPTY = D.from_tensor_slices(tf.zeros([0, 2]))
NONE = D.from_tensors((1, None))


def at(dataset, *numbers):
    return [X.at(dataset, n) if hasattr(X, "at") else dataset.at(n) for n in numbers]


def sizes(*datasets):
    return [int(d.cardinality()) for d in datasets]


def specs(*datasets):
    return [d.element_spec for d in datasets]


def length(dataset):
    return len(dataset)


def with_options(dataset, **options):
    o = tf.data.Options()
    for name, value in options.items():
        setattr(o, name, value)
    return dataset.with_options(o)


def summed(dataset):
    """Reduces a dataset in a function that takes it."""
    return tf.function(lambda d: d.reduce(np.int64(0), lambda a, b: a + tf.cast(b, tf.int64)))(dataset)


def from_function(make, *args):
    """Makes a dataset in a function and reduces it there."""
    return tf.function(lambda *xs: make(*xs).reduce(np.int64(0), lambda a, b: a + b))(*args)


def flat_rows(dataset):
    """Takes elements through a function in a graph, with all kinds of components."""
    return list(dataset.flat_map(lambda *x: D.from_tensors(x).repeat(2)))


ROWS = read_rows(r"""
sizes(FIVE, FIVE.repeat(2), FIVE.repeat(), FIVE.batch(2), FIVE.batch(2, drop_remainder=True), FIVE.take(3))
    (5; 10; -1; 3; 2; 3)
sizes(FIVE.take(-1), FIVE.take(9), FIVE.skip(9), FIVE.skip(-1), FIVE.repeat(0), FIVE.repeat(-1), FIVE.repeat().take(3))
    (5; 5; 0; 0; 0; -1; 3)
sizes(FIVE.map(lambda x: x), FIVE.filter(lambda x: x > 1), FIVE.flat_map(D.range), FIVE.shuffle(3), FIVE.cache())
    (5; -2; -2; 5; 5)
sizes(FIVE.prefetch(2), FIVE.shard(2, 0), FIVE.shard(2, 1), FIVE.shard(7, 6), FIVE.concatenate(FIVE), FIVE.enumerate())
    (5; 3; 2; 0; 10; 5)
sizes(D.zip((FIVE, FIVE.take(3))), D.zip((FIVE, FIVE.repeat())), D.zip((FIVE, FIVE.filter(lambda x: x > 1))))
    (3; 5; -2)
sizes(FIVE.concatenate(FIVE.repeat()), FIVE.concatenate(FIVE.filter(lambda x: x > 1)), FIVE.repeat().skip(2))
    (-1; -2; -1)
sizes(FIVE.window(2), FIVE.window(2, drop_remainder=True), FIVE.window(3, shift=1), FIVE.batch(2).unbatch())
    (3; 2; 5; -2)
sizes(FIVE.interleave(D.range), FIVE.scan(0, lambda s, x: (s, x)), FIVE.take_while(lambda x: x < 3), FIVE.unique())
    (-2; 5; -2; -2)
sizes(FIVE.padded_batch(2), FIVE.batch(9), FIVE.batch(9, drop_remainder=True), EMPTY, D.from_tensors(1), D.random(1))
    (3; 1; 0; 0; 1; -1)
sizes(FIVE.apply(X.assert_cardinality(5)), FIVE.filter(lambda x: x > 1).apply(X.assert_cardinality(3)))
    (5; 3)
sizes(D.counter(), D.from_generator(lambda: [1], tf.int32), FIVE.batch(2).rebatch(3), FIVE.ragged_batch(2))
    (-1; -2; -2; 3)
sizes(D.range(0), D.range(5, 0), D.range(0, 5, 2), D.range(5, 0, -2), FIVE.ignore_errors(), FIVE.snapshot('x'))
    (0; 0; 3; 3; -2; 5)
sizes(D.sample_from_datasets([FIVE, FIVE]), D.choose_from_datasets([FIVE, FIVE], FIVE.map(lambda x: x % 2)))
    (-2; -2)
sizes(FIVE.repeat().batch(2), FIVE.repeat().shuffle(2), D.zip(FIVE.repeat(), FIVE.repeat()))
    (-1; -1; -1)
[length(d) for d in (FIVE, FIVE.batch(2), EMPTY)]
    (5; 3; 0)
length(FIVE.repeat())
    TypeError: The dataset is infinite.
length(FIVE.filter(lambda x: x > 1))
    TypeError: The dataset length is unknown.
bool(FIVE)
    True
list(FIVE.filter(lambda x: x > 1).apply(X.assert_cardinality(2)))
    FailedPreconditionError: Input dataset was expected to contain 2 elements but contained at least 3 elements.
list(FIVE.take(2).apply(X.assert_cardinality(4)))
    FailedPreconditionError: Input dataset was expected to contain 4 elements but contained only 2 elements.
at(FIVE, 0, 4)
    (int64 [] 0; int64 [] 4)
at(FIVE, 5)
    OutOfRangeError: Index out of range [0, 5):5
at(FIVE, -1)
    OutOfRangeError: Index out of range [0, 5):-1
at(FIVE.map(lambda x: x * x), 3)
    (int64 [] 9)
at(FIVE.batch(2), 0, 2)
    (int64 [2] [0, 1]; int64 [1] [4])
at(FIVE.batch(2, drop_remainder=True), 1)
    (int64 [2] [2, 3])
at(FIVE.batch(2, drop_remainder=True), 2)
    OutOfRangeError: Index out of range [0, 2):2
at(FIVE.skip(2), 0, 2)
    (int64 [] 2; int64 [] 4)
at(FIVE.skip(2), 3)
    OutOfRangeError: Index out of range [0, 3):3
at(FIVE.take(2), 1)
    (int64 [] 1)
at(FIVE.take(2), 2)
    OutOfRangeError: Index out of range [0, 2):2
at(FIVE.repeat(2), 7)
    (int64 [] 2)
at(FIVE.concatenate(FIVE.skip(3)), 6)
    (int64 [] 4)
at(D.zip((FIVE, FIVE.skip(1))), 2)
    ((int64 [] 2; int64 [] 3))
FIVE.repeat().enumerate().cardinality()
    int64 [] -1
at(FIVE.filter(lambda x: x > 1), 0)
    UnimplementedError
at(FIVE.shard(2, 1), 1)
    (int64 [] 3)
at(FIVE.prefetch(1), 2)
    (int64 [] 2)
at(FIVE.cache(), 2)
    (int64 [] 2)
at(EMPTY, 0)
    OutOfRangeError: Index out of range [0, 0):0
at(D.from_tensors(7), 0)
    (int32 [] 7)
at(D.from_tensors(7), 1)
    OutOfRangeError: Index out of range [0, 1):1
at(PAIR, 1)
    ((int32 [] 2; float32 [1] [2.5]))
at(DICT, 2)
    ({a: int32 [] 3, b: string [] b'z'})
at(RAGGED, 1)
    (int32 [1] [3])
FIVE.take(1).get_single_element()
    int64 [] 0
FIVE.get_single_element()
    InvalidArgumentError: Dataset had more than one element.
EMPTY.get_single_element()
    InvalidArgumentError: Dataset was empty.
DICT.take(1).get_single_element()
    {a: int32 [] 1, b: string [] b'x'}
PAIR.batch(3).get_single_element()
    (int32 [3] [1, 2, 3]; float32 [3, 1] [[1.5], [2.5], [3.5]])
RAGGED.take(1).get_single_element()
    int32 [2] [1, 2]
SPARSE.take(1).get_single_element()
    sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]
X.get_single_element(FIVE.skip(4))
    int64 [] 4
tf.function(lambda: FIVE.take(1).get_single_element())()
    int64 [] 0
tf.function(lambda: DICT.take(1).get_single_element())()
    {a: int32 [] 1, b: string [] b'x'}
tf.function(lambda: RAGGED.take(1).get_single_element())()
    int32 [2] [1, 2]
tf.function(lambda: SPARSE.take(1).get_single_element())()
    sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]
tf.function(lambda: FIVE.get_single_element())()
    InvalidArgumentError: Dataset had more than one element.
specs(FIVE, RAGGED, SPARSE, DICT, PAIR, NESTED, EMPTY, NONE)
    (TensorSpec(shape=(), dtype=tf.int64, name=None); RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64);
    SparseTensorSpec(TensorShape([2]), tf.int32); {a: TensorSpec(shape=(), dtype=tf.int32, name=None), b:
    TensorSpec(shape=(), dtype=tf.string, name=None)}; (TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(1,), dtype=tf.float32, name=None)); ((TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(), dtype=tf.int32, name=None)); {k: (TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(), dtype=tf.int32, name=None))}); TensorSpec(shape=(2,), dtype=tf.float32, name=None);
    (TensorSpec(shape=(), dtype=tf.int32, name=None); NoneTensorSpec()))
specs(*(d.batch(2) for d in (FIVE, RAGGED, SPARSE, DICT, PAIR, EMPTY)))
    (TensorSpec(shape=(None,), dtype=tf.int64, name=None); RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1,
    tf.int64); SparseTensorSpec(TensorShape([None, 2]), tf.int32); {a: TensorSpec(shape=(None,), dtype=tf.int32,
    name=None), b: TensorSpec(shape=(None,), dtype=tf.string, name=None)}; (TensorSpec(shape=(None,), dtype=tf.int32,
    name=None); TensorSpec(shape=(None, 1), dtype=tf.float32, name=None)); TensorSpec(shape=(None, 2), dtype=tf.float32,
    name=None))
specs(*(d.batch(2, drop_remainder=True) for d in (FIVE, RAGGED, SPARSE, PAIR)))
    (TensorSpec(shape=(2,), dtype=tf.int64, name=None); RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64);
    SparseTensorSpec(TensorShape([2, 2]), tf.int32); (TensorSpec(shape=(2,), dtype=tf.int32, name=None);
    TensorSpec(shape=(2, 1), dtype=tf.float32, name=None)))
specs(D.from_tensors(FIVE), FIVE.window(2), D.zip((FIVE, DICT)), D.zip({'a': FIVE, 'b': (PAIR, FIVE)}))
    (DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([])); DatasetSpec(TensorSpec(shape=(),
    dtype=tf.int64, name=None), TensorShape([])); (TensorSpec(shape=(), dtype=tf.int64, name=None); {a:
    TensorSpec(shape=(), dtype=tf.int32, name=None), b: TensorSpec(shape=(), dtype=tf.string, name=None)}); {a:
    TensorSpec(shape=(), dtype=tf.int64, name=None), b: ((TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(1,), dtype=tf.float32, name=None)); TensorSpec(shape=(), dtype=tf.int64, name=None))})
specs(FIVE.batch(2).unbatch(), PAIR.batch(2).unbatch(), RAGGED.batch(2).unbatch(), SPARSE.batch(2).unbatch())
    (TensorSpec(shape=(), dtype=tf.int64, name=None); (TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(1,), dtype=tf.float32, name=None)); RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64);
    SparseTensorSpec(TensorShape([2]), tf.int32))
list(RAGGED)
    (int32 [2] [1, 2]; int32 [1] [3]; int32 [0] [])
list(SPARSE)
    (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2];
    sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2])
list(DICT)
    ({a: int32 [] 1, b: string [] b'x'}; {a: int32 [] 2, b: string [] b'y'}; {a: int32 [] 3, b: string [] b'z'})
list(PAIR)
    ((int32 [] 1; float32 [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5]))
list(NESTED)
    (((int32 [] 1; int32 [] 2); {k: (int32 [] 3; int32 [] 4)}))
list(NONE)
    ((int32 [] 1; None))
[list(d.batch(2)) for d in (RAGGED, SPARSE, DICT)]
    ((int32 (2, None) [[1, 2], [3]]; int32 (1, None) [[]]); (sparse int64 [2, 2] [[0, 0], [1, 1]] int32 [2] [1, 2] int64
    [2] [2, 2]; sparse int64 [0, 2] [] int32 [0] [] int64 [2] [1, 2]); ({a: int32 [2] [1, 2], b: string [2] [b'x',
    b'y']}; {a: int32 [1] [3], b: string [1] [b'z']}))
[list(d.batch(2)) for d in (PAIR, NESTED.map(lambda *x: x), NONE)]
    (((int32 [2] [1, 2]; float32 [2, 1] [[1.5], [2.5]]); (int32 [1] [3]; float32 [1, 1] [[3.5]])); (((int32 [1] [1];
    int32 [1] [2]); {k: (int32 [1] [3]; int32 [1] [4])})); ((int32 [1] [1]; None)))
[list(d.batch(2).unbatch()) for d in (RAGGED, SPARSE, DICT, PAIR)]
    ((int32 [2] [1, 2]; int32 [1] [3]; int32 [0] []); (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse
    int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]); ({a: int32 [] 1,
    b: string [] b'x'}; {a: int32 [] 2, b: string [] b'y'}; {a: int32 [] 3, b: string [] b'z'}); ((int32 [] 1; float32
    [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5])))
[list(d.repeat(2).skip(1).take(3)) for d in (RAGGED, SPARSE)]
    ((int32 [1] [3]; int32 [0] []; int32 [2] [1, 2]); (sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse
    int64 [0, 1] [] int32 [0] [] int64 [1] [2]; sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]))
[list(d.map(lambda *x: x)) for d in (RAGGED, SPARSE, PAIR)]
    (((int32 [2] [1, 2]); (int32 [1] [3]); (int32 [0] [])); ((sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]);
    (sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]); (sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]));
    ((int32 [] 1; float32 [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5])))
[list(d.map(lambda x: x)) for d in (RAGGED, SPARSE, DICT)]
    ((int32 [2] [1, 2]; int32 [1] [3]; int32 [0] []); (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse
    int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]); ({a: int32 [] 1,
    b: string [] b'x'}; {a: int32 [] 2, b: string [] b'y'}; {a: int32 [] 3, b: string [] b'z'}))
flat_rows(RAGGED)
    ((int32 [2] [1, 2]); (int32 [2] [1, 2]); (int32 [1] [3]); (int32 [1] [3]); (int32 [0] []); (int32 [0] []))
flat_rows(SPARSE)
    ((sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]); (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]);
    (sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]); (sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]);
    (sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]); (sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]))
flat_rows(DICT)
    (({a: int32 [] 1, b: string [] b'x'}); ({a: int32 [] 1, b: string [] b'x'}); ({a: int32 [] 2, b: string [] b'y'});
    ({a: int32 [] 2, b: string [] b'y'}); ({a: int32 [] 3, b: string [] b'z'}); ({a: int32 [] 3, b: string [] b'z'}))
flat_rows(PAIR)
    ((int32 [] 1; float32 [1] [1.5]); (int32 [] 1; float32 [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 2;
    float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5]); (int32 [] 3; float32 [1] [3.5]))
[list(d.concatenate(d).skip(2)) for d in (RAGGED, SPARSE, PAIR)]
    ((int32 [0] []; int32 [2] [1, 2]; int32 [1] [3]; int32 [0] []); (sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2];
    sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse
    int64 [0, 1] [] int32 [0] [] int64 [1] [2]); ((int32 [] 3; float32 [1] [3.5]); (int32 [] 1; float32 [1] [1.5]);
    (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5])))
[list(d.filter(lambda *x: True)) for d in (RAGGED, SPARSE, PAIR)]
    ((int32 [2] [1, 2]; int32 [1] [3]; int32 [0] []); (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse
    int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]); ((int32 [] 1;
    float32 [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5])))
[list(d.cache().prefetch(1)) for d in (RAGGED, SPARSE, PAIR)]
    ((int32 [2] [1, 2]; int32 [1] [3]; int32 [0] []); (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse
    int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]; sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2]); ((int32 [] 1;
    float32 [1] [1.5]); (int32 [] 2; float32 [1] [2.5]); (int32 [] 3; float32 [1] [3.5])))
[list(d.enumerate().skip(2)) for d in (RAGGED, SPARSE, PAIR)]
    (((int64 [] 2; int32 [0] [])); ((int64 [] 2; sparse int64 [0, 1] [] int32 [0] [] int64 [1] [2])); ((int64 [] 2;
    (int32 [] 3; float32 [1] [3.5]))))
[list(d.as_numpy_iterator()) for d in (FIVE, DICT, PAIR, NESTED)]
    ((int64 0; int64 1; int64 2; int64 3; int64 4); ({a: int32 1, b: b'x'}; {a: int32 2, b: b'y'}; {a: int32 3, b:
    b'z'}); ((int32 1; array float32 [1] [1.5]); (int32 2; array float32 [1] [2.5]); (int32 3; array float32 [1]
    [3.5])); (((int32 1; int32 2); {k: (int32 3; int32 4)})))
list(SPARSE.as_numpy_iterator())
    (array int32 [2] [1, 0]; array int32 [2] [0, 2]; array int32 [2] [0, 0])
list(RAGGED.as_numpy_iterator())
    (array int32 [2] [1, 2]; array int32 [1] [3]; array int32 [0] [])
list(NONE.as_numpy_iterator())
    ((int32 1; None))
[list(d) for d in FIVE.window(2)]
    ((int64 [] 0; int64 [] 1); (int64 [] 2; int64 [] 3); (int64 [] 4))
[list(d.batch(2)) for d in FIVE.window(3)]
    ((int64 [2] [0, 1]; int64 [1] [2]); (int64 [2] [3, 4]))
[[list(p) for p in w] for w in PAIR.window(2)]
    (((int32 [] 1; int32 [] 2); (float32 [1] [1.5]; float32 [1] [2.5])); ((int32 [] 3); (float32 [1] [3.5])))
list(FIVE.window(2).flat_map(lambda w: w.batch(2)))
    (int64 [2] [0, 1]; int64 [2] [2, 3]; int64 [1] [4])
list(D.from_tensors(FIVE).flat_map(lambda d: d.take(2)))
    (int64 [] 0; int64 [] 1)
list(D.zip((FIVE, FIVE)).map(lambda a, b: a * b))
    (int64 [] 0; int64 [] 1; int64 [] 4; int64 [] 9; int64 [] 16)
FIVE.reduce(np.int64(0), lambda a, b: a + b)
    int64 [] 10
PAIR.reduce((0, [0.0]), lambda s, x: (s[0] + x[0], s[1] + x[1]))
    (int32 [] 6; float32 [1] [7.5])
DICT.reduce('', lambda s, x: s + x['b'])
    string [] b'xyz'
RAGGED.reduce(0, lambda s, x: s + tf.reduce_sum(x))
    int32 [] 6
SPARSE.reduce(0, lambda s, x: s + tf.sparse.reduce_sum(x))
    int32 [] 3
EMPTY.reduce(7, lambda s, x: s + 1)
    int32 [] 7
summed(FIVE)
    int64 [] 10
summed(FIVE.map(lambda x: x * 2))
    int64 [] 20
summed(FIVE.batch(2).unbatch())
    int64 [] 10
from_function(lambda: D.range(5))
    int64 [] 10
from_function(lambda n: D.range(n), tf.constant(4, tf.int64))
    int64 [] 6
from_function(lambda x: D.from_tensor_slices(x), tf.constant([1, 2, 3], tf.int64))
    int64 [] 6
from_function(lambda x: D.from_tensor_slices(x).map(lambda y: y * 2).skip(1), tf.constant([1, 2, 3], tf.int64))
    int64 [] 10
tf.function(lambda: D.range(5).cardinality())()
    int64 [] 5
tf.function(lambda: D.range(5).filter(lambda x: x > 1).cardinality())()
    int64 [] -2
tf.function(lambda n: D.range(5).repeat(n).cardinality())(tf.constant(3, tf.int64))
    int64 [] 15
tf.function(lambda n: D.range(5).take(n).cardinality())(tf.constant(3, tf.int64))
    int64 [] 3
tf.function(lambda n: D.range(5).batch(n).cardinality())(tf.constant(3, tf.int64))
    int64 [] 2
with_options(FIVE, deterministic=False).options().deterministic
    False
with_options(with_options(FIVE, deterministic=False), experimental_slack=True).options().deterministic
    False
with_options(with_options(FIVE, deterministic=False), deterministic=True).options().deterministic
    True
with_options(FIVE, deterministic=False).map(lambda x: x).batch(2).options().deterministic
    False
D.zip((with_options(FIVE, deterministic=False), FIVE)).options().deterministic
    False
D.zip((with_options(FIVE, deterministic=False), with_options(FIVE, deterministic=True))).options().deterministic
    True
FIVE.options().deterministic
    None
list(with_options(FIVE, deterministic=True).map(lambda x: x + 1, num_parallel_calls=2))
    (int64 [] 1; int64 [] 2; int64 [] 3; int64 [] 4; int64 [] 5)
str(FIVE)
    '<_RangeDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>'
repr(DICT)
    "<_TensorSliceDataset element_spec={'a': TensorSpec(shape=(), dtype=tf.int32, name=None), 'b': TensorSpec(shape=(),
    dtype=tf.string, name=None)}>"
str(PAIR.batch(2))
    '<_BatchDataset element_spec=(TensorSpec(shape=(None,), dtype=tf.int32, name=None), TensorSpec(shape=(None, 1),
    dtype=tf.float32, name=None))>'
str(FIVE.map(lambda x: x))
    '<_MapDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>'
str(FIVE.filter(lambda x: x > 1))
    '<_FilterDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>'
str(RAGGED)
    '<_TensorSliceDataset element_spec=RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64)>'
str(FIVE.repeat())
    '<_RepeatDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>'
str(FIVE.window(2))
    '<_WindowDataset element_spec=DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))>'
repr(D.zip((FIVE, DICT)))
    "<_ZipDataset element_spec=(TensorSpec(shape=(), dtype=tf.int64, name=None), {'a': TensorSpec(shape=(),
    dtype=tf.int32, name=None), 'b': TensorSpec(shape=(), dtype=tf.string, name=None)})>"
list(FIVE.map(lambda x: tf.ensure_shape(x, [2])))
    ValueError
list(D.from_tensor_slices([[1, 2], [3, 4]]).map(lambda x: tf.ensure_shape(x, [3])))
    ValueError
list(FIVE.map(lambda x: 6 // (x - 2)).ignore_errors())
    (int64 [] -3; int64 [] -6; int64 [] 6; int64 [] 3)
list(FIVE.map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x, tf.float32), 'bad')).ignore_errors())
    (float32 [] 1; float32 [] 0.5; float32 [] 0.33333; float32 [] 0.25)
FIVE == FIVE
    True
hash(FIVE) == hash(FIVE)
    True
next(iter(EMPTY))
    StopIteration:
next(iter(FIVE))
    int64 [] 0
iter(FIVE).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
iter(PAIR).get_next()
    (int32 [] 1; float32 [1] [1.5])
iter(EMPTY).get_next_as_optional().has_value()
    bool [] False
iter(FIVE).get_next_as_optional().get_value()
    int64 [] 0
iter(FIVE).get_next_as_optional().element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
FIVE.element_spec == D.range(3).element_spec
    True
D.zip((FIVE,))
    <_ZipDataset element_spec=(TensorSpec(shape=(), dtype=tf.int64, name=None),)>
D.zip()
    TypeError: Must pass at least one dataset to `zip`.
D.zip([FIVE, FIVE])
    TypeError: Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects.
    Python `list` is not supported and you should use `tuple` instead.
FIVE.concatenate(PAIR)
    TypeError: Incompatible dataset elements:
FIVE.concatenate(RAGGED)
    TypeError: Incompatible dataset elements:
list(D.from_tensor_slices([[1, 2], [3, 4]]).concatenate(D.from_tensor_slices([[5], [6]])))
    (int32 [2] [1, 2]; int32 [2] [3, 4]; int32 [1] [5]; int32 [1] [6])
D.from_tensor_slices([[1, 2]]).concatenate(D.from_tensor_slices([[5]])).element_spec
    TensorSpec(shape=(None,), dtype=tf.int32, name=None)
FIVE.concatenate(D.from_tensors(1))
    TypeError: Incompatible dataset elements:
D.from_tensor_slices(1)
    ValueError: Unbatching a tensor is only supported for rank >= 1
D.from_tensor_slices(([1, 2], [3]))
    ValueError: Dimensions 2 and 1 are not compatible
D.from_tensor_slices({})
    ValueError: Invalid `element`. `element` should not be empty.
D.from_tensor_slices([])
    <_TensorSliceDataset element_spec=TensorSpec(shape=(), dtype=tf.float32, name=None)>
D.from_tensors([])
    <_TensorDataset element_spec=TensorSpec(shape=(0,), dtype=tf.float32, name=None)>
D.from_tensors({'a': 1, 'b': (2, [3.0])}).element_spec
    {a: TensorSpec(shape=(), dtype=tf.int32, name=None), b: (TensorSpec(shape=(), dtype=tf.int32, name=None);
    TensorSpec(shape=(1,), dtype=tf.float32, name=None))}
D.from_tensors([1, 2]).element_spec
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
D.from_tensors(([1, 2], 'a')).element_spec
    (TensorSpec(shape=(2,), dtype=tf.int32, name=None); TensorSpec(shape=(), dtype=tf.string, name=None))
list(PAIR.batch(2).map(lambda a, b: tf.shape(b)))
    (int32 [2] [2, 1]; int32 [2] [1, 1])
list(D.from_tensor_slices([[1], [2]]).batch(3))
    (int32 [2, 1] [[1], [2]])
list(D.from_generator(lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int32)).batch(2))
    InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and
    element 1 had shape [2].
list(D.from_generator(lambda: iter(['a', 'b']), tf.string).batch(2))
    (string [2] [b'a', b'b'])
list(D.from_generator(lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int32)).ragged_batch(2))
    (int32 (2, None) [[1], [1, 2]])
list(D.from_generator(lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int32)).padded_batch(2))
    (int32 [2, 2] [[1, 0], [1, 2]])
list(RAGGED.padded_batch(2))
    TypeError: `padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in
    the input dataset is not a subclass of TensorSpec: `RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64)`.
list(SPARSE.padded_batch(2))
    TypeError: `padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in
    the input dataset is not a subclass of TensorSpec: `SparseTensorSpec(TensorShape([2]), tf.int32)`.
list(RAGGED.map(lambda x: tf.RaggedTensor.from_tensor(x[None])).batch(3))
    (int32 (3, 1, None) [[[1, 2]], [[3]], [[]]])
list(D.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]]])).batch(2))
    (int32 (2, None, None) [[[1], [2, 3]], [[4]]])
list(D.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]]])))
    (int32 (2, None) [[1], [2, 3]]; int32 (1, None) [[4]])
list(D.from_tensors(tf.ragged.constant([[1], [2, 3]])).unbatch())
    (int32 [1] [1]; int32 [2] [2, 3])
list(D.from_tensors(tf.sparse.from_dense([[1, 0], [0, 2]])).unbatch())
    (sparse int64 [1, 1] [[0]] int32 [1] [1] int64 [1] [2]; sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2])
list(D.from_tensors((tf.ragged.constant([[1], [2, 3]]), [5, 6])).unbatch())
    ((int32 [1] [1]; int32 [] 5); (int32 [2] [2, 3]; int32 [] 6))
list(D.from_tensors(([1, 2], [5])).unbatch())
    ValueError: `unbatch()` is only supported for datasets of elements whose components have a matching leading
    dimension. Encountered both 2 and 1.
list(D.from_tensors(1).unbatch())
    ValueError: Cannot unbatch an input with scalar components.
D.range(2**63 - 1).cardinality()
    int64 [] -1
D.range(0, 2**63 - 1, 5).cardinality()
    int64 [] -1
D.range(2**63 - 2).cardinality()
    int64 [] 9223372036854775806
list(D.range(2**63 - 1).skip(3).take(2))
    (int64 [] 3; int64 [] 4)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
