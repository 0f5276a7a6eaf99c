"""`tf.__internal__.train`; the results are those of TensorFlow 2.21."""

import os

import pytest

import tapeflow as tf

train = tf.__internal__.train


def test_the_latest_checkpoint_is_written(tmp_path):
    folder = str(tmp_path)
    paths = [f"{folder}/model-1", f"{folder}/model-2"]
    train.update_checkpoint_state(folder, paths[1])
    state = tf.train.get_checkpoint_state(folder)
    assert state.model_checkpoint_path == paths[1] and list(state.all_model_checkpoint_paths) == [paths[1]]
    given = list(paths)
    train.update_checkpoint_state(folder, paths[1], given, "latest", False, [1.5, 2.5], 0.5)
    state = tf.train.get_checkpoint_state(folder, "latest")
    assert list(state.all_model_checkpoint_paths) == paths == given
    assert list(state.all_model_checkpoint_timestamps) == [1.5, 2.5] and state.last_preserved_timestamp == 0.5
    assert sorted(os.listdir(folder)) == ["checkpoint", "latest"]


def test_paths_in_the_folder_may_be_relative(tmp_path):
    train.update_checkpoint_state(
        str(tmp_path), f"{tmp_path}/model-1", [f"{tmp_path}/model-1"], save_relative_paths=True
    )
    assert 'model_checkpoint_path: "model-1"' in (tmp_path / "checkpoint").read_text()
    assert tf.train.latest_checkpoint(str(tmp_path)) is None  # there is no such checkpoint


@pytest.mark.parametrize(("decay", "expected"), [(0.75, [1.5, 2.5]), (0.0, [3.0, 4.0]), (1.0, [1.0, 2.0])])
def test_averages(decay, expected):
    average = tf.Variable([1.0, 2.0])
    train.assign_moving_average(average, [3.0, 4.0], decay, zero_debias=False)
    assert average.numpy().tolist() == expected
    again = tf.Variable([1.0, 2.0], dtype=tf.float64)
    train.assign_moving_average(again, tf.constant([3.0, 4.0], tf.float64), tf.constant(decay), zero_debias=False)
    assert again.numpy().tolist() == expected


def test_names_of_averages():
    with tf.Graph().as_default() as graph:
        average = tf.compat.v1.get_variable("v", initializer=[1.0], use_resource=True)
        train.assign_moving_average(average, tf.constant([2.0]), 0.5, zero_debias=False)
        train.assign_moving_average(average, tf.constant([2.0]), 0.5, zero_debias=False, name="mine")
    scopes = {o.name.partition("/")[0] for o in graph.get_operations()}
    assert {"AssignMovingAvg", "mine"} <= scopes


def test_averages_are_moved_across_replicas():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        average = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
        train.assign_moving_average(average, tf.constant(3.0), 0.5, zero_debias=False)  # outside of replicas
    assert [v.numpy() for v in strategy.experimental_local_results(average)] == [2.0, 2.0]


def test_graphs_are_not_rewritten():
    assert train.set_using_mixed_precision_policy(True) is None
    assert train.is_mixed_precision_graph_rewrite_enabled() is False
