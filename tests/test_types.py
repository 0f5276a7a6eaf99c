"""Type checkers see the public names, and what they take and give: mypy and pyright over a user's program."""

import functools
import re
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import tapeflow as tf
    import tapeflow.compat.v1 as tf1

    v = tf.Variable([1.0, 2.0])
    x: tf.Tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])


    @tf.function
    def step(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return tf.matmul(a, b) + tf.exp(a)


    class Model(tf.Module):
        @tf.function(reduce_retracing=True)
        def __call__(self, a: tf.Tensor) -> tf.Tensor:
            return a * v


    y: tf.Tensor = step(x, x)
    z: tf.Tensor = Model()(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    gradient = tape.gradient(loss, v)
    layer = tf.keras.layers.Dense(3)
    pairs = tf.data.Dataset.range(3).map(lambda i: i + 1).batch(2)
    total = tf1.reduce_sum(x, reduction_indices=1)
    session = tf1.Session(graph=tf.Graph())
    column = tf.feature_column.numeric_column("age")
    spectrum: tf.Tensor = tf.signal.rfft(tf.linalg.diag_part(x))
"""
# Each line is an error to a checker.
MISTAKES = [
    "tf.no_such_name",
    "tf.math.no_such_function(x)",
    "step(x, x, x)",
    "tf.exp(x, x, x)",
    "tf.keras.layerz",
    "tf1.reduce_sum(x, no_such_argument=1)",
    "tf1.Session(no_such_argument=1)",
    "tf.feature_column.no_such_name",
]

# What an editor knows of an expression, and completes.
REVEALED = {
    "x.device": "str",
    "x.ndim": "int",
    "x.name": "str",
    "x.shape": "TensorShape",
    "x.get_shape()": "TensorShape",
    "x.dtype": "DType",
    "x[0]": "Tensor",
    "x + 1": "Tensor",
    "v": "Variable",
    "v.assign([2.0, 3.0])": "Variable",
    "v.assign_add([2.0, 3.0])": "Variable",
    "v.assign_sub([2.0, 3.0])": "Variable",
    "v.read_value()": "EagerTensor",
    "v.shape": "TensorShape",
    "tf.data.Dataset.range(3)": "Dataset",
    "pairs": "Dataset",
    "pairs.cardinality()": "Tensor",
    "iter(pairs)": "OwnedIterator | GraphIterator",
    "pairs.as_numpy_iterator()": "NumpyIterator",
    "step(x, x)": "Tensor",
    "step.get_concrete_function(x, x)": "ConcreteFunction",
    "tf.nn.relu(x)": "Tensor",
    "tf.reduce_sum(x)": "Tensor",
    "tape": "GradientTape",
}
# Modules behind a namespace: names that an editor may not offer.
PRIVATE = ["tf.nn.activations", "tf.nn.conv", "tf.math.arithmetic", "tf.linalg.norms"]

LINES = textwrap.dedent(PROGRAM).splitlines()
PROGRAMS = {
    "right.py": LINES,
    "wrong.py": [*LINES, *MISTAKES],
    "asked.py": [*LINES, *(f"reveal_type({expression})" for expression in REVEALED)],
    "private.py": ["import tapeflow as tf", *PRIVATE],
}
CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", "cache"],
    "pyright": [sys.executable, "-m", "basedpyright", "--level", "error", "--pythonpath", sys.executable],
}


@pytest.fixture(scope="module")
def run_checker(tmp_path_factory):
    """Returns what a checker prints about all programs, which it reads in one run."""

    @functools.cache
    def run(checker):
        folder = tmp_path_factory.mktemp(checker)
        for name, lines in PROGRAMS.items():
            (folder / name).write_text("\n".join(lines) + "\n")
        # As pyright itself, which does not demand that a stub and its source stand in one package.
        (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
        command = [*CHECKERS[checker], *PROGRAMS]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        return result.stdout

    return run


def test_types_of_expressions(run_checker):
    output = run_checker("mypy")
    types = [re.sub(r"[a-z_]\w*\.", "", text) for text in re.findall(r'Revealed type is "(.*)"', output)]
    assert dict(zip(REVEALED, types, strict=True)) == REVEALED


def test_private_modules_are_not_offered(run_checker):
    refused = [line for line in run_checker("pyright").splitlines() if "private.py:" in line]
    assert len(refused) == len(PRIVATE)
    assert all("is not a known attribute of module" in line for line in refused)


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_users_program(checker, run_checker):
    output = run_checker(checker)
    errors = [line for line in output.splitlines() if "error" in line and ".py:" in line]
    assert not [line for line in errors if "right.py" in line], output
    first = len(LINES) + 1
    for number, mistake in enumerate(MISTAKES, first):
        assert any(f"wrong.py:{number}:" in line for line in errors), f"{mistake}: {output}"
