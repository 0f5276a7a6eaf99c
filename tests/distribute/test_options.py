"""Options and contexts: defaults, texts and refusals."""

import pytest

import tapeflow as tf

experimental = tf.distribute.experimental


def test_communication_options():
    options = experimental.CommunicationOptions()
    assert (options.bytes_per_pack, options.timeout_seconds) == (0, None)
    assert options.implementation is experimental.CommunicationImplementation.AUTO
    named = experimental.CommunicationOptions(0, 2.5, "NCCL")
    assert named.implementation is experimental.CommunicationImplementation.NCCL and named.timeout_seconds == 2.5
    with pytest.raises(ValueError, match=r"Argument `bytes_per_pack` must be >=0, Received -1."):
        experimental.CommunicationOptions(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="SMOKE"):
        experimental.CommunicationOptions(implementation="SMOKE")


def test_run_options():
    assert tf.distribute.RunOptions() == (True, False, None)


def test_input_contexts():
    context = tf.distribute.InputContext()
    assert (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync) == (1, 0, 1)
    context = tf.distribute.InputContext(3, 2, 4)
    assert context.get_per_replica_batch_size(12) == 3
    with pytest.raises(ValueError, match="`global_batch_size` 10 is not divisible by `num_replicas_in_sync` 4 "):
        context.get_per_replica_batch_size(10)
    assert str(context) == "tf.distribute.InputContext(input pipeline id 2, total: 3)"


def test_value_contexts():
    context = experimental.ValueContext()
    assert (context.replica_id_in_sync_group, context.num_replicas_in_sync) == (0, 1)
