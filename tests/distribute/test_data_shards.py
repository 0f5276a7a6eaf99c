"""Workers' shares of datasets, by auto-shard policy. What is expected is what TensorFlow 2.21 gave."""

import pytest

import tapeflow as tf
from tapeflow.distribute.data_shards import batch_sizes_of_worker, share_of_worker

Policy = tf.data.experimental.AutoShardPolicy


def with_policy(dataset, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


def batches(dataset, rank, workers=2, replicas=1):
    """Returns the batches of the replicas of a worker, one after the other."""
    share, division = share_of_worker(dataset, workers, rank, replicas)
    if not division.slots:
        return [b.numpy().tolist() for b in share]
    return [division.part(b, i, division.count).numpy().tolist() for b in share for i in division.slots]


@pytest.mark.parametrize("policy", [Policy.DATA, Policy.AUTO])
def test_data(policy):
    dataset = with_policy(tf.data.Dataset.range(10).batch(4), policy)
    assert batches(dataset, 0) == [[0, 1], [4, 5], [8]]
    assert batches(dataset, 1) == [[2, 3], [6, 7], [9]]
    dataset = with_policy(tf.data.Dataset.range(7).batch(3), policy)
    assert batches(dataset, 0) == [[0, 1], [3, 4], [6]]
    assert batches(dataset, 1) == [[2], [5], []]
    assert batches(with_policy(tf.data.Dataset.range(10).batch(9), policy), 0, 2, 2) == [[0, 1, 2], [6, 7, 8], [9], []]


def test_off():
    dataset = with_policy(tf.data.Dataset.range(7).batch(3), Policy.OFF)
    assert batches(dataset, 0) == [[0, 1], [2], [3, 4], [5], [6]]
    assert batches(dataset, 1) == [[0], [1, 2], [3], [4, 5], [6]]
    long, short = tf.data.Dataset.from_tensors([1, 2, 3]), tf.data.Dataset.from_tensors([4])
    unequal = with_policy(long.concatenate(short), Policy.OFF)
    assert batches(unequal, 0) == [[1, 2], [3], [4], []]


def test_batch_sizes():
    assert batch_sizes_of_worker(9, 2, 2, 0) == [3, 2, 2, 2]
    assert batch_sizes_of_worker(9, 2, 2, 1) == [2, 2, 3, 2]
    assert batch_sizes_of_worker(8, 2, 1, 1) == [4, 4]


@pytest.fixture
def lines(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("".join(f"{name}{i}\n" for i in range(3)))
    return [str(tmp_path / name) for name in "abc"]


def opened(lines):
    names = tf.data.Dataset.from_tensor_slices(lines)
    return {
        "reader": tf.data.TextLineDataset(lines),
        "names": tf.data.TextLineDataset(names.shuffle(3, seed=1)),
        "interleave": names.interleave(lambda name: tf.data.TextLineDataset(name).map(lambda line: line)),
        "flat_map": names.flat_map(tf.data.TextLineDataset).shuffle(2).take(-1),
    }


@pytest.mark.parametrize("kind", ["reader", "names", "interleave", "flat_map"])
@pytest.mark.parametrize("policy", [Policy.FILE, Policy.AUTO])
def test_files(lines, kind, policy):
    dataset = with_policy(opened(lines)[kind].batch(4), policy)
    shares = [[b"".join(b)[:1] and b for b in batches(dataset, rank)] for rank in range(2)]
    files = [{line[:1] for batch in share for line in batch} for share in shares]
    assert files == [{b"a", b"c"}, {b"b"}]
    assert [[len(b) for b in share] for share in shares] == [[2, 2, 2], [2, 1]]


def test_too_few_files(lines):
    dataset = tf.data.TextLineDataset(lines[:1]).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="aren't enough elements in this dataset for each shard"):
        batches(dataset, 1)
    with pytest.raises(tf.errors.NotFoundError, match="Found an unshardable source dataset"):
        batches(with_policy(tf.data.Dataset.range(4).batch(2), Policy.FILE), 0)


def test_hint():
    hint = tf.data.experimental.SHARD_HINT
    dataset = tf.data.Dataset.range(8).shard(hint, hint).map(lambda x: x * 10).batch(4)
    assert batches(with_policy(dataset, Policy.HINT), 0) == [[0, 20], [40, 60]]
    assert batches(with_policy(dataset, Policy.HINT), 1) == [[10, 30], [50, 70]]
    with pytest.raises(tf.errors.FailedPreconditionError, match="can only be used in"):
        next(iter(dataset))


def test_workers_agree_where_their_datasets_may_end_at_different_steps():
    finite = tf.data.Dataset.range(8).batch(4)
    unknown = finite.filter(lambda x: x[0] < 4)
    assert not share_of_worker(with_policy(finite, Policy.DATA), 2, 0, 1)[1].agrees
    assert share_of_worker(with_policy(unknown, Policy.DATA), 2, 0, 1)[1].agrees
    assert share_of_worker(with_policy(finite, Policy.OFF), 2, 0, 1)[1].agrees
    assert share_of_worker(with_policy(unknown, Policy.OFF), 2, 0, 1)[1].agrees
