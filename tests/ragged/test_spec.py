"""`tf.RaggedTensorSpec`: its parts, what it describes, and as a signature. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C, S = tf.RaggedTensor, tf.ragged.constant, tf.RaggedTensorSpec
A = C([[1, 2], [], [3]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
UNIFORM = RT.from_uniform_row_length(C([[1], [2, 3], [], [4]]), 2)


def parts(spec):
    return (
        spec.shape,
        spec.dtype,
        spec.ragged_rank,
        spec.row_splits_dtype,
        spec.flat_values_spec,
        spec.value_type.__name__,
    )


def batches(value, size):
    return list(tf.data.Dataset.from_tensor_slices(value).batch(size))


def through_a_signature(spec, value):
    found = []
    result = tf.function(lambda x: found.append(x.shape) or x, input_signature=[spec], autograph=False)(value)
    return result, result.shape, found[0]


ROWS = read_rows("""
parts(S([2, None], tf.int32))
    (TensorShape([2, None]); tf.int32; 1; tf.int64; None; 'RaggedTensor')
parts(S([2, None]))
    (TensorShape([2, None]); tf.float32; 1; tf.int64; None; 'RaggedTensor')
parts(S(None, tf.int32, 1))
    (TensorShape(None); tf.int32; 1; tf.int64; None; 'RaggedTensor')
parts(S(ragged_rank=2))
    (TensorShape(None); tf.float32; 2; tf.int64; None; 'RaggedTensor')
parts(S([2, None, 3], tf.string, 1, tf.int32))
    (TensorShape([2, None, 3]); tf.string; 1; tf.int32; None; 'RaggedTensor')
parts(S([2, 3], tf.int32, 0))
    (TensorShape([2, 3]); tf.int32; 0; tf.int64; None; 'Tensor')
parts(S([2, None], flat_values_spec=tf.TensorSpec([None], tf.float32)))
    (TensorShape([2, None]); tf.float32; 1; tf.int64; TensorSpec(shape=(None,), dtype=tf.float32, name=None);
    'RaggedTensor')
parts(S([2, None], dtype=None, flat_values_spec=tf.TensorSpec([None], tf.int32)))
    (TensorShape([2, None]); tf.int32; 1; tf.int64; TensorSpec(shape=(None,), dtype=tf.int32, name=None);
    'RaggedTensor')
S([2, None], tf.int32, flat_values_spec=tf.TensorSpec([None], tf.float32))
    ValueError: dtype must be the same as flat_values_spec.dtype
S([2, None], dtype=None)
    ValueError: At least one of dtype or flat_values_spec must be provided
S(None, tf.int32)
    ValueError: Must specify ragged_rank or a shape with a known rank.
S([2, None], tf.int32, 1.5)
    TypeError: Argument `ragged_rank` must be an int. Received 1.5.
S([2, None], tf.int32, 2)
    ValueError: Argument `ragged_rank` (2) must be less than rank (2).
S([2, None], tf.int32, 1)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
S([2, None], tf.int32)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
parts(S.from_value(A))
    (TensorShape([3, None]); tf.int32; 1; tf.int64; None; 'RaggedTensor')
parts(S.from_value(N.with_row_splits_dtype(tf.int32)))
    (TensorShape([3, None, None]); tf.int32; 2; tf.int32; None; 'RaggedTensor')
parts(tf.type_spec_from_value(UNIFORM))
    (TensorShape([2, 2, None]); tf.int32; 2; tf.int64; None; 'RaggedTensor')
S([None, None], tf.int32).is_compatible_with(A)
    True
S([3, None], tf.int32).is_compatible_with(A)
    True
S([2, None], tf.int32).is_compatible_with(A)
    False
S([None, None], tf.int64).is_compatible_with(A)
    False
S([None, None], tf.int32, row_splits_dtype=tf.int32).is_compatible_with(A)
    False
S([None, None], tf.int32, 0).is_compatible_with([[1]])
    False
S([None, None], tf.int32, 0).is_compatible_with(tf.constant([[1]]))
    True
S([None, None], tf.int32, 0).is_compatible_with(tf.constant([1]))
    False
S([None, None], tf.int32, 0).is_compatible_with(tf.TensorSpec([2, 2], tf.int32))
    True
S([None, None], tf.int32, 0).is_compatible_with(A)
    False
S([None, None], tf.int32).is_compatible_with(tf.constant([[1]]))
    False
S([None, None], tf.int32).is_compatible_with(S([3, None], tf.int32))
    True
S([2, None], tf.int32).is_compatible_with(S([3, None], tf.int32))
    False
S([None, None], tf.int32) == S([None, None], tf.int32)
    True
S([None, None], tf.int32) == S([None, None], tf.int32, row_splits_dtype=tf.int32)
    False
S([None, None, None], tf.int32, 1) == S([None, None, None], tf.int32, 2)
    False
S([3, None], tf.int32).most_specific_compatible_type(S([2, None], tf.int32))
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
batches(A, 2)
    (int32 (2, None) [[1, 2], []]; int32 (1, None) [[3]])
batches(A, 3)
    (int32 (3, None) [[1, 2], [], [3]])
batches(N, 2)
    (int32 (2, None, None) [[[1, 2], [3]], []]; int32 (1, None, None) [[[4, 5, 6], []]])
batches(UNIFORM, 2)
    (int32 (2, 2, None) [[[1], [2, 3]], [[], [4]]])
batches(A.with_row_splits_dtype(tf.int32), 2)
    (int32 (2, None) int32 [[1, 2], []]; int32 (1, None) int32 [[3]])
tf.data.Dataset.from_tensor_slices(N).element_spec
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
tf.data.Dataset.from_tensor_slices(A).element_spec
    RaggedTensorSpec(TensorShape([None]), tf.int32, 0, tf.int64)
tf.data.Dataset.from_tensors(N).batch(1).element_spec
    RaggedTensorSpec(TensorShape([None, 3, None, None]), tf.int32, 3, tf.int64)
tf.data.Dataset.from_tensors(N).unbatch().element_spec
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
list(tf.data.Dataset.from_tensors(N).batch(2))
    (int32 (1, 3, None, None) [[[[1, 2], [3]], [], [[4, 5, 6], []]]])
list(tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(tf.range).ragged_batch(2))
    (int32 (2, None) [[0], [0, 1]]; int32 (1, None) [[0, 1, 2]])
through_a_signature(S([None, None], tf.int32), A)
    (int32 (3, None) [[1, 2], [], [3]]; TensorShape([3, None]); TensorShape([None, None]))
through_a_signature(S([3, None], tf.int32), A)
    (int32 (3, None) [[1, 2], [], [3]]; TensorShape([3, None]); TensorShape([3, None]))
through_a_signature(S([2, None], tf.int32), A)
    TypeError: Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape=(4,), dtype=tf.int64,
    name=None) to TensorSpec(shape=(3,), dtype=tf.int64, name=None)`. Received args: (<tf.RaggedTensor [[1, 2], [],
    [3]]>,) and kwargs: {} for signature: (x: RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)).
through_a_signature(S([None, 2, None], tf.int32), UNIFORM)
    (int32 (2, 2, None) [[[1], [2, 3]], [[], [4]]]; TensorShape([2, 2, None]); TensorShape([None, 2, None]))
through_a_signature(S([None, None, None], tf.int32), UNIFORM)
    (int32 (2, None, None) [[[1], [2, 3]], [[], [4]]]; TensorShape([2, None, None]); TensorShape([None, None,
    None]))
through_a_signature(S(None, tf.int32, 2), N)
    (int32 (3, None, None) [[[1, 2], [3]], [], [[4, 5, 6], []]]; TensorShape([3, None, None]); TensorShape(None))
tf.map_fn(lambda x: x + 1, A)
    int32 (3, None) [[2, 3], [], [4]]
tf.map_fn(tf.reduce_sum, A, fn_output_signature=tf.int32)
    int32 [3] [3, 0, 3]
tf.map_fn(lambda x: tf.range(x), [2, 0, 1], fn_output_signature=S([None], tf.int32, 0))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
tf.map_fn(lambda x: tf.ragged.range(tf.range(x)), [2, 0, 1], fn_output_signature=S([None, None], tf.int32))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
tf.map_fn(lambda x: tf.range(x), [2, 0, 1], fn_output_signature=S([None], tf.int64, 0))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
tf.map_fn(lambda x: tf.cast(x, tf.int32), [2, 0, 1], fn_output_signature=S([None], tf.int32, 0))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
tf.map_fn(lambda x: tf.ones([x, 2]), [2, 1], fn_output_signature=S([None, 2], tf.float32, 0))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
tf.map_fn(lambda x: tf.ones([x, 2]), [2, 1], fn_output_signature=S([None, None], tf.float32, 1))
    ValueError: Elements in elems must be 1+ dimensional Tensors, not scalars
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
