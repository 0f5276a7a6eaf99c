"""Row partitions: how they are made, checked and converted. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RP = tf.experimental.RowPartition
RT = tf.RaggedTensor


def parts(p):
    """Returns all that a partition tells."""
    return (
        p.row_splits(), p.row_lengths(), p.row_starts(), p.row_limits(), p.value_rowids(), p.offsets_in_rows(),
        p.nrows(), p.nvals(), p.uniform_row_length(), p.is_uniform(), p.static_nrows, p.static_nvals,
        p.static_uniform_row_length, p.dtype,
    )  # fmt: skip


def traced(function, *values):
    """Calls a function in a graph, with dimensions that are not static."""
    values = [tf.convert_to_tensor(v) for v in values]
    signature = [tf.TensorSpec([None] * len(v.shape), v.dtype) for v in values]
    return tf.function(function, input_signature=signature, autograph=False)(*values)


def known_in_graph(function, value):
    found = []
    spec = tf.TensorSpec([None] if tf.rank(value) else [], tf.int64)
    tf.function(lambda x: found.append(function(x)) or x, input_signature=[spec], autograph=False)(value)
    p = found[0]
    return p.static_nrows, p.static_nvals, p.static_uniform_row_length, p.is_uniform(), p.dtype


def all_of(p):
    return p.row_lengths(), p.row_starts(), p.row_limits(), p.value_rowids(), p.offsets_in_rows(), p.nrows(), p.nvals()


ROWS = read_rows("""
parts(RP.from_row_splits([0, 2, 2, 5]))
    (int64 [4] [0, 2, 2, 5]; int64 [3] [2, 0, 3]; int64 [3] [0, 2, 2]; int64 [3] [2, 2, 5]; int64 [5] [0, 0, 2, 2,
    2]; int64 [5] [0, 1, 0, 1, 2]; int64 [] 3; int64 [] 5; None; False; 3; 5; None; tf.int64)
parts(RP.from_row_splits([0]))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    None; False; 0; 0; None; tf.int64)
RP.from_row_splits([0, 1], dtype=tf.int32).dtype
    tf.int32
RP.from_row_splits([0, 1], dtype_hint=tf.int32).dtype
    tf.int32
RP.from_row_splits(tf.constant([0, 1])).dtype
    tf.int32
RP.from_row_splits(np.array([0, 1], np.int32)).dtype
    tf.int32
RP.from_row_splits(np.array([0, 1], np.int16)).dtype
    tf.int64
RP.from_row_splits([])
    ValueError: row_splits tensor may not be empty.
RP.from_row_splits([[0, 1]])
    ValueError: Shape (1, 2) must have rank 1
RP.from_row_splits([0.0, 1.0])
    ValueError: row_splits must have dtype int32 or int64
RP.from_row_splits([1, 2])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:zero: the first row split is
    1, not 0
RP.from_row_splits([1, 2], validate=False).row_splits()
    int64 [2] [1, 2]
RP.from_row_splits([0, 3, 2])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: row splits
    decrease: [0, 3, 2]
RP.from_row_splits([0, 3, 2], validate=False).row_splits()
    int64 [3] [0, 3, 2]
parts(RP.from_row_lengths([2, 0, 1]))
    (int64 [4] [0, 2, 2, 3]; int64 [3] [2, 0, 1]; int64 [3] [0, 2, 2]; int64 [3] [2, 2, 3]; int64 [3] [0, 0, 2];
    int64 [3] [0, 1, 0]; int64 [] 3; int64 [] 3; None; False; 3; 3; None; tf.int64)
parts(RP.from_row_lengths([]))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    None; False; 0; 0; None; tf.int64)
RP.from_row_lengths([2, -1])
    InvalidArgumentError: Arguments to from_row_lengths do not form a valid RowPartition: row lengths are negative:
    [2, -1]
RP.from_row_lengths([2, -1], validate=False).row_splits()
    int64 [3] [0, 2, 1]
RP.from_row_lengths([[2]])
    ValueError: Shape (1, 1) must have rank 1
RP.from_row_lengths([1], dtype=tf.int32).dtype
    tf.int32
RP.from_row_lengths([1], dtype_hint=tf.int32).dtype
    tf.int32
parts(RP.from_row_starts([0, 2, 2], 5))
    (int64 [4] [0, 2, 2, 5]; int64 [3] [2, 0, 3]; int64 [3] [0, 2, 2]; int64 [3] [2, 2, 5]; int64 [5] [0, 0, 2, 2,
    2]; int64 [5] [0, 1, 0, 1, 2]; int64 [] 3; int64 [] 5; None; False; 3; 5; None; tf.int64)
parts(RP.from_row_starts([], 0))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    None; False; 0; 0; None; tf.int64)
RP.from_row_starts([0, 2], 5, dtype=tf.int32).dtype
    tf.int32
RP.from_row_starts([0, 2], 5, dtype_hint=tf.int32).dtype
    tf.int32
RP.from_row_starts([1, 2], 5)
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:zero: the first row split is
    1, not 0
RP.from_row_starts([0, 2], 1)
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: row splits
    decrease: [0, 2, 1]
RP.from_row_starts([0, 2], 1, validate=False).row_splits()
    int64 [3] [0, 2, 1]
RP.from_row_starts([[0, 2]], 1)
    ValueError: Shape (1, 2) must have rank 1
parts(RP.from_row_limits([2, 2, 5]))
    (int64 [4] [0, 2, 2, 5]; int64 [3] [2, 0, 3]; int64 [3] [0, 2, 2]; int64 [3] [2, 2, 5]; int64 [5] [0, 0, 2, 2,
    2]; int64 [5] [0, 1, 0, 1, 2]; int64 [] 3; int64 [] 5; None; False; 3; 5; None; tf.int64)
parts(RP.from_row_limits([]))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    None; False; 0; 0; None; tf.int64)
RP.from_row_limits([2, 1])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: row splits
    decrease: [0, 2, 1]
RP.from_row_limits([2, 1], validate=False).row_splits()
    int64 [3] [0, 2, 1]
RP.from_row_limits([1], dtype=tf.int32).dtype
    tf.int32
RP.from_row_limits([1], dtype_hint=tf.int32).dtype
    tf.int32
RP.from_row_limits([[1]])
    ValueError: Shape (1, 1) must have rank 1
parts(RP.from_value_rowids([0, 0, 2]))
    (int64 [4] [0, 2, 2, 3]; int64 [3] [2, 0, 1]; int64 [3] [0, 2, 2]; int64 [3] [2, 2, 3]; int64 [3] [0, 0, 2];
    int64 [3] [0, 1, 0]; int64 [] 3; int64 [] 3; None; False; 3; 3; None; tf.int64)
parts(RP.from_value_rowids([0, 0, 2], 5))
    (int64 [6] [0, 2, 2, 3, 3, 3]; int64 [5] [2, 0, 1, 0, 0]; int64 [5] [0, 2, 2, 3, 3]; int64 [5] [2, 2, 3, 3, 3];
    int64 [3] [0, 0, 2]; int64 [3] [0, 1, 0]; int64 [] 5; int64 [] 3; None; False; 5; 3; None; tf.int64)
parts(RP.from_value_rowids([]))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    None; False; 0; 0; None; tf.int64)
parts(RP.from_value_rowids([], nrows=2))
    (int64 [3] [0, 0, 0]; int64 [2] [0, 0]; int64 [2] [0, 0]; int64 [2] [0, 0]; int64 [0] []; int64 [0] []; int64 []
    2; int64 [] 0; None; False; 2; 0; None; tf.int64)
RP.from_value_rowids([0, 2], 3).row_splits()
    int64 [4] [0, 1, 1, 2]
RP.from_value_rowids([0, 2], 2)
    ValueError: Expected nrows >= value_rowids[-1] + 1; got nrows=2, value_rowids[-1]=2
RP.from_value_rowids([0, 2], -1)
    ValueError: Expected nrows >= 0; got -1
RP.from_value_rowids([2, 0])
    InvalidArgumentError: Arguments to from_value_rowids do not form a valid RowPartition: rows of values decrease
    or are negative: [2, 0]
RP.from_value_rowids([-1, 0])
    InvalidArgumentError: Arguments to from_value_rowids do not form a valid RowPartition: rows of values decrease
    or are negative: [-1, 0]
RP.from_value_rowids([0, 0, 3], validate=False).row_splits()
    int64 [5] [0, 2, 2, 2, 3]
RP.from_value_rowids([0], dtype=tf.int32).dtype
    tf.int32
RP.from_value_rowids([0], dtype_hint=tf.int32).dtype
    tf.int32
RP.from_value_rowids([[0]])
    ValueError: Shape (1, 1) must have rank 1
parts(RP.from_uniform_row_length(2, 6))
    (int64 [4] [0, 2, 4, 6]; int64 [3] [2, 2, 2]; int64 [3] [0, 2, 4]; int64 [3] [2, 4, 6]; int64 [6] [0, 0, 1, 1,
    2, 2]; int64 [6] [0, 1, 0, 1, 0, 1]; int64 [] 3; int64 [] 6; int64 [] 2; True; 3; 6; 2; tf.int64)
parts(RP.from_uniform_row_length(2, nrows=3))
    (int64 [4] [0, 2, 4, 6]; int64 [3] [2, 2, 2]; int64 [3] [0, 2, 4]; int64 [3] [2, 4, 6]; int64 [6] [0, 0, 1, 1,
    2, 2]; int64 [6] [0, 1, 0, 1, 0, 1]; int64 [] 3; int64 [] 6; int64 [] 2; True; 3; 6; 2; tf.int64)
parts(RP.from_uniform_row_length(0, nrows=3))
    (int64 [4] [0, 0, 0, 0]; int64 [3] [0, 0, 0]; int64 [3] [0, 0, 0]; int64 [3] [0, 0, 0]; int64 [0] []; int64 [0]
    []; int64 [] 3; int64 [] 0; int64 [] 0; True; 3; 0; 0; tf.int64)
parts(RP.from_uniform_row_length(0, nvals=0))
    (int64 [1] [0]; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [0] []; int64 [] 0; int64 [] 0;
    int64 [] 0; True; 0; 0; 0; tf.int64)
parts(RP.from_uniform_row_length(2, 6, 3))
    (int64 [4] [0, 2, 4, 6]; int64 [3] [2, 2, 2]; int64 [3] [0, 2, 4]; int64 [3] [2, 4, 6]; int64 [6] [0, 0, 1, 1,
    2, 2]; int64 [6] [0, 1, 0, 1, 0, 1]; int64 [] 3; int64 [] 6; int64 [] 2; True; 3; 6; 2; tf.int64)
RP.from_uniform_row_length(2, dtype=tf.int32, nvals=4).dtype
    tf.int32
RP.from_uniform_row_length(2, dtype_hint=tf.int32, nvals=4).dtype
    tf.int32
RP.from_uniform_row_length(2)
    ValueError: At least one of nvals and nrows must be specified.
RP.from_uniform_row_length(-1, 2)
    ValueError: uniform_row_length must be >= 0.
RP.from_uniform_row_length(2, 5)
    ValueError: uniform_row_length=2 times nrows=2 must equal nvals=5
RP.from_uniform_row_length(2, 5, 2)
    ValueError: uniform_row_length=2 times nrows=2 must equal nvals=5
RP.from_uniform_row_length(2, 5, validate=False).row_splits()
    int64 [3] [0, 2, 4]
RP.from_uniform_row_length(0, 5)
    ValueError: uniform_row_length=0 times nrows=0 must equal nvals=5
RP.from_row_lengths([2, 1]).with_dtype(tf.int32).row_splits()
    int32 [3] [0, 2, 3]
RP.from_row_lengths([2, 1]).with_dtype('int64').row_splits()
    int64 [3] [0, 2, 3]
RP.from_row_lengths([2, 1]).with_dtype(tf.float32)
    ValueError: Argument dtype must be int32 or int64. Received <dtype: 'float32'>.
RP.from_uniform_row_length(2, 6).with_dtype(tf.int32).uniform_row_length()
    int32 [] 2
RP(tf.constant([0, 1]))
    ValueError: RowPartition constructor is private; please use one of the factory methods instead (e.g.,
    RowPartition.from_row_lengths())
RP.from_row_lengths([2, 1])
    tf.RowPartition(row_splits=[0 2 3])
RP.from_uniform_row_length(2, 6)
    tf.RowPartition(nrows=3, uniform_row_length=2)
known_in_graph(RP.from_row_lengths, [1, 2])
    (None; None; None; False; tf.int64)
known_in_graph(RP.from_row_splits, [0, 2])
    (None; None; None; False; tf.int64)
known_in_graph(lambda n: RP.from_uniform_row_length(n, 6), 2)
    (None; None; None; True; tf.int64)
known_in_graph(lambda n: RP.from_uniform_row_length(2, n), 6)
    (None; None; 2; True; tf.int64)
known_in_graph(lambda n: RP.from_uniform_row_length(2, nrows=n), 6)
    (None; None; 2; True; tf.int64)
known_in_graph(lambda n: RP.from_value_rowids(n, 3), [0, 2])
    (3; None; None; False; tf.int64)
traced(lambda x: all_of(RP.from_row_lengths(x)), [2, 0, 1])
    (int32 [3] [2, 0, 1]; int32 [3] [0, 2, 2]; int32 [3] [2, 2, 3]; int32 [3] [0, 0, 2]; int32 [3] [0, 1, 0]; int32
    [] 3; int32 [] 3)
traced(lambda x: all_of(RP.from_row_splits(x)), [0, 2, 2, 3])
    (int32 [3] [2, 0, 1]; int32 [3] [0, 2, 2]; int32 [3] [2, 2, 3]; int32 [3] [0, 0, 2]; int32 [3] [0, 1, 0]; int32
    [] 3; int32 [] 3)
traced(lambda x: all_of(RP.from_row_starts(x, 3)), [0, 2, 2])
    (int32 [3] [2, 0, 1]; int32 [3] [0, 2, 2]; int32 [3] [2, 2, 3]; int32 [3] [0, 0, 2]; int32 [3] [0, 1, 0]; int32
    [] 3; int32 [] 3)
traced(lambda x: all_of(RP.from_row_limits(x)), [0, 2, 2])
    (int32 [3] [0, 2, 0]; int32 [3] [0, 0, 2]; int32 [3] [0, 2, 2]; int32 [2] [1, 1]; int32 [2] [0, 1]; int32 [] 3;
    int32 [] 2)
traced(lambda x: all_of(RP.from_value_rowids(x)), [0, 0, 2])
    (int32 [3] [2, 0, 1]; int32 [3] [0, 2, 2]; int32 [3] [2, 2, 3]; int32 [3] [0, 0, 2]; int32 [3] [0, 1, 0]; int32
    [] 3; int32 [] 3)
traced(lambda x, n: all_of(RP.from_value_rowids(x, n)), [0, 0, 2], 5)
    (int32 [5] [2, 0, 1, 0, 0]; int32 [5] [0, 2, 2, 3, 3]; int32 [5] [2, 2, 3, 3, 3]; int32 [3] [0, 0, 2]; int32 [3]
    [0, 1, 0]; int32 [] 5; int32 [] 3)
traced(lambda x: all_of(RP.from_uniform_row_length(x, 6)), 3)
    (int32 [2] [3, 3]; int32 [2] [0, 3]; int32 [2] [3, 6]; int32 [6] [0, 0, 0, 1, 1, 1]; int32 [6] [0, 1, 2, 0, 1,
    2]; int32 [] 2; int32 [] 6)
traced(lambda x: all_of(RP.from_uniform_row_length(x, 0)), 0)
    (int32 [0] []; int32 [0] []; int32 [0] []; int32 [0] []; int32 [0] []; int32 [] 0; int32 [] 0)
traced(lambda x, n: all_of(RP.from_uniform_row_length(x, nrows=n)), 3, 2)
    (int32 [2] [3, 3]; int32 [2] [0, 3]; int32 [2] [3, 6]; int32 [6] [0, 0, 0, 1, 1, 1]; int32 [6] [0, 1, 2, 0, 1,
    2]; int32 [] 2; int32 [] 6)
traced(lambda x, n: all_of(RP.from_uniform_row_length(x, 6, n)), 3, 2)
    (int32 [2] [3, 3]; int32 [2] [0, 3]; int32 [2] [3, 6]; int32 [6] [0, 0, 0, 1, 1, 1]; int32 [6] [0, 1, 2, 0, 1,
    2]; int32 [] 2; int32 [] 6)
traced(lambda x: RT.from_row_lengths(['a', 'b', 'c'], x), [2, 0, 1])
    string (3, None) int32 [[b'a', b'b'], [], [b'c']]
traced(lambda x: RT.from_row_lengths([[1.5], [2.5], [3.5]], x) * RT.from_row_lengths([[1.], [2.], [3.]], x), [2, 0, 1])
    float32 (3, None, 1) int32 [[[1.5], [5]], [], [[10.5]]]
traced(lambda x: RT.from_row_splits([1, 2, 3], x), [0, 4, 3])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: row splits
    decrease: [0, 4, 3]
traced(lambda x: RT.from_row_splits([1, 2, 3], x), [1, 3])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:zero: the first row split is
    1, not 0
traced(lambda x: RT.from_row_lengths([1, 2, 3], x), [-1, 4])
    InvalidArgumentError: Arguments to from_row_lengths do not form a valid RowPartition: row lengths are negative:
    [-1, 4]
traced(lambda x: RT.from_value_rowids([1, 2, 3], x), [0, 2, 1])
    InvalidArgumentError: Arguments to from_value_rowids do not form a valid RowPartition: rows of values decrease
    or are negative: [0, 2, 1]
traced(lambda x: RT.from_uniform_row_length([1, 2, 3], x), 2)
    InvalidArgumentError: uniform_row_length=2 times nrows=1 must equal nvals=3
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_partitions_have_specs():
    partition = RP.from_uniform_row_length(2, 6)
    spec = tf.type_spec_from_value(partition)
    assert spec.value_type is RP and type(spec).from_value(partition) == spec
    assert type(spec).from_value(RP.from_row_lengths([2, 2, 2])) != spec
    lengths = tf.function(lambda p: p.row_lengths() * 10, input_signature=[spec])
    assert lengths(partition).numpy().tolist() == [20, 20, 20]
    assert tf.nest.flatten(partition, expand_composites=True)[0].numpy().tolist() == [0, 2, 4, 6]


def test_the_callers_array_stays_as_it_was():
    splits, lengths = tf.constant([0, 2, 3], tf.int64), tf.constant([2, 1], tf.int64)
    partition, other = RP.from_row_splits(splits), RP.from_row_lengths(lengths)
    assert partition.row_splits() is splits
    assert partition.with_dtype(tf.int64) is partition
    other.row_splits()
    assert lengths.numpy().tolist() == [2, 1]
