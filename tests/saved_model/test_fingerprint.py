"""`tf.saved_model.experimental.Fingerprint`."""

import pathlib

import pytest

import tapeflow as tf
from tapeflow.core.protos import FingerprintDef
from tapeflow.saved_model.fingerprint import write_fingerprint
from tapeflow.saved_model.messages import read_model

experimental = tf.saved_model.experimental
FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"


def test_a_fingerprint_of_tensorflow_is_read(tmp_path):
    proto = FingerprintDef(
        saved_model_checksum=8294752845350905077, graph_def_program_hash=3009048282614585446,
        signature_def_hash=12089566276354592893, checkpoint_hash=12346269275790365209, uuid="u",
    )  # fmt: skip
    (tmp_path / "fingerprint.pb").write_bytes(proto.SerializeToString())
    read = experimental.read_fingerprint(tmp_path)
    assert read.singleprint() == "3009048282614585446/12089566276354592893/0/12346269275790365209"
    assert read == proto and read == experimental.Fingerprint.from_proto(proto) and read != experimental.Fingerprint()
    assert str(read).splitlines()[1] == "  saved_model_checksum: 8294752845350905077"


def test_what_is_no_fingerprint_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="Could not find fingerprint in directory"):
        experimental.read_fingerprint(tmp_path)
    with pytest.raises(ValueError, match="could not be deserialized"):
        experimental.Fingerprint.from_proto(b"\xff")
    with pytest.raises(ValueError, match="invalid fingerprint values"):
        experimental.Fingerprint().singleprint()


class _Scale(tf.Module):
    def __init__(self, factor):
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return x * self.factor

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def twice(self, x):
        return self(self(x))


@pytest.mark.parametrize("skip", [False, True])
def test_a_saved_model_has_the_files_of_tensorflow(tmp_path, skip):
    options = tf.saved_model.SaveOptions(experimental_skip_saver=skip)
    tf.saved_model.save(_Scale(2.0), str(tmp_path), options=options)
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert files == [
        "assets", "fingerprint.pb", "saved_model.pb", "variables", "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]  # fmt: skip
    assert tf.saved_model.load(str(tmp_path)).twice([1.0]).numpy() == [4.0]


def test_hashes_tell_values_and_programs_apart(tmp_path):
    def saved(name, model, function):
        tf.saved_model.save(model, str(tmp_path / name), signatures=function)
        return experimental.read_fingerprint(str(tmp_path / name))

    one, again, two = _Scale(2.0), _Scale(2.0), _Scale(3.0)
    first, values = saved("first", one, one.__call__), saved("values", two, two.__call__)
    signature = saved("signature", one, one.twice)
    assert first.singleprint() == saved("again", again, again.__call__).singleprint()
    assert first.checkpoint_hash != values.checkpoint_hash
    assert (first.graph_def_program_hash, first.signature_def_hash) == (
        values.graph_def_program_hash, values.signature_def_hash,
    )  # fmt: skip
    assert first.checkpoint_hash == signature.checkpoint_hash and first.singleprint() != signature.singleprint()


@pytest.mark.parametrize("name", ["pipelines", "old_versions/ds_in_function", "old_versions/loop_of_variable"])
def test_the_hashes_are_those_of_tensorflow(tmp_path, name):
    folder = FIXTURES / name
    (meta,) = read_model(str(folder))
    index = folder / "variables" / "variables.index"
    write_fingerprint(str(tmp_path), b"", index.read_bytes() if index.exists() else b"", meta)
    ours, theirs = experimental.read_fingerprint(str(tmp_path)), experimental.read_fingerprint(str(folder))
    assert ours.graph_def_program_hash == theirs.graph_def_program_hash
    assert ours.signature_def_hash == theirs.signature_def_hash
    assert ours.saved_object_graph_hash == theirs.saved_object_graph_hash
