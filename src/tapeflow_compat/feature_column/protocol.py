"""The protocol of feature columns: the base class of columns, the cache that columns transform features through, and
the owner of their variables and tables."""

from __future__ import annotations

import abc
import functools
import inspect
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from tapeflow.array.properties import rank, shape
from tapeflow.array.reshapes import expand_dims
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import Trackable
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_positive
from tapeflow.math.comparison import equal
from tapeflow.sparse.concat_and_slice import reshape as sparse_reshape
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat.compat.v1.arrays import convert_to_tensor_or_sparse_tensor
from tapeflow_compat.compat.v1.variable_scopes import get_variable


class FeatureColumn(abc.ABC):
    """Describes a feature that a model reads, or a value computed from other features: the base of all columns.

    Columns are hashable, since they are keys of the features that are computed of them.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name. Columns are sorted by it, and variables get it as a prefix."""

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The keys of features, and the columns, that this one is computed of."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features to parse from a `tf.train.Example`, as `tf.io.parse_example` takes them."""

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager) -> Any:
        """Computes the column's form of its parents; the cache calls it once for each batch."""

    @property
    @abc.abstractmethod
    def _is_v2_column(self) -> bool: ...

    @property
    def _var_scope_name(self) -> str:
        """The name of the column's variable scope in TensorFlow 1."""
        return self.name

    def create_state(self, state_manager: StateManager) -> None:  # noqa: B027 (most columns have none)
        """Creates the column's variables."""

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    def get_config(self) -> dict[str, Any]:
        """Returns what `from_config` creates an equal column from."""
        return self._get_config()

    def _get_config(self) -> dict[str, Any]:
        raise NotImplementedError("Must be implemented in subclasses.")

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        """Creates a column from the result of `get_config`.

        Args:
            config: the configuration.
            custom_objects: a map from names to functions and classes of the user's.
            columns_by_name: the columns that were created before; a column of the same name is not created twice.
        """
        return cls._from_config(config, custom_objects, columns_by_name)

    @classmethod
    def _from_config(cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        raise NotImplementedError("Must be implemented in subclasses.")


class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor: what `tf.keras.layers.DenseFeatures` takes."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager) -> Any:
        """Returns a tensor of the shape `[batch, *variable_shape]`."""


class SequenceDenseColumn(FeatureColumn):
    """A column that gives sequences: what `SequenceFeatures` of Keras 2 takes."""

    class TensorSequenceLengthPair(NamedTuple):
        """A batch of sequences, and their lengths."""

        dense_tensor: Any
        sequence_length: Any

    @abc.abstractmethod
    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> Any:
        """Returns a tensor of the shape `[batch, time, *variable_shape]`, and an int64 `[batch]` of lengths."""


class CategoricalColumn(FeatureColumn):
    """A column that gives numbers of categories, from 0 to `num_buckets`, as a sparse tensor."""

    class IdWeightPair(NamedTuple):
        """Ids, and their weights or None: both sparse."""

        id_tensor: Any
        weight_tensor: Any

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """The number of categories."""

    @abc.abstractmethod
    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> IdWeightPair:
        """Returns the numbers, and their weights or None."""


TensorSequenceLengthPair: TypeAlias = SequenceDenseColumn.TensorSequenceLengthPair
IdWeightPair: TypeAlias = CategoricalColumn.IdWeightPair


class StateManager:
    """The owner of the variables and tables of columns.

    Args:
        layer: the layer of Keras 2 that they belong to, or None.
        trainable: whether the variables are trained.
    """

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._layer, self._trainable = layer, trainable
        if layer is not None and not hasattr(layer, "_resources"):
            layer._resources = {}
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._cols_to_resources_map: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self, feature_column: Any, name: str, shape: ShapeLike, dtype: DTypeLike = None, trainable: bool = True,
        use_resource: bool = True, initializer: Callable[..., Any] | None = None,
    ) -> Any:  # fmt: skip
        """Creates a variable of a column.

        Raises:
            ValueError: the column has a variable of that name.
        """
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        variable = self._new_variable(
            feature_column, name, shape=shape, dtype=dtype, trainable=self._trainable and trainable,
            initializer=initializer,
        )  # fmt: skip
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def _new_variable(self, feature_column: Any, name: str, **options: Any) -> Any:
        variable: Any = self._layer.add_weight(name=name, use_resource=True, getter=get_variable, **options)
        parts: list[Any] = [variable] if isinstance(variable, Trackable) else list(variable)
        for part in parts:
            offset = "" if part is variable else f"/{part._get_save_slice_info().var_offset[0]}"
            self._layer._track_trackable(part, f"{feature_column.name}/{name}{offset}")
        return variable

    def add_variable(self, feature_column: Any, var: Variable) -> None:
        """Adds a variable that the column created."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable of a column.

        Raises:
            ValueError: there is none of that name.
        """
        if name not in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._cols_to_vars_map[feature_column][name]

    def add_resource(self, feature_column: Any, resource_name: str, resource: Tensor) -> None:
        """Adds a table of a column."""
        self._cols_to_resources_map[feature_column][resource_name] = resource
        if self._layer is None or not isinstance(resource, Trackable):
            return
        by_column = self._layer._resources
        if feature_column.name not in by_column:
            by_column[feature_column.name] = {}
        if resource_name not in by_column[feature_column.name]:
            by_column[feature_column.name][resource_name] = resource

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """Returns True if a column has a table of that name."""
        return resource_name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """Returns a table of a column.

        Raises:
            ValueError: there is none of that name.
        """
        if not self.has_resource(feature_column, resource_name):
            raise ValueError("Resource does not exist.")
        return self._cols_to_resources_map[feature_column][resource_name]


class FeatureTransformationCache:
    """Computes features of a batch, each once.

    Args:
        features: a map from keys to tensors, dense or sparse, with the batch as their first dimension.

    Example:
        >>> price = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
        >>> cache = tf.__internal__.feature_column.FeatureTransformationCache({"price": tf.constant([5.0, 20.0])})
        >>> cache.get(price, None).numpy().tolist()
        [[0.5], [2.0]]
    """

    def __init__(self, features: dict[str, Any]) -> None:
        self._features = dict(features)
        self._feature_tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any, training: bool | None = None) -> Any:
        """Returns a feature, or the output of a column.

        Args:
            key: the key of a feature, or a column.
            state_manager: the owner of the columns' variables and tables; or None.
            training: passed to columns that take it.

        Raises:
            ValueError: there is no such feature, it is a scalar, or the column gives None.
            TypeError: `key` is something else.
        """
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            value = self._get_raw_feature_as_tensor(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        else:
            with_training = {"training": training} if _takes_training(type(key)) else {}
            value = key.transform_feature(self, state_manager, **with_training)
            if value is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._feature_tensors[key] = value
        return value

    def _get_raw_feature_as_tensor(self, key: str) -> Any:
        """Returns a feature with at least one dimension behind the batch dimension."""
        tensor = convert_to_tensor_or_sparse_tensor(self._features[key])
        no_scalar = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
        if tensor.shape.rank is None:
            with control_dependencies([assert_positive(rank(tensor), message=no_scalar)]):
                return cond(equal(1, rank(tensor)), lambda: _as_column(tensor), lambda: tensor)
        if tensor.shape.rank == 0:
            raise ValueError(no_scalar)
        return _as_column(tensor) if tensor.shape.rank == 1 else tensor


def _as_column(tensor: TensorLike) -> Any:
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, [shape(tensor)[0], 1])
    return expand_dims(tensor, -1)


@functools.cache
def _takes_training(column: type[FeatureColumn]) -> bool:
    return "training" in inspect.signature(column.transform_feature).parameters
