"""TensorFlow 1's summaries: messages that a session computes, and the files of their writer."""

import io
import pathlib
import warnings

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tapeflow as tf
from tapeflow.compat import v1

summary = v1.summary


def run(build, feed=None):
    """The values of the `Summary` message that `build()` gives in a graph."""
    with tf.Graph().as_default(), v1.Session() as sess:
        return list(summary.Summary.FromString(sess.run(build(), feed)).value)


def events(folder):
    found = [list(v1.train.summary_iterator(path)) for path in sorted(pathlib.Path(folder).iterdir())]
    return [event for file in found for event in file if not event.HasField("file_version")]


# ---- messages --------------------------------------------------------------------------------------------------------


def test_tags_are_the_names_of_the_operations():
    with tf.Graph().as_default():
        loss = [summary.scalar("loss", 1.0) for _ in range(2)]
        with v1.name_scope("sc"):
            with_family = summary.scalar("a b/c", 1.0, family="fam")
        assert [t.name for t in [*loss, with_family]] == ["loss:0", "loss_1:0", "sc/fam/a_b/c:0"]
        assert [t.op.inputs[0].name for t in loss] == ["loss/tags:0", "loss_1/tags:0"]
        with v1.Session() as sess:
            parts = sess.run(summary.merge_all())
    assert [v.tag for v in summary.Summary.FromString(parts).value] == ["loss", "loss_1", "fam/sc/fam/a_b/c"]


def test_scalar_of_several_dtypes():
    for dtype in (tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.uint16):
        (value,) = run(lambda dtype=dtype: summary.scalar("x", tf.constant(3, dtype)))
        assert value.simple_value == 3.0


def test_histogram_has_the_buckets_of_tensorflow():
    (value,) = run(lambda: summary.histogram("h", [1.0, 2.0, -3.0, 0.0, 1e10]))
    limits = [
        -3.1665833053880363, -2.8787120958073054, 0, 1e-12, 0.917246389039776, 1.0089710279437536, 1.9661990955585713,
        2.1628190051144287, 9539284887.0472, 10493213375.751921, 1.7976931348623157e308,
    ]  # fmt: skip
    np.testing.assert_allclose(value.histo.bucket_limit, limits, rtol=1e-13)
    assert list(value.histo.bucket) == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert (value.histo.min, value.histo.max, value.histo.num, value.histo.sum) == (-3, 1e10, 5, 1e10)
    assert value.histo.sum_squares == pytest.approx(1e20)


def test_images_are_scaled_as_in_tensorflow():
    def pixels(array, **options):
        values = run(lambda: summary.image("im", np.array(array, np.float32), **options))
        return values, [np.asarray(Image.open(io.BytesIO(v.image.encoded_image_string))) for v in values]

    values, (first,) = pixels([[[[0.0], [1.0]], [[2.0], [4.0]]]], max_outputs=1)
    assert first.tolist() == [[0, 63], [127, 255]]
    assert (values[0].tag, values[0].image.height, values[0].image.colorspace) == ("im/image", 2, 1)
    values, found = pixels(np.array([-2.0, 0.0, 1.0, 2.0] * 2).reshape(2, 2, 2, 1))
    assert found[0].tolist() == [[1, 128], [191, 255]]
    assert [v.tag for v in values] == ["im/image/0", "im/image/1"]
    _, (bad,) = pixels([[[[3.0, np.nan, 4.0], [1.0, 2.0, 4.0]]]])
    assert bad.tolist() == [[[255, 0, 0], [63, 127, 255]]]


def test_bytes_of_images_are_kept():
    array = np.arange(24).reshape(1, 2, 3, 4).astype(np.uint8)
    (value,) = run(lambda: summary.image("im", array, max_outputs=1))
    assert np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string))).tolist() == array[0].tolist()


def test_audio():
    clips = np.linspace(-1, 1, 16).reshape(2, 4, 2).astype(np.float32)
    first, second = run(lambda: summary.audio("au", clips, 8000.0))
    assert (first.tag, second.tag) == ("au/audio/0", "au/audio/1")
    assert (first.audio.sample_rate, first.audio.num_channels, first.audio.length_frames) == (8000.0, 2, 4)
    assert second.audio.encoded_audio_string.endswith(b"\x89\x08\x9a\x19\xab*\xbc;\xcdL\xde]\xefn\xff\x7f")
    (mono,) = run(lambda: summary.audio("au", clips[0].T, 8000, max_outputs=1))
    assert (mono.tag, mono.audio.num_channels) == ("au/audio", 1)


def test_text_and_tensors_carry_metadata():
    (text,) = run(lambda: summary.text("t", tf.constant("hello")))
    assert (text.tensor.string_val[0], text.metadata.plugin_data.plugin_name) == (b"hello", "text")
    (pair,) = run(lambda: summary.tensor_summary("p", [1.0, 2.0], "about it", display_name="name"))
    assert tf.make_ndarray(pair.tensor).tolist() == [1.0, 2.0]
    assert (pair.metadata.summary_description, pair.metadata.display_name) == ("about it", "name")


def test_collections():
    with tf.Graph().as_default():
        kept = summary.scalar("a", 1.0)
        other = summary.scalar("b", 1.0, collections=["mine"])
        assert v1.get_collection("summaries") == [kept]
        assert summary.merge_all("mine").op.inputs == (other,)
        assert summary.merge_all("none") is None
        assert summary.merge_all(scope="x") is None
        merged = summary.merge([kept, other], collections=["merged"], name="Both")
        assert (merged.name, v1.get_collection("merged")) == ("Both/MergeSummary:0", [merged])


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: summary.scalar("s", "text"), TypeError, "string"),
        (lambda: summary.scalar("s", [1.0, 2.0]), tf.errors.InvalidArgumentError, r"\[\] != \[2\] \(tag 's'\)"),
        (lambda: summary.histogram("h", [1.0, np.nan]), tf.errors.InvalidArgumentError, "Nan in summary histogram"),
        (lambda: summary.histogram("h", [np.inf]), tf.errors.InvalidArgumentError, "Infinity in summary histogram"),
        (lambda: summary.image("i", tf.zeros([1, 2, 2, 2])), tf.errors.InvalidArgumentError, r"not \[1,2,2,2\]"),
        (lambda: summary.audio("a", tf.zeros([2]), 8000), tf.errors.InvalidArgumentError, "3-D or 2-D"),
        (lambda: summary.text("t", tf.constant(1)), ValueError, "dtype string"),
        (lambda: summary.merge([]), ValueError, "length 0"),
        (
            lambda: summary.merge([summary.scalar("a", 1.0)] * 2),
            tf.errors.InvalidArgumentError,
            "Duplicate tag a found in summary inputs",
        ),
    ],
)  # fmt: skip
def test_errors(build, kind, message):
    with pytest.raises(kind, match=message):
        run(build)


def test_merging_and_writing_are_not_for_eager_mode(tmp_path):
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        summary.merge_all()
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        summary.FileWriter(tmp_path)


def test_eagerly_the_writer_of_today_takes_them(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert summary.scalar("a", 1.0).numpy() == b"\n\x08\n\x01a\x15\x00\x00\x80?"
    assert "no default writer" in str(caught[0].message)
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3), tf.name_scope("n"):
        assert summary.scalar("a", 1.0, family="f").numpy() == b""
        summary.histogram("h", [1.0])
        summary.image("i", tf.zeros([1, 2, 2, 1]))
        summary.audio("b", tf.zeros([1, 8, 1]), 8000)
        summary.text("t", "text")
    assert [(e.summary.value[0].tag, e.step) for e in events(tmp_path)] == [
        (tag, 3) for tag in ("f/n/f/a", "n/h", "n/i", "n/b", "n/t")
    ]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_tensorboard_reads_the_files(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [])
        summary.scalar("loss", x)
        summary.histogram("h", [x, x])
        summary.image("im", tf.zeros([1, 2, 2, 3]), max_outputs=1)
        summary.audio("au", tf.zeros([1, 8]), 8000, max_outputs=1)
        summary.text("t", tf.constant("hello"))
        everything = summary.merge_all()
        with summary.FileWriter(str(tmp_path), sess.graph) as writer:
            for step in range(3):
                writer.add_summary(sess.run(everything, {x: step}), step)
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    tags = found.Tags()
    assert (tags["scalars"], tags["histograms"], tags["images"]) == (["loss"], ["h"], ["im/image"])
    assert (tags["audio"], tags["tensors"], tags["graph"], tags["meta_graph"]) == (["au/audio"], ["t"], True, True)
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert {n.name for n in found.Graph().node} >= {"loss", "loss/tags", "Merge/MergeSummary"}
    assert [bool(e.tensor_proto.string_val) for e in found.Tensors("t")] == [True] * 3


def test_metadata_are_written_once(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        text = sess.run(summary.text("t", tf.constant("hello")))
        with summary.FileWriter(tmp_path) as writer:
            writer.add_summary(text, 1)
            writer.add_summary(summary.Summary.FromString(text), 2)
    assert [e.summary.value[0].HasField("metadata") for e in events(tmp_path)] == [True, False]


def test_a_closed_writer_warns_and_can_be_reopened(tmp_path):
    with tf.Graph().as_default():
        writer = summary.FileWriter(tmp_path, filename_suffix=".x")
        writer.reopen()  # nothing to do
        writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 4)
        writer.close()
        writer.close()
        with pytest.warns(UserWarning, match="closed FileWriter"):
            writer.add_summary(summary.Summary(), 5)
        writer.flush()
        writer.reopen()
        writer.add_run_metadata(v1.RunMetadata(), "run", 6)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(v1.RunMetadata(), "run")
        writer.close()
    assert [(e.step, e.WhichOneof("what")) for e in events(tmp_path)] == [
        (4, "session_log"),
        (6, "tagged_run_metadata"),
    ]
    assert all(path.name.endswith(".x") for path in tmp_path.iterdir()) and len(list(tmp_path.iterdir())) == 2


def test_writers_are_shared_by_their_folders(tmp_path):
    with tf.Graph().as_default():
        writer = summary.FileWriterCache.get(str(tmp_path))
        assert summary.FileWriterCache.get(tmp_path) is writer
        with pytest.raises(TypeError, match="MetaGraphDef"):
            writer.add_meta_graph(3)
        with pytest.raises(ValueError, match="must be specified"):
            writer.add_graph(None)
        summary.FileWriterCache.clear()
        assert summary.FileWriterCache.get(str(tmp_path)) is not writer
        summary.FileWriterCache.clear()


def test_summaries_of_today_in_a_graph(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        with pytest.raises(RuntimeError, match="No default"):
            summary.initialize()
        writer = tf.summary.create_file_writer(str(tmp_path))
        with writer.as_default(step=1):
            summary.initialize(graph)
            tf.summary.scalar("loss", 0.5)
            sess.run(summary.all_v2_summary_ops())
    writer.close()
    assert [e.WhichOneof("what") for e in events(tmp_path)] == ["graph_def", "summary"]


def test_tensorflows_graphs_have_these_ops():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        summary.scalar("loss", x)
        summary.image("im", tf.ones([1, 1, 1, 1]))
        summary.merge_all()
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.import_graph_def(graph.as_graph_def(), name="")
        text = sess.run("Merge/MergeSummary:0", {"x:0": 2.0})
    assert [v.tag for v in summary.Summary.FromString(text).value] == ["loss", "im/image/0"]
