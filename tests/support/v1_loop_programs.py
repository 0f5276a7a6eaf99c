"""Training loops as they were written for TensorFlow 1, which TensorFlow and TapeFlow both run, see `v1_programs.py`:
monitored sessions, summaries, queues and readers.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from v1_programs import digits


def _events(tf: Any, folder: str) -> list[Any]:
    """What is in the event files of a folder, in order of the files: tags, steps and values, and what else happened."""
    found: list[Any] = []
    for path in sorted(pathlib.Path(folder).glob("events.*"), key=lambda p: p.stat().st_mtime_ns):
        for event in tf.train.summary_iterator(str(path)):
            kind = event.WhichOneof("what")
            if kind == "summary":
                found += [
                    [v.tag, event.step, 0.0 if v.tag.endswith("/sec") else v.simple_value or v.histo.sum]
                    for v in event.summary.value
                ]
            elif kind == "session_log":
                found.append([kind, event.step, float(event.session_log.status)])
            elif kind != "file_version":
                found.append([kind, event.step, 0.0])
    return found


def monitored_training(tf: Any, folder: str) -> dict[str, Any]:
    """Two trainings with a monitored session, the second of which goes on with the first one's checkpoint."""
    images, labels = digits()
    said: list[str] = []

    class Losses(tf.train.SessionRunHook):
        def __init__(self, loss: Any) -> None:
            self.loss = loss
            self.seen: list[float] = []

        def begin(self) -> None:
            said.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            said.append(f"created {session.run(tf.train.get_global_step())}")

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(self.loss)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen.append(run_values.results)

        def end(self, session: Any) -> None:
            said.append("end")

    class Saves(tf.train.CheckpointSaverListener):
        def before_save(self, session: Any, global_step_value: int) -> None:
            said.append(f"before {global_step_value}")

        def after_save(self, session: Any, global_step_value: int) -> None:
            said.append(f"after {global_step_value}")

    history = []
    for last in (7, 12):
        with tf.Graph().as_default():
            x, y = tf.constant(images), tf.constant(labels)
            w = tf.get_variable("w", [196, 10], initializer=tf.zeros_initializer())
            loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=tf.matmul(x, w))
            tf.summary.scalar("loss", loss)
            tf.summary.histogram("w", w)
            step = tf.train.get_or_create_global_step()
            train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
            with tf.control_dependencies([train]):
                logits = tf.matmul(x, w.read_value())
            accuracy, update = tf.metrics.accuracy(y, tf.argmax(logits, 1))
            losses = Losses(loss)
            saver = tf.train.CheckpointSaverHook(
                folder, save_steps=4, saver=tf.train.Saver(max_to_keep=3), listeners=[Saves()]
            )
            final = tf.train.FinalOpsHook([step, accuracy])
            hooks = [losses, saver, tf.train.StopAtStepHook(last_step=last), tf.train.NanTensorHook(loss), final]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder,
                hooks=hooks,
                save_checkpoint_secs=None,
                save_summaries_steps=1,
                log_step_count_steps=5,
                summary_dir=f"{folder}/summaries",
            ) as sess:
                while not sess.should_stop():
                    sess.run([train, update])
            history.append([losses.seen, *final.final_ops_values])
    tf.summary.FileWriterCache.clear()
    state = tf.train.get_checkpoint_state(folder)
    checkpoints = [path.rpartition("/")[2] for path in state.all_model_checkpoint_paths]
    return {
        "history": history,
        "said": said,
        "checkpoints": checkpoints,
        "variables": [name for name, _ in tf.train.list_variables(folder)],
        "summaries": _events(tf, f"{folder}/summaries"),
        "events": _events(tf, folder),
        "graph": pathlib.Path(folder, "graph.pbtxt").exists(),
    }


def input_pipeline(tf: Any, folder: str) -> dict[str, Any]:
    """A line through points that are read from files, parsed and batched by threads."""
    for name, start in (("a.csv", 0), ("b.csv", 6)):
        rows = [f"{i / 10},{0.3 * i - 1.0:.3f}" for i in range(start, start + 6)]
        pathlib.Path(folder, name).write_text("x,y\n" + "\n".join(rows) + "\n")
    files = [f"{folder}/a.csv", f"{folder}/b.csv"]
    queue = tf.train.string_input_producer(files, num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    x, y = tf.decode_csv(line, [[0.0], [0.0]])
    xs, ys = tf.train.batch([x, y], 5, capacity=20, allow_smaller_final_batch=True)
    slope, offset = tf.Variable(0.0), tf.Variable(0.0)
    loss = tf.reduce_mean(tf.square(slope * xs + offset - ys))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    sizes, losses = [], []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        try:
            while not coordinator.should_stop():
                batch, value, _ = sess.run([xs, loss, train])
                sizes.append(len(batch))
                losses.append(value)
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
        return {"sizes": sizes, "losses": losses, "line": sess.run([slope, offset])}


def shuffled_input(tf: Any, folder: str) -> dict[str, Any]:
    """Every example once, in whatever order."""
    numbers = np.arange(20, dtype=np.int32)
    number, square = tf.train.slice_input_producer([numbers, numbers**2], num_epochs=1)
    batch = tf.train.shuffle_batch(
        {"number": number, "square": square}, 4, capacity=12, min_after_dequeue=4, num_threads=2
    )
    seen: list[Any] = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            found = sess.run(batch)
            seen += zip(found["number"].tolist(), found["square"].tolist(), strict=True)
    return {"seen": sorted(seen)}


def supervised(tf: Any, folder: str) -> dict[str, Any]:
    """A counter that a supervisor saves and restores."""
    found = []
    for last in (3, 5):
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            value = tf.get_variable("value", [], initializer=tf.ones_initializer())
            with tf.control_dependencies([tf.assign_add(step, 1)]):
                train = tf.identity(tf.assign(value, value * 2.0))
            supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
            with supervisor.managed_session() as sess:
                while not supervisor.should_stop():
                    found.append(sess.run(train))
                    if tf.train.global_step(sess, step) >= last:
                        supervisor.saver.save(sess, supervisor.save_path, global_step=step)
                        supervisor.request_stop()
    return {"found": found, "latest": tf.train.latest_checkpoint(folder).rpartition("/")[2]}


class Gru:
    """A gated recurrent unit whose variables are the scope's, as cells of TensorFlow 1 are written."""

    def __init__(self, tf: Any, units: int) -> None:
        self.tf = tf
        self.output_size = self.state_size = units

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self.tf.zeros([batch_size, self.state_size], dtype)

    def _dense(self, name: str, x: Any, units: int) -> Any:
        tf = self.tf
        size = int(x.shape[-1])
        first = np.sin(np.arange(size * units) * 1.7).reshape(size, units).astype(np.float32) * 0.5
        with tf.variable_scope(name):
            kernel = tf.get_variable("kernel", initializer=first)
            bias = tf.get_variable("bias", [units], initializer=tf.ones_initializer())
        return tf.matmul(x, kernel) + bias

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf = self.tf
        with tf.variable_scope("gru"):
            gates = tf.sigmoid(self._dense("gates", tf.concat([inputs, state], 1), 2 * self.state_size))
            reset, update = tf.split(gates, 2, axis=1)
            candidate = tf.tanh(self._dense("candidate", tf.concat([inputs, reset * state], 1), self.state_size))
            state = update * state + (1 - update) * candidate
        return state, state


def recurrent(tf: Any, folder: str) -> dict[str, Any]:
    """Cells of which all kinds of loops make networks, one of which is trained."""
    images, labels = digits()
    steps = images.reshape(200, 14, 14)[:20]
    lengths = np.arange(20, dtype=np.int32) % 14 + 1
    x = tf.constant(steps)
    found = {}
    _, state = tf.nn.dynamic_rnn(Gru(tf, 6), x, sequence_length=lengths, dtype=tf.float32)
    logits = tf.matmul(state, tf.get_variable("out", [6, 10], initializer=tf.zeros_initializer()))
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels[:20], logits=logits)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.variable_scope("both"):
        both, states = tf.nn.bidirectional_dynamic_rnn(
            Gru(tf, 3), Gru(tf, 4), tf.transpose(x, [1, 0, 2]), lengths, dtype=tf.float32, time_major=True
        )
    with tf.variable_scope("static"):
        unrolled, last = tf.nn.static_rnn(Gru(tf, 3), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths)
        joined, *_ = tf.nn.static_bidirectional_rnn(
            Gru(tf, 2), Gru(tf, 2), tf.unstack(x, axis=1)[:3], dtype=tf.float32, sequence_length=lengths % 3 + 1
        )

    def echo(time: Any, output: Any, cell_state: Any, loop_state: Any) -> Any:
        ended = time >= tf.constant(lengths)
        if output is None:
            return ended, x[:, 0], tf.zeros([20, 3]), tf.zeros([3]), tf.constant(0.0)
        following = tf.gather(x, tf.minimum(time, 13), axis=1)
        return ended, following, cell_state, output * 2.0, loop_state + tf.reduce_sum(output)

    with tf.variable_scope("raw"):
        kept, raw_state, total = tf.nn.raw_rnn(Gru(tf, 3), echo)
        kept = kept.stack()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found["first"] = sess.run([both, states, unrolled[-1], last, joined[1], raw_state, total])
        found["kept"] = sess.run(kept)[:, ::5]
        found["losses"] = [sess.run([train, loss])[1] for _ in range(8)]
    return {**found, "variables": [v.name for v in tf.trainable_variables()]}


def partitioned(tf: Any, folder: str) -> dict[str, Any]:
    """Tables in several parts, which are trained, saved as one, and restored into other parts."""

    def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        begin = 0 if partition_info is None else partition_info.single_offset(shape)
        return tf.cast(tf.reshape(tf.range(shape[0] * 2) + 2 * begin, [-1, 2]), tf.float32) / 10.0

    def build(parts: int) -> Any:
        with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(parts), regularizer=tf.reduce_sum):
            table = tf.get_variable("table", [7, 2], initializer=rows)
            weights = tf.get_variable("weights", [2, 3], initializer=tf.ones_initializer())
            scale = tf.get_variable("scale", [], initializer=tf.ones_initializer())
        found = tf.nn.embedding_lookup(table, [0, 3, 6], partition_strategy="div")
        loss = tf.reduce_sum(tf.square(tf.matmul(found, weights) * scale - 1.0))
        return table, weights, loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)

    with tf.Session() as sess:
        table, weights, loss, train = build(3)
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train])[0] for _ in range(4)]
        path = tf.train.Saver().save(sess, f"{folder}/model")
        parts = [[p.name, p.shape.as_list(), p._save_slice_info.spec] for p in table]
        whole = sess.run(tf.convert_to_tensor(table))
        with tf.variable_scope("model", reuse=True):
            same = tf.get_variable("table", [7, 2]) is table
        regularized = [t.name for t in tf.losses.get_regularization_losses()]
        sess.run(weights.assign(tf.zeros([2, 3])))
        assigned = sess.run(tf.convert_to_tensor(weights))
    with tf.Graph().as_default(), tf.Session() as sess:
        table, weights, loss, train = build(2)
        tf.train.Saver().restore(sess, path)
        again = [sess.run([loss, train])[0] for _ in range(2)]
        names = [v.name for v in tf.global_variables()]
    return {
        "losses": losses, "parts": parts, "whole": whole, "same": same, "regularized": regularized,
        "assigned": assigned, "again": again, "names": names,
        "saved": [[name, list(shape)] for name, shape in tf.train.list_variables(path)],
    }  # fmt: skip


PROGRAMS = {
    f.__name__: f for f in (monitored_training, input_pipeline, shuffled_input, supervised, recurrent, partitioned)
}
