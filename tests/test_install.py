"""`install_as_tensorflow()` and `python -m tapeflow`, each in a process of its own."""

import pathlib
import subprocess
import sys
import textwrap
import tomllib

import pytest

import tapeflow as tf

SOURCE = pathlib.Path(tf.__file__).parents[1]


def run(arguments, cwd):
    environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def program(folder, source):
    path = folder / "program.py"
    path.write_text(textwrap.dedent(source))
    return str(path)


def test_import_tensorflow_gives_the_very_modules(tmp_path):
    source = """
        import tapeflow
        tapeflow.install_as_tensorflow()
        tapeflow.install_as_tensorflow()
        import sys
        import tensorflow as tf
        import tensorflow.math
        import tensorflow.linalg as linalg
        from tensorflow.math import add
        from tensorflow import nest, errors
        assert tf is tapeflow and tensorflow is tapeflow
        assert tensorflow.math is tapeflow.math is sys.modules["tensorflow.math"]
        assert linalg is tapeflow.linalg and add is tapeflow.add
        assert nest is tapeflow.nest and errors is tapeflow.errors
        assert tapeflow.math.__spec__.name == "tapeflow.math" and tapeflow.__spec__.name == "tapeflow"
        assert tf.__version__ == tf.version.VERSION == "2.21.0"
        for missing in "tensorflow.nonsense", "tensorflow.nonsense.more", "tensorflow.math.nonsense":
            try:
                __import__(missing)
            except ModuleNotFoundError as error:
                assert str(error).startswith("TapeFlow has no tensorflow.") and str(error).endswith(" yet."), error
            else:
                raise AssertionError(missing)
        print("as it should be")
    """
    done = run([program(tmp_path, source)], tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("as it should be\n", "", 0)


def test_the_real_tensorflow_is_not_replaced(tmp_path):
    (tmp_path / "tensorflow.py").write_text("real = True")
    source = """
        import tensorflow
        import tapeflow
        try:
            tapeflow.install_as_tensorflow()
        except RuntimeError as error:
            print(error)
        assert tensorflow.real
    """
    done = run([program(tmp_path, source)], tmp_path)
    assert done.stdout.startswith("TensorFlow itself is imported already"), done.stderr


def test_a_program_runs_as_main(tmp_path):
    (tmp_path / "beside.py").write_text("value = 5")
    source = """
        import pickle, sys
        import tensorflow as tf
        import beside
        class Pickled:
            pass
        pickle.loads(pickle.dumps(Pickled()))
        print(__name__, __file__ == sys.argv[0], sys.argv[1:], beside.value, int(tf.add(1, 2)))
        if "exit" in sys.argv:
            sys.exit(7)
        if "fail" in sys.argv:
            raise ValueError("on purpose")
    """
    path = program(tmp_path, source)
    done = run(["-m", "tapeflow", path, "--lr", "0.1"], "/")
    assert (done.stdout, done.returncode) == ("__main__ True ['--lr', '0.1'] 5 3\n", 0), done.stderr
    assert run(["-m", "tapeflow", path, "exit"], "/").returncode == 7
    failed = run(["-m", "tapeflow", path, "fail"], "/")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[1] == f'  File "{path}", line 12, in <module>'
    assert failed.stderr.endswith("ValueError: on purpose\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "usage: tapeflow"),
        (["--version"], 0, "with the API of TensorFlow 2.21.0"),
        (["absent.py"], 2, "absent.py': [Errno 2] No such file"),
    ],
)
def test_the_command_line(tmp_path, arguments, code, said):
    done = run(["-m", "tapeflow", *arguments], tmp_path)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_tools_run_as_modules(tmp_path):
    """`python -m` finds the programs of TensorFlow's modules; `tapeflow run` is `tapeflow`."""
    done = run(["-m", "tapeflow", "-m", "tensorflow.python.tools.saved_model_cli", "--version"], tmp_path)
    assert (done.stdout, done.returncode) == ("0.1.0\n", 0), done.stderr
    done = run(["-m", "tapeflow", "run", "-c", "import tensorflow; print(tensorflow.version.VERSION)"], tmp_path)
    assert done.stdout == "2.21.0\n", done.stderr


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())
    assert project["project"]["version"] == tf.version.TAPEFLOW_VERSION


def test_the_names_inside_tensorflow_that_libraries_import(tmp_path):
    source = """
        import tapeflow
        tapeflow.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow.compiler.tf2xla.python.xla import dynamic_update_slice
        from tensorflow.python.eager import context as tf_context
        from tensorflow.python.framework.config import is_op_determinism_enabled
        from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops
        from tensorflow.python.ops.math_ops import is_nan
        tf_context.async_wait()
        tf_context.context().clear_kernel_cache()
        assert is_nan is tf.math.is_nan and not is_op_determinism_enabled()
        assert tf.__internal__.types.Tensor in tf.Tensor.__mro__
        from tensorflow.core.util import event_pb2
        from tensorflow.python.framework import config
        from tensorflow.python.lib.io import tf_record
        assert tf_record.tf_record_iterator is tf.compat.v1.io.tf_record_iterator and event_pb2.Event(step=3).step == 3
        config.enable_op_determinism()
        assert is_op_determinism_enabled()
        config.disable_op_determinism()
        two = [tf.config.LogicalDeviceConfiguration()] * 2
        assert len(tf.config.list_logical_devices("CPU")) == 1
        tf_context._reset_context()
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)
        assert len(tf.config.list_logical_devices("CPU")) == 2
        for kind in tf.RaggedTensor, tf.SparseTensor, tf.distribute.DistributedDataset, tf.data.Dataset.__mro__[1]:
            assert kind.__module__.startswith("tensorflow.python."), kind
        print(tf.__internal__.smart_cond.smart_cond(tf.constant(False), lambda: 1, lambda: 2))
        smart_cond = tf.__internal__.smart_cond.smart_cond
        traced = tf.function(lambda x: smart_cond(tf.shape(x)[-1] > 1, lambda: 1, lambda: x[:, 0]))
        assert traced.get_concrete_function(tf.TensorSpec([None, 4])).structured_outputs.dtype == tf.int32
        print(dynamic_update_slice(tf.zeros([3]), tf.ones([2]), [2]).numpy().tolist())
        for missing in "tensorflow.python.nonsense", "tensorflow.python.eager.nonsense":
            try:
                __import__(missing)
            except ModuleNotFoundError as error:
                assert missing in str(error)
        try:
            tf_context.nonsense
        except AttributeError as error:
            print(error)
    """
    done = run([program(tmp_path, source)], tmp_path)
    assert done.stdout.splitlines() == [
        "2",
        "[0.0, 1.0, 1.0]",
        "TapeFlow has no tensorflow.python.eager.context.nonsense, for which __main__ asks: it is not public in "
        "TensorFlow. Is there a name for it in TensorFlow's public API? That is where to look.",
    ], done.stderr


def test_sparse_matrices_have_the_functions_of_their_ops(tmp_path):
    source = """
        import tensorflow as tf
        from tensorflow.python.ops.linalg.sparse import sparse, sparse_csr_matrix_ops
        matrix = sparse_csr_matrix_ops.sparse_tensor_to_csr_sparse_matrix([[0, 1]], [2.0], [2, 2])
        product = sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul(matrix, matrix, tf.float32, transpose_b=True)
        print(sparse_csr_matrix_ops.csr_sparse_matrix_to_sparse_tensor(product, tf.float32).values.numpy())
        print(sparse.matmul(sparse.CSRSparseMatrix(tf.sparse.from_dense([[0.0, 3.0]])), [[1.0], [2.0]]).numpy())
    """
    done = run(["-m", "tapeflow", program(tmp_path, source)], tmp_path)
    assert done.stdout.splitlines() == ["[4.]", "[[6.]]"], done.stderr


def test_compat_v2_has_the_names_of_tf(tmp_path):
    source = """
        import tensorflow as tensorflow_2
        import tensorflow.compat.v2 as tf
        from tensorflow.compat.v2 import math
        from tensorflow.compat.v2.keras import layers
        tf.enable_v2_behavior()
        assert tf.add is tensorflow_2.add and math is tensorflow_2.math and tf.compat.v2 is tf
        assert layers is tensorflow_2.keras.layers
    """
    done = run(["-m", "tapeflow", program(tmp_path, source)], tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)


def test_importing_loads_nothing_that_can_wait():
    """Keras, TensorFlow's protocol buffers and the rest are loaded when they are asked for."""
    late = ("keras", "tensorboard", "google.protobuf", "PIL", "opt_einsum", "matplotlib", "torch._dynamo")
    program = (
        "import sys, torch; before = set(sys.modules); import tapeflow; "
        f"print([m for m in {late} if m in set(sys.modules) - before])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_classes_have_the_names_by_which_libraries_tell_them(tmp_path):
    source = """
        import tapeflow as tf
        assert type(tf.constant(1)).__module__.startswith("tapeflow")
        tf.install_as_tensorflow()
        import pickle
        print(type(tf.constant(1)).__module__, tf.Tensor)
        for kind in (tf.Tensor, type(tf.constant(1)), tf.Variable, tf.IndexedSlices):
            assert pickle.loads(pickle.dumps(kind)) is kind
        print(pickle.loads(pickle.dumps(tf.constant([1, 2]))).numpy().tolist())
    """
    result = run([program(tmp_path, source)], tmp_path)
    assert result.stdout.splitlines() == [
        "tensorflow.python.framework.ops <class 'tensorflow.python.framework.tensor.Tensor'>",
        "[1, 2]",
    ], result.stderr


def test_keras_takes_tensors_of_strings_and_ragged_ones(tmp_path):
    source = """
        import tapeflow as tf
        words = tf.keras.layers.TextVectorization(vocabulary=["a", "b"], output_sequence_length=2)
        model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), words])
        print(model.predict(tf.constant([["a"]]), verbose=0).tolist())

        class Total(tf.keras.layers.Layer):
            def call(self, x):
                return tf.reduce_sum(x, axis=1, keepdims=True)

        model = tf.keras.Sequential([Total(), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        ragged = tf.ragged.constant([[1.0, 2.0], [3.0]], ragged_rank=1)
        history = model.fit(ragged, tf.constant([[1.0], [2.0]]), batch_size=2, verbose=0)
        print(len(history.history["loss"]))
    """
    result = run([program(tmp_path, source)], tmp_path)
    assert result.stdout.splitlines() == ["[[2, 0]]", "1"], result.stderr


SHOW = """
import os, sys
print(sys.argv, repr(sys.path[0]), globals().get("__file__"), __name__, __package__, getattr(__spec__, "name", None))
def f(x: int): pass
print(f.__annotations__, sys.modules["__main__"].__dict__ is globals())
os.chdir("/")
if "__file__" in globals(): print(os.path.exists(__file__))
exec({"raise": "1 / 0", "stop": "raise KeyboardInterrupt", "exit": "sys.exit('why')", "": ""}[sys.argv[-1]])
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["show.py", "a", ""], ["./pkg/../show.py", "raise"], ["show.py", "stop"], ["show.py", "exit"],
        ["-m", "show", ""],
        ["-m", "pkg", "raise"], ["-m", "pkg.show", "exit"], ["-c", SHOW, "a", ""], ["-c", "1 / 0"], ["-c", "x = ("],
        ["folder", "raise"], ["-", "raise"], ["nothing.py"], ["-m", "nothing"], ["-m", "empty"], ["-m", "empty.py"],
    ],
    ids=lambda arguments: " ".join(arguments).replace(SHOW, "SHOW"),
)  # fmt: skip
def test_programs_run_as_python_runs_them(arguments, tmp_path):
    for name in (
        "show.py",
        "pkg/show.py",
        "pkg/__main__.py",
        "folder/__main__.py",
        "pkg/__init__.py",
        "empty/__init__.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("" if name.endswith("__init__.py") else SHOW)

    def outcome(*command):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", *command], cwd=tmp_path, capture_output=True, text=True, input=SHOW
        )
        lines = [line for line in run.stderr.splitlines() if "<frozen runpy>" not in line]
        return (run.stdout, [line.replace(f"{sys.executable}: ", "tapeflow: ") for line in lines], run.returncode)

    assert outcome("-m", "tapeflow", *arguments) == outcome(*arguments)
