"""`tf.saved_model.experimental.Fingerprint`."""

import pytest

import tapeflow as tf
from tapeflow.core.protos import FingerprintDef

experimental = tf.saved_model.experimental


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
