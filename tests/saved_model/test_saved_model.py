"""SavedModels, to and fro. What is in `fixtures/saved_model` and what it gives were recorded with TensorFlow 2.21."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.saved_model.messages import read_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "record.py"
RECORDED = ROOT / "tests" / "fixtures" / "saved_model"
RESULTS = {
    "gradients": [[[22.0, 28.0, 34.0], [44.0, 56.0, 68.0]], 114.0],
    "call": {"out": [[11.0, 14.0, 17.0], [5.0, 5.0, 5.0]], "sum": [3.0, -1.0]},
    "count": 2,
    "loop": [9, [14.0, 16.0, 14.0]],
    "text": b"abc-ABC",
    "look_up": [[3.0, 6.0, -3.0, -3.0], [0, 3, 1, 3], 2],
    "options": [
        [[6.0, 6.0], {"a": [[1.0, 1.0], [2.0, 2.0]]}],
        [[9.0, 18.0], {"a": [[1.0, 2.0], [2.0, 3.0]]}],
        [[0.5, 1.0], {"a": [[1.0, 1.0], [2.0, 2.0]]}],
    ],
    "signature": {"out": [[11.0, 14.0, 17.0], [5.0, 5.0, 5.0]], "sum": [3.0, -1.0]},
}


# From `record.py saved_model record-gradients`: results, gradients of the argument and of the variable.
OWN_GRADIENTS = {
    "rounded": [[[0.0, -2.0], [6.0, 0.0]], [[20.0, 20.0], [20.0, 20.0]], [[0.25, -0.5], [1.0, 0.125]]],
    "tanh": [
        [[-0.8482836484909058, -0.9051482081413269], [0.8798266649246216, 0.9866143465042114],
         [0.9780261516571045, 0.9950547218322754]],
        [[0.6418282985687256, 1.5640714168548584], [0.2790893018245697, 0.7840836644172668],
         [0.0631970465183258, 0.16985894739627838]],
        [[0.29600876569747925, 0.07176881283521652], [-0.0793706551194191, -0.07962977141141891]],
    ],
}  # fmt: skip
# From `record.py saved_model check-gradients`: gradients of the argument and of the variable.
DEFINED_GRADIENTS = {
    "clipped": [[3.0, 3.0], None],
    "two_results": [[7.479425430297852, 7.948984622955322], [2.0, 3.0]],
    "of_variable": [[10.0, 15.0], [5.5, 13.75]],
    "nested": [[0.25, 1.5625], None],
    "in_calls": [[17.8389949798584, 40.72461700439453], [3.5, 75.0]],
    "sparse": [[3.0, 0.0], None],
    "in_branch": [[3.0, 3.0], None],
    "in_loop": [[3.0, 3.0], None],
    "recomputed": [[1.7551651000976562, 0.9459670782089233], [0.4794255495071411, 0.9489846229553223]],
}
PARSED = {
    "batch": {
        "any": [[[0, 0], [0, 1]], [b"a", b"bc"], [2, 2]],
        "dense": [[0.5, 1.5], [7.0, 8.0]],
        "padded": [[1, 2, 3], [-1, -1, -1]],
        "rows": [[1, 2, 3], [1, 2, 3]],
    },
    "single": {"any": [[[0], [1]], [b"a", b"bc"], [2]], "dense": [0.5, 1.5], "padded": [1, 2, 3], "rows": [1, 2, 3]},
    "sequences": [
        {"any": [[[0, 0], [0, 1], [1, 0], [1, 1]], [b"a", b"bc", b"a", b"bc"], [2, 2]]},
        {
            "any_steps": [
                [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]],
                [1, 2, 3, 1, 2, 3],
                [2, 2, 3],
            ],
            "row_steps": [[[0.5, 1.5], [0.5, 1.5]], [[0.5, 1.5], [0.5, 1.5]]],
            "steps": [[0, 1, 2], [0, 1, 2]],
        },
        {"steps": [3, 3]},
    ],
    "sequence": [{}, {"steps": [0, 1, 2]}],
}


@pytest.fixture(scope="module")
def recorder():
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        from recording import saved_model
    finally:
        sys.path.pop(0)
    return saved_model


@pytest.fixture(scope="module")
def saved(recorder, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("saved"))
    model = recorder.model(tf)
    tf.saved_model.save(model, path, signatures=model.__call__)
    return path


def test_loads_what_tensorflow_saved(recorder):
    loaded = tf.saved_model.load(RECORDED)
    assert recorder.results(tf, loaded) == RESULTS
    assert loaded.w.trainable and not loaded.count.trainable and loaded.w.name == "w:0"


def test_parses_examples_as_tensorflow_saved_it(recorder, tmp_path):
    loaded = tf.saved_model.load(RECORDED.with_name("parsing_saved_model"))
    assert recorder.parsing_results(tf, loaded) == PARSED
    tf.saved_model.save(recorder.parsing_model(tf), tmp_path)
    assert recorder.parsing_results(tf, tf.saved_model.load(tmp_path)) == PARSED


@pytest.mark.parametrize("name", sorted(OWN_GRADIENTS))
def test_functions_that_tensorflow_saved_have_their_own_gradients(recorder, name):
    if name == "tanh":
        pytest.importorskip("jax")
    loaded = tf.saved_model.load(RECORDED.with_name("own_gradients"))
    for _ in range(2):  # each tape differentiates anew
        result = recorder.gradients_results(tf, loaded)[name]()
        for value, expected in zip(result, OWN_GRADIENTS[name], strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_saves_the_gradients_that_a_program_defines(recorder, tmp_path):
    model = recorder.defined_gradients_model(tf)
    for i in range(3):  # as it is, loaded, and loaded from what a loaded one was saved as
        gradients = recorder.defined_gradients_results(tf, model)
        assert list(gradients) == list(DEFINED_GRADIENTS)
        for name, expected in DEFINED_GRADIENTS.items():
            for value, wanted in zip(gradients[name], expected, strict=True):
                assert (value is None) == (wanted is None)
                if wanted is not None:
                    np.testing.assert_allclose(value, wanted, rtol=1e-6, err_msg=name)
        tf.saved_model.save(model, tmp_path / str(i))
        model = tf.saved_model.load(tmp_path / str(i))


def test_writes_a_gradient_as_tensorflow_does(tmp_path):
    """In `own_gradients` there is such a function, whose gradient captures two arguments of it, and a variable."""
    m = tf.Module()
    m.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    @tf.custom_gradient
    def rounded(x, scale):
        return tf.round(x * m.w) * scale, lambda dy, variables: ((dy * scale * 10.0, None), [dy * x])

    specs = [tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.float32)]
    m.rounded = tf.function(rounded, input_signature=specs, autograph=False)
    tf.saved_model.save(m, tmp_path)

    def written(folder):
        meta_graph = read_model(str(folder))[0]
        library, objects = meta_graph.graph_def.library, meta_graph.object_graph_def
        functions, found = {f.signature.name: f for f in library.function}, []
        for registered in library.registered_gradients:
            gradient, saved = functions[registered.gradient_func], objects.concrete_functions[registered.gradient_func]
            bound = [objects.nodes[i] for i in saved.bound_inputs]
            captured = [n.captured_tensor for n in bound if n.WhichOneof("kind") == "captured_tensor"]
            if {c.name for c in captured} != {"x:0", "scale:0"}:
                continue  # that of another function
            name = registered.registered_op_type
            (outer,) = {c.concrete_function for c in captured}
            (node,) = [n for n in functions[outer].node_def if n.attr["_gradient_op_type"].s.decode() == name]
            assert name.startswith("CustomGradient-")
            found.append(
                {
                    "node": (node.op, list(node.attr["T"].list.type)),
                    "arguments": [
                        (a.name, a.type) for a in gradient.signature.input_arg if a.name.startswith("result")
                    ],
                    "signature": saved.canonicalized_input_signature,
                    "outputs": [v.WhichOneof("kind") for v in saved.output_signature.list_value.values],
                }
            )
        return found

    ours, theirs = written(tmp_path), written(RECORDED.with_name("own_gradients"))
    assert len(theirs) == 1 and ours == theirs


def test_a_gradient_that_is_not_saved_is_missing(tmp_path):
    m = tf.Module()
    doubled = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 5.0))
    m.f = tf.function(doubled, input_signature=[tf.TensorSpec([], tf.float32)], autograph=False)
    tf.saved_model.save(m, tmp_path, options=tf.saved_model.SaveOptions(experimental_custom_gradients=False))
    loaded, x = tf.saved_model.load(tmp_path), tf.constant(1.0)
    assert loaded.f(x).numpy() == 2.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(LookupError, match="gradient registry has no entry for: CustomGradient-"):
            tape.gradient(loaded.f(x), x)


def test_a_gradient_that_cannot_be_traced_is_not_saved(tmp_path):
    m = tf.Module()
    stubborn = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: tf.constant(dy.numpy())))
    m.f = tf.function(stubborn, input_signature=[tf.TensorSpec([], tf.float32)], autograph=False)
    with pytest.raises(
        ValueError, match=r"(?s)Error when tracing gradients for SavedModel.*experimental_custom_gradients"
    ):
        tf.saved_model.save(m, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_gradient_in_a_loop_takes_a_tensor_from_around_it(tmp_path):
    m = tf.Module()

    def f(x):
        y = tf.exp(x)
        scaled = tf.custom_gradient(lambda a: (a * 2.0, lambda dy: dy * y))
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, scaled(x)), (tf.constant(0), x))[1]

    m.f = tf.function(f, input_signature=[tf.TensorSpec([], tf.float32)], autograph=False)
    tf.saved_model.save(m, tmp_path)
    objects = read_model(str(tmp_path))[0].object_graph_def
    (captured,) = [n.captured_tensor for n in objects.nodes if n.WhichOneof("kind") == "captured_tensor"]
    assert captured.name == "Exp:0" and captured.concrete_function.startswith("__inference_f_")
    assert tf.saved_model.load(tmp_path).f(1.0).numpy() == 8.0


def test_loads_what_it_saved(recorder, saved):
    assert recorder.results(tf, tf.saved_model.load(saved)) == RESULTS


def test_loads_what_it_loaded_and_saved(recorder, tmp_path):
    loaded = tf.saved_model.load(RECORDED)
    tf.saved_model.save(loaded, tmp_path / "unused", signatures=loaded.signatures["serving_default"])
    assert recorder.results(tf, tf.saved_model.load(tmp_path / "unused")) == RESULTS
    loaded.loop(tf.constant(1))
    loaded.w.assign(2 * loaded.w)
    tf.saved_model.save(loaded, tmp_path, signatures=loaded.signatures["serving_default"])
    again = tf.saved_model.load(tmp_path)
    assert again.text("abc").numpy() == b"abc-ABC"
    np.testing.assert_allclose(again(tf.ones([1, 2]))["out"], [[11.0, 15.0, 19.0]])


@pytest.mark.tensorflow
def test_tensorflow_loads_ours(saved):
    subprocess.run([sys.executable, str(SCRIPT), "saved_model", "check", saved], check=True)


def test_signatures(saved):
    signatures = tf.saved_model.load(saved).signatures
    assert list(signatures) == ["serving_default"] and len(signatures) == 1
    found = signatures["serving_default"](inputs=tf.constant([[1.0, 1.0]]))
    assert {k: v.numpy().tolist() for k, v in found.items()} == {"out": [[8.0, 10.0, 12.0]], "sum": [2.0]}
    with pytest.raises(KeyError):
        signatures["other"]


def test_the_traces_are_those_that_were_saved(saved):
    loaded = tf.saved_model.load(saved)
    with pytest.raises(
        ValueError, match="Could not find matching concrete function to call loaded from the SavedModel"
    ):
        loaded.options(tf.ones([3]))
    with pytest.raises(ValueError, match="match one of the following 3 option"):
        loaded.options(tf.ones([2]), k=7)
    with pytest.raises(TypeError, match="missing a required argument"):
        loaded.options()
    in_a_function = tf.function(lambda x: loaded(x)["sum"] + 1.0)
    assert in_a_function(tf.ones([1, 2])).numpy().tolist() == [3.0]
    assert loaded.loop.get_concrete_function(tf.TensorSpec([], tf.int32)).structured_outputs[0].dtype is tf.int32


class Scale(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([], tf.int32)])
    def both(self, x, n):
        return x * self.factor, n

    @tf.function
    def untraced(self, x):
        return x


def test_outputs_of_signatures_have_names(tmp_path):
    module = Scale(tf.Variable(2.0))
    tf.saved_model.save(module, tmp_path, signatures={"s": module.both})
    loaded = tf.saved_model.load(tmp_path)
    found = loaded.signatures["s"](x=tf.constant(3.0), n=tf.constant(4))
    assert {k: v.numpy().item() for k, v in found.items()} == {"output_0": 6.0, "output_1": 4}
    with pytest.raises(ValueError, match="zero restored functions"):
        loaded.untraced(1.0)
    with pytest.raises(TypeError, match="not callable"):
        loaded(1.0)


def test_the_only_function_is_the_signature(tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: 2.0 * x, input_signature=[tf.TensorSpec([], name="x")])
    tf.saved_model.save(module, tmp_path)
    signature = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert signature(x=tf.constant(4.0))["output_0"].numpy() == 8.0


def function_of(x, result=lambda x: x):
    return tf.function(result, input_signature=[x])


@pytest.mark.parametrize(
    ("functions", "names"),
    [
        ([lambda: tf.function(lambda x: x)], ["serving_default"]),  # it has no input signature
        ([lambda: function_of(tf.TensorSpec([]), lambda x: {"k": [x]})], ["serving_default"]),
        ([lambda: function_of(tf.TensorSpec([]), lambda x: None)], ["serving_default"]),
        ([lambda: function_of(tf.TensorSpec([]))], []),
    ],
    ids=["without a signature", "of a structure", "of nothing", "another"],
)
def test_what_can_be_no_signature_does_not_count(functions, names, tmp_path):
    module = tf.Module()
    module.f = function_of(tf.TensorSpec([]))
    for i, function in enumerate(functions):
        setattr(module, f"other_{i}", function())
    tf.saved_model.save(module, tmp_path)
    assert list(tf.saved_model.load(tmp_path).signatures) == names


def test_a_default_signature_that_gives_no_tensors_is_refused(tmp_path):
    module = tf.Module()
    module._default_save_signature = function_of(tf.TensorSpec([]), lambda x: {"k": [x]})
    with pytest.raises(ValueError, match="signatures give"):
        tf.saved_model.save(module, tmp_path)


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        ([tf.TensorSpec([1]), tf.TensorSpec([1])], ["inputs", "inputs_1"]),
        ({"x": tf.TensorSpec([1]), "y": tf.TensorSpec([1])}, ["inputs", "inputs_1"]),
        ([tf.TensorSpec([1], name="a"), tf.TensorSpec([1])], ["a", "inputs"]),
        ([tf.TensorSpec([1], name="a"), tf.TensorSpec([1], name="a")], ["a", "a_1"]),
    ],
)
def test_tensors_of_structures_have_names(specs, names, tmp_path):
    module = tf.Module()
    signature = tf.function(lambda inputs: tf.nest.flatten(inputs)[0] * 2.0, input_signature=[specs])
    tf.saved_model.save(module, tmp_path, signatures=signature)
    loaded = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert sorted(loaded.structured_input_signature[1]) == names
    assert loaded(**{name: tf.constant([float(i)]) for i, name in enumerate(names, 1)})["output_0"].numpy() == [2.0]


def test_values_of_a_signature_need_no_name(tmp_path):
    scale = tf.function(lambda x, factor: x * factor).get_concrete_function(tf.TensorSpec([]), 3.0)
    tf.saved_model.save(tf.Module(), tmp_path, signatures=scale)
    assert tf.saved_model.load(tmp_path).signatures["serving_default"](x=tf.constant(2.0))["output_0"].numpy() == 6.0


def test_functions_have_other_names(tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])
    module.plus = tf.function(lambda x: x + 1.0)
    module.plus(tf.constant(1.0))
    module.plus(tf.constant([1.0]))
    aliases = {"a": module.double, "b": [module.plus], "c": tf.function(lambda x: x)}
    tf.saved_model.save(module, tmp_path, options=tf.saved_model.SaveOptions(function_aliases=aliases))
    assert not hasattr(tf.saved_model.load(tmp_path), "function_aliases")
    options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    found = tf.saved_model.load(tmp_path, options=options).function_aliases
    assert sorted(found) == ["a", "b"]  # what is not saved has no other name
    assert found["a"](3.0).numpy() == 6.0 and found["b"](tf.constant([3.0])).numpy() == [4.0]
    with pytest.raises(TypeError, match="Functions in `function_aliases`"):
        tf.saved_model.save(module, tmp_path, options=tf.saved_model.SaveOptions(function_aliases={"a": 3}))


def test_a_default_signature_that_fails_is_none(tmp_path):
    class Unsure(tf.Module):
        @property
        def _default_save_signature(self):
            raise TypeError("its shapes are not known yet")

    tf.saved_model.save(Unsure(), tmp_path)
    assert not tf.saved_model.load(tmp_path).signatures


def test_refuses_what_cannot_be_saved(tmp_path):
    module = Scale(tf.Variable(2.0))
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, tmp_path)
    for wrong in (3, module.untraced, {"a": 3}):
        with pytest.raises(ValueError, match=r"Only `tf\.functions` with an input signature"):
            tf.saved_model.save(module, tmp_path, signatures=wrong)
    elsewhere = tf.Variable(3.0)
    module.uses = tf.function(lambda x: x * elsewhere, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match="Tried to export a function which references an 'untracked' resource"):
        tf.saved_model.save(module, tmp_path)
    module.uses = tf.function(lambda: tf.saved_model.save(Scale(tf.Variable(1.0)), tmp_path))
    with pytest.raises(NotImplementedError, match=r"not supported inside a traced @tf\.function"):
        module.uses()
    with pytest.raises(NotImplementedError, match="one message and one data file"):
        tf.saved_model.SaveOptions(experimental_image_format=True)


def test_saves_and_loads_in_a_graph(tmp_path):
    class Square(tf.Module):
        @tf.function
        def __call__(self, x):
            return x * x

    with tf.Graph().as_default():
        square = Square()
        square(tf.constant(0.0))
        tf.saved_model.save(square, tmp_path)
        squared = tf.saved_model.load(tmp_path)(11.0)
        with tf.compat.v1.Session() as session:
            assert session.run(squared) == 121.0


def test_refuses_what_cannot_be_loaded(saved, tmp_path):
    assert tf.saved_model.contains_saved_model(saved) and not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(tmp_path)
    with pytest.raises(ValueError, match=r"incompatible argument to `tags`: \['other'\]"):
        tf.saved_model.load(saved, tags="other")
    assert tf.saved_model.load(saved, tags=["serve"])
    (tmp_path / "saved_model.pb").write_bytes(b"\xff" * 100)
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(tmp_path)


def test_without_the_values_of_variables(saved):
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(saved, options=options)
    assert loaded.w.numpy().tolist() == [[0.0] * 3] * 2 and float(loaded.items[0]) == 0.0


def test_assets(tmp_path):
    first, second = tmp_path / "words.txt", tmp_path / "more" / "words.txt"
    second.parent.mkdir()
    first.write_text("one")
    second.write_text("two")
    module = tf.Module()
    module.files = [tf.saved_model.Asset(first), tf.saved_model.Asset(str(second))]
    paths = [asset.asset_path for asset in module.files]
    module.read = tf.function(lambda: tf.io.read_file(paths[0]) + tf.io.read_file(paths[1]), input_signature=[])
    tf.saved_model.save(module, tmp_path / "saved")
    first.unlink()
    (tmp_path / "saved").rename(tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert loaded.read().numpy() == b"onetwo"
    tf.saved_model.save(loaded, tmp_path / "again")
    assert tf.saved_model.load(tmp_path / "again").read().numpy() == b"onetwo"


def test_tables(tmp_path):
    words = tmp_path / "words"
    words.write_text("x\ny\n")
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.TextFileInitializer(str(words), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    numbers = tf.lookup.KeyValueTensorInitializer(tf.constant([5, 7], tf.int64), tf.constant([0, 1], tf.int64))

    module = tf.Module()
    module.prices = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0]), -1.0)
    module.numbers, module.words = tf.lookup.StaticVocabularyTable(numbers, 2), tf.lookup.StaticHashTable(lines, -1)
    module.factor = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(x):
        numbers = module.numbers.lookup(tf.constant([5, 7, 9], tf.int64))
        prices = module.prices.lookup(x) * module.factor
        return {"prices": prices, "numbers": numbers, "words": module.words.lookup(x), "size": module.prices.size()}

    module.look_up = look_up
    resource = tf.saved_model.experimental.TrackableResource  # Keras looks for such
    assert isinstance(module.numbers, resource) and isinstance(module.prices, resource)
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    tf.saved_model.save(module, first)
    words.unlink()
    tf.saved_model.save(tf.saved_model.load(first), second)
    for path in (first, second):
        loaded = tf.saved_model.load(path)
        for function in (loaded.look_up, loaded.signatures["serving_default"]):
            found = function(tf.constant(["a", "q", "y"]))
            assert found["prices"].numpy().tolist() == [2.0, -2.0, -2.0]
            assert found["numbers"].numpy().tolist() == [0, 1, 3]
            assert found["words"].numpy().tolist() == [-1, -1, 1] and found["size"].numpy() == 2


def test_tables_that_change(tmp_path):
    """Their entries are saved, and each load has tables of its own."""
    mutable, dense = tf.lookup.experimental.MutableHashTable, tf.lookup.experimental.DenseHashTable
    module = tf.Module()
    module.words = mutable(tf.string, tf.int64, -1, checkpoint=False)
    module.rows = mutable(tf.int64, tf.float32, [0.0, 0.0])
    module.buckets = dense(tf.int64, tf.int64, -1, empty_key=-5, deleted_key=-7, initial_num_buckets=8)
    module.words.insert(["a", "b"], tf.constant([1, 2], tf.int64))
    module.rows.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
    module.buckets.insert([1, 2, 3], [10, 20, 30])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(x):
        tables = [module.words, module.rows, module.buckets]
        found = {"rows": module.rows.lookup(tf.constant([2, 9], tf.int64)), "words": module.words.lookup(x)}
        return found | {"sizes": tf.stack([table.size() for table in tables])}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def insert(keys, values):
        module.words.insert(keys, values)

    module.look_up, module.insert = look_up, insert
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    tf.saved_model.save(module, first)
    changed = tf.saved_model.load(first)
    changed.insert(tf.constant(["b", "c"]), tf.constant([7, 8], tf.int64))
    tf.saved_model.save(changed, second)
    for path, words in ((first, [1, 2, -1]), (second, [1, 7, 8])):
        loaded = tf.saved_model.load(path)
        found = loaded.look_up(tf.constant(["a", "b", "c"]))
        assert found["words"].numpy().tolist() == words
        assert found["rows"].numpy().tolist() == [[3.0, 4.0], [0.0, 0.0]]
        assert found["sizes"].numpy().tolist() == [len({*words} - {-1}), 2, 3]
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            signature = tf.compat.v1.saved_model.loader.load(session, ["serve"], path).signature_def["serving_default"]
            fed = {signature.inputs["x"].name: ["a", "b", "c"]}
            assert session.run(signature.outputs["words"].name, fed).tolist() == words
            assert session.run(signature.outputs["sizes"].name, fed).tolist() == [len({*words} - {-1}), 2, 3]


def test_keras_models(tmp_path):
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential(
        [tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(),
         layers.Flatten(), layers.Dropout(0.5), layers.Dense(3, activation="softmax")]
    )  # fmt: skip
    x = np.linspace(0, 1, 128, dtype=np.float32).reshape(2, 8, 8, 1)
    expected = [[0.2514, 0.40731, 0.34128], [0.17352, 0.50822, 0.31826]]  # as in TensorFlow, with this seed
    np.testing.assert_allclose(model(x), expected, atol=1e-5)
    model.export(tmp_path / "exported", verbose=False)
    tf.saved_model.save(model, tmp_path / "saved")
    loaded = tf.saved_model.load(tmp_path / "exported")
    np.testing.assert_allclose(loaded.serve(x), expected, atol=1e-5)
    served = tf.keras.layers.TFSMLayer(str(tmp_path / "exported"), call_endpoint="serve")
    np.testing.assert_allclose(served(x), expected, atol=1e-5)
    signature = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    np.testing.assert_allclose(signature(tf.constant(x))["output_0"], expected, atol=1e-5)


class Trained(tf.Module):
    """A training step whose gradients go through a loop, a conditional and a call."""

    def __init__(self):
        self.w = tf.Variable([[0.5, 0.1], [0.2, 0.3]])
        self.b = tf.Variable([0.1, 0.2])

    @tf.function
    def layer(self, x):
        return tf.tanh(tf.matmul(x, self.w) + self.b)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
    def step(self, x, n):
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(n):
                y = self.layer(y)
            if tf.reduce_sum(y) > 0.0:
                y = y * self.b
            loss = tf.reduce_mean(y * y)
        w, b = tape.gradient(loss, [self.w, self.b])
        self.w.assign_sub(0.1 * w)
        self.b.assign_sub(0.1 * b)
        return loss


def test_steps_with_gradients_through_control_flow_are_saved(tmp_path):
    """What was saved gives the same again; TensorFlow gives it for this model, too, saved or not."""
    x, n = tf.constant([[1.0, 2.0], [-1.0, 0.5]]), tf.constant(3)
    model = Trained()
    before = [model.step(x, n).numpy() for _ in range(2)]
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    np.testing.assert_allclose(before, [0.0026287842, 0.0024658493], rtol=1e-5)
    for each in (model, loaded):
        np.testing.assert_allclose([each.step(x, n) for _ in range(2)], [0.0023175399, 0.0021821652], rtol=1e-5)


# ---- for readers with older definitions of ops -----------------------------------------------------------------------


def _nodes(path):
    graph = read_model(path)[0].graph_def
    return [*graph.node, *(node for f in graph.library.function for node in f.node_def)]


def test_default_attrs_are_not_written(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.math.top_k(tf.matmul(x, x, transpose_b=True), 2).values,
        input_signature=[tf.TensorSpec([None, 3], tf.float32)],
    )
    tf.saved_model.save(module, str(tmp_path))
    attrs = {node.op: set(node.attr) for node in _nodes(str(tmp_path))}
    assert attrs["TopKV2"] <= {"T"} and attrs["MatMul"] == {"T", "transpose_b"}
    assert read_model(str(tmp_path))[0].meta_info_def.stripped_default_attrs
    x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]])
    assert tf.saved_model.load(str(tmp_path)).f(x).numpy().tolist() == [[14.0, 10.5], [17.25, 10.5]]


def test_sums_of_strings_are_operations_of_tensorflow(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + "!", input_signature=[tf.TensorSpec([None], tf.string)])
    tf.saved_model.save(module, str(tmp_path))
    assert [node.op for node in _nodes(str(tmp_path)) if node.op.startswith("Add")] == [
        "Add"
    ] * 2  # AddV2 takes no strings
    assert tf.saved_model.load(str(tmp_path)).f(tf.constant(["a"])).numpy().tolist() == [b"a!"]


# ---- state in the checkpoint besides variables -----------------------------------------------------------------------


def test_slots_of_an_optimizer_are_saved_and_loaded(tmp_path):
    module = tf.Module()
    module.v, module.optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    for _ in range(2):
        module.optimizer.minimize(lambda: tf.reduce_sum(module.v**2), var_list=[module.v])
    slot = module.optimizer.get_slot(module.v, "momentum")

    @tf.function(input_signature=[])
    def momentum():
        return slot + 0.0

    module.momentum = momentum
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    tf.saved_model.save(module, first)
    tf.saved_model.save(tf.saved_model.load(first), second)
    for path in (first, second):
        loaded = tf.saved_model.load(path)
        assert loaded.optimizer.get_slot_names() == ["momentum"]
        assert loaded.optimizer.get_slot(loaded.v, "momentum").numpy().tolist() == slot.numpy().tolist()
        loaded.optimizer.get_slot(loaded.v, "momentum").assign([7.0, 8.0])
        assert loaded.momentum().numpy().tolist() == [7.0, 8.0]
        optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
        restored = tf.train.Checkpoint(v=tf.Variable([0.0, 0.0]), optimizer=optimizer)
        restored.read(f"{path}/variables/variables").assert_existing_objects_matched()
        assert restored.optimizer.get_slot(restored.v, "momentum").numpy().tolist() == slot.numpy().tolist()


def test_a_restored_function_computes_with_the_numbers_of_the_saved_one(tmp_path):
    # Attrs are float32 in files. Batch norm of one value with a large mean multiplies the difference.
    x = tf.constant([[[[875.0, 1234.5]]]])

    @tf.function(input_signature=[tf.TensorSpec([1, 1, 1, 2])])
    def normalize(x):
        one = tf.ones([2])
        return tf.compat.v1.nn.fused_batch_norm(x * 1.1, one * 7.0, one, epsilon=1e-5)[0]

    module = tf.Module()
    module.normalize = normalize
    tf.saved_model.save(module, str(tmp_path))
    restored = tf.saved_model.load(str(tmp_path)).normalize
    np.testing.assert_array_equal(normalize(x).numpy(), restored(x).numpy())
    assert "1e-05" in restored.concrete_functions[0].source(kernels=True)
