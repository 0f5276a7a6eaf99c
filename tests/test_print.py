"""What `tf.print` writes, as TensorFlow 2.21 writes it."""

import collections
import logging
import sys

import numpy as np
import pytest

import tapeflow as tf

Point = collections.namedtuple("Point", "x y")


def test_values_go_to_stderr_by_default(capsys):
    tf.print("a", 1)
    assert capsys.readouterr() == ("", "a 1\n")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            ["a", 1, tf.constant([1, 2, 3]), [tf.constant(1), 2], {"a": tf.constant(1.5)}],
            "a 1 [1 2 3] [1, 2] {'a': 1.5}",
        ),
        ([tf.reshape(tf.range(8), [2, 2, 2])], "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        ([tf.range(10)], "[0 1 2 ... 7 8 9]"),
        (
            [tf.reshape(tf.range(40), [4, 10])],
            "[[0 1 2 ... 7 8 9]\n [10 11 12 ... 17 18 19]\n [20 21 22 ... 27 28 29]\n [30 31 32 ... 37 38 39]]",
        ),
        (
            [tf.constant(v) for v in (0.1, 100000.0, 1234567.0, 1e-5, 1 / 3, 1e10, 123456789.0, -0.0)],
            "0.1 100000 1234567 1e-05 0.333333343 1e+10 123456792 -0",
        ),
        ([tf.constant(1 / 3, tf.float64), tf.constant(0.1, tf.float64)], "0.33333333333333331 0.1"),
        ([tf.constant(0.1, tf.float16), tf.constant(0.1, tf.bfloat16)], "0.0999755859 0.100097656"),
        ([tf.constant([True, False]), tf.constant(np.nan), tf.constant(-np.inf)], "[1 0] nan -inf"),
        ([tf.constant("a\nb"), tf.constant(["é", "\x00"])], '"a\\nb" ["é" "\\000"]'),
        ([("a", "b"), ["x", tf.constant("y")], {"k": "v"}, None, True], "('a', 'b') ['x', \"y\"] {'k': 'v'} None True"),
        ([Point(1, tf.constant(2)), tf.Variable([1.0, 2.0])], "Point(x=1, y=2) [1 2]"),
        ([tf.zeros([0, 2]), [], {}, ()], "[] [] {} ()"),
        ([tf.float32, tf.TensorShape([1, None])], "tf.float32 TensorShape([1, None])"),
    ],
)
def test_texts(values, text, capsys):
    tf.print(*values, output_stream=sys.stdout)
    assert capsys.readouterr().out == text + "\n"


def test_bytes_that_are_not_text(capsys):
    tensor = tf.constant([b"\x80\x01\x7fe\xed\xa0\x80", "\u200b\U000e0001".encode()])
    assert tf.strings.format("{}", tensor).numpy() == b'["\x80\\001\\177e\xed\xa0\x80" "\xe2\x80\x8b\xf3\xa0\x80\x81"]'

    def show():
        tf.print(tensor[:1], output_stream=sys.stdout)

    for call in (show, tf.function(show)):
        call()
        assert capsys.readouterr().out == '["\\x80\\001\\177e\\xed\\xa0\\x80"]\n'
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\\x80.*\\xa0"):
        tf.function(lambda: [tf.debugging.Assert(False, [tensor]), tensor][1])()


def test_how_much_is_shown(capsys):
    tf.print(tf.range(10), summarize=-1, output_stream=sys.stdout)
    tf.print(tf.reshape(tf.range(100), [10, 10]), summarize=1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "[0 1 2 3 4 5 6 7 8 9]\n[[0 ... 9]\n ...\n [90 ... 99]]\n"


def test_separator_and_end(capsys):
    tf.print(1, 2, sep="|", end="!", output_stream=sys.stdout)
    assert capsys.readouterr().out == "1|2!"


def test_files_are_appended_to(tmp_path):
    path = tmp_path / "out"
    for word in "ab":
        tf.print(word, output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"


def test_loggers(caplog):
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        tf.print("x", tf.constant(1), output_stream=logging.INFO)
        tf.print("y", output_stream=-1)  # absl's number for warnings
    assert caplog.messages == ["x 1", "y"] and caplog.records[1].levelno == logging.WARNING


def test_what_is_unknown():
    with pytest.raises(ValueError, match="Unrecognized keyword arguments for tf"):
        tf.print("a", foo=5)
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("a", output_stream=5)


RAGGED = tf.ragged.constant([list(range(20))] * 10)
SPARSE = tf.SparseTensor([[0, 1]], [5], [2, 2])


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.ragged.constant([[1.5, 2], [], [3e10]]), "[[1.500000, 2.000000], [], [30000001024.000000]]"),
        (tf.ragged.constant([[True], [False, True]]), "[[true], [false, true]]"),
        (tf.ragged.constant([["a'b", "c"], ["é"]]), "[['a\\'b', 'c'], ['é']]"),
        (tf.ragged.constant([[[1, 2], [3]], []]), "[[[1, 2], [3]], []]"),
        (tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2]), "[[[1, 2]], [[3, 4]]]"),
        (tf.ragged.constant([]), "[]"),
        ([SPARSE, {"k": tf.ragged.constant([["a"]])}],
         "['SparseTensor(indices=[[0 1]], values=[5], shape=[2 2])', {'k': [['a']]}]"),
    ],
)  # fmt: skip
def test_composite_values(value, text, staged, capsys):
    def shown(v):
        tf.print(v, output_stream=sys.stdout)

    (tf.function(shown) if staged else shown)(value)
    assert capsys.readouterr().out == text + "\n"


def test_long_rows_are_shortened(capsys):
    tf.print(RAGGED, summarize=1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "[[0, ..., 19], ..., [0, ..., 19]]\n"
    assert tf.strings.format("{}", RAGGED[:1]).numpy() == b"[[0, 1, 2, ..., 17, 18, 19]]"


class Printing(tf.Module):
    def __init__(self, path):
        self.v = tf.Variable([1.5, -2.0])
        self.words = tf.Variable(["a", 'b"'])
        self.path = f"file://{path}"

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.string)])
    def show(self, x, text):
        tf.print("v is", self.v, {"z": x, "a": self.v}, "{}", [1, None], output_stream=sys.stdout)
        tf.print(text, output_stream=sys.stdout, end="|")
        tf.print(text, self.words, SPARSE, sep=",", output_stream=sys.stdout)
        tf.print("no tensor", output_stream=sys.stdout)
        tf.print(x, summarize=1, output_stream=self.path)
        return x


def test_saved_functions_print_the_same(tmp_path, capsys):
    module = Printing(tmp_path / "log")
    args = tf.range(5), tf.constant("te\nxt")
    module.show.python_function(*args)
    eager = capsys.readouterr().out
    module.show(*args)
    assert capsys.readouterr().out == eager
    tf.saved_model.save(module, tmp_path / "saved")
    loaded = tf.saved_model.load(tmp_path / "saved")
    loaded.v.assign([0.0, 0.0])
    loaded.show(*args)
    assert capsys.readouterr().out == eager.replace("[1.5 -2]", "[0 0]")
    assert (tmp_path / "log").read_text() == "[0 ... 4]\n" * 3
    assert "v is [1.5 -2] {'z': [0 1 2 3 4], 'a': [1.5 -2]} {} [1, None]\nte\nxt|" in eager
