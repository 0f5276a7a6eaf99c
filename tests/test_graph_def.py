"""Graphs between TensorFlow and TapeFlow: those of `graph_programs.py`, as TensorFlow wrote them and as TapeFlow
does."""

import json
import pathlib
import subprocess
import sys

import pytest

import tapeflow as tf
from graph_files import difference, encoded, read, run, write
from graph_programs import PROGRAMS

v1 = tf.compat.v1
HOME = pathlib.Path(__file__).parent / "data" / "graph_defs"
SCRIPT = pathlib.Path(__file__).parents[1] / "scripts" / "record_graph_defs.py"
EXPECTED = json.loads((HOME / "expected.json").read_text())


# ---- whole graphs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED)
def test_runs_what_tensorflow_wrote(name):
    entry = EXPECTED[name]
    assert not difference(entry["values"], [encoded(v) for v in run(tf, read(tf, HOME / f"{name}.pb"), entry)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_tensorflow_gave(name, tmp_path):
    """The program built here gives the same, and so does its GraphDef, imported again."""
    entry = write(tf, PROGRAMS[name], tmp_path / "graph.pb")
    assert not difference(EXPECTED[name]["values"], entry["values"])
    assert not difference(entry["values"], [encoded(v) for v in run(tf, read(tf, tmp_path / "graph.pb"), entry)])


@pytest.mark.tensorflow
def test_tensorflow_runs_ours(tmp_path):
    entries = {name: write(tf, build, tmp_path / f"{name}.pb") for name, build in PROGRAMS.items()}
    (tmp_path / "expected.json").write_text(json.dumps(entries))
    subprocess.run([sys.executable, str(SCRIPT), "check", str(tmp_path)], check=True)
