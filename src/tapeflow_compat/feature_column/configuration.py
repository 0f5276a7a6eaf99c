"""Configurations of columns: dicts that JSON can hold, as Keras 2 writes them with a model."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, ClassVar

from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow_compat.compat.v1 import initializers
from tapeflow_compat.feature_column.protocol import FeatureColumn

_NESTED = "__passive_serialization__"  # TensorFlow's mark of objects within the configuration of another
_COLUMNS: dict[str, Any] = {"TruncatedNormal": initializers.TruncatedNormal}


class Configured(FeatureColumn):
    """A column that is a named tuple of the values in its configuration."""

    _fields: ClassVar[Any]
    _objects: ClassVar[tuple[str, ...]] = ()  # fields of functions and initializers

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _COLUMNS[cls.__name__] = cls

    @property
    def _is_v2_column(self) -> bool:
        columns = [parent for parent in self.parents if not isinstance(parent, str)]
        return all(isinstance(column, FeatureColumn) and column._is_v2_column for column in columns)

    def _get_config(self) -> dict[str, Any]:
        values = zip(self._fields, iter(self), strict=True)  # type: ignore[call-overload]
        return {name: _written_object(v) if name in self._objects else _written(v) for name, v in values}

    @classmethod
    def _from_config(cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        config = {**getattr(cls, "_field_defaults", {}), **config}
        if set(config) != set(cls._fields):
            raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
        kwargs = {}
        for name, value in config.items():
            if name in cls._objects:
                kwargs[name] = _object(value, vars(initializers), custom_objects)
            elif name == "dtype":
                kwargs[name] = as_dtype(value)
            else:
                kwargs[name] = _read(value, custom_objects, columns_by_name)
        return cls(**kwargs)


class OfFeature(Configured):
    """A column of one feature, by whose key it is called."""

    key: str

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]


def _written(value: Any) -> Any:
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    if isinstance(value, tuple):
        return tuple(_written(v) for v in value)
    return value.name if isinstance(value, DType) else value


def _read(value: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    if isinstance(value, dict):
        return deserialize_feature_column(value, custom_objects, columns_by_name)
    if isinstance(value, (list, tuple)):
        return tuple(_read(v, custom_objects, columns_by_name) for v in value)
    return value


def serialize_feature_column(fc: FeatureColumn | str) -> Any:
    """Returns the name of a column's class and its configuration; of a key, the key.

    Args:
        fc: a column, or the key of a feature.

    Returns:
        A dict of both; or the key.

    Raises:
        ValueError: it is neither.

    Example:
        >>> column = tf.feature_column.categorical_column_with_identity("x", 3)
        >>> tf.__internal__.feature_column.serialize_feature_column(column)["config"]
        {'key': 'x', 'number_buckets': 3, 'default_value': None}
    """
    if isinstance(fc, str):
        return fc
    if not isinstance(fc, FeatureColumn):
        raise ValueError(f"Instance: {fc} is not a FeatureColumn")
    return {"class_name": type(fc).__name__, "config": fc.get_config()}


def deserialize_feature_column(
    config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: dict[str, Any] | None = None
) -> Any:
    """Creates a column from the result of `serialize_feature_column`.

    Args:
        config: a dict with the name of the class and the configuration; or a string, the key of a feature.
        custom_objects: a map from names to functions and classes of the user's.
        columns_by_name: a dict of the columns created before; this column is added to it.

    Returns:
        The column; or the column of the same class and name in `columns_by_name`, if there is one.

    Raises:
        ValueError: the configuration is of another form, or of an unknown class.

    Example:
        >>> column = tf.feature_column.categorical_column_with_identity("x", 3)
        >>> api = tf.__internal__.feature_column
        >>> api.deserialize_feature_column(api.serialize_feature_column(column)) == column
        True
    """
    if isinstance(config, str):
        return config
    by_name = {} if columns_by_name is None else columns_by_name
    cls, own = _class_and_config(config, _COLUMNS, custom_objects, "feature_column_v2")
    if not issubclass(cls, FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    column = cls.from_config(own, custom_objects=custom_objects, columns_by_name=by_name)
    return by_name.setdefault(f"{type(column).__name__}:{column.name}", column)


def serialize_feature_columns(feature_columns: Iterable[Any]) -> list[Any]:
    """Returns the configurations of several columns."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Iterable[Any], custom_objects: dict[str, Any] | None = None) -> list[Any]:
    """Creates several columns; those that they share are created once."""
    by_name: dict[str, Any] = {}
    return [deserialize_feature_column(config, custom_objects, by_name) for config in configs]


def _written_object(value: Any) -> Any:
    """Returns the name of a function, or the class and configuration of an object of Keras."""
    value = None if value is None else inspect.unwrap(value)
    if value is None:
        return None
    if hasattr(value, "get_config"):
        return {
            "class_name": type(value).__name__,
            "config": {name: _written_item(item) for name, item in value.get_config().items()},
        }
    if hasattr(value, "__name__"):
        return value.__name__
    raise ValueError("Cannot serialize", value)


def _written_item(item: Any) -> Any:
    if hasattr(item, "get_config"):
        return {**_written_object(item), _NESTED: True}
    return getattr(item, "__name__", item)


def _object(written: Any, names: Any, custom_objects: Any, kind: str = "object") -> Any:
    """Returns the function or object that `_written_object` described."""
    custom = custom_objects or {}
    if written is None or inspect.isfunction(written):
        return written
    if isinstance(written, dict):
        cls, config = _class_and_config(written, names, custom, kind)
        if not hasattr(cls, "from_config"):
            return cls(**config)
        takes_custom = "custom_objects" in inspect.signature(cls.from_config).parameters
        return cls.from_config(config, custom_objects=dict(custom)) if takes_custom else cls.from_config(config)
    if not isinstance(written, str):
        raise ValueError(f"Could not interpret serialized {kind}: {written}")
    value = custom.get(written, names.get(written))
    if value is None:
        raise ValueError(f"Unknown {kind}: {written}")
    return value() if isinstance(value, type) else value


def _class_and_config(written: Any, names: Any, custom_objects: Any, kind: str) -> tuple[Any, dict[str, Any]]:
    if not isinstance(written, dict) or "class_name" not in written or "config" not in written:
        raise ValueError(f"Improper config format: {written}")
    custom = custom_objects or {}
    cls = custom.get(written["class_name"], names.get(written["class_name"]))
    if cls is None:
        raise ValueError(f"Unknown {kind}: {written['class_name']}")
    config = dict(written["config"])
    for name, item in config.items():
        if isinstance(item, dict) and _NESTED in item:
            config[name] = _object(item, names, custom, "config_item")
        elif isinstance(item, str) and inspect.isfunction(custom.get(item)):
            config[name] = custom[item]
    return cls, config
