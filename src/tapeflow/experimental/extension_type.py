"""The public `tf.experimental.extension_type` namespace."""

from __future__ import annotations

from typing import Any

from tapeflow.experimental.extension_types import ExtensionType


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """Returns the fields of an extension type, by name.

    Args:
        value: of an extension type.

    Returns:
        A dict from the names of fields to their values.

    Example:
        >>> class Named(tf.experimental.ExtensionType):
        ...     name: str
        >>> tf.experimental.extension_type.as_dict(Named("a"))
        {'name': 'a'}
    """
    return {field.name: getattr(value, field.name) for field in value._all_fields()}
