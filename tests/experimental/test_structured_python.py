"""Structured tensors from Python values and back, with specs, their parts, changes and errors.

TensorFlow gave the outcomes.
"""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

S, RP = tf.experimental.StructuredTensor, tf.experimental.RowPartition
C = tf.ragged.constant
A = S.from_pyval([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}])
B = S.from_pyval([[{"x": 1}], [{"x": 2}, {"x": 3}]])
G = S.from_fields({"a": tf.reshape(tf.range(12), [2, 3, 2])}, shape=[2, 3])
P = S.from_pyval([{"p": [{"q": 1}, {"q": 2}]}, {"p": [{"q": 3}]}])
EMPTY = S.from_fields({}, shape=[3])
ONE = S.from_pyval({"s": {"t": 1.5}, "u": 3})


def spec_of(value):
    return tf.type_spec_from_value(value)


def again(value, like=None):
    """Reads the Python value of a structure by a spec."""
    return S.from_pyval(value, spec_of(value if like is None else like))


ROWS = read_rows(r"""
A.to_pyval()
    ({a: 1, b: (1; 2)}; {a: 2, b: ()})
B.to_pyval()
    (({x: 1}); ({x: 2}; {x: 3}))
EMPTY.to_pyval()
    ({}; {}; {})
ONE.to_pyval()
    {s: {t: float32 1.5}, u: int32 3}
S.from_pyval([])
    float32 [0] []
S.from_pyval(5)
    int32 [] 5
S.from_pyval('a')
    string [] b'a'
S.from_pyval([1, 2])
    int32 [2] [1, 2]
S.from_pyval([[1], [2, 3]])
    int32 (2, None) [[1], [2, 3]]
S.from_pyval({})
    structured () {}
S.from_pyval([{}, {}])
    structured (2,) [{}, {}]
S.from_pyval([[{}], [{}, {}]])
    structured (2, None) [[{}], [{}, {}]]
S.from_pyval([[{}], []]).row_partitions
    (tf.RowPartition(row_splits=[0 1 1]))
S.from_pyval(({'a': 1}, {'a': 2}))
    structured (2,) [{'a': 1}, {'a': 2}]
S.from_pyval([{'a': 1}, {}])
    KeyError: 'a'
S.from_pyval([{'a': 1}, {'b': 2}])
    KeyError: 'b'
S.from_pyval([{'a': [1]}, {}])
    KeyError: 'a'
S.from_pyval([{'a': 1}, [{'a': 2}]])
    ValueError: Inconsistent depth of dictionaries
S.from_pyval([{'a': 1}, 5])
    ValueError: Expected dict or nested list/tuple of dict
S.from_pyval({'a': [1, [2]]})
    ValueError: Error parsing path ('a',)
S.from_pyval({'a': {'b': [[1], 2]}})
    ValueError: Error parsing path ('a', 'b')
S.from_pyval([{'a': {'b': 1}}, {'a': {'b': 2}}])
    structured (2,) [{'a': {'b': 1}}, {'a': {'b': 2}}]
S.from_pyval([{'a': {'b': [1, 2]}}, {'a': {'b': []}}])
    structured (2,) [{'a': {'b': [1, 2]}}, {'a': {'b': []}}]
S.from_pyval([{'a': [{'b': [[1], []]}]}, {'a': []}])
    structured (2,) [{'a': [{'b': [[1], []]}]}, {'a': []}]
S.from_pyval(A.to_pyval(), spec_of(A))
    structured (2,) [{'a': 1, 'b': [1, 2]}, {'a': 2, 'b': []}]
S.from_pyval([], spec_of(B))
    structured (0, None) []
S.from_pyval([[], []], spec_of(B)).shape
    TensorShape([0, None])
S.from_pyval([{'a': 1, 'b': [3]}, {'a': 5, 'b': []}], spec_of(A))
    structured (2,) [{'a': 1, 'b': [3]}, {'a': 5, 'b': []}]
S.from_pyval([{'a': 1, 'c': [3]}], spec_of(A))
    ValueError: Value at () does not match typespec: [{'a': 1, 'c': [3]}] vs StructuredTensor.Spec(_fields={'a':
    TensorSpec(shape=(2,), dtype=tf.int32, name=None), 'b': RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1,
    tf.int64)}, _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([2]),
    dtype=tf.int64))
S.from_pyval([{'a': 1, 'b': [3]}, {'a': 5, 'b': []}], spec_of(B))
    ValueError: Value at () does not match typespec: [{'a': 1, 'b': [3]}, {'a': 5, 'b': []}] vs
    StructuredTensor.Spec(_fields={'x': RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(RowPartitionSpec(nrows=2, nvals=3,
    uniform_row_length=None, dtype=tf.int64),), static_inner_shape=TensorShape([3]), dtype=tf.int64))
S.from_pyval([[{'a': 1, 'b': [3]}]], spec_of(A))
    ValueError: Value at () does not match typespec (rank mismatch): [[{'a': 1, 'b': [3]}]] vs
    StructuredTensor.Spec(_fields={'a': TensorSpec(shape=(2,), dtype=tf.int32, name=None), 'b':
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([2]), dtype=tf.int64))
S.from_pyval([{'a': 'x', 'b': [3]}], spec_of(A))
    ValueError: Error parsing path ('a',)
S.from_pyval({'s': {'t': 2.5}, 'u': 1}, spec_of(ONE))
    structured () {'s': {'t': np.float32(2.5)}, 'u': np.int32(1)}
S.from_pyval({'s': {'t': 2.5}}, spec_of(ONE))
    ValueError: Value at () does not match typespec: {'s': {'t': 2.5}} vs StructuredTensor.Spec(_fields={'s':
    StructuredTensor.Spec(_fields={'t': TensorSpec(shape=(), dtype=tf.float32, name=None)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([]), dtype=tf.int64)),
    'u': TensorSpec(shape=(), dtype=tf.int32, name=None)}, _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(),
    static_inner_shape=TensorShape([]), dtype=tf.int64))
S.from_pyval({'s': 2.5, 'u': 1}, spec_of(ONE))
    ValueError: Value at ('s',) does not match typespec: StructuredTensor.Spec(_fields={'t': TensorSpec(shape=(),
    dtype=tf.float32, name=None)}, _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(),
    static_inner_shape=TensorShape([]), dtype=tf.int64)) vs 2.5
S.from_pyval(5, spec_of(ONE))
    ValueError: Value at () does not match typespec: StructuredTensor.Spec(_fields={'s':
    StructuredTensor.Spec(_fields={'t': TensorSpec(shape=(), dtype=tf.float32, name=None)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([]), dtype=tf.int64)),
    'u': TensorSpec(shape=(), dtype=tf.int32, name=None)}, _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(),
    static_inner_shape=TensorShape([]), dtype=tf.int64)) vs 5
S.from_pyval({'s': {}}, tf.TensorSpec([]))
    ValueError: Value at () does not match typespec: {'s': {}} vs TensorSpec(shape=(), dtype=tf.float32, name=None)
S.from_pyval(5, tf.TensorSpec([], tf.float32))
    float32 [] 5
S.from_pyval(5, tf.TensorSpec([1], tf.float32))
    ValueError: Value at () does not match typespec: TensorSpec(shape=(1,), dtype=tf.float32, name=None) vs 5
S.from_pyval([5], tf.TensorSpec([1], tf.int64))
    int64 [1] [5]
S.from_pyval([5], tf.TensorSpec([2], tf.int64))
    ValueError: Value at () does not match typespec: TensorSpec(shape=(2,), dtype=tf.int64, name=None) vs [5]
S.from_pyval([5], tf.TensorSpec([], tf.int64))
    ValueError: Value at () does not match typespec: TensorSpec(shape=(), dtype=tf.int64, name=None) vs [5]
S.from_pyval([[1], [2, 3]], tf.RaggedTensorSpec([2, None], tf.int64))
    int64 (2, None) [[1], [2, 3]]
S.from_pyval([[[1, 2]], []], tf.RaggedTensorSpec([2, None, 2], tf.int32, 1, tf.int32))
    int32 (2, None, 2) int32 [[[1, 2]], []]
S.from_pyval([[1]], tf.SparseTensorSpec())
    ValueError: Value at () does not match typespec: SparseTensorSpec(TensorShape(None), tf.float32) vs [[1]]
S.from_pyval([[1]], spec_of(A))
    ValueError: Value at () does not match typespec: StructuredTensor.Spec(_fields={'a': TensorSpec(shape=(2,),
    dtype=tf.int32, name=None), 'b': RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([2]), dtype=tf.int64))
    vs [[1]]
S.from_pyval([1, 2], spec_of(A))
    ValueError: Value at () does not match typespec: StructuredTensor.Spec(_fields={'a': TensorSpec(shape=(2,),
    dtype=tf.int32, name=None), 'b': RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)},
    _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([2]), dtype=tf.int64))
    vs [1, 2]
S.from_pyval({'a': {'b': 1}}, spec_of(A))
    ValueError: Value at () does not match typespec: {'a': {'b': 1}} vs StructuredTensor.Spec(_fields={'a':
    TensorSpec(shape=(2,), dtype=tf.int32, name=None), 'b': RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1,
    tf.int64)}, _ragged_shape=DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=TensorShape([2]),
    dtype=tf.int64))
A.field_value('a')
    int32 [2] [1, 2]
A.field_value('b')
    int32 (2, None) [[1, 2], []]
A.field_value(('a',))
    int32 [2] [1, 2]
A.field_value('c')
    KeyError: 'c'
A.field_value(('a', 'c'))
    KeyError: 'Field path (\'a\', \'c\') not found in <StructuredTensor(\n fields={\n "a": tf.Tensor([1 2],
    shape=(2,), dtype=int32),\n "b": <tf.RaggedTensor [[1, 2], []]>},\n shape=(2,))>'
P.field_value(('p', 'q'))
    int32 (2, None) [[1, 2], [3]]
P.field_value(('p', 'z'))
    KeyError: 'z'
P.field_value(())
    structured (2,) [{'p': [{'q': 1}, {'q': 2}]}, {'p': [{'q': 3}]}]
A.field_names()
    ('a'; 'b')
ONE.field_names()
    ('s'; 'u')
A.shape
    TensorShape([2])
B.shape
    TensorShape([2, None])
B.rank
    2
B.nrows()
    int64 [] 2
ONE.nrows()
    None
ONE.row_partitions
    ()
B.with_shape_dtype(tf.int32).row_partitions[0].dtype
    tf.int32
B.row_partitions[0].dtype
    tf.int64
A[0]
    structured () {'a': np.int32(1), 'b': [1, 2]}
A[-1]
    structured () {'a': np.int32(2), 'b': []}
A[0, 'a']
    int32 [] 1
A[:, 'b']
    int32 (2, None) [[1, 2], []]
A[1:, 'a']
    int32 [1] [2]
A[0, 'c']
    KeyError: 'c'
A['a']
    TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64
    tensors are valid indices, got 'a'
A[0, 0]
    ValueError: Key for indexing a StructuredTensor must be a string
A[0, 1.5]
    ValueError: Key for indexing a StructuredTensor must be a string
A[tf.newaxis]
    ValueError: Slicing not supported for tf.newaxis
A[...]
    ValueError: Slicing not supported for Ellipsis
A[()]
    structured (2,) [{'a': 1, 'b': [1, 2]}, {'a': 2, 'b': []}]
A[5]
    InvalidArgumentError: slice index 5 of dimension 0 out of bounds.
B[1, 0]
    structured () {'x': np.int32(2)}
B[1]
    structured (2,) [{'x': 2}, {'x': 3}]
B[:, 1:]
    structured (2, None) [[], [{'x': 3}]]
B[1, :, 'x']
    int32 [2] [2, 3]
G[0, 1, 'a']
    int32 [2] [2, 3]
G[1, :, 'a', 0]
    int32 [3] [6, 8, 10]
G[:, -1, 'a']
    int32 [2, 2] [[4, 5], [10, 11]]
ONE['u']
    int32 [] 3
ONE['s', 't']
    float32 [] 1.5
ONE[0]
    ValueError: Key for indexing a StructuredTensor must be a string or a full slice (':')
ONE[:, 'u']
    KeyError: 'u'
ONE[:]
    structured () {'s': {'t': np.float32(1.5)}, 'u': np.int32(3)}
P[0, 'p', 1, 'q']
    int32 [] 2
P[:, 'p', :1]
    structured (2, None) [[{'q': 1}], [{'q': 3}]]
B.merge_dims(0, 1)
    structured (3,) [{'x': 1}, {'x': 2}, {'x': 3}]
B.merge_dims(1, 1)
    structured (2, None) [[{'x': 1}], [{'x': 2}, {'x': 3}]]
B.merge_dims(-2, -1)
    structured (3,) [{'x': 1}, {'x': 2}, {'x': 3}]
B.merge_dims(1, 0)
    ValueError: Expected outer_axis (1) to be less than or equal to inner_axis (0)
B.merge_dims(0, 2)
    ValueError: inner_axis=2 out of bounds: expected -2<=inner_axis<2
G.merge_dims(0, 1)
    structured (6,) [{'a': [0, 1]}, {'a': [2, 3]}, {'a': [4, 5]}, {'a': [6, 7]}, {'a': [8, 9]}, {'a': [10, 11]}]
S.from_fields({'a': C([[[1], [2, 3]], [[4], []]])}, [2, None]).merge_dims(0, 1)
    structured (4,) [{'a': [1]}, {'a': [2, 3]}, {'a': [4]}, {'a': []}]
S.from_fields({'p': S.from_fields({'q': tf.range(6)}, [6])}, []).field_value('p')
    structured (6,) [{'q': 0}, {'q': 1}, {'q': 2}, {'q': 3}, {'q': 4}, {'q': 5}]
S.from_pyval([[{'p': {'q': 1}}], [{'p': {'q': 2}}]]).merge_dims(0, 1)
    structured (2,) [{'p': {'q': 1}}, {'p': {'q': 2}}]
A.partition_outer_dimension(RP.from_row_lengths([1, 0, 1]))
    structured (3, None) [[{'a': 1, 'b': [1, 2]}], [], [{'a': 2, 'b': []}]]
A.partition_outer_dimension(RP.from_uniform_row_length(1, 2))
    structured (2, 1) [[{'a': 1, 'b': [1, 2]}], [{'a': 2, 'b': []}]]
G.partition_outer_dimension(RP.from_uniform_row_length(1, 2)).field_value('a')
    int32 [2, 1, 3, 2] [[[[0, 1], [2, 3], [4, 5]]], [[[6, 7], [8, 9], [10, 11]]]]
A.partition_outer_dimension([1, 1])
    TypeError: row_partition must be a RowPartition.
ONE.partition_outer_dimension(RP.from_row_lengths([1]))
    ValueError: Shape () must have rank at least 1
A.with_updates({'a': lambda x: x * 10})
    structured (2,) [{'a': 10, 'b': [1, 2]}, {'a': 20, 'b': []}]
A.with_updates({'c': ['x', 'y']})
    structured (2,) [{'a': 1, 'b': [1, 2], 'c': b'x'}, {'a': 2, 'b': [], 'c': b'y'}]
A.with_updates({'a': None})
    structured (2,) [{'b': [1, 2]}, {'b': []}]
A.with_updates({'c': None})
    ValueError: `StructuredTensor.with_updates` cannot delete field ('c',) because it is not present.
A.with_updates({'c': lambda x: x})
    ValueError: `StructuredTensor.with_updates` cannot update the field ('c',) because a transforming function was
    given, but that field does not already exist.
A.with_updates({'a': [1, 2, 3]})
    ValueError: `StructuredTensor.with_updates` failed
A.with_updates({'': 1})
    ValueError: `StructuredTensor.with_updates` does not allow empty names (('',),).
A.with_updates({(): 1})
    ValueError: `StructuredTensor.with_updates` does not allow empty names ((),).
A.with_updates({('c', 'b'): 1})
    ValueError: `StructuredTensor.with_updates` cannot create new sub-field ('c', 'b') if parent field ('c',) is not
    set.
P.with_updates({('p', 'q'): lambda x: x + 1})
    structured (2,) [{'p': [{'q': 2}, {'q': 3}]}, {'p': [{'q': 4}]}]
P.with_updates({('p', 'r'): C([['a', 'b'], ['c']])})
    structured (2,) [{'p': [{'q': 1, 'r': b'a'}, {'q': 2, 'r': b'b'}]}, {'p': [{'q': 3, 'r': b'c'}]}]
P.with_updates({('p', 'q'): None})
    structured (2,) [{'p': [{}, {}]}, {'p': [{}]}]
P.with_updates({('p', 'q'): None, 'p': None})
    ValueError: `StructuredTensor.with_updates` does not allow both parent and child nodes to be updated:
    parent=('p',), child=('p', 'q'). If needed you can update child nodes in the parent update value.
P.with_updates({('p', ''): None})
    ValueError: `StructuredTensor.with_updates` does not allow empty names ('p', ('',)).
P.with_updates({('p', 'r'): [1]})
    ValueError: `StructuredTensor.with_updates` failed for field ('p',)
P.promote(('p', 'q'), 'r')
    structured (2,) [{'p': [{'q': 1}, {'q': 2}], 'r': [1, 2]}, {'p': [{'q': 3}], 'r': [3]}]
P.promote(('p', 'q'), 5)
    ValueError: new_name is not a string
P.promote('pq', 'r')
    ValueError: source_path must be a list or tuple
P.promote(('p',), 'r')
    ValueError: source_path must have length at least two
P.promote(('p', 'z'), 'r')
    KeyError: 'z'
ONE.promote(('s', 't'), 'v')
    structured () {'s': {'t': np.float32(1.5)}, 'u': np.int32(3), 'v': np.float32(1.5)}
S.from_pyval([{'p': [{'q': [1, 2]}, {'q': []}]}, {'p': []}]).promote(['p', 'q'], 'r')
    structured (2,) [{'p': [{'q': [1, 2]}, {'q': []}], 'r': [1, 2]}, {'p': [], 'r': []}]
S.from_pyval([[{'p': [{'q': 1}]}], []]).promote(['p', 'q'], 'r')
    structured (2, None) [[{'p': [{'q': 1}], 'r': [1]}], []]
S.from_fields({'a': [1, 2]}, shape=[3])
    ValueError: Shapes (3,) and (2,) are not compatible
S.from_fields({'a': [1, 2]}, shape=[None], nrows=3)
    ValueError: Shapes (2,) and (3,) are not compatible
S.from_fields({'a': [1, 2]}, shape=[None], nrows=2)
    structured (2,) [{'a': 1}, {'a': 2}]
S.from_fields({'a': 1}, shape=[None])
    ValueError: Error in shape of a
S.from_fields({}, shape=[None])
    ValueError: Must specify `nrows`, a fully specified `shape`, or have `fields` if `rank=1`
S.from_fields({}, shape=[None, None])
    ValueError: Must specify row_partitions, a fully specified shape, or have fields if rank > 1
S.from_fields({}, shape=None)
    ValueError: StructuredTensor's shape must have known rank.
S.from_fields({'a': [[1], [2]], 'b': C([[1], [2, 3]])}, shape=[2, None])
    ValueError: Error in shape of b
S.from_fields([1], shape=[])
    TypeError: fields must be a dictionary, got list
S.from_fields({5: 1}, shape=[])
    TypeError: Unexpected type for key in `fields`: 5
S.from_fields({'a': [1, 2]}, shape=[2], row_partitions=[RP.from_row_lengths([2])])
    ValueError: row_partitions must be None or [] if shape.rank<2
S.from_fields({'a': C([[1], [2, 3]])}, [2, None], row_partitions=[RP.from_row_lengths([2, 1])])
    InvalidArgumentError: partitions have incompatible row_splits
S.from_fields_and_rank({'a': [[1, 2], [3, 4]]}, 1)
    structured (2,) [{'a': [1, 2]}, {'a': [3, 4]}]
S.from_fields_and_rank({'a': [[1, 2], [3, 4]]}, 2)
    structured (2, 2) [[{'a': 1}, {'a': 2}], [{'a': 3}, {'a': 4}]]
S.from_fields_and_rank({'a': [[1, 2], [3, 4]]}, 3)
    ValueError: Error in shape of a
S.from_fields_and_rank({'a': [[1, 2], [3, 4]]}, -1)
    ValueError: rank must be nonnegative
S.from_fields_and_rank({}, 1)
    ValueError: Must provide at least one field
S.from_fields_and_rank({'a': C([[1], [2, 3]]), 'b': C([[[4]], [[5], []]])}, 2)
    structured (2, None) [[{'a': 1, 'b': [4]}], [{'a': 2, 'b': [5]}, {'a': 3, 'b': []}]]
tf.concat([A, A], 0)
    structured (4,) [{'a': 1, 'b': [1, 2]}, {'a': 2, 'b': []}, {'a': 1, 'b': [1, 2]}, {'a': 2, 'b': []}]
tf.concat([A, 5], 0)
    ValueError: values must be a list of StructuredTensors
tf.concat([B, B], 1)
    structured (2, None) [[{'x': 1}, {'x': 1}], [{'x': 2}, {'x': 3}, {'x': 2}, {'x': 3}]]
tf.gather(A, [1, 1])
    structured (2,) [{'a': 2, 'b': []}, {'a': 2, 'b': []}]
tf.gather(B, [1, 0], axis=0)
    structured (2, None) [[{'x': 2}, {'x': 3}], [{'x': 1}]]
tf.gather(B, [0], axis=1)
    structured (2, 1) [[{'x': 1}], [{'x': 2}]]
tf.size(B)
    int32 [] 3
tf.size(B, tf.int64)
    int64 [] 3
tf.rank(B)
    int32 [] 2
tf.random.shuffle(ONE)
    ValueError: Cannot shuffle a scalar StructuredTensor
tf.random.shuffle(A).shape
    TensorShape([2])
tf.expand_dims(A, 0)
    structured (1, 2) [[{'a': 1, 'b': [1, 2]}, {'a': 2, 'b': []}]]
tf.expand_dims(B, -1).shape
    TensorShape([2, None, 1])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_a_part_of_what_is_no_structure():
    with pytest.raises(ValueError, match=r"new sub-field \('a', 'b'\) if parent structure \('a',\) is not"):
        A.with_updates({("a", "b"): 1})
