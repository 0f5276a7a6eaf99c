"""`tf.data.Options`: how a pipeline runs; its results do not depend on it."""

from __future__ import annotations

import enum
from typing import Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is shared out among workers: by files, by elements, by a hint in the pipeline, or not at all."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What happens to state outside of a pipeline when its iterator is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How sizes of buffers and numbers of threads are chosen."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class OptionsBase:
    """Options with types: only what is declared can be set."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {}  # by name, the type and the default

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __getattr__(self, name: str) -> Any:
        declared = type(self)._declared.get(name)
        if declared is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        kind, default = declared
        if name not in self._options:
            if not issubclass(kind, OptionsBase):
                return default() if callable(default) else default
            self._options[name] = kind()
        return self._options[name]

    def __setattr__(self, name: str, value: Any) -> None:
        declared = type(self)._declared.get(name)
        if declared is None:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if value is not None and not isinstance(value, declared[0]):
            raise TypeError(f'Property "{name}" must be of type {declared[0]}, got: {value!r} (type: {type(value)})')
        self._options[name] = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, n) == getattr(other, n) for n in self._declared)

    def _merged(self, other: Any) -> Any:
        """These options, with those that `other` sets."""
        result = type(self)()
        for name, (kind, _) in self._declared.items():
            mine, given = self._options.get(name), other._options.get(name)
            if issubclass(kind, OptionsBase):
                if mine is not None or given is not None:
                    result._options[name] = (mine or kind())._merged(given or kind())
            elif given is not None or mine is not None:
                result._options[name] = mine if given is None else given
        return result


class AutotuneOptions(OptionsBase):
    """Options of choosing buffer sizes and threads."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {
        "enabled": (bool, None),
        "cpu_budget": (int, None),
        "ram_budget": (int, None),
        "autotune_algorithm": (AutotuneAlgorithm, None),
        "initial_parallelism": (int, None),
        "min_parallelism": (int, None),
    }


class DistributeOptions(OptionsBase):
    """Options of sharing a dataset out among workers."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {
        "auto_shard_policy": (AutoShardPolicy, lambda: AutoShardPolicy.AUTO),
        "num_devices": (int, None),
    }


class OptimizationOptions(OptionsBase):
    """Options of rewriting a pipeline before it runs."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {
        "apply_default_optimizations": (bool, None),
        "filter_fusion": (bool, None),
        "filter_parallelization": (bool, None),
        "inject_prefetch": (bool, None),
        "map_and_batch_fusion": (bool, None),
        "map_and_filter_fusion": (bool, None),
        "map_fusion": (bool, None),
        "map_parallelization": (bool, None),
        "noop_elimination": (bool, None),
        "parallel_batch": (bool, None),
        "seq_interleave_prefetch": (bool, None),
        "shuffle_and_repeat_fusion": (bool, None),
    }


class ServiceOptions(OptionsBase):
    """Options of the data service."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {"pinned": (bool, None)}


class ThreadingOptions(OptionsBase):
    """Options of the threads of a pipeline."""

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {
        "max_intra_op_parallelism": (int, None),
        "private_threadpool_size": (int, None),
    }


class Options(OptionsBase):
    """How a pipeline runs.

    `experimental_optimization.apply_default_optimizations = False` leaves a pipeline as it was written, and
    `deterministic = False` lets parallel steps give elements in the order in which they are ready. What does not
    apply to this runtime is accepted and kept.

    Example:
        >>> options = tf.data.Options()
        >>> options.deterministic = False
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        False
    """

    _declared: ClassVar[dict[str, tuple[type, Any]]] = {
        "autotune": (AutotuneOptions, None), "dataset_name": (str, None), "deterministic": (bool, None),
        "experimental_distribute": (DistributeOptions, None),
        "experimental_external_state_policy": (ExternalStatePolicy, None),
        "experimental_optimization": (OptimizationOptions, None), "experimental_service": (ServiceOptions, None),
        "experimental_slack": (bool, None), "experimental_symbolic_checkpoint": (bool, None),
        "experimental_warm_start": (bool, None), "framework_type": (list, list), "threading": (ThreadingOptions, None),
    }  # fmt: skip
    _other_names: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(self._other_names.get(name, name))

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._other_names.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """These options, with those that `options` sets.

        Raises:
            TypeError: `options` are of another class.
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, not {type(options)}")
        return self._merged(options)


__all__ = ["AutoShardPolicy", "ExternalStatePolicy", "Options"]
