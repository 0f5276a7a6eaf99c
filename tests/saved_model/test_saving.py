"""The messages that `tf.saved_model.save` writes: objects, functions, captures, signatures. They are TensorFlow's."""

import pytest

import tapeflow as tf

FLOAT, INT = 1, 3


def meta_graph(folder):
    if tf.__name__ == "tensorflow":
        from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

        return SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs[0]
    from tapeflow.saved_model.messages import read_model

    return read_model(str(folder))[0]


def saved(obj, folder, *args, **options):
    tf.saved_model.save(obj, str(folder), *args, options=tf.saved_model.SaveOptions(**options) if options else None)
    return meta_graph(folder)


def find(graph, *names):
    """Returns the number of the object at a path from the root."""
    number = 0
    for name in names:
        node = graph.nodes[number]
        number = next(child.node_id for child in node.children if child.local_name == name)
    return number


def node_at(meta, *names):
    return meta.object_graph_def.nodes[find(meta.object_graph_def, *names)]


def scale(**attributes):
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def test_objects(tmp_path):
    v = tf.Variable([[1, 2]], trainable=False, name="mine", dtype=tf.int32)
    w = tf.Variable(
        1.5, aggregation=tf.VariableAggregation.MEAN, synchronization=tf.VariableSynchronization.ON_READ, trainable=True
    )
    meta = saved(scale(v=v, items=[v, {"w": w}, (w,)]), tmp_path)
    root = meta.object_graph_def.nodes[0]
    assert root.user_object.identifier == "_generic_user_object" and root.user_object.version.producer == 1
    assert root.user_object.version.min_consumer == 1
    kinds = [node_at(meta, *path).user_object.identifier for path in (("items",), ("items", "1"), ("items", "2"))]
    assert kinds == ["trackable_list_wrapper", "trackable_dict_wrapper", "trackable_tuple_wrapper"]
    assert node_at(meta, "signatures").user_object.identifier == "signature_map"
    first, second = node_at(meta, "v").variable, node_at(meta, "items", "1", "w").variable
    assert find(meta.object_graph_def, "v") == find(meta.object_graph_def, "items", "0")
    assert (first.dtype, [d.size for d in first.shape.dim], first.trainable, first.name) == (INT, [1, 2], False, "mine")
    assert (first.synchronization, first.aggregation) == (0, 0)
    assert (second.dtype, len(second.shape.dim), second.trainable) == (FLOAT, 0, True)
    assert (second.synchronization, second.aggregation) == (3, 2)


def test_functions(tmp_path):
    v, factor = tf.Variable(2.0), tf.random.uniform([5000])  # too many numbers for a constant in the function
    f = tf.function(lambda x, y=2.0: {"sum": x * v * tf.reduce_sum(factor) + y})
    trace = f.get_concrete_function(tf.TensorSpec([None], tf.float32, "x"), tf.TensorSpec([]))
    other = tf.function(lambda z: z - factor[:3])
    other.get_concrete_function(tf.TensorSpec([3], tf.float32, "z"))
    meta = saved(scale(v=v, f=f, other=other, trace=trace), tmp_path)
    objects = meta.object_graph_def
    (name,) = node_at(meta, "f").function.concrete_functions
    (second,) = node_at(meta, "other").function.concrete_functions
    bare = node_at(meta, "trace").bare_concrete_function
    assert bare.concrete_function_name == name != second and next(iter(bare.argument_keywords)) == "x"
    assert {name, second} <= set(objects.concrete_functions)
    concrete = objects.concrete_functions[name]
    bound = list(concrete.bound_inputs)
    number = find(objects, "v")
    assert min(bound) == number and len(bound) == 2
    (constant,) = [i for i in bound if i != number]
    assert objects.nodes[constant].WhichOneof("kind") == "constant" and constant >= number
    assert list(objects.concrete_functions[second].bound_inputs) == [constant]  # one node for one tensor
    operation = objects.nodes[constant].constant.operation
    (node,) = [n for n in meta.graph_def.node if n.name == operation]
    assert node.op == "Const" and node.attr["value"].tensor.dtype == FLOAT
    args, kwargs = concrete.canonicalized_input_signature.tuple_value.values
    assert [v.tensor_spec_value.name for v in args.tuple_value.values] == ["x", "y"]
    assert [len(v.tensor_spec_value.shape.dim) for v in args.tuple_value.values] == [1, 0]
    assert not kwargs.dict_value.fields
    result = concrete.output_signature.dict_value.fields["sum"].tensor_spec_value
    assert result.dtype == FLOAT and [d.size for d in result.shape.dim] == [-1]
    names = {function.signature.name for function in meta.graph_def.library.function}
    assert {name, second} <= names


def test_a_function_with_an_input_signature_has_a_trace(tmp_path):
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([2])])
    unused = tf.function(lambda x: x)
    meta = saved(scale(f=f, unused=unused), tmp_path)
    assert len(node_at(meta, "f").function.concrete_functions) == 1
    assert node_at(meta, "unused").WhichOneof("kind") == "function"
    assert len(node_at(meta, "unused").function.concrete_functions) == 0
    spec = node_at(meta, "f").function.function_spec.input_signature
    assert spec.WhichOneof("kind") == "tuple_value"
    assert node_at(meta, "unused").function.function_spec.input_signature.WhichOneof("kind") == "none_value"


def test_signatures(tmp_path):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: {"y": x * v, "z": x}, input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    g = tf.function(lambda n: {"n": n + 1}, input_signature=[tf.TensorSpec([], tf.int32, "n")])
    meta = saved(scale(v=v, f=f), tmp_path, {"first": f, "second": g.get_concrete_function()})
    assert sorted(meta.signature_def) == ["__saved_model_init_op", "first", "second"]
    first = meta.signature_def["first"]
    assert first.method_name == "tensorflow/serving/predict"
    assert {k: (i.dtype, [d.size for d in i.tensor_shape.dim]) for k, i in first.inputs.items()} == {
        "x": (FLOAT, [-1, 2])
    }
    assert sorted(first.outputs) == ["y", "z"] and list(meta.signature_def["second"].outputs) == ["n"]
    nodes = {node.name: node for node in meta.graph_def.node}
    for signature in (first, meta.signature_def["second"]):
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            assert info.name.split(":")[0] in nodes
    assert nodes[first.inputs["x"].name.split(":")[0]].op == "Placeholder"
    target = meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name
    assert nodes[target].op == "NoOp"
    assert sorted(child.local_name for child in node_at(meta, "signatures").children) == ["first", "second"]


@pytest.mark.parametrize("skip", [False, True])
def test_savers_of_graphs(tmp_path, skip):
    meta = saved(scale(v=tf.Variable(1.0)), tmp_path, experimental_skip_saver=skip)
    assert meta.HasField("saver_def") is not skip
    if not skip:
        names = {node.name for node in meta.graph_def.node}
        assert {meta.saver_def.restore_op_name, meta.saver_def.filename_tensor_name.split(":")[0]} <= names


def test_descriptions(tmp_path):
    f = tf.function(lambda x: x * 2.0)
    traces = [f.get_concrete_function(tf.TensorSpec([n])) for n in (1, 2)]
    other = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([])])
    module = scale(f=f, other=other)
    aliases = {"twice": f, "more": [other.get_concrete_function()]}
    meta = saved(module, tmp_path, extra_tags=["mine", "too"], function_aliases=aliases)
    assert list(meta.meta_info_def.tags) == ["serve", "mine", "too"]
    assert meta.meta_info_def.tensorflow_version and meta.meta_info_def.stripped_default_attrs
    found = dict(meta.meta_info_def.function_aliases)
    names = list(node_at(meta, "f").function.concrete_functions)
    assert len(names) == len(traces) == 2
    assert found == {**dict.fromkeys(names, "twice"), node_at(meta, "other").function.concrete_functions[0]: "more"}
    assert list(saved(module, tmp_path / "plain").meta_info_def.tags) == ["serve"]
    with pytest.raises(TypeError, match="Unsupported type"):
        saved(module, tmp_path / "wrong", function_aliases={"a": lambda x: x})


def test_assets(tmp_path):
    paths = []
    for folder, text in (("a", "first"), ("b", "second")):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "words.txt")
        paths[-1].write_text(text)
    assets = [tf.saved_model.Asset(str(path)) for path in paths]
    read = tf.function(lambda: tf.io.read_file(module.assets[1].asset_path), input_signature=[])
    module = scale(assets=assets)
    module.read = read
    meta = saved(module, tmp_path / "m")
    files = [asset.filename for asset in meta.asset_file_def]
    assert len(set(files)) == 2
    assert sorted((tmp_path / "m" / "assets" / name).read_text() for name in files) == ["first", "second"]
    indices = [node_at(meta, "assets", str(i)).asset.asset_file_def_index for i in (0, 1)]
    assert sorted(indices) == [0, 1]
    texts = [(tmp_path / "m" / "assets" / files[i]).read_text() for i in indices]
    assert texts == ["first", "second"]
    nodes = {node.name for node in meta.graph_def.node}
    assert all(asset.tensor_info.name.split(":")[0] in nodes for asset in meta.asset_file_def)
    for path in paths:
        path.unlink()
    assert tf.saved_model.load(str(tmp_path / "m")).read().numpy() == b"second"


def test_tables(tmp_path):
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    module = scale(table=tf.lookup.StaticHashTable(initializer, -1))
    module.find = tf.function(lambda x: module.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
    meta = saved(module, tmp_path)
    assert node_at(meta, "table").WhichOneof("kind") == "resource"
    number = find(meta.object_graph_def, "table")
    (name,) = node_at(meta, "find").function.concrete_functions
    assert number in meta.object_graph_def.concrete_functions[name].bound_inputs
    children = {child.local_name for child in node_at(meta, "table").children}
    assert {"_create_resource", "_initialize", "_destroy_resource"} <= children
    nodes = {node.name: node for node in meta.graph_def.node}
    target = nodes[meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name]
    assert len(target.input) == 1 and target.input[0].startswith("^")
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.find(tf.constant(["b", "x"])).numpy().tolist() == [2, -1]


def test_default_attrs_are_left_out(tmp_path):
    f = tf.function(lambda x: tf.matmul(x, x, transpose_b=True), input_signature=[tf.TensorSpec([2, 2])])
    meta = saved(scale(f=f), tmp_path)
    nodes = [n for fn in meta.graph_def.library.function for n in fn.node_def if n.op == "MatMul"]
    assert nodes and all(n.attr["transpose_b"].b and "transpose_a" not in n.attr and "T" in n.attr for n in nodes)


def test_what_cannot_be_saved(tmp_path):
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x * v, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match="untracked"):
        saved(scale(f=f), tmp_path / "m")
    for wrong in (3, "x", object(), {"v": v}):
        with pytest.raises((ValueError, TypeError)):
            saved(wrong, tmp_path / "m")

    @tf.function
    def inside():
        tf.saved_model.save(tf.Module(), str(tmp_path / "m"))

    with pytest.raises(NotImplementedError, match=r"tf\.function"):
        inside()
    assert not (tmp_path / "m" / "saved_model.pb").exists()


def test_objects_and_their_paths(tmp_path):
    from tapeflow.saved_model.saving import save_and_return_nodes

    v = tf.Variable(1.0)
    inner = scale(v=v)
    module = scale(inner=inner, items=[v, scale(inner=inner)])
    objects, paths = save_and_return_nodes(module, str(tmp_path))
    assert objects[0] is module and paths[0] == [] and len(objects) == len(paths)
    assert paths[next(i for i, o in enumerate(objects) if o is inner)] == ["inner"]
    assert paths[next(i for i, o in enumerate(objects) if o is v)] == ["inner", "v"]
    assert ["items", "1"] in paths


def test_datasets_of_functions(tmp_path):
    """A function takes a dataset that is an attribute; another one is refused."""
    module = tf.Module()
    module.dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda x: x * 2.0)
    module.total = tf.function(lambda: module.dataset.reduce(0.0, lambda a, x: a + x), input_signature=[])
    meta = saved(module, tmp_path / "m")
    (name,) = node_at(meta, "total").function.concrete_functions
    assert len(meta.object_graph_def.concrete_functions[name].bound_inputs) == 1
    assert tf.saved_model.load(str(tmp_path / "m")).total().numpy() == 12.0
    other = tf.data.Dataset.range(3)
    module = scale(
        total=tf.function(lambda: other.reduce(tf.constant(0, tf.int64), lambda a, x: a + x), input_signature=[])
    )
    with pytest.raises(AssertionError, match="untracked"):
        saved(module, tmp_path / "n")
