"""Datasets and Keras models under a strategy of two logical CPUs. What is expected is what TensorFlow 2.21 gave."""

import numpy as np
import pytest

import tapeflow as tf

range_ = tf.data.Dataset.range


pytestmark = pytest.mark.usefixtures("two_cpus")


def parts(batch):
    return [v.numpy().tolist() for v in batch.values]


# ---- datasets --------------------------------------------------------------------------------------------------------

DIVIDED = {
    (10, 4): [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], [9]]],
    (9, 4): [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]],
    (7, 3): [[[0, 1], [2]], [[3, 4], [5]], [[6], []]],
    (2, 1): [[[0], []], [[1], []]],
    (4, 8): [[[0, 1], [2, 3]]],
}
DEALT = {
    (10, 4): [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9], []]],
    (7, 3): [[[0, 1, 2], [3, 4, 5]], [[6], []]],
    (5, 1): [[[0], [1]], [[2], [3]], [[4], []]],
    (4, 8): [[[0, 1, 2, 3], []]],
}


@pytest.mark.parametrize(("size", "batch"), DIVIDED)
def test_a_batch_for_all_is_divided(strategy, size, batch):
    dataset = strategy.experimental_distribute_dataset(range_(size).batch(batch))
    assert [parts(b) for b in dataset] == DIVIDED[size, batch]
    assert dataset.cardinality == len(DIVIDED[size, batch])


@pytest.mark.parametrize(("size", "batch"), DEALT)
def test_batches_for_one_are_dealt(strategy, size, batch):
    told = []

    def make(context):
        told.append((str(context), context.get_per_replica_batch_size(8)))
        return range_(size).batch(batch)

    dataset = strategy.distribute_datasets_from_function(make)
    assert [parts(b) for b in dataset] == DEALT[size, batch]
    assert told == [("tf.distribute.InputContext(input pipeline id 0, total: 1)", 4)]


def test_structures_and_specs(strategy):
    rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]})
    first, second = strategy.experimental_distribute_dataset(rows.batch(2))
    assert parts(first["a"]) == [[1], [2]] and parts(second["b"]) == [[[3.0]], []]
    assert second["b"].values[1].shape == [0, 1]
    open_end, whole = (range_(10).batch(4, drop_remainder=drop) for drop in (False, True))
    assert strategy.experimental_distribute_dataset(whole).element_spec._component_specs[1] == tf.TensorSpec(
        [2], tf.int64
    )
    assert strategy.experimental_distribute_dataset(open_end).element_spec._component_specs[0] == tf.TensorSpec(
        [None], tf.int64
    )
    with pytest.raises(ValueError, match="gives scalars"):
        strategy.experimental_distribute_dataset(range_(4))


def test_an_iterator(strategy):
    iterator = iter(strategy.experimental_distribute_dataset(range_(6).batch(4)))
    assert parts(iterator.get_next()) == [[0, 1], [2, 3]]
    assert parts(iterator.get_next_as_optional().get_value()) == [[4], [5]]
    assert not iterator.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


@pytest.mark.parametrize("dealt", [False, True])
def test_functions_loop_over_what_is_distributed(strategy, dealt):
    def sums_of(batch):
        sums = strategy.run(lambda part: tf.stack([tf.reduce_sum(part), tf.size(part, tf.int64)]), args=(batch,))
        return tf.stack(strategy.experimental_local_results(sums))

    @tf.function
    def over_a_dataset(dataset):
        total = tf.zeros([2, 2], tf.int64)
        for batch in dataset:
            total += sums_of(batch)
        return total

    @tf.function
    def over_an_iterator(iterator, count):
        total = tf.zeros([2, 2], tf.int64)
        for _ in tf.range(count):
            total += sums_of(next(iterator))
        return total

    def make(_=None):
        return range_(10).batch(4)

    dataset = (
        strategy.distribute_datasets_from_function(make) if dealt else strategy.experimental_distribute_dataset(make())
    )
    expected = [[23, 6], [22, 4]] if dealt else [[18, 5], [27, 5]]
    assert over_a_dataset(dataset).numpy().tolist() == expected
    assert over_an_iterator(iter(dataset), tf.constant(2 if dealt else 3)).numpy().tolist() == expected


# ---- SavedModels -----------------------------------------------------------------------------------------------------


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)
        on_read = tf.VariableSynchronization.ON_READ
        self.seen = tf.Variable(0.0, trainable=False, synchronization=on_read, aggregation=tf.VariableAggregation.SUM)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def scaled(self, x):
        return x * self.factor + self.seen


def test_saved_models_hold_whole_variables(strategy, tmp_path):
    with strategy.scope():
        module = Scale()
    strategy.run(lambda: module.seen.assign_add(1.0))
    assert module.scaled(3.0).numpy() == 8.0  # a trace with the copies of all replicas
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert (loaded.factor.numpy(), loaded.seen.numpy()) == (2.0, 2.0)
    assert loaded.scaled(3.0).numpy() == 8.0
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path)
    assert type(loaded.factor).__name__ == "MirroredVariable"
    assert parts(strategy.run(lambda: loaded.scaled(tf.constant(3.0)))) == [7.0, 7.0]


# ---- Keras -----------------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).random((64, 4)).astype("f4")
Y = 2 * X.sum(1, keepdims=True)


def compiled(strategy, optimizer, *more, **options):
    layers = tf.keras.layers
    with strategy.scope():
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3, activation="tanh"), *more, layers.Dense(1)])
        model.compile(optimizer=optimizer, loss="mse", metrics=["mae"], **options)
    return model


@pytest.mark.parametrize(
    ("optimizer", "losses", "evaluated", "weights"),
    [
        ("sgd", [17.4056, 11.75876], [9.06603, 2.85219], [-0.42468, 0.59345]),
        ("adam", [19.94578, 19.7688], [19.65949, 4.29319], [-0.43828, 0.6632]),
    ],
)
def test_fit_evaluate_predict(strategy, optimizer, losses, evaluated, weights):
    model = compiled(strategy, optimizer)
    history = model.fit(X, Y, epochs=2, batch_size=16, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], losses, rtol=1e-5)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), evaluated, rtol=1e-5)
    np.testing.assert_allclose(model.weights[0].numpy().ravel()[:2], weights, rtol=1e-4)
    assert model.predict(X[:5], verbose=0).shape == (5, 1)


def test_fit_on_datasets(strategy):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    for data in (dataset, strategy.experimental_distribute_dataset(dataset)):
        history = compiled(strategy, "sgd").fit(data, epochs=2, verbose=0).history
        np.testing.assert_allclose(history["loss"], [17.4056, 11.75876], rtol=1e-5)


def test_fit_on_batches_that_the_replicas_cannot_share_equally(strategy):
    dataset = tf.data.Dataset.from_tensor_slices((X[:33], Y[:33])).batch(8)
    history = compiled(strategy, "sgd").fit(dataset, epochs=2, verbose=0).history
    np.testing.assert_allclose(history["loss"], [17.07117, 11.00202], rtol=1e-5)
    np.testing.assert_allclose(history["mae"], [3.9553, 3.13308], rtol=1e-5)


def test_batches_of_a_replica_are_normalized_and_their_statistics_averaged(strategy):
    layers = tf.keras.layers
    with strategy.scope():
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential(
            [tf.keras.Input((4,)), layers.Dense(3), layers.BatchNormalization(), layers.Dense(1)]
        )
        model.compile(optimizer="sgd", loss="mse")
    history = model.fit(X, Y, epochs=2, batch_size=16, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [18.44299, 14.27287], rtol=1e-5)
    np.testing.assert_allclose(model.weights[4].numpy()[:2], [-0.04072, -0.0422], rtol=1e-3)  # the moving mean
    np.testing.assert_allclose(model.weights[5].numpy()[:2], [0.92442, 0.93552], rtol=1e-4)


def test_train_eagerly(strategy):
    model = compiled(strategy, "sgd", run_eagerly=True)
    history = model.fit(X, Y, epochs=1, batch_size=16, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [17.4056], rtol=1e-5)
    loss, _ = compiled(strategy, "sgd").train_on_batch(X[:8], Y[:8])
    assert loss == pytest.approx(19.343670, rel=1e-5)
