"""The data service in processes of its own: workers and a dispatcher that die."""

import pytest

import tapeflow as tf
from worker_programs.data_service import Server, ended

pytest.importorskip("grpc")
service = tf.data.experimental.service
Dataset = tf.data.Dataset


def rest(elements):
    return [x for batch in elements for x in batch.numpy().tolist()]


def test_a_worker_that_dies_loses_nothing():
    with ended(Server("dispatcher", 0)) as (dispatcher,), ended(Server("worker", dispatcher.address)) as (first,):
        words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [5]), -1)
        ds = Dataset.range(600).map(lambda x: x + tf.cast(words.lookup(tf.constant("a")), tf.int64)).batch(4)
        ds = ds.apply(service.distribute("distributed_epoch", dispatcher.address, max_outstanding_requests=2))
        elements = iter(ds)
        read = [x for _ in range(5) for x in next(elements).numpy().tolist()]
        with ended(Server("worker", dispatcher.address)):
            first.kill()
            read += rest(elements)
    assert sorted(read) == [*range(5, 605)]


def test_a_worker_that_is_started_again_goes_on():
    with ended(Server("dispatcher", 0)) as (dispatcher,), ended(Server("worker", dispatcher.address)) as (first,):
        ds = Dataset.range(40).repeat(2).batch(4)
        elements = iter(ds.apply(service.distribute("distributed_epoch", dispatcher.address)))
        read = next(elements).numpy().tolist()
        first.kill()
        with ended(Server("worker", dispatcher.address)):
            read += rest(elements)
    assert sorted(read) == sorted([*range(40), *range(40)])


def test_a_dispatcher_that_is_started_again_goes_on(tmp_path):
    with ended(Server("dispatcher", 0, tmp_path)) as (dispatcher,), ended(Server("worker", dispatcher.address)):
        ds = Dataset.range(400).batch(4)
        ds = ds.apply(service.distribute("distributed_epoch", dispatcher.address, max_outstanding_requests=1))
        elements = iter(ds)
        read = [x for _ in range(3) for x in next(elements).numpy().tolist()]
        dispatcher.kill()
        with ended(Server("dispatcher", dispatcher.address.rpartition(":")[2], tmp_path)):
            read += rest(elements)
            assert sorted(read) == [*range(400)]
            id = service.register_dataset(dispatcher.address, Dataset.range(3))
            again = service.from_dataset_id("parallel_epochs", dispatcher.address, id)
            assert [int(x) for x in again] == [0, 1, 2]
