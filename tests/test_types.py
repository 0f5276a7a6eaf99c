"""Type checkers see the public names, and what they take and give: mypy and pyright over a user's program."""

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

CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", "cache"],
    "pyright": [sys.executable, "-m", "basedpyright", "--level", "error", "--pythonpath", sys.executable],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_users_program(checker, tmp_path):
    program = textwrap.dedent(PROGRAM)
    (tmp_path / "right.py").write_text(program)
    (tmp_path / "wrong.py").write_text(program + "\n".join(MISTAKES) + "\n")
    # As pyright itself, which does not demand that a stub and its source stand in one package.
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = [*CHECKERS[checker], "right.py", "wrong.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    errors = [line for line in result.stdout.splitlines() if "error" in line and ".py:" in line]
    assert not [line for line in errors if "right.py" in line], result.stdout
    first = len(program.splitlines()) + 1
    for number, mistake in enumerate(MISTAKES, first):
        assert any(f"wrong.py:{number}:" in line for line in errors), f"{mistake}: {result.stdout}"
