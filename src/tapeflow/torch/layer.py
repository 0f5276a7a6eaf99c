"""`tapeflow.torch.Layer`: a module of torch as a layer of Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import torch

from tapeflow.core.context import state
from tapeflow.core.types.dtypes import FROM_TORCH, as_dtype
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.keras.internals import global_state
from tapeflow.torch.module_call import ModuleCall
from tapeflow.torch.parameter import ParameterVariable

_CONTEXT = "current_call_ctx"  # Keras's name for the state of the outermost call of a layer


@keras.saving.register_keras_serializable("tapeflow.torch")
class Layer(keras.layers.Layer):
    """A `torch.nn.Module` as a layer of Keras.

    Its parameters and buffers are the layer's variables, in the same memory: an assignment by Keras changes the module,
    and a write to the module's parameters changes the variables. `fit`, tapes and optimizers train it, and checkpoints
    and `.weights.h5` files save it. Gradients are torch's, of every order. In a `tf.function`, `torch.export` captures
    the module, and its operations join the graph. A module that can't be captured becomes one operation, and a warning
    gives the reason. `training` calls the module's `train()` or `eval()`; without it the module keeps its mode.

    Args:
        module: the module, or a function without arguments that returns it. A `.keras` file holds the function, which
            then is registered with `keras.saving.register_keras_serializable`, and can't hold a module.
        **kwargs: `name`, `trainable` and the other arguments of a layer. Keras casts inputs to `dtype`; by default it
            is the dtype of the module's parameters, under any global policy.

    Attributes:
        module: the module.

    Raises:
        TypeError: `module` is neither.
        ValueError: it is, or holds, a `DistributedDataParallel`, whose gradients no tape averages.

    Example:
        >>> import torch
        >>> layer = tf.torch.Layer(torch.nn.Linear(3, 2))
        >>> layer(tf.ones([4, 3])).shape
        TensorShape([4, 2])
        >>> [v.shape for v in layer.trainable_variables]
        [TensorShape([2, 3]), TensorShape([2])]
    """

    def __init__(self, module: torch.nn.Module | Callable[[], torch.nn.Module], **kwargs: Any) -> None:
        factory = None if isinstance(module, torch.nn.Module) else module
        own: Any = factory() if callable(factory) else module
        if not isinstance(own, torch.nn.Module):
            raise TypeError(f"Layer takes a torch.nn.Module, or a function that returns one, not {module!r}.")
        if any(isinstance(m, torch.nn.parallel.DistributedDataParallel) for m in own.modules()):
            raise ValueError(
                "Layer takes no DistributedDataParallel, which averages gradients in torch's backward() alone, that no "
                "tape calls: pass the module inside it, and average the gradients, as by torch.distributed.all_reduce."
            )
        dtypes = [FROM_TORCH[p.dtype].name for p in own.parameters() if p.is_floating_point()]
        if dtypes:  # Keras casts inputs, but not the parameters of a module
            kwargs.setdefault("dtype", dtypes[0])
        super().__init__(**kwargs)
        self._factory, self.module = factory, own
        parameters, buffers = dict(self.module.named_parameters()), dict(self.module.named_buffers())
        self.module_variables = []
        variables = {}
        for name, tensor in [*parameters.items(), *buffers.items()]:
            variable = variables[name] = ParameterVariable(tensor, tensor.requires_grad, name)
            of_keras = keras.Variable(variable, name=name.replace(".", "_"), trainable=variable.trainable)
            self.module_variables.append(of_keras)
            setattr(self, f"_module_{of_keras.name}", of_keras)  # checkpoints look for attributes
        self._module_call = ModuleCall(self.module, variables)
        self._input_dtype = as_dtype(self.compute_dtype)
        self._calls_alone = type(self).call is Layer.call
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer. Skips Keras's own `__call__` if it would change nothing, as outside other layers."""
        within = getattr(global_state.GLOBAL_STATE_TRACKER, _CONTEXT, None)
        if within is None and self._calls_alone and not kwargs and state.graph is None:
            for a in args:
                if type(a) is not EagerTensor or hasattr(a, "_keras_mask"):
                    break
                if a.dtype is not self._input_dtype and a.dtype.is_floating:
                    break  # it is cast
            else:
                return self._module_call.run(args)
        return super().__call__(*args, **kwargs)

    def call(self, *inputs: Any, training: bool | None = None, **named: Any) -> Any:
        """Calls the module with tensors of torch in the place of the tensors among the arguments.

        Returns:
            The module's result, with tensors in the place of torch's.
        """
        return self._module_call(None if training is None else bool(training), inputs, named)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's configuration.

        Raises:
            NotImplementedError: it was created from a module, which a file can't hold.
        """
        if self._factory is None:
            raise NotImplementedError(
                f"The layer {self.name!r} holds a {type(self.module).__name__}, which a configuration can't: create it "
                "with a registered function that returns the module, or save its weights alone."
            )
        return {**super().get_config(), "module": keras.saving.serialize_keras_object(self._factory)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Returns the layer of a configuration."""
        config = dict(config)
        return cls(keras.saving.deserialize_keras_object(config.pop("module")), **config)
