"""Functions on ragged, sparse and string values give the same in `tf.function`, with no dimension known, as eagerly."""

import numpy as np
import pytest

import tapeflow as tf
from composites import as_value, assert_same, with_unknown_dims
from tapeflow.core.types.spec import VariableSpec
from tapeflow.core.values.composite import CompositeTensor

RAGGED = tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
OTHER = tf.ragged.constant([[6.0], [7.0, 8.0], [9.0]])
DEEP = tf.ragged.constant([[[1, 2], []], [], [[3], [4, 5, 6]]])
WORDS = tf.ragged.constant([["a", "bc"], [], ["def"]])
SPARSE = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [3, 4])
IDS = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [4, 2, 3], [3, 4])
MATRIX = tf.constant([[1, 2, 0], [3, 0, 0]])
TEXTS = tf.constant(["ab cd", "", "é f g"])

CASES = {
    # making ragged tensors
    "from_row_splits": (lambda v, s: tf.RaggedTensor.from_row_splits(v, s), [1, 2, 3], [0, 2, 3]),
    "from_row_lengths": (lambda v, s: tf.RaggedTensor.from_row_lengths(v, s), [1, 2, 3], [1, 0, 2]),
    "from_row_starts": (lambda v, s: tf.RaggedTensor.from_row_starts(v, s), [1, 2, 3], [0, 2]),
    "from_row_limits": (lambda v, s: tf.RaggedTensor.from_row_limits(v, s), [1, 2, 3], [1, 3]),
    "from_value_rowids": (lambda v, s: tf.RaggedTensor.from_value_rowids(v, s), [1, 2, 3], [0, 0, 2]),
    "from_value_rowids_nrows": (lambda v, s: tf.RaggedTensor.from_value_rowids(v, s, 5), [1, 2, 3], [0, 0, 2]),
    "from_uniform_row_length": (lambda v: tf.RaggedTensor.from_uniform_row_length(v, 2), [1, 2, 3, 4]),
    "from_nested_row_splits": (
        lambda v, a, b: tf.RaggedTensor.from_nested_row_splits(v, [a, b]), [1, 2, 3], [0, 2], [0, 1, 3]),
    "from_tensor": (tf.RaggedTensor.from_tensor, MATRIX),
    "from_tensor_lengths": (lambda t, n: tf.RaggedTensor.from_tensor(t, lengths=n), MATRIX, [1, 2]),
    "from_tensor_padding": (lambda t: tf.RaggedTensor.from_tensor(t, padding=0), MATRIX),
    "from_tensor_deep": (lambda t: tf.RaggedTensor.from_tensor(t, ragged_rank=2), np.arange(12).reshape(2, 3, 2)),
    "from_tensor_deep_padding": (
        lambda t: tf.RaggedTensor.from_tensor(t, padding=0, ragged_rank=2), np.arange(12).reshape(2, 3, 2) % 5),
    "from_sparse": (tf.RaggedTensor.from_sparse, tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [5, 6, 7], [3, 4])),
    "range": (lambda n: tf.ragged.range(n), [3, 0, 2]),
    "range_limits": (lambda a, b: tf.ragged.range(a, b, 2), [0, 1], [5, 4]),
    "range_floats": (lambda a, b: tf.ragged.range(a, b, -0.5), [1.0, 2.0], [0.0, 2.5]),
    # parts of ragged tensors
    "row_lengths": (lambda r: r.row_lengths(), RAGGED),
    "row_lengths_2": (lambda r: r.row_lengths(2), DEEP),
    "nrows": (lambda r: r.nrows(), RAGGED),
    "row_starts_limits": (lambda r: (r.row_starts(), r.row_limits(), r.value_rowids()), RAGGED),
    "nested": (lambda r: (r.nested_row_splits, r.nested_row_lengths(), r.nested_value_rowids()), DEEP),
    "bounding_shape": (lambda r: (r.bounding_shape(), r.bounding_shape(1), r.bounding_shape([0, 2])), DEEP),
    "with_values": (lambda r: r.with_values(r.values * 2.0).with_flat_values(r.flat_values), RAGGED),
    "with_row_splits_dtype": (lambda r: r.with_row_splits_dtype(tf.int32).row_splits, DEEP),
    "merge_dims": (lambda r: (r.merge_dims(0, 1), r.merge_dims(1, 2), r.merge_dims(0, 2)), DEEP),
    "to_tensor": (lambda r: r.to_tensor(), RAGGED),
    "to_tensor_shape": (lambda r: r.to_tensor(-1.0, shape=[None, 2]), RAGGED),
    "to_tensor_shape_tensor": (lambda r, s: r.to_tensor(shape=s), RAGGED, [4, 2]),
    "to_tensor_deep": (lambda r: r.to_tensor(7), DEEP),
    "to_sparse": (lambda r: r.to_sparse(), DEEP),
    # square brackets
    "row": (lambda r: r[2], RAGGED),
    "last_row": (lambda r: r[-1], DEEP),
    "rows": (lambda r: r[1:], RAGGED),
    "rows_back": (lambda r: r[::-1], DEEP),
    "columns": (lambda r: r[:, :1], RAGGED),
    "columns_back": (lambda r: r[:, ::-1], RAGGED),
    "columns_from_end": (lambda r: r[:, -2:], RAGGED),
    "new_axis": (lambda r: (r[tf.newaxis], r[:, tf.newaxis]), RAGGED),
    "row_at_tensor": (lambda r, i: r[i], RAGGED, 2),
    # arithmetic
    "add_scalar": (lambda r: r + 1.0, RAGGED),
    "add_ragged": (lambda r: r + r * r, RAGGED),
    "add_column": (lambda r, c: r + c, RAGGED, [[1.0], [2.0], [3.0]]),
    "compare": (lambda r: tf.where(r > 2.0, r, -r), RAGGED),
    "unary": (lambda r: tf.exp(r), RAGGED),
    # reductions
    **{f"{name}_{axis}": (lambda r, name=name, axis=axis: getattr(tf, name)(r, axis), RAGGED)
       for name in ("reduce_sum", "reduce_max", "reduce_mean", "reduce_prod") for axis in (None, 0, 1, -1)},
    "reduce_deep": (lambda r: [tf.reduce_sum(r, axis) for axis in (0, 1, 2, [1, 2])], DEEP),
    "reduce_variance": (lambda r: [tf.math.reduce_variance(r, axis) for axis in (None, 0, 1)], RAGGED),
    "reduce_std": (lambda r: tf.math.reduce_std(r, 2), DEEP),
    "reduce_logsumexp": (lambda r: tf.reduce_logsumexp(r, 1), RAGGED),
    "dropout": (lambda r: tf.nn.experimental.stateless_dropout(r, 0.5, seed=[1, 2]), RAGGED),
    "reduce_any": (lambda r: (tf.reduce_any(r > 2.0, 1), tf.reduce_all(r > 0.0, 1)), RAGGED),
    "softmax": (lambda r: tf.nn.softmax(r), RAGGED),
    # arranging
    "concat_0": (lambda a, b: tf.concat([a, b], 0), RAGGED, OTHER),
    "concat_1": (lambda a, b: tf.concat([a, b], 1), RAGGED, OTHER),
    "concat_deep": (lambda a: tf.concat([a, a], 2), DEEP),
    "stack": (lambda a, b: tf.stack([a, b]), RAGGED, OTHER),
    "stack_1": (lambda a, b: tf.stack([a, b], 1), RAGGED, OTHER),
    "ragged_stack": (lambda a, b: tf.ragged.stack([a, b]), [1, 2], [3]),
    "expand_dims": (lambda r: (tf.expand_dims(r, 0), tf.expand_dims(r, 1), tf.expand_dims(r, 2)), RAGGED),
    "gather": (lambda r, i: tf.gather(r, i), RAGGED, [2, 0, 2]),
    "gather_ragged": (lambda p, i: tf.gather(p, i), [10, 20, 30], tf.ragged.constant([[0, 2], [], [1]])),
    "gather_matrix": (lambda r, i: tf.gather(r, i), RAGGED, [[2, 0], [1, 2]]),
    "batch_gather": (lambda r, i: tf.gather(r, i, batch_dims=1), RAGGED, tf.ragged.constant([[1], [], [2, 0]])),
    "gather_nd": (lambda r, i: tf.gather_nd(r, i), RAGGED, [[0, 1], [2, 2]]),
    "reverse": (lambda r: tf.reverse(r, [1]), RAGGED),
    "tile": (lambda r: tf.tile(r, [2, 2]), RAGGED),
    "boolean_mask": (lambda d, m: tf.ragged.boolean_mask(d, m), MATRIX, [[True, False, True], [False, False, True]]),
    "boolean_mask_ragged": (lambda r: tf.ragged.boolean_mask(r, r > 2.0), RAGGED),
    "boolean_mask_rows": (lambda r, m: tf.ragged.boolean_mask(r, m), RAGGED, [True, False, True]),
    "map_flat_values": (lambda r: tf.ragged.map_flat_values(tf.square, r), DEEP),
    "map_flat_values_two": (lambda r: tf.ragged.map_flat_values(tf.add, r, r), RAGGED),
    "where": (lambda r: tf.where(r > 2.0), RAGGED),
    "size_rank": (lambda r: (tf.size(r), tf.rank(r)), RAGGED),
    "one_hot": (lambda r: tf.one_hot(r, 7), DEEP),
    "row_splits_to_segment_ids": (lambda s: tf.ragged.row_splits_to_segment_ids(s), [0, 3, 3, 5]),
    "segment_ids_to_row_splits": (lambda s: tf.ragged.segment_ids_to_row_splits(s), [0, 0, 2]),
    "stack_dynamic_partitions": (lambda d, p: tf.ragged.stack_dynamic_partitions(d, p, 3), [1, 2, 3], [2, 0, 2]),
    "cross": (lambda a: tf.ragged.cross([a, a]), WORDS),
    "cross_hashed": (lambda a: tf.ragged.cross_hashed([a, a], num_buckets=100), WORDS),
    "ragged_fill_empty_rows": (
        lambda i, v: tuple(tf.ragged_fill_empty_rows(i, v, 3, 0)), np.array([1, 1]), [5, 7]),
    "add_n": (lambda r: tf.add_n([r, r, r]), RAGGED),
    "cumsum": (lambda r: (tf.cumsum(r, 0), tf.cumsum(r, 1), tf.cumsum(r, 1, reverse=True)), RAGGED),
    "unsorted_segment_sum": (lambda r, i: tf.math.unsorted_segment_sum(r, i, 2), RAGGED, [0, 0, 1]),
    "dynamic_partition": (lambda r, i: tf.dynamic_partition(r, i, 2), RAGGED, [0, 1, 0]),
    "bincount": (lambda r: tf.math.bincount(r.with_flat_values(tf.cast(r.flat_values, tf.int32)), axis=-1), RAGGED),
    "sparse_bincount_rows": (lambda r: tf.sparse.bincount(r.values, axis=-1), DEEP),
    # strings
    "split": (lambda t: tf.strings.split(t), TEXTS),
    "split_scalar": (lambda t: tf.strings.split(t, ","), tf.constant("a,b,,c")),
    "split_matrix": (lambda t: tf.strings.split(t), tf.constant([["a b", "c"], ["", "d e"]])),
    "split_ragged": (lambda t: tf.strings.split(t), WORDS),
    "bytes_split": (lambda t: tf.strings.bytes_split(t), TEXTS),
    "ngrams": (lambda t: tf.strings.ngrams(t, 2), tf.constant([["a", "b", "c"], ["d", "e", "f"]])),
    "ngrams_vector": (lambda t: tf.strings.ngrams(t, [1, 2]), tf.constant(["a", "b", "c"])),
    "ngrams_ragged": (lambda t: tf.strings.ngrams(t, 2, pad_values="x"), WORDS),
    "format": (lambda a, b: tf.strings.format("{} and {}", [a, b], summarize=1), MATRIX, [1.0, 2.0, 3.0]),
    "format_ragged": (lambda a, b: tf.strings.format("{} and {}!", [a, b], summarize=1), RAGGED, MATRIX),
    "unicode_decode": (lambda t: tf.strings.unicode_decode(t, "UTF-8"), TEXTS),
    "unicode_decode_scalar": (lambda t: tf.strings.unicode_decode(t, "UTF-8"), tf.constant("é f")),
    "unicode_decode_offsets": (lambda t: tf.strings.unicode_decode_with_offsets(t, "UTF-8"), TEXTS),
    "unicode_split": (lambda t: tf.strings.unicode_split(t, "UTF-8"), TEXTS),
    "unicode_split_offsets": (lambda t: tf.strings.unicode_split_with_offsets(t, "UTF-8"), TEXTS),
    "unicode_encode": (lambda t: tf.strings.unicode_encode(t, "UTF-8"), [[97, 98], [99, 233]]),
    "unicode_encode_ragged": (lambda t: tf.strings.unicode_encode(t, "UTF-8"), DEEP),
    "unicode_transcode": (lambda t: tf.strings.unicode_transcode(t, "UTF-8", "UTF-16-BE"), TEXTS),
    "unicode_script": (lambda t: tf.strings.unicode_script(t), [97, 1041]),
    "reduce_join": (lambda t: tf.strings.reduce_join(t, 0, separator="-"), TEXTS),
    "reduce_join_all": (lambda t: tf.strings.reduce_join(t), tf.constant([["a", "b"], ["c", "d"]])),
    "reduce_join_ragged": (lambda t: tf.strings.reduce_join(t, 1), WORDS),
    "regex_replace": (lambda t, p, r: tf.strings.regex_replace(t, p, r), TEXTS, tf.constant("[ab]"), tf.constant("x")),
    "regex_full_match": (lambda t, p: tf.strings.regex_full_match(t, p), TEXTS, tf.constant(".*f.*")),
    "to_number": (lambda t: tf.strings.to_number(t), tf.constant(["1.5", "2"])),
    "as_string": (lambda t: tf.strings.as_string(t), MATRIX),
    "length": (lambda t: tf.strings.length(t, "UTF8_CHAR"), TEXTS),
    "substr": (lambda t: tf.strings.substr(t, 0, 1), tf.constant(["ab", "cd"])),
    "hash": (lambda t: tf.strings.to_hash_bucket_fast(t, 10), TEXTS),
    # sparse tensors
    "to_dense": (lambda s: tf.sparse.to_dense(s), SPARSE),
    "from_dense": (lambda t: tf.sparse.from_dense(t), MATRIX),
    "to_indicator": (lambda s: tf.sparse.to_indicator(s, 6), IDS),
    "reset_shape": (lambda s: tf.sparse.reset_shape(s), SPARSE),
    "reset_shape_to": (lambda s: tf.sparse.reset_shape(s, [5, 6]), SPARSE),
    "sparse_cross": (lambda s: tf.sparse.cross([s, s]), IDS),
    "sparse_cross_hashed": (lambda s: tf.sparse.cross_hashed([s, s], num_buckets=100), IDS),
    "transpose": (lambda s: tf.sparse.transpose(s), SPARSE),
    "sparse_concat": (lambda a, b: tf.sparse.concat(0, [a, b]), SPARSE, SPARSE),
    "sparse_concat_expand": (lambda a, b: tf.sparse.concat(1, [a, b], expand_nonconcat_dims=True), SPARSE,
                             tf.SparseTensor([[0, 0]], [9.0], [1, 2])),
    "sparse_slice": (lambda s: tf.sparse.slice(s, [1, 0], [2, 2]), SPARSE),
    "sparse_split": (lambda s: tf.sparse.split(s, 3, 0), SPARSE),
    "sparse_split_columns": (lambda s: tf.sparse.split(s, 3, 1), SPARSE),
    "reorder": (lambda s: tf.sparse.reorder(s), tf.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 2])),
    "fill_empty_rows": (lambda s: tf.sparse.fill_empty_rows(s, 0.0), SPARSE),
    "sparse_reshape": (lambda s: tf.sparse.reshape(s, [-1, 2]), SPARSE),
    "sparse_expand_dims": (lambda s: (tf.sparse.expand_dims(s), tf.sparse.expand_dims(s, 1)), SPARSE),
    "sparse_reduce": (lambda s: (tf.sparse.reduce_sum(s), tf.sparse.reduce_max(s, 0)), SPARSE),
    "sparse_reduce_sparse": (lambda s: tf.sparse.reduce_sum(s, 1, output_is_sparse=True), SPARSE),
    "sparse_softmax": (lambda s: tf.sparse.softmax(s), SPARSE),
    "sparse_add": (lambda a, b: tf.sparse.add(a, b), SPARSE, SPARSE),
    "sparse_add_dense": (lambda a, b: tf.sparse.add(a, b), SPARSE, np.ones([3, 4], np.float32)),
    "sparse_maximum": (lambda a, b: tf.sparse.maximum(a, b), SPARSE, SPARSE),
    "sparse_matmul": (lambda a, b: tf.sparse.sparse_dense_matmul(a, b), SPARSE, np.ones([4, 2], np.float32)),
    "sparse_times_dense": (lambda a, b: a * b, SPARSE, np.ones([3, 4], np.float32) * 2),
    "retain": (lambda s, m: tf.sparse.retain(s, m), SPARSE, [True, False, True]),
    "sparse_bincount": (lambda t: tf.sparse.bincount(t, axis=-1), MATRIX),
    "map_values": (lambda s: tf.sparse.map_values(tf.add, s, s), SPARSE),
    "mask": (lambda v, i: tf.sparse.mask(tf.IndexedSlices(v, i), [4]), [[1], [2]], [4, 7]),
    "segment_sum": (lambda d, i, s: tf.sparse.segment_sum(d, i, s), [[1.0], [2.0]], [0, 1, 1], [0, 0, 2]),
    "segment_mean_n": (
        lambda d, i, s: tf.sparse.segment_mean(d, i, s, num_segments=4), [[1.0], [2.0]], [0, 1, 1], [0, 0, 2]),
    "sparse_eye": (lambda n: tf.sparse.eye(n, n), 3),
    "embedding": (lambda p, s: tf.nn.safe_embedding_lookup_sparse(p, s), np.ones([5, 2], np.float32), IDS),
    # sets
    "set_union": (tf.sets.union, [[1, 2]], [[2, 9]]),
    "set_intersection": (tf.sets.intersection, IDS, IDS),
    "set_difference": (tf.sets.difference, [[1, 2], [3, 4], [5, 6]], IDS),
    "set_size": (tf.sets.size, IDS),
}  # fmt: skip

# What can't be traced with no dimension known, in TensorFlow either.
IMPOSSIBLE = {"gather_nd": "how many indices say where one element is must be known"}


def cases():
    """Each case, once with the shapes known while the function is traced and once without."""
    found = []
    for name in CASES:
        marks = [pytest.mark.xfail(strict=True, reason=IMPOSSIBLE[name])] if name in IMPOSSIBLE else []
        found.append(pytest.param(name, True, id=f"{name}-known"))
        found.append(pytest.param(name, False, id=f"{name}-unknown", marks=marks))
    return found


@pytest.mark.parametrize(("name", "known"), cases())
def test_same_as_eager(name, known):
    call, *args = CASES[name]
    values = [as_value(a) for a in args]
    want = call(*values)
    specs = [tf.type_spec_from_value(v) if known else with_unknown_dims(v) for v in values]
    function = tf.function(call, input_signature=specs, autograph=False)
    assert_same(function(*values), want)


# ---- ragged and sparse values in what functions are made of ----------------------------------------------------------

ANY_ROWS = tf.RaggedTensorSpec([None, None])


def test_loops_over_rows():
    @tf.function(input_signature=[ANY_ROWS])
    def sums(rows):
        found = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for row in rows:
            found = found.write(found.size(), tf.reduce_sum(row))
        return found.stack()

    assert sums(RAGGED).numpy().tolist() == [3.0, 0.0, 12.0]


def test_loop_variables_and_branches():
    @tf.function(input_signature=[ANY_ROWS])
    def doubled(rows):
        invariants = (tf.TensorShape([]), ANY_ROWS)
        grown = tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 1)), (0, rows), invariants)[1]
        return tf.cond(tf.size(rows) > 2, lambda: grown, lambda: rows)

    assert doubled(RAGGED).to_list() == [[1.0, 2.0] * 4, [], [3.0, 4.0, 5.0] * 4]


def test_gradients_by_ragged_and_sparse_values():
    def gradients(rows, sparse):
        with tf.GradientTape() as tape:
            tape.watch([rows.flat_values, sparse.values])
            y = tf.reduce_sum(rows * rows * 2.0) + tf.reduce_sum(tf.sparse.to_dense(sparse) ** 3.0)
        return tape.gradient(y, [rows.flat_values, sparse.values])

    staged = tf.function(gradients, input_signature=[ANY_ROWS, tf.SparseTensorSpec([None, None])])
    assert_same(staged(RAGGED, SPARSE), gradients(RAGGED, SPARSE))


def test_python_functions_of_composite_values():
    @tf.function(input_signature=[ANY_ROWS])
    def both(rows):
        return tf.py_function(lambda r: (r.to_tensor(), r * 2.0), [rows], [tf.float32, ANY_ROWS])

    dense, ragged = both(RAGGED)
    assert dense.numpy().tolist() == RAGGED.to_tensor().numpy().tolist()
    assert ragged.to_list() == (RAGGED * 2.0).to_list()
    identity = tf.function(lambda s: tf.py_function(lambda v: v, [s], tf.SparseTensorSpec([None, None])))
    assert_same(identity(SPARSE), SPARSE)


def test_structured_outputs_are_symbolic():
    concrete = tf.function(tf.RaggedTensor.from_tensor).get_concrete_function(tf.TensorSpec([None, None], tf.int32))
    assert concrete.structured_outputs._type_spec == tf.RaggedTensorSpec([None, None], tf.int32)
    assert concrete.structured_outputs.values.graph is concrete.graph


@pytest.mark.parametrize(
    ("call", "args"),
    [
        (lambda v, s: tf.RaggedTensor.from_row_splits(v, s), ([1, 2, 3], [0, 2, 1])),
        (lambda v, s: tf.RaggedTensor.from_row_lengths(v, s), ([1, 2, 3], [1, 1])),
        (lambda r, i: tf.gather(r, i), (RAGGED, [3])),
        (lambda a, b: a + b, (RAGGED, OTHER)),
        (lambda a, b: tf.ragged.map_flat_values(tf.add, a, b), (RAGGED, RAGGED[::-1])),
        (lambda s, t: tf.sparse.reset_shape(s, t), (SPARSE, [1, 1])),
        (lambda t: tf.strings.to_number(t), (tf.constant(["x"]),)),
        (lambda s: tf.sparse.to_indicator(s, 3), (IDS,)),
    ],
)
def test_errors_come_when_the_graph_runs(call, args):
    values = [as_value(a) for a in args]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)) as eager:
        call(*values)
    function = tf.function(call, input_signature=[with_unknown_dims(v) for v in values]).get_concrete_function()
    with pytest.raises((type(eager.value), tf.errors.InvalidArgumentError)):
        function(*values)


def test_raw_ragged_ops():
    raw = tf.raw_ops
    values = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    splits = tf.constant([0, 2, 2, 5], tf.int64)
    outer = tf.constant([0, 2, 2, 3], tf.int64)
    rowids = [tf.constant(4, tf.int64), tf.constant([0, 0, 2, 2, 2], tf.int64)]
    padded = raw.RaggedTensorToTensor(
        shape=[-1, 4], values=values, default_value=9.0, row_partition_tensors=rowids,
        row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
    )  # fmt: skip
    assert padded.numpy().tolist() == [[1, 2, 9, 9], [9, 9, 9, 9], [3, 4, 5, 9], [9, 9, 9, 9]]
    sparse = raw.RaggedTensorToSparse(rt_nested_splits=[outer, splits], rt_dense_values=values)
    assert sparse.sparse_indices.numpy().tolist() == [[0, 0, 0], [0, 0, 1], [2, 0, 0], [2, 0, 1], [2, 0, 2]]
    assert sparse.sparse_dense_shape.numpy().tolist() == [3, 2, 3]
    taken = raw.RaggedGather(
        params_nested_splits=[splits], params_dense_values=values, indices=[[2, 0], [1, 1]], OUTPUT_RAGGED_RANK=2
    )
    assert [s.numpy().tolist() for s in taken.output_nested_splits] == [[0, 2, 4], [0, 3, 5, 5, 5]]
    assert taken.output_dense_values.numpy().tolist() == [3, 4, 5, 1, 2]
    rows = raw.RaggedRange(starts=[0, 5], limits=[3, 0], deltas=[1, -2])
    assert rows.rt_dense_values.numpy().tolist() == [0, 1, 2, 5, 3, 1]


class Scaling(CompositeTensor):
    """A value with a variable in it, as the bijectors of TensorFlow Probability are."""

    def __init__(self, scale, shift):
        self.scale, self.shift = scale, shift

    @property
    def _type_spec(self):
        of_scale = VariableSpec.from_value(self.scale) if isinstance(self.scale, tf.Variable) else tf.TensorSpec([])
        return ScalingSpec(of_scale)


class ScalingSpec(tf.TypeSpec):
    value_type = Scaling

    def __init__(self, of_scale):
        self.of_scale = of_scale

    def _serialize(self):
        return (self.of_scale,)

    @property
    def _component_specs(self):
        return [self.of_scale, tf.TensorSpec([])]

    def _to_components(self, value):
        return [value.scale, value.shift]

    def _from_components(self, components):
        return Scaling(*components)


def test_variables_in_arguments():
    function = tf.function(lambda x, s: x * s.scale + s.shift)
    v, w, one = tf.Variable(2.0), tf.Variable(5.0), tf.constant(1.0)
    assert function(3.0, Scaling(v, one)).numpy() == 7.0
    v.assign(4.0)
    assert function(3.0, Scaling(v, one)).numpy() == 13.0
    assert function(3.0, Scaling(w, one)).numpy() == 16.0
    assert function(3.0, Scaling(one, one)).numpy() == 4.0
    with tf.GradientTape() as tape:
        y = function(3.0, Scaling(v, one))
    assert tape.gradient(y, v).numpy() == 3.0
