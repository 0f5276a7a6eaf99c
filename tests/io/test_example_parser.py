"""Steps of sequence examples, and examples in JSON. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from example_protos import example, sequence
from outcomes import read_rows
from traced_calls import check_row

IO = tf.io
Fixed, Var, Ragged, Sparse = IO.FixedLenFeature, IO.VarLenFeature, IO.RaggedFeature, IO.SparseFeature
Steps = IO.FixedLenSequenceFeature
Z = example()
Q = sequence({"c": [7]}, i=[[1, 2], [3]], f=[[1.5], [2.5], [3.5]], s=[[b"a"], [], [b"b", b"c"]])
W = sequence({"c": [8]}, i=[[4]], f=[[4.5]], s=[[b"d"]])
parse, single = IO.parse_example, IO.parse_single_example
seq, one = IO.parse_sequence_example, IO.parse_single_sequence_example
i64, f32, s = tf.int64, tf.float32, tf.string

ROWS = read_rows(r"""
seq([Q, W], {"c": Fixed([], i64)}, {"f": Steps([], f32), "i": Var(i64), "s": Ragged(s)})
    ({c: int64 [2] [7, 8]}; {i: sparse int64 [4, 3] [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]] int64 [4] [1, 2, 3, 4]
    int64 [3] [2, 2, 2], f: float32 [2, 3] [[1.5, 2.5, 3.5], [4.5, 0, 0]], s: string (2, None, None) int32 [[[b'a'], [],
    [b'b', b'c']], [[b'd']]]}; {f: int64 [2] [3, 1]})
seq([Q, W], None, {"f": Steps([1], f32)})
    ({}; {f: float32 [2, 3, 1] [[[1.5], [2.5], [3.5]], [[4.5], [0], [0]]]}; {f: int64 [2] [3, 1]})
seq([Q, W], {"c": Var(i64), "x": Fixed([], f32, 3.0)}, None)
    ({c: sparse int64 [2, 2] [[0, 0], [1, 0]] int64 [2] [7, 8] int64 [2] [2, 1], x: float32 [2] [3, 3]}; {}; {})
seq([Q, W], {"c": Ragged(i64)}, {"x": Steps([], f32, allow_missing=True), "s": Var(s)})
    ({c: int64 (2, None) int32 [[7], [8]]}; {s: sparse int64 [4, 3] [[0, 0, 0], [0, 2, 0], [0, 2, 1], [1, 0, 0]] string
    [4] [b'a', b'b', b'c', b'd'] int64 [3] [2, 3, 2], x: float32 [2, 0] [[], []]}; {x: int64 [2] [0, 0]})
seq([Q, W], None, {"x": Steps([], f32)})
    InvalidArgumentError
seq([Q, W], None, {"i": Steps([], i64)})
    InvalidArgumentError
seq([Q, W], None, {"f": Steps([], i64)})
    InvalidArgumentError
seq([Q, W], {"c": Fixed([], f32)}, None)
    InvalidArgumentError
seq([Q, Z], {"c": Fixed([], i64)}, None)
    InvalidArgumentError
seq([Q, b"\xff"], {"c": Fixed([], i64, 0)}, None)
    InvalidArgumentError
seq([Q, W] * 9, {"c": Fixed([], i64)}, {"f": Steps([], f32)})
    ({c: int64 [18] [7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8]}; {f: float32 [18, 3] [[1.5, 2.5, 3.5], [4.5,
    0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5],
    [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5,
    3.5], [4.5, 0, 0]]}; {f: int64 [18] [3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]})
seq([Q, W] * 6, None, {"i": Var(i64)})
    ({}; {i: sparse int64 [24, 3] [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [2, 0, 0], [2, 0, 1], [2, 1, 0], [3, 0,
    0], [4, 0, 0], [4, 0, 1], [4, 1, 0], [5, 0, 0], [6, 0, 0], [6, 0, 1], [6, 1, 0], [7, 0, 0], [8, 0, 0], [8, 0, 1],
    [8, 1, 0], [9, 0, 0], [10, 0, 0], [10, 0, 1], [10, 1, 0], [11, 0, 0]] int64 [24] [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3,
    4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4] int64 [3] [12, 2, 2]}; {})
seq([Q, W] * 6, None, {"s": Ragged(s)})
    ({}; {s: string (12, None, None) int32 [[[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']],
    [[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']],
    [[b'a'], [], [b'b', b'c']], [[b'd']]]}; {})
one(Q, {"c": Fixed([], i64)}, {"f": Steps([], f32), "i": Var(i64), "s": Ragged(s)})
    ({c: int64 [] 7}; {i: sparse int64 [3, 2] [[0, 0], [0, 1], [1, 0]] int64 [3] [1, 2, 3] int64 [2] [2, 2], f: float32
    [3] [1.5, 2.5, 3.5], s: string (3, None) int32 [[b'a'], [], [b'b', b'c']]})
one(Q, None, {"x": Steps([], f32, allow_missing=True), "f": Steps([1], f32)})
    ({}; {f: float32 [3, 1] [[1.5], [2.5], [3.5]], x: float32 [0] []})
one(Q, None, {"x": Steps([], f32)})
    InvalidArgumentError
one(Q, None, {"i": Steps([], i64)})
    InvalidArgumentError
one([Q], {"c": Fixed([], i64)}, None)
    ValueError
one(Q, None, None)
    ValueError
sized(lambda e: seq(e, {"c": Fixed([], i64)}, {"f": Steps([], f32), "i": Var(i64), "s": Ragged(s)}), [Q, W])
    ({c: int64 [2] [7, 8]}; {i: sparse int64 [4, 3] [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]] int64 [4] [1, 2, 3, 4]
    int64 [3] [2, 2, 2], f: float32 [2, 3] [[1.5, 2.5, 3.5], [4.5, 0, 0]], s: string (2, None, None) int32 [[[b'a'], [],
    [b'b', b'c']], [[b'd']]]}; {f: int64 [2] [3, 1]})
sized(lambda e: one(e, {"c": Fixed([], i64)}, {"f": Steps([], f32), "i": Var(i64), "s": Ragged(s)}), Q)
    ({c: int64 [] 7}; {i: sparse int64 [3, 2] [[0, 0], [0, 1], [1, 0]] int64 [3] [1, 2, 3] int64 [2] [2, 2], f: float32
    [3] [1.5, 2.5, 3.5], s: string (3, None) int32 [[b'a'], [], [b'b', b'c']]})
static(lambda e: seq(e, {"c": Fixed([2], i64)}, {"f": Steps([3], f32), "s": Ragged(s)}), tf.TensorSpec([None], s))
    ({c: '(None, 2)'}; {f: '(None, None, 3)', s: ('(None,)'; '(None,)'; '(None,)')}; {f: '(None,)'})
static(lambda e: one(e, {"c": Fixed([2], i64)}, {"f": Steps([3], f32), "i": Var(i64)}), tf.TensorSpec([], tf.string))
    ({c: '(2,)'}; {i: ('(None, 2)'; '(None,)'; '(2,)'), f: '(None, 3)'})
IO.decode_json_example(['{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}'])
    string [1] [b'\n\x0b\n\t\n\x01a\x12\x04\x1a\x02\x08\x01']
IO.decode_json_example("{}")
    string [] b''
IO.decode_json_example("{")
    InvalidArgumentError
parse(IO.decode_json_example(['{"features": {"feature": {"a": {"floatList": {"value": [1.5]}}}}}']), {"a": Var(f32)})
    {a: sparse int64 [1, 2] [[0, 0]] float32 [1] [1.5] int64 [2] [1, 1]}
IO.decode_compressed([b"abc"])
    string [1] [b'abc']
IO.decode_compressed([b"abc"], "GZIP")
    DataLossError
IO.decode_compressed([b"abc"], "NONE")
    InvalidArgumentError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
