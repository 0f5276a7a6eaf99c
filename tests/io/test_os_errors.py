"""Files that can't be written or read: each way to do it raises TensorFlow's error, recorded from TensorFlow 2.21."""

import errno
import os
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.os_errors import translate_os_errors

NOT_FOUND, PRECONDITION = tf.errors.NotFoundError, tf.errors.FailedPreconditionError
FULL, INVALID, TOO_LARGE = tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError


def _write_records(path, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write(os.urandom(200_000))


def _write_gfile(path, mode="w"):
    with tf.io.gfile.GFile(path, mode) as file:
        file.write("x" * 200_000)


def _write_summary(path):
    with tf.summary.create_file_writer(path).as_default():
        tf.summary.write("tag", np.ones(100_000, np.float32), step=1)


def _model():
    module = tf.Module()
    module.v = tf.Variable(tf.ones([50_000]))
    return module


def _records():
    return tf.data.Dataset.from_tensors(np.ones(100_000, np.float32))


def _write_graph(path):
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(np.arange(10_000.0))
    return tf.io.write_graph(graph, path, "graph.pb", as_text=False)


def _write_profile(path):
    tf.profiler.experimental.start(path)
    tf.ones([2]) + 1.0
    tf.profiler.experimental.stop()


def _save_in_session(path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.Variable(np.ones(30_000, np.float32))
        session.run(variable.initializer)
        tf.compat.v1.train.Saver().save(session, path)


FILES = {
    "write_file": lambda path: tf.io.write_file(path, "x" * 200_000),
    "GFile": _write_gfile,
    "GFile, appended": lambda path: _write_gfile(path, "a"),
    "TFRecordWriter": _write_records,
    "TFRecordWriter, compressed": lambda path: _write_records(path, "GZIP"),
    "DatasetToTFRecord": lambda path: tf.data.experimental.TFRecordWriter(path).write(
        tf.data.Dataset.from_tensors("x" * 200_000)
    ),
    "print": lambda path: tf.print("x" * 200_000, output_stream=f"file://{path}"),
}
FOLDERS = {
    "Checkpoint.write": lambda path: tf.train.Checkpoint(m=_model()).write(path),
    "Checkpoint.save": lambda path: tf.train.Checkpoint(m=_model()).save(path),
    "CheckpointManager": lambda path: tf.train.CheckpointManager(tf.train.Checkpoint(m=_model()), path, 2).save(),
    "SaveV2": lambda path: tf.raw_ops.SaveV2(
        prefix=path, tensor_names=["a"], shape_and_slices=[""], tensors=[tf.ones([50_000])]
    ),
    "Dataset.save": lambda path: _records().save(path),
    "snapshot": lambda path: list(_records().snapshot(path)),
    "saved_model.save": lambda path: tf.saved_model.save(_model(), path),
    "write_graph": _write_graph,
    "summary": _write_summary,
    "profiler": _write_profile,
}
CACHE = {"cache": lambda path: list(_records().cache(path))}
LARGE = {name: way for name, way in {**FILES, **FOLDERS, **CACHE}.items() if name != "profiler"}


def _raises(kind, ways):
    return [pytest.param(way, kind, id=name) for name, way in ways.items()]


@pytest.mark.parametrize(("way", "kind"), _raises(PRECONDITION, {**FILES, **FOLDERS, **CACHE}))
def test_a_file_stands_where_a_folder_has_to_be(way, kind, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(kind, match=r"file(/new\S*; Not a directory| is not a directory)"):
        way(f"{tmp_path}/file/new")
    with pytest.raises(kind):
        way(f"{tmp_path}/file/and/new")


@pytest.mark.parametrize(
    ("way", "kind"), _raises(NOT_FOUND, {n: w for n, w in {**FILES, **CACHE}.items() if n != "write_file"})
)
def test_the_folder_is_missing(way, kind, tmp_path):
    with pytest.raises(kind, match=r"no/new\S*; No such file or directory"):
        way(f"{tmp_path}/no/new")


@pytest.mark.parametrize("way", [FILES["write_file"], *FOLDERS.values()], ids=["write_file", *FOLDERS])
def test_missing_folders_are_created(way, tmp_path):
    way(f"{tmp_path}/no/new")
    assert os.listdir(tmp_path / "no")


@pytest.mark.parametrize(("way", "kind"), _raises(PRECONDITION, FILES))
def test_a_folder_stands_where_a_file_has_to_be(way, kind, tmp_path):
    with pytest.raises(kind, match="; Is a directory"):
        way(str(tmp_path))


@pytest.mark.parametrize("index", ["Checkpoint.write", "SaveV2"])
def test_a_folder_stands_where_a_checkpoint_has_to_be(index, tmp_path):
    (tmp_path / "new.index").mkdir()
    with pytest.raises(PRECONDITION, match=r"new\.index; Is a directory"):
        FOLDERS[index](f"{tmp_path}/new")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")
@pytest.mark.parametrize(("way", "kind"), _raises(FULL, FILES))
def test_the_disk_is_full(way, kind):
    with pytest.raises(kind, match="/dev/full; No space left on device"):
        way("/dev/full")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
@pytest.mark.parametrize(("way", "kind"), _raises(TOO_LARGE, LARGE))
def test_a_write_that_fails_half_way_leaves_nothing_behind(way, kind, tmp_path):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(kind, match="File too large"):
            way(f"{tmp_path}/new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not [path for path in tmp_path.rglob("*") if "tempstate" in path.name]


def test_a_name_is_too_long(tmp_path):
    for way in {**FILES, **FOLDERS, **CACHE}.values():
        with pytest.raises(INVALID, match="; File name too long"):
            way(f"{tmp_path}/{'n' * 300}")


def test_a_path_with_a_zero_byte_is_refused(tmp_path):
    """TensorFlow writes to the path up to the zero byte, which is another file."""
    for way in {**FILES, **FOLDERS, **CACHE}.values():
        with pytest.raises(INVALID, match="zero bytes"):
            way(f"{tmp_path}/a\0b")
    assert not os.listdir(tmp_path)


READERS = {
    "read_file": tf.io.read_file,
    "GFile": lambda path: tf.io.gfile.GFile(path).read(),
    "TFRecordDataset": lambda path: list(tf.data.TFRecordDataset(path)),
    "TextLineDataset": lambda path: list(tf.data.TextLineDataset(path)),
    "FixedLengthRecordDataset": lambda path: list(tf.data.FixedLengthRecordDataset(path, 4)),
    "CsvDataset": lambda path: list(tf.data.experimental.CsvDataset(path, [tf.float32])),
    "TextFileInitializer": lambda path: tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1), -1
    ),
    "summary_iterator": lambda path: list(tf.compat.v1.train.summary_iterator(path)),
    "vocab_file": lambda path: tf.random.fixed_unigram_candidate_sampler(
        np.zeros((1, 1), np.int64), 1, 1, True, 3, vocab_file=path
    ),
}


@pytest.mark.parametrize("way", READERS.values(), ids=READERS)
def test_what_can_not_be_read(way, tmp_path):
    (tmp_path / "file").touch()
    for path, kind in [("none", NOT_FOUND), ("file/none", PRECONDITION), ("n" * 300, INVALID), ("", PRECONDITION)]:
        with pytest.raises(kind, match=rf"{path}/?; "):
            way(f"{tmp_path}/{path}")


def test_a_file_that_fails_goes_quietly_when_nobody_closes_it():
    file = tf.io.gfile.GFile("/dev/full", "w")
    with pytest.raises(FULL):
        file.write("x" * 200_000)
        file.flush()
    file.write("x")
    with pytest.raises(FULL):
        file.close()
    file.close()
    writer = tf.io.TFRecordWriter("/dev/full", "GZIP")
    with pytest.raises(FULL):
        writer.write(os.urandom(100_000))
        writer.flush()
    writer.write(b"x")
    del writer  # pytest fails if an exception is ignored here


def test_the_class_follows_from_the_number():
    kinds = {
        "ENOENT": NOT_FOUND, "ENXIO": NOT_FOUND, "EEXIST": tf.errors.AlreadyExistsError,
        "EACCES": tf.errors.PermissionDeniedError, "EPERM": tf.errors.PermissionDeniedError,
        "EROFS": tf.errors.PermissionDeniedError, "EISDIR": PRECONDITION, "ENOTDIR": PRECONDITION,
        "ENOTEMPTY": PRECONDITION, "EBUSY": PRECONDITION, "EPIPE": PRECONDITION, "ENOSPC": FULL, "EMFILE": FULL,
        "EDQUOT": FULL, "ENOMEM": FULL, "EINVAL": INVALID, "ENAMETOOLONG": INVALID, "EFBIG": TOO_LARGE,
        "EXDEV": tf.errors.UnimplementedError, "EAGAIN": tf.errors.UnavailableError,
        "ETIMEDOUT": tf.errors.DeadlineExceededError, "ESTALE": tf.errors.AbortedError,
        "ELOOP": tf.errors.UnknownError, "EIO": tf.errors.UnknownError,
    }  # fmt: skip
    for name, kind in kinds.items():
        number = getattr(errno, name)
        with pytest.raises(tf.errors.OpError) as caught, translate_os_errors("path"):
            raise OSError(number, os.strerror(number))
        assert type(caught.value) is kind
        assert str(caught.value) == f"path; {os.strerror(number)}"


def test_errors_of_other_code_stay_what_they_are(tmp_path):
    def elements():
        yield 1
        raise FileNotFoundError(errno.ENOENT, "not the cache's", "mine")

    with pytest.raises(FileNotFoundError, match="mine"), translate_os_errors("other"):
        raise FileNotFoundError("mine")
    dataset = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([], tf.int32))
    with pytest.raises(tf.errors.OpError, match="not the cache's"):
        list(dataset.cache(f"{tmp_path}/cache"))


def test_empty_paths():
    tf.io.gfile.makedirs("")
    tf.io.gfile.mkdir("")
    assert not tf.io.gfile.exists("")
    assert not tf.io.gfile.isdir("")
    for call in (tf.io.gfile.listdir, tf.io.gfile.stat, tf.io.gfile.remove, tf.io.gfile.rmtree):
        with pytest.raises(NOT_FOUND):
            call("")


def test_folders_and_files_in_the_way_of_calls_of_gfile(tmp_path):
    (tmp_path / "file").write_text("old")
    file, folder = str(tmp_path / "file"), str(tmp_path)
    tf.io.gfile.mkdir(file)  # TensorFlow looks only whether something is there
    with pytest.raises(PRECONDITION, match="file is not a directory"):
        tf.io.gfile.makedirs(file)
    with pytest.raises(INVALID):
        tf.io.gfile.copy(folder, f"{folder}/copy")
    for move in (tf.io.gfile.copy, tf.io.gfile.rename):
        with pytest.raises(tf.errors.AlreadyExistsError):
            move(f"{folder}/none", file)
        with pytest.raises(NOT_FOUND):
            move(f"{folder}/none", file, overwrite=True)
    assert (tmp_path / "file").read_text() == "old"
