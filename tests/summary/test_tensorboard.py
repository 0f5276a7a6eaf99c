"""What TensorBoard's own server says of a folder of summaries, asked as its page asks it."""

import json

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.audio.audio_plugin import AudioPlugin
from tensorboard.plugins.core.core_plugin import CorePluginLoader
from tensorboard.plugins.graph.graphs_plugin import GraphsPlugin
from tensorboard.plugins.histogram.histograms_plugin import HistogramsPlugin
from tensorboard.plugins.hparams.hparams_plugin import HParamsPlugin
from tensorboard.plugins.image.images_plugin import ImagesPlugin
from tensorboard.plugins.scalar.scalars_plugin import ScalarsPlugin
from tensorboard.plugins.text.text_plugin import TextPlugin
from werkzeug.test import Client

import board
import tapeflow as tf

PLUGINS = [
    CorePluginLoader, AudioPlugin, GraphsPlugin, HistogramsPlugin, HParamsPlugin, ImagesPlugin, ScalarsPlugin,
    TextPlugin,
]  # fmt: skip


def asking(logdir):
    """What asks the server of a folder for a page."""
    client = Client(board.server(logdir, PLUGINS))

    def page(path, json=None, **query):
        call = client.get if json is None else client.post
        reply = call(f"/data/plugin/{path}", query_string=query or None, json=json)
        assert reply.status_code == 200, reply.data
        return reply

    return page


@pytest.fixture
def get(tmp_path):
    """Asks the server of a folder with each kind of summary."""
    board.write_summaries(tmp_path)
    return asking(tmp_path)


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


def test_a_board_shows_trainings_of_keras(tmp_path):
    board.write_trials(tmp_path)
    get = asking(tmp_path)
    scalars = json.loads(get("scalars/tags").data)
    assert set(scalars) == {"wide", "deep", "wide/train", "deep/train"}
    assert set(scalars["wide/train"]) == {"batch_loss", "epoch_loss", "epoch_learning_rate"}
    points = json.loads(get("scalars/scalars", run="wide/train", tag="batch_loss").data)
    assert [step for _, step, _ in points] == [1, 2, 3, 4]
    assert "model/hidden/kernel/histogram" in json.loads(get("histograms/tags").data)["deep/train"]
    assert "model/hidden/kernel/image" in json.loads(get("images/tags").data)["deep/train"]

    reply = get("graphs/graph", run="wide/train", tag="keras", conceptual="true")
    layers = {node.name: list(node.input) for node in text_format.Parse(reply.data, GraphDef()).node}
    assert layers["model/hidden"] and layers["model/head"] == ["model/hidden"]

    experiment = json.loads(get("hparams/experiment", json={"includeMetrics": True}).data)
    assert [info["name"] for info in experiment["hparamInfos"]] == ["units"]
    asked = {"allowedStatuses": ["STATUS_UNKNOWN"], "colParams": [{"hparam": "units", "order": "ORDER_ASC"}],
             "startIndex": 0, "sliceSize": 10}  # fmt: skip
    groups = json.loads(get("hparams/session_groups", json=asked).data)["sessionGroups"]
    found = [(g["name"], g["hparams"]["units"], g["metricValues"][0]["value"]) for g in groups]
    assert found == [("deep", 2.0, 0.5), ("wide", 8.0, 0.125)]
