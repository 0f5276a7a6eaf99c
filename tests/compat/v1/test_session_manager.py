"""Session managers: sessions that are restored, initialized or waited for."""

import threading

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def saved(tmp_path):
    """A folder with a checkpoint in which `v` is 6."""
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("v", initializer=6.0)
        sess.run(v1.global_variables_initializer())
        v1.train.Saver().save(sess, str(tmp_path / "m"))
    return tmp_path


def test_initialization_in_its_order():
    x = v1.placeholder(tf.float32, [])
    v = v1.get_variable("v", initializer=x)
    y = v1.placeholder(tf.float32, [])
    local = v1.get_local_variable("local", initializer=y)
    seen = []
    manager = v1.train.SessionManager(local_init_op=local.initializer, local_init_feed_dict={y: 5.0})
    sess = manager.prepare_session(
        "", init_op=v.initializer, init_feed_dict={x: 4.0}, init_fn=lambda sess: seen.append(float(sess.run(v)))
    )
    assert sess.run([v, local]) == [4.0, 5.0] and seen == [4.0] and sess.graph is x.graph


def test_only_a_function_initializes():
    v = v1.get_variable("v", initializer=1.0)
    sess = v1.train.SessionManager().prepare_session("", init_fn=lambda sess: sess.run(v.initializer))
    assert sess.run(v) == 1.0
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        v1.train.SessionManager().prepare_session("")


def test_a_checkpoint_comes_before_initializers(saved):
    v = v1.get_variable("v", initializer=1.0)
    saver, seen = v1.train.Saver(max_to_keep=1), []
    manager = v1.train.SessionManager(ready_op=v1.report_uninitialized_variables())
    sess = manager.prepare_session("", v.initializer, saver, str(saved), init_fn=seen.append)
    assert sess.run(v) == 6.0 and not seen and saver.last_checkpoints == [str(saved / "m")]
    assert manager.prepare_session("", v.initializer, None, str(saved)).run(v) == 1.0
    other = v1.train.Saver()
    sess = manager.prepare_session("", v.initializer, other, checkpoint_filename_with_path=str(saved / "m"))
    assert sess.run(v) == 6.0 and other.last_checkpoints == []


def test_what_the_local_initializer_waits_for():
    v, w = v1.get_variable("v", initializer=1.0), v1.get_variable("w", initializer=2.0)
    manager = v1.train.SessionManager(
        local_init_op=w.initializer, ready_for_local_init_op=v1.report_uninitialized_variables([v])
    )
    with pytest.raises(RuntimeError, match=r"did not make model ready for local_init.*Variables not initialized: v"):
        manager.prepare_session("", init_op=tf.no_op(name="nothing"))
    assert manager.prepare_session("", init_op=v.initializer).run(w) == 2.0


def test_what_is_not_ready_afterwards():
    v = v1.get_variable("v", initializer=1.0)
    v1.get_variable("w", initializer=2.0)
    manager = v1.train.SessionManager(ready_op=v1.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match=r"Init op: v/Assign, init fn: None.*Variables not initialized: w"):
        manager.prepare_session("", init_op=v.initializer)


def test_a_check_that_raises():
    v = v1.get_variable("v", initializer=1.0)
    manager = v1.train.SessionManager(ready_op=v + 1.0)
    with pytest.raises(RuntimeError, match=r"(?s)did not make model ready.*uninitialized"):
        manager.prepare_session("", init_op=tf.no_op())
    assert manager.prepare_session("", init_op=v.initializer).run(v) == 1.0
    queue = tf.queue.FIFOQueue(1, tf.float32)
    with pytest.raises(tf.errors.CancelledError):  # which says nothing about variables
        v1.train.SessionManager(ready_op=queue.enqueue(1.0)).prepare_session("", init_op=queue.close())


def test_recovery(saved):
    v = v1.get_variable("v", initializer=1.0)
    ready, saver = v1.report_uninitialized_variables(), v1.train.Saver([v])
    sess, restored = v1.train.SessionManager(ready_op=ready).recover_session("", saver, str(saved))
    assert restored and sess.run(v) == 6.0
    nothing = saved / "nothing"
    nothing.mkdir()
    for folder, by in ((str(nothing), saver), (str(saved), None), (None, saver)):
        sess, restored = v1.train.SessionManager(ready_op=ready).recover_session("", by, folder)
        assert not restored
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
    v1.get_variable("w", initializer=2.0)
    more = v1.report_uninitialized_variables()
    sess, restored = v1.train.SessionManager(ready_op=more).recover_session("", saver, str(saved))
    assert not restored and sess.run(v) == 6.0
    local = v1.get_local_variable("local", initializer=3.0)
    manager = v1.train.SessionManager(local.initializer, ready, ready_for_local_init_op=more)
    sess, restored = manager.recover_session("", saver, str(saved))
    assert not restored
    manager = v1.train.SessionManager(local.initializer, ready, ready_for_local_init_op=ready)
    sess, restored = manager.recover_session("", saver, str(saved))
    assert restored and sess.run(local) == 3.0


def test_a_checkpoint_that_comes_later(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("v", initializer=6.0)
        sess.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        path = str(tmp_path / "m")

        def write():
            with sess.graph.as_default():
                saver.save(sess, path, write_meta_graph=False)

        writer = threading.Timer(0.05, write)
        writer.start()
        with tf.Graph().as_default():
            v = v1.get_variable("v", initializer=1.0)
            manager = v1.train.SessionManager(recovery_wait_secs=0.01)
            again, restored = manager.recover_session(
                "", v1.train.Saver(), str(tmp_path), wait_for_checkpoint=True, max_wait_secs=20
            )
            assert restored and again.run(v) == 6.0
        writer.join()


def test_a_session_that_others_initialize():
    x = tf.constant(2.0)
    assert v1.train.SessionManager().wait_for_session("", max_wait_secs=0).run(x) == 2.0
    v = v1.get_variable("v", initializer=1.0)
    tries = []

    def ready():
        tries.append(1)
        return b"v" if len(tries) < 3 else b""

    waits = tf.strings.split(v1.py_func(ready, [], tf.string, stateful=True)[tf.newaxis]).values
    manager = v1.train.SessionManager(local_init_op=v.initializer, ready_op=waits, recovery_wait_secs=0.001)
    assert manager.wait_for_session("").run(v) == 1.0 and len(tries) == 3
    for pause, most in ((0.003, 0.004), (10.0, 9.0)):
        tries.clear()
        manager = v1.train.SessionManager(ready_op=waits, recovery_wait_secs=pause)
        with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting"):
            manager.wait_for_session("", max_wait_secs=most)
        assert 1 <= len(tries) <= 2
