"""`tf.saved_model.SaveOptions` and `LoadOptions`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(eq=False, slots=True)
class SaveOptions:
    """Options for writing a SavedModel.

    Args:
        function_aliases: other names of functions of the object, by name: a `tf.function`, a trace, or a list of them.
        namespace_whitelist, save_debug_info, experimental_debug_stripper: accepted, and have no effect.
        experimental_io_device, experimental_variable_policy: accepted too.
        experimental_custom_gradients: whether gradients that the program defines (`tf.custom_gradient`) are saved too;
            without them, the functions that use them have no gradients when they are loaded. The default is True.
        experimental_image_format: must be False: the model is one message.
        experimental_skip_saver: leaves out the nodes by which TensorFlow 1 restores variables.
        experimental_sharding_callback: must be None: the variables have one data file.
        extra_tags: tags beside "serve".

    Raises:
        NotImplementedError: an image format or a sharding callback is specified.

    Example:
        >>> import tempfile
        >>> model, path = tf.Module(), tempfile.mkdtemp()
        >>> model.double = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])
        >>> options = tf.saved_model.SaveOptions(function_aliases={"twice": model.double}, extra_tags=["mine"])
        >>> tf.saved_model.save(model, path, options=options)
        >>> tf.saved_model.load(path, tags=["serve", "mine"]).double(3.0).numpy().item()
        6.0
    """

    namespace_whitelist: Sequence[str] | None = None
    save_debug_info: bool = False
    function_aliases: Mapping[str, Any] | None = None
    experimental_debug_stripper: bool = False
    experimental_io_device: str | None = None
    experimental_variable_policy: Any = None
    experimental_custom_gradients: bool = True
    experimental_image_format: bool = False
    experimental_skip_saver: bool = False
    experimental_sharding_callback: Any = None
    extra_tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.experimental_image_format or self.experimental_sharding_callback is not None:
            raise NotImplementedError(
                "A SavedModel is written as one message and one data file: leave experimental_image_format and "
                "experimental_sharding_callback out."
            )
        self.namespace_whitelist = list(self.namespace_whitelist or ())
        self.function_aliases = dict(self.function_aliases or {})


@dataclasses.dataclass(eq=False, slots=True)
class LoadOptions:
    """Options for reading a SavedModel.

    Args:
        allow_partial_checkpoint: lets variables without a saved value be zeros.
        experimental_io_device, experimental_variable_policy: accepted, and have no effect.
        experimental_skip_checkpoint: leaves all variables zeros.
        experimental_load_function_aliases: adds a `function_aliases`, a dict of functions, to the loaded object.

    Example:
        >>> import tempfile
        >>> model, path = tf.Module(), tempfile.mkdtemp()
        >>> model.v = tf.Variable(5.0)
        >>> tf.saved_model.save(model, path)
        >>> options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
        >>> tf.saved_model.load(path, options=options).v.numpy().item()
        0.0
    """

    allow_partial_checkpoint: bool = False
    experimental_io_device: str | None = None
    experimental_skip_checkpoint: bool = False
    experimental_variable_policy: Any = None
    experimental_load_function_aliases: bool = False
