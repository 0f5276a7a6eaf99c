"""Features of many examples, which loops read. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from example_protos import example, sequence
from outcomes import read_rows
from traced_calls import check_row

IO = tf.io
Fixed, Var, Ragged, Sparse = IO.FixedLenFeature, IO.VarLenFeature, IO.RaggedFeature, IO.SparseFeature
Steps = IO.FixedLenSequenceFeature
A = example(i=[1, 2], f=[1.5], s=[b"x", b"y", b"z"], at=[0, 3], p=[2, 1], r=[0, 1, 2])
B = example(i=[3, 4], f=[2.5], s=[b"w"], at=[1, 2], p=[1], r=[0, 1])
Z = example()
MANY = [A, B, B, A] * 6
Q = sequence({"c": [7]}, i=[[1, 2], [3]], f=[[1.5], [2.5], [3.5]], s=[[b"a"], [], [b"b", b"c"]])
W = sequence({"c": [8]}, i=[[4]], f=[[4.5]], s=[[b"d"]])
parse, single = IO.parse_example, IO.parse_single_example
seq, one = IO.parse_sequence_example, IO.parse_single_sequence_example
i64, f32, s = tf.int64, tf.float32, tf.string

ROWS = read_rows(r"""
parse(MANY, {"i": Fixed([2], i64), "f": Fixed([], f32)})
    {f: float32 [24] [1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5,
    1.5, 1.5, 2.5, 2.5, 1.5], i: int64 [24, 2] [[1, 2], [3, 4], [3, 4], [1, 2], [1, 2], [3, 4], [3, 4], [1, 2], [1,
    2], [3, 4], [3, 4], [1, 2], [1, 2], [3, 4], [3, 4], [1, 2], [1, 2], [3, 4], [3, 4], [1, 2], [1, 2], [3, 4], [3,
    4], [1, 2]]}
parse(MANY, {"s": Var(s)})
    {s: sparse int64 [48, 2] [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [3, 0], [3, 1], [3, 2], [4, 0], [4, 1], [4,
    2], [5, 0], [6, 0], [7, 0], [7, 1], [7, 2], [8, 0], [8, 1], [8, 2], [9, 0], [10, 0], [11, 0], [11, 1], [11, 2],
    [12, 0], [12, 1], [12, 2], [13, 0], [14, 0], [15, 0], [15, 1], [15, 2], [16, 0], [16, 1], [16, 2], [17, 0], [18,
    0], [19, 0], [19, 1], [19, 2], [20, 0], [20, 1], [20, 2], [21, 0], [22, 0], [23, 0], [23, 1], [23, 2]] string
    [48] [b'x', b'y', b'z', b'w', b'w', b'x', b'y', b'z', b'x', b'y', b'z', b'w', b'w', b'x', b'y', b'z', b'x',
    b'y', b'z', b'w', b'w', b'x', b'y', b'z', b'x', b'y', b'z', b'w', b'w', b'x', b'y', b'z', b'x', b'y', b'z',
    b'w', b'w', b'x', b'y', b'z', b'x', b'y', b'z', b'w', b'w', b'x', b'y', b'z'] int64 [2] [24, 3]}
parse(MANY + [Z], {"s": Ragged(s), "f": Fixed([], f32, -1.0)})
    {f: float32 [25] [1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5,
    1.5, 1.5, 2.5, 2.5, 1.5, -1], s: string (25, None) int32 [[b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y',
    b'z'], [b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y', b'z'], [b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y',
    b'z'], [b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y', b'z'], [b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y',
    b'z'], [b'x', b'y', b'z'], [b'w'], [b'w'], [b'x', b'y', b'z'], []]}
parse(MANY, {"s": Steps([], s, allow_missing=True, default_value="-")})
    {s: string [24, 3] [[b'x', b'y', b'z'], [b'w', b'-', b'-'], [b'w', b'-', b'-'], [b'x', b'y', b'z'], [b'x', b'y',
    b'z'], [b'w', b'-', b'-'], [b'w', b'-', b'-'], [b'x', b'y', b'z'], [b'x', b'y', b'z'], [b'w', b'-', b'-'],
    [b'w', b'-', b'-'], [b'x', b'y', b'z'], [b'x', b'y', b'z'], [b'w', b'-', b'-'], [b'w', b'-', b'-'], [b'x', b'y',
    b'z'], [b'x', b'y', b'z'], [b'w', b'-', b'-'], [b'w', b'-', b'-'], [b'x', b'y', b'z'], [b'x', b'y', b'z'],
    [b'w', b'-', b'-'], [b'w', b'-', b'-'], [b'x', b'y', b'z']]}
parse(MANY, {"x": Sparse("at", "i", i64, 5)})
    {x: sparse int64 [48, 2] [[0, 0], [0, 3], [1, 1], [1, 2], [2, 1], [2, 2], [3, 0], [3, 3], [4, 0], [4, 3], [5,
    1], [5, 2], [6, 1], [6, 2], [7, 0], [7, 3], [8, 0], [8, 3], [9, 1], [9, 2], [10, 1], [10, 2], [11, 0], [11, 3],
    [12, 0], [12, 3], [13, 1], [13, 2], [14, 1], [14, 2], [15, 0], [15, 3], [16, 0], [16, 3], [17, 1], [17, 2], [18,
    1], [18, 2], [19, 0], [19, 3], [20, 0], [20, 3], [21, 1], [21, 2], [22, 1], [22, 2], [23, 0], [23, 3]] int64
    [48] [1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3,
    4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2] int64 [2] [24, 5]}
parse(MANY + [Z], {"f": Fixed([], f32)})
    InvalidArgumentError
parse(MANY + [b"\x0a"], {"f": Fixed([], f32)})
    InvalidArgumentError
parse(MANY, {"s": Fixed([1], s)})
    InvalidArgumentError
seq([Q, W] * 9, {"c": Fixed([], i64)}, {"f": Steps([], f32)})
    ({c: int64 [18] [7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8]}; {f: float32 [18, 3] [[1.5, 2.5, 3.5],
    [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5,
    2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0, 0], [1.5, 2.5, 3.5], [4.5, 0,
    0], [1.5, 2.5, 3.5], [4.5, 0, 0]]}; {f: int64 [18] [3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]})
seq([Q, W] * 6, None, {"i": Var(i64)})
    ({}; {i: sparse int64 [24, 3] [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [2, 0, 0], [2, 0, 1], [2, 1, 0], [3,
    0, 0], [4, 0, 0], [4, 0, 1], [4, 1, 0], [5, 0, 0], [6, 0, 0], [6, 0, 1], [6, 1, 0], [7, 0, 0], [8, 0, 0], [8, 0,
    1], [8, 1, 0], [9, 0, 0], [10, 0, 0], [10, 0, 1], [10, 1, 0], [11, 0, 0]] int64 [24] [1, 2, 3, 4, 1, 2, 3, 4, 1,
    2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4] int64 [3] [12, 2, 2]}; {})
seq([Q, W] * 6, None, {"s": Ragged(s)})
    ({}; {s: string (12, None, None) int32 [[[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']],
    [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']], [[b'a'], [], [b'b',
    b'c']], [[b'd']], [[b'a'], [], [b'b', b'c']], [[b'd']]]}; {})
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
