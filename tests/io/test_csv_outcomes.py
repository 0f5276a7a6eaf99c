"""Fields of CSV records, a few and many. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

D = tf.io.decode_csv


def many(row, n=12):
    return [row] * n


ROWS = read_rows(r'''
D(["1,2.5,a", "2,,b"], [[0], [1.5], [""]])
    (int32 [2] [1, 2]; float32 [2] [2.5, 1.5]; string [2] [b'a', b'b'])
D(["1,,a"], [[0], tf.constant([], tf.float32), [""]])
    InvalidArgumentError
D("1;2", [[0], [0]], ";")
    (int32 [] 1; int32 [] 2)
D(['"a,b","c""d"'], [[""], [""]])
    (string [1] [b'a,b']; string [1] [b'c"d'])
D(['"a,b",c'], [[""], [""], [""]], use_quote_delim=False)
    (string [1] [b'"a']; string [1] [b'b"']; string [1] [b'c'])
D(["NA,1"], [[7], [7]], na_value="NA")
    (int32 [1] [7]; int32 [1] [1])
D(["1,2,3"], [[0], [0]], select_cols=[0, 2])
    (int32 [1] [1]; int32 [1] [3])
D(["1,2,3"], [[0]], select_cols=[1])
    (int32 [1] [2])
D(["1,2,3"], [[0]], select_cols=[3])
    InvalidArgumentError
D(["1,2,3"], [[0], [0]], select_cols=[2, 0])
    ValueError
D(["1,2,3"], [[0], [0]], select_cols=[0])
    ValueError
D(["1,2,3"], [[0], [0]], select_cols=[0, 0])
    ValueError
D(["1,2,3"], [[0]], select_cols=[-1])
    ValueError
D(["1,2"], [[0]])
    InvalidArgumentError
D(["1"], [[0], [0]])
    InvalidArgumentError
D(["x"], [[0]])
    InvalidArgumentError
D(["1.5"], [[0]])
    InvalidArgumentError
D(["99999999999"], [[0]])
    InvalidArgumentError
D(["99999999999"], [tf.constant([0], tf.int64)])
    (int64 [1] [99999999999])
D(["1.5"], [tf.constant([0.0], tf.float64)])
    (float64 [1] [1.5])
D(['"a'], [[""]])
    InvalidArgumentError
D(['a"b'], [[""]])
    InvalidArgumentError
D(['"a"b'], [[""]])
    InvalidArgumentError
D(["a\nb"], [[""]])
    InvalidArgumentError
D(['"a\nb"'], [[""]])
    (string [1] [b'a\nb'])
D(["a\rb,c"], [[""], [""]])
    InvalidArgumentError
D([""], [[""]])
    InvalidArgumentError
D([","], [["x"], [5]])
    (string [1] [b'x']; int32 [1] [5])
D(["1,2"], [[0], [0]], "ab")
    InvalidArgumentError
D(["1"], [[0, 1]])
    InvalidArgumentError
D(["1"], [])
    InvalidArgumentError
D(["1"], [[True]])
    InvalidArgumentError
D([["1,2"], ["3,4"]], [[0], [0]])
    (int32 [2, 1] [[1], [3]]; int32 [2, 1] [[2], [4]])
D([], [[0], [0]])
    (int32 [0] []; int32 [0] [])
D(many("1,2.5,a"), [[0], [1.5], [""]])
    (int32 [12] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; float32 [12] [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5,
    2.5, 2.5]; string [12] [b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a'])
D(many("1,2.5,a") + ["2,,"], [[0], [1.5], ["z"]])
    (int32 [13] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]; float32 [13] [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5,
    2.5, 2.5, 1.5]; string [13] [b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'z'])
D(many("1,2.5,a") + ["NA,NA,NA"], [[0], [1.5], ["z"]], na_value="NA")
    (int32 [13] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]; float32 [13] [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5,
    2.5, 2.5, 1.5]; string [13] [b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'z'])
D(many("1,2,3"), [[0], [0]], select_cols=[0, 2])
    (int32 [12] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; int32 [12] [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3])
D(many("1,2,3"), [[0]], select_cols=[1])
    (int32 [12] [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
D(many("1,2,3"), [[0]], select_cols=[3])
    InvalidArgumentError
D(many('"a,b","c""d",e'), [[""], [""], [""]])
    (string [12] [b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b', b'a,b'];
    string [12] [b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d', b'c"d']; string
    [12] [b'e', b'e', b'e', b'e', b'e', b'e', b'e', b'e', b'e', b'e', b'e', b'e'])
D(many('a,"",b'), [[""], ["x"], [""]])
    (string [12] [b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a', b'a']; string [12] [b'x', b'x',
    b'x', b'x', b'x', b'x', b'x', b'x', b'x', b'x', b'x', b'x']; string [12] [b'b', b'b', b'b', b'b', b'b', b'b', b'b',
    b'b', b'b', b'b', b'b', b'b'])
D(many("a,b") + ['"c'], [[""], [""]])
    InvalidArgumentError
D(many("a,b") + ['"c"d,e'], [[""], [""]])
    InvalidArgumentError
D(many('"a",b') + ['c"d,e'], [[""], [""]])
    InvalidArgumentError
D(many('"a",b') + ["c\nd,e"], [[""], [""]])
    InvalidArgumentError
D(many("a,b") + ["c"], [[""], [""]])
    InvalidArgumentError
D(many("a,b") + ["c,d,e"], [[""], [""]])
    InvalidArgumentError
D(many("a,b") + [""], [[""], [""]])
    InvalidArgumentError
D(many("1,2") + ["x,2"], [[0], [0]])
    InvalidArgumentError
D(many("1,2") + [",2"], [[9], [0]])
    (int32 [13] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9]; int32 [13] [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
D(many('1,"2"'), [[0], [0]])
    (int32 [12] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; int32 [12] [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
D(many('1,"2'), [[""], [""]], use_quote_delim=False)
    (string [12] [b'1', b'1', b'1', b'1', b'1', b'1', b'1', b'1', b'1', b'1', b'1', b'1']; string [12] [b'"2', b'"2',
    b'"2', b'"2', b'"2', b'"2', b'"2', b'"2', b'"2', b'"2', b'"2', b'"2'])
D(many("1;2"), [[0], [0]], ";")
    (int32 [12] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; int32 [12] [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
D([many("1,2")], [[0], [0]])
    (int32 [1, 12] [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]; int32 [1, 12] [[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]])
D(many('""""'), [[""]])
    (string [12] [b'"', b'"', b'"', b'"', b'"', b'"', b'"', b'"', b'"', b'"', b'"', b'"'])
D(many('"a\r\nb",c'), [[""], [""]])
    (string [12] [b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb', b'a\r\nb',
    b'a\r\nb', b'a\r\nb', b'a\r\nb']; string [12] [b'c', b'c', b'c', b'c', b'c', b'c', b'c', b'c', b'c', b'c', b'c',
    b'c'])
sized(lambda r: D(r, [[0], [1.5]]), many("1,2.5"))
    (int32 [12] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; float32 [12] [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5,
    2.5, 2.5])
sized(lambda r, d: D(r, [d, [1.5]]), ["1,2.5", ",3"], [7])
    (int32 [2] [1, 7]; float32 [2] [2.5, 3])
static(lambda r: D(r, [[0], [1.5]]), tf.TensorSpec([None, 2], tf.string))
    ('(None, 2)'; '(None, 2)')
static(lambda r, d: D(r, [d]), tf.TensorSpec([2], tf.string), tf.TensorSpec([2], tf.int32))
    ValueError
static(lambda r, d: D(r, [d]), tf.TensorSpec([2], tf.string), tf.TensorSpec([1, 1], tf.int32))
    ValueError
D(["x,2"] + many("1,2") + [",2"], [[9], [0]])
    InvalidArgumentError
D(["1,2"], [[0], [0]], "")
    InvalidArgumentError
D(['"a",b,c'], [[""], [""], [""]])
    (string [1] [b'a']; string [1] [b'b']; string [1] [b'c'])
D(['a,b,"c"'], [[""], [""], [""]])
    (string [1] [b'a']; string [1] [b'b']; string [1] [b'c'])
''')


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
