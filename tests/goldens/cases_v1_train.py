"""`tf.compat.v1`: optimizers, rates, steps, savers and losses in graphs and sessions; logs, files and datasets."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
onehot = tf.constant([[0., 1., 0.], [1., 0., 0.]])
m = tf.constant([[1., 5., 3.], [4., 2., 6.]]) / 7

def in_graph(build):
    with tf.Graph().as_default():
        return build()

def in_session(build):
    with tf.Graph().as_default(), v1.Session() as session:
        fetches = build()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return session.run(fetches)

def variable(name="v", value=(1., -2.), **kwargs):
    return v1.get_variable(name, initializer=np.array(value, np.float32), use_resource=True, **kwargs)

def trained(optimizer, steps=3, sparse=False):
    with tf.Graph().as_default(), v1.Session() as session:
        v = variable()
        loss = tf.reduce_sum(tf.gather(v, [1, 1]) ** 2 if sparse else v ** 2 * [1., 3.])
        step = v1.train.create_global_step()
        made = optimizer(step)
        train = made.minimize(loss, global_step=step)
        session.run(v1.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        slots = made.get_slot_names()
        return session.run([v, step]), slots, [session.run(made.get_slot(v, s)) for s in slots], made.get_name()

def eagerly(optimizer, steps=2):
    v = tf.Variable([1., -2.])
    made = optimizer()
    for _ in range(steps):
        made.minimize(lambda: tf.reduce_sum(v ** 2 * [1., 3.]), var_list=[v])
    return v.numpy()

def rates(schedule):
    def build():
        step = tf.cast(v1.train.create_global_step(), tf.int32)
        return schedule(v1.train.get_global_step())
    found = []
    with tf.Graph().as_default(), v1.Session() as session:
        rate = build()
        session.run(v1.global_variables_initializer())
        for _ in range(5):
            found.append(session.run(rate))
            session.run(v1.assign_add(v1.train.get_global_step(), 4))
    return found
""")

# ---- optimizers ------------------------------------------------------------------------------------------------------

OPTIMIZERS = [
    "GradientDescentOptimizer(0.1)",
    "MomentumOptimizer(0.1, 0.9)",
    "MomentumOptimizer(learning_rate=0.1, momentum=0.5, use_locking=True, name='M', use_nesterov=True)",
    "AdamOptimizer()",
    "AdamOptimizer(learning_rate=0.1, beta1=0.8, beta2=0.99, epsilon=1e-3, name='A')",
    "AdagradOptimizer(0.1)",
    "AdagradOptimizer(learning_rate=0.1, initial_accumulator_value=1.0, name='A')",
    "RMSPropOptimizer(0.1)",
    "RMSPropOptimizer(learning_rate=0.1, decay=0.8, momentum=0.5, epsilon=1e-3, centered=True)",
    "AdadeltaOptimizer()",
    "AdadeltaOptimizer(learning_rate=0.5, rho=0.8, epsilon=1e-3)",
    "FtrlOptimizer(0.1)",
    "FtrlOptimizer(0.1, -0.5, 0.2, l1_regularization_strength=0.1, l2_regularization_strength=0.2)",
    "FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1, beta=0.3, accum_name='a', linear_name='l')",
    "ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2)",
    "ProximalAdagradOptimizer(0.1, 0.2, l1_regularization_strength=0.1, l2_regularization_strength=0.2)",
    "AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.1, l2_regularization_strength=0.2)",
]
GROUP.family("trained(lambda step: v1.train.{optimizer}{how})", optimizer=OPTIMIZERS, how=["", ", sparse=True"])
GROUP.family("eagerly(lambda: v1.train.{optimizer})", optimizer=OPTIMIZERS[:-1])
GROUP.snippets("""
# gradients, changed on the way, and a step that counts
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        v, w, unused = variable("v"), variable("w"), variable("unused")
        step = v1.train.get_or_create_global_step()
        optimizer = v1.train.GradientDescentOptimizer(0.5)
        pairs = optimizer.compute_gradients(tf.reduce_sum(v * w), [v, w, unused])
        train = optimizer.apply_gradients([(g * 2, x) for g, x in pairs if g is not None], global_step=step, name="go")
        session.run(v1.global_variables_initializer())
        session.run(train)
        return session.run([v, w, unused, step]), [g is None for g, _ in pairs], train.name, [x.name for _, x in pairs]
run()

# names of slots and what else there is
def build():
    v = variable("v")
    optimizer = v1.train.AdamOptimizer(name="A")
    optimizer.minimize(tf.reduce_sum(v))
    return [x.name for x in v1.global_variables()], [x.name for x in optimizer.variables()], optimizer.get_slot(v, "z")
in_graph(build)

# a rate that is fed
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        v, rate = variable(), v1.placeholder(tf.float32, [])
        train = v1.train.MomentumOptimizer(rate, 0.9).minimize(tf.reduce_sum(v), grad_loss=tf.constant(2.0))
        session.run(v1.global_variables_initializer())
        session.run(train, {rate: 0.5}), session.run(train, {rate: 0.25})
        return session.run(v)
run()

# constants of optimizers
v1.train.Optimizer.GATE_NONE, v1.train.Optimizer.GATE_OP, v1.train.Optimizer.GATE_GRAPH

# moving averages of a variable and a tensor
def run(zero_debias):
    with tf.Graph().as_default(), v1.Session() as session:
        v, x, step = variable(), v1.placeholder(tf.float32, []), v1.train.get_or_create_global_step()
        double = x * 2
        averages = v1.train.ExponentialMovingAverage(0.9, num_updates=step, zero_debias=zero_debias)
        update = averages.apply([v, double])
        session.run(v1.global_variables_initializer())
        found = []
        for k in range(3):
            session.run(update, {x: k + 1})
            session.run([v.assign_add([1., 1.]), step.assign_add(3)])
            found.append(session.run([averages.average(v), averages.average(double)]))
        return (found, sorted(averages.variables_to_restore()), averages.average_name(double), averages.average(x),
                [w.name for w in v1.moving_average_variables()], [w.name for w in v1.global_variables()])
run(False), run(True)

# moving averages of all that can be trained
def build():
    variable("v"), variable("w", trainable=False)
    averages = tf.train.ExponentialMovingAverage(0.5, name="EMA")
    averages.apply()
    return sorted(averages.variables_to_restore()), [w.name for w in v1.moving_average_variables()]
in_graph(build)
""")
GROUP.errors("""
v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
in_graph(lambda: v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)))
in_graph(lambda: [variable(), v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))])
in_graph(lambda: v1.train.GradientDescentOptimizer(0.1).apply_gradients([]))
in_graph(lambda: v1.train.GradientDescentOptimizer(0.1).apply_gradients([(None, variable())]))
in_graph(lambda: v1.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.constant(1.0), tf.constant(2.0))]))
v1.train.MomentumOptimizer(0.1)
tf.train.ExponentialMovingAverage(0.5).apply([tf.Variable(1)])
tf.train.ExponentialMovingAverage(0.5).apply([tf.constant(1.)])
""")
GROUP.errors(
    """
v1.train.Optimizer(False, "")
v1.train.AdagradOptimizer(0.1, 0.0)
v1.train.ProximalAdagradOptimizer(0.1, 0.0)
v1.train.AdagradDAOptimizer(0.1, None, 0.0)
v1.train.FtrlOptimizer(0.1, learning_rate_power=0.5)
v1.train.FtrlOptimizer(0.1, initial_accumulator_value=-1.0)
v1.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)
v1.train.FtrlOptimizer(0.1, l2_regularization_strength=-1.0)
v1.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-1.0)
""",
    message=True,
)

# ---- rates and steps -------------------------------------------------------------------------------------------------

SCHEDULES = [
    "exponential_decay(0.5, {s}, 8, 0.9)",
    "exponential_decay(learning_rate=0.5, global_step={s}, decay_steps=8, decay_rate=0.9, staircase=True, name='n')",
    "piecewise_constant({s}, [4, 12], [1.0, 0.5, 0.1])",
    "piecewise_constant(x={s}, boundaries=[5], values=[1, 2], name='n')",
    "piecewise_constant_decay({s}, [4, 12], [1.0, 0.5, 0.1])",
    "polynomial_decay(0.5, {s}, 8)",
    "polynomial_decay(0.5, {s}, decay_steps=8, end_learning_rate=0.1, power=2.0, cycle=True, name='n')",
    "natural_exp_decay(0.5, {s}, 8, 0.9)",
    "natural_exp_decay(0.5, {s}, 8, decay_rate=0.9, staircase=True, name='n')",
    "inverse_time_decay(0.5, {s}, 8, 0.9)",
    "inverse_time_decay(0.5, {s}, 8, decay_rate=0.9, staircase=True, name='n')",
    "cosine_decay(0.5, {s}, 12)",
    "cosine_decay(0.5, {s}, decay_steps=12, alpha=0.1, name='n')",
    "cosine_decay_restarts(0.5, {s}, 6)",
    "cosine_decay_restarts(0.5, {s}, first_decay_steps=3, t_mul=1.0, m_mul=0.9, alpha=0.1, name='n')",
    "linear_cosine_decay(0.5, {s}, 12)",
    "linear_cosine_decay(0.5, {s}, decay_steps=12, num_periods=1.5, alpha=0.1, beta=0.01, name='n')",
    "noisy_linear_cosine_decay(0.5, {s}, 12, initial_variance=0.0, num_periods=0.5)",
]
GROUP.family("rates(lambda step: v1.train.{f})", f=[f.format(s="step") for f in SCHEDULES])
GROUP.family("v1.train.{f}()", f=[f.format(s="7") for f in SCHEDULES])
GROUP.shapes("""
v1.train.noisy_linear_cosine_decay(0.5, 3, 12)()
v1.train.noisy_linear_cosine_decay(0.5, 3, 12, 1.0, 0.55, 0.5, 0.0, 0.001, "n")()
""")
GROUP.errors("""
in_graph(lambda: v1.train.exponential_decay(0.5, None, 8, 0.9))
v1.train.piecewise_constant(1, [5], [1.0])
in_graph(lambda: v1.train.polynomial_decay(0.5, None, 8))
in_graph(lambda: v1.train.natural_exp_decay(0.5, None, 8, 0.9))
in_graph(lambda: v1.train.inverse_time_decay(0.5, None, 8, 0.9))
in_graph(lambda: v1.train.cosine_decay(0.5, None, 8))
in_graph(lambda: v1.train.cosine_decay_restarts(0.5, None, 8))
in_graph(lambda: v1.train.linear_cosine_decay(0.5, None, 8))
in_graph(lambda: v1.train.noisy_linear_cosine_decay(0.5, None, 8))
""")
GROUP.snippets("""
# the global step
def build():
    before = v1.train.get_global_step()
    made = v1.train.create_global_step()
    v1.train.assert_global_step(made)
    again = [v1.train.get_global_step(), v1.train.get_or_create_global_step()]
    return before, made.name, made.dtype, made.shape, made.trainable, [made is a for a in again], len(
        v1.get_collection(v1.GraphKeys.GLOBAL_STEP))
in_graph(build)

# the global step of a session
def run():
    graph = tf.Graph()
    with graph.as_default():
        step = v1.train.create_global_step()
        add = step.assign_add(3)
    with v1.Session(graph=graph) as session:
        session.run(step.initializer), session.run(add)
        return v1.train.global_step(session, step), v1.train.get_global_step(graph) is step
run()
""")
GROUP.errors("""
in_graph(lambda: [v1.train.create_global_step(), v1.train.create_global_step()])
v1.train.assert_global_step(tf.Variable(1.0))
v1.train.assert_global_step(tf.Variable([1]))
v1.train.assert_global_step("step")
in_graph(lambda: [v1.get_variable("global_step", []), v1.train.get_global_step()])
""")

# ---- savers ----------------------------------------------------------------------------------------------------------

GROUP.snippets("""
# what a saver writes and restores
def run():
    import os
    with tf.Graph().as_default(), v1.Session() as session:
        v, step = variable(), v1.train.create_global_step()
        saver = v1.train.Saver(max_to_keep=2)
        session.run(v1.global_variables_initializer())
        paths = []
        for k in range(3):
            session.run(v1.assign_add(v, [1., 1.]))
            paths.append(saver.save(session, os.path.join(tmp, "model"), global_step=k))
        saver.restore(session, paths[1])
        short = [os.path.basename(p) for p in paths]
        latest = [os.path.basename(p) for p in saver.last_checkpoints]
        exist = [v1.train.checkpoint_exists(p) for p in paths]
        state = v1.train.get_checkpoint_state(tmp)
        times = [t > 0 for t in v1.train.get_checkpoint_mtimes(paths)]
        v1.train.remove_checkpoint(paths[2])
        return (session.run(v), short, latest, exist, os.path.basename(state.model_checkpoint_path), times,
                [os.path.basename(p) for p in state.all_model_checkpoint_paths], sorted(os.listdir(tmp)),
                os.path.basename(v1.train.latest_checkpoint(tmp) or "none"))
run()

# variables by other names, and initial values of a checkpoint
def run():
    import os
    with tf.Graph().as_default(), v1.Session() as session:
        v = variable()
        session.run(v.initializer)
        path = v1.train.Saver({"other": v}).save(session, os.path.join(tmp, "model"), write_meta_graph=False)
    found = [v1.train.list_variables(path), v1.train.load_variable(path, "other"), sorted(os.listdir(tmp))]
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("s"):
            w = variable("w", [0., 0.])
        v1.train.init_from_checkpoint(path, {"other": w})
        session.run(v1.global_variables_initializer())
        return found, session.run(w)
run()

# what a reader finds
def run():
    import os
    with tf.Graph().as_default(), v1.Session() as session:
        v = variable()
        session.run(v.initializer)
        path = v1.train.Saver([v]).save(session, os.path.join(tmp, "model"))
    reader = v1.train.NewCheckpointReader(path)
    return reader.get_variable_to_shape_map(), reader.get_tensor("v"), reader.has_tensor("v"), reader.has_tensor("w")
run()

# the file of the latest checkpoint
def run():
    import os
    v1.train.update_checkpoint_state(tmp, os.path.join(tmp, "model-2"), [os.path.join(tmp, "model-1")], "latest")
    state = v1.train.get_checkpoint_state(tmp, "latest")
    return [os.path.basename(p) for p in [state.model_checkpoint_path, *state.all_model_checkpoint_paths]]
run()
""")
GROUP.errors("""
in_graph(lambda: [variable(), v1.train.Saver().restore(v1.Session(), tmp + "/nothing")])
in_graph(lambda: [variable(), v1.train.Saver().restore(v1.Session(), None)])
in_graph(lambda: v1.train.Saver())
in_graph(lambda: [variable(), v1.train.Saver().save(v1.Session(), tmp + "/a/b")])
in_graph(lambda: [variable(), v1.train.Saver().save(v1.Session(), tmp + "/a", latest_filename="a/b")])
in_graph(lambda: [variable(), v1.train.Saver().save(3, tmp + "/a")])
v1.train.NewCheckpointReader(tmp + "/nothing")
in_graph(lambda: v1.train.init_from_checkpoint(tmp + "/nothing", {"a": variable()}))
""")

# ---- losses ----------------------------------------------------------------------------------------------------------

GROUP.snippets("""
# losses that a graph collects
def build():
    with v1.name_scope("s"):
        a = v1.losses.mean_squared_error(onehot.numpy(), m.numpy())
    b = v1.losses.absolute_difference(onehot.numpy(), m.numpy(), loss_collection=None)
    v1.losses.add_loss(tf.constant(3.0)), v1.losses.add_loss(tf.constant(7.0), None)
    variable("v", regularizer=lambda v: tf.reduce_sum(v ** 2))
    total = [v1.losses.get_total_loss(), v1.losses.get_total_loss(False), v1.losses.get_total_loss(scope="s")]
    return [*v1.losses.get_losses(), *v1.losses.get_losses("s/"), *v1.losses.get_losses(loss_collection="none"),
            *v1.losses.get_regularization_losses(), v1.losses.get_regularization_loss(), *total]
in_session(build)

# losses of no graph
v1.losses.add_loss(tf.constant(3.0)), v1.losses.get_regularization_losses()

# reductions of losses
names = sorted(n for n in dir(v1.losses.Reduction) if n.isupper())
[(n, getattr(v1.losses.Reduction, n)) for n in names], v1.losses.Reduction.validate("none")
""")
GROUP.values("""
in_session(lambda: v1.losses.mean_pairwise_squared_error(onehot.numpy(), m.numpy(), weights=2.0, scope="s"))
in_session(lambda: v1.losses.mean_pairwise_squared_error(labels=onehot.numpy(), predictions=m.numpy()))
v1.losses.cosine_distance(labels=onehot, predictions=m, axis=1, weights=[[1.0], [3.0]], scope="s")
v1.losses.log_loss(labels=onehot, predictions=m, weights=2.0, epsilon=0.1, scope="s")
v1.losses.huber_loss(labels=onehot, predictions=m, weights=2.0, delta=0.2, scope="s")
v1.losses.hinge_loss(labels=onehot, logits=m, weights=2.0, scope="s", reduction=v1.losses.Reduction.NONE)
v1.losses.softmax_cross_entropy(onehot_labels=onehot, logits=m, weights=[1.0, 3.0], label_smoothing=0.2, scope="s")
v1.losses.sigmoid_cross_entropy(multi_class_labels=onehot, logits=m, weights=[[1.0], [3.0]], label_smoothing=0.2)
v1.losses.sparse_softmax_cross_entropy(labels=[2, 0], logits=m, weights=[1.0, 3.0], scope="s")
v1.losses.absolute_difference([[1, 2]], [[3, 5]])
v1.losses.mean_squared_error(tf.constant([1.0], tf.float64), tf.constant([3.0], tf.float64))
v1.losses.compute_weighted_loss(losses=m, weights=[[0.0], [1.0]], scope="s", reduction="weighted_mean")
""")
GROUP.errors(
    """
v1.losses.Reduction.validate("nothing")
v1.losses.compute_weighted_loss(m, reduction="nothing")
v1.losses.cosine_distance(onehot, m)
v1.losses.cosine_distance(onehot, m, 1, dim=1)
v1.losses.mean_squared_error(None, m)
v1.losses.mean_squared_error(onehot, None)
v1.losses.absolute_difference(None, m)
v1.losses.huber_loss(None, m)
v1.losses.log_loss(onehot, None)
v1.losses.hinge_loss(None, m)
v1.losses.mean_pairwise_squared_error(None, m)
v1.losses.softmax_cross_entropy(None, m)
v1.losses.sigmoid_cross_entropy(onehot, None)
v1.losses.sparse_softmax_cross_entropy(None, m)
v1.losses.mean_squared_error(onehot, m[:1])
""",
    message=True,
)
GROUP.errors("""
v1.losses.compute_weighted_loss(m, [1.0, 2.0])
v1.losses.compute_weighted_loss(m, [[1.0], [2.0], [3.0]])
in_graph(lambda: v1.losses.get_total_loss())
""")

# ---- logs, files, datasets, graphs -----------------------------------------------------------------------------------

GROUP.snippets("""
# what is logged at which level
def run():
    import io, logging
    log = v1.logging
    text, logger, before = io.StringIO(), tf.get_logger(), log.get_verbosity()
    handler, kept = logging.StreamHandler(text), list(logger.handlers)
    logger.handlers[:] = [handler]
    try:
        log.set_verbosity(log.WARN)
        log.debug("debug"), log.info("info %d", 1), log.warning("warning %s", "w"), log.warn("warn"), log.error("error")
        log.fatal("fatal %d", 2)
        log.log(log.ERROR, "log %s", 3), log.vlog(log.ERROR, "vlog"), log.log_if(log.ERROR, "if %d", True, 4)
        log.log_if(log.ERROR, "not", False), log.TaskLevelStatusMessage("status")
        log.set_verbosity(log.DEBUG)
        log.debug("seen"), log.info("seen too")
        return text.getvalue().splitlines(), log.get_verbosity(), (log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL)
    finally:
        logger.handlers[:] = kept
        log.set_verbosity(before)
run()

# files by their old names
def run():
    path, g = tmp + "/a/b", v1.gfile
    g.MakeDirs(path), g.MkDir(tmp + "/c")
    with g.GFile(path + "/f", "w") as f:
        f.write("text")
    with g.FastGFile(path + "/f") as f, g.Open(path + "/f") as h:
        text = f.read(), h.read()
    g.Copy(path + "/f", path + "/g"), g.Rename(path + "/g", path + "/h")
    found = [text, g.Exists(path), g.IsDirectory(path + "/f"), sorted(g.ListDirectory(path)),
             g.Stat(path + "/f").length, sorted(p[len(tmp):] for p in g.Glob(tmp + "/a/b/*")),
             [(d[len(tmp):], n, sorted(f)) for d, n, f in g.Walk(tmp + "/a")]]
    g.Remove(path + "/f"), g.DeleteRecursively(tmp + "/c")
    return found, g.Exists(path + "/f"), g.Exists(tmp + "/c")
run()

# records of a file
def run():
    with v1.python_io.TFRecordWriter(tmp + "/r") as writer:
        writer.write(b"one"), writer.write(b"two")
    return list(v1.io.tf_record_iterator(tmp + "/r")), list(v1.python_io.tf_record_iterator(tmp + "/r"))
run()

# parts of graphs
def run():
    g = v1.graph_util
    with tf.Graph().as_default() as graph, v1.Session() as session:
        a = tf.constant([1., 2.], name="a")
        b = tf.identity(a, name="b")
        v = variable("v", [3., 4.])
        c = tf.add(b, v, name="c")
        tf.constant("unused", name="u")
        session.run(v.initializer)
        whole = graph.as_graph_def()
        frozen = g.convert_variables_to_constants(session, whole, ["c"])
        smaller = g.remove_training_nodes(frozen, protected_nodes=["c"])
        found = ([n.name for n in g.extract_sub_graph(whole, ["b"]).node],
                 g.tensor_shape_from_node_def_name(graph, "a").as_list(), g.must_run_on_cpu(whole.node[0]),
                 "VarHandleOp" in {n.op for n in frozen.node}, "b" in [n.name for n in smaller.node])
    with tf.Graph().as_default() as again, v1.Session() as session:
        tf.import_graph_def(smaller, name="")
        return found, session.run("c:0")
run()

# a graph with its collections, exported and imported
def run():
    with tf.Graph().as_default():
        v = variable("v")
        tf.multiply(v, 2., name="y")
        v1.add_to_collection("mine", v)
        exported = v1.train.export_meta_graph(tmp + "/graph.meta")
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.import_meta_graph(tmp + "/graph.meta")
        session.run(v1.global_variables_initializer())
        return session.run("y:0"), [w.name for w in v1.global_variables()], sorted(exported.collection_def)[:1]
run()

# what hooks are told, and who makes sessions
def run():
    told = []
    class Hook(v1.train.SessionRunHook):
        def before_run(self, context):
            told.append((isinstance(context, v1.train.SessionRunContext), context.original_args.fetches.name,
                         context.stop_requested))
            return v1.train.SessionRunArgs("x:0")
        def after_run(self, context, values):
            told.append((isinstance(values, v1.train.SessionRunValues), values.results))
            context.request_stop()
    with tf.Graph().as_default():
        x = tf.constant(2., name="x")
        y = x * 3.
        creators = [v1.train.ChiefSessionCreator(), v1.train.WorkerSessionCreator()]
        for creator in creators:
            with v1.train.MonitoredSession(creator, [Hook()]) as session:
                told.append((session.run(y), session.should_stop(), isinstance(creator, v1.train.SessionCreator)))
    return told
run()

# a queue and its runner
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.FIFOQueue(4, tf.int32, shapes=[])
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue(7)]))
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        found = session.run(queue.dequeue_many(3))
        coordinator.request_stop()
        coordinator.join(threads)
        return found, len(v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)), isinstance(v1.TFRecordReader(), v1.ReaderBase)
run()

# a network whose state goes on
def run():
    class Sum:
        state_size = output_size = 1
        def zero_state(self, batch_size, dtype):
            return tf.zeros([batch_size, 1], dtype)
        def __call__(self, inputs, state, scope=None):
            return state + inputs, state + inputs
    class Saver:
        def __init__(self):
            self.held = v1.get_variable("held", initializer=[[0.]], use_resource=True)
        def state(self, name):
            return self.held.read_value()
        def save_state(self, name, value):
            return v1.assign(self.held, value)
    with tf.Graph().as_default(), v1.Session() as session:
        inputs = [tf.constant([[1.]]), tf.constant([[2.]])]
        outputs, state = v1.nn.static_state_saving_rnn(Sum(), inputs, Saver(), "sum")
        session.run(v1.global_variables_initializer())
        return [session.run(outputs[-1]) for _ in range(3)], len(outputs)
run()

# tables are ready
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        found = table.lookup(tf.constant(["b", "c"]))
        session.run([v1.tables_initializer(), v1.initialize_all_tables()])
        return session.run(found)
run(), v1.tables_initializer()

# what a node of an old summary says
node = v1.NodeDef(op="TensorSummary")
node.attr["description"].s = b'{"type_hint": "scalar"}'
v1.summary.get_summary_description(node).type_hint

# datasets in a session
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        dataset = v1.data.Dataset.range(3).map(lambda x: {"x": x * 2, "y": tf.cast(x, tf.float32)})
        once, again = v1.data.make_one_shot_iterator(dataset), v1.data.make_initializable_iterator(dataset)
        begin = v1.data.Iterator.from_structure(v1.data.get_output_types(dataset), v1.data.get_output_shapes(dataset))
        start, element = begin.make_initializer(dataset), begin.get_next()
        session.run([again.initializer, start])
        kinds = v1.data.get_output_types(once), v1.data.get_output_shapes(again), v1.data.get_output_classes(dataset)
        nexts = [once.get_next(), again.get_next(), element]
        found = [session.run(nexts), session.run(nexts)]
        session.run(start)
        return found, session.run(element), kinds, again.output_types, again.output_shapes
run()
""")
GROUP.errors("""
v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
in_graph(lambda: v1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).initializer)
list(v1.io.tf_record_iterator(tmp + "/nothing"))
""")
