"""What TensorBoard's own server says of a folder of summaries, asked as its page asks it."""

import json

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard import program
from tensorboard.backend import application
from tensorboard.backend.event_processing.data_ingester import LocalDataIngester
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.audio.audio_plugin import AudioPlugin
from tensorboard.plugins.core.core_plugin import CorePluginLoader
from tensorboard.plugins.graph.graphs_plugin import GraphsPlugin
from tensorboard.plugins.histogram.histograms_plugin import HistogramsPlugin
from tensorboard.plugins.image.images_plugin import ImagesPlugin
from tensorboard.plugins.scalar.scalars_plugin import ScalarsPlugin
from tensorboard.plugins.text.text_plugin import TextPlugin
from werkzeug.test import Client

import tapeflow as tf

PLUGINS = [CorePluginLoader, AudioPlugin, GraphsPlugin, HistogramsPlugin, ImagesPlugin, ScalarsPlugin, TextPlugin]


@pytest.fixture
def logdir(tmp_path):
    """A folder with a run of each kind of summary."""
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

    with tf.summary.create_file_writer(str(tmp_path / "run")).as_default(step=step):
        tf.summary.trace_on()
        for _ in range(2):
            train(tf.ones([4, 2]))
        tf.summary.trace_export("trace", step=0)
        train(tf.zeros([1, 2]))  # after the trace
        tf.summary.graph(train.get_concrete_function(tf.zeros([1, 2])).graph)
        tf.summary.image("image", np.full([1, 2, 3, 3], 255, np.uint8))
        tf.summary.audio("audio", tf.zeros([1, 8, 1]), 8000)
        tf.summary.text("text", "**all** is well")
    return tmp_path


@pytest.fixture
def get(logdir):
    """Asks the server for a page."""
    board = program.TensorBoard(PLUGINS)
    board.configure(logdir=str(logdir), load_fast="false", reload_interval=0)
    ingester = LocalDataIngester(board.flags)
    ingester.deprecated_multiplexer.AddRunsFromDirectory(str(logdir))  # what its thread would do
    ingester.deprecated_multiplexer.Reload()
    app = application.TensorBoardWSGIApp(
        board.flags, board.plugin_loaders, ingester.data_provider, None, ingester.deprecated_multiplexer
    )
    client = Client(app)

    def page(path, **query):
        reply = client.get(f"/data/plugin/{path}", query_string=query or None)
        assert reply.status_code == 200, reply.data
        return reply

    return page


def test_a_board_shows_what_was_written(get):
    assert json.loads(get("scalars/tags").data) == {"run": {"train/mean": {"displayName": "", "description": ""}}}
    points = json.loads(get("scalars/scalars", run="run", tag="train/mean").data)
    assert [point[1:] for point in points] == [[0, 2.0], [1, 3.0], [2, 2.0]]
    ((_, step, buckets), *_) = json.loads(get("histograms/histograms", run="run", tag="train/y").data)
    assert step == 0 and buckets == [[2.0, 2.0, 0.0], [2.0, 2.0, 12.0]]
    (text,) = json.loads(get("text/text", run="run", tag="text").data)
    assert text["text"] == "<p><strong>all</strong> is well</p>"

    (image,) = json.loads(get("images/images", run="run", tag="image", sample=0).data)
    picture = get(f"images/individualImage?{image['query']}")
    assert picture.mimetype == "image/png"
    assert tf.io.decode_png(picture.data).numpy().tolist() == [[[255] * 3] * 3] * 2
    (clip,) = json.loads(get("audio/audio", run="run", tag="audio", sample=0).data)
    sound = get(f"audio/individualAudio?{clip['query']}")
    assert sound.mimetype == "audio/wav"
    assert tf.audio.decode_wav(sound.data).audio.shape == [8, 1]


def test_a_board_draws_graphs(get):
    info = json.loads(get("graphs/info").data)["run"]
    assert info["run_graph"] and info["tags"]["trace"]["op_graph"]
    traced, written = (
        text_format.Parse(get("graphs/graph", run="run", conceptual="false", **which).data, GraphDef())
        for which in ({"tag": "trace"}, {})
    )
    for graph, rows in ((traced, 4), (written, 1)):
        ops = {node.name: node for node in graph.node}
        assert ops["train/product"].op == "MatMul" and "x" in ops["train/product"].input
        assert [d.size for d in ops["x"].attr["_output_shapes"].list.shape[0].dim] == [rows, 2]
