"""Options of datasets. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf

experimental = tf.data.experimental
Dataset, Options = tf.data.Dataset, tf.data.Options

SETTINGS = [
    ("deterministic", False),
    ("dataset_name", "a name"),
    ("experimental_external_state_policy", experimental.ExternalStatePolicy.IGNORE),
    ("experimental_slack", True),
    ("experimental_symbolic_checkpoint", True),
    ("experimental_warm_start", True),
    ("autotune.enabled", False),
    ("autotune.cpu_budget", 3),
    ("autotune.ram_budget", 1000),
    ("autotune.autotune_algorithm", experimental.AutotuneAlgorithm.STAGE_BASED),
    ("autotune.initial_parallelism", 2),
    ("experimental_distribute.auto_shard_policy", experimental.AutoShardPolicy.DATA),
    ("experimental_distribute.num_devices", 2),
    ("experimental_optimization.apply_default_optimizations", False),
    ("experimental_optimization.filter_fusion", True),
    ("experimental_optimization.map_parallelization", True),
    ("experimental_optimization.noop_elimination", False),
    ("experimental_service.pinned", True),
    ("threading.max_intra_op_parallelism", 1),
    ("threading.private_threadpool_size", 2),
]


def get(options, path):
    for name in path.split("."):
        options = getattr(options, name)
    return options


def made(*settings):
    options = Options()
    for path, value in settings:
        *owner, name = path.split(".")
        setattr(get(options, ".".join(owner)) if owner else options, name, value)
    return options


@pytest.mark.parametrize(("path", "value"), SETTINGS)
def test_each_option_is_kept(path, value):
    before = get(Options(), path)
    assert before is (experimental.AutoShardPolicy.AUTO if path.endswith("shard_policy") else None)
    options = made((path, value))
    assert get(options, path) == value
    assert options != Options()
    assert options == made((path, value))
    assert get(Dataset.range(3).with_options(options).map(lambda x: x).options(), path) == value
    assert get(options.merge(Options()), path) == get(Options().merge(options), path) == value
    inside = tf.function(lambda: experimental.to_variant(Dataset.range(3).with_options(options)))()
    assert list(experimental.from_variant(inside, tf.TensorSpec([], tf.int64)).as_numpy_iterator()) == [0, 1, 2]


def test_later_options_win():
    first = made(("deterministic", False), ("autotune.cpu_budget", 2), ("threading.private_threadpool_size", 4))
    second = made(("deterministic", True), ("autotune.cpu_budget", 5), ("autotune.enabled", False))
    merged = first.merge(second)
    assert merged.deterministic is True
    assert (merged.autotune.cpu_budget, merged.autotune.enabled) == (5, False)
    assert merged.threading.private_threadpool_size == 4
    assert (first.deterministic, first.autotune.enabled, second.threading.private_threadpool_size) == (
        False,
        None,
        None,
    )
    found = Dataset.range(3).with_options(first).take(2).with_options(second).options()
    assert found == merged
    assert Dataset.zip(Dataset.range(3).with_options(first), Dataset.range(3)).options().deterministic is False


def test_older_names():
    options = Options()
    options.experimental_deterministic = False
    assert options.deterministic is False
    options.experimental_threading.private_threadpool_size = 3
    assert options.threading.private_threadpool_size == 3
    options.framework_type = ["tf", "jax"]
    assert options.framework_type == ["tf", "jax"]
    assert not Options().framework_type


@pytest.mark.parametrize(("path", "value"), [
    ("deterministic", 1), ("deterministic", None), ("autotune.cpu_budget", "2"), ("threading", 3),
    ("dataset_name", b"a"), ("experimental_distribute.auto_shard_policy", 2),
])  # fmt: skip
def test_values_of_other_types(path, value):
    with pytest.raises(TypeError, match=f'Property "{path.split(".")[-1]}" must be of type'):
        made((path, value))


def test_names_of_no_option():
    with pytest.raises(AttributeError, match="Cannot set the property unknown on Options"):
        Options().unknown = 3
    with pytest.raises(AttributeError, match="Cannot set the property unknown on ThreadingOptions"):
        Options().threading.unknown = 3


def test_options_are_equal_by_their_values():
    assert Options() == Options()
    assert Options() != Options().threading
    assert made(("autotune.cpu_budget", 2)) != made(("autotune.cpu_budget", 3))
