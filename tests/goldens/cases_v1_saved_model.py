"""`tf.compat.v1.saved_model`: signatures, and graphs that are written and loaded again."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
sm = tf.compat.v1.saved_model

def in_graph(build):
    with tf.Graph().as_default():
        return build()

def inputs(dtype=tf.float32):
    return v1.placeholder(dtype, [None, 2], name="x")

def written(info):
    return info.name, info.dtype, [d.size for d in info.tensor_shape.dim], info.tensor_shape.unknown_rank

def signature(made):
    return (made.method_name, [(k, written(v)) for k, v in sorted(made.inputs.items())],
            [(k, written(v)) for k, v in sorted(made.outputs.items())])

def empty():
    return type(sm.build_signature_def().inputs["a"])()

def model(path, **kwargs):
    with tf.Graph().as_default(), v1.Session() as session:
        x = inputs()
        v = v1.get_variable("scope/v", initializer=[1., 2.], use_resource=True)
        local = v1.get_local_variable("local", initializer=5., use_resource=True)
        y = tf.add(tf.multiply(x, v), 1., name="y")
        z = tf.add(local, 1., name="z")
        session.run(v1.global_variables_initializer())
        session.run(v1.assign(v, [5., 6.]))
        builder = sm.builder.SavedModelBuilder(path)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": sm.predict_signature_def({"x": x}, {"y": y})}, **kwargs)
        return builder
""")

GROUP.values("""
in_graph(lambda: written(sm.build_tensor_info(inputs())))
in_graph(lambda: written(sm.utils.build_tensor_info(tf.constant([1, 2], name="c"))))
in_graph(lambda: sm.build_tensor_info(v1.sparse_placeholder(tf.int64, name="s")).coo_sparse.values_tensor_name)
in_graph(lambda: signature(sm.predict_signature_def({"x": inputs()}, {"y": tf.constant(1., name="c")})))
in_graph(lambda: signature(sm.build_signature_def({"x": sm.build_tensor_info(inputs())}, method_name="mine")))
signature(sm.signature_def_utils.build_signature_def())
in_graph(lambda: signature(sm.classification_signature_def(inputs(tf.string), tf.constant(["a"]), tf.constant([1.]))))
in_graph(lambda: signature(sm.classification_signature_def(inputs(tf.string), None, tf.constant([1.]))))
in_graph(lambda: signature(sm.regression_signature_def(inputs(tf.string), tf.constant([1.]))))
in_graph(lambda: sm.is_valid_signature(sm.predict_signature_def({"x": inputs()}, {"y": tf.constant(1.)})))
in_graph(lambda: sm.is_valid_signature(sm.regression_signature_def(inputs(tf.string), tf.constant([1.]))))
in_graph(lambda: sm.is_valid_signature(sm.classification_signature_def(inputs(tf.string), tf.constant(["a"]), None)))
sm.is_valid_signature(None), sm.is_valid_signature(sm.build_signature_def(method_name="tensorflow/serving/predict"))
in_graph(lambda: (lambda x: sm.get_tensor_from_tensor_info(sm.build_tensor_info(x)) is x)(inputs()))
in_graph(lambda: sm.utils.get_tensor_from_tensor_info(sm.build_tensor_info(v1.sparse_placeholder(tf.int64))).dtype)
sm.contains_saved_model(tmp), sm.maybe_saved_model_directory(tmp), sm.loader.maybe_saved_model_directory(tmp)
sm.SERVING, sm.TRAINING, sm.tag_constants.SERVING, sm.constants.MAIN_OP_KEY, sm.LEGACY_INIT_OP_KEY
sm.signature_constants.PREDICT_METHOD_NAME, sm.DEFAULT_SERVING_SIGNATURE_DEF_KEY, sm.VARIABLES_DIRECTORY
in_graph(lambda: (sm.main_op.main_op().type, sm.main_op_with_restore(tf.no_op()).type))
""")
GROUP.snippets("""
# a graph that is written and loaded
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        x, v = inputs(), v1.get_variable("v", initializer=[1., 2.], use_resource=True)
        y = tf.multiply(x, v, name="y")
        session.run(v1.global_variables_initializer())
        sm.simple_save(session, tmp + "/m", {"x": x}, {"y": y})
    with tf.Graph().as_default(), v1.Session() as session:
        meta = sm.load(session, [sm.SERVING], tmp + "/m")
        first = [session.run("y:0", {"x:0": [[3., 4.]]}), [w.name for w in v1.global_variables()],
                 sorted(meta.signature_def), sm.contains_saved_model(tmp + "/m")]
    with tf.Graph().as_default(), v1.Session() as session:
        meta = sm.loader.load(session, ["serve"], tmp + "/m", import_scope="in")
        info = meta.signature_def["serving_default"]
        x, y = [sm.get_tensor_from_tensor_info(i, import_scope="in") for i in (info.inputs["x"], info.outputs["y"])]
        return first, session.run(y, {x: [[3., 4.]]}), [w.name for w in v1.global_variables()]
run()

# two graphs, a main op and an asset
def run():
    import os
    with open(tmp + "/vocabulary", "w") as file:
        file.write("a b")
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=[1., 2.], use_resource=True)
        local = v1.get_local_variable("local", initializer=5., use_resource=True)
        tf.add(local, 1., name="z")
        asset = tf.constant(tmp + "/vocabulary", name="asset")
        words = v1.get_local_variable("words", initializer=tf.io.read_file(asset), use_resource=True)
        tf.identity(words, name="text")
        session.run(v1.global_variables_initializer())
        builder = sm.Builder(tmp + "/m")
        builder.add_meta_graph_and_variables(session, ["serve", "gpu"], main_op=v1.local_variables_initializer(),
                                             assets_collection=[asset], clear_devices=True)
    with tf.Graph().as_default():
        v1.get_variable("v", initializer=[0., 0.], use_resource=True)
        builder.add_meta_graph(["train"])
    path = builder.save()
    os.rename(tmp + "/m", tmp + "/n")
    os.remove(tmp + "/vocabulary")
    found = [os.path.basename(path), sorted(os.listdir(tmp + "/n")), os.listdir(tmp + "/n/assets")]
    with tf.Graph().as_default(), v1.Session() as session:
        sm.load(session, ["gpu", "serve"], tmp + "/n")
        found += session.run([v1.global_variables()[0], "z:0", "text:0"])
    with tf.Graph().as_default(), v1.Session() as session:
        sm.load(session, ["train"], tmp + "/n")
        return found + session.run(v1.global_variables())
run()
""")
GROUP.errors("""
in_graph(lambda: sm.predict_signature_def({}, {"y": tf.constant(1.)}))
in_graph(lambda: sm.predict_signature_def({"x": inputs()}, None))
in_graph(lambda: sm.classification_signature_def(None, None, tf.constant([1.])))
in_graph(lambda: sm.classification_signature_def(inputs(tf.string), None, None))
in_graph(lambda: sm.classification_signature_def(inputs(), None, tf.constant([1.])))
in_graph(lambda: sm.classification_signature_def(inputs(tf.string), tf.constant([1.]), None))
in_graph(lambda: sm.regression_signature_def(inputs(), tf.constant([1.])))
in_graph(lambda: sm.regression_signature_def(inputs(tf.string), None))
sm.build_tensor_info(tf.constant(1.))
sm.get_tensor_from_tensor_info(sm.build_signature_def().inputs["none"])
sm.Builder(tmp + "/m").add_meta_graph(["a"])
[model(tmp + "/m").save(), sm.Builder(tmp + "/m")]
in_graph(lambda: model(tmp + "/m").add_meta_graph_and_variables(v1.Session(), ["a"]))
in_graph(lambda: model(tmp + "/m").add_meta_graph(["b"], {"s": sm.build_signature_def({"x": empty()})}))
in_graph(lambda: [model(tmp + "/m").save(), sm.load(v1.Session(), ["train"], tmp + "/m")])
in_graph(lambda: sm.load(v1.Session(), ["serve"], tmp + "/nothing"))
""")
