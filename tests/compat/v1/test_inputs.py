"""The inputs of TensorFlow 1: producers, batches that threads gather, readers of files."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.compat import v1

errors, train = tf.errors, v1.train


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def everything(fetches):
    """All that fetches give until the input is at its end."""
    found = []
    with train.MonitoredSession() as sess:
        while not sess.should_stop():
            found.append(sess.run(fetches))
    return found


# ---- producers -------------------------------------------------------------------------------------------------------


def test_strings_again_and_again():
    queue = train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
    assert queue.name == "input_producer"
    assert [v.name for v in v1.local_variables()] == ["input_producer/limit_epochs/epochs:0"]
    assert [s.name for s in v1.get_collection("summaries")] == ["input_producer/fraction_of_32_full:0"]
    assert [r.enqueue_ops[0].name for r in v1.get_collection("queue_runners")] == [
        "input_producer/input_producer_EnqueueMany"
    ]
    assert everything(queue.dequeue()) == [b"a", b"b", b"a", b"b"]


def test_shuffled_epochs_are_complete():
    queue = train.range_input_producer(6, num_epochs=3, seed=1)
    found = [int(n) for n in everything(queue.dequeue())]
    assert [sorted(found[i : i + 6]) for i in (0, 6, 12)] == [list(range(6))] * 3
    assert found != sorted(found[:6]) * 3


def test_slices_belong_together():
    rows, names = train.slice_input_producer([tf.constant([[1, 2], [3, 4]]), ["x", "y"]], num_epochs=1, shuffle=False)
    assert (rows.shape.as_list(), names.shape.as_list()) == ([2], [])
    assert [(r.tolist(), n) for r, n in everything([rows, names])] == [([1, 2], b"x"), ([3, 4], b"y")]


def test_shapes_that_only_the_program_knows():
    tensor = v1.placeholder_with_default(np.ones([2, 3], np.float32), None)
    queue = train.input_producer(tensor, element_shape=[3], num_epochs=1, shuffle=False, summary_name="full")
    assert queue.shapes == [tf.TensorShape([3])]
    assert len(everything(queue.dequeue())) == 2


def test_a_limit_of_epochs():
    x = tf.constant([1.0])
    assert train.limit_epochs(x) is x
    twice = train.limit_epochs(x, 2)
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        assert [sess.run(twice).tolist() for _ in range(2)] == [[1.0], [1.0]]
        with pytest.raises(errors.OutOfRangeError, match="Reached limit of 2"):
            sess.run(twice)


def test_files_are_looked_for_once(tmp_path):
    (tmp_path / "a.txt").write_text("")
    names = train.match_filenames_once(str(tmp_path / "*.txt"), name="files")
    assert (names.name, names.shape.as_list()) == ("files:0", [None])
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        (tmp_path / "b.txt").write_text("")
        assert len(sess.run(names)) == 1
        sess.run(v1.local_variables_initializer())
        assert len(sess.run(names)) == 2


# ---- batches ---------------------------------------------------------------------------------------------------------


def numbers(count, **options):
    return train.range_input_producer(count, num_epochs=1, shuffle=False, **options).dequeue()


def test_batches_in_order():
    n = numbers(7)
    batch = train.batch({"n": n, "row": tf.stack([n, n + 1])}, 3, name="mine")
    assert (batch["n"].name, batch["row"].shape.as_list()) == ("mine:0", [3, 2])
    found = everything(batch)
    assert [f["n"].tolist() for f in found] == [[0, 1, 2], [3, 4, 5]]
    assert found[1]["row"].tolist() == [[3, 4], [4, 5], [5, 6]]


def test_the_last_batch_may_be_smaller():
    batch = train.batch([numbers(7)], 3, allow_smaller_final_batch=True)
    assert batch.shape.as_list() == [None]
    assert [b.tolist() for b in everything(batch)] == [[0, 1, 2], [3, 4, 5], [6]]


def test_several_examples_at_once():
    batch = train.batch([train.limit_epochs(tf.constant([1, 2, 3]), 2)], 4, enqueue_many=True)
    assert [b.tolist() for b in everything(batch)] == [[1, 2, 3, 1]]


def test_examples_of_different_lengths():
    n = numbers(4)
    batch = train.batch([tf.range(n)], 2, dynamic_pad=True)
    assert batch.shape.as_list() == [2, None]
    assert [b.tolist() for b in everything(batch)] == [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]


def test_sparse_examples():
    n = tf.cast(numbers(4), tf.int64)
    example = tf.SparseTensor(tf.reshape(n, [1, 1]), tf.cast([n], tf.float32) * 10.0, [4])
    batch, which = train.batch([example, n], 2)
    assert batch.indices.shape.as_list() == [None, 2]
    found = everything([tf.sparse.to_dense(batch), which])
    assert found[1][0].tolist() == [[0.0, 0.0, 20.0, 0.0], [0.0, 0.0, 0.0, 30.0]]


def test_examples_that_are_left_out():
    n = numbers(8)
    kept = train.maybe_batch([n], tf.equal(n % 2, 0), 2)
    assert [b.tolist() for b in everything(kept)] == [[0, 2], [4, 6]]


def test_some_of_several_examples():
    tensor = train.limit_epochs(tf.constant([1, 2, 3]), 2)
    kept = train.maybe_batch([tensor], [True, False, True], 4, enqueue_many=True)
    assert [b.tolist() for b in everything(kept)] == [[1, 3, 1, 3]]


def test_examples_of_several_sources():
    first, second = numbers(4), numbers(4) + 10
    for join in (
        train.batch_join([[first], [second]], 4),
        train.maybe_batch_join([{"n": first}, {"n": second}], True, 4)["n"],
    ):
        assert join.shape.as_list() == [4]
    with train.MonitoredSession() as sess:
        assert set(sess.run(join).tolist()) <= {0, 1, 2, 3, 10, 11, 12, 13}


def test_batches_in_random_order():
    n = numbers(20)
    for make in (
        lambda: train.shuffle_batch([n], 4, 12, 4, num_threads=2, seed=3),
        lambda: train.maybe_shuffle_batch([n], 4, 12, 4, True),
        lambda: train.shuffle_batch_join([[n], [n]], 4, 12, 4),
        lambda: train.maybe_shuffle_batch_join([[n]], 4, 12, 4, True),
    ):
        assert make().shape.as_list() == [4]
    assert [s.op.name for s in v1.get_collection("summaries")][1] == "shuffle_batch/fraction_over_4_of_8_full"


def test_all_of_a_shuffled_input_come():
    batch = train.shuffle_batch([numbers(20)], 5, 12, 4, seed=3)
    found = np.concatenate(everything(batch)).tolist()
    assert sorted(found) == list(range(20)) and found != sorted(found)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: train.batch([], 2), ValueError, "Expected at least one tensor"),
        (lambda: train.batch([v1.placeholder(tf.float32)], 2), ValueError, "Cannot infer Tensor's rank"),
        (lambda: train.batch([v1.placeholder(tf.float32, [None])], 2), ValueError, "must be fully defined"),
        (lambda: train.batch_join([], 2), ValueError, "at least one set of tensors"),
        (lambda: train.batch_join([[tf.constant(1.0)], [tf.constant(2)]], 2), TypeError, "float32 vs. int32"),
        (lambda: train.batch_join([{"a": 1}, {"b": 1}], 2), ValueError, "must have the same keys"),
        (lambda: train.shuffle_batch([tf.constant(1)], 2, 3, 3), ValueError, "capacity 3 must be bigger than"),
        (lambda: train.maybe_batch([tf.constant(1)], [True], 2), ValueError, "cannot be a vector"),
        (
            lambda: train.maybe_batch([tf.constant([1])], [[True]], 2, enqueue_many=True),
            ValueError,
            "0 or 1 dimensions",
        ),
        (lambda: train.string_input_producer([]), ValueError, "non-null input tensor"),
        (lambda: train.slice_input_producer([]), ValueError, "at least one tensor"),
        (lambda: train.input_producer(v1.placeholder(tf.int32)), ValueError, "`element_shape` must be specified"),
        (lambda: train.limit_epochs(tf.constant(1), 0), ValueError, "num_epochs must be > 0 not 0"),
    ],
)
def test_errors(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


# ---- readers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Three files of three lines, and the beginning of their names in bytes."""
    for name in "abc":
        (tmp_path / f"{name}.txt").write_bytes(b"".join(b"%s%d\r\n" % (name.encode(), i) for i in range(3)))
    return [str(tmp_path / f"{name}.txt") for name in "abc"]


def work(names):
    return train.string_input_producer(names, num_epochs=1, shuffle=False)


def test_lines(files):
    reader = v1.TextLineReader(skip_header_lines=1)
    queue = work(files)
    record, several = reader.read(queue), reader.read_up_to(queue, 5)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    reset = reader.reset()
    with train.SingularMonitoredSession() as sess:
        assert sess.run(record) == [f"{files[0]}:2".encode(), b"a1"]
        keys, values = sess.run(several)
        assert (keys.tolist(), values.tolist()) == ([f"{files[0]}:3".encode()], [b"a2"])
        assert sess.run(several[1]).tolist() == [b"b1", b"b2"]
        assert sess.run(counts) == [4, 1]
        sess.run(reset)
        assert sess.run(counts) == [0, 0]
        assert sess.run(record[1]) == b"c1"
        assert sess.run(record[1]) == b"c2"
        with pytest.raises(errors.OutOfRangeError, match="insufficient elements"):
            sess.raw_session().run(record)


def test_whole_files_and_the_state_of_their_reader(files):
    reader = v1.WholeFileReader()
    record, state = reader.read(work(files)), reader.serialize_state()
    restore, produced = reader.restore_state(b"\x08\x05\x10\x05\x18\x05"), reader.num_records_produced()
    assert reader.supports_serialize and isinstance(reader, v1.ReaderBase)
    with train.MonitoredSession() as sess:
        assert sess.run(record) == [files[0].encode(), b"a0\r\na1\r\na2\r\n"]
        assert sess.run(state) == b"\x08\x01\x10\x01\x18\x01\x22" + bytes([len(files[0])]) + files[0].encode()
        sess.run(restore)
        assert sess.run(produced) == 5


def test_records_of_one_length(files):
    key, value = v1.FixedLengthRecordReader(2, header_bytes=1, footer_bytes=1, hop_bytes=4).read(work(files[:1]))
    assert everything([key, value]) == [
        [f"{files[0]}:{i}".encode(), text] for i, text in enumerate([b"0\r", b"1\r", b"2\r"])
    ]


def test_tf_records(tmp_path):
    path = str(tmp_path / "records")
    for kind in ("", "GZIP"):
        with tf.io.TFRecordWriter(path, kind) as writer:
            writer.write(b"first")
            writer.write(b"second")
        options = tf.io.TFRecordOptions(kind)
        with tf.Graph().as_default():
            found = everything(v1.TFRecordReader(options=options).read(work([path])))
        assert found == [[f"{path}:0".encode(), b"first"], [f"{path}:21".encode(), b"second"]]


def test_the_work_itself():
    assert everything(v1.IdentityReader().read(work(["x", "y"]))) == [[b"x", b"x"], [b"y", b"y"]]


def test_readers_refuse(files):
    with v1.Session() as sess:
        queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])
        sess.run(queue.enqueue(1))
        with pytest.raises(errors.InvalidArgumentError, match="one string component"):
            sess.run(v1.TextLineReader().read(queue))
        with pytest.raises(errors.UnimplementedError, match="SerializeState"):
            sess.run(v1.TextLineReader().serialize_state())
        with pytest.raises(errors.InvalidArgumentError, match="Could not parse state"):
            sess.run(v1.IdentityReader().restore_state(b"\x08"))
        missing = tf.queue.FIFOQueue(5, tf.string, shapes=[[]])
        sess.run(missing.enqueue("/nowhere/at/all"))
        with pytest.raises(errors.NotFoundError):
            sess.run(v1.TextLineReader().read(missing))


def test_graphs_of_inputs_can_be_imported(graph, files):
    v1.TextLineReader(name="reader").read(work(files), name="read")
    init = v1.local_variables_initializer().name
    definition = graph.as_graph_def()
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.import_graph_def(definition, name="")
        sess.run(init)
        sess.run("input_producer/input_producer_EnqueueMany")
        assert sess.run("read:1") == b"a0"
        with pytest.raises(errors.OutOfRangeError):
            sess.run("input_producer/input_producer_EnqueueMany")


# ---- eagerly ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: train.batch([1], 2), ValueError),
        (lambda: train.shuffle_batch([1], 2, 3, 1), ValueError),
        (lambda: train.string_input_producer(["a"]), RuntimeError),
        (lambda: train.range_input_producer(3), RuntimeError),
        (lambda: train.start_queue_runners(), RuntimeError),
        (lambda: train.QueueRunner(1, [1]), RuntimeError),
        (lambda: train.Supervisor(), RuntimeError),
        (lambda: v1.TextLineReader(), RuntimeError),
    ],
)
def test_eager_mode_has_tf_data_for_this(make, kind):
    from tapeflow.graph.ir.python_op import executing_eagerly

    with executing_eagerly(), pytest.raises(kind, match="eager"):
        make()
    assert train.limit_epochs(1) == 1


def test_meta_graphs_keep_queue_runners_and_parts(tmp_path):
    v = v1.get_variable("v", [3, 2], partitioner=v1.fixed_size_partitioner(2), initializer=v1.zeros_initializer())
    train.batch([numbers(5)], 2, name="batch")
    with v1.Session() as sess:
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        sess.run(v.assign(tf.reshape(tf.range(6.0), [3, 2])))
        path = train.Saver().save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), v1.Session() as sess:
        train.import_meta_graph(f"{path}.meta").restore(sess, path)
        assert [p.tolist() for p in sess.run(v1.global_variables())] == [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
        assert [p._save_slice_info.spec for p in v1.global_variables()] == ["3 2 0,2:0,2", "3 2 2,1:0,2"]
        sess.run(v1.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = train.start_queue_runners(sess, coordinator)
        assert [sess.run("batch:0").tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        coordinator.request_stop()
        coordinator.join(threads)
        assert tf.train.list_variables(train.Saver().save(sess, str(tmp_path / "again"))) == [("v", [3, 2])]
