"""Pipelines in graphs are TensorFlow's own operations, in SavedModels of both.

`scripts/record.py pipelines` recorded `fixtures/pipelines` with TensorFlow 2.21, and the results there.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import op_def
from tapeflow.saved_model.messages import read_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "scripts" / "record.py"
RECORDED = ROOT / "tests" / "fixtures" / "pipelines"
Dataset = tf.data.Dataset
RESULTS = {
    "slices": [109, 103, 106],
    "range": [203, 206, 209, 212, 204, 206, 208],
    "map": [103, 106, 109, 112],
    "filter": [100, 103, 106, 109, 112, 115, 118],
    "interleave": [
        100, 100, 101, 100, 101, 102, 100, 101, 102, 103, 100, 101, 100, 101, 102, 103, 102, 103, 104, 104,
    ],
    "shuffle": [102, 106, 109, 108, 105, 105, 101, 104, 107, 106],
    "batch": [303, 312],
    "padded_batch": [200, 612, 416],
    "prefetch": (1, True),
    "reduce": (45, 8),
    "records": ([100, 101, 102, 103], 1),
    "windows": ([201, 204, 207, 209, 212], [202, 204, 210, 105]),
    "ragged": ([[[0], [0]]], [[1, 0], [0, 2]]),
    "look_up": (119, -2),
    "tracked": ([418, 227], 45),
}  # fmt: skip


def plain(result):
    return tf.nest.map_structure(lambda t: t.numpy().tolist(), result)


@pytest.fixture(scope="module")
def program():
    """The script's functions, run by TapeFlow."""
    spec = importlib.util.spec_from_file_location("pipelines", RECORD.parent / "recording" / "pipelines.py")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get("tensorflow")
    sys.modules["tensorflow"] = tf
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop("tensorflow")
        sys.modules.update({} if before is None else {"tensorflow": before})
    return module


@pytest.fixture(scope="module")
def arguments(program, tmp_path_factory):
    return program.arguments(str(tmp_path_factory.mktemp("records")))


@pytest.fixture(scope="module")
def saved(program, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("pipelines"))
    tf.random.set_seed(None)
    program.main(folder)
    return folder


@pytest.fixture(scope="module")
def models(program, saved):
    return {"own": program.Pipelines(), "saved": tf.saved_model.load(saved),
            "tensorflow's": tf.saved_model.load(str(RECORDED))}  # fmt: skip


@pytest.mark.parametrize("model", ["own", "saved", "tensorflow's"])
@pytest.mark.parametrize("name", RESULTS)
def test_elements_are_tensorflows(models, arguments, model, name):
    assert plain(getattr(models[model], name)(*arguments[name])) == RESULTS[name]


@pytest.mark.tensorflow
def test_tensorflow_runs_ours(saved):
    done = subprocess.run(
        [sys.executable, str(RECORD), "pipelines", saved, "run"], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(RESULTS))


def dataset_nodes(path):
    graph = read_model(str(path))[0].graph_def
    nodes = [n for f in graph.library.function for n in f.node_def]
    return [n for n in nodes if "Dataset" in n.op or "Iterator" in n.op or "PyFunc" in n.op]


def test_nodes_are_those_of_tensorflow(saved):
    """Each node has an op that TensorFlow registers, with as many inputs, and the attrs that the op requires."""
    own = dataset_nodes(saved)
    recorded = {n.op for n in dataset_nodes(RECORDED)}
    assert recorded - {n.op for n in own} == {"RewriteDataset"}  # which has no effect here
    for node in own:
        definition = op_def.get(node.op)
        lists = any(a.is_list for a in definition.inputs)
        inputs = [i for i in node.input if not i.startswith("^")]
        assert lists or len(inputs) == len(definition.inputs), node
        required = {a.name for a in definition.attrs.values() if not a.has_default}
        assert required <= set(node.attr), node


def test_a_tracked_dataset_may_capture_a_variable(tmp_path):
    class Scaled(tf.Module):
        def __init__(self):
            self.scale = tf.Variable(3, dtype=tf.int64)
            self.numbers = Dataset.range(3).map(lambda x: x * self.scale)

        @tf.function(input_signature=[])
        def total(self):
            return self.numbers.reduce(np.int64(0), lambda s, x: s + x)

    tf.saved_model.save(Scaled(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert int(loaded.total()) == 9


def test_an_untracked_dataset_is_refused(tmp_path):
    module, kept = tf.Module(), Dataset.range(3).map(lambda x: x + 1)
    module.total = tf.function(lambda: kept.reduce(np.int64(0), lambda s, x: s + x), input_signature=[])
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(module, str(tmp_path))


def test_a_graph_creates_its_datasets_anew():
    @tf.function
    def order():
        return [next(iterator) for iterator in [iter(Dataset.range(100).shuffle(100, seed=3))] for _ in range(5)]

    assert plain(order()) == plain(order())
    kept = Dataset.range(100).shuffle(100, seed=3)
    again = tf.function(lambda: next(iter(kept.batch(5))))
    assert plain(again()) != plain(again())  # this one exists outside of the graph, and is shuffled each time anew


def test_arguments_that_are_tensors():
    @tf.function
    def counts(n):
        flags = Dataset.range(n).batch(n // 2, drop_remainder=n > 5).take(n).skip(n - n).repeat(n - n + 2)
        windows = Dataset.range(n).window(n - 2, shift=n - 1, stride=n - n + 1).flat_map(lambda w: w.batch(n))
        shapes = Dataset.from_tensors(tf.ones([2], tf.int64)).padded_batch(1, padded_shapes=[n])
        return [d.reduce(np.int64(0), lambda s, x: s + tf.size(x, tf.int64)) for d in (flags, windows, shapes)]

    assert plain(counts(tf.constant(5, tf.int64))) == [10, 4, 5]
    assert plain(counts(tf.constant(7, tf.int64))) == [12, 6, 7]


def test_datasets_and_iterators_pass_the_borders_of_functions():
    @tf.function
    def doubled(dataset):
        return dataset.map(lambda e: {"x": e["x"] * 2, "r": e["r"]})

    source = Dataset.from_tensor_slices({"x": [1, 2], "r": tf.ragged.constant([[1], [2, 3]])})
    result = doubled(source)
    assert result.element_spec["x"] == source.element_spec["x"]
    assert [(int(e["x"]), e["r"].to_list() if hasattr(e["r"], "to_list") else e["r"].numpy().tolist())
            for e in result] == [(2, [1]), (4, [2, 3])]  # fmt: skip

    @tf.function
    def first(iterator):
        return next(iterator)["x"], iterator.get_next_as_optional().has_value()

    iterator = iter(source)
    assert plain(first(iterator)) == (1, True)
    assert plain(first(iter(result))) == (2, True)


def test_results_of_datasets_in_graphs():
    @tf.function
    def results(n):
        numbers = Dataset.range(n)
        return numbers.cardinality(), numbers.take(1).get_single_element(), tf.data.experimental.at(numbers, n - 1)

    assert plain(results(tf.constant(4, tf.int64))) == (4, 0, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="was empty"):
        tf.function(lambda n: Dataset.range(n).get_single_element())(tf.constant(0, tf.int64))
