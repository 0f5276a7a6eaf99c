"""TensorFlow Serving's configuration files: models, batching and monitoring, as protocol buffers in text."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from google.protobuf import text_format

from tapeflow.core.protos import message_class

_NO_LIST = "the config has no model_config_list, the only kind of config that is supported."


class VersionPolicy(NamedTuple):
    """The versions of a model that are served, among those in its folder.

    Args:
        latest: how many of the latest; None for all.
        specific: the numbers of the versions, in the place of the latest.
    """

    latest: int | None = 1
    specific: tuple[int, ...] = ()

    def choose(self, numbers: Collection[int]) -> list[int]:
        """Returns the numbers of the versions to serve."""
        if self.specific:
            return sorted(set(self.specific) & set(numbers))
        return sorted(numbers)[0 if self.latest is None else -self.latest :]


LATEST = VersionPolicy()


class ModelConfig(NamedTuple):
    """A model that a config names.

    Args:
        name: its name.
        path: the folder of a SavedModel, or of its versions.
        policy: the versions to serve.
        labels: the numbers of versions by their labels.
    """

    name: str
    path: str
    policy: VersionPolicy = LATEST
    labels: Mapping[str, int] = {}


class Batching(NamedTuple):
    """The rules by which requests share calls of a model.

    Args:
        max_rows: the most rows of a call.
        timeout: how many seconds a request waits for others.
        threads: how many calls run at a time.
        max_enqueued: the most batches of a signature that wait for a call, or None. Further requests are refused.
        allowed_rows: the numbers of rows that a call may have, in increasing order; calls are padded to them.
        pads_inputs: whether inputs of different shapes share a call, padded to the largest.
        splits: whether a request with more rows is divided among calls; otherwise, one call takes it alone.
    """

    max_rows: int = 32
    timeout: float = 0.001
    threads: int = 1
    max_enqueued: int | None = None
    allowed_rows: tuple[int, ...] = ()
    pads_inputs: bool = False
    splits: bool = False


JOINED = Batching()


def read_message(path: str, name: str) -> Any:
    """Returns the message in a text file.

    Args:
        path: the file.
        name: the message's name.

    Raises:
        OSError: the file can't be read.
        ValueError: it does not hold such a message.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        return text_format.Parse(content, message_class(name)())
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no {name} in text: {error}") from None


def list_models(config: Any) -> list[ModelConfig]:
    """Returns the models of a `ModelServerConfig`.

    Raises:
        ValueError: the config names no models, a model twice, or something that is not supported.
    """
    if config.WhichOneof("config") != "model_config_list":
        raise ValueError(_NO_LIST)
    models = [_read_model(model) for model in config.model_config_list.config]
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Illegal to list model {name} multiple times in config list.")
    return models


def _read_model(config: Any) -> ModelConfig:
    name = config.name
    if not name:
        raise ValueError(f"a model of the config has no name: {text_format.MessageToString(config, as_one_line=True)}")
    if config.model_platform not in ("", "tensorflow"):
        raise ValueError(f"model {name} has the platform {config.model_platform!r}: only 'tensorflow' is supported.")
    if not os.path.isabs(config.base_path) or "\0" in config.base_path:
        raise ValueError(f"Expected model {name} to have an absolute path; got base_path()={config.base_path!r}.")
    choice = config.model_version_policy.WhichOneof("policy_choice")
    policy = LATEST
    if choice == "all":
        policy = VersionPolicy(None)
    elif choice == "latest":
        policy = VersionPolicy(config.model_version_policy.latest.num_versions or 1)
    elif choice == "specific":
        versions = tuple(config.model_version_policy.specific.versions)
        if not versions:
            raise ValueError(f"the specific versions of model {name} are none: name one at least.")
        policy = VersionPolicy(None, versions)
    return ModelConfig(name, config.base_path, policy, dict(config.version_labels))


def batching_of(parameters: Any) -> Batching:
    """Returns the values of a message `BatchingParameters`, with TensorFlow Serving's defaults.

    Raises:
        ValueError: a value is out of range, or two do not fit together.
    """

    def number(name: str, default: int, least: int = 1) -> int:
        value = getattr(parameters, name).value if parameters.HasField(name) else default
        if value < least:
            raise ValueError(f"{name} has to be at least {least}; it is {value}.")
        return int(value)

    rows = number("max_batch_size", 1000)
    splits = parameters.enable_large_batch_splitting.value
    if splits:
        largest = number("max_execution_batch_size", rows)
        if largest > rows:
            raise ValueError(f"max_execution_batch_size, {largest}, is larger than max_batch_size, {rows}.")
        rows = largest
    allowed = tuple(parameters.allowed_batch_sizes)
    if allowed and (list(allowed) != sorted(set(allowed)) or allowed[0] < 1):
        raise ValueError(f"allowed_batch_sizes have to be positive and in increasing order; they are {list(allowed)}.")
    if allowed and allowed[-1] != rows:
        raise ValueError(
            "Last entry in allowed_batch_sizes must match max_batch_size; "
            f"last entry was {allowed[-1]}; expected {rows}."
        )
    return Batching(
        rows, number("batch_timeout_micros", 0, 0) / 1e6, number("num_batch_threads", os.cpu_count() or 1),
        number("max_enqueued_batches", 10), allowed, parameters.pad_variable_length_inputs, splits,
    )  # fmt: skip


def metrics_path(monitoring: Any, default: str) -> str | None:
    """Returns the path of the counts of requests that a message `MonitoringConfig` asks for; None for no counts.

    Raises:
        ValueError: it is no path.
    """
    config = monitoring.prometheus_config
    if not config.enable:
        return None
    path = str(config.path or default)
    if not path.startswith("/") or any(c in "{}?#%" or not c.isprintable() or c.isspace() for c in path):
        raise ValueError(f"the path of prometheus_config has to be a plain path that begins with /; it is {path!r}.")
    return path
