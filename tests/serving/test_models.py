"""Models and their versions: folders, attempts to load, states, labels and metadata."""

import logging
import shutil

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.strings import StringArray
from tapeflow.serving.configs import ModelConfig, VersionPolicy
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.models import LoadRetries, ModelManager, Servable

ALL = VersionPolicy(None)


class Model(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def scaled(self, x):
        return {"y": x * self.factor}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n"), tf.TensorSpec(None, tf.string, name="s")])
    def single(self, n, s):
        return {"n": tf.debugging.check_numerics(1.0 / tf.cast(n, tf.float32), "inverse"), "s": tf.strings.upper(s)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Folders of saved models, by their factors."""
    folders = {}
    for factor in (2.0, 3.0):
        folders[factor] = tmp_path_factory.mktemp("model") / "saved"
        model = Model(factor)
        tf.saved_model.save(model, folders[factor], signatures={"a": model.scaled, "b": model.single})
    return folders


@pytest.fixture
def folder(saved, tmp_path):
    for number, factor in ((1, 2.0), (4, 3.0)):
        shutil.copytree(saved[factor], tmp_path / str(number))
    return tmp_path


def factor_of(version):
    return float(version.signature("a").run({"x": np.ones([1, 2], np.float32)})["y"][0, 0])


@pytest.mark.parametrize(("policy", "numbers"), [
    (VersionPolicy(), [4]), (ALL, [1, 4]), (VersionPolicy(2), [1, 4]), (VersionPolicy(1, (1,)), [1]),
    (VersionPolicy(1, (1, 9)), [1]),
])  # fmt: skip
def test_versions_that_a_policy_chooses(folder, policy, numbers):
    model = Servable("m", folder, policy)
    assert sorted(model.versions) == numbers
    assert factor_of(model.version()) == (3.0 if 4 in numbers else 2.0)
    assert (model.version(1) is not None) is (1 in numbers) and model.version(7) is None


def test_folders_that_are_no_versions(folder, saved):
    for name in ("x", "²", "1" * 19, "5.0"):
        shutil.copytree(saved[2.0], folder / name)
    (folder / "9").write_text("a file")
    assert sorted(Servable("m", folder, ALL).versions) == [1, 4]
    assert sorted(Servable("m", saved[3.0], ALL).versions) == [1]


@pytest.mark.parametrize(("policy", "message"), [
    (ALL, "holds no SavedModel, and no folders of versions"),
    (VersionPolicy(1, (3, 5)), r"holds no SavedModel, and none of the versions \[3, 5\]"),
])  # fmt: skip
def test_folders_without_a_model(tmp_path, policy, message):
    with pytest.raises(OSError, match=message):
        Servable("m", tmp_path, policy)


def test_labels(folder):
    model = Servable("m", folder, ALL, {"stable": 1, "new": 4})
    assert [model.version(label=name).number for name in ("stable", "new")] == [1, 4]
    assert model.version(4, "stable").number == 1
    with pytest.raises(BadRequest, match="Unrecognized servable version label: old"):
        model.version(label="old")
    with pytest.raises(ValueError, match="Request to assign label to version 1 of model m"):
        Servable("m", folder, labels={"stable": 1})


def test_new_versions_replace_old_ones(folder, saved):
    model = Servable("m", folder)
    before = model.version()
    shutil.copytree(saved[2.0], folder / "5")
    model.refresh()
    assert sorted(model.versions) == [5] and factor_of(model.version()) == 2.0
    shutil.rmtree(folder / "5")
    model.refresh()
    assert sorted(model.versions) == [4] and model.version() is not before
    shutil.rmtree(folder)
    model.refresh()
    assert sorted(model.versions) == [4]


def test_versions_that_can_not_be_loaded_are_tried_again(folder, saved, caplog):
    now = [0.0]
    model = Servable("m", folder, retries=LoadRetries(2, 60.0, lambda: now[0]))
    (folder / "6").mkdir()
    (folder / "6" / "saved_model.pb").write_bytes(b"\xff")

    def messages():
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            model.refresh()
        return [record.getMessage().rpartition(" (")[2].rstrip(")") for record in caplog.records]

    assert messages() == ["2 more attempts"]
    assert model.states() == [
        (6, "END", "UNKNOWN", "Version 6 can't be loaded. The server's log says more."), (4, "AVAILABLE", "OK", ""),
    ]  # fmt: skip
    now[0] = 59.9
    assert messages() == []
    now[0] = 60.0
    assert messages() == ["1 more attempts"]
    now[0] = 120.0
    assert messages() == ["no more attempts until its files change"]
    now[0] = 1000.0
    assert messages() == []
    (folder / "6" / "saved_model.pb").write_bytes(b"\xff\xff")
    assert messages() == ["2 more attempts"]
    shutil.rmtree(folder / "6")
    shutil.copytree(saved[2.0], folder / "6")
    assert messages() == [] and sorted(model.versions) == [6]
    assert model.states() == [(6, "AVAILABLE", "OK", "")]


def test_versions_of_before_are_used_again(folder):
    before = Servable("m", folder)
    assert Servable("m", folder, ALL, before=before).versions[4] is before.versions[4]
    assert Servable("m", folder / "1", before=before).versions[1] is not before.versions.get(1)


def test_signatures_name_what_is_wrong(folder):
    version = Servable("m", folder).version()
    with pytest.raises(BadRequest, match=r"There is no signature 'c': the model has \['a', 'b'\]\."):
        version.signature("c")
    for values, message in (
        ({"n": 1}, r"lacks the input 's': signature 'b' takes \['n', 's'\]"),
        ({"n": 1, "s": "x", "z": 1}, "has 'z', which is no input"),
        ({}, "lacks the input 'n'"),
    ):
        with pytest.raises(BadRequest, match=message):
            version.inputs["b"].arrays(values)
    arrays = version.inputs["b"].arrays({"n": 2, "s": "x"})
    assert arrays["n"].dtype == np.int32
    single = version.signature("b")
    results = single.run({"n": np.int32(2), "s": StringArray.of([b"x"], [1])})
    assert float(results["n"]) == 0.5 and np.asarray(results["s"]).tolist() == [b"X"]
    with pytest.raises(BadRequest, match="inverse") as caught:
        single.run({"n": np.int32(0), "s": StringArray.of([b"x"], [1])})
    assert caught.value.status == 400
    assert version.signature("a").batched and not single.batched


def test_metadata(folder):
    found = Servable("m", folder).version().metadata("m")
    assert found["model_spec"] == {"name": "m", "signature_name": "", "version": "4"}
    signature = found["metadata"]["signature_def"]["signature_def"]["b"]
    assert signature["inputs"] == {
        "n": {"dtype": "DT_INT32", "tensor_shape": {"dim": [], "unknown_rank": False}, "name": "n:0"},
        "s": {"dtype": "DT_STRING", "tensor_shape": {"dim": [], "unknown_rank": True}, "name": "s:0"},
    }
    x = found["metadata"]["signature_def"]["signature_def"]["a"]["inputs"]["x"]
    assert x["tensor_shape"]["dim"] == [{"size": "-1", "name": ""}, {"size": "2", "name": ""}]


def test_managers(folder, saved):
    models = [Servable("m", folder, ALL, {"stable": 1}), Servable("n", saved[2.0])]
    manager = ModelManager(models)
    assert manager.find("m")[1].number == 4 and manager.find("m", 1)[0] is models[0]
    assert manager.find("m", label="stable")[1].number == 1
    assert [s.number for s in manager.states("m")] == [4, 1]
    assert [s.number for s in manager.states("m", 1)] == [s.number for s in manager.states("m", label="stable")] == [1]
    for call, message in (
        (lambda: manager.find("x"), r"Servable not found for request: Latest\(x\)"),
        (lambda: manager.find("m", 7), r"Servable not found for request: Specific\(m, 7\)"),
        (lambda: manager.states("x"), "Could not find any versions of model x"),
        (lambda: manager.states("m", 7), "Could not find version 7 of model m"),
    ):
        with pytest.raises(BadRequest, match=message) as caught:
            call()
        assert caught.value.status == 404
    with pytest.raises(ValueError, match="Two models have the name 'm': name them NAME=PATH"):
        ModelManager([models[1], models[0], Servable("m", saved[2.0])])


def test_managers_reload_all_models_or_none(folder, saved):
    manager = ModelManager([Servable("m", folder, ALL)])
    kept = manager.models["m"].versions[4]
    manager.reload([ModelConfig("m", str(folder)), ModelConfig("n", str(saved[2.0]))])
    assert sorted(manager.models) == ["m", "n"] and manager.models["m"].versions == {4: kept}
    with pytest.raises(OSError):
        manager.reload([ModelConfig("m", str(folder)), ModelConfig("n", str(folder / "nothing"))])
    assert sorted(manager.models) == ["m", "n"]
    shutil.rmtree(folder / "4")
    manager.refresh()
    assert sorted(manager.models["m"].versions) == [1]
