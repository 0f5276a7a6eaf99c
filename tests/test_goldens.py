"""TapeFlow against what TensorFlow gave for the cases in `goldens/`."""

import functools
import itertools
import json
import shutil

import pytest

import tapeflow as tf
from goldens import result
from goldens.case import Case, group_names, load, record_path

# Cases whose results differ on purpose, with the reasons. The page "Moving from TensorFlow" shows them.
DELIBERATELY_DIFFERENT = {
    "gradients/grad(tf.math.is_nan, [1.5, 3.0])": "an op without a gradient gives None",
    "gradients/grad(lambda x: tf.bitcast(x, tf.int32), x)": "an op without a gradient gives None",
    "reductions/tf.reduce_sum(tf.constant([[60000.], [60000.], [-60000.]], tf.float16), 0)": "summed in float32",
    "reports_autograph/return from inside a loop": "AutoGraph here converts every `return`",
    "reports_autograph/while True with break": "AutoGraph here takes the condition of `break` for the loop's",
    "reports_autograph/assert in a function": "AutoGraph here converts `assert`",
    "reports_pipelines/flat_map that gives a tensor": "the error names the mistake, TensorFlow's fails itself",
    "reports_values/a float tensor as a list index": "Python's own error",
    "reports_values/a list of tensors and numbers": "`tf.constant` stacks tensors, as `tf.convert_to_tensor` does",
    "reports_texts_images_files/a folder for a checkpoint": "a folder stands for its latest checkpoint",
    "reports_more/the gradient of a STFT with a shorter transform": "the gradient has the signal's shape",
    "reports_more/memory of a device that is a CPU": "zeros: the memory of a CPU is not counted",
    "reports_keras/weights saved with a wrong name": "Keras writes TensorFlow's checkpoints, too",
    "reports_keras/a tf.Variable as an attribute of a layer": "a `tf.Variable` is a weight, as in Keras 2",
}

CASES = {f"{name}/{title}": (name, case) for name in group_names() for title, case in load(name).cases.items()}


@functools.cache
def record(name: str) -> dict:
    path = record_path(name)
    return json.loads(path.read_text())["cases"] if path.exists() else {}


def expected(name: str, case: Case) -> dict:
    entry = record(name).get(case.title, {})
    if entry.get("hash") != case.hash:
        pytest.fail(f"the record is out of date: run `python scripts/record.py goldens --group {name}`", pytrace=False)
    return entry


def param(title: str, name: str, case: Case):
    marks = []
    if title in DELIBERATELY_DIFFERENT:
        marks = [pytest.mark.xfail(reason=DELIBERATELY_DIFFERENT[title], strict=True)]
    return pytest.param(name, case, id=title, marks=marks)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("goldens")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture
def folder(folders):
    """A new folder, in a tenth of the time of `tmp_path`."""
    path = next(folders)
    path.mkdir()
    yield str(path)
    shutil.rmtree(path)


@pytest.mark.parametrize(("name", "case"), [param(title, *pair) for title, pair in CASES.items()])
def test_golden(name, case, folder):
    entry = expected(name, case)
    if case.raises:
        with pytest.raises(Exception) as caught:
            case.run(tf, folder)
        assert type(caught.value).__name__ == entry["error"], str(caught.value)
        if case.message:
            assert result.first_line(caught.value, folder) == entry["message"]
        return
    difference = result.difference(entry["result"], result.encode(case.run(tf, folder), tf), case)
    if difference:
        pytest.fail(f"{case.source}\n{difference}", pytrace=False)


@pytest.mark.parametrize("name", group_names())
def test_nothing_is_recorded_that_no_case_asks_for(name):
    assert set(record(name)) <= set(load(name).cases)
