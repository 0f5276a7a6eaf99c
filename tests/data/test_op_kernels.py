"""Raw ops of datasets. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset, plain

Dataset, experimental, TensorSpec, raw = tf.data.Dataset, tf.data.experimental, tf.TensorSpec, tf.raw_ops


def of(variant, *specs):
    return experimental.from_variant(variant, specs)


number, v4 = tf.TensorSpec([], tf.int64), tf.data.experimental.to_variant(Dataset.range(4))
one = {"output_types": [tf.int64], "output_shapes": [[]]}
rows = {"output_types": [tf.int64], "output_shapes": [[None]]}


def names(*values):
    return tf.data.experimental.to_variant(Dataset.from_tensor_slices(list(values)))


messages = tf.data.experimental.to_variant(
    Dataset.from_tensors(
        [
            tf.train.Example(
                features=tf.train.Features(
                    feature={k: tf.train.Feature(int64_list=tf.train.Int64List(value=v)) for k, v in e.items()}
                )
            ).SerializeToString()
            for e in ({"d": [1, 2], "s": [7], "r": [4, 5, 6]}, {"s": [8, 9], "r": []})
        ]
    )
)

ROWS = [
    (
        lambda: of(
            raw.SparseTensorSliceDataset(
                indices=np.int64([[0, 1], [2, 0]]), values=[1.5, 2.5], dense_shape=np.int64([3, 2])
            ),
            tf.TensorSpec([None, 1], tf.int64),
            tf.TensorSpec([None], tf.float32),
            tf.TensorSpec([1], tf.int64),
        ),
        [([[1]], [1.5], [2]), ([], [], [2]), ([[0]], [2.5], [2])],
        (TensorSpec([None, 1], tf.int64), TensorSpec([None], tf.float32), TensorSpec([1], tf.int64)),
        3,
    ),
    (
        lambda: of(raw.SamplingDataset(input_dataset=v4, rate=1.0, seed=np.int64(1), seed2=np.int64(2), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: of(raw.SamplingDataset(input_dataset=v4, rate=0.0, seed=np.int64(1), seed2=np.int64(2), **one), number),
        [],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.SlidingWindowDataset(
                input_dataset=v4, window_size=np.int64(2), window_shift=np.int64(1), window_stride=np.int64(1), **rows
            ),
            tf.TensorSpec([None], tf.int64),
        ).filter(lambda x: True),
        [([0, 1],), ([1, 2],), ([2, 3],)],
        (TensorSpec([None], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.SlidingWindowDataset(
                input_dataset=v4,
                window_size=np.int64(2),
                window_shift=np.int64(2),
                window_stride=np.int64(2),
                drop_remainder=False,
                **rows,
            ),
            tf.TensorSpec([None], tf.int64),
        ).filter(lambda x: True),
        [([0, 2],), ([2],)],
        (TensorSpec([None], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.SlidingWindowDataset(
                input_dataset=v4,
                window_size=np.int64(3),
                window_shift=np.int64(2),
                window_stride=np.int64(1),
                drop_remainder=True,
                **rows,
            ),
            tf.TensorSpec([None], tf.int64),
        ).filter(lambda x: True),
        [([0, 1, 2],)],
        (TensorSpec([None], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.ParseExampleDatasetV2(
                input_dataset=messages,
                num_parallel_calls=np.int64(1),
                dense_defaults=[np.int64([-1, -2])],
                sparse_keys=["s"],
                dense_keys=["d"],
                sparse_types=[tf.int64],
                dense_shapes=[[2]],
                output_types=[tf.int64, tf.variant, tf.variant],
                output_shapes=[[None, 2], tf.TensorShape(None), tf.TensorShape(None)],
                ragged_keys=["r"],
                ragged_value_types=[tf.int64],
                ragged_split_types=[tf.int64],
            ),
            tf.TensorSpec([None, 2], tf.int64),
            tf.RaggedTensorSpec([None, None], tf.int64),
            tf.SparseTensorSpec([None, None], tf.int64),
        ),
        [([[1, 2], [-1, -2]], [[4, 5, 6], []], ([[0, 0], [1, 0], [1, 1]], [7, 8, 9], [2, 2]))],
        (
            TensorSpec([None, 2], tf.int64),
            tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64),
            tf.SparseTensorSpec([None, None], tf.int64),
        ),
        1,
    ),
    (
        lambda: of(
            raw.ParseExampleDataset(
                input_dataset=messages,
                num_parallel_calls=np.int64(1),
                dense_defaults=[np.int64([-1, -2])],
                sparse_keys=["s"],
                dense_keys=["d"],
                sparse_types=[tf.int64],
                dense_shapes=[[2]],
                output_types=[tf.int64, tf.variant],
                output_shapes=[[None, 2], tf.TensorShape(None)],
            ),
            tf.TensorSpec([None, 2], tf.int64),
            tf.SparseTensorSpec([None, None], tf.int64),
        ),
        [([[1, 2], [-1, -2]], ([[0, 0], [1, 0], [1, 1]], [7, 8, 9], [2, 2]))],
        (TensorSpec([None, 2], tf.int64), tf.SparseTensorSpec([None, None], tf.int64)),
        1,
    ),
    (
        lambda: of(
            raw.ShuffleDatasetV3(
                input_dataset=v4,
                buffer_size=np.int64(4),
                seed=np.int64(3),
                seed2=np.int64(5),
                seed_generator=raw.DummySeedGenerator(),
                reshuffle_each_iteration=False,
                **one,
            ),
            number,
        ),
        [(3,), (2,), (1,), (0,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(
            raw.ShuffleDataset(
                input_dataset=v4,
                buffer_size=np.int64(4),
                seed=np.int64(3),
                seed2=np.int64(5),
                reshuffle_each_iteration=False,
                **one,
            ),
            number,
        ),
        [(3,), (2,), (1,), (0,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(
            raw.ShuffleAndRepeatDataset(
                input_dataset=v4,
                buffer_size=np.int64(3),
                seed=np.int64(3),
                seed2=np.int64(5),
                count=np.int64(2),
                reshuffle_each_iteration=False,
                **one,
            ),
            number,
        ),
        [(0,), (2,), (1,), (3,), (0,), (2,), (1,), (3,)],
        (TensorSpec([], tf.int64),),
        8,
    ),
    (
        lambda: of(raw.TakeDataset(input_dataset=v4, count=np.int64(2), **one), number),
        [(0,), (1,)],
        (TensorSpec([], tf.int64),),
        2,
    ),
    (
        lambda: of(raw.SkipDataset(input_dataset=v4, count=np.int64(3), **one), number),
        [(3,)],
        (TensorSpec([], tf.int64),),
        1,
    ),
    (
        lambda: of(raw.RepeatDataset(input_dataset=v4, count=np.int64(2), **one), number),
        [(0,), (1,), (2,), (3,), (0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        8,
    ),
    (
        lambda: of(raw.ShardDataset(input_dataset=v4, num_shards=np.int64(3), index=np.int64(0), **one), number),
        [(0,), (3,)],
        (TensorSpec([], tf.int64),),
        2,
    ),
    (
        lambda: of(
            raw.ShardDataset(
                input_dataset=v4, num_shards=np.int64(4), index=np.int64(3), require_non_empty=True, **one
            ),
            number,
        ),
        [(3,)],
        (TensorSpec([], tf.int64),),
        1,
    ),
    (
        lambda: of(
            raw.BatchDatasetV2(input_dataset=v4, batch_size=np.int64(3), drop_remainder=True, **rows),
            tf.TensorSpec([None], tf.int64),
        ),
        [([0, 1, 2],)],
        (TensorSpec([None], tf.int64),),
        1,
    ),
    (
        lambda: of(
            raw.ParallelBatchDataset(
                input_dataset=v4, batch_size=np.int64(3), num_parallel_calls=np.int64(2), drop_remainder=False, **rows
            ),
            tf.TensorSpec([None], tf.int64),
        ),
        [([0, 1, 2],), ([3],)],
        (TensorSpec([None], tf.int64),),
        2,
    ),
    (
        lambda: of(
            raw.PaddedBatchDatasetV2(
                input_dataset=names([1, 2], [3, 4]),
                batch_size=np.int64(2),
                padded_shapes=[np.int64([3])],
                padding_values=[5],
                drop_remainder=True,
                output_shapes=[[2, 3]],
            ),
            tf.TensorSpec([2, 3], tf.int32),
        ),
        [([[1, 2, 5], [3, 4, 5]],)],
        (TensorSpec([2, 3], tf.int32),),
        1,
    ),
    (
        lambda: of(
            raw.DenseToSparseBatchDataset(
                input_dataset=names([1, 2], [3, 4]),
                batch_size=np.int64(2),
                row_shape=np.int64([3]),
                output_types=[tf.variant],
                output_shapes=[[None, 3]],
            ),
            tf.SparseTensorSpec([None, 3], tf.int32),
        ),
        [(([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], [2, 3]),)],
        (tf.SparseTensorSpec([None, 3], tf.int32),),
        1,
    ),
    (
        lambda: of(
            raw.ConcatenateDataset(
                input_dataset=v4, another_dataset=raw.TakeDataset(input_dataset=v4, count=np.int64(1), **one), **one
            ),
            number,
        ),
        [(0,), (1,), (2,), (3,), (0,)],
        (TensorSpec([], tf.int64),),
        5,
    ),
    (
        lambda: of(
            raw.ZipDataset(
                input_datasets=[v4, names("a", "b")], output_types=[tf.int64, tf.string], output_shapes=[[], []]
            ),
            number,
            tf.TensorSpec([], tf.string),
        ),
        [(0, b"a"), (1, b"b")],
        (TensorSpec([], tf.int64), TensorSpec([], tf.string)),
        2,
    ),
    (
        lambda: of(
            raw.UnbatchDataset(input_dataset=names([1, 2], [3, 4]), output_types=[tf.int32], output_shapes=[[]]),
            tf.TensorSpec([], tf.int32),
        ),
        [(1,), (2,), (3,), (4,)],
        (TensorSpec([], tf.int32),),
        4,
    ),
    (
        lambda: of(
            raw.UniqueDataset(input_dataset=names(1, 2, 1), output_types=[tf.int32], output_shapes=[[]]),
            tf.TensorSpec([], tf.int32),
        ),
        [(1,), (2,)],
        (TensorSpec([], tf.int32),),
        -2,
    ),
    (
        lambda: of(
            raw.RebatchDatasetV2(
                input_dataset=names([1, 2], [3, 4]),
                batch_sizes=np.int64([3, 1]),
                drop_remainder=False,
                output_types=[tf.int32],
                output_shapes=[[None]],
            ),
            tf.TensorSpec([None], tf.int32),
        ),
        [([1, 2, 3],), ([4],)],
        (TensorSpec([None], tf.int32),),
        -2,
    ),
    (
        lambda: of(raw.AssertCardinalityDataset(input_dataset=v4, cardinality=np.int64(4), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.CacheDataset(input_dataset=v4, filename="", **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.PrefetchDataset(input_dataset=v4, buffer_size=np.int64(2), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.IgnoreErrorsDataset(input_dataset=v4, **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: of(raw.RangeDataset(start=np.int64(2), stop=np.int64(9), step=np.int64(3), **one), number),
        [(2,), (5,), (8,)],
        (TensorSpec([], tf.int64),),
        3,
    ),
    (
        lambda: of(raw.RandomDataset(seed=np.int64(3), seed2=np.int64(5), **one), number).take(3),
        [(2058544851,), (32233798,), (302027796,)],
        (TensorSpec([], tf.int64),),
        3,
    ),
    (
        lambda: of(
            raw.RandomDatasetV2(seed=np.int64(3), seed2=np.int64(5), seed_generator=raw.DummySeedGenerator(), **one),
            number,
        ).take(2),
        [(2058544851,), (32233798,)],
        (TensorSpec([], tf.int64),),
        2,
    ),
    (
        lambda: of(raw.TensorDataset(components=[[1, 2]], output_shapes=[[2]]), tf.TensorSpec([2], tf.int32)),
        [([1, 2],)],
        (TensorSpec([2], tf.int32),),
        1,
    ),
    (
        lambda: of(
            raw.TensorSliceDataset(components=[[1, 2], ["a", "b"]], output_shapes=[[], []]),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.string),
        ),
        [(1, b"a"), (2, b"b")],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string)),
        2,
    ),
    (
        lambda: of(
            raw.ListDataset(tensors=[1, "a", 2, "b"], output_types=[tf.int32, tf.string], output_shapes=[[], []]),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.string),
        ),
        [(1, b"a"), (2, b"b")],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string)),
        2,
    ),
    (
        lambda: of(
            raw.WindowDataset(
                input_dataset=v4,
                size=np.int64(3),
                shift=np.int64(2),
                stride=np.int64(1),
                drop_remainder=False,
                output_types=[tf.variant],
                output_shapes=[[]],
            ),
            tf.data.DatasetSpec(number),
        ),
        [([0, 1, 2],), ([2, 3],)],
        (tf.data.DatasetSpec(TensorSpec([], tf.int64)),),
        2,
    ),
    (
        lambda: of(
            raw.DirectedInterleaveDataset(
                selector_input_dataset=experimental.to_variant(Dataset.from_tensor_slices(np.int64([1, 0, 1]))),
                data_input_datasets=[v4, raw.SkipDataset(input_dataset=v4, count=np.int64(2), **one)],
                **one,
            ),
            number,
        ),
        [(2,), (0,), (3,)],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.DirectedInterleaveDataset(
                selector_input_dataset=v4,
                data_input_datasets=[v4, raw.SkipDataset(input_dataset=v4, count=np.int64(9), **one)],
                stop_on_empty_dataset=True,
                **one,
            ),
            number,
        ),
        [(0,)],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: of(
            raw.MaxIntraOpParallelismDataset(input_dataset=v4, max_intra_op_parallelism=np.int64(2), **one), number
        ),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.PrivateThreadPoolDataset(input_dataset=v4, num_threads=np.int64(2), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.ModelDataset(input_dataset=v4, **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.SleepDataset(input_dataset=v4, sleep_microseconds=np.int64(1), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.AutoShardDataset(input_dataset=v4, num_workers=np.int64(1), index=np.int64(0), **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.UnwrapDatasetVariant(input_handle=raw.WrapDatasetVariant(input_handle=v4)), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
    (
        lambda: of(raw.OptionsDataset(input_dataset=v4, serialized_options="", **one), number),
        [(0,), (1,), (2,), (3,)],
        (TensorSpec([], tf.int64),),
        4,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


VALUES = [
    (
        lambda: raw.DatasetToSingleElement(dataset=raw.TakeDataset(input_dataset=v4, count=np.int64(1), **one), **one),
        [0],
    ),
    (lambda: raw.DatasetCardinality(input_dataset=v4), 4),
    (lambda: raw.DatasetCardinality(input_dataset=raw.RepeatDataset(input_dataset=v4, count=np.int64(-1), **one)), -1),
    (lambda: raw.GetElementAtIndex(dataset=v4, index=np.int64(3), **one), [3]),
    (
        lambda: raw.IteratorGetDevice(resource=raw.AnonymousIteratorV3(**one)),
        b"/job:localhost/replica:0/task:0/device:CPU:0",
    ),
    (lambda: raw.StatsAggregatorSummary(iterator=raw.StatsAggregatorHandle()), b""),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    assert tf.nest.map_structure(plain, compute()) == expected


ERRORS = [
    (
        lambda: raw.DatasetToSingleElement(dataset=v4, **one),
        tf.errors.InvalidArgumentError,
        "Dataset had more than one element. [Op:DatasetToSingleElement] name: ",
    ),
    (
        lambda: raw.DatasetToSingleElement(dataset=raw.TakeDataset(input_dataset=v4, count=np.int64(0), **one), **one),
        tf.errors.InvalidArgumentError,
        "Dataset was empty. [Op:DatasetToSingleElement] name: ",
    ),
    (
        lambda: raw.IteratorGetNext(iterator=raw.AnonymousIteratorV3(**one), **one),
        tf.errors.FailedPreconditionError,
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run t",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)


def test_fingerprints():
    prints = [int(raw.DatasetFingerprint(input_dataset=names(*v))) for v in ((1, 2), (1, 2), (1, 3))]
    assert prints[0] == prints[1] != prints[2]
    assert raw.DatasetFingerprint(input_dataset=v4).dtype == tf.uint64
    inside = tf.function(lambda: Dataset.range(4).fingerprint())
    assert int(inside()) == int(inside())
    assert inside().dtype == tf.uint64


def test_records_are_written(tmp_path):
    path = str(tmp_path / "records")
    raw.DatasetToTFRecord(input_dataset=names("a", "bc", "d"), filename=path, compression_type="")
    assert [r.numpy() for r in tf.data.TFRecordDataset(path)] == [b"a", b"bc", b"d"]
    raw.DatasetToTFRecord(input_dataset=names("e", "f"), filename=path, compression_type="GZIP")
    assert [r.numpy() for r in tf.data.TFRecordDataset(path, "GZIP")] == [b"e", b"f"]


def test_names_of_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).touch()
    found = of(raw.MatchingFilesDataset(patterns=[f"{tmp_path}/*.txt", f"{tmp_path}/c.*"]), TensorSpec([], tf.string))
    assert [n.numpy().decode().rpartition("/")[2] for (n,) in found] == ["a.txt", "b.txt", "c.bin"]


def test_samples_of_elements():
    many = experimental.to_variant(Dataset.range(2000))
    arguments = {"input_dataset": many, "rate": 0.3, **one}
    kept = [[int(x) for (x,) in of(raw.SamplingDataset(seed=np.int64(s), seed2=np.int64(2), **arguments), number)]
            for s in (3, 3, 4)]  # fmt: skip
    assert kept[0] == kept[1] != kept[2]
    assert 500 < len(kept[0]) < 700
    unseeded = of(raw.SamplingDataset(seed=np.int64(0), seed2=np.int64(0), **arguments), number)
    assert 450 < len(list(unseeded)) < 750


def test_generators_of_functions():
    @tf.function(input_signature=[])
    def start():
        return tf.constant(3), tf.constant(10, tf.int64)

    step_spec = [tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int64)]

    @tf.function(input_signature=step_spec)
    def step(a, b):
        return tf.cast(a, tf.int64) * b

    @tf.function(input_signature=step_spec)
    def end(a, b):
        return a

    variant = raw.GeneratorDataset(
        init_func_other_args=[],
        next_func_other_args=[],
        finalize_func_other_args=[],
        init_func=start.get_concrete_function(),
        next_func=step.get_concrete_function(),
        finalize_func=end.get_concrete_function(),
        **one,
    )
    assert [int(x) for (x,) in of(variant, number).take(3)] == [30, 30, 30]


def test_caches_and_handles_are_objects():
    cache = raw.AnonymousMemoryCache()
    assert (cache.handle.dtype, cache.handle.shape, cache.deleter.dtype) == (tf.resource, [], tf.variant)
    cached = of(raw.CacheDatasetV2(input_dataset=v4, filename="", cache=cache.handle, **one), number)
    assert [int(x) for (x,) in cached.repeat(2)] == [0, 1, 2, 3] * 2
    assert raw.DummyMemoryCache().dtype == tf.resource


def test_the_fastest_of_equal_datasets():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        raw.ChooseFastestDataset(input_datasets=[], num_experiments=2, **one)
    either = of(raw.ChooseFastestDataset(input_datasets=[v4, v4], num_experiments=2, **one), number)
    assert [int(x) for (x,) in either] == [0, 1, 2, 3]
