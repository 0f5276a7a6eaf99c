"""`tf.__internal__.distribute.combinations`: tests that run once for each strategy of a list."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from tapeflow.config import list_logical_devices
from tapeflow.distribute import OneDeviceStrategy
from tapeflow.distribute.central_storage import CentralStorageStrategy
from tapeflow.distribute.mirrored import MirroredStrategy
from tapeflow.distribute.strategy import default_strategy as _default_strategy
from tapeflow.function import function
from tapeflow.test import main as main
from tapeflow_compat.tensorflow_python.testing import combinations
from tapeflow_compat.tensorflow_python.testing.combinations import (
    Combination,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
)
from tapeflow_compat.tensorflow_python.testing.combinations import combine as combine
from tapeflow_compat.tensorflow_python.testing.combinations import times as times


class NamedDistribution:
    """A strategy with a name, which is created where a test asks for it.

    Args:
        name: the name.
        distribution_fn: a function that returns the strategy.
        required_gpus: how many GPUs it needs; None for any number.
        required_physical_gpus: how many of them are no parts of one.
        required_tpu: whether it needs a TPU.
        use_cloud_tpu: the same.
        has_chief, num_workers, num_ps: the tasks that it runs in.
        share_gpu, pool_runner_fn, no_xla: ignored.
    """

    def __init__(
        self, name: str, distribution_fn: Callable[[], Any], required_gpus: int | None = None,
        required_physical_gpus: int = 0, required_tpu: bool = False, use_cloud_tpu: bool = False,
        has_chief: bool = False, num_workers: int = 1, num_ps: int = 0, share_gpu: bool = True,
        pool_runner_fn: Any = None, no_xla: bool = False,
    ) -> None:  # fmt: skip
        self._name, self._distribution_fn = name, distribution_fn
        self.required_gpus, self.required_physical_gpus = required_gpus, required_physical_gpus
        self.required_tpu, self.use_cloud_tpu = required_tpu, use_cloud_tpu
        self.has_chief, self.num_workers, self.num_ps = has_chief, num_workers, num_ps
        self.share_gpu, self.no_xla = share_gpu, no_xla

    @property
    def strategy(self) -> Any:
        """The strategy: a new one each time."""
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


def _distributions_of(kwargs: Combination) -> list[NamedDistribution]:
    return [value for value in kwargs.values() if isinstance(value, NamedDistribution)]


class DistributionParameter(ParameterModifier):
    """Gives tests strategies for their names."""

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """See `ParameterModifier`."""
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


class ClusterParameters(ParameterModifier):
    """Gives tests the numbers of the tasks of their strategy, if they ask for them."""

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """See `ParameterModifier`."""
        one, changed = SimpleNamespace(has_chief=False, num_workers=1, num_ps=0), {}
        strategy = next(iter(_distributions_of(kwargs)), one)
        for name in ("has_chief", "num_workers", "num_ps"):
            if name in requested_parameters:
                changed[name] = kwargs.get(name, getattr(strategy, name))
            elif name in kwargs:
                changed[name] = self.DO_NOT_PASS_TO_THE_TEST
        return changed


class DistributionCombination(TestCombination):
    """Strategies by name."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """See `TestCombination`."""
        return [DistributionParameter(), OptionalParameter("use_var_policy")]


class ClusterCombination(TestCombination):
    """`has_chief`, `num_workers`, `num_ps`: tests of several tasks are skipped, since nothing starts the tasks."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """See `TestCombination`."""
        several = [d for d in _distributions_of(kwargs) if d.has_chief or d.num_workers > 1 or d.num_ps]
        if several or kwargs.get("has_chief") or kwargs.get("num_workers", 1) > 1 or kwargs.get("num_ps"):
            return False, "Test requires several tasks."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """See `TestCombination`."""
        return [ClusterParameters()]


class GPUCombination(TestCombination):
    """`required_gpus`: tests that need more GPUs than there are are skipped."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """See `TestCombination`."""
        distributions, found = _distributions_of(kwargs), len(list_logical_devices("GPU"))
        needed = [kwargs.get("required_gpus"), kwargs.get("required_physical_gpus")]
        needed += [gpus for d in distributions for gpus in (d.required_gpus, d.required_physical_gpus)]
        most = max((gpus for gpus in needed if gpus), default=0)
        if most > found:
            return False, f"Only {found} of {most} required GPUs are available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """See `TestCombination`."""
        return [OptionalParameter("required_gpus"), OptionalParameter("required_physical_gpus")]


class TPUCombination(TestCombination):
    """`required_tpus`, `required_tpu`: tests that need TPUs are skipped."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """See `TestCombination`."""
        distributions = _distributions_of(kwargs)
        asked = kwargs.get("required_tpus") or kwargs.get("required_tpu") or kwargs.get("use_cloud_tpu")
        if asked or any(d.required_tpu or d.use_cloud_tpu for d in distributions):
            return False, "Test requires a TPU, but none are available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """See `TestCombination`."""
        return [OptionalParameter(name) for name in ("required_tpus", "required_tpu", "use_cloud_tpu")]


def generate(parameters: Sequence[Combination], test_combinations: Sequence[TestCombination] = ()) -> Any:
    """Returns a decorator of a test, or of a class of tests, that makes a test of each combination.

    Args:
        parameters: lists from `combine` and `times`, with strategies by name.
        test_combinations: `TestCombination`s, the meaning of further arguments.
    """
    own = (GPUCombination(), TPUCombination(), DistributionCombination(), ClusterCombination())
    return combinations.generate(parameters, test_combinations=(*combinations.MODES, *own, *test_combinations))


def concat(*combined: Sequence[Combination]) -> list[Combination]:
    """Returns the items of several lists from `combine`, in one list."""
    return [combination for several in combined for combination in several]


def in_main_process() -> bool:
    """Returns True: tests run in the process that collects them."""
    return True


@functools.cache
def env() -> SimpleNamespace:
    """Returns what tests share between processes."""
    return SimpleNamespace(tf_data_service_dispatcher=None, total_phsyical_gpus=None)


tf_function = NamedObject("TfFunction", function)
no_tf_function = NamedObject("NoTfFunction", lambda f: f)


# ---- strategies ------------------------------------------------------------------------------------------------------


def _mirrored(*devices: str) -> Callable[[], Any]:
    return lambda: MirroredStrategy(list(devices))


def _unavailable() -> Any:
    raise NotImplementedError("TapeFlow has no TPUs, and starts no tasks for a test.")


_tpu = functools.partial(NamedDistribution, distribution_fn=_unavailable, required_tpu=True)
_workers = functools.partial(NamedDistribution, distribution_fn=_unavailable, has_chief=True)
default_strategy = NamedDistribution("Default", lambda: _default_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", lambda: OneDeviceStrategy("/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", lambda: OneDeviceStrategy("/gpu:0"), required_gpus=1)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), required_gpus=1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution(
    "MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), required_gpus=1
)
mirrored_strategy_with_two_cpus = NamedDistribution("Mirrored2CPUs", _mirrored("/cpu:0", "/cpu:1"))
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), required_gpus=2)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _mirrored("/gpu:0", "/gpu:1"), required_physical_gpus=2
)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", lambda: CentralStorageStrategy(["/gpu:0", "/gpu:1"]), required_gpus=2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", lambda: CentralStorageStrategy(["/gpu:0", "/cpu:0"]), required_gpus=1
)
multi_worker_mirrored_2x1_cpu = _workers("MultiWorkerMirrored2x1CPU")
multi_worker_mirrored_2x1_gpu = _workers("MultiWorkerMirrored2x1GPU", required_gpus=1)
multi_worker_mirrored_2x1_gpu_noshare = _workers("MultiWorkerMirrored2x1GPUNoShare", required_gpus=1)
multi_worker_mirrored_2x2_gpu = _workers("MultiWorkerMirrored2x2GPU", required_gpus=2)
multi_worker_mirrored_2x2_gpu_no_merge_call = _workers("MultiWorkerMirrored2x2GPUNoMergeCall", required_physical_gpus=2)
multi_worker_mirrored_4x1_cpu = _workers("MultiWorkerMirrored4x1CPU", num_workers=3)
parameter_server_strategy_3worker_2ps_cpu = _workers("ParameterServer3Worker2PSCPU", num_workers=3, num_ps=2)
parameter_server_strategy_1worker_2ps_cpu = _workers("ParameterServer1Worker2PSCPU", num_ps=2)
parameter_server_strategy_3worker_2ps_1gpu = _workers(
    "ParameterServer3Worker2PS1GPU", num_workers=3, num_ps=2, required_gpus=1
)
parameter_server_strategy_1worker_2ps_1gpu = _workers("ParameterServer1Worker2PS1GPU", num_ps=2, required_gpus=1)
tpu_strategy = _tpu("TPU")
tpu_strategy_packed_var = _tpu("TPUPackedVar")
tpu_strategy_one_step = _tpu("TPUOneStep")
tpu_strategy_one_core = _tpu("TPUOneCore")
cloud_tpu_strategy = _tpu("CloudTPU", use_cloud_tpu=True)

graph_and_eager_modes = ["graph", "eager"]
strategies_minus_default_and_tpu = [
    one_device_strategy, one_device_strategy_gpu, mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus,
]  # fmt: skip
strategies_minus_tpu = [
    default_strategy, *strategies_minus_default_and_tpu, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
tpu_strategies = [tpu_strategy, tpu_strategy_one_step, tpu_strategy_packed_var, cloud_tpu_strategy]
all_strategies_minus_default = strategies_minus_default_and_tpu + tpu_strategies
all_strategies = strategies_minus_tpu + tpu_strategies
two_replica_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, multi_worker_mirrored_2x1_cpu,
    multi_worker_mirrored_2x1_gpu, tpu_strategy, tpu_strategy_one_step, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
four_replica_strategies = [multi_worker_mirrored_2x2_gpu, multi_worker_mirrored_4x1_cpu]
multidevice_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, tpu_strategy, tpu_strategy_one_step,
]  # fmt: skip
multiworker_strategies = [multi_worker_mirrored_2x1_cpu, multi_worker_mirrored_2x1_gpu, multi_worker_mirrored_2x2_gpu]
