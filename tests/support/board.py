"""TensorBoard's server over a folder of summaries, and such folders."""

import numpy as np
from tensorboard import program
from tensorboard.backend import application
from tensorboard.backend.event_processing.data_ingester import LocalDataIngester
from tensorboard.plugins.hparams import summary_v2 as hparams

import tapeflow as tf


def server(logdir, plugins, assets=None):
    """The server as a WSGI application that has read the folder.

    Args:
        logdir: the folder.
        plugins: what loads the plugins.
        assets: what opens the archive of the page's own files; without it there is no page.
    """
    board = program.TensorBoard(plugins, assets)
    board.configure(logdir=str(logdir), load_fast="false", reload_interval=0)
    ingester = LocalDataIngester(board.flags)
    ingester.deprecated_multiplexer.AddRunsFromDirectory(str(logdir))  # what its thread would do
    ingester.deprecated_multiplexer.Reload()
    return application.TensorBoardWSGIApp(
        board.flags, board.plugin_loaders, ingester.data_provider, assets, ingester.deprecated_multiplexer
    )


def write_summaries(logdir):
    """A run of each kind of summary, below `run`."""
    layer = tf.Variable(tf.ones([2, 3]))
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with tf.name_scope("train"):
            y = tf.matmul(x, layer, name="product")
            tf.summary.scalar("mean", tf.reduce_mean(y) + tf.cast(step, tf.float32))
            tf.summary.histogram("y", y, buckets=2)
        step.assign_add(1)
        return y

    with tf.summary.create_file_writer(str(logdir / "run")).as_default(step=step):
        tf.summary.trace_on()
        for _ in range(2):
            train(tf.ones([4, 2]))
        tf.summary.trace_export("trace", step=0)
        train(tf.zeros([1, 2]))  # after the trace
        tf.summary.graph(train.get_concrete_function(tf.zeros([1, 2])).graph)
        tf.summary.image("image", np.full([1, 2, 3, 3], 255, np.uint8))
        tf.summary.audio("audio", tf.zeros([1, 8, 1]), 8000)
        tf.summary.text("text", "**all** is well")


def write_trials(logdir):
    """Two trainings of a Keras model with other hyperparameters, below `wide` and `deep`."""
    x = np.linspace(0.0, 1.0, 32, dtype=np.float32).reshape(16, 2)
    for trial, units in (("wide", 8), ("deep", 2)):
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [layers.Input((2,)), layers.Dense(units, name="hidden"), layers.Dense(1, name="head")], name="model"
        )
        model.compile("sgd", "mse")
        writes = tf.keras.callbacks.TensorBoard(
            logdir / trial, histogram_freq=1, write_images=True, update_freq=1, profile_batch=2
        )
        model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0, callbacks=[writes])
        with tf.summary.create_file_writer(str(logdir / trial)).as_default():
            written = hparams.hparams_pb({"units": units}, trial_id=trial)
            tf.summary.experimental.write_raw_pb(written.SerializeToString(), step=0)
            tf.summary.scalar("score", 1.0 / units, step=1)
    with tf.summary.create_file_writer(str(logdir)).as_default():
        written = hparams.hparams_config_pb(
            [hparams.HParam("units", hparams.Discrete([2, 8]))], [hparams.Metric("score", display_name="the score")]
        )
        tf.summary.experimental.write_raw_pb(written.SerializeToString(), step=0)
