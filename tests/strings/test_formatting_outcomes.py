"""Numbers as strings, strings as numbers, and formats. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

S, s = tf.strings, tf.strings.as_string
MANY = [0, 1, -1, 9, 10, -10, 99, 100, 12345, -98765, 2**31 - 1, -(2**31), 7, 70, 700, 7000, 70000, 5, 55, 555] * 4
BIG = np.array([2**63 - 1, -(2**63), 10**18, -(10**18), 10**18 - 1, 0, 5 * 10**17, 999] * 9)
N = tf.strings.to_number

ROWS = read_rows(r"""
s([1.5, -2.0, 1e10, 1e-10, np.inf, -np.inf, np.nan])
    string [7] [b'1.500000', b'-2.000000', b'10000000000.000000', b'0.000000', b'inf', b'-inf', b'nan']
s([1.5, 1e10, 1e-10], scientific=True)
    string [3] [b'1.500000e+00', b'1.000000e+10', b'1.000000e-10']
s([1.5, 1e10, 1e-10, 100000.0, 1e6], shortest=True)
    string [5] [b'1.5', b'1e+10', b'1e-10', b'100000', b'1e+06']
s([1.5, -2.25], precision=1)
    string [2] [b'1.5', b'-2.2']
s([1.5, -2.25], precision=0)
    string [2] [b'2', b'-2']
s([1.5, 123456.0], precision=3, shortest=True)
    string [2] [b'1.5', b'1.23e+05']
s([1.5, 123456.0], precision=3, scientific=True)
    string [2] [b'1.500e+00', b'1.235e+05']
s([1.5, -2.0, np.inf, np.nan], width=9)
    string [4] [b' 1.500000', b'-2.000000', b' inf', b' nan']
s([1.5, -2.0, np.inf, np.nan], width=9, fill="0", precision=2)
    string [4] [b'000001.50', b'-00002.00', b' inf', b' nan']
s([1.5, -2.0, np.inf], width=9, fill="-", precision=2)
    string [3] [b'1.50 ', b'-2.00 ', b'inf ']
s([1.5, -2.0, np.inf], width=9, fill="+", precision=2)
    string [3] [b' +1.50', b' -2.00', b' +inf']
s([1.5, -2.0, np.inf], fill=" ", precision=2)
    string [3] [b' 1.50', b'-2.00', b' inf']
s([1, -20, 300], width=5)
    string [3] [b' 1', b' -20', b' 300']
s([1, -20, 300], width=5, fill="0")
    string [3] [b'00001', b'-0020', b'00300']
s([1, -20, 300], width=5, fill="-")
    string [3] [b'1 ', b'-20 ', b'300 ']
s([1, -20, 300], fill="+")
    string [3] [b'+1', b'-20', b'+300']
s(tf.constant([1, 200], tf.uint8), fill="+")
    string [2] [b'1', b'200']
s(tf.constant([1, 200], tf.uint8), fill=" ", width=4)
    string [2] [b' 1', b' 200']
s(tf.constant([2**64 - 1, 0], tf.uint64))
    string [2] [b'18446744073709551615', b'0']
s(tf.constant([1.5, -2.0], tf.bfloat16))
    string [2] [b'1.500000', b'-2.000000']
s(tf.constant([1.5, -2.0], tf.float64), precision=12)
    string [2] [b'1.500000000000', b'-2.000000000000']
s(tf.constant([1.1], tf.float16))
    string [1] [b'1.099609']
s([True, False])
    string [2] [b'true', b'false']
s([True, False], width=7)
    string [2] [b'true', b'false']
s([1 + 2j, -0.5j], precision=2)
    string [2] [b'(1.00,2.00)', b'(-0.00,-0.50)']
s([1 + 2j], precision=1, width=6, scientific=True)
    string [1] [b'(1.0e+00,2.0e+00)']
s(["a", "bc"])
    string [2] [b'a', b'bc']
s(["a", "bc"], width=4)
    string [2] [b' a', b' bc']
s(["a", "bc"], width=4, fill="-")
    string [2] [b'a ', b'bc ']
s(["a", "bc"], precision=2)
    string [2] [b'a', b'bc']
s([[1], [2]])
    string [2, 1] [[b'1'], [b'2']]
s([], width=3)
    string [0] []
s(5)
    string [] b'5'
s([1], precision=2)
    InvalidArgumentError
s([1], scientific=True)
    InvalidArgumentError
s([1], shortest=True)
    InvalidArgumentError
s([True], precision=1)
    InvalidArgumentError
s([1.0], scientific=True, shortest=True)
    InvalidArgumentError
s([1.0], fill="ab")
    InvalidArgumentError
s([1.0], fill="x", width=5)
    InvalidArgumentError
s(MANY)
    string [80] [b'0', b'1', b'-1', b'9', b'10', b'-10', b'99', b'100', b'12345', b'-98765', b'2147483647',
    b'-2147483648', b'7', b'70', b'700', b'7000', b'70000', b'5', b'55', b'555', b'0', b'1', b'-1', b'9', b'10', b'-10',
    b'99', b'100', b'12345', b'-98765', b'2147483647', b'-2147483648', b'7', b'70', b'700', b'7000', b'70000', b'5',
    b'55', b'555', b'0', b'1', b'-1', b'9', b'10', b'-10', b'99', b'100', b'12345', b'-98765', b'2147483647',
    b'-2147483648', b'7', b'70', b'700', b'7000', b'70000', b'5', b'55', b'555', b'0', b'1', b'-1', b'9', b'10', b'-10',
    b'99', b'100', b'12345', b'-98765', b'2147483647', b'-2147483648', b'7', b'70', b'700', b'7000', b'70000', b'5',
    b'55', b'555']
s(MANY, width=3)
    string [80] [b' 0', b' 1', b' -1', b' 9', b' 10', b'-10', b' 99', b'100', b'12345', b'-98765', b'2147483647',
    b'-2147483648', b' 7', b' 70', b'700', b'7000', b'70000', b' 5', b' 55', b'555', b' 0', b' 1', b' -1', b' 9', b'
    10', b'-10', b' 99', b'100', b'12345', b'-98765', b'2147483647', b'-2147483648', b' 7', b' 70', b'700', b'7000',
    b'70000', b' 5', b' 55', b'555', b' 0', b' 1', b' -1', b' 9', b' 10', b'-10', b' 99', b'100', b'12345', b'-98765',
    b'2147483647', b'-2147483648', b' 7', b' 70', b'700', b'7000', b'70000', b' 5', b' 55', b'555', b' 0', b' 1', b'
    -1', b' 9', b' 10', b'-10', b' 99', b'100', b'12345', b'-98765', b'2147483647', b'-2147483648', b' 7', b' 70',
    b'700', b'7000', b'70000', b' 5', b' 55', b'555']
s(BIG)
    string [72] [b'9223372036854775807', b'-9223372036854775808', b'1000000000000000000', b'-1000000000000000000',
    b'999999999999999999', b'0', b'500000000000000000', b'999', b'9223372036854775807', b'-9223372036854775808',
    b'1000000000000000000', b'-1000000000000000000', b'999999999999999999', b'0', b'500000000000000000', b'999',
    b'9223372036854775807', b'-9223372036854775808', b'1000000000000000000', b'-1000000000000000000',
    b'999999999999999999', b'0', b'500000000000000000', b'999', b'9223372036854775807', b'-9223372036854775808',
    b'1000000000000000000', b'-1000000000000000000', b'999999999999999999', b'0', b'500000000000000000', b'999',
    b'9223372036854775807', b'-9223372036854775808', b'1000000000000000000', b'-1000000000000000000',
    b'999999999999999999', b'0', b'500000000000000000', b'999', b'9223372036854775807', b'-9223372036854775808',
    b'1000000000000000000', b'-1000000000000000000', b'999999999999999999', b'0', b'500000000000000000', b'999',
    b'9223372036854775807', b'-9223372036854775808', b'1000000000000000000', b'-1000000000000000000',
    b'999999999999999999', b'0', b'500000000000000000', b'999', b'9223372036854775807', b'-9223372036854775808',
    b'1000000000000000000', b'-1000000000000000000', b'999999999999999999', b'0', b'500000000000000000', b'999',
    b'9223372036854775807', b'-9223372036854775808', b'1000000000000000000', b'-1000000000000000000',
    b'999999999999999999', b'0', b'500000000000000000', b'999']
N(["1.5", " -2 ", "+3e2", "1e-3", "inf", "-INF", "nan", "0x1p3", ".5", "5."])
    float32 [10] [1.5, -2, 300, 0.001, inf, -inf, nan, 8, 0.5, 5]
N(["1", "-2", " 3 ", "+4"], tf.int32)
    int32 [4] [1, -2, 3, 4]
N(["9223372036854775807", "-9223372036854775808"], tf.int64)
    int64 [2] [9223372036854775807, -9223372036854775808]
N(["18446744073709551615", "0"], tf.uint64)
    uint64 [2] [18446744073709551615, 0]
N(["4294967295"], tf.uint32)
    uint32 [1] [4294967295]
N(["2147483648"], tf.int32)
    InvalidArgumentError
N(["-2147483649"], tf.int32)
    InvalidArgumentError
N(["-1"], tf.uint32)
    InvalidArgumentError
N(["1.5"], tf.int32)
    InvalidArgumentError
N(["1_0"])
    InvalidArgumentError
N(["1_0"], tf.int32)
    InvalidArgumentError
N([""])
    InvalidArgumentError
N(["a"])
    InvalidArgumentError
N(["1 2"])
    InvalidArgumentError
N(["1e400", "-1e400", "1e-400"], tf.float64)
    float64 [3] [inf, -inf, 0]
N(["1e39", "-1e39", "3.4028235e38", "3.4028236e38"])
    float32 [4] [inf, -inf, 3.4028e+38, inf]
N(["16777217", "16777219", "1.00000005960464477539", "1.000000059604644776"])
    float32 [4] [1.6777e+07, 1.6777e+07, 1, 1]
N(["0.1"], tf.float64)
    float64 [1] [0.1]
N("7")
    float32 [] 7
N([["1"], ["2"]], tf.int64)
    int64 [2, 1] [[1], [2]]
N(["1"], tf.int8)
    InvalidArgumentError
N([])
    float32 [0] []
N(["12", "-7", " 9 ", "+5", "100000000000000000", "999999999999999999"] * 4, tf.int64)
    int64 [24] [12, -7, 9, 5, 100000000000000000, 999999999999999999, 12, -7, 9, 5, 100000000000000000,
    999999999999999999, 12, -7, 9, 5, 100000000000000000, 999999999999999999, 12, -7, 9, 5, 100000000000000000,
    999999999999999999]
N(["12", "-7", " 9", "+5", "1234567890123456789"] * 5, tf.int64)
    int64 [25] [12, -7, 9, 5, 1234567890123456789, 12, -7, 9, 5, 1234567890123456789, 12, -7, 9, 5, 1234567890123456789,
    12, -7, 9, 5, 1234567890123456789, 12, -7, 9, 5, 1234567890123456789]
N(["12", "-7"] * 10 + ["2147483648"], tf.int32)
    InvalidArgumentError
N(["12", "-7"] * 10 + ["x"], tf.int32)
    InvalidArgumentError
N(["12", "-7"] * 10 + ["-"], tf.int32)
    InvalidArgumentError
N(["12", "-7"] * 10 + ["1 1"], tf.int32)
    InvalidArgumentError
N(["2147483647", "-2147483648"] * 10, tf.int32)
    int32 [20] [2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648,
    2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647,
    -2147483648, 2147483647, -2147483648]
N(["0", "4294967295"] * 10, tf.uint32)
    uint32 [20] [0, 4294967295, 0, 4294967295, 0, 4294967295, 0, 4294967295, 0, 4294967295, 0, 4294967295, 0,
    4294967295, 0, 4294967295, 0, 4294967295, 0, 4294967295]
N(["1.5", "-2.25e1", "3E+2", " 4e-3 ", "+.5", "5.", "1e22", "1e-22", "123456789012345"] * 3, tf.float64)
    float64 [27] [1.5, -22.5, 300, 0.004, 0.5, 5, 1e+22, 1e-22, 1.2346e+14, 1.5, -22.5, 300, 0.004, 0.5, 5, 1e+22,
    1e-22, 1.2346e+14, 1.5, -22.5, 300, 0.004, 0.5, 5, 1e+22, 1e-22, 1.2346e+14]
N(["1e23", "1e-23", "1234567890123456", "0x10", "inf", "-nan", "1e5e"[:3], "0.0000001"] * 3, tf.float64)
    float64 [24] [1e+23, 1e-23, 1.2346e+15, 16, inf, nan, 1e+05, 1e-07, 1e+23, 1e-23, 1.2346e+15, 16, inf, nan, 1e+05,
    1e-07, 1e+23, 1e-23, 1.2346e+15, 16, inf, nan, 1e+05, 1e-07]
N(["1.5", "-2.25e1", "3E+2", "16777217", "16777219", "1e39", "-0"] * 4)
    float32 [28] [1.5, -22.5, 300, 1.6777e+07, 1.6777e+07, inf, -0, 1.5, -22.5, 300, 1.6777e+07, 1.6777e+07, inf, -0,
    1.5, -22.5, 300, 1.6777e+07, 1.6777e+07, inf, -0, 1.5, -22.5, 300, 1.6777e+07, 1.6777e+07, inf, -0]
N(["1.5"] * 20 + ["1e"])
    InvalidArgumentError
N(["1.5"] * 20 + ["1e+"])
    InvalidArgumentError
N(["1.5"] * 20 + ["."])
    InvalidArgumentError
N(["1.5"] * 20 + ["1..5"])
    InvalidArgumentError
N(["1.5"] * 20 + ["e5"])
    InvalidArgumentError
N(["1.5"] * 20 + ["- 1"])
    InvalidArgumentError
N(["1.5"] * 20 + [""])
    InvalidArgumentError
S.format("x = {}", tf.constant([1, 2]))
    string [] b'x = [1 2]'
S.format("{} and {}", [tf.constant(1), tf.constant(["a"])])
    string [] b'1 and ["a"]'
S.format("{}", tf.range(10))
    string [] b'[0 1 2 ... 7 8 9]'
S.format("{}", tf.range(10), summarize=2)
    string [] b'[0 1 ... 8 9]'
S.format("{}", tf.range(10), summarize=-1)
    string [] b'[0 1 2 3 4 5 6 7 8 9]'
S.format("%s", tf.constant(1), placeholder="%s")
    string [] b'1'
S.format("{}", tf.ragged.constant([[1], [2, 3]]))
    string [] b'[[1], [2, 3]]'
S.format("no", [])
    string [] b'no'
S.format("{}", [1, 2])
    ValueError
S.format("{}{}", [tf.constant(1)])
    ValueError
S.format("{}", 5)
    TypeError
S.format("{}", tf.constant([[1.5, 2.0], [3.0, 4.0]]))
    string [] b'[[1.5 2]\n [3 4]]'
sized(lambda x: s(x, precision=2), [1.5, 2.0])
    string [2] [b'1.50', b'2.00']
unranked(lambda x: N(x), ["1", "2"])
    float32 [2] [1, 2]
sized(lambda x: S.format("<{}>", x), [1, 2])
    string [] b'<[1 2]>'
static(lambda x: s(x), [2, None])
    '(2, None)'
static(lambda x: N(x), tf.TensorSpec([None, 3], tf.string))
    '(None, 3)'
static(lambda x: S.format("{}", x), [2])
    '()'
static(lambda x: S.format("{}{}", x), [2])
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
