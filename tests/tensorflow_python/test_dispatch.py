"""Dispatchers of libraries, which implement public functions for values of their own. They are registered for the whole
process, so that each test runs a program."""

import json
import pathlib
import subprocess
import sys
import textwrap

import tapeflow as tf

TESTS = pathlib.Path(__file__).parents[1]
# Of these TensorFlow offers what they call, and not themselves; TapeFlow computes them otherwise.
COMPUTED_OTHERWISE = {
    "tf.linalg.matvec(x, v)",
    "tf.nn.atrous_conv2d(z, tf.ones([2, 2, 3, 5]), 2, 'VALID')",
    "tf.nn.batch_normalization(x, 0.5, 2.0, None, None, 1e-3)",
    "tf.nn.max_pool(z, 2, 2, 'SAME')",
    "tf.image.image_gradients(z)",
    "tf.image.total_variation(z)",
    "tf.strings.unicode_encode(i + 65, 'UTF-8')",
    "tf.ragged.boolean_mask(v, b)",
    "tf.RaggedTensor.from_tensor(x)",
}


def output_of(path):
    environment = {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "OMP_NUM_THREADS": "1", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow", str(path)],
        env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(folder, source):
    path = folder / "program.py"
    path.write_text(textwrap.dedent(source))
    return output_of(path)


def test_dispatchers_get_the_functions_that_they_get_in_tensorflow():
    ours = json.loads(output_of(TESTS / "support" / "symbolic_calls.py"))
    theirs = json.loads((TESTS / "fixtures" / "dispatched.json").read_text())
    assert ours.keys() == theirs.keys()
    different = {call for call, names in theirs.items() if names is not None and ours[call] != names}
    assert different == COMPUTED_OTHERWISE


def test_dispatchers_get_the_arguments_of_a_call(tmp_path):
    run(
        tmp_path,
        """
        import tensorflow as tf
        from tapeflow.math.division import divide_no_nan as taken_before

        class Symbol:
            dtype, shape = tf.float32, tf.TensorShape([2, 3])
            __add__, __radd__, __getitem__ = tf.Tensor.__add__, tf.Tensor.__radd__, tf.Tensor.__getitem__

        class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):
            def handle(self, op, args, kwargs):
                if any(isinstance(x, Symbol) for x in tf.nest.flatten([args, kwargs])):
                    return op, args, kwargs
                return self.NOT_SUPPORTED

        plain = tf.matmul
        Dispatcher().register()
        x, y = Symbol(), Symbol()
        assert tf.nn.relu(x) == (tf.nn.relu, (), {"features": x, "name": None})
        assert tf.reduce_sum(x, axis=1) == (tf.reduce_sum, (x,), {"axis": 1})
        assert tf.concat([x, 1.0], 0) == (tf.concat, ([x, 1.0], 0), {})
        assert tf.matmul(x, y, transpose_b=True) == (tf.linalg.matmul, (x, y), {"transpose_b": True})
        expected = {"perm": [1, 0], "name": None, "conjugate": False}
        assert tf.transpose(x, [1, 0]) == (tf.compat.v1.transpose, (x,), {**expected, "name": "transpose"})
        assert x + 1.0 == (tf.__operators__.add, (x, 1.0), {"name": None})
        assert 1.0 + x == (tf.__operators__.add, (1.0, x), {"name": None})
        assert x[:, 0] == (tf.__operators__.getitem, (x, (slice(None), 0)), {})

        # Other calls are what they were.
        assert tf.matmul is not plain and tf.matmul([[1.0]], [[2.0]]).numpy().tolist() == [[2.0]]
        for refused in (lambda: tf.matmul(object(), 1.0), lambda: tf.norm("a")):
            try:
                refused()
            except (TypeError, ValueError):
                pass
            else:
                raise AssertionError("an argument was accepted")
        """,
    )


def test_dispatchers_of_one_function_come_first(tmp_path):
    run(
        tmp_path,
        """
        import tensorflow as tf
        from tensorflow.python.util import dispatch

        class Symbol:
            __getitem__ = tf.Tensor.__getitem__

        class ForAll(tf.__internal__.dispatch.GlobalOpDispatcher):
            def handle(self, op, args, kwargs):
                return "all"

        class ForSlices(tf.__internal__.dispatch.OpDispatcher):
            def handle(self, args, kwargs):
                return args[1] if args[1] != 3 else self.NOT_SUPPORTED

        class ForMethod(tf.__internal__.dispatch.OpDispatcher):
            def handle(self, args, kwargs):
                return args, kwargs

        ForAll().register()
        ForSlices().register(tf.__operators__.getitem)
        ForMethod().register(tf.RaggedTensor.from_tensor)
        x = Symbol()
        assert x[:, 0] == (slice(None), 0) and x[3] == "all"
        assert tf.RaggedTensor.from_tensor(x, padding=0) == ((tf.RaggedTensor, x), {"padding": 0})
        assert tf.RaggedTensor.from_tensor([[1]]).to_list() == [[1]]

        @dispatch.add_dispatch_support
        def half(x):
            return tf.math.divide(tf.convert_to_tensor(x), 2.0)

        @dispatch.dispatch_for_types(half, tf.RaggedTensor)
        def half_of_ragged(x):
            return "ragged"

        assert half(4.0).numpy() == 2.0 and half(tf.ragged.constant([[1]])) == "ragged"
        """,
    )


def test_a_function_of_tensorflow_1_calls_what_was_registered_for_the_one_of_tensorflow_2(tmp_path):
    text = run(tmp_path, """
        import tensorflow as tf

        tf.compat.v1.nn.softmax([1.0])

        class Masked(tf.experimental.ExtensionType):
            values: tf.Tensor

        @tf.experimental.dispatch_for_api(tf.nn.softmax, {"logits": Masked})
        def softmax(logits, axis=None, name=None):
            return "registered"

        print(tf.compat.v1.nn.softmax(Masked(tf.constant([1.0]))))
    """)  # fmt: skip
    assert text == "registered\n"
