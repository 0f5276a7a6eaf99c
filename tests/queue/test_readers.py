"""Readers in sessions; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def queue_of(session, *works):
    queue = tf.queue.FIFOQueue(10, tf.string, [[]])
    session.run(queue.enqueue_many([list(works)]))
    session.run(queue.close())
    return queue


def all_records(session, read):
    found = []
    while True:
        try:
            found.append(tuple(session.run(read)))
        except tf.errors.OutOfRangeError:
            return found


def test_lines(session, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"head\none\r\ntwo")
    b.write_bytes(b"head\n\nx\n")
    reader = v1.TextLineReader(skip_header_lines=1)
    found = all_records(session, reader.read(queue_of(session, str(a), str(b))))
    names = [str(p).encode() for p in (a, a, b, b)]
    assert found == list(zip([n + e for n, e in zip(names, (b":2", b":3", b":2", b":3"), strict=True)],
                             [b"one", b"two", b"", b"x"], strict=True))  # fmt: skip
    counts = session.run([reader.num_records_produced(), reader.num_work_units_completed()])
    assert counts == [4, 2]


def test_several_records_are_of_one_piece_of_work(session, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1\n2\n3\n")
    b.write_text("4\n")
    reader = v1.TextLineReader()
    read = reader.read_up_to(queue_of(session, str(a), str(b)), 2)
    found = all_records(session, read)
    assert [values.tolist() for _, values in found] == [[b"1", b"2"], [b"3"], [b"4"]]
    assert found[1][0].tolist() == [f"{a}:3".encode()]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"record_bytes": 3}, [b"HHa", b"bcd", b"efg"]),
        ({"record_bytes": 3, "header_bytes": 2}, [b"abc", b"def"]),
        ({"record_bytes": 3, "header_bytes": 2, "footer_bytes": 2}, [b"abc", b"def"]),
        ({"record_bytes": 3, "header_bytes": 2, "hop_bytes": 2}, [b"abc", b"cde", b"efg"]),
        ({"record_bytes": 3, "header_bytes": 2, "hop_bytes": 1, "footer_bytes": 3}, [b"abc", b"bcd", b"cde"]),
    ],
)
def test_records_of_one_length(session, tmp_path, options, expected):
    path = tmp_path / "a"
    path.write_bytes(b"HHabcdefgh"[: 10 if "footer_bytes" in options else 9])
    reader = v1.FixedLengthRecordReader(**options)
    found = all_records(session, reader.read(queue_of(session, str(path))))
    assert [value for _, value in found] == expected
    assert [key for key, _ in found] == [f"{path}:{i}".encode() for i in range(len(expected))]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_tf_records(session, tmp_path, compression):
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path, compression) as writer:
        for record in (b"", b"abc", b"de"):
            writer.write(record)
    kind = v1.python_io.TFRecordCompressionType.GZIP if compression else v1.python_io.TFRecordCompressionType.NONE
    reader = v1.TFRecordReader(options=v1.python_io.TFRecordOptions(kind))
    found = all_records(session, reader.read(queue_of(session, path)))
    assert [value for _, value in found] == [b"", b"abc", b"de"]
    if not compression:
        assert [key for key, _ in found] == [f"{path}:{offset}".encode() for offset in (0, 16, 35)]


def test_whole_files_and_their_state(session, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"all\nof it")
    reader = v1.WholeFileReader()
    queue = queue_of(session, str(path), str(path))
    read, state = reader.read(queue), reader.serialize_state()
    assert reader.supports_serialize is True
    assert session.run(read) == [str(path).encode(), b"all\nof it"]
    saved = session.run(state)
    assert session.run(read)[1] == b"all\nof it"
    counts = reader.num_records_produced(), reader.num_work_units_completed()
    assert session.run(counts) == (2, 2)
    session.run(reader.restore_state(saved))
    assert session.run(counts) == (1, 1)
    session.run(reader.reset())
    assert session.run(counts) == (0, 0)


def test_the_work_itself(session):
    reader = v1.IdentityReader()
    read = reader.read_up_to(queue_of(session, "x", "y"), 5)
    assert [[t.tolist() for t in found] for found in all_records(session, read)] == [[[b"x"], [b"x"]], [[b"y"], [b"y"]]]
    assert session.run(reader.num_work_units_completed()) == 2


def test_what_readers_refuse(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state for"):
        session.run(v1.IdentityReader().restore_state(b"no message"))
    with pytest.raises(tf.errors.UnimplementedError, match="Reader SerializeState"):
        session.run(v1.TextLineReader().serialize_state())
    with pytest.raises(tf.errors.UnimplementedError, match="Reader RestoreState"):
        session.run(v1.TextLineReader().restore_state(b""))
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(v1.IdentityReader().read(tf.queue.FIFOQueue(3, tf.int32, [[]])))


def test_readers_of_a_shared_name(session):
    queue = queue_of(session, "x", "y")
    reader = v1.IdentityReader("first")
    session.run(reader.read(queue))
    assert session.run(reader.num_records_produced()) == 1
    assert session.run(v1.IdentityReader("second").num_records_produced()) == 0
