"""The upgrade of one program's text."""

import pytest

from tapeflow_compat.tensorflow_python.upgrade import programs
from tapeflow_compat.tensorflow_python.upgrade.source import Source, dotted_name, literal


def upgrade(text, **options):
    new, entries = programs.upgrade_text(text, **options)
    return new, [(entry.line, entry.column, entry.level) for entry in entries]


def test_names_in_formatted_strings_stay():
    text = "import tensorflow as tf\nx = f'{tf.log(y)}'\ny = f'{z}'\n"
    assert upgrade(text) == (text, [(2, 4, "WARNING")])


@pytest.mark.parametrize(
    ("text", "expected", "level"),
    [
        ("import tensorflow\ntensorflow.log(x)\ntf.log(x)", None, "ERROR"),
        ("import tensorflow.compat.v2 as tf\ntf.log(x)", None, "INFO"),
        ("from tensorflow.compat import v1 as tf\ntf.log(x)", None, "INFO"),
        ("import tensorflow.compat.v1 as tf\ntf.log(x)", "import tensorflow as tf\ntf.math.log(x)", "INFO"),
        ("import tensorflow as tf\ntf.log(x)", "import tensorflow as tf\ntf.math.log(x)", "INFO"),
        ("import tensorflow as tf\nlog(x)", None, None),
    ],
)
def test_imports(text, expected, level):
    new, entries = upgrade(text)
    assert new == (expected or text)
    assert [entry[2] for entry in entries] == ([level] if level else [])


def test_programs_of_compat_v1_may_stay():
    text = "import tensorflow.compat.v1 as tf\ntf.log(x)\n"
    assert upgrade(text, upgrade_compat_v1_import=False) == (text, [(1, 0, "INFO")])


def test_modules_that_are_gone_are_reported_in_all_programs():
    text = "import tensorflow\ntf.contrib.foo.bar(1)\n"
    new, entries = programs.upgrade_text(text)
    assert new == text and [entry.level for entry in entries] == ["ERROR", "ERROR"]
    assert entries[1].text.startswith("Using member tf.contrib.foo.bar in deprecated module tf.contrib. ")


def test_entries_are_in_the_order_of_the_text():
    text = "import tensorflow as tf\nif 1:\n    tf.log(tf.to_float(x)); tf.get_variable('v')\n"
    new, entries = upgrade(text)
    assert new.splitlines()[2] == "    tf.math.log(tf.cast(x, dtype=tf.float32)); tf.compat.v1.get_variable('v')"
    assert [entry[:2] for entry in entries] == sorted(entry[:2] for entry in entries)
    assert {entry[:2] for entry in entries} == {(3, 4), (3, 11), (3, 28)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import tensorflow as tf", "import tensorflow.compat.v1 as tf"),
        ("import tensorflow", "import tensorflow.compat.v1 as tensorflow"),
        ("import tensorflow.nn as nn, os", "import tensorflow.compat.v1.nn as nn, os"),
        ("from tensorflow import log as l, exp", "from tensorflow.compat.v1 import log as l, exp"),
        ("from tensorflow.train import Saver", "from tensorflow.compat.v1.train import Saver"),
        ("from tensorflow import flags", None), ("from tensorflow import contrib", None),
        ("import tensorflow.compat.v2 as tf", None), ("import tensorflow.google", None),
        ("import tensorflow.contrib", None),
        ("from . import tensorflow", None), ("from .tensorflow import x", None), ("import tensorflows", None),
        ("from os import path", None),
    ],
)  # fmt: skip
def test_only_imports_change_in_safety_mode(old, new):
    text, entries = programs.use_compat_v1(f"a = 1\n{old}  # why\ntf.log(x)\n")
    assert text == f"a = 1\n{new or old}  # why\ntf.log(x)\n"
    assert [str(entry) for entry in entries] == ([f"2:0: INFO: Changed import to {new!r}."] if new else [])


def test_places_count_characters_that_have_several_bytes():
    source = Source("a = 'äöü'; bb = 1\nc = 2")
    assign = source.tree.body[1]
    assert source.text[source.start(assign) : source.end(assign)] == "bb = 1"
    assert source.text[source.place(2, 4)] == "2"


def test_edits_keep_everything_else():
    source = Source("f(a, b)")
    source.replace(0, 1, "g")
    source.put_after(6, ", d")
    source.put_after(6, ", c")
    source.replace(2, 3, "x")
    assert source.edited() == "g(x, b, c, d)"
    assert Source("").edited() == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f()", []),
        ("f(a, (b), c=3, *d, **e)", [(None, "a"), (None, "(b)"), ("c", "c=3"), (None, "*d"), (None, "**e")]),
        ("(f)((a, b), [c, d], {e: 1},)", [(None, "(a, b)"), (None, "[c, d]"), (None, "{e: 1}")]),
        ("f(lambda x, y: x, # , )\n  z)", [(None, "lambda x, y: x"), (None, "z")]),
    ],
)  # fmt: skip
def test_places_of_arguments(text, expected):
    source = Source(text)
    arguments, close = source.arguments(source.tree.body[0].value)
    assert [(a.name, text[a.start : a.end]) for a in arguments] == expected
    assert text[close] == ")" and close == text.rindex(")")
    spreads = [a.spreads for a in arguments]
    assert spreads == [shown.startswith("*") for _, shown in expected]


def test_dotted_names_and_literals():
    def node(text):
        return Source(text).tree.body[0].value

    assert dotted_name(node("a.b.c")) == "a.b.c" and dotted_name(node("a")) == "a"
    assert dotted_name(node("f().b")) is None and dotted_name(node("3")) is None
    assert literal(node("True"), [True]) and literal(node("'a'"), ["b", "a"])
    assert not literal(node("1"), [True]) and not literal(node("True"), [1]) and not literal(node("x"), ["x"])
