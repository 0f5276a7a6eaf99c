"""Writes the SavedModel in tests/fixtures/saved_model, with TensorFlow 2.21; or checks with it what TapeFlow wrote.

record.py saved_model record        writes it anew
record.py saved_model record-graph  writes the one of a session's graph, in tests/fixtures/v1_saved_model
record.py saved_model record-parsing  writes the one that parses examples, in tests/fixtures/parsing_saved_model
record.py saved_model record-gradients  writes the one with gradients of its own, in tests/fixtures/own_gradients;
                                    needs JAX too
record.py saved_model check DIR     loads what TapeFlow saved of `model`, and calls every function
record.py saved_model check-gradients DIR  loads what TapeFlow saved of `defined_gradients_model`, and differentiates
                                    every function; prints the gradients of TensorFlow's own functions
"""

import argparse
import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HOME = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "saved_model"
GRAPH_HOME = HOME.with_name("v1_saved_model")
PARSING_HOME = HOME.with_name("parsing_saved_model")
GRADIENTS_HOME = HOME.with_name("own_gradients")


def file_of_words():
    """Returns the name of a file of three words, relative to a new working directory: models keep the name."""
    os.chdir(tempfile.mkdtemp())
    pathlib.Path("words.txt").write_text("a\nc\nd\n")
    return "words.txt"


def model(tf):
    """A module with variables in lists and dicts, tables, and functions with and without input signatures."""

    class Block(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], name="w")
            self.count = tf.Variable(0, trainable=False)
            self.items = [tf.Variable(5.0), {"k": tf.Variable([1.0, 2.0])}]
            self.pair = (tf.Variable(3.0),)
            self.constant = tf.constant([7.0, 8.0] * 100)
            prices = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
            self.prices = tf.lookup.StaticHashTable(prices, -1.0)
            words = tf.lookup.TextFileInitializer(
                file_of_words(), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )  # fmt: skip
            self.words = tf.lookup.StaticVocabularyTable(words, 1)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="inputs")])
        def __call__(self, x):
            self.count.assign_add(1)
            return {"out": tf.nn.relu(tf.matmul(x, self.w)) + self.items[0], "sum": tf.reduce_sum(x, axis=-1)}

        @tf.function
        def loop(self, n):
            total = tf.constant(0)
            for i in tf.range(n):
                if i % 2 == 0:
                    total += i
                else:
                    total -= 1
            return total, self.constant[:3] * 2.0

        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
        def text(self, s):
            return tf.strings.join([s, tf.strings.upper(s)], "-")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look_up(self, words):
            return self.prices.lookup(words) * self.pair[0], self.words.lookup(words), self.prices.size()

        @tf.function
        def options(self, x, k=2, *, flag=True):
            return (x * self.pair[0] * tf.cast(k, x.dtype) if flag else self.inner(x)), {"a": [x, x + 1.0]}

        @tf.function
        def inner(self, x):
            return tf.nn.softmax(x) * self.items[1]["k"]

    m = Block()
    m.loop(tf.constant(5))
    m.options(tf.ones([2]))
    m.options(tf.ones([2]), k=3)
    m.options(tf.ones([2]), flag=False)
    return m


def results(tf, m):
    """What every function gives, and the gradients of one, as Python values."""

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(value[key]) for key in sorted(value)}
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return value.numpy().tolist() if value.dtype != tf.string else value.numpy()

    x = tf.constant([[1.0, 2.0], [3.0, -4.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(m(x)["out"] ** 2)
    return {
        "gradients": plain(tape.gradient(loss, [m.w, m.items[0]])),
        "call": plain(m(x)),
        "count": plain(m.count),
        "loop": plain(m.loop(tf.constant(7))),
        "text": plain(m.text("abc")),
        "look_up": plain(m.look_up(tf.constant(["a", "b", "c", "z"]))),
        "options": plain([m.options(tf.ones([2])), m.options([1.0, 2.0], k=3), m.options(tf.ones([2]), flag=False)]),
        "signature": plain(m.signatures["serving_default"](inputs=x)),
    }


def record():
    import tensorflow as tf

    shutil.rmtree(HOME, ignore_errors=True)
    m = model(tf)
    tf.saved_model.save(m, str(HOME), signatures=m.__call__)
    (HOME / "fingerprint.pb").unlink()
    print(results(tf, tf.saved_model.load(str(HOME))))


def graph_model(tf, path):
    """What a program of TensorFlow 1 exports: a graph with global and local variables, a main op and an asset."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
        words = tf.constant(file_of_words(), name="words")
        text = v1.get_local_variable("text", initializer=tf.io.read_file(words), use_resource=True)
        y = tf.matmul(x, w, name="y")
        tf.identity(text, name="read")
        session.run(v1.global_variables_initializer())
        session.run(v1.assign(w, [[3.0], [4.0]]))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder = v1.saved_model.Builder(str(path))
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, [words], main_op=v1.local_variables_initializer()
        )
        builder.save()


def record_graph():
    import tensorflow as tf

    shutil.rmtree(GRAPH_HOME, ignore_errors=True)
    graph_model(tf, GRAPH_HOME)


def parsing_model(tf):
    """A module whose functions parse batches, single examples and sequence examples with features of all kinds."""
    io = tf.io
    text = [tf.TensorSpec([None], tf.string, name="serialized")]
    one = [tf.TensorSpec([], tf.string, name="serialized")]
    features = {
        "dense": io.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
        "padded": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
        "any": io.VarLenFeature(tf.string),
        "rows": io.RaggedFeature(tf.int64),
    }
    lists = {
        "steps": io.FixedLenSequenceFeature([], tf.int64),
        "any_steps": io.VarLenFeature(tf.int64),
        "row_steps": io.RaggedFeature(tf.float32),
    }

    class Parser(tf.Module):
        @tf.function(input_signature=text)
        def batch(self, serialized):
            return io.parse_example(serialized, features)

        @tf.function(input_signature=one)
        def single(self, serialized):
            return io.parse_single_example(serialized, features)

        @tf.function(input_signature=text)
        def sequences(self, serialized):
            return io.parse_sequence_example(serialized, {"any": io.VarLenFeature(tf.string)}, lists)

        @tf.function(input_signature=one)
        def sequence(self, serialized):
            return io.parse_single_sequence_example(serialized, None, {"steps": lists["steps"]})

    return Parser()


def parsing_results(tf, m):
    """What every function of `parsing_model` gives, as Python values."""
    train = tf.train
    numbers = train.Feature(int64_list=train.Int64List(value=[1, 2, 3]))
    words = train.Feature(bytes_list=train.BytesList(value=[b"a", b"bc"]))
    floats = train.Feature(float_list=train.FloatList(value=[0.5, 1.5]))
    full = {"dense": floats, "padded": numbers, "any": words, "rows": numbers}
    examples = [
        train.Example(features=train.Features(feature=f)).SerializeToString() for f in (full, {"rows": numbers})
    ]
    steps = {
        "steps": train.FeatureList(
            feature=[train.Feature(int64_list=train.Int64List(value=[i])) for i in range(3)]
        ),
        "any_steps": train.FeatureList(feature=[numbers, train.Feature(int64_list=train.Int64List())]),
        "row_steps": train.FeatureList(feature=[floats, floats]),
    }  # fmt: skip
    sequence = train.SequenceExample(
        context=train.Features(feature={"any": words}), feature_lists=train.FeatureLists(feature_list=steps)
    ).SerializeToString()

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(value[key]) for key in sorted(value)}
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        if isinstance(value, tf.RaggedTensor):
            return value.to_list()
        if isinstance(value, tf.SparseTensor):
            return plain([value.indices, value.values, value.dense_shape])
        return value.numpy().tolist() if value.shape.rank else value.numpy()

    return {
        "batch": plain(m.batch(examples)),
        "single": plain(m.single(examples[0])),
        "sequences": plain(m.sequences([sequence, sequence])),
        "sequence": plain(m.sequence(sequence)),
    }


def record_parsing():
    import tensorflow as tf

    shutil.rmtree(PARSING_HOME, ignore_errors=True)
    m = parsing_model(tf)
    tf.saved_model.save(m, str(PARSING_HOME))
    (PARSING_HOME / "fingerprint.pb").unlink()
    print(parsing_results(tf, m))


def gradients_model(tf):
    """A module whose functions have gradients of their own, which capture tensors; one is a function of JAX."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import jax2tf

    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*")  # no paths
    m = tf.Module()
    m.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    @tf.custom_gradient
    def rounded(x, scale):
        return tf.round(x * m.w) * scale, lambda dy, variables: ((dy * scale * 10.0, None), [dy * x])

    batch = tf.TensorSpec([None, 2], tf.float32)
    m.rounded = tf.function(rounded, input_signature=[batch, tf.TensorSpec([], tf.float32)], autograph=False)
    tanh = jax2tf.convert(lambda x, w: jnp.tanh(x @ w), polymorphic_shapes=["(b, 2)", "..."])
    m.tanh = tf.function(lambda x: tanh(x, m.w), input_signature=[batch], autograph=False)
    return m


def gradients_results(tf, m):
    """What the functions of `gradients_model` give, each with the gradients of its first argument and of the variable,
    as Python values; the second needs JAX."""

    def of(function, *args):
        x = tf.Variable([[0.25, -0.5], [1.0, 0.125], [0.0, 0.75]])[: args[0]]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *args[1:])
        return [t.numpy().tolist() for t in (y, *tape.gradient(y, [x, m.w]))]

    return {"rounded": lambda: of(m.rounded, 2, tf.constant(2.0)), "tanh": lambda: of(m.tanh, 3)}


def record_gradients():
    import tensorflow as tf

    shutil.rmtree(GRADIENTS_HOME, ignore_errors=True)
    m = gradients_model(tf)
    tf.saved_model.save(m, str(GRADIENTS_HOME))
    (GRADIENTS_HOME / "fingerprint.pb").unlink()
    for name, result in gradients_results(tf, tf.saved_model.load(str(GRADIENTS_HOME))).items():
        print(name, result())


def defined_gradients_model(tf):
    """A module whose functions have gradients of their own, in all the places where a function can have them."""
    m = tf.Module()
    m.v = v = tf.Variable([2.0, 3.0], name="v")

    @tf.custom_gradient
    def clipped(x):
        return tf.square(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0) * 3.0

    @tf.custom_gradient
    def two_results(x, y):
        sine = tf.sin(x)
        return (x * y, x + y), lambda da, db: (da * sine + 7.0, db * y)

    @tf.custom_gradient
    def of_variable(x):
        return v * x, lambda dy, variables: (dy * v * 5.0, [dy * x * 11.0])

    @tf.custom_gradient
    def nested(x):
        y = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * 13.0))(x)
        return y + 1.0, lambda dy: dy * y

    @tf.custom_gradient
    def sparse(x):
        slices = lambda dy: tf.IndexedSlices(dy * 3.0, tf.constant([0]), tf.constant([2]))  # noqa: E731
        return tf.gather(x, [0]), slices

    def in_branch(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: clipped(x), lambda: x)

    def in_loop(x):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, clipped(x)), (tf.constant(0), x))[1]

    functions = {
        "clipped": clipped, "two_results": lambda x: tf.add_n(two_results(x, v)), "of_variable": of_variable,
        "nested": nested, "in_calls": lambda x: m.two_results(x) * m.clipped(x) * m.two_results(x), "sparse": sparse,
        "in_branch": in_branch, "in_loop": in_loop, "recomputed": tf.recompute_grad(lambda x: tf.sin(x) * v),
    }  # fmt: skip
    for name, function in functions.items():
        setattr(m, name, tf.function(function, input_signature=[tf.TensorSpec([2], tf.float32)], autograph=False))
    return m


def defined_gradients_results(tf, m):
    """The gradients of each function of `defined_gradients_model`: of its argument, and of the variable or None."""
    results = {}
    names = "clipped two_results of_variable nested in_calls sparse in_branch in_loop recomputed"
    for name in names.split():
        x = tf.constant([0.5, 1.25])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(m, name)(x)
        gradients = tape.gradient(y, [x, m.v])
        results[name] = [None if g is None else tf.convert_to_tensor(g).numpy().tolist() for g in gradients]
    return results


def check_gradients(path):
    import numpy as np
    import tensorflow as tf

    theirs = defined_gradients_results(tf, defined_gradients_model(tf))
    print(theirs)
    ours = defined_gradients_results(tf, tf.saved_model.load(path))
    for name, gradients in theirs.items():
        for own, expected in zip(ours[name], gradients, strict=True):
            if expected is not None:  # what is saved may give zeros in its place
                np.testing.assert_allclose(own, expected, rtol=1e-6, err_msg=name)


def check(path):
    import tensorflow as tf

    ours, theirs = (results(tf, tf.saved_model.load(str(p))) for p in (path, HOME))
    if ours != theirs:
        raise SystemExit(f"TapeFlow's gives {ours}\nTensorFlow's {theirs}")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        signature = tf.compat.v1.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        feeds = {signature.inputs["inputs"].name: [[1.0, 2.0], [3.0, -4.0]]}
        found = session.run(signature.outputs["out"].name, feeds).tolist()
    if found != theirs["signature"]["out"]:
        raise SystemExit(f"In a session, TapeFlow's gives {found}, TensorFlow's {theirs['signature']['out']}")


COMMANDS = {
    "record": record,
    "record-graph": record_graph,
    "record-parsing": record_parsing,
    "record-gradients": record_gradients,
    "check": check,
    "check-gradients": check_gradients,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("directory", nargs="?")
    args = parser.parse_args()
    command = COMMANDS[args.command]
    command(args.directory) if args.directory else command()
