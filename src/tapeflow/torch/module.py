"""`tapeflow.torch.module`: TensorFlow's functions and models as modules of torch."""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.logger import get_logger
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, alias
from tapeflow.core.values.variable import Variable
from tapeflow.function import function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.graph.codegen.step_source import identifier
from tapeflow.graph.ir.names import numbered_name
from tapeflow.graph.ir.operation import variable_of
from tapeflow.saved_model.loading import load
from tapeflow.torch.exported import ExportWriter
from tapeflow.torch.graph_files import function_of_file
from tapeflow.torch.inference import Inference
from tapeflow.torch.source import ModuleSource
from tapeflow.torch.text_boundary import Preprocessing, split
from tapeflow.torch.unconvertible import Unconvertible


class Converted(torch.nn.Module):
    """A TensorFlow function or model as a module of torch: see `module`.

    Args:
        functions: the functions of `forward` in evaluation and in training; they may be the same.
        scope: a prefix, removed from the names of parameters that begin with it.
        preprocessings: for each function, the computation of its inputs from text, or None.

    Attributes:
        input_names: the names of its inputs.
        input_specs: their shapes, with None for a dimension of any size, and dtypes of torch.

    Raises:
        TypeError: torch lacks an op of the function; the message names it.

    Example:
        >>> import torch
        >>> square = tf.function(tf.square, input_signature=[tf.TensorSpec([2], tf.float32)])
        >>> module = tf.torch.module(square)
        >>> isinstance(module, tf.torch.Converted), module(torch.tensor([1.0, 3.0])).tolist()
        (True, [1.0, 9.0])
    """

    def __init__(
        self, functions: Sequence[ConcreteFunction], scope: str = "",
        preprocessings: Sequence[Preprocessing | None] = (None, None),
    ) -> None:  # fmt: skip
        super().__init__()
        self._preprocessings = preprocessings
        if "tensorflow" in sys.modules:
            _let_dynamo_in()
        self._paths: dict[int, str] = {}  # the paths of variables and constants, by their ids
        self._held: list[Any] = []  # keeps the objects with these ids alive
        for variable in _read_variables(functions):
            self._add(variable, variable._name.removeprefix(scope))
        sources = {id(f): ModuleSource(f.body, self._path, f.graph.structured_outputs) for f in functions}
        self._sources = [sources[id(f)] for f in functions]
        exported = {id(f): self._exported(f) if sources[id(f)].decides else None for f in functions}
        self._exports = [exported[id(f)] for f in functions]
        arguments = functions[0].graph.inputs
        for t in arguments:
            if t.shape.rank is None:
                raise Unconvertible(
                    f"the input {t.op.name!r} has no static rank: give its placeholder, or its tf.TensorSpec, a shape, "
                    "such as [None, 3]"
                )
        self.input_names = [identifier(t.op.name) for t in arguments]
        self.input_specs: list[tuple[list[int | None], Any]] = [(t.shape.as_list(), t.dtype.torch) for t in arguments]
        self._functions: list[Callable[..., Any]] = [source.function for source in self._sources]
        self._inferences = [Inference(f, self._paths) for f in functions]
        self._structures = [f.graph.structured_outputs for f in functions]

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Computes the function: its tensors by position, or by the names that they have in the TensorFlow function.

        Where torch records no gradients and traces nothing, it is computed by the kernels that TapeFlow compiles the
        function to for itself; else by those in `source()`.

        Returns:
            Tensors of torch in the structure of the TensorFlow function's result.
        """
        export = self._exports[self.training] if torch.compiler.is_exporting() else None
        if isinstance(export, Unconvertible):
            raise export
        if export is not None:
            return export.function(self, *inputs, **named)
        if not torch.is_grad_enabled() and not named:
            results = self._inferences[self.training].results(self, inputs)
            if results is not None:
                rest = iter(results)
                structure = self._structures[self.training]
                return nest.map_structure(lambda t: next(rest) if isinstance(t, SymbolicTensor) else t, structure)
        return self._functions[self.training](self, *inputs, **named)

    @property
    def preprocessing(self) -> Preprocessing | None:
        """The function that computes the module's inputs from text, which torch has no tensors for; None without text.

        Example:
            >>> table = tf.Variable([[1.0], [2.0], [4.0]])
            >>> words = lambda x: tf.gather(table, tf.strings.length(x))
            >>> m = tf.torch.module(tf.function(words), tf.TensorSpec([None], tf.string))
            >>> m(*m.preprocessing(["", "ab"])).tolist()
            [[1.0], [4.0]]
        """
        return self._preprocessings[self.training]

    def source(self) -> str:
        """Returns the source of `forward`, one line an operation, for `train()` or `eval()` as the module is now.

        Example:
            >>> m = tf.torch.module(tf.function(lambda x: x * x), tf.TensorSpec([2], tf.float32))
            >>> print(m.source())
            def forward(self, x):
                mul = torch.mul(x, x)
                return mul
        """
        return self._sources[self.training].source

    def write_back(self) -> None:
        """Assigns the values of the parameters and buffers to the variables of the TensorFlow function or model.

        A model that was trained in torch is then the same model in TensorFlow: Keras predicts with it and saves it, and
        a `tf.function` computes with the new values.

        Example:
            >>> import torch
            >>> w = tf.Variable([[1.0], [2.0]], name="w")
            >>> m = tf.torch.module(tf.function(lambda x: x @ w), tf.TensorSpec([None, 2]))
            >>> with torch.no_grad():
            ...     _ = m.w.mul_(10.0)
            >>> w.numpy().tolist()
            [[1.0], [2.0]]
            >>> m.write_back()
            >>> w.numpy().tolist()
            [[10.0], [20.0]]
        """
        for value in self._held:
            if isinstance(value, Variable):
                home, _, name = self._paths[id(value)].rpartition(".")
                tensor = getattr(self.get_submodule(home), name)
                value.assign(EagerTensor(alias(tensor).to(value._value.value.device), value.dtype))

    def __deepcopy__(self, memo: dict[int, Any]) -> Converted:
        """Returns a module of the same functions, with parameters and buffers of its own."""
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        shared = ("_exports", "_functions", "_held", "_paths", "_preprocessings", "_sources", "_structures")
        twin.__dict__ = {n: v if n in shared else copy.deepcopy(v, memo) for n, v in self.__dict__.items()}
        return twin

    def _exported(self, function: ConcreteFunction) -> ModuleSource | Unconvertible:
        """Returns the source of a function with branches or loops that `torch.export` takes, or why there is none."""
        source = ModuleSource(function.body, self._path, function.graph.structured_outputs, ExportWriter)
        try:
            source.function  # noqa: B018  # written now, as its constants are attributes too
        except Unconvertible as error:
            return error
        return source

    def _path(self, value: Any, wish: str) -> str:
        """Returns the attribute of a variable or a constant; a constant that is new becomes a buffer."""
        if id(value) not in self._paths:
            self._add(value, wish)
        return self._paths[id(value)]

    def _add(self, value: Any, name: str) -> None:
        """Adds a parameter or a buffer, in the modules that the parts of its name stand for."""
        is_variable = isinstance(value, Variable)
        tensor = alias(value._value.value if is_variable else value)
        if tensor.is_contiguous() and 0 in tensor.stride():  # an expanded number; DistributedDataParallel warns of it
            tensor = tensor.as_strided(tensor.shape, torch.empty(tensor.shape, device="meta").stride())
        *scopes, last = [identifier(part) for part in name.split("/") if part] or ["variable"]
        home: torch.nn.Module = self
        for scope in scopes:
            scope = _unused_name(home, scope, also=torch.nn.Module)
            if scope not in home._modules:
                home.add_module(scope, torch.nn.Module())
            home = home._modules[scope]  # type: ignore[assignment]
        last = _unused_name(home, last)
        if is_variable and value.trainable and (tensor.is_floating_point() or tensor.is_complex()):
            home.register_parameter(last, torch.nn.Parameter(tensor))
        else:
            home.register_buffer(last, tensor, persistent=is_variable)
        prefix = next(n for n, m in self.named_modules() if m is home)
        self._paths[id(value)] = f"{prefix}.{last}" if prefix else last
        self._held.append(value)


@functools.cache
def _let_dynamo_in() -> None:
    """Has `torch.compile` look into TapeFlow's kernels, even if their module is named `tensorflow`."""
    aten.inlined_by_dynamo.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _unused_name(home: torch.nn.Module, name: str, also: Any = ()) -> str:
    """Returns a name that a module has no attribute of; attributes of a type in `also` don't count."""
    return numbered_name(name, lambda name: hasattr(home, name) and not isinstance(getattr(home, name), also))


def _read_variables(functions: Sequence[ConcreteFunction]) -> list[Any]:
    """Returns the variables that functions read, each once.

    Raises:
        Unconvertible: one is of a dtype that torch lacks.
    """
    inputs = [variable_of(t) for f in functions for t in f.body.inputs]
    variables = list({id(v): v for v in inputs if v is not None}.values())
    for v in variables:
        if v.dtype.torch is None:
            raise Unconvertible(f"the variable {v.name} is of dtype {v.dtype.name}, which torch lacks")
    return variables


def module(x: Any, *specs: Any, outputs: Sequence[str] | None = None, training: bool = False) -> Converted:
    """Returns a TensorFlow function or model as a `torch.nn.Module`.

    Its forward is the source that the function is compiled to: calls of torch, one line an operation, which torch's
    autograd, `torch.compile` and `torch.export.export` follow. Its `if` and `while` are Python's; for `torch.export`,
    those that tensors decide are torch's `cond` and `while_loop`. Variables become parameters (trainable ones) and
    buffers, named as in TensorFlow, with `.` for `/`, which start in the variables' memory; writing to either does not
    change the other. `train()` and `eval()` choose a Keras model's behavior: dropout, batch normalization. Random
    numbers and gradients are torch's; a `tf.custom_gradient` has no effect, and is logged. Attention is torch's
    `scaled_dot_product_attention`. For its second derivatives, torch needs
    `torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)`. Text and lookup tables before a model are
    split off, as torch has no tensors for them: the module takes the results of its `preprocessing`, and a warning says
    so. Assertions and `tf.print` are left out.

    Args:
        x: a `tf.function`, a concrete function, a Keras model, or a path: of a SavedModel's folder, a frozen `GraphDef`
            (`.pb`), or a checkpoint of TensorFlow 1 with its `.meta` file.
        *specs: `tf.TensorSpec`s, or example tensors, of the arguments of a `tf.function`, or of a model that is not
            built.
        outputs: the names of the tensors that the module of a file of TensorFlow 1 returns; by default the outputs of
            its signature, or of its graph: the tensors without a use in it.
        training: whether a file of TensorFlow 1 computes as in training where a placeholder with a default decides,
            such as Keras's learning phase.

    Returns:
        The module. It takes tensors of torch by position, or by the names that the TensorFlow function has for them.

    Raises:
        TypeError: `x` is none of these, or torch lacks an op of it; the message names the op.
        ValueError: specs are needed.

    Example:
        >>> w = tf.Variable([[1.0], [2.0]], name="w")
        >>> m = tf.torch.module(tf.function(lambda x: tf.nn.relu(x @ w)), tf.TensorSpec([None, 2]))
        >>> [name for name, _ in m.named_parameters()]
        ['w']
        >>> import torch
        >>> m(torch.tensor([[3.0, 4.0]]))
        tensor([[11.]], grad_fn=<ReluBackward0>)
    """
    if isinstance(x, (str, os.PathLike)):
        path = os.fspath(x)
        return module(function_of_file(path, outputs, training) or _serving_function(load(path), path))
    if isinstance(x, ConcreteFunction):
        return _convert_functions([x, x])
    if isinstance(x, Function):
        concrete = x.get_concrete_function(*map(_tensor_spec, specs))
        return _convert_functions([concrete, concrete])
    if callable(x) and hasattr(x, "trainable_variables") and hasattr(x, "get_config"):
        return _of_model(x, specs)
    raise TypeError(
        f"module takes a tf.function, a concrete function, a Keras model or a SavedModel's path, not {x!r}."
    )


def _convert_functions(functions: Sequence[ConcreteFunction], scope: str = "") -> Converted:
    """Returns the module of functions, less the text and tables that come first."""
    splits = {i: split(f) for i, f in {id(f): f for f in functions}.items()}
    preprocessings, rests = zip(*[splits[id(f)] for f in functions], strict=True)
    if preprocessings[0] is not None:
        get_logger().warning(
            "torch.module: torch has no tensors for the text or tables of %s: call the module with what its "
            "`preprocessing` returns.",
            ", ".join(preprocessings[0].operations),
        )
    return Converted(rests, scope, preprocessings)


def _serving_function(loaded: Any, path: str) -> ConcreteFunction:
    """Returns the function of a SavedModel that servers call."""
    signatures = dict(loaded.signatures)
    if not signatures:
        raise ValueError(f"The SavedModel {path} has no signatures: load it, and hand over one of its functions.")
    return signatures.get("serving_default") or next(iter(signatures.values()))


def _tensor_spec(spec: Any) -> Any:
    return EagerTensor(alias(spec), TensorSpec.from_tensor(spec).dtype) if isinstance(spec, torch.Tensor) else spec


def _layer_of(tensor: Any) -> Any:
    """Returns the layer of an input of a Keras model; Keras 2 calls it otherwise than Keras 3."""
    history = tensor._keras_history
    return getattr(history, "operation", None) or history.layer


def _of_model(model: Any, specs: Sequence[Any]) -> Converted:
    """Returns a Keras model as a module, with the names that Keras has for its variables."""
    if not specs:
        inputs = getattr(model, "inputs", None)
        if not inputs:
            raise ValueError(
                f"The inputs of the model {model.name!r} are not known yet: pass a tf.TensorSpec for each."
            )
        specs = [TensorSpec(t.shape, t.dtype, name=_layer_of(t).name) for t in inputs]
    named = isinstance(getattr(model, "input", None), dict)
    many = len(specs) > 1

    def traced(training: bool) -> ConcreteFunction:
        @function(autograph=False)
        def forward(*inputs: Any) -> Any:
            if named:
                return model(nest.pack_sequence_as(model.input, inputs), training=training)
            return model(list(inputs) if many else inputs[0], training=training)

        return forward.get_concrete_function(*specs)

    return _convert_functions([traced(False), traced(True)], scope=f"{model.name}/")
