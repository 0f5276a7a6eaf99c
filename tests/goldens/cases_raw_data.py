"""Raw ops of pipelines and iterators."""

from goldens.case import Group
from goldens.raw_ops import PREPARATION

GROUP = Group(PREPARATION)
GROUP.values("""
items(rng())
items(R.TensorSliceDataset(components=[x,[1,2]],output_shapes=[[3],[]]),(tf.float32,tf.int32),([3],[]))
items(R.TensorDataset(components=[x,[1,2]],output_shapes=[[2,3],[2]]),(tf.float32,tf.int32),([2,3],[2]))
items(R.TakeDataset(input_dataset=rng(),count=2,**O))
items(R.SkipDataset(input_dataset=rng(),count=2,**O))
items(R.RepeatDataset(input_dataset=rng(2),count=2,**O))
items(R.ShardDataset(input_dataset=rng(),num_shards=2,index=1,**O))
items(R.ConcatenateDataset(input_dataset=rng(2),another_dataset=rng(3),**O))
items(R.ShuffleDataset(input_dataset=rng(),buffer_size=3,seed=1,seed2=2,**O))
items(R.ShuffleAndRepeatDataset(input_dataset=rng(),buffer_size=3,seed=1,seed2=2,count=2,**O))
items(R.TakeDataset(input_dataset=R.RandomDataset(seed=1,seed2=2,**O),count=3,**O))
items(R.MapDataset(input_dataset=rng(),other_arguments=[],f=fn(lambda a:a*2,tf.int64),**O))
items(R.MapDataset(input_dataset=rng(),other_arguments=[i64(5)],f=fn(lambda a,b:a*b,tf.int64,tf.int64),**O))
items(R.FilterDataset(input_dataset=rng(),other_arguments=[],predicate=fn(lambda a:a>2,tf.int64),**O))
items(R.TakeWhileDataset(input_dataset=rng(),other_arguments=[],predicate=fn(lambda a:a<2,tf.int64),**O))
items(R.CacheDataset(input_dataset=rng(),filename="",**O))
items(R.PrefetchDataset(input_dataset=rng(),buffer_size=1,**O))
items(R.UniqueDataset(input_dataset=R.RepeatDataset(input_dataset=rng(2),count=2,**O),**O))
items(R.DirectedInterleaveDataset(selector_input_dataset=rng(2),data_input_datasets=[rng(2),rng(3)],**O))
R.DatasetCardinality(input_dataset=rng())
R.DatasetToSingleElement(dataset=rng(1),**O)
R.GetElementAtIndex(dataset=rng(),index=3,**O)
items(R.AssertCardinalityDataset(input_dataset=rng(),cardinality=5,**O))
items(R.ListDataset(tensors=[1,2,3],output_types=[tf.int32],output_shapes=[[]]),[tf.int32])
items(R.OptionsDataset(input_dataset=rng(),serialized_options=b"",**O))
items(R.ModelDataset(input_dataset=rng(),**O))
""")
GROUP.snippets("""
# ZipDataset
items(
    R.ZipDataset(input_datasets=[rng(2), rng(3)], output_types=[tf.int64] * 2, output_shapes=[[], []]),
    (tf.int64,) * 2,
    ([], []),
)

# BatchDatasetV2
items(
    R.BatchDatasetV2(
        input_dataset=rng(), batch_size=2, drop_remainder=False, output_types=[tf.int64], output_shapes=[[None]]
    ),
    shapes=[[None]],
)

# ShuffleDatasetV3
items(
    R.ShuffleDatasetV3(
        input_dataset=rng(),
        buffer_size=3,
        seed=1,
        seed2=2,
        seed_generator=R.DummySeedGenerator(),
        reshuffle_each_iteration=False,
        **O,
    )
)

# ParallelMapDatasetV2
items(
    R.ParallelMapDatasetV2(
        input_dataset=rng(), other_arguments=[], num_parallel_calls=2, f=fn(lambda a: a * 2, tf.int64), **O
    )
)

# MapAndBatchDataset
items(
    R.MapAndBatchDataset(
        input_dataset=rng(),
        other_arguments=[],
        batch_size=2,
        num_parallel_calls=1,
        drop_remainder=True,
        f=fn(lambda a: a * 2, tf.int64),
        output_types=[tf.int64],
        output_shapes=[[2]],
    ),
    shapes=[[2]],
)

# FlatMapDataset
items(
    R.FlatMapDataset(
        input_dataset=rng(3),
        other_arguments=[],
        f=fn(lambda a: R.RangeDataset(start=i64(0), stop=a, step=i64(1), **O), tf.int64),
        **O,
    )
)

# InterleaveDataset
items(
    R.InterleaveDataset(
        input_dataset=rng(3),
        other_arguments=[],
        cycle_length=2,
        block_length=1,
        f=fn(lambda a: R.RangeDataset(start=i64(0), stop=a, step=i64(1), **O), tf.int64),
        **O,
    )
)

# ScanDataset
items(
    R.ScanDataset(
        input_dataset=rng(),
        initial_state=[i64(0)],
        other_arguments=[],
        f=fn(lambda s, a: (s + a, s * 10), tf.int64, tf.int64),
        **O,
    )
)

# ReduceDataset
R.ReduceDataset(
    input_dataset=rng(), initial_state=[i64(0)], other_arguments=[], f=fn(lambda s, a: s + a, tf.int64, tf.int64), **O
)

# PaddedBatchDatasetV2
items(
    R.PaddedBatchDatasetV2(
        input_dataset=R.TensorSliceDataset(components=[x], output_shapes=[[3]]),
        batch_size=2,
        padded_shapes=[i64([4])],
        padding_values=[-1.0],
        drop_remainder=False,
        output_shapes=[[None, 4]],
    ),
    [tf.float32],
    [[None, 4]],
)

# SlidingWindowDataset
items(
    R.SlidingWindowDataset(
        input_dataset=rng(),
        window_size=2,
        window_shift=1,
        window_stride=1,
        output_types=[tf.int64],
        output_shapes=[[2]],
    ),
    shapes=[[2]],
)

# GroupByWindowDataset
items(
    R.GroupByWindowDataset(
        input_dataset=rng(),
        key_func_other_arguments=[],
        reduce_func_other_arguments=[],
        window_size_func_other_arguments=[],
        key_func=fn(lambda a: a % 2, tf.int64),
        reduce_func=fn(
            lambda k, w: R.BatchDataset(
                input_dataset=w, batch_size=i64(5), output_types=[tf.int64], output_shapes=[[None]]
            ),
            tf.int64,
            tf.variant,
        ),
        window_size_func=fn(lambda k: i64(5), tf.int64),
        output_types=[tf.int64],
        output_shapes=[[None]],
    ),
    shapes=[[None]],
)

# GroupByReducerDataset
items(
    R.GroupByReducerDataset(
        input_dataset=rng(),
        key_func_other_arguments=[],
        init_func_other_arguments=[],
        reduce_func_other_arguments=[],
        finalize_func_other_arguments=[],
        key_func=fn(lambda a: a % 2, tf.int64),
        init_func=fn(lambda k: i64(0), tf.int64),
        reduce_func=fn(lambda s, a: s + a, tf.int64, tf.int64),
        finalize_func=fn(lambda s: s, tf.int64),
        **O,
    )
)

# WindowDataset
items(
    R.WindowDataset(
        input_dataset=rng(),
        size=2,
        shift=2,
        stride=1,
        drop_remainder=True,
        output_types=[tf.variant],
        output_shapes=[[]],
    ),
    [tf.variant],
)
""")
