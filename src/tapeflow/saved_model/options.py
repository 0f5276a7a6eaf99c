"""`tf.saved_model.SaveOptions` and `LoadOptions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


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

    __slots__ = (
        "experimental_custom_gradients",
        "experimental_debug_stripper",
        "experimental_image_format",
        "experimental_io_device",
        "experimental_sharding_callback",
        "experimental_skip_saver",
        "experimental_variable_policy",
        "extra_tags",
        "function_aliases",
        "namespace_whitelist",
        "save_debug_info",
    )

    def __init__(
        self,
        namespace_whitelist: Sequence[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: Mapping[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Sequence[str] | None = None,
    ) -> None:
        if experimental_image_format or experimental_sharding_callback is not None:
            raise NotImplementedError(
                "A SavedModel is written as one message and one data file: leave experimental_image_format and "
                "experimental_sharding_callback out."
            )
        self.namespace_whitelist = list(namespace_whitelist or ())
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


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

    __slots__ = (
        "allow_partial_checkpoint",
        "experimental_io_device",
        "experimental_load_function_aliases",
        "experimental_skip_checkpoint",
        "experimental_variable_policy",
    )

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
