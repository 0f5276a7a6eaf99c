"""Dynamic ragged shapes: their parts, lengths, slices, and as arguments of ops. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

DRS, RP = tf.experimental.DynamicRaggedShape, tf.experimental.RowPartition
C = tf.ragged.constant
R = C([[1, 2], [], [3]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
UNIFORM = tf.RaggedTensor.from_uniform_row_length(N.values, 2)
P, Q = RP.from_row_lengths([2, 1]), RP.from_row_lengths([1, 0, 2])
P32 = RP.from_row_lengths(tf.constant([2, 1]))


def parts(shape):
    """Returns what a shape holds."""
    splits = [p.row_splits() for p in shape.row_partitions]
    return shape.static_lengths(), splits, shape.inner_shape, shape.rank, shape.inner_rank, shape.num_row_partitions


def lengths(shape):
    return shape.static_lengths(), shape.static_lengths(ragged_lengths=False)


def of_lengths(*values, **options):
    return parts(DRS.from_lengths(*values, **options))


def in_graph(function, value, shape):
    """Returns what a function of a tensor with a partly static shape gives when it is traced."""
    found = []
    spec = tf.TensorSpec(shape, value.dtype)
    tf.function(lambda x: found.append(function(x)) or x, input_signature=[spec], autograph=False)(value)
    return found[0]


ROWS = read_rows("""
parts(DRS.from_tensor(R))
    ((3; (2; 0; 1)); (int64 [4] [0, 2, 2, 3]); int64 [1] [3]; 2; 1; 1)
parts(DRS.from_tensor(N))
    ((3; (2; 0; 2); (2; 1; 3; 0)); (int64 [4] [0, 2, 2, 4]; int64 [5] [0, 2, 3, 6, 6]); int64 [1] [6]; 3; 1; 2)
parts(DRS.from_tensor(U))
    ((2; (2; 1); 2; 2); (int64 [3] [0, 2, 3]); int64 [3] [3, 2, 2]; 4; 3; 1)
parts(DRS.from_tensor(UNIFORM))
    ((2; 2; (2; 1; 3; 0)); (int64 [3] [0, 2, 4]; int64 [5] [0, 2, 3, 6, 6]); int64 [1] [6]; 3; 1; 2)
parts(DRS.from_tensor([[1, 2, 3]]))
    ((1; 3); (); int32 [2] [1, 3]; 2; 2; 0)
parts(DRS.from_tensor(7))
    ((); (); int32 [0] []; 0; 0; 0)
DRS.from_tensor(R, dtype=tf.int32).dtype
    tf.int32
DRS.from_tensor(R, dtype='int32').row_partitions[0].row_splits()
    int32 [4] [0, 2, 2, 3]
DRS.from_tensor(R).dtype
    tf.int64
DRS.from_tensor(R.with_row_splits_dtype(tf.int32)).dtype
    tf.int32
DRS.from_tensor([1]).dtype
    tf.int32
parts(DRS.from_row_partitions([P, Q]))
    ((2; (2; 1); (1; 0; 2)); (int64 [3] [0, 2, 3]; int64 [4] [0, 1, 1, 3]); int64 [1] [3]; 3; 1; 2)
parts(DRS.from_row_partitions([P]))
    ((2; (2; 1)); (int64 [3] [0, 2, 3]); int64 [1] [3]; 2; 1; 1)
DRS.from_row_partitions([P]).dtype
    tf.int64
DRS.from_row_partitions([P32]).dtype
    tf.int32
DRS.from_row_partitions([P], dtype=tf.int32).inner_shape
    int32 [1] [3]
DRS.from_row_partitions([])
    ValueError: row_partitions cannot be empty
of_lengths([2, (1, 2)])
    ((2; (1; 2)); (int64 [3] [0, 1, 3]); int64 [1] [3]; 2; 1; 1)
of_lengths([2, (1, 2), 3])
    ((2; (1; 2); 3); (int64 [3] [0, 1, 3]); int64 [2] [3, 3]; 3; 2; 1)
of_lengths([2, (1, 2), 3], num_row_partitions=2)
    ((2; (1; 2); 3); (int64 [3] [0, 1, 3]; int64 [4] [0, 3, 6, 9]); int64 [1] [9]; 3; 1; 2)
of_lengths([2, 3, (1, 0, 2, 1, 1, 1), 4])
    ((2; 3; (1; 0; 2; 1; 1; 1); 4); (int64 [3] [0, 3, 6]; int64 [7] [0, 1, 1, 3, 4, 5, 6]); int64 [2] [6, 4]; 4; 2;
    2)
of_lengths([2, 3, 4])
    ((2; 3; 4); (); int64 [3] [2, 3, 4]; 3; 3; 0)
of_lengths([2, 3, 4], num_row_partitions=1)
    ((2; 3; 4); (int64 [3] [0, 3, 6]); int64 [2] [6, 4]; 3; 2; 1)
of_lengths([2, 3, 4], num_row_partitions=2)
    ((2; 3; 4); (int64 [3] [0, 3, 6]; int64 [7] [0, 4, 8, 12, 16, 20, 24]); int64 [1] [24]; 3; 1; 2)
of_lengths([2, (1, 2)], num_row_partitions=0)
    ValueError: num_row_partitions=0 must be at least 1: dimension 1 is ragged
of_lengths([2, (1, 2, 3)])
    ValueError: There are 3 lengths for 2 rows: [2, (1, 2, 3)]
of_lengths([2, (1,)])
    ValueError: There are 1 lengths for 2 rows: [2, (1,)]
DRS.from_lengths([2, (1, 2)], dtype=tf.int32).inner_shape
    int32 [1] [3]
DRS.from_lengths([2, (1, 2)]).inner_shape
    int64 [1] [3]
DRS.from_lengths([2, 1], dtype=tf.int32).dtype
    tf.int32
lengths(DRS.from_tensor(N))
    ((3; (2; 0; 2); (2; 1; 3; 0)); (3; None; None))
lengths(DRS.from_tensor(U))
    ((2; (2; 1); 2; 2); (2; None; 2; 2))
lengths(DRS.from_tensor(UNIFORM))
    ((2; 2; (2; 1; 3; 0)); (2; 2; None))
lengths(DRS.from_tensor([[1, 2, 3]]))
    ((1; 3); (1; 3))
[DRS.from_tensor(U).is_uniform(a) for a in range(4)]
    (True; False; True; True)
[DRS.from_tensor(UNIFORM).is_uniform(a) for a in range(3)]
    (True; True; False)
DRS.from_tensor(U).is_uniform(4)
    IndexError: dimension 4 is out of range for a shape of rank 4
DRS.from_tensor(U).is_uniform(-5)
    IndexError: dimension -1 is out of range for a shape of rank 4
DRS.from_tensor(U)[0]
    int64 [] 2
DRS.from_tensor(U)[1]
    ValueError: Index 1 is not uniform
DRS.from_tensor(U)[2]
    int64 [] 2
DRS.from_tensor(U)[3]
    int64 [] 2
DRS.from_tensor(U)[-1]
    int64 [] 2
DRS.from_tensor(U)[4]
    IndexError: dimension 4 is out of range for a shape of rank 4
DRS.from_tensor(UNIFORM)[1]
    int64 [] 2
DRS.from_tensor([[1, 2, 3]])[0]
    int32 [] 1
DRS.from_tensor([[1, 2, 3]])[1]
    int32 [] 3
parts(DRS.from_tensor(U)[:2])
    ((2; (2; 1)); (int64 [3] [0, 2, 3]); int64 [1] [3]; 2; 1; 1)
parts(DRS.from_tensor(U)[:3])
    ((2; (2; 1); 2); (int64 [3] [0, 2, 3]); int64 [2] [3, 2]; 3; 2; 1)
parts(DRS.from_tensor(U)[0:4])
    ((2; (2; 1); 2; 2); (int64 [3] [0, 2, 3]); int64 [3] [3, 2, 2]; 4; 3; 1)
parts(DRS.from_tensor(U)[2:])
    ((2; 2); (); int64 [2] [2, 2]; 2; 2; 0)
parts(DRS.from_tensor(U)[3:])
    ((2); (); int64 [1] [2]; 1; 1; 0)
parts(DRS.from_tensor(U)[:1])
    ((2); (); int64 [1] [2]; 1; 1; 0)
parts(DRS.from_tensor(U)[4:])
    ((); (); int64 [0] []; 0; 0; 0)
parts(DRS.from_tensor(U)[1:])
    ValueError: All relevant dimensions must be uniform
parts(DRS.from_tensor(N)[:2])
    ((3; (2; 0; 2)); (int64 [4] [0, 2, 2, 4]); int64 [1] [4]; 2; 1; 1)
parts(DRS.from_tensor(N)[:3])
    ((3; (2; 0; 2); (2; 1; 3; 0)); (int64 [4] [0, 2, 2, 4]; int64 [5] [0, 2, 3, 6, 6]); int64 [1] [6]; 3; 1; 2)
parts(DRS.from_tensor(UNIFORM)[1:2])
    ((2); (); int64 [1] [2]; 1; 1; 0)
parts(DRS.from_tensor(UNIFORM)[0:1])
    ((2); (); int64 [1] [2]; 1; 1; 0)
parts(DRS.from_tensor([[1, 2, 3]])[:1])
    ((1); (); int32 [1] [1]; 1; 1; 0)
parts(DRS.from_tensor([[[1, 2, 3]]])[1:3])
    ((1; 3); (); int32 [2] [1, 3]; 2; 2; 0)
DRS.from_tensor(U)[::2]
    IndexError: A slice of a shape takes dimensions one after the other, not every 2
DRS.from_tensor(N).with_dtype(tf.int32).dtype
    tf.int32
parts(DRS.from_tensor(N).with_dtype(tf.int32))
    ((3; (2; 0; 2); (2; 1; 3; 0)); (int32 [4] [0, 2, 2, 4]; int32 [5] [0, 2, 3, 6, 6]); int32 [1] [6]; 3; 1; 2)
DRS.from_tensor(R) == DRS.from_tensor(R + 1)
    bool [] True
DRS.from_tensor(R) == DRS.from_tensor(C([[1], [2], [3]]))
    bool [] False
DRS.from_tensor(R) == DRS.from_tensor(C([[1, 2], [3]]))
    bool [] False
DRS.from_tensor(R) == DRS.from_tensor(N)
    bool [] False
DRS.from_tensor([[1, 2]]) == DRS.from_tensor([[3, 4]])
    bool [] True
DRS.from_tensor([[1, 2]]) == DRS.from_tensor([[3, 4, 5]])
    bool [] False
DRS.from_tensor(R) == DRS.from_tensor(R, dtype=tf.int32)
    bool [] False
DRS.from_tensor(R) == 5
    False
tf.shape(R).static_lengths()
    (3; (2; 0; 1))
tf.shape(R).dtype
    tf.int32
tf.broadcast_to([[1], [2], [3]], DRS.from_tensor(R))
    int32 (3, None) [[1, 1], [], [3]]
tf.broadcast_to(5, DRS.from_tensor(N))
    int32 (3, None, None) [[[5, 5], [5]], [], [[5, 5, 5], []]]
tf.broadcast_to(5, DRS.from_tensor([[1, 2]]))
    int32 [1, 2] [[5, 5]]
tf.broadcast_to([[[1, 2]], [[3, 4]]], DRS.from_tensor(U))
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 2] and [2, 1]
tf.fill(DRS.from_tensor(R), 7)
    int32 (3, None) [[7, 7], [], [7]]
tf.fill(DRS.from_tensor([[1, 2]]), 7.5)
    float32 [1, 2] [[7.5, 7.5]]
tf.fill(DRS.from_tensor(U), 'a')
    string (2, None, 2, 2) [[[[b'a', b'a'], [b'a', b'a']], [[b'a', b'a'], [b'a', b'a']]], [[[b'a', b'a'], [b'a',
    b'a']]]]
tf.reshape([5, 6, 7], DRS.from_tensor(R))
    int32 (3, None) [[5, 6], [], [7]]
tf.reshape(R, DRS.from_tensor(C([[1], [1, 2]])))
    int32 (2, None) [[1], [2, 3]]
tf.reshape([5, 6, 7, 8], DRS.from_tensor([[1, 2], [3, 4]]))
    int32 [2, 2] [[5, 6], [7, 8]]
tf.zeros(DRS.from_tensor(R))
    float32 (3, None) [[0, 0], [], [0]]
tf.ones(DRS.from_tensor(R), tf.int32)
    int32 (3, None) [[1, 1], [], [1]]
in_graph(lambda x: DRS.from_tensor(x).static_lengths(), tf.ones([2, 3]), [None, 3])
    (None; 3)
in_graph(lambda x: DRS.from_tensor(x).rank, tf.ones([2, 3]), [None, 3])
    2
in_graph(lambda x: DRS.from_tensor(x).rank, tf.ones([2, 3]), None)
    None
in_graph(lambda x: DRS.from_tensor(x).inner_rank, tf.ones([2, 3]), None)
    None
in_graph(lambda x: DRS.from_tensor(x).static_lengths(), tf.ones([2, 3]), None)
    (Ellipsis)
in_graph(lambda x: tf.shape(tf.RaggedTensor.from_row_lengths(x, [1, 2])).static_lengths(), tf.ones([3, 3]), [None, 3])
    (2; None; 3)
in_graph(lambda x: tf.shape(tf.RaggedTensor.from_row_lengths([4, 5], x)).static_lengths(), tf.constant([2]), [None])
    (None; None)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_shapes_have_specs():
    shape = DRS.from_tensor(U)
    spec = tf.type_spec_from_value(shape)
    assert spec.value_type is DRS
    (rows,) = tf.nest.flatten(shape, expand_composites=True)[1:]
    assert rows.numpy().tolist() == [0, 2, 3]
    traced = tf.function(lambda s: tf.fill(s, 1), input_signature=[spec])
    assert traced(shape).to_list() == tf.ones_like(U).to_list()
    with pytest.raises(TypeError):
        traced(DRS.from_tensor(R))


def test_shapes_are_keys():
    shape, other = DRS.from_tensor(R), DRS.from_tensor(R)
    assert {shape: 1}[shape] == 1
    assert hash(shape) != hash(other)
