"""`tf.data.Options`: how a pipeline runs; its results do not depend on it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tapeflow.core.protos import Options as DatasetOptions


class AutoShardPolicy(enum.IntEnum):
    """The ways to shard a dataset among workers: by files, by elements, by a hint in the pipeline, or not at all.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """The ways to treat state outside of a pipeline when its iterator is saved.

    Example:
        >>> tf.data.experimental.ExternalStatePolicy.WARN.value
        0
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """The algorithms that choose sizes of buffers and numbers of threads.

    Example:
        >>> tf.data.experimental.AutotuneAlgorithm.HILL_CLIMB.value
        1
    """

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class Option:
    """An option with a type, as an attribute of a class of options.

    Args:
        kind: its class.
        default: its value where nobody set it; options of a class of their own are created on demand.
    """

    def __init__(self, kind: type, default: Any = None) -> None:
        self.kind, self.default = kind, default

    def __set_name__(self, owner: type[OptionsBase], name: str) -> None:
        self.name = name

    def __get__(self, instance: OptionsBase | None, owner: type) -> Any:
        if instance is None:
            return self
        if self.name not in instance._options:
            if not issubclass(self.kind, OptionsBase):
                return self.default() if self.default is list else self.default
            instance._options[self.name] = self.kind()
        return instance._options[self.name]

    def __set__(self, instance: OptionsBase, value: Any) -> None:
        if not isinstance(value, self.kind):
            raise TypeError(f'Property "{self.name}" must be of type {self.kind}, got: {value!r} (type: {type(value)})')
        instance._options[self.name] = value


class OtherName(Option):
    """An older name of an option."""

    def __set_name__(self, owner: type[OptionsBase], name: str) -> None:
        pass

    def __init__(self, option: Option, name: str) -> None:
        super().__init__(option.kind, option.default)
        self.name = name


class OptionsBase:
    """Options with types: only declared options can be set."""

    _options: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    @classmethod
    def _declared(cls) -> dict[str, Option]:
        return {o.name: o for o in cls.__dict__.values() if isinstance(o, Option)}

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), Option):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, n) == getattr(other, n) for n in self._declared())

    _fields: Mapping[str, str] = MappingProxyType({})  # the names in the message that differ

    def _to_message(self, message: str) -> Any:
        """Writes the options that are set into TensorFlow's message; returns it."""
        for name in self._declared():
            value, field = self._options.get(name), self._fields.get(name, name)
            if isinstance(value, OptionsBase):
                value._to_message(getattr(message, field)).SetInParent()
            elif isinstance(value, list):
                getattr(message, field).extend(value)
            elif value is not None:
                setattr(message, field, value.value if isinstance(value, enum.Enum) else value)
        return message

    @classmethod
    def _of_message(cls, message: Any) -> Any:
        """Returns the options in TensorFlow's message."""
        options = cls()
        for name, option in cls._declared().items():
            field = cls._fields.get(name, name)
            value = getattr(message, field)
            if option.kind is list:
                options._options.update({name: list(value)} if value else {})
            elif issubclass(option.kind, OptionsBase):
                options._options[name] = option.kind._of_message(value)
            elif message.HasField(field) if message.DESCRIPTOR.fields_by_name[field].containing_oneof else value:
                kind: Any = option.kind
                options._options[name] = kind(value)
        return options

    def _merged(self, other: OptionsBase) -> Any:
        """Returns these options, with those that `other` sets."""
        result = type(self)()
        for name, option in self._declared().items():
            mine, theirs = self._options.get(name), other._options.get(name)
            if issubclass(option.kind, OptionsBase):
                if mine is not None or theirs is not None:
                    result._options[name] = (mine or option.kind())._merged(theirs or option.kind())
            elif theirs is not None or mine is not None:
                result._options[name] = mine if theirs is None else theirs
        return result


class AutotuneOptions(OptionsBase):
    """Options of choosing buffer sizes and threads.

    Example:
        >>> options = tf.data.Options()
        >>> options.autotune.cpu_budget = 2
        >>> options.autotune.cpu_budget
        2
    """

    enabled = Option(bool)
    cpu_budget = Option(int)
    ram_budget = Option(int)
    autotune_algorithm = Option(AutotuneAlgorithm)
    initial_parallelism = Option(int)
    min_parallelism = Option(int)


class DistributeOptions(OptionsBase):
    """Options of sharing a dataset out among workers.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_distribute.num_devices = 2
        >>> options.experimental_distribute.num_devices
        2
    """

    auto_shard_policy = Option(AutoShardPolicy, AutoShardPolicy.AUTO)
    num_devices = Option(int)


class OptimizationOptions(OptionsBase):
    """Options of rewriting a pipeline before it runs.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_optimization.map_fusion = False
        >>> options.experimental_optimization.map_fusion
        False
    """

    apply_default_optimizations = Option(bool)
    filter_fusion = Option(bool)
    filter_parallelization = Option(bool)
    inject_prefetch = Option(bool)
    map_and_batch_fusion = Option(bool)
    map_and_filter_fusion = Option(bool)
    map_fusion = Option(bool)
    map_parallelization = Option(bool)
    noop_elimination = Option(bool)
    parallel_batch = Option(bool)
    seq_interleave_prefetch = Option(bool)
    shuffle_and_repeat_fusion = Option(bool)


class ServiceOptions(OptionsBase):
    """Options of the data service.

    Example:
        >>> options = tf.data.experimental.ServiceOptions()
        >>> options.pinned = True
        >>> options.pinned
        True
    """

    pinned = Option(bool)


class ThreadingOptions(OptionsBase):
    """Options of the threads of a pipeline.

    Example:
        >>> options = tf.data.Options()
        >>> options.threading.private_threadpool_size = 2
        >>> options.threading.private_threadpool_size
        2
    """

    max_intra_op_parallelism = Option(int)
    private_threadpool_size = Option(int)


class Options(OptionsBase):
    """The options of a pipeline.

    `experimental_optimization.apply_default_optimizations = False` leaves a pipeline as it was written, and
    `deterministic = False` lets parallel steps yield each element as soon as it is ready. Options that do not
    apply to this runtime are accepted and have no effect.

    Example:
        >>> options = tf.data.Options()
        >>> options.deterministic = False
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        False
    """

    _fields = MappingProxyType(
        {"autotune": "autotune_options", "experimental_distribute": "distribute_options",
         "experimental_external_state_policy": "external_state_policy", "experimental_service": "service_options",
         "experimental_optimization": "optimization_options", "experimental_slack": "slack",
         "experimental_symbolic_checkpoint": "symbolic_checkpoint", "experimental_warm_start": "warm_start",
         "threading": "threading_options"}
    )  # fmt: skip
    autotune = Option(AutotuneOptions)
    dataset_name = Option(str)
    deterministic = Option(bool)
    experimental_distribute = Option(DistributeOptions)
    experimental_external_state_policy = Option(ExternalStatePolicy)
    experimental_optimization = Option(OptimizationOptions)
    experimental_service = Option(ServiceOptions)
    experimental_slack = Option(bool)
    experimental_symbolic_checkpoint = Option(bool)
    experimental_warm_start = Option(bool)
    framework_type = Option(list, list)
    threading = Option(ThreadingOptions)
    experimental_deterministic = OtherName(deterministic, "deterministic")
    experimental_threading = OtherName(threading, "threading")

    def _to_proto(self) -> bytes:
        return self._to_message(DatasetOptions()).SerializeToString()

    @classmethod
    def _of_proto(cls, data: bytes) -> Options:
        return cls._of_message(DatasetOptions.FromString(data))

    def merge(self, options: Options) -> Options:
        """Returns these options, with those that other options set.

        Args:
            options: the others.

        Returns:
            New options.

        Raises:
            TypeError: `options` are of another class.
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, not {type(options)}")
        return self._merged(options)
