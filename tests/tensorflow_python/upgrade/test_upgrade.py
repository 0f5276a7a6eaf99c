"""`tf_upgrade_v2` changes programs as TensorFlow's does: `scripts/record.py command_line` recorded its output."""

import ast
import functools
import json
import pathlib

import pytest

import tapeflow as tf
from tapeflow.tensorflow_python.upgrade import command
from tapeflow.tensorflow_python.upgrade.programs import upgrade_text, use_compat_v1
from tapeflow.tensorflow_python.upgrade.table import read_table

FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures" / "command_line"


def tree(text):
    """A program's tree, as text, with keyword arguments in alphabetical order."""
    parsed = ast.parse(text)
    for node in ast.walk(parsed):
        if isinstance(node, ast.Call):
            node.keywords.sort(key=lambda keyword: keyword.arg or "")
    return ast.unparse(parsed).splitlines()


@pytest.mark.parametrize("path", sorted((FIXTURES / "programs").glob("*.py")), ids=lambda path: path.stem)
def test_programs_are_those_of_tensorflows_tool(path):
    new, _ = upgrade_text(path.read_text())
    assert tree(new) == tree((FIXTURES / "upgraded" / path.name).read_text())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tf.log(x)  # tf.log(x)", "tf.math.log(x)  # tf.log(x)"),
        ("y = tf.reduce_sum( x ,\n  1, # one\n  True)", "y = tf.reduce_sum( x ,\n  1, # one\n  True)"),
        ("tf.argmax((x), (1), 'n')", "tf.argmax((x), (1), name='n')"),
        ("tf.cond(p, strict=True, fn1 = f, fn2=g)", "tf.cond(p, true_fn = f, false_fn=g)"),
        ("tf.zeros_like(optimize=True)", "tf.zeros_like()"),
        ("tf.to_float(x,)", "tf.cast(x, dtype=tf.float32,)"),
        ("tf.to_float(lambda a, b: (a, b))", "tf.cast(lambda a, b: (a, b), dtype=tf.float32)"),
        ("tf.nn.dropout(x, tf.strings.split(a))", "tf.nn.dropout(x, rate=1 - (tf.strings.split(a).to_sparse()))"),
        ("tf.nn.dropout(x, .5, None, 3)", "tf.nn.dropout(x, rate=1 - (.5), noise_shape=None, seed=3)"),
        ("('ä', tf.log('ß', name='ü'))", "('ä', tf.math.log('ß', name='ü'))"),
        ("(d).make_one_shot_iterator()", "tf.compat.v1.data.make_one_shot_iterator((d))"),
        ("with tf.name_scope(None, 'a', [x]): pass", "with tf.name_scope(name='a'): pass"),
        ("tf.contrib.layers.l2_regularizer(.1)", "tf.keras.regularizers.l2(0.5 * (.1))"),
        ("from tensorflow import losses", "from tensorflow import losses"),
    ],
)
def test_the_rest_of_the_text_stays(old, new):
    text, _ = upgrade_text(f"import tensorflow as tf\n{old}\n")
    assert text == f"import tensorflow as tf\n{new}\n"


def test_safety_mode_only_changes_imports():
    lines = ("import tensorflow as tf, os", "import tensorflow", "from tensorflow import log",
             "from tensorflow.contrib import x", "tf.log(1)")  # fmt: skip
    program = "\n".join(lines)
    assert use_compat_v1(program)[0].splitlines() == [
        "import tensorflow.compat.v1 as tf, os", "import tensorflow.compat.v1 as tensorflow",
        "from tensorflow.compat.v1 import log", "from tensorflow.contrib import x", "tf.log(1)",
    ]  # fmt: skip


def run(monkeypatch, folder, *arguments):
    monkeypatch.setattr("sys.argv", ["tf_upgrade_v2", "--reportfile", str(folder / "report.txt"), *map(str, arguments)])
    with pytest.raises(SystemExit) as exit:
        command.main()
    return exit.value.code


def test_the_command_upgrades_folders(tmp_path, monkeypatch, capsys):
    tree = tmp_path / "old"
    (tree / "pkg").mkdir(parents=True)
    (tree / "pkg" / "a.py").write_text("import tensorflow as tf\ntf.get_variable('v'); tf.contrib.foo.bar\n")
    (tree / "pkg" / "python2.py").write_text("print 'x'\n")
    (tree / "data.txt").write_text("x")
    cells = ["!pip install x\n", "import tensorflow as tf\n", "x = tf.log(1)"], ["%%bash\n", "tf.log"], ["tf.sin(x)"]
    notebook = {"cells": [{"cell_type": "code", "source": source} for source in cells], "nbformat": 4}
    (tmp_path / "n.ipynb").write_text(json.dumps(notebook))
    assert run(monkeypatch, tmp_path, "--intree", tree, "--outtree", tmp_path / "new") == 0
    printed = capsys.readouterr().out
    assert "Converted 2 files\nDetected 3 issues that require attention\n" in printed
    assert "a.py:2:0: WARNING: tf.get_variable requires manual check." in printed
    assert "python2.py:1:0: ERROR: Python 3 can't parse it" in printed
    assert "tf.compat.v1.get_variable" in (tmp_path / "new" / "pkg" / "a.py").read_text()
    assert (tmp_path / "new" / "data.txt").exists()
    assert (tmp_path / "report.txt").read_text().startswith("TensorFlow 2.0")
    assert run(monkeypatch, tmp_path, "--infile", tmp_path / "n.ipynb", "--inplace") == 0
    (a, b, c) = (cell["source"] for cell in json.loads((tmp_path / "n.ipynb").read_text())["cells"])
    assert a == ["!pip install x\n", "import tensorflow as tf\n", "x = tf.math.log(1)"]
    assert (b, c) == (["%%bash\n", "tf.log"], ["tf.sin(x)"])
    assert run(monkeypatch, tmp_path, "--infile", tmp_path / "n.ipynb") == 1
    assert "--outfile or --inplace is required" in capsys.readouterr().err


def test_upgraded_names_exist():
    """Every new name that TensorFlow has is here too. It gave up some, such as those of distributions."""
    public = json.loads((FIXTURES.parent / "public_names.json").read_text())
    for new in read_table().renames.values():
        home, _, name = new.rpartition(".")
        if name in public.get(home, ()):
            assert functools.reduce(getattr, new.split(".")[1:], tf) is not None
