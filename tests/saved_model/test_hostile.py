"""SavedModels that somebody wrote to do harm: each is refused by an error that says what is wrong."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.varint import varint
from tapeflow.saved_model.messages import read_model, write_model

VECTOR = [tf.TensorSpec([2])]
MANY = 1 << 40


def plain():
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    inner = tf.function(lambda x: x * module.v)
    module.f = tf.function(lambda x: inner(x) + 1.0, input_signature=VECTOR)
    return module


def looping():
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1], input_signature=VECTOR
    )
    return module


def with_table(folder):
    path = folder / "words.txt"
    path.write_text("a\nb\n")
    whole, line = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(str(path), tf.string, whole, tf.int64, line), -1
    )
    module.words = tf.saved_model.Asset(path)
    module.f = tf.function(lambda x: module.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
    return module


def loaded(folder, module, change):
    """Saves a module, changes the message, and loads the SavedModel."""
    path = str(folder / "model")
    tf.saved_model.save(module, path)
    (meta,) = read_model(path)
    change(meta)
    write_model(path, meta)
    return tf.saved_model.load(path)


def objects(meta, kind):
    return [node for node in meta.object_graph_def.nodes if node.WhichOneof("kind") == kind]


def calls(meta):
    """Returns functions with a node of each that calls another function."""
    return [(f, n) for f in meta.graph_def.library.function for n in f.node_def if "f" in n.attr]


# ---- functions -------------------------------------------------------------------------------------------------------


def itself(meta):
    for function, node in calls(meta):
        node.attr["f"].func.name = function.signature.name


def each_other(meta):
    names = [f.signature.name for f, _ in calls(meta)]
    for (_, node), name in zip(calls(meta), names[1:] + names[:1], strict=True):
        node.attr["f"].func.name = name


@pytest.mark.parametrize("change", [itself, each_other])
def test_functions_that_call_themselves(change, tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match=r"'.*' calls itself.* -> "):
        loaded(tmp_path, plain(), change)


def test_a_loop_whose_body_runs_the_loop(tmp_path):
    def again(meta):
        loop = next(n for f in meta.graph_def.library.function for n in f.node_def if "While" in n.op)
        body = next(f for f in meta.graph_def.library.function if f.signature.name == loop.attr["body"].func.name)
        inner = body.node_def.add()
        inner.CopyFrom(loop)
        inner.name = "again"
        inner.input[:] = [a.name for a in body.signature.input_arg][: len(loop.input)]

    with pytest.raises(tf.errors.UnimplementedError, match="calls itself"):
        loaded(tmp_path, looping(), again)


def chain(length, calls_each):
    """Returns a change that has functions call each other: each one the one before, several times."""

    def change(meta):
        library = meta.graph_def.library
        _, call = next((f, n) for f, n in calls(meta) if f.signature.name.startswith("__inference"))
        inner = next(f for f in library.function if f.signature.name == call.attr["f"].func.name)
        arguments = [a.name for a in inner.signature.input_arg]
        name, result = inner.signature.name, inner.signature.output_arg[0].name
        for i in range(length):
            function = library.function.add()
            function.signature.CopyFrom(inner.signature)
            function.signature.name = f"f{i}"
            del function.signature.control_output[:]
            for j in range(calls_each):
                node = function.node_def.add()
                node.CopyFrom(call)
                node.name = f"call_{j}"
                node.attr["f"].func.name = name
                node.input[:] = arguments if j == 0 else [f"call_{j - 1}:output:0", *arguments[1:]]
            function.ret[result] = f"call_{calls_each - 1}:output:0"
            name = function.signature.name
        call.attr["f"].func.name = name

    return change


def test_functions_that_expand_to_billions_of_operations(tmp_path):
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"it has \d{7} operations"):
        loaded(tmp_path, plain(), chain(60, 2))


def test_functions_nested_too_deeply(tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match="nested 65 deep"):
        loaded(tmp_path, plain(), chain(1000, 1))
    assert loaded(tmp_path, plain(), chain(55, 1)).f([1.0, 2.0]).numpy().tolist() == [2.0, 5.0]


def without_traces(meta):
    for name in list(meta.object_graph_def.concrete_functions):
        del meta.object_graph_def.concrete_functions[name]


def without_functions(meta):
    del meta.graph_def.library.function[:]


def with_another_trace(meta):
    for node in objects(meta, "function"):
        node.function.concrete_functions[:] = ["nowhere"]


@pytest.mark.parametrize("change", [without_traces, without_functions, with_another_trace])
def test_functions_that_are_not_there(change, tmp_path):
    with pytest.raises(OSError, match="has no function '"):
        loaded(tmp_path, plain(), change).f([1.0, 2.0])


def test_a_function_that_captures_no_tensor(tmp_path):
    def change(meta):
        for trace in meta.object_graph_def.concrete_functions.values():
            trace.bound_inputs[:] = [0] * len(trace.bound_inputs)

    with pytest.raises(OSError, match="captures object 0, which is no tensor"):
        loaded(tmp_path, plain(), change).f([1.0, 2.0])


# ---- objects ---------------------------------------------------------------------------------------------------------


def child(meta):
    meta.object_graph_def.nodes[0].children[0].node_id = 999


def slot(meta):
    meta.object_graph_def.nodes[0].slot_variables.add(original_variable_node_id=999, slot_variable_node_id=1)


def state(meta):
    functions = meta.object_graph_def.nodes[0].saveable_objects["x"]
    functions.save_function, functions.restore_function = 1, -1


def capture(meta):
    for trace in meta.object_graph_def.concrete_functions.values():
        trace.bound_inputs[:] = [-1] * len(trace.bound_inputs)


@pytest.mark.parametrize("change", [child, slot, state, capture])
def test_objects_that_are_not_there(change, tmp_path):
    with pytest.raises(OSError, match="damaged: it names objects that it does not have"):
        loaded(tmp_path, plain(), change)


@pytest.mark.parametrize("name", ["__class__", "__dict__", "__getattribute__", "_trackable_children"])
def test_attributes_that_python_and_checkpoints_use(name, tmp_path):
    def change(meta):
        next(c for c in meta.object_graph_def.nodes[0].children if c.local_name == "f").local_name = name

    with pytest.raises(OSError, match=f"names an attribute '{name}'"):
        loaded(tmp_path, plain(), change)


def lists(length, cyclic):
    """Returns a change that adds lists, each in the one before."""

    def change(meta):
        nodes = meta.object_graph_def.nodes
        first = len(nodes)
        nodes[0].children.add(node_id=first, local_name="lists")
        for i in range(length):
            node = nodes.add()
            node.user_object.identifier = "trackable_list_wrapper"
            if i + 1 < length or cyclic:
                node.children.add(node_id=first + (i + 1) % length, local_name="0")

    return change


def test_lists_in_each_other(tmp_path):
    assert loaded(tmp_path, plain(), lists(50, False)).lists[0][0][0]
    with pytest.raises(OSError, match="nested more than 64 deep"):
        loaded(tmp_path, plain(), lists(5000, False))
    for length in (1, 2, 100):
        with pytest.raises(OSError, match="a list or dict that holds itself"):
            loaded(tmp_path, plain(), lists(length, True))


def test_a_list_at_the_root(tmp_path):
    def change(meta):
        meta.object_graph_def.nodes[0].user_object.identifier = "trackable_list_wrapper"

    with pytest.raises(OSError, match="a list or dict at its root"):
        loaded(tmp_path, plain(), change)


def no_children(node):
    del node.children[:]


def other_children(node):
    for each in node.children:
        each.node_id = 0


@pytest.mark.parametrize("change", [no_children, other_children])
def test_a_table_without_its_functions(change, tmp_path):
    with pytest.raises(OSError, match="a table without the functions that create it"):
        loaded(tmp_path, with_table(tmp_path), lambda meta: [change(node) for node in objects(meta, "resource")])


# ---- files and tensors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a/../../../secret", "..", "", "../assets2/x"])
def test_files_outside_of_the_assets(name, tmp_path):
    def change(meta):
        for file in meta.asset_file_def:
            file.filename = name

    with pytest.raises(OSError, match="a file outside of its assets"):
        loaded(tmp_path, with_table(tmp_path), change)


def test_a_file_that_is_not_there(tmp_path):
    def change(meta):
        for node in objects(meta, "asset"):
            node.asset.asset_file_def_index = 7

    with pytest.raises(OSError, match="names files that it does not have"):
        loaded(tmp_path, with_table(tmp_path), change)


def test_files_outside_of_the_assets_of_a_graph(tmp_path):
    path, words = str(tmp_path / "model"), tmp_path / "words.txt"
    words.write_text("a")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.add_to_collection("files", tf.constant(str(words)))
        builder = tf.compat.v1.saved_model.Builder(path)
        assets = tf.compat.v1.get_collection("files")
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=assets)
        builder.save()
    assert tf.saved_model.load(path).asset_paths
    (meta,) = read_model(path)
    meta.asset_file_def[0].filename = "../../words.txt"
    write_model(path, meta)
    with pytest.raises(OSError, match="a file outside of its assets"):
        tf.saved_model.load(path)
    with (
        tf.Graph().as_default(), tf.compat.v1.Session() as session,
        pytest.raises(OSError, match="a file outside of its assets"),
    ):  # fmt: skip
        tf.compat.v1.saved_model.load(session, ["serve"], path)


def test_constants(tmp_path):
    def change(name, **shape):
        def add(meta):
            nodes = meta.object_graph_def.nodes
            nodes[0].children.add(node_id=len(nodes), local_name="constant")
            nodes.add().constant.operation = name
            const = meta.graph_def.node.add(name="c", op="Const")
            const.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(3.0))
            const.attr["value"].tensor.tensor_shape.dim.add(**shape)

        return add

    assert loaded(tmp_path, plain(), change("c", size=2)).constant.numpy().tolist() == [3.0, 3.0]
    with pytest.raises(OSError, match="has no constant 'd'"):
        loaded(tmp_path, plain(), change("d", size=2))
    with pytest.raises(OSError, match=r"'c' that can't be read: Shape \[1099511627776\] is too large"):
        loaded(tmp_path, plain(), change("c", size=MANY))


def test_a_constant_of_terabytes_in_a_function(tmp_path):
    def change(meta):
        for function in meta.graph_def.library.function:
            for node in function.node_def:
                if node.op == "Const":
                    tensor = node.attr["value"].tensor
                    tensor.tensor_shape.dim.add(size=MANY)

    with pytest.raises(ValueError, match="is too large: it needs 4398046511104 bytes, and the message has"):
        loaded(tmp_path, plain(), change).f([1.0, 2.0])


def test_a_result_of_terabytes(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda n: tf.fill([n, n], 1.0), input_signature=[tf.TensorSpec([], tf.int32)])
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        loaded(tmp_path, module, lambda meta: None).f(1 << 24)


# ---- messages --------------------------------------------------------------------------------------------------------


def test_a_message_nested_too_deeply(tmp_path):
    def field(number, data):
        return varint(number << 3 | 2) + varint(len(data)) + data

    value = b""
    for _ in range(20_000):
        value = field(51, field(1, value))
    trace = field(2, field(1, b"f") + field(2, field(4, value)))
    (tmp_path / "saved_model.pb").write_bytes(field(2, field(7, trace)))
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(str(tmp_path))


def test_a_text_nested_too_deeply(tmp_path):
    value = "list_value { values { " * 5000 + "}}" * 5000
    trace = f"concrete_functions {{ key: 'f' value {{ output_signature {{ {value} }} }} }}"
    (tmp_path / "saved_model.pbtxt").write_text(f"meta_graphs {{ object_graph_def {{ {trace} }} }}")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(str(tmp_path))


def test_tensor_messages_of_terabytes():
    message = tf.make_tensor_proto([1.0, 2.0])
    message.ClearField("tensor_content")
    message.float_val.append(1.0)
    message.tensor_shape.dim[0].size = MANY
    with pytest.raises(ValueError, match="is too large"):
        tf.make_ndarray(message)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is too large"):
        tf.io.parse_tensor(message.SerializeToString(), tf.float32)
    message.tensor_shape.dim[0].size = 1000
    assert np.array_equal(tf.make_ndarray(message), np.ones(1000, np.float32))
