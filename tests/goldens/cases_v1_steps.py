"""`tf.compat.v1`: accumulators, warm starts, tensors that stay in a session, loss scales, branches without values."""

from goldens.case import Group

GROUP = Group("""
import os

v1 = tf.compat.v1
mp = v1.mixed_precision

def variable(name="v", value=(1., -2.), **kwargs):
    return v1.get_variable(name, initializer=np.array(value, np.float32), use_resource=True, **kwargs)

# ---- accumulators

def accumulated(kind, steps, *args, **kwargs):
    with tf.Graph().as_default(), v1.Session() as session:
        accumulator = kind(tf.float32, *args, **kwargs)
        return accumulator.name, accumulator.dtype, [session.run(step) for step in steps(accumulator)]

def dense(a):
    yield a.apply_grad([1.0, 2.0])
    yield a.apply_grad([3.0, 6.0])
    yield a.num_accumulated()
    yield a.take_grad(2)
    yield a.apply_grad([1.0, 2.0], local_step=0)
    yield a.num_accumulated()
    yield a.set_global_step(5)
    yield a.apply_grad([1.0, 2.0], local_step=4)
    yield a.set_global_step(2)
    yield a.apply_grad([1.0, 2.0], local_step=2)
    yield a.take_grad(1)

def rows(a):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2])
    yield a.apply_indexed_slices_grad(tf.IndexedSlices(values, indices, tf.constant([3, 2])))
    yield a.apply_grad([1, 2], [[10.0, 20.0], [30.0, 40.0]], [3, 2])
    yield a.num_accumulated()
    taken = a.take_indexed_slices_grad(2)
    yield [taken.values, taken.indices, taken.dense_shape]
    yield a.apply_grad([1, 1], [[10.0, 20.0], [30.0, 40.0]], local_step=1)
    yield list(a.take_grad(1))
    yield a.apply_grad([1], [[1.0, 2.0]], local_step=0)
    yield a.num_accumulated()
    yield a.set_global_step(7)

# ---- warm starts

def saved():
    folder = os.path.join(tmp, "warm")
    os.makedirs(folder, exist_ok=True)
    for name, entries in (("old", "a b c d"), ("new", "d x a")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(chr(10).join(entries.split()))
    with tf.Graph().as_default(), v1.Session() as session:
        variable("emb", np.arange(8.0).reshape(4, 2)), variable("kernel", np.arange(8.0).reshape(2, 4))
        variable("b", [7.0]), variable("mean", 3.0, trainable=False)
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, os.path.join(folder, "model"))

def started(rows, *args, columns=2, name="emb", partitioner=None, **kwargs):
    path, zeros = saved(), v1.zeros_initializer()
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable(name, [rows, columns], initializer=zeros, partitioner=partitioner)
        v1.get_variable("mean", [], initializer=zeros, trainable=False)
        if name == "emb":
            v1.get_variable("b", [1], initializer=zeros)
        v1.train.warm_start(path, *args, **kwargs)
        session.run(v1.global_variables_initializer())
        return {v.op.name: session.run(v) for v in v1.global_variables()}

def vocabulary(size, buckets, old_size=-1, axis=0):
    old, new = (os.path.join(tmp, "warm", name) for name in ("old", "new"))
    return v1.train.VocabInfo(new, size, buckets, old, old_size, axis=axis)

def with_methods(*args):
    module, path = tf.Module(), os.path.join(tmp, "methods")
    module.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(module, path, signatures=module.f)
    updater = v1.saved_model.signature_def_utils.MethodNameUpdater(path)
    updater.replace_method_name(*args)
    updater.save()
    with tf.Graph().as_default(), v1.Session() as session:
        return v1.saved_model.load(session, ["serve"], path).signature_def["serving_default"].method_name

# ---- tensors that stay in a session

def kept():
    with tf.Graph().as_default(), v1.Session() as session:
        handle = session.run(v1.get_session_handle(tf.constant([1.0, 2.0]) * 3.0))
        holder, tensor = v1.get_session_tensor(handle.handle, tf.float32)
        fed = v1.placeholder(tf.float32, [2])
        found = handle.eval(), session.run(tensor * 2.0, {holder: handle.handle}), session.run(fed + 1.0, {fed: handle})
        other = session.run(v1.get_session_handle(tf.constant("text")))
        text, raw = other.eval(), other.get_raw_handle()
        holder, deletion = v1.delete_session_tensor(raw)
        return found, text, session.run(deletion, {holder: raw}), tensor.dtype, str(handle) == handle.handle

def deleted(again):
    with tf.Graph().as_default(), v1.Session() as session:
        handle = session.run(v1.get_session_handle(tf.constant([1.0, 2.0])))
        holder, deletion = v1.delete_session_tensor(handle.handle)
        session.run(deletion, {holder: handle.handle})
        return again(handle)

# ---- loss scales

def updated(gradients):
    scale = mp.DynamicLossScale(8, 2, 4)
    return [(scale.update([tf.constant(g), None])[1], scale(), repr(scale)) for g in gradients]

def scaled(scale, inner, *args):
    with tf.Graph().as_default(), v1.Session() as session:
        v, x = variable(), v1.placeholder(tf.float32)
        optimizer = mp.MixedPrecisionLossScaleOptimizer(inner(0.25, *args), scale())
        pairs = optimizer.compute_gradients(tf.reduce_sum(v * v) * x, [v])
        step = v1.train.get_or_create_global_step()
        train = optimizer.apply_gradients(pairs, step)
        session.run(v1.global_variables_initializer())
        found = []
        for value in (1.0, 1.0, np.inf, 1.0):
            session.run(train, {x: value})
            found.append(session.run([v, step, optimizer._loss_scale()]))
        return found, sorted(w.name for w in optimizer.variables())

# ---- branches that are operations

def branched(cond):
    with tf.Graph().as_default(), v1.Session() as session:
        v, p = variable("v", 1.0), v1.placeholder(tf.bool)
        session.run(v.initializer)
        done = cond(p, lambda: v.assign_add(1.0).op)
        return [(session.run(done, {p: b}), session.run(v)) for b in (True, False)]

def in_graph(build):
    with tf.Graph().as_default():
        return build()
""")
GROUP.values("""
accumulated(v1.ConditionalAccumulator, dense, [2])
accumulated(v1.ConditionalAccumulator, dense, reduction_type="SUM", name="sum", shared_name="shared")
accumulated(v1.SparseConditionalAccumulator, rows, [3, 2])
accumulated(v1.SparseConditionalAccumulator, rows, reduction_type="SUM", name="sum")
[(a.apply_grad([1.0, 2.0]), a.num_accumulated(), a.take_grad(1)) for a in [v1.ConditionalAccumulator(tf.float32, [2])]]
issubclass(v1.ConditionalAccumulator, v1.ConditionalAccumulatorBase)
started(4)
started(4, "b")
started(4, ["emb", "mean"])
started(5, var_name_to_vocab_info={"emb": vocabulary(3, 2)})
started(5, var_name_to_vocab_info={"emb": vocabulary(3, 2, 3)})
started(3, None, var_name_to_vocab_info={"emb": vocabulary(2, 1)})
started(2, None, {"k": vocabulary(3, 0, axis=1)}, {"k": "kernel"}, columns=3, name="k")
started(4, partitioner=v1.fixed_size_partitioner(2))
started(5, var_name_to_vocab_info={"emb": vocabulary(3, 2)}, partitioner=v1.fixed_size_partitioner(2))
tuple(v1.train.VocabInfo("new", 3, 1, "old"))
with_methods("serving_default", "regress")
with_methods("serving_default", "classify", "serve")
str(v1.train.generate_checkpoint_state_proto("/x", "/x/m-3", ["/x/m-1"], [1.0, 2.0], 5.0))
str(v1.train.generate_checkpoint_state_proto("x", "x/m-3", ["x/m-1"]))
str(v1.train.generate_checkpoint_state_proto("x", "/x/m-3"))
kept()
mp.DynamicLossScale(8, 2, 4)()
repr(mp.DynamicLossScale(8, 2, 4)), mp.DynamicLossScale().get_config()
updated([1.0, 2.0, 3.0])
updated([np.inf, 1.0, np.nan, np.inf])
mp.FixedLossScale(8)(), mp.FixedLossScale(8).update([]), mp.FixedLossScale(8).get_config()
repr(mp.FixedLossScale.from_config({"loss_scale_value": 2}))
isinstance(mp.FixedLossScale(8), mp.LossScale)
scaled(lambda: mp.DynamicLossScale(8, 2, 4), v1.train.GradientDescentOptimizer)
scaled(lambda: mp.DynamicLossScale(8, 2, 4), v1.train.MomentumOptimizer, 0.9)
scaled(lambda: 4, v1.train.MomentumOptimizer, 0.9)[0][:2]
type(v1.train.experimental.enable_mixed_precision_graph_rewrite(v1.train.AdamOptimizer())).__name__
v1.train.experimental.disable_mixed_precision_graph_rewrite()
branched(lambda p, f: tf.cond(p, f, tf.no_op))
branched(lambda p, f: v1.cond(p, f, tf.no_op))
branched(lambda p, f: v1.cond(p, lambda: [f(), tf.constant(1)], lambda: [tf.no_op(), tf.constant(2)]))
branched(lambda p, f: v1.cond(p, f, lambda: tf.constant(True)))
branched(lambda p, f: v1.case([(p, f)], default=tf.no_op))
branched(lambda p, f: tf.group(v1.cond(p, f, tf.no_op)))
branched(lambda p, f: tf.switch_case(tf.cast(p, tf.int32), [tf.no_op, f, tf.no_op]))
""")
GROUP.errors("""
v1.ConditionalAccumulator(tf.float32, [2]).apply_grad([1.0, 2.0, 3.0])
accumulated(v1.ConditionalAccumulator, lambda a: [a.take_grad(0)], [2])
v1.SparseConditionalAccumulator(tf.float32)
accumulated(v1.SparseConditionalAccumulator, lambda a: [a.apply_grad([1, 2], [[1.0, 2.0]])], [3, 2])
accumulated(v1.SparseConditionalAccumulator, lambda a: [a.apply_grad([5], [[1.0, 2.0]])], [3, 2])
accumulated(v1.SparseConditionalAccumulator, lambda a: [a.apply_grad([1], [[1.0, 2.0]], [4, 2])], [3, 2])
v1.train.VocabInfo("new", 3, 1, "old", axis=2)
in_graph(lambda: v1.train.warm_start(saved(), 5))
in_graph(lambda: v1.train.warm_start(saved(), [5]))
started(4, var_name_to_vocab_info={"none": vocabulary(3, 1)})
started(4, var_name_to_prev_var_name={"none": "b"})
started(5)
with_methods("none", "regress")
with_methods("serving_default", "regress", "none")
with_methods("", "regress")
v1.saved_model.signature_def_utils.MethodNameUpdater(tmp + "/nothing")
v1.train.generate_checkpoint_state_proto("x", "m-3", ["m-1"], [1.0])
in_graph(lambda: v1.get_session_handle(5))
deleted(lambda handle: handle.eval())
deleted(lambda handle: (handle.get_raw_handle(), handle.eval()))
mp.FixedLossScale("x")
mp.FixedLossScale(0.5)
mp.LossScale()
mp.MixedPrecisionLossScaleOptimizer(5, 8)
mp.MixedPrecisionLossScaleOptimizer(v1.train.AdamOptimizer(), None)
v1.train.experimental.enable_mixed_precision_graph_rewrite(5)
branched(lambda p, f: v1.cond(p, f, lambda: tf.constant(1)))
""")
