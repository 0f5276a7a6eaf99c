"""Records what TensorFlow 2.21's command-line tools print and write, into tests/fixtures/command_line.

`model` is a SavedModel, `graph` a session's graph with its checkpoint; `programs` are programs of TensorFlow 1, which
`tf_upgrade_v2` writes to `upgraded`.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HOME = pathlib.Path(__file__).parents[2] / "tests" / "fixtures" / "command_line"
CALL = ["run", "--dir", "model", "--tag_set", "serve", "--signature_def"]
COMMANDS = [
    ["show", "--dir", "model"],
    ["show", "--dir", "model", "--list_ops"],
    ["show", "--dir=model", "--tag_set=serve"],
    ["show", "--dir", "model", "--tag_set", "serve", "--signature_def", "ints"],
    ["show", "--dir", "model", "--tag_set", "serve", "--list_ops"],
    ["show", "--dir", "model", "--tag_set", "nope"],
    ["show", "--dir", "model", "--tag_set", "serve", "--signature_def", "nope"],
    ["show", "--dir", "model", "--all"],
    ["show", "--dir", "v1_saved_model", "--all"],
    ["show", "--dir", "saved_model", "--all"],
    ["scan", "--dir", "model"],
    ["scan", "--dir", "model", "--op_denylist", "MatMul,Foo"],
    ["scan", "--dir", "model", "--tag_set", "serve", "--op_denylist", "Foo"],
    [*CALL, "serving_default", "--input_exprs", "x=[[1,2],[3.5,4]]"],
    [*CALL, "serve", "--input_exprs", 'text=["a","bc"];val=[1.5,2e10]'],
    [*CALL, "ints", "--input_exprs", "i=41"],
    [*CALL, "ints", "--input_exprs", "j=41"],
    [*CALL, "ints"],
    [*CALL, "ints", "--input_exprs", "41"],
    [*CALL, "ints", "--input_exprs", "i=foo()"],
    [*CALL, "ints", "--input_exprs", "i=1.5"],
    [*CALL, "serving_default", "--input_exprs", "x=[[1,2,3]]"],
    [*CALL, "examples", "--input_examples", 'ex=[{"a":[1.0,2.0],"n":[5],"s":["t"]},{"a":[0.5,1.5]}]'],
    [*CALL, "examples", "--input_examples", 'ex={"a":[1.0]}'],
    [*CALL, "serving_default", "--inputs", "x=x.npy", "--outdir", "out"],
    [*CALL, "serving_default", "--inputs", "x=x.npy", "--outdir", "out"],
    [*CALL, "serving_default", "--inputs", "x=x.npz[b]", "--outdir=out", "--overwrite"],
    [*CALL, "serving_default", "--inputs", "x=x.npz"],
    [*CALL, "serving_default", "--inputs", "x=x.npz[q]"],
    ["show", "--dir", "nowhere"],
]


def saved_object(tf):
    """An object with functions of many kinds of arguments."""

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.sub = tf.Module()
            self.sub.v = tf.Variable(1.0)

        @tf.function
        def many(self, x, k=2, names=("a", 3), *, flag=True):
            y = x * k
            return y if flag else -y

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec(None, tf.float32, name="val")])
        def serve(self, text, val):
            return {"text": tf.strings.upper(text), "val": val * self.sub.v}

        @tf.function(input_signature=[])
        def nothing(self):
            return tf.constant(1)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def predict(self, x):
            return x @ self.w

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def examples(self, ex):
            n, s = tf.io.FixedLenFeature([], tf.int64, 0), tf.io.FixedLenFeature([], tf.string, "")
            return tf.io.parse_example(ex, {"a": tf.io.FixedLenFeature([2], tf.float32), "n": n, "s": s})

        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
        def reads(self, name):
            tf.print("x")
            return tf.io.read_file(name)

    model = Model()
    model.many(tf.ones([2, 2]), [1.5, 2.5], {"p": "q"})
    model.bare = model.predict.get_concrete_function()
    return model


def write_graph(tf):
    """Writes a graph of TensorFlow 1, with reference variables, and its checkpoint."""
    tf.disable_v2_behavior()
    tf.disable_resource_variables()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")

        def normalize(y, size, name):
            parts = [
                tf.get_variable(name + part, [size], initializer=tf.random_uniform_initializer(0.5, 1.5, seed=3))
                for part in ("scale", "offset", "mean", "var")
            ]
            return tf.nn.fused_batch_norm(y, *parts, is_training=False)[0]

        w = tf.get_variable("w", [3, 3, 2, 4], initializer=tf.random_normal_initializer(seed=1))
        b = tf.get_variable("b", [4], initializer=tf.random_normal_initializer(seed=2))
        y = normalize(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b), 4, "first/")
        d = tf.get_variable("dw", [3, 3, 4, 2], initializer=tf.random_normal_initializer(seed=1))
        y = tf.nn.relu(normalize(tf.nn.depthwise_conv2d_native(y, d, [1, 1, 1, 1], "SAME"), 8, "second/"))
        training = tf.placeholder_with_default(False, [], name="keras_learning_phase")
        tf.identity(tf.cond(training, lambda: y * 2.0, lambda: y), name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(HOME / "graph" / "values"), write_meta_graph=False, write_state=False)
        tf.train.write_graph(graph, str(HOME / "graph"), "graph.pb", as_text=False)


def record_graph(tf):
    """Returns the nodes of the graph after each tool, and what `inspect_checkpoint` prints."""
    import contextlib
    import io

    from tensorflow.python.tools import freeze_graph, inspect_checkpoint, optimize_for_inference_lib, strip_unused_lib

    def nodes(graph):
        return sorted([node.name, node.op, *node.input] for node in graph.node)

    folder = str(HOME / "graph")
    frozen = freeze_graph.freeze_graph(
        f"{folder}/graph.pb", "", True, f"{folder}/values", "y", None, None, "", True, ""
    )  # fmt: skip
    float32 = tf.float32.as_datatype_enum
    result = {
        "freeze_graph": nodes(frozen),
        "optimize_for_inference": nodes(
            optimize_for_inference_lib.optimize_for_inference(frozen, ["x"], ["y"], float32)
        ),
        "strip_unused": nodes(strip_unused_lib.strip_unused(frozen, ["Relu"], ["y"], float32)),
    }
    for arguments in ([None, False], ["w", False], ["no", False], [None, True], [None, False, True, "first/"]):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            inspect_checkpoint.print_tensors_in_checkpoint_file(f"{folder}/values", *arguments)
        result[json.dumps(arguments)] = printed.getvalue()
    return result


def record_commands():
    """Returns the command lines of `saved_model_cli`, with what each prints, its last line of errors and its status."""
    import numpy as np

    folder = pathlib.Path(tempfile.mkdtemp())
    for path in (HOME / "model", HOME.parent / "saved_model", HOME.parent / "v1_saved_model"):
        shutil.copytree(path, folder / path.name)
    np.save(folder / "x.npy", np.ones([2, 2], np.float32))
    np.savez(folder / "x.npz", a=np.zeros([1, 2]), b=np.arange(4.0).reshape(2, 2))
    records = []
    for arguments in COMMANDS:
        tool = pathlib.Path(sys.executable).with_name("saved_model_cli")
        done = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        error = done.stderr.strip().splitlines()[-1] if done.returncode else ""
        records.append([arguments, done.stdout, error, done.returncode])
    return records


def main():
    """Writes everything."""
    import tensorflow as tf

    tool = pathlib.Path(sys.executable).with_name("tf_upgrade_v2")
    report = pathlib.Path(tempfile.mkdtemp()) / "report.txt"
    for path in (HOME / "programs").glob("*.py"):
        upgraded = HOME / "upgraded" / path.name
        upgraded.parent.mkdir(exist_ok=True)
        subprocess.run([tool, "--infile", path, "--outfile", upgraded, "--reportfile", report], check=True)
    model = saved_object(tf)
    ints = tf.function(lambda i: {"j": i + 1}, input_signature=[tf.TensorSpec([], tf.int32, name="i")])
    signatures = {
        "serving_default": model.predict, "serve": model.serve, "examples": model.examples, "ints": ints,
        "reads": model.reads,
    }  # fmt: skip
    shutil.rmtree(HOME / "model", ignore_errors=True)
    tf.saved_model.save(model, str(HOME / "model"), signatures=signatures)
    records = record_commands()
    write_graph(tf.compat.v1)
    content = {"saved_model_cli": records, "graph": record_graph(tf.compat.v1)}
    (HOME / "outputs.json").write_text(json.dumps(content, indent=1) + "\n")
