"""TapeFlow in TensorFlow's place: installed as `tensorflow`, in spawned children, and for Keras."""

import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
import venv
import zipfile

import pytest

import tapeflow as tf

SOURCE = pathlib.Path(tf.__file__).parents[1]
DISTRIBUTION = SOURCE.parent / "as_tensorflow"


def run(command, folder, source, **environment):
    """Runs a program that may never end by itself."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(source))
    environment = {"PYTHONPATH": str(SOURCE), "PATH": "", "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(
        [*command, str(path)], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with what is installed here, and the wheel."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("environment")
    shutil.copytree(DISTRIBUTION, folder / "source")
    build = "import setuptools.build_meta as backend; backend.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=folder / "source", check=True, capture_output=True)
    venv.create(folder / "env", with_pip=False, symlinks=sys.platform != "win32")
    (site_packages,) = (folder / "env").glob("**/site-packages")
    (site_packages / "installed_here.pth").write_text(sysconfig.get_path("purelib"))
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site_packages)
    return folder / "env", site_packages


def python(environment):
    return [str(next(p for p in environment[0].glob("*/python*") if re.fullmatch(r"python(\.exe)?", p.name)))]


SPAWNS = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    import tensorflow as tf
    def add(x):
        return int(tf.add(x, 1))
    if __name__ == "__main__":
        spawn = multiprocessing.get_context("spawn")
        with spawn.Pool(1) as pool:
            print(pool.map(add, [1, 2]))
        with ProcessPoolExecutor(1, spawn) as pool:
            print(list(pool.map(add, [3])))
"""


def test_a_program_imports_tensorflow_with_no_word_of_tapeflow(environment, tmp_path):
    source = """
        import importlib.metadata, importlib.util, sys
        assert importlib.util.find_spec("tensorflow") is not None
        version = importlib.metadata.version("tensorflow")
        assert importlib.metadata.packages_distributions()["tensorflow"] == ["tapeflow-as-tensorflow"]
        assert "torch" not in sys.modules  # asking imports nothing
        import tensorflow as tf
        from tensorflow import keras
        from tensorflow.keras import layers
        import tensorflow.math, tapeflow
        assert tf is tapeflow and layers.Dense is tf.keras.layers.Dense is keras.layers.Dense
        assert version == tf.__version__
        # What lists distributions, as pip does, sees no TensorFlow.
        assert "tensorflow" not in {d.name for d in importlib.metadata.distributions()}
    """
    done = run(python(environment), tmp_path, source)
    assert (done.stderr, done.returncode) == ("", 0)


def test_its_children_do(environment, tmp_path):
    done = run(python(environment), tmp_path, SPAWNS)
    assert (done.stdout, done.returncode) == ("[2, 3]\n[4]\n", 0), done.stderr


def test_keras_imported_first_is_on_tapeflow(environment, tmp_path):
    source = """
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        import numpy as np
        model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
        import tapeflow
        assert isinstance(model(np.ones([1, 2])), tapeflow.Tensor) and tapeflow.keras.layers.Dense is keras.layers.Dense
    """
    done = run(python(environment), tmp_path, source)
    assert done.returncode == 0, done.stderr


def test_both_are_refused(environment, tmp_path):
    package = environment[1] / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text("real = True")
    source = """
        import importlib.util
        assert importlib.util.find_spec("tensorflow") is not None
        try:
            import tensorflow
        except ImportError as error:
            print(error)
    """
    try:
        done = run(python(environment), tmp_path, source)
        assert done.stdout.startswith(f"TensorFlow itself, {package}"), done.stderr
        assert "are both installed: `pip uninstall` one of them" in done.stdout
        done = run(
            [*python(environment), "-m", "tapeflow"], tmp_path, "import tensorflow as tf; print(tf.add(1, 2).numpy())"
        )
        assert done.stdout == "3\n", done.stderr
    finally:
        shutil.rmtree(package)


def test_the_distributions_agree():
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text())["project"]
    extra = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert project["version"] == tf.__version__
    assert extra["tensorflow"] == [f"{project['name']}=={project['version']}"]
    for name in ("tensorflow.py", "tensorflow_text.py"):
        for_children = SOURCE / "tapeflow/as_tensorflow" / name
        assert for_children.read_text() == (DISTRIBUTION / "src" / name).read_text()


def test_children_of_a_program_that_tapeflow_runs(tmp_path):
    source = f"""{SPAWNS}
        import subprocess, sys
        command = [sys.executable, "-c", "import tensorflow as tf; print(tf.__name__)"]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    """
    done = run([sys.executable, "-m", "tapeflow"], tmp_path, source)
    assert (done.stdout, done.returncode) == ("[2, 3]\n[4]\ntapeflow\n\n", 0), done.stderr


def test_keras_after_tapeflow_is_on_it(tmp_path):
    source = """
        import tapeflow as tf
        import keras
        assert keras.backend.backend() == "tensorflow" and tf.keras.layers.Dense is keras.layers.Dense
        assert hasattr(keras.metrics.Mean, "reset_states")
        assert tf.is_tensor(keras.layers.Dense(1)(tf.ones([1, 2])))
    """
    done = run([sys.executable], tmp_path, source)
    assert done.returncode == 0, done.stderr


def test_keras_after_tapeflow_on_another_backend_leaves_tensorflow_alone(tmp_path):
    source = "import tapeflow, keras, sys; print(keras.backend.backend(), 'tensorflow' in sys.modules)"
    done = run([sys.executable], tmp_path, source, KERAS_BACKEND="torch")
    assert done.stdout == "torch False\n", done.stderr


def test_protocol_buffers_have_the_names_of_tensorflow_beside_those_of_tensorboard(tmp_path):
    source = """
        import sys
        if "tensorboard" in sys.argv:
            import tensorboard.compat.proto.graph_pb2, tensorboard.plugins.histogram.summary_v2
        import tapeflow
        tapeflow.install_as_tensorflow()
        import tensorflow as tf
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        from tensorflow.core.example import example_pb2, feature_pb2
        from tensorflow.core.framework import graph_pb2, tensor_pb2, types_pb2
        from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2, trackable_object_graph_pb2
        from tensorflow.core.util import event_pb2
        assert graph_pb2.GraphDef is tf.compat.v1.GraphDef and example_pb2.Example is tf.train.Example
        assert isinstance(tf.make_tensor_proto(1.0), tensor_pb2.TensorProto) and types_pb2.DT_FLOAT == 1
        # The generated module of another library declares a file that depends on one of TensorFlow's.
        pool = descriptor_pool.Default()
        file = descriptor_pb2.FileDescriptorProto(name="a/request.proto", package="a", syntax="proto3")
        file.dependency.append("tensorflow/core/framework/tensor.proto")
        field = file.message_type.add(name="Request").field.add(name="input", number=1, label=1, type=11)
        field.type_name = ".tensorflow.TensorProto"
        pool.AddSerializedFile(file.SerializeToString())
        request = message_factory.GetMessageClass(pool.FindMessageTypeByName("a.Request"))()
        request.input.ParseFromString(tf.make_tensor_proto([1.0, 2.0]).SerializeToString())
        assert tf.make_ndarray(request.input).tolist() == [1.0, 2.0]
        import tensorboard.compat.proto.graph_pb2 as other
        assert other.GraphDef is graph_pb2.GraphDef
    """
    for arguments in ([], ["tensorboard"]):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        command = [sys.executable, str(path), *arguments]
        environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
