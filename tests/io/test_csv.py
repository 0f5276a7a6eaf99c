"""Comma-separated values in graphs."""

import random

import pytest

import tapeflow as tf

FIELDS = [
    "1", "-7", "", "2.5", "x", '"a,b"', '"say ""hi"""', '""', " 3 ", "9999999999", "none", '"1"', "1e3", '"new\nline"',
]  # fmt: skip


def _parsed(records, *args):
    try:
        return [column.numpy().tolist() for column in tf.io.decode_csv(records, *args)]
    except tf.errors.InvalidArgumentError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(12))
def test_many_records_are_parsed_like_each_alone(seed):
    draw = random.Random(seed)
    dtypes = draw.choices([tf.string, tf.int32, tf.float32, tf.int64, tf.float64], k=3)
    defaults = [draw.choice([tf.constant([], d), tf.cast(7, d) if d is not tf.string else "?"]) for d in dtypes]
    fits = {tf.string: FIELDS, tf.float32: ["1", "-7.5", "1e3", '"2"'], tf.float64: ["0.1", "", "none"]}
    columns = [fits.get(d, ["1", "-7", '"3"', "none"]) for d in dtypes]
    options = ",", draw.random() < 0.8, "none", draw.choice([None, [0, 2, 3]])
    if options[3]:
        columns.insert(1, FIELDS[:5])
    records = [",".join(map(draw.choice, columns)) for _ in range(100)]
    each = [_parsed([record], defaults, *options) for record in records]
    good = [record for record, alone in zip(records, each, strict=True) if isinstance(alone, list)]
    rows = [alone for alone in each if isinstance(alone, list)]
    assert _parsed(good * 2, defaults, *options) == [[v for (v,) in column] * 2 for column in zip(*rows, strict=True)]
    bad = next((i for i, alone in enumerate(each) if isinstance(alone, str)), None)
    if bad is not None:
        assert _parsed(records, defaults, *options) == each[bad].replace("record 0", f"record {bad}")


def test_empty_records_have_no_fields():
    for records in ([""], ["1"] * 40 + [""]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 1 fields but have 0 in record"):
            tf.io.decode_csv(records, [[0]])


def test_rows_of_a_file_come_before_and_after_a_bad_one(tmp_path):
    (tmp_path / "a.csv").write_text("".join("x,1\n" if i in (3, 50, 51) else f"{i},1\n" for i in range(100)))
    rows = tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [tf.int32, tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 in record is not a valid int32: x"):
        list(rows)
    kept = [int(a) for a, _ in rows.ignore_errors()]
    assert kept == [i for i in range(100) if i not in (3, 50, 51)]
    batches = [a.numpy().tolist() for a, _ in rows.batch(10).ignore_errors()]
    starts = [*range(4, 44, 10), *range(52, 100, 10)]  # a batch ends at a bad row, and the next begins behind it
    assert batches == [list(range(i, min(i + 10, 100))) for i in starts]


def test_graphs_have_all_defaults():
    """A program that reads the graph gets the defaults that were constants, and the format."""

    def function(lines):
        required = tf.constant([], tf.int32)
        return tf.io.decode_csv(lines, [[0.5], required, tf.int64], ";", False, "none", [0, 2, 3])

    lines = tf.constant(["1;x;2;3", "none;y;4;5"])
    graph = tf.function(function).get_concrete_function(lines).graph.as_graph_def()
    (node,) = [n for n in graph.node if n.op == "DecodeCSV"]
    assert len(node.input) == 4
    read = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph, name=""), [])
    values = read.prune("lines:0", [f"{node.name}:{i}" for i in range(3)])(lines)
    assert [v.numpy().tolist() for v in values] == [[1.0, 0.5], [2, 4], [3, 5]]
