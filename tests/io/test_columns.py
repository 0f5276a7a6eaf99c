"""Features of examples, dense, sparse and ragged. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from example_protos import example
from outcomes import read_rows
from traced_calls import check_row

IO = tf.io
Fixed, Var, Ragged, Sparse = IO.FixedLenFeature, IO.VarLenFeature, IO.RaggedFeature, IO.SparseFeature
Steps = IO.FixedLenSequenceFeature
A = example(i=[1, 2], f=[1.5], s=[b"x", b"y", b"z"], at=[0, 3], p=[2, 1], r=[0, 1, 2])
B = example(i=[3, 4], f=[2.5], s=[b"w"], at=[1, 2], p=[1], r=[0, 1])
Z = example()
parse, single = IO.parse_example, IO.parse_single_example
seq, one = IO.parse_sequence_example, IO.parse_single_sequence_example
i64, f32, s = tf.int64, tf.float32, tf.string

ROWS = read_rows("""
parse([A, B], {"i": Fixed([2], i64), "f": Fixed([], f32), "s": Var(s)})
    {s: sparse int64 [4, 2] [[0, 0], [0, 1], [0, 2], [1, 0]] string [4] [b'x', b'y', b'z', b'w'] int64 [2] [2, 3], f:
    float32 [2] [1.5, 2.5], i: int64 [2, 2] [[1, 2], [3, 4]]}
parse([A, B], {"i": Fixed([2, 1], i64), "f": Fixed([1], f32)})
    {f: float32 [2, 1] [[1.5], [2.5]], i: int64 [2, 2, 1] [[[1], [2]], [[3], [4]]]}
parse([A, Z], {"f": Fixed([], f32, 9.0), "i": Fixed([2], i64, [8, 9])})
    {f: float32 [2] [1.5, 9], i: int64 [2, 2] [[1, 2], [8, 9]]}
parse([A, Z], {"s": Fixed([3], s, ["a", "b", "c"])})
    {s: string [2, 3] [[b'x', b'y', b'z'], [b'a', b'b', b'c']]}
parse([A, Z], {"f": Fixed([], f32)})
    InvalidArgumentError
parse([A, B], {"s": Fixed([3], s)})
    InvalidArgumentError
parse([A, B], {"i": Fixed([], i64)})
    InvalidArgumentError
parse([A, B], {"i": Fixed([2], f32)})
    InvalidArgumentError
parse([A, B], {"i": Var(f32)})
    InvalidArgumentError
parse([A, B], {"i": Fixed([2], tf.int32)})
    InvalidArgumentError
parse([A, B, Z], {"s": Steps([], s, allow_missing=True), "i": Steps([1], i64, allow_missing=True, default_value=7)})
    {i: int64 [3, 2, 1] [[[1], [2]], [[3], [4]], [[7], [7]]], s: string [3, 3] [[b'x', b'y', b'z'], [b'w', b'', b''],
    [b'', b'', b'']]}
parse([A, B, Z], {"i": Steps([2], i64, allow_missing=True)})
    {i: int64 [3, 1, 2] [[[1, 2]], [[3, 4]], [[0, 0]]]}
parse([A, B], {"s": Steps([2], s, allow_missing=True)})
    InvalidArgumentError
parse([A, B], {"i": Steps([2], i64)})
    ValueError
parse([A, B, Z], {"x": Sparse("at", "i", i64, 5)})
    {x: sparse int64 [4, 2] [[0, 0], [0, 3], [1, 1], [1, 2]] int64 [4] [1, 2, 3, 4] int64 [2] [3, 5]}
parse([A, B], {"x": Sparse(["at", "i"], "i", i64, [5, 9])})
    {x: sparse int64 [4, 3] [[0, 0, 1], [0, 3, 2], [1, 1, 3], [1, 2, 4]] int64 [4] [1, 2, 3, 4] int64 [3] [2, 5, 9]}
parse([A, B], {"x": Sparse("at", "i", i64, 2)})
    {x: sparse int64 [4, 2] [[0, 0], [0, 3], [1, 1], [1, 2]] int64 [4] [1, 2, 3, 4] int64 [2] [2, 2]}
parse([A, B, Z], {"s": Ragged(s), "n": Ragged(i64, "i", row_splits_dtype=i64)})
    {s: string (3, None) int32 [[b'x', b'y', b'z'], [b'w'], []], n: int64 (3, None) [[1, 2], [3, 4], []]}
parse([A], {"x": Ragged(i64, "i", [IO.RaggedFeature.RowSplits("r")])})
    {x: int64 (1, None, None) int32 [[[1], [2]]]}
parse([A], {"x": Ragged(i64, "i", [IO.RaggedFeature.UniformRowLength(2)])})
    {x: int64 (1, None, 2) int32 [[[1, 2]]]}
parse([A], {"x": Ragged(i64, "i", [IO.RaggedFeature.ValueRowIds("at")])})
    {x: int64 (1, None, None) int32 [[[1], [], [], [2]]]}
parse([A, A], {"x": Ragged(i64, "i", [IO.RaggedFeature.RowStarts("r")])})
    {x: int64 (2, None, None) int32 [[[1], [2], []], [[1], [2], []]]}
parse(A, {"f": Fixed([], f32), "s": Var(s)})
    {s: sparse int64 [3, 1] [[0], [1], [2]] string [3] [b'x', b'y', b'z'] int64 [1] [3], f: float32 [] 1.5}
parse([A, B], {})
    ValueError
parse([A], {"f": 5})
    ValueError
parse([A], None)
    ValueError
parse([A, B], {"i": Fixed([2], i64)}, example_names=["one", "two"])
    {i: int64 [2, 2] [[1, 2], [3, 4]]}
single(A, {"i": Fixed([2], i64), "f": Fixed([], f32), "s": Var(s), "r": Ragged(i64)})
    {s: sparse int64 [3, 1] [[0], [1], [2]] string [3] [b'x', b'y', b'z'] int64 [1] [3], f: float32 [] 1.5, i: int64 [2]
    [1, 2], r: int64 [3] [0, 1, 2]}
single(A, {"x": Sparse("at", "i", i64, 5), "s": Steps([], s, allow_missing=True)})
    {s: string [3] [b'x', b'y', b'z'], x: sparse int64 [2, 1] [[0], [3]] int64 [2] [1, 2] int64 [1] [5]}
single(Z, {"f": Fixed([], f32, 2.0), "s": Var(s)})
    {s: sparse int64 [0, 1] [] string [0] [] int64 [1] [0], f: float32 [] 2}
single(Z, {"f": Fixed([], f32)})
    InvalidArgumentError
single([A], {"f": Fixed([], f32)})
    ValueError
sized(lambda e: parse(e, {"i": Fixed([2], i64), "s": Var(s), "r": Ragged(i64)}), [A, B])
    {s: sparse int64 [4, 2] [[0, 0], [0, 1], [0, 2], [1, 0]] string [4] [b'x', b'y', b'z', b'w'] int64 [2] [2, 3], i:
    int64 [2, 2] [[1, 2], [3, 4]], r: int64 (2, None) int32 [[0, 1, 2], [0, 1]]}
sized(lambda e: single(e, {"i": Fixed([2], i64), "s": Var(s), "r": Ragged(i64)}), A)
    {s: sparse int64 [3, 1] [[0], [1], [2]] string [3] [b'x', b'y', b'z'] int64 [1] [3], i: int64 [2] [1, 2], r: int64
    [3] [0, 1, 2]}
static(lambda e: parse(e, {"i": Fixed([2], i64), "s": Var(s), "r": Ragged(i64)}), tf.TensorSpec([None], tf.string))
    {s: ('(None, 2)'; '(None,)'; '(2,)'), i: '(None, 2)', r: ('(None,)'; '(None,)')}
static(lambda e: parse(e, {"i": Fixed([2], i64)}), tf.TensorSpec([3], tf.string))
    {i: '(3, 2)'}
static(lambda e: parse(e, {"i": Fixed([2], i64)}), tf.TensorSpec([], tf.string))
    {i: '(2,)'}
static(lambda e: parse(e, {"i": Steps([2], i64, allow_missing=True)}), tf.TensorSpec([3], tf.string))
    {i: '(3, None, 2)'}
parse(IO.decode_json_example(['{"features": {"feature": {"a": {"floatList": {"value": [1.5]}}}}}']), {"a": Var(f32)})
    {a: sparse int64 [1, 2] [[0, 0]] float32 [1] [1.5] int64 [2] [1, 1]}
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
