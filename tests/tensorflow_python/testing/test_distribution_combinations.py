"""Strategies by name, and which tests they skip."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.testing import distribution_combinations as distribute

Named = distribute.NamedDistribution


def test_strategies_are_new_each_time():
    made = []
    named = Named("name", lambda: made.append(1) or len(made))
    assert (named.strategy, named.strategy, repr(named)) == (1, 2, "name")
    assert (named.required_gpus, named.required_physical_gpus, named.required_tpu, named.use_cloud_tpu) == (
        None,
        0,
        False,
        False,
    )
    assert (named.has_chief, named.num_workers, named.num_ps, named.share_gpu, named.no_xla) == (
        False,
        1,
        0,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("name", "kind", "replicas"),
    [
        ("default_strategy", type(tf.distribute.get_strategy()), 1),
        ("one_device_strategy", tf.distribute.OneDeviceStrategy, 1),
        ("mirrored_strategy_with_one_cpu", tf.distribute.MirroredStrategy, 1),
        ("mirrored_strategy_with_two_cpus", tf.distribute.MirroredStrategy, 2),
    ],
)
def test_strategies_of_cpus(name, kind, replicas):
    strategy = getattr(distribute, name).strategy
    assert isinstance(strategy, kind) and strategy.num_replicas_in_sync == replicas


def test_strategies_that_are_not_here():
    for name in ("tpu_strategy", "multi_worker_mirrored_2x1_cpu"):
        with pytest.raises(NotImplementedError, match="TapeFlow has no TPUs, and starts no tasks for a test"):
            getattr(distribute, name).strategy  # noqa: B018 (asking is the point)


PLAIN = Named("plain", None)


@pytest.mark.parametrize(
    ("combination", "kwargs", "reason"),
    [
        ("ClusterCombination", {}, None), ("ClusterCombination", {"d": PLAIN, "num_workers": 1}, None),
        ("ClusterCombination", {"num_workers": 2}, "Test requires several tasks."),
        ("ClusterCombination", {"num_ps": 1}, "Test requires several tasks."),
        ("ClusterCombination", {"has_chief": True}, "Test requires several tasks."),
        ("ClusterCombination", {"d": Named("d", None, has_chief=True)}, "Test requires several tasks."),
        ("ClusterCombination", {"d": Named("d", None, num_workers=2)}, "Test requires several tasks."),
        ("ClusterCombination", {"d": Named("d", None, num_ps=1)}, "Test requires several tasks."),
        ("GPUCombination", {"d": PLAIN}, None), ("GPUCombination", {"required_gpus": 1}, None),
        ("GPUCombination", {"required_gpus": 2}, "Only 1 of 2 required GPUs are available."),
        ("GPUCombination", {"required_physical_gpus": 3}, "Only 1 of 3 required GPUs are available."),
        ("GPUCombination", {"d": Named("d", None, required_gpus=4)}, "Only 1 of 4 required GPUs are available."),
        ("GPUCombination", {"d": Named("d", None, required_physical_gpus=5)},
         "Only 1 of 5 required GPUs are available."),
        ("TPUCombination", {"d": PLAIN, "required_tpu": False}, None),
        ("TPUCombination", {"required_tpus": 1}, "Test requires a TPU, but none are available."),
        ("TPUCombination", {"required_tpu": True}, "Test requires a TPU, but none are available."),
        ("TPUCombination", {"use_cloud_tpu": True}, "Test requires a TPU, but none are available."),
        ("TPUCombination", {"d": Named("d", None, required_tpu=True)}, "Test requires a TPU, but none are available."),
        ("TPUCombination", {"d": Named("d", None, use_cloud_tpu=True)}, "Test requires a TPU, but none are available."),
    ],
)  # fmt: skip
def test_tests_that_are_skipped(combination, kwargs, reason, monkeypatch):
    monkeypatch.setattr(distribute, "list_logical_devices", lambda kind: [kind])
    found = getattr(distribute, combination)().should_execute_combination(kwargs)
    assert found == (reason is None, reason)


@pytest.mark.parametrize(
    ("kwargs", "requested", "expected"),
    [
        ({}, [], {}),
        ({}, ["num_workers", "num_ps", "has_chief"], {"has_chief": False, "num_workers": 1, "num_ps": 0}),
        ({"d": Named("d", None, num_workers=3)}, ["num_workers"], {"num_workers": 3}),
        ({"num_workers": 2, "d": Named("d", None, num_workers=3)}, ["num_workers"], {"num_workers": 2}),
        ({"num_ps": 2}, [], {"num_ps": distribute.ParameterModifier.DO_NOT_PASS_TO_THE_TEST}),
    ],
)
def test_numbers_of_tasks(kwargs, requested, expected):
    assert distribute.ClusterParameters().modified_arguments(kwargs, requested) == expected


def test_strategies_replace_their_names():
    named = Named("d", lambda: "strategy")
    found = distribute.DistributionParameter().modified_arguments({"a": 1, "d": named}, [])
    assert found == {"d": "strategy"}


def test_parameters_that_tests_may_leave_out():
    names = [m._parameter_name for m in distribute.GPUCombination().parameter_modifiers()]
    names += [m._parameter_name for m in distribute.TPUCombination().parameter_modifiers()]
    names += [m._parameter_name for m in distribute.DistributionCombination().parameter_modifiers()]
    assert names == [
        "required_gpus",
        "required_physical_gpus",
        "required_tpus",
        "required_tpu",
        "use_cloud_tpu",
        None,
        "use_var_policy",
    ]


def test_what_tests_share():
    assert distribute.env() is distribute.env() and distribute.env().tf_data_service_dispatcher is None
    assert distribute.no_tf_function(len) is len and repr(distribute.tf_function) == "TfFunction"
    assert distribute.concat() == [] and distribute.concat([{"a": 1}], [], [{"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert distribute.graph_and_eager_modes == ["graph", "eager"]
