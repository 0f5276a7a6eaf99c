"""What needs TensorFlow's own binaries can be imported, and says so when it is used."""

import pytest

import tapeflow as tf
from tapeflow.core import unsupported


@pytest.mark.parametrize("path", sorted(unsupported._unsupported_names()))
def test_names_are_there_and_refuse_to_work(path):
    value = tf
    for name in path.split("."):
        value = getattr(value, name)
    if isinstance(unsupported._unsupported_names()[path], dict):
        assert {m.name: m.value for m in value} == unsupported._unsupported_names()[path]
        return
    with pytest.raises(NotImplementedError, match=rf"tf\.{path} needs TensorFlow's own binaries"):
        value()


def test_members_of_classes_refuse_to_work():
    with pytest.raises(NotImplementedError, match="QuantizationDebugger"):
        tf.lite.experimental.QuantizationDebugger(None)
    assert not isinstance(tf.constant(1), tf.lite.experimental.QuantizationDebugger)
    assert type("Config", (tf.tpu.experimental.embedding.TableConfig,), {}).__mro__[1].__name__ == "TableConfig"


def test_enumerations_inside_of_classes_are_there():
    assert tf.tpu.experimental.HardwareFeature.EmbeddingFeature.V1.name == "V1"


def test_other_names_are_no_attributes():
    for namespace in (tf.tpu, tf.lite.experimental, tf.io, tf.experimental):
        with pytest.raises(AttributeError, match="nothing_of_the_kind"):
            _ = namespace.nothing_of_the_kind


def test_namespaces_can_be_imported():
    tf.install_as_tensorflow()
    from tensorflow.lite.experimental import QuantizationDebugger
    from tensorflow.tpu.experimental import embedding

    assert (QuantizationDebugger.__name__, embedding.Adam.__name__) == ("QuantizationDebugger", "Adam")


def test_libraries_of_ops_are_not_found(tmp_path):
    missing, there = str(tmp_path / "missing.so"), tmp_path / "there.so"
    there.write_bytes(b"no library")
    with pytest.raises(tf.errors.NotFoundError, match=r"missing\.so: cannot open shared object file: No such file"):
        tf.load_op_library(missing)
    with pytest.raises(FileNotFoundError, match="to load kernel libraries from does not exist"):
        tf.load_library(missing)
    for load in (tf.load_op_library, tf.load_library, tf.compat.v1.load_op_library):
        with pytest.raises(tf.errors.NotFoundError, match="need TensorFlow's own binaries"):
            load(there)
