"""Models that are served: SavedModels in folders of versions, with their signatures as functions of JSON values."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.saved_model.loading import load
from tapeflow.serving import json_values
from tapeflow.serving.configs import LATEST, ModelConfig, VersionPolicy
from tapeflow.serving.json_values import BadRequest as BadRequest

# The statuses of errors that the values of a request cause, as in TensorFlow Serving. The client gets their messages.
STATUSES: dict[type[errors.OpError], int] = {
    errors.InvalidArgumentError: 400,
    errors.OutOfRangeError: 400,
    errors.ResourceExhaustedError: 429,
    errors.UnimplementedError: 501,
}


class SignatureInputs:
    """The inputs of a signature.

    Args:
        name: the signature's name.
        inputs: the specs of its inputs by their names.

    Attributes:
        name, inputs: as the arguments.
    """

    def __init__(self, name: str, inputs: Mapping[str, Any]) -> None:
        self.name, self.inputs = name, dict(inputs)

    def arrays(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns JSON values as arrays.

        Args:
            values: a JSON value for each input.

        Raises:
            BadRequest: an input is missing, not an input, or of another dtype or shape; the message names it.
        """
        check_inputs(self.name, self.inputs, values)
        return {name: json_values.array(name, values[name], spec) for name, spec in self.inputs.items()}


def check_inputs(name: str, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raises BadRequest unless there is a value for each input of a signature, and no other."""
    missing, others = inputs.keys() - values.keys(), values.keys() - inputs.keys()
    if missing or others:
        wrong = f"lacks the input {min(missing)!r}" if missing else f"has {min(others)!r}, which is no input"
        raise BadRequest(f"The request {wrong}: signature {name!r} takes {sorted(inputs)}.")


def check_signature(name: str, signatures: Mapping[str, Any]) -> None:
    """Raises BadRequest if there is no signature of that name."""
    if name not in signatures:
        raise BadRequest(f"There is no signature {name!r}: the model has {sorted(signatures)}.")


class ServedSignature:
    """A signature of a SavedModel.

    Args:
        name: its name.
        function: its concrete function.

    Attributes:
        name: as the argument.
        inputs: the specs of its inputs by their names.
        outputs: the specs of its outputs by their names.
        batched: whether its inputs and outputs have a first dimension of any size, over which requests can be joined.
    """

    def __init__(self, name: str, function: Any) -> None:
        self.name, self._function = name, function
        self.inputs: dict[str, Any] = dict(function.structured_input_signature[1])
        self.outputs: dict[str, Any] = dict(function.structured_outputs)
        specs = [*self.inputs.values(), *self.outputs.values()]
        self.batched = all(s.shape.rank and s.shape[0] is None for s in specs)

    def run(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the outputs of a call: arrays, and a `StringArray` for strings.

        Raises:
            BadRequest: an op refuses the values.
        """
        tensors = {name: _input_tensor(array, self.inputs[name].dtype) for name, array in arrays.items()}
        try:
            results = self._function(**tensors)
        except errors.OpError as error:
            if type(error) not in STATUSES:
                raise
            raise BadRequest(error.reason or error.message, STATUSES[type(error)]) from error
        return {name: _array_of(results[name]) for name in self.outputs}


def _input_tensor(array: Any, dtype: DType) -> Any:
    return EagerTensor(array, dtype) if dtype is string else convert(array, dtype)


def _array_of(tensor: Any) -> Any:
    return tensor.value if tensor.dtype is string else np.asarray(tensor.numpy())


class ServedVersion:
    """A version of a model.

    Args:
        number: its number.
        path: the folder of the SavedModel.

    Attributes:
        number: as the argument.
        signatures: the signatures by their names.
        inputs: the inputs of each signature.
    """

    def __init__(self, number: int, path: str) -> None:
        self.number = number
        self._model = load(path)  # keeps the variables alive
        self.signatures = {name: ServedSignature(name, f) for name, f in self._model.signatures.items()}
        self.inputs = {name: SignatureInputs(name, s.inputs) for name, s in self.signatures.items()}

    def signature(self, name: str) -> ServedSignature:
        """Returns a signature.

        Raises:
            BadRequest: there is no signature of that name.
        """
        check_signature(name, self.signatures)
        return self.signatures[name]

    def metadata(self, model: str) -> dict[str, Any]:
        """Returns the metadata of a model's signatures in the format of TensorFlow Serving."""
        signatures = {
            s.name: {
                "inputs": {name: _tensor_info(name, spec) for name, spec in s.inputs.items()},
                "outputs": {name: _tensor_info(name, spec) for name, spec in s.outputs.items()},
                "method_name": "tensorflow/serving/predict",
                "defaults": {},
            }
            for s in self.signatures.values()
        }
        return {
            "model_spec": {"name": model, "signature_name": "", "version": str(self.number)},
            "metadata": {"signature_def": {"signature_def": signatures}},
        }


class LoadRetries(NamedTuple):
    """When a version that could not be loaded is tried again. A version whose files changed is tried at once.

    Args:
        most: how often.
        interval: seconds between two attempts.
        clock: the time in seconds.
    """

    most: int = 5
    interval: float = 60.0
    clock: Callable[[], float] = time.monotonic


RETRIES = LoadRetries()


class _Failure(NamedTuple):
    """A version that could not be loaded."""

    files: list[tuple[str, int, int]]  # of its folder
    attempts: int
    time: float


class VersionState(NamedTuple):
    """The state of a version, as clients ask for it.

    Args:
        number: the version's number.
        name: "AVAILABLE", or "END" if it can't be loaded.
        code: "OK", or the error's code.
        message: the error's message.
    """

    number: int
    name: str = "AVAILABLE"
    code: str = "OK"
    message: str = ""


class Servable:
    """A model with its versions.

    Args:
        name: its name in addresses.
        path: the folder of a SavedModel, or a folder with one for each version, named by its number.
        policy: which versions to serve, by default the latest one.
        labels: the numbers of versions by their labels.
        retries: when a version that can't be loaded is tried again.
        before: the same model as it was configured before. Its versions are used, and need not be loaded again.

    Attributes:
        name: as the argument.
        versions: the versions by their numbers.

    Raises:
        OSError: there is no SavedModel.
        ValueError: a label names a version that is not served.

    Example:
        >>> import tempfile
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], name="x")])
        >>> tf.saved_model.save(module, path, signatures=module.f)
        >>> from tapeflow.serving import Servable
        >>> sorted(Servable("twice", path).versions)
        [1]
    """

    def __init__(
        self, name: str, path: str | os.PathLike[str], policy: VersionPolicy = LATEST,
        labels: Mapping[str, int] | None = None, retries: LoadRetries = RETRIES, before: Servable | None = None,
    ) -> None:  # fmt: skip
        self.name, self._folder = name, os.fspath(path)
        self._policy, self._labels, self._retries = policy, dict(labels or {}), retries
        self._failures: dict[int, _Failure] = {}
        folders = self._list_folders()
        wanted = policy.choose(folders)
        if not wanted:
            which = f"none of the versions {list(policy.specific)}" if policy.specific else "no folders of versions"
            raise OSError(f"{self._folder} holds no SavedModel, and {which}.")
        if before is not None and before._folder == self._folder:
            self._failures = before._failures
            self.versions: dict[int, ServedVersion] = before.versions
            self.refresh()
        else:
            self.versions = {number: ServedVersion(number, folders[number]) for number in wanted}
        for number in self._labels.values():
            if number not in self.versions:
                raise ValueError(
                    f"Request to assign label to version {number} of model {name}, "
                    "which is not currently available for inference."
                )

    def _list_folders(self) -> dict[int, str]:
        """Returns the folders of the versions that are there now, by their numbers."""
        entries = list(os.scandir(self._folder))
        if any(entry.name.startswith("saved_model.pb") for entry in entries):
            return {1: self._folder}
        folders = [e for e in entries if e.name.isascii() and e.name.isdecimal() and len(e.name) < 19 and e.is_dir()]
        return {int(entry.name): entry.path for entry in sorted(folders, key=lambda entry: entry.name)}

    def refresh(self) -> None:
        """Loads versions that have been added to the folder, and then lets go of those that are not to be served.

        Until all new versions are loaded, the others answer. If one can't be loaded, they go on, and the log has the
        error. The last versions stay if the folder is removed.
        """
        folders = self._list_folders() if os.path.isdir(self._folder) else {}
        wanted = self._policy.choose(folders)
        versions = {number: version for number, version in self.versions.items() if number in folders}
        for number in wanted:
            if number not in versions and (version := self._try_to_load(number, folders[number])):
                versions[number] = version
        if all(number in versions for number in wanted):
            versions = {number: versions[number] for number in wanted}
        self._failures = {number: failure for number, failure in self._failures.items() if number in wanted}
        if versions:
            self.versions = versions

    def _try_to_load(self, number: int, folder: str) -> ServedVersion | None:
        """Returns a version; None if it can't be loaded, or is not to be tried again yet."""
        files, now = _list_files(folder), self._retries.clock()
        last = self._failures.get(number)
        attempts = 0 if last is None or last.files != files else last.attempts
        if attempts > self._retries.most or (attempts and last and now - last.time < self._retries.interval):
            return None
        try:
            version = ServedVersion(number, folder)
        except Exception as error:  # the files may hold anything
            attempts += 1
            left = self._retries.most + 1 - attempts
            again = f"{left} more attempts" if left > 0 else "no more attempts until its files change"
            get_logger().error("serving: version %d of %r can't be loaded: %s (%s)", number, self.name, error, again)
            self._failures[number] = _Failure(files, attempts, now)
            return None
        self._failures.pop(number, None)
        return version

    def version(self, number: int | None = None, label: str | None = None) -> ServedVersion | None:
        """Returns a version, by default the latest; None if no version has this number.

        Raises:
            BadRequest: no version has this label.
        """
        versions = self.versions  # another thread may exchange it
        if label is not None:
            if label not in self._labels:
                raise BadRequest(f"Unrecognized servable version label: {label}")
            number = self._labels[label]
        return versions.get(max(versions) if number is None else number)

    def states(self) -> list[VersionState]:
        """Returns the states of the versions, the latest first."""
        states = {number: VersionState(number) for number in self.versions}
        for number in list(self._failures):
            text = f"Version {number} can't be loaded. The server's log says more."
            states.setdefault(number, VersionState(number, "END", "UNKNOWN", text))
        return [states[number] for number in sorted(states, reverse=True)]


def _list_files(folder: str) -> list[tuple[str, int, int]]:
    """Returns the paths, sizes and times of all files of a folder."""
    files = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with suppress(OSError):  # it has just gone
                status = os.stat(path)
                files.append((path, status.st_size, status.st_mtime_ns))
    return sorted(files)


class ModelManager:
    """The models of a server: they are replaced as a whole. One thread at a time may change them.

    Args:
        models: the models.
        retries: see `Servable`.

    Attributes:
        models: the models by their names.

    Raises:
        ValueError: two models have the same name.
    """

    def __init__(self, models: Iterable[Servable], retries: LoadRetries = RETRIES) -> None:
        models = list(models)
        self.models, self._retries = {m.name: m for m in models}, retries
        if len(self.models) < len(models):
            twice = next(name for name, count in Counter(m.name for m in models).items() if count > 1)
            raise ValueError(f"Two models have the name {twice!r}: name them NAME=PATH.")

    def refresh(self) -> None:
        """Loads new versions of all models, and lets go of those that are not to be served."""
        for model in self.models.values():
            try:
                model.refresh()
            except OSError:  # the folder has just changed: the next time sees more
                get_logger().exception("serving: looking for versions of %r failed", model.name)

    def reload(self, configs: Iterable[ModelConfig]) -> None:
        """Serves other models: all that a config lists or, if one can't be loaded, the same as before.

        Raises:
            OSError: there is no SavedModel.
            ValueError: a label names a version that is not served, or a SavedModel is damaged.
        """
        self.models = {
            c.name: Servable(c.name, c.path, c.policy, c.labels, self._retries, self.models.get(c.name))
            for c in configs
        }  # fmt: skip

    def find(self, name: str, number: int | None = None, label: str | None = None) -> tuple[Servable, ServedVersion]:
        """Returns a model and one of its versions, by default the latest.

        Raises:
            BadRequest: there is none.
        """
        model = self.models.get(name)
        version = None if model is None else model.version(number, label)
        if model is None or version is None:
            asked = f"Latest({name})" if number is None else f"Specific({name}, {number})"
            raise BadRequest(f"Servable not found for request: {asked}", 404)
        return model, version

    def states(self, name: str, number: int | None = None, label: str | None = None) -> list[VersionState]:
        """Returns the states of a model's versions, or of one.

        Raises:
            BadRequest: there is none.
        """
        model = self.models.get(name)
        if model is not None and label is not None:
            number = self.find(name, label=label)[1].number
        states = [] if model is None else [s for s in model.states() if number in (None, s.number)]
        if not states:
            which = "any versions" if number is None else f"version {number}"
            raise BadRequest(f"Could not find {which} of model {name}", 404)
        return states


def _tensor_info(name: str, spec: Any) -> dict[str, Any]:
    rank = spec.shape.rank
    dims = [] if rank is None else [{"size": str(-1 if d is None else d), "name": ""} for d in spec.shape.as_list()]
    return {
        "dtype": f"DT_{datatype_name(spec.dtype).upper()}",
        "tensor_shape": {"dim": dims, "unknown_rank": rank is None},
        "name": f"{name}:0",
    }
