"""Ops and functions of files. Expected values are TensorFlow's."""

import gzip
import zlib

import pytest

import tapeflow as tf


def test_files_are_written_and_read(tmp_path):
    path = str(tmp_path / "a" / "b" / "file")
    assert tf.io.write_file(path, b"one\xff") is None
    assert tf.io.read_file(path).numpy() == b"one\xff"
    tf.io.write_file(path, "two")
    assert tf.io.read_file(tf.constant(path)).numpy() == b"two"

    @tf.function
    def inside(name):
        tf.io.write_file(name, tf.strings.upper(tf.io.read_file(name)))

    inside(tf.constant(path))
    assert tf.io.read_file(path).numpy() == b"TWO"
    for wrong in ([path], [[path]]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.read_file(wrong)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.write_file(wrong, "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Contents tensor must be scalar"):
        tf.io.write_file(path, ["x"])
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.read_file(str(tmp_path / "missing"))


def test_patterns(tmp_path):
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).touch()

    def found(*patterns):
        matches = tf.io.matching_files(list(patterns) if len(patterns) > 1 else patterns[0])
        return [m.decode().rpartition("/")[2] for m in matches.numpy()]

    assert found(f"{tmp_path}/*.txt") == ["a.txt", "b.txt"]
    assert found(f"{tmp_path}/c*", f"{tmp_path}/[ab].*") == ["a.txt", "b.txt", "c.bin"]
    assert tf.io.matching_files(f"{tmp_path}/none*").shape == [0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="tensor must be scalar or vector"):
        tf.io.matching_files([["a"]])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        names = tf.io.match_filenames_once(f"{tmp_path}/*.bin", name="names")
        session.run(tf.compat.v1.local_variables_initializer())
        (tmp_path / "d.bin").touch()
        assert [n.decode().rpartition("/")[2] for n in session.run(names)] == ["c.bin"]
        assert tf.compat.v1.local_variables() == [names]
        assert tf.compat.v1.global_variables() == []


def test_files_of_gfile(tmp_path):
    path = str(tmp_path / "file")
    with tf.io.gfile.GFile(path, "w") as file:
        assert (file.name, file.mode, file.seekable()) == (path, "w", True)
        file.write("one\ntwo\n")
    with tf.io.gfile.GFile(path) as file:
        assert (file.mode, file.size()) == ("r", 8)
        assert file.readline() == "one\n"
        assert file.tell() == 4
        file.seek(1)
        assert file.read(2) == "ne"
        assert file.readlines() == ["\n", "two\n"]
    with tf.io.gfile.GFile(path, "ab") as file:
        file.write(b"\xff")
    with tf.io.gfile.GFile(path, "rb") as file:
        assert list(file) == [b"one\n", b"two\n", b"\xff"]
    with pytest.raises(tf.errors.PermissionDeniedError), tf.io.gfile.GFile(path) as file:
        file.write("x")
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.GFile(str(tmp_path / "missing")).read()


def test_folders_of_gfile(tmp_path):
    gfile = tf.io.gfile
    gfile.makedirs(str(tmp_path / "a" / "b"))
    (tmp_path / "a" / "f").write_text("x")
    (tmp_path / "a" / "b" / "g").write_text("y")
    found = [(d.removeprefix(str(tmp_path)), sorted(s), sorted(f)) for d, s, f in gfile.walk(str(tmp_path / "a"))]
    assert found == [("/a", ["b"], ["f"]), ("/a/b", [], ["g"])]
    upward = [d.removeprefix(str(tmp_path)) for d, _, _ in gfile.walk(str(tmp_path / "a"), topdown=False)]
    assert upward == ["/a/b", "/a"]
    errors = []
    assert list(gfile.walk(str(tmp_path / "missing"), onerror=errors.append)) == []
    assert [type(e) for e in errors] == [tf.errors.NotFoundError]
    assert list(gfile.walk(str(tmp_path / "missing"))) == []
    assert sorted(gfile.listdir(str(tmp_path / "a"))) in (["b", "f"], ["b/", "f"])
    gfile.copy(str(tmp_path / "a" / "f"), str(tmp_path / "h"))
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(str(tmp_path / "a" / "b" / "g"), str(tmp_path / "h"))
    gfile.copy(str(tmp_path / "a" / "b" / "g"), str(tmp_path / "h"), overwrite=True)
    assert (tmp_path / "h").read_text() == "y"
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename(str(tmp_path / "a" / "f"), str(tmp_path / "h"))
    gfile.rename(str(tmp_path / "a" / "f"), str(tmp_path / "h"), overwrite=True)
    assert (tmp_path / "h").read_text() == "x"
    assert (gfile.exists(str(tmp_path / "a")), gfile.isdir(str(tmp_path / "h"))) == (True, False)
    gfile.rmtree(str(tmp_path / "a"))
    assert gfile.glob(str(tmp_path / "*")) == [str(tmp_path / "h")]
    gfile.remove(str(tmp_path / "h"))
    assert gfile.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records(tmp_path, kind):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(kind)) as writer:
        writer.write(b"one")
        writer.flush()
        writer.write(b"")
        writer.write(b"x" * 70_000)
    records = [b"one", b"", b"x" * 70_000]
    assert [r.numpy() for r in tf.data.TFRecordDataset(path, kind)] == records
    assert list(tf.compat.v1.io.tf_record_iterator(path, tf.io.TFRecordOptions(kind))) == records
    with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write(b"x")
    with pytest.raises(TypeError), tf.io.TFRecordWriter(path) as writer:
        writer.write(3)


def test_compressed_strings():
    texts = [b"one", b"", b"x" * 1000]
    assert tf.io.decode_compressed([zlib.compress(t) for t in texts], "ZLIB").numpy().tolist() == texts
    assert tf.io.decode_compressed([gzip.compress(t) for t in texts], "GZIP").numpy().tolist() == texts
    assert tf.io.decode_compressed([[b"a"]]).numpy().tolist() == [[b"a"]]
