"""The public `tf.experimental.extension_type` namespace."""

from typing import Any as _Any

from tapeflow.experimental.extension_types import ExtensionType as _ExtensionType

__all__ = ["as_dict"]
__dir__ = __all__.copy


def as_dict(value: _ExtensionType) -> dict[str, _Any]:
    """Returns the fields of an extension type, by name.

    Args:
        value: an instance of an extension type.

    Returns:
        A dict from the names of fields to their values.

    Example:
        >>> class Named(tf.experimental.ExtensionType):
        ...     name: str
        >>> tf.experimental.extension_type.as_dict(Named("a"))
        {'name': 'a'}
    """
    return {field.name: getattr(value, field.name) for field in value._all_fields()}
