"""Writes the checkpoints in tests/fixtures/checkpoints, with TensorFlow 2.21; or checks with it what TapeFlow wrote.

record.py checkpoints record          writes them anew
record.py checkpoints check PREFIX    restores a checkpoint of `model` that TapeFlow wrote, and compares every value
"""

import argparse
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HOME = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "checkpoints"
DTYPES = ("bfloat16", "float16", "float64", "complex64", "complex128", "bool", "int8", "uint8", "int16", "uint16",
"uint32",
          "int64", "uint64")  # fmt: skip


def model(tf, factor):
    """A module with everything that has a name of its own kind; its values are multiples of `factor`."""
    m = tf.Module()
    m.a = tf.Variable([1.0 * factor, 2.0 * factor])
    m.l = [tf.Variable(3.0 * factor), {"k/x.y": tf.Variable(4 * factor)}]
    m.t = (tf.Variable(5.0 * factor), [tf.Variable(6 * factor)])
    m.s = tf.Variable(["ab" * factor, "c" * factor, ""])
    m.d = {"q": tf.Variable(7.0 * factor)}
    m.gen = tf.random.Generator.from_seed(8 * factor)
    m.empty = tf.Variable(tf.zeros([0, 3]))
    m.n = None
    m.i = 3
    m.by_dtype = {name: tf.Variable(tf.cast([0, factor], getattr(tf, name))) for name in DTYPES}
    return m


def values(m):
    return [v.numpy().tolist() for v in (*m.variables, m.gen.state)]


def record():
    import tensorflow as tf

    HOME.mkdir(parents=True, exist_ok=True)
    tf.train.Checkpoint(model=model(tf, 1), z=tf.Variable(9, name="zz")).save(str(HOME / "objects"))
    tf.train.Checkpoint(tf.Variable(1.0)).write(str(HOME / "root"))
    v1 = tf.compat.v1
    v, optimizer = tf.Variable([1.0, 2.0]), v1.train.AdamOptimizer(0.1)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    tf.train.Checkpoint(v=v, optimizer=optimizer).write(str(HOME / "slots"))
    with tf.Graph().as_default():
        with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(3, 0)):
            pieces = v1.get_variable("a", shape=[200, 2])
        v1.get_variable("plain", initializer=[1, 2, 3])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for i, piece in enumerate(pieces):
                session.run(piece.assign(tf.fill(piece.shape, float(i))))
            v1.train.Saver().save(session, str(HOME / "names"), write_meta_graph=False)
    (HOME / "checkpoint").unlink()


def check(prefix):
    import tensorflow as tf

    m, z = model(tf, 0), tf.Variable(0)
    tf.train.Checkpoint(model=m, z=z).restore(prefix).assert_consumed()
    assert values(m) == values(model(tf, 1)), values(m)
    assert z.numpy() == 9
    print("TensorFlow restored every value.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record")
    commands.add_parser("check").add_argument("prefix")
    args = parser.parse_args()
    record() if args.command == "record" else check(args.prefix)
