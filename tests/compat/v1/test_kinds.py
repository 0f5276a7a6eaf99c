"""Summaries of TensorFlow 1: what they refuse, how they are merged, and where they go."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
summary = v1.summary


def values_of(build, feed=None):
    """The values of a summary."""
    with tf.Graph().as_default(), v1.Session() as sess:
        return list(summary.Summary.FromString(sess.run(build(), feed)).value)


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [[True, False, True], np.array([True, False, True]), [1, 0, 1], [1.0, 0.0, 1.0]])
def test_histograms_of_booleans(given):
    (value,) = values_of(lambda: summary.histogram("h", given))
    histogram = value.histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares) == (0, 1, 3, 2, 2)
    assert list(histogram.bucket) == [0, 1, 0, 2, 0]


def test_what_is_no_number():
    with tf.Graph().as_default():
        for make in (
            lambda: summary.histogram("h", tf.constant([True])),
            lambda: summary.scalar("s", True),
            lambda: summary.scalar("s", tf.constant(True)),
            lambda: summary.scalar("s", "text"),
            lambda: summary.histogram("h", ["text"]),
        ):
            with pytest.raises((TypeError, ValueError)):
                make()
        with pytest.raises(ValueError, match=r"Expected tensor .* to have dtype string"):
            summary.text("t", tf.constant(1.0))


def test_collections():
    with tf.Graph().as_default() as graph:
        by_default = summary.scalar("a", 1.0)
        mine = summary.histogram("b", [1.0], collections=["mine", "other"])
        summary.text("c", "x", collections=[])
        merged = summary.merge([by_default, mine], collections=["mine"], name="m")
        assert v1.get_collection(v1.GraphKeys.SUMMARIES) == [by_default]
        assert v1.get_collection("mine") == [mine, merged]
        assert v1.get_collection("other") == [mine]
        assert merged.op.name == "m/m" or merged.op.name.startswith("m")
        assert summary.merge_all("nothing") is None
        assert summary.merge_all(scope="x") is None
        assert summary.merge_all(scope="a").op.inputs[0] is by_default
        assert len(summary.merge_all("mine").op.inputs) == 2
        assert graph.get_collection(v1.GraphKeys.SUMMARIES) == [by_default]


@pytest.mark.parametrize(
    ("inputs", "kind", "message"),
    [("text", TypeError, "Expected list for 'inputs'"), ([], ValueError, "length 0 shorter than minimum length 1")],
)
def test_what_can_not_be_merged(inputs, kind, message):
    with tf.Graph().as_default(), pytest.raises(kind, match=message):
        summary.merge(inputs)


def test_merged_tags_are_apart():
    with tf.Graph().as_default(), v1.Session() as sess:
        one, two = summary.scalar("a", 1.0), summary.scalar("b", 2.0)
        both = summary.Summary.FromString(sess.run(summary.merge([two, one])))
        assert [(v.tag, v.simple_value) for v in both.value] == [("b", 2.0), ("a", 1.0)]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(summary.merge([one, one]))


def test_tensors_and_their_metadata():
    metadata = v1.SummaryMetadata(display_name="first", summary_description="old")
    metadata.plugin_data.plugin_name = "mine"
    (plain,) = values_of(lambda: summary.tensor_summary("t", [[1, 2]], summary_metadata=metadata))
    assert (plain.metadata.display_name, plain.metadata.summary_description) == ("first", "old")
    assert plain.metadata.plugin_data.plugin_name == "mine"
    assert tf.make_ndarray(plain.tensor).tolist() == [[1, 2]]
    (changed,) = values_of(
        lambda: summary.tensor_summary("t", 1.5, "new", summary_metadata=metadata, family="f", display_name="second")
    )
    assert (changed.metadata.display_name, changed.metadata.summary_description) == ("second", "new")
    assert changed.tag == "f/f/t"
    assert (metadata.display_name, metadata.summary_description) == ("first", "old")
    (text,) = values_of(lambda: summary.text("x", ["a", "b"]))
    assert text.metadata.plugin_data.plugin_name == "text"
    assert tf.make_ndarray(text.tensor).tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("most", "tags"), [(1, ["i/image"]), (2, ["i/image/0", "i/image/1"]), (9, [f"i/image/{i}" for i in range(3)])]
)
def test_the_number_of_images(most, tags):
    values = values_of(lambda: summary.image("i", np.zeros([3, 2, 4, 1], np.uint8), most))
    assert [v.tag for v in values] == tags
    assert {(v.image.height, v.image.width, v.image.colorspace) for v in values} == {(2, 4, 1)}


def test_audio():
    clips = np.zeros([4, 10, 2], np.float32)
    values = values_of(lambda: summary.audio("a", clips, 100))
    assert [v.tag for v in values] == [f"a/audio/{i}" for i in range(3)]
    clip = values[0].audio
    assert (clip.sample_rate, clip.num_channels, clip.length_frames, clip.content_type) == (100.0, 2, 10, "audio/wav")


def test_descriptions_of_old_nodes():
    node = v1.NodeDef(op="TensorSummary")
    node.attr["description"].s = b'{"typeHint": "scalar"}'
    assert summary.get_summary_description(node).type_hint == "scalar"
    with pytest.raises(ValueError, match="Can't get_summary_description on Add"):
        summary.get_summary_description(v1.NodeDef(op="Add"))


# ---- eager programs --------------------------------------------------------------------------------------------------


def test_graphs_are_needed():
    for call in (lambda: summary.merge(["a"]), summary.merge_all, lambda: summary.FileWriter("nowhere")):
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            call()
    assert summary.all_v2_summary_ops() is None
    assert summary.initialize() is None


def events_in(folder):
    """The steps, tags and tensors in a folder."""
    events = [e for path in folder.iterdir() for e in v1.train.summary_iterator(str(path))]
    return [(e.step, v.tag, tf.make_ndarray(v.tensor).tolist()) for e in events for v in e.summary.value]


def test_the_default_writer_of_eager_programs(tmp_path):
    with pytest.warns(UserWarning, match=r"default.*writer"):
        summary.scalar("s", 1.0)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.warns(UserWarning, match="step"):
            summary.scalar("s", 1.0)
        with tf.summary.record_if(True):
            tf.summary.experimental.set_step(7)
            try:
                assert summary.scalar("s", 2.5, family="f").numpy() == b""
                assert summary.text("t", "x").numpy() == b""
            finally:
                tf.summary.experimental.set_step(None)
    assert events_in(tmp_path) == [(7, "f/f/s", 2.5), (7, "t", b"x")]


def test_writers_of_tf_summary_in_graphs(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        with pytest.raises(RuntimeError, match=r"No default tf.contrib.summary.SummaryWriter found"):
            summary.initialize()
        step = v1.train.create_global_step()
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            tf.summary.scalar("s", 4.0, step=step)
            operations = summary.all_v2_summary_ops()
            assert len(operations) == 1
    assert summary.all_v2_summary_ops() is None
    assert graph
    assert sess
