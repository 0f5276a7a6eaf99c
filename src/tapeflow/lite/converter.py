"""`tf.lite.TFLiteConverter`: functions, Keras models and SavedModels as .tflite files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.function import function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.ir.names import numbered_name
from tapeflow.lite.extra import require
from tapeflow.lite.flatbuffer_file import write_signatures
from tapeflow.lite.lower import FileState, Writer
from tapeflow.lite.options import TargetSpec
from tapeflow.lite.output_check import largest_difference, output_names
from tapeflow.lite.passes import optimize
from tapeflow.lite.program import LiteTensor, Signature, Subgraph, lite_dtype, static_shape
from tapeflow.lite.quantization import check_options, quantize_file
from tapeflow.lite.variables import add_variables, assigned_variables
from tapeflow.saved_model.loading import load

_DEFAULT_KEY = "serving_default"


class TFLiteConverter:
    """Converts a model to a .tflite file. Create it with one of its class methods.

    Args:
        functions: the concrete functions to convert, by the keys of their signatures.
        trackable: keeps the variables of the functions alive.

    Attributes:
        optimizations: a collection of `tf.lite.Optimize`; if it is not empty, the file is quantized.
        representative_dataset: samples that set the ranges of the activations, for int8 activations: a function or a
            `tf.lite.RepresentativeDataset`.
        target_spec: a `tf.lite.TargetSpec`.
        inference_input_type: the dtype of the inputs of a file with int8 activations: float32, int8 or uint8.
        inference_output_type: the dtype of its outputs.
        allow_custom_ops: accepted; no custom operators are written.
        experimental_enable_resource_variables: accepted; variables that a function changes are in the file.

    Example:
        >>> converter = tf.lite.TFLiteConverter.from_concrete_functions(
        ...     [tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([None, 2]))])
        >>> content = converter.convert()  # doctest: +SKIP
    """

    def __init__(self, functions: dict[str, ConcreteFunction], trackable: Any = None) -> None:
        self._functions, self._trackable = functions, trackable
        self._plain_names = False
        self.optimizations: Any = set()
        self.representative_dataset: Any = None
        self.target_spec = TargetSpec()
        self.inference_input_type = self.inference_output_type = float32
        self.allow_custom_ops = False
        self.experimental_enable_resource_variables = True
        self.experimental_new_converter = self.experimental_new_quantizer = True
        self.exclude_conversion_metadata = False
        self.unfold_batchmatmul = False

    @classmethod
    def from_concrete_functions(cls, funcs: Sequence[ConcreteFunction], trackable_obj: Any = None) -> TFLiteConverter:
        """Returns a converter of concrete functions. Each becomes a signature: the only one is "serving_default".

        Args:
            funcs: the functions.
            trackable_obj: an object that holds their variables.

        Raises:
            ValueError: a value is not a concrete function.
        """
        if not all(isinstance(f, ConcreteFunction) for f in funcs):
            raise ValueError(
                "This function takes in a list of ConcreteFunction. To get the ConcreteFunction from a Function, call "
                "get_concrete_function."
            )
        if not funcs:
            raise ValueError("No ConcreteFunction is specified.")
        keys = [_DEFAULT_KEY] if len(funcs) == 1 else [f.graph.name for f in funcs]
        converter = cls(dict(zip(_distinct_names(keys), funcs, strict=True)), trackable_obj)
        converter._plain_names = True
        return converter

    @classmethod
    def from_keras_model(cls, model: Any) -> TFLiteConverter:
        """Returns a converter of a Keras model's inference.

        Args:
            model: a model of `tf.keras`, built.
        """
        inputs = getattr(model, "inputs", None)
        if not inputs:  # a subclass: Keras knows the shapes that it was built with
            with tempfile.TemporaryDirectory() as folder:
                model.export(folder, format="tf_saved_model", verbose=False)
                converter = cls.from_saved_model(folder)
            converter._trackable = (converter._trackable, model)
            return converter
        specs = [TensorSpec(t.shape, t.dtype, name=t.name.partition(":")[0]) for t in inputs]

        structure = getattr(model, "input", inputs if len(inputs) > 1 else inputs[0])

        @function(autograph=False)
        def serve(*tensors: Any) -> Any:
            return model(nest.pack_sequence_as(structure, tensors), training=False)

        return cls({_DEFAULT_KEY: serve.get_concrete_function(*specs)}, model)

    @classmethod
    def from_saved_model(
        cls, saved_model_dir: str | os.PathLike[str], signature_keys: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> TFLiteConverter:  # fmt: skip
        """Returns a converter of a SavedModel's signatures.

        Args:
            saved_model_dir: the folder.
            signature_keys: the keys of the signatures to convert; by default all of them.
            tags: the tags of the graph; by default "serve".

        Raises:
            ValueError: a signature is not in the file, or there is none.
        """
        loaded = load(os.fspath(saved_model_dir), tags)
        signatures = dict(loaded.signatures)
        keys = list(signature_keys or signatures)
        if not signature_keys and {"serve", _DEFAULT_KEY} <= signatures.keys():
            keys.remove("serve")  # Keras exports one endpoint under both keys
        if not keys:
            raise ValueError("Only support at least one signature key.")
        for key in keys:
            if key not in signatures:
                raise ValueError(f"Invalid signature key '{key}' found. Valid keys are '{','.join(signatures)}'.")
        return cls({key: signatures[key] for key in sorted(keys)}, loaded)

    def convert(self) -> bytes:
        """Returns the file.

        Raises:
            ImportError: the extra `tflite` is not installed.
            TypeError: an op has no form in TFLite; the text names it, its layer and the line that added it.
            ValueError: an option does not fit the others, or an input has no static rank.
        """
        schema = require("ai_edge_litert.schema_py_generated")
        check_options(self)
        functions = self._functions
        assigned = assigned_variables([f.body for f in functions.values()])
        state = FileState(assigned, lambda dtype: getattr(schema.TensorType, dtype.name.upper()))
        signatures = [self._signature(key, f, state) for key, f in functions.items()]
        if assigned:
            add_variables(signatures, assigned, state)
        for signature in signatures:
            for subgraph in signature.subgraph.subgraphs():
                optimize(subgraph, state)
        content = write_signatures(signatures)
        return quantize_file(content, self) if self.optimizations else content

    def check(self, content: bytes) -> float:
        """Runs a file on random inputs of two batch sizes.

        Args:
            content: the result of `convert`, not quantized.

        Returns:
            The largest difference between an output of the file and the same output of the model, relative to the
            largest value of that output.

        Raises:
            ImportError: the extra `tflite` is not installed.
            ValueError: the model computes nothing for random inputs, or the runtime fails.
        """
        return largest_difference(content, self._functions)

    def _signature(self, key: str, concrete: ConcreteFunction, state: FileState) -> Signature:
        """Lowers a function to the subgraph of a signature."""
        arguments = concrete.graph.inputs
        names = _distinct_names([t.op.name for t in arguments])
        order = range(len(names)) if self._plain_names else sorted(range(len(names)), key=names.__getitem__)
        subgraph = Subgraph("main" if key == _DEFAULT_KEY else key)
        placed: list[Any] = []
        for name, t in zip(names, arguments, strict=True):
            if t.shape.rank is None:
                raise ValueError(
                    f"The input {name!r} has no static rank: give its tf.TensorSpec a shape, such as [None, 3]."
                )
            label = name if self._plain_names else f"{key}_{name}:0"
            placed.append(LiteTensor(state.unique_name(label), lite_dtype(t.dtype), static_shape(t)))
        subgraph.inputs = [placed[i] for i in order]
        captured = [getattr(c, "_variable", c) for c in concrete._captured]
        writer = Writer(subgraph, state)
        named = output_names(concrete.graph.structured_outputs)
        outputs = {name: t for name, t in named.items() if isinstance(t, SymbolicTensor)}
        if not self._plain_names:
            outputs = dict(sorted(outputs.items()))
        results = writer.inline(concrete.body, [*placed, *captured], list(outputs.values()))
        subgraph.outputs = [
            _own_output(writer, t, f"Identity_{i}" if i else "Identity", subgraph.outputs + results[:i])
            if self._plain_names else _own_output(writer, t, f"StatefulPartitionedCall:{i}", results[:i])
            for i, t in enumerate(results)
        ]  # fmt: skip
        return Signature(key, subgraph, [names[i] for i in order], list(outputs))


def _own_output(writer: Writer, tensor: LiteTensor, name: str, earlier: Sequence[LiteTensor]) -> LiteTensor:
    """Returns the tensor of an output, renamed. An input, a constant or an earlier output is copied."""
    shared = tensor in writer.subgraph.inputs or tensor.value is not None or any(tensor is t for t in earlier)
    if shared:
        shape = writer.constant([-1 if d is None else d for d in tensor.shape], int32)
        if tensor.shape.count(None) > 1:
            return tensor
        tensor = writer.add("RESHAPE", [tensor, shape], tensor.shape, newShape=shape.value)
    tensor.name = name
    return tensor


def _distinct_names(names: Sequence[str]) -> list[str]:
    unique_names: list[str] = []
    for name in names:
        unique_names.append(numbered_name(name, unique_names.__contains__))
    return unique_names
