"""`tf.data`: elements, orders, batches, functions, threads. Expected values are TensorFlow's."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import op_table
import tapeflow as tf

Dataset = tf.data.Dataset
r5 = Dataset.range(5)


def values(dataset):
    return [tf.nest.map_structure(lambda x: x.tolist(), e) for e in dataset.as_numpy_iterator()]


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (lambda: Dataset.range(10, 0, -3), [10, 7, 4, 1]),
        (lambda: Dataset.range(300).skip(298), [298, 299]),
        (lambda: Dataset.range(4).shuffle(4, seed=1).repeat(2), [2, 3, 0, 1, 3, 1, 0, 2]),
        (lambda: Dataset.range(4).shuffle(2, 1, False).repeat(2), [0, 1, 3, 2, 0, 1, 3, 2]),
        (lambda: Dataset.random(seed=3).take(3), [2313400127, 3706097062, 3973888079]),
        (lambda: Dataset.random(3, True).take(3), [4045857117, 4157764621, 2978417067]),
        (lambda: r5.shard(2, 1).concatenate(r5.take(1)), [1, 3, 0]),
        (lambda: r5.batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
        (lambda: r5.map(lambda x: x * 2 + 1).batch(3), [[1, 3, 5], [7, 9]]),
        (lambda: r5.map(lambda x: x * 2, num_parallel_calls=3), [0, 2, 4, 6, 8]),
        (lambda: r5.batch(2).unbatch().filter(lambda x: x > 2), [3, 4]),
        (lambda: r5.flat_map(Dataset.range).skip(8), [2, 3]),
        (lambda: r5.window(2).flat_map(lambda w: w.batch(2)), [[0, 1], [2, 3], [4]]),
        (lambda: r5.interleave(lambda x: Dataset.from_tensors(x).repeat(2), 2, 2), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        (lambda: r5.scan(np.int64(0), lambda s, x: (s + x, s + x)), [0, 1, 3, 6, 10]),
        (lambda: r5.take_while(lambda x: x < 2).cache().repeat(2), [0, 1, 0, 1]),
        (lambda: r5.group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), 2), [[0, 2], [1, 3], [4]]),
        (lambda: Dataset.zip((r5, {"a": r5.skip(3)})), [(0, {"a": 3}), (1, {"a": 4})]),
        (lambda: Dataset.from_tensor_slices([1, 2, 2, 1]).unique(), [1, 2]),
        (lambda: r5.prefetch(2).enumerate(start=3).take(1), [(3, 0)]),
        (lambda: Dataset.from_generator(lambda: iter([1, 2]), tf.int32), [1, 2]),
        (lambda: Dataset.from_tensor_slices(["a", "b"]).batch(2), [[b"a", b"b"]]),
        (lambda: r5.batch(2).padded_batch(2, padded_shapes=[3]), [[[0, 1, 0], [2, 3, 0]], [[4, 0, 0]]]),
        (lambda: Dataset.choose_from_datasets([r5, r5.skip(2)], Dataset.range(2)), [0, 2]),
    ],
)
def test_elements(dataset, expected):
    tf.random.set_seed(1)
    assert values(dataset()) == expected


def test_shuffle_is_tensorflows_for_every_seed():
    assert values(Dataset.range(10).shuffle(3, seed=42)) == [0, 3, 4, 2, 1, 5, 8, 6, 7, 9]
    assert values(Dataset.range(10).shuffle(3, seed=42).batch(4)) == [[0, 3, 4, 2], [1, 5, 8, 6], [7, 9]]
    assert values(Dataset.range(10).shuffle(3, 42, False)) == [2, 0, 3, 4, 6, 7, 1, 9, 5, 8]
    assert values(Dataset.range(10).shuffle(20, 7, False)) == [7, 2, 0, 9, 8, 4, 5, 1, 6, 3]


def test_batches_of_rows_are_those_of_elements():
    x = np.arange(600).reshape(100, 6)
    pipeline = (
        Dataset.from_tensor_slices((x, x[:, 0])).shuffle(30, seed=5, reshuffle_each_iteration=False).skip(3).repeat(2)
    )
    off = tf.data.Options()
    off.experimental_optimization.apply_default_optimizations = False
    assert values(pipeline.batch(7)) == values(pipeline.batch(7).with_options(off))


SHUFFLES = {
    "stream": tf.random.shuffle,
    "stateless": lambda row: tf.random.experimental.stateless_shuffle(row, seed=[1, 2]),
}


@pytest.mark.parametrize("parallel", [None, 2])
@pytest.mark.parametrize("kind", SHUFFLES)
def test_examples_are_shuffled_within_themselves_before_they_are_batched(kind, parallel):
    rows = tf.reshape(tf.range(18), (6, 3))
    ds = Dataset.from_tensor_slices((rows, tf.range(6)))
    ds = ds.map(lambda row, label: (SHUFFLES[kind](row), label), num_parallel_calls=parallel)
    [(batch, labels)] = ds.batch(6)
    assert labels.numpy().tolist() == list(range(6))
    assert np.sort(batch, axis=1).tolist() == rows.numpy().tolist()
    assert batch.numpy().tolist() != rows.numpy().tolist()


def _mapped_samples():
    """The samples of the op table that take one array of numbers, each as a function of that array."""
    for row in op_table.all_rows():
        for number, (args, kwargs) in enumerate(row.samples):
            arrays = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
            if len(arrays) == 1 and not any(isinstance(v, np.ndarray) for v in kwargs.values()):
                yield pytest.param(row, args, kwargs, arrays[0], id=f"{row}-{number}")


@pytest.mark.parametrize(("row", "args", "kwargs", "place"), list(_mapped_samples()))
def test_batches_of_mapped_elements_are_those_of_each_op(row, args, kwargs, place):
    def op_of(x):
        return row.function(*args[:place], x, *args[place + 1 :], **kwargs)

    array = args[place]
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[-1]
    elements = np.stack([array, array * 0.75, array * 0.5]).astype(array.dtype)
    mapped = Dataset.from_tensor_slices(op_table.cast(elements, dtype)).map(op_of)
    one_by_one = [tf.nest.flatten(element) for element in mapped]
    if len({tuple(part.shape for part in element) for element in one_by_one}) > 1:
        pytest.skip("elements of several shapes have no batch")
    [batch] = mapped.batch(3)
    for i, column in enumerate(tf.nest.flatten(batch)):
        expected = np.stack([element[i].numpy() for element in one_by_one])
        np.testing.assert_allclose(column, expected, rtol=1e-6, atol=1e-12)


def test_each_iterator_has_its_own_order_unless_told_otherwise():
    shuffled = Dataset.range(50).shuffle(50, seed=1)
    fixed = Dataset.range(50).shuffle(50, seed=1, reshuffle_each_iteration=False)
    assert values(shuffled) != values(shuffled)
    assert values(fixed) == values(fixed)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: r5.batch(0), tf.errors.InvalidArgumentError, "Batch size must be greater than zero"),
        (lambda: r5.shard(2, 2), tf.errors.InvalidArgumentError, "Index must be between 0 and 1"),
        (lambda: Dataset.zip([r5]), TypeError, "Python `list` is not supported"),
        (lambda: r5.concatenate(Dataset.from_tensors("a")), TypeError, "Incompatible dataset elements"),
        (lambda: r5.filter(lambda x: x), ValueError, "must return a `tf.bool` scalar tensor"),
        (lambda: r5.flat_map(lambda x: x), TypeError, "must return a `Dataset` object"),
        (lambda: r5.map(lambda x: object()), TypeError, "Unsupported return value"),
        (lambda: r5.unbatch(), ValueError, "scalar components"),
        (lambda: len(r5.repeat()), TypeError, "The dataset is infinite"),
        (lambda: len(r5.filter(lambda x: True)), TypeError, "The dataset length is unknown"),
        (lambda: iter(Dataset.range(0)).get_next(), tf.errors.OutOfRangeError, "End of sequence"),
        (lambda: r5.get_single_element(), tf.errors.InvalidArgumentError, "more than one element"),
        (lambda: Dataset.from_tensor_slices(([1, 2], [3])), ValueError, "Dimensions 2 and 1 are not compatible"),
        (
            lambda: list(Dataset.from_generator(lambda: iter([[1], [1, 2]]), tf.int32, [None]).batch(2)),
            tf.errors.InvalidArgumentError,
            "First element had shape .1. and element 1 had shape .2.",
        ),
        (
            lambda: list(r5.batch(2).padded_batch(2, padded_shapes=[1])),
            tf.errors.DataLossError,
            "Attempted to pad to a smaller size",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_specs_and_cardinalities():
    assert repr(r5.batch(2)) == "<_BatchDataset element_spec=TensorSpec(shape=(None,), dtype=tf.int64, name=None)>"
    assert r5.map(lambda x: [x, 3]).element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int32))
    assert [int(d.cardinality()) for d in (r5.batch(2), r5.repeat(), r5.filter(lambda x: True))] == [3, -1, -2]
    endless, none = r5.repeat(), Dataset.range(0)
    assert int(endless.filter(lambda x: True).cardinality()) == int(none.filter(lambda x: True).cardinality()) == -2
    assert int(endless.group_by_window(lambda x: 0, lambda k, w: w, 2).cardinality()) == -1
    assert int(Dataset.choose_from_datasets([endless, endless], endless).cardinality()) == -1
    assert int(Dataset.choose_from_datasets([endless, r5], endless).cardinality()) == -1
    assert int(Dataset.zip(none, r5.filter(lambda x: True)).cardinality()) == -2
    assert iter(r5).element_spec == r5.element_spec
    assert r5._type_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    ragged = Dataset.range(1, 4).map(tf.range).ragged_batch(2)
    assert next(iter(ragged)).to_list() == [[0], [0, 1]]


def test_what_acts_on_more_than_its_arguments_runs_for_each_element():
    count = tf.Variable(0)

    def counted(x):
        count.assign_add(1)
        return x * 2

    dataset = Dataset.range(100).map(counted).batch(10)
    before = int(count)
    assert len(list(dataset)) == 10
    assert int(count) - before == 100


@pytest.mark.parametrize("ordered", [True, False])
def test_threads_hand_errors_over_and_stop(ordered):
    def fail(x):
        return tf.py_function(lambda v: 1 // (int(v) - 40), [x], tf.int64)

    before = set(threading.enumerate())
    iterator = iter(Dataset.range(100).map(fail, num_parallel_calls=3, deterministic=ordered).prefetch(2))
    with pytest.raises(tf.errors.OpError, match="ZeroDivisionError"):
        for _ in iterator:
            pass
    endless = iter(Dataset.counter().map(lambda x: x, num_parallel_calls=2).prefetch(2))
    next(endless)
    del iterator, endless
    gc.collect()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def test_a_subclass_is_a_dataset():
    class Numbers(Dataset):
        def __new__(cls):
            return Dataset.range(3)

    assert isinstance(Numbers(), Dataset)
    assert values(Numbers().batch(2)) == [[0, 1], [2]]


def test_a_subclass_describes_the_elements_of_its_tensor():
    class Named(Dataset):
        def __init__(self, numbers):
            super().__init__(numbers.map(lambda x: (x, -x))._variant_tensor)

        @property
        def element_spec(self):
            return {"a": tf.TensorSpec([], tf.int64), "b": tf.TensorSpec([], tf.int64)}

    assert repr(Named(r5)).startswith("<Named element_spec={'a': ")
    assert [int(e["b"]) for e in Named(r5).skip(3)] == [-3, -4]
    total = tf.function(lambda numbers: Named(numbers).reduce(np.int64(0), lambda s, e: s + e["a"]))
    assert total(r5).numpy() == 10
    with pytest.raises(TypeError, match="variant tensor of another dataset, not with 3"):
        Dataset(3)


def test_options_merge():
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    other = tf.data.Options()
    other.deterministic = False
    merged = r5.with_options(options).map(lambda x: x).with_options(other).options()
    assert merged.experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.DATA
    assert merged.deterministic is False
    with pytest.raises(AttributeError, match="Cannot set the property"):
        options.nothing = 1


# ---- in functions ----------------------------------------------------------------------------------------------------


def test_functions_loop_over_datasets_and_are_traced_once_for_a_kind():
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            if x == 1:
                continue
            found += x
            if found > 8:
                break
        return found

    assert [total(Dataset.range(n)).numpy() for n in (0, 3, 5, 99)] == [0, 2, 9, 9]
    assert total.experimental_get_tracing_count() == 1
    assert total(iter(Dataset.range(4))).numpy() == 5


def test_functions_transform_and_reduce_datasets():
    @tf.function
    def doubled(dataset):
        pairs = dataset.map(lambda x: x * 2).batch(2)
        found = tf.constant(0, tf.int64)
        for i, batch in enumerate(pairs):
            found += tf.reduce_sum(batch) * i
        return found, pairs, pairs.cardinality(), dataset.reduce(np.int64(0), lambda a, b: a + b)

    found, pairs, size, total = doubled(r5)
    assert (found.numpy(), values(pairs), size.numpy(), total.numpy()) == (26, [[0, 2], [4, 6], [8]], 3, 10)


def test_functions_take_from_iterators():
    dataset = Dataset.from_tensor_slices({"a": np.arange(3), "b": tf.ragged.constant([[1], [], [2, 3]])})
    iterator = iter(dataset)

    @tf.function
    def step(given):
        element, optional = next(given), iterator.get_next_as_optional()
        return element["a"], tf.reduce_sum(element["b"]), optional.has_value()

    assert [t.numpy() for t in step(iterator)] == [0, 1, True]
    assert [t.numpy() for t in step(iterator)] == [2, 5, False]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(iterator)


def test_what_a_generator_gives_is_cast_and_its_errors_told():
    def given(*values, error=None):
        def generate():
            yield from values
            if error is not None:
                raise error

        return Dataset.from_generator(generate, output_signature=tf.TensorSpec([None], tf.int32))

    assert values(given(np.arange(3), np.array([1.5]), tf.constant([1], tf.int64))) == [[0, 1, 2], [1], [1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"TypeError.*expected type was int32, but .* was a"):
        list(given("a"))
    for error, kind in ((ValueError, "InvalidArgument"), (KeyError, "Unknown"), (NotImplementedError, "Unimplemented")):
        with pytest.raises(getattr(tf.errors, f"{kind}Error"), match=f"{error.__name__}: .*the reason") as raised:
            list(given([1], error=error("the reason")))
        assert isinstance(raised.value.__cause__, error)


def test_functions_give_optionals():
    kind = tf.experimental.Optional
    made = tf.function(
        lambda x: kind.from_value({"a": x * 2, "b": (x, tf.RaggedTensor.from_row_splits(x, [0, 2])), "c": None})
    )
    optional = made(tf.constant([1.0, 2.0]))
    assert bool(optional.has_value())
    value = optional.get_value()
    assert value["a"].numpy().tolist() == [2.0, 4.0] and value["b"][1].to_list() == [[1.0, 2.0]] and value["c"] is None
    assert optional.element_spec["c"] == tf.NoneTensorSpec()

    @tf.function
    def first_or_zero(x, there):
        found = tf.cond(there, lambda: kind.from_value(x), lambda: kind.empty(tf.TensorSpec([], tf.float32)))
        return tf.cond(found.has_value(), found.get_value, lambda: 0.0)

    assert [first_or_zero(5.0, tf.constant(there)).numpy() for there in (True, False)] == [5.0, 0.0]


def test_functions_take_elements_with_nothing_in_a_place():
    iterator = iter(Dataset.range(2).map(lambda i: (i, None)))
    found, nothing = tf.function(lambda given: next(given))(iterator)
    assert (found.numpy(), nothing) == (0, None)


def test_functions_make_datasets_of_their_tensors():
    @tf.function
    def sums(x):
        found = tf.constant(0.0)
        for batch in Dataset.from_tensor_slices({"x": x, "y": [1.0, 2.0, 3.0]}).batch(2):
            found += tf.reduce_sum(batch["x"]) * tf.reduce_max(batch["y"])
        return found, Dataset.from_tensors(x)

    found, dataset = sums(tf.constant([1.0, 2.0, 3.0]))
    assert found.numpy() == 15
    assert values(dataset) == [[1, 2, 3]]


ENDING = """
import tapeflow as tf

def product(x):
    return tf.matmul(tf.ones([300, 300]), tf.ones([300, 300])) + tf.cast(x, tf.float32)

slow = tf.data.Dataset.range(10**9).map(product, num_parallel_calls=2).prefetch(4)
iterator = iter(slow)
next(iterator)
"""


def test_a_program_ends_while_threads_of_a_pipeline_run():
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
