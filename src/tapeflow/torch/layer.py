"""`tapeflow.torch.Layer`: a module of torch as a layer of Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import torch

from tapeflow.core.values import nest
from tapeflow.torch.calls import TorchCall
from tapeflow.torch.parameter import ParameterVariable


@keras.saving.register_keras_serializable("tapeflow.torch")
class Layer(keras.layers.Layer):
    """A `torch.nn.Module` as a layer of Keras.

    Its parameters and buffers are the layer's variables, in the same memory: what Keras assigns, the module has, and
    what is written to the module's parameters, the variables are. `fit`, tapes and optimizers train it, and checkpoints
    and `.weights.h5` files save it. Gradients are torch's, of every order. In a `tf.function` it is one operation.
    `training` calls the module's `train()` or `eval()`; without it the module stays in the mode that it is in.

    Args:
        module: the module, or a function without arguments that returns it. A `.keras` file holds the function, which
            then is registered with `keras.saving.register_keras_serializable`, and can't hold a module.
        **kwargs: `name`, `trainable` and the other arguments of a layer.

    Attributes:
        module: the module.

    Raises:
        TypeError: `module` is neither.

    Example:
        >>> import torch
        >>> layer = tf.torch.Layer(torch.nn.Linear(3, 2))
        >>> layer(tf.ones([4, 3])).shape
        TensorShape([4, 2])
        >>> [v.shape for v in layer.trainable_variables]
        [TensorShape([2, 3]), TensorShape([2])]
    """

    def __init__(self, module: torch.nn.Module | Callable[[], torch.nn.Module], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._factory = None if isinstance(module, torch.nn.Module) else module
        self.module: Any = module() if self._factory is not None and callable(module) else module
        if not isinstance(self.module, torch.nn.Module):
            raise TypeError(f"Layer takes a torch.nn.Module, or a function that returns one, not {module!r}.")
        parameters, buffers = dict(self.module.named_parameters()), dict(self.module.named_buffers())
        self._names = [*parameters, *buffers]
        self.module_variables = []
        for name, tensor in [*parameters.items(), *buffers.items()]:
            variable = ParameterVariable(tensor, tensor.requires_grad, name)
            own = keras.Variable(variable, name=name.replace(".", "_"), trainable=variable.trainable)
            self.module_variables.append(own)
            setattr(self, f"_module_{own.name}", own)  # an attribute is what checkpoints look for
        self.built = True

    def call(self, *inputs: Any, training: bool | None = None, **named: Any) -> Any:
        """Calls the module with tensors of torch in the place of the tensors among the arguments.

        Returns:
            The module's result, with tensors in the place of torch's.
        """
        training = self.module.training if training is None else bool(training)
        structure = (inputs, named)
        leaves = nest.flatten(structure)
        places = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "dtype")]
        results: list[Any] = []

        def run(module: Callable[..., Any], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            filled = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            args, kwargs = nest.pack_sequence_as(structure, filled)
            if self.module.training is not training:
                self.module.train(training)
            result = module(*args, **kwargs)
            results[:] = [result]
            return [t for t in nest.flatten(result) if isinstance(t, torch.Tensor)]

        def functional(*values: torch.Tensor) -> list[torch.Tensor]:
            tensors, state = values[: len(places)], dict(zip(self._names, values[len(places) :], strict=True))
            return run(lambda *a, **k: torch.func.functional_call(self.module, state, a, k), tensors)

        variables = [v.value for v in self.module_variables]
        parameters = [v.parameter for v in variables]
        call = TorchCall(type(self.module).__name__, functional, lambda *t: run(self.module, t), parameters)
        outputs = iter(call([*(leaves[i] for i in places), *variables], stateful=training))
        return nest.map_structure(lambda t: next(outputs) if isinstance(t, torch.Tensor) else t, results[0])

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
