"""Models that are served: SavedModels in folders of versions, with their signatures as functions of JSON values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow.core import errors
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.logger import get_logger
from tapeflow.saved_model.loading import load
from tapeflow.serving import json_values
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
        missing, others = self.inputs.keys() - values.keys(), values.keys() - self.inputs.keys()
        if missing or others:
            wrong = f"lacks the input {min(missing)!r}" if missing else f"has {min(others)!r}, which is no input"
            raise BadRequest(f"The request {wrong}: signature {self.name!r} takes {sorted(self.inputs)}.")
        return {name: json_values.array(name, values[name], spec) for name, spec in self.inputs.items()}


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
        tensors = {name: _tensor_of(array, self.inputs[name].dtype) for name, array in arrays.items()}
        try:
            results = self._function(**tensors)
        except errors.OpError as error:
            if type(error) not in STATUSES:
                raise
            raise BadRequest(error.reason or error.message, STATUSES[type(error)]) from error
        return {name: _array_of(results[name]) for name in self.outputs}


def _tensor_of(array: Any, dtype: DType) -> Any:
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


class Servable:
    """A model with its versions.

    Args:
        name: its name in addresses.
        path: the folder of a SavedModel, or a folder with one for each version, named by its number.

    Attributes:
        name: as the argument.
        versions: the versions by their numbers.

    Raises:
        OSError: there is no SavedModel.

    Example:
        >>> import tempfile
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], name="x")])
        >>> tf.saved_model.save(module, path, signatures=module.f)
        >>> from tapeflow.serving import Servable
        >>> sorted(Servable("twice", path).versions)
        [1]
    """

    def __init__(self, name: str, path: str | os.PathLike[str]) -> None:
        self.name, self._folder = name, os.fspath(path)
        self._failures: dict[int, str] = {}  # the errors of versions that could not be loaded
        folders = self._folders()
        if not folders:
            raise OSError(f"{self._folder} holds no SavedModel, and no folders of versions.")
        self.versions = {number: ServedVersion(number, folder) for number, folder in folders.items()}

    def _folders(self) -> dict[int, str]:
        """Returns the folders of the versions that are there now, by their numbers."""
        names = os.listdir(self._folder)
        if any(name.startswith("saved_model.pb") for name in names):
            return {1: self._folder}
        numbers = sorted(int(name) for name in names if name.isdigit())
        return {number: os.path.join(self._folder, str(number)) for number in numbers}

    def refresh(self) -> None:
        """Loads versions that have been added to the folder, and then lets go of those that are gone.

        Until a new version is loaded, the others answer. If it can't be loaded, they go on, the log has the error, and
        the next call tries again. The last version stays if its folder is removed.
        """
        folders = self._folders() if os.path.isdir(self._folder) else {}
        versions = {number: version for number, version in self.versions.items() if number in folders}
        for number in sorted(folders.keys() - versions.keys()):
            try:
                versions[number] = ServedVersion(number, folders[number])
                self._failures.pop(number, None)
            except (OSError, ValueError, errors.OpError) as error:
                if self._failures.get(number) != str(error):
                    get_logger().error("serving: version %d of %r can't be loaded: %s", number, self.name, error)
                self._failures[number] = str(error)
        if versions:
            self.versions = versions

    def version(self, number: int | None = None) -> ServedVersion | None:
        """Returns a version, by default the latest; None if no version has this number."""
        versions = self.versions  # another thread may exchange it
        return versions.get(max(versions) if number is None else number)


def _tensor_info(name: str, spec: Any) -> dict[str, Any]:
    rank = spec.shape.rank
    dims = [] if rank is None else [{"size": str(-1 if d is None else d), "name": ""} for d in spec.shape.as_list()]
    return {
        "dtype": f"DT_{datatype_name(spec.dtype).upper()}",
        "tensor_shape": {"dim": dims, "unknown_rank": rank is None},
        "name": f"{name}:0",
    }
